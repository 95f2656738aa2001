"""States of a data set as a network sees them, in batches.

Features are made by compiled encoders: once, where they fit into memory, else again and again, some batches at a time.
Batches are the same either way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from sandtable.training.data import Data

if TYPE_CHECKING:
    from sandtable.encoders.networks.network import Network

CHUNK = 1 << 14
"""So many states are encoded at a time."""


class Encoding:
    """How a network's features of a data set look: which belong to states, and which to the map that all share."""

    def __init__(self, network: Network, data: Data) -> None:
        self.network, self.data = network, data
        looks = [self._look(source) for source in sorted({shard.source for shard, _ in data.shards})]
        names = [data.recipe.maps[source] for source, _, _ in looks]
        for name, (_, shapes, shared) in zip(names, looks, strict=True):
            if shapes != looks[0][1] or any(not torch.equal(shared[key], looks[0][2][key]) for key in shared):
                raise ValueError(
                    f"{names[0]} and {name} look different to {network.name} (other boards or units): "
                    "one network cannot learn from both in the same batch; train on one of them"
                )
        self.shapes, self.shared = looks[0][1], looks[0][2]
        self.bytes_a_state = sum(np.prod(shape, dtype=int) * kind.itemsize for shape, kind in self.shapes.values())

    def _look(self, source: int) -> tuple[int, dict[str, tuple[tuple[int, ...], torch.dtype]], dict[str, Tensor]]:
        records = next(records for shard, records in self.data.shards if shard.source == source and len(records))
        states, game = np.array(records["state"][:1]), self.data.games[source]
        self.network.check(game)
        one, two = (self.network.features(game, np.repeat(states, n)) for n in (1, 2))
        per_state = {name for name in one if len(one[name]) == 1 and len(two[name]) == 2}
        shapes = {name: (tuple(one[name].shape[1:]), one[name].dtype) for name in sorted(per_state)}
        return source, shapes, {name: one[name] for name in one if name not in per_state}

    def __call__(self, rows: np.ndarray, turns: np.ndarray | None = None) -> dict[str, Tensor]:
        """The features of rows (n,), those that belong to states. turns (n,): in which symmetry each is seen."""
        out = {name: torch.empty((len(rows), *shape), dtype=kind) for name, (shape, kind) in self.shapes.items()}
        for start in range(0, len(rows), CHUNK):
            for source, at, records in self.data.take(rows[start : start + CHUNK]):
                game, states = self.data.games[source], np.ascontiguousarray(records["state"])
                if turns is not None:
                    states = game.symmetry(states, turns[start + at])
                features = self.network.features(game, states)
                for name, tensor in out.items():
                    tensor[torch.from_numpy(start + at)] = features[name]
        return out


class Examples:
    """Some rows of a data set: features and outcomes."""

    def __init__(self, encoding: Encoding, rows: np.ndarray, room: int, symmetric: bool = False) -> None:
        data = encoding.data
        self.rows, self.encoding, self.symmetric = rows, encoding, symmetric
        self.outcomes = torch.from_numpy(data.column("outcome")[rows])
        self.sources = data.column("source")[rows]
        self._symmetries = np.array([game.symmetries for game in data.games])[self.sources]
        self.bytes = 0 if symmetric else len(rows) * int(encoding.bytes_a_state)
        self._kept: dict[str, Tensor] | None = None
        self.keep = not symmetric and self.bytes <= room

    def __len__(self) -> int:
        return len(self.rows)

    def batches(
        self, order: np.ndarray, batch: int, skip: int = 0, rng: np.random.Generator | None = None
    ) -> Iterator[tuple[dict[str, Tensor], Tensor]]:
        """Features and places (b,) of the examples in this order, without the first `skip` batches. rng: what draws
        symmetries, for examples that are symmetric."""
        turns = None
        if self.symmetric and rng is not None:
            turns = (rng.random(len(self)) * self._symmetries).astype(np.int64)
        if self.keep and self._kept is None:
            self._kept = self.encoding(self.rows)
        step = max(CHUNK // batch, 1) * batch
        for start in range(skip * batch, len(order), step):
            chosen = order[start : start + step]
            made = None
            if self._kept is None:
                made = self.encoding(self.rows[chosen], None if turns is None else turns[chosen])
            for first in range(0, len(chosen), batch):
                places = torch.from_numpy(chosen[first : first + batch])
                if made is not None:
                    features = {name: tensor[first : first + batch] for name, tensor in made.items()}
                else:
                    assert self._kept is not None
                    features = {name: tensor[places] for name, tensor in self._kept.items()}
                yield {**features, **self.encoding.shared}, places
