"""Self-play, replay, supervised learning, checkpoints. Which agents can be trained: `TRAINERS`."""

from __future__ import annotations

TRAINERS: dict[str, str] = {}
"""What trains the agent of a name: "module:function". The search agents of this version need no training."""
