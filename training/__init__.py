"""Self-play, replay, supervised learning, checkpoints. What train.py can train: `TRAINERS`."""

from __future__ import annotations

TRAINERS: dict[str, str] = {
    "data": "sandtable.training.data_cli:main",
    "pvmcts": "sandtable.training.pv_cli:main",
    "value": "sandtable.training.value_cli:main",
}
"""What trains the agent of a name: "module:function". "data" only makes what others learn from."""
