"""What is learned from and what is not: rows of a data set in three parts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sandtable.training.data import Data

SPLITS = ("map", "game", "state")
"""What stays together: all states of a start, both colours; all states of a game; nothing, as Takahashi 2023 did, so
that neighbours of the test's states are learned from."""


class Split(NamedTuple):
    """Rows (n,) of a data set, each in order."""

    train: np.ndarray
    validation: np.ndarray
    """Held out to choose the best weights and to stop."""
    test: np.ndarray
    """Held out to tell how good they are."""


def split_rows(data: Data, by: str, test: float, validation: float, seed: int) -> Split:
    """Split a data set, of every source of maps the same shares. test: that share of what `by` keeps together;
    validation: a share of the rest, by map unless there is only one, in which case by game."""
    rng = np.random.default_rng([seed, 0])
    rows = np.arange(data.states)
    held = _draw(data, by, rows, test, rng)
    rest = rows[~held]
    starts = len(np.unique(data.column("start")[rest]))
    chosen = _draw(data, "map" if starts > 1 else "game", rest, validation, rng)
    return Split(rest[~chosen], rest[chosen], rows[held])


def _draw(data: Data, by: str, rows: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Which of rows (n,) are held out, (n,) bool."""
    if share == 0:
        return np.zeros(len(rows), bool)
    sources = data.column("source")[rows]
    if by == "map":
        names = data.column("start")[rows]
    elif by == "game":
        names = data.column("game")[rows].astype(np.int64) + (sources.astype(np.int64) << 32)
    elif by == "state":
        names = rows
    else:
        raise ValueError(f"split by {by!r}: valid are {', '.join(SPLITS)}")
    groups, first, which = np.unique(names, return_index=True, return_inverse=True)
    held = np.zeros(len(groups), bool)
    for source in np.unique(sources):
        members = np.flatnonzero(sources[first] == source)
        held[rng.permutation(members)[: round(share * len(members))]] = True
    if not held.any():
        held[rng.integers(len(groups))] = True
    if held.all():
        raise ValueError(
            f"{share:.0%} of the data cannot be held out by {by}: it has {len(groups)} {by}{'s' * (len(groups) != 1)}"
            + ("; --split game or --split state divides games of the same start" if by == "map" else "")
        )
    return held[which]
