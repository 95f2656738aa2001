"""Where to draw the territories of a map that does not say it: near in the graph, near on the picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sandtable.envs.warzone.position import Place

_TRIES = 8
_ROUNDS = 200


def distances(n: int, edges: Sequence[tuple[int, int]]) -> np.ndarray:
    """Steps between all pairs of territories of a connected graph, (n, n) int64."""
    steps = np.where(np.eye(n, dtype=bool), 0, n)
    for a, b in edges:
        steps[a, b] = steps[b, a] = 1
    for k in range(n):
        steps = np.minimum(steps, steps[:, k, None] + steps[None, k])
    return steps


def lay_out(n: int, edges: Sequence[tuple[int, int]]) -> tuple[Place, ...]:
    """A place from 0 to 1 for each territory, always the same for the same graph.

    Springs as long as the steps between the territories pull every pair; of some beginnings the calmest end is taken.
    """
    if n == 1:
        return ((0.5, 0.5),)
    steps = distances(n, edges)
    ends = [_relax(steps, np.random.default_rng(i).normal(size=(n, 2))) for i in range(_TRIES)]
    return _fit(min(ends, key=lambda places: _stress(steps, places)))


def _relax(steps: np.ndarray, places: np.ndarray) -> np.ndarray:
    pull = 1.0 / np.maximum(steps, 1) ** 2
    np.fill_diagonal(pull, 0.0)
    for _ in range(_ROUNDS):
        apart = places[:, None] - places[None]
        length = np.maximum(np.hypot(apart[..., 0], apart[..., 1]), 1e-6)
        wanted = places[None] + apart * (steps / length)[..., None]
        places = (pull[..., None] * wanted).sum(1) / pull.sum(1)[:, None]
    return places


def _stress(steps: np.ndarray, places: np.ndarray) -> float:
    apart = places[:, None] - places[None]
    return float((((np.hypot(apart[..., 0], apart[..., 1]) - steps) / np.maximum(steps, 1)) ** 2).sum())


def _fit(places: np.ndarray) -> tuple[Place, ...]:
    """Turned so that the map is wider than high, and scaled into the unit square."""
    places = places - places.mean(0)
    axes = np.linalg.svd(places, full_matrices=False)[2]
    axes = axes * np.where(axes[:, :1] < 0, -1.0, 1.0)
    places = places @ axes.T
    low, high = places.min(0), places.max(0)
    size = float((high - low).max())
    places = 0.5 + (places - (low + high) / 2) / size
    return tuple((round(float(x), 3), round(float(y), 3)) for x, y in places)
