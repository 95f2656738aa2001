"""Play agents against each other: python evaluate.py --agents mcts:sims=200 greedy --games 100 (see --help)."""

import sys

from sandtable.cli import evaluate

if __name__ == "__main__":
    sys.exit(evaluate())
