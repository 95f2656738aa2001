"""How often a network predicts the end of a game right, and how sure that number is.

States of one game share its outcome and hardly differ, so that an interval that took them for independent would be far
too small. Here games from the same start are drawn together, as a cluster.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sandtable.encoders.networks.files import load_network
from sandtable.matches.elo import score_interval
from sandtable.training.data import Data
from sandtable.training.scores import class_of, predicted_class

_BATCH = 4096


@dataclass(frozen=True)
class Accuracy:
    """A share of states predicted right, with its 95% interval."""

    accuracy: float
    low: float
    high: float
    states: int
    starts: int


def accuracy(right: np.ndarray, starts: np.ndarray) -> Accuracy:
    """right (n,) bool; starts (n,): which start each state's game began with."""
    names, which = np.unique(starts, return_inverse=True)
    hits, sizes = np.bincount(which, right), np.bincount(which)
    share, n = float(right.mean()), len(names)
    variance = float(np.sum((hits - share * sizes) ** 2)) * n / max(n - 1, 1) / len(right) ** 2
    # Wilson's interval for as many independent states as would vary as much; where nothing varies, one of each start.
    worth = share * (1 - share) / variance if variance else float(n)
    low, high = score_interval(share * worth, worth)
    return Accuracy(share, low, high, len(right), n)


def predicted(weights: Path, data: Data, rows: np.ndarray) -> np.ndarray:
    """Of which rows (n,) of a data set a network predicts the outcome right, (n,) bool."""
    network = load_network(weights)
    right = np.empty(len(rows), bool)
    for source, at, records in data.take(rows):
        states = np.ascontiguousarray(records["state"])
        for first in range(0, len(states), _BATCH):
            part = slice(first, first + _BATCH)
            with torch.inference_mode():
                output = network(network.features(data.games[source], states[part]))
            classes = predicted_class(output.value.numpy())
            if output.classes is not None:
                classes = output.classes.argmax(-1).numpy()
            right[at[part]] = classes == class_of(records["outcome"][part])
    return right


def score(weights: Path, data: Data, rows: np.ndarray) -> dict[str, Any]:
    """The accuracy of a network on rows (n,) of a data set: "overall", and "by source", a list."""
    right = predicted(weights, data, rows)
    starts, sources = data.column("start")[rows], data.column("source")[rows]
    parts = [sources == source for source in range(len(data.games))]
    return {
        "overall": asdict(accuracy(right, starts)),
        "by source": [asdict(accuracy(right[own], starts[own])) for own in parts if own.any()],
    }


def by_part(weights: Path, data: Data, parts: int) -> list[list[float]]:
    """The accuracy of a network by source and by part of the game, of equally long parts from the start to the end."""
    right = predicted(weights, data, np.arange(data.states))
    sources, plies = data.column("source"), data.column("ply")
    _, which = np.unique(np.stack([sources, data.column("game")], 1), axis=0, return_inverse=True)
    last = np.zeros(which.max() + 1, np.int64)
    np.maximum.at(last, which, plies)
    part = plies * parts // (last[which] + 1)
    return [
        [float(right[(sources == source) & (part == k)].mean()) for k in range(parts)]
        for source in range(len(data.games))
    ]
