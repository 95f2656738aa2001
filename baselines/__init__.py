"""One recipe a paper, from data to table, run as `python -m sandtable.baselines.<name>`."""
