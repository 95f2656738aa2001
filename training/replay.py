"""Positions of self-play to learn from: records of a fixed size in rings, one for each source of maps.

What a search found out about the moves of a position is kept sparse: the best of them, by their number in the game's
list, and their shares. A game that can only sample its moves keeps the moves themselves.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from sandtable.envs.jit import jit

if TYPE_CHECKING:
    from sandtable.agents.pvmcts import Found
    from sandtable.envs.game import Game

_KEPT = 32
"""So many moves of a position have a share in its policy."""
_FEW = 64
"""A game whose positions never have more moves than this keeps them: they are samples that cannot be listed again."""


def position_dtype(game: Game) -> np.dtype:
    """What is kept of a position."""
    most = game.max_moves + 1
    fields: list[Any] = [
        ("state", game.dtype),  # as its player to move may know it
        ("owner", np.int64),  # the number of its game
        ("generation", np.int32),  # when it was played
        ("outcome", np.float32),  # of the game, for the player to move, in [-1, 1]
        ("value", np.float32),  # what the search expected
        ("index", np.int16, min(_KEPT, most)),  # the best moves, by their place in the list of moves
        ("share", np.float32, min(_KEPT, most)),  # their policy; 0 where there are fewer
        ("full", np.bool_),  # whether the search was a full one, whose policy is worth learning
        ("player", np.int8),  # whose move it is
    ]
    if most <= _FEW:
        fields += [("count", np.int16), ("rows", np.int16, (most, game.move_length))]
    return np.dtype(fields, align=True)


@jit
def _keep_best(policy, ends, index, share):
    """Write the largest shares of each state's policy, and whose they are; together they are 1 again."""
    most = index.shape[1]
    for i in range(len(ends) - 1):
        n = 0
        for j in range(ends[i], ends[i + 1]):
            if n == most and policy[j] <= share[i, n - 1]:
                continue
            at = n if n < most else most - 1
            while at > 0 and share[i, at - 1] < policy[j]:
                share[i, at] = share[i, at - 1]
                index[i, at] = index[i, at - 1]
                at -= 1
            share[i, at] = policy[j]
            index[i, at] = j - ends[i]
            n = min(n + 1, most)
        total = share[i, :n].sum()
        for at in range(n):
            share[i, at] /= total


@jit
def _spread(index, share, ends, out):
    """The shares of moves (m,) of all states, from what was kept."""
    for i in range(len(index)):
        for j in range(index.shape[1]):
            if share[i, j] > 0.0:
                out[ends[i] + index[i, j]] = share[i, j]


def positions(game: Game, states: np.ndarray, found: Found) -> np.ndarray:
    """Records (n,) of states and what a search found; outcomes are still to come."""
    records = np.zeros(len(states), position_dtype(game))
    records["state"], records["value"], records["player"] = states, found.values, game.player(states)
    _keep_best(found.policy, found.ends, records["index"], records["share"])
    if "rows" in (records.dtype.names or ()):
        counts = np.diff(found.ends)
        records["count"] = counts
        listed = np.arange(records["rows"].shape[1]) < counts[:, None]
        rows = np.zeros(records["rows"].shape, np.int16)
        rows[listed] = found.rows
        records["rows"] = rows
    return records


@dataclass(frozen=True)
class Batch:
    """Some positions of one source of maps, each in a symmetry of its board."""

    game: Game
    states: np.ndarray
    rows: np.ndarray
    """(m, length): their moves."""
    ends: np.ndarray
    policy: np.ndarray
    """(m,) float32: the shares of the moves."""
    outcome: np.ndarray
    value: np.ndarray
    """(n,) float32 each, for the players to move."""
    full: np.ndarray
    """(n,) bool: whether the policy is to be learned."""


def batch_of(game: Game, records: np.ndarray, turns: np.ndarray | None = None) -> Batch:
    """The batch of records (n,). turns (n,): in which symmetry each is seen."""
    states = np.ascontiguousarray(records["state"])
    if "rows" in (records.dtype.names or ()):
        listed = np.arange(records["rows"].shape[1]) < records["count"][:, None]
        rows = np.ascontiguousarray(records["rows"][listed])
        ends = np.concatenate([[0], np.cumsum(records["count"], dtype=np.int64)])
    else:
        rows, ends = game.moves_each(states)
    policy = np.zeros(len(rows), np.float32)
    _spread(records["index"], records["share"], ends, policy)
    if turns is not None:
        states, rows = game.symmetry(states, turns), game.symmetry_moves(states, rows, turns, ends)
    return Batch(game, states, rows, ends, policy, records["outcome"], records["value"], records["full"])


class Replay:
    """The newest `capacity` positions of all sources together, as far as their shares of it differ little."""

    def __init__(self, games: list[Game], capacity: int) -> None:
        self.games, self.capacity = games, capacity
        self._rings = [np.zeros(0, position_dtype(game)) for game in games]
        self.added = 0
        """How many positions were ever added."""

    def __len__(self) -> int:
        return sum(map(len, self._rings))

    def add(self, played: list[np.ndarray]) -> None:
        """Add positions, an array for each source, and let go of the oldest that there is no room for."""
        for source, records in enumerate(played):
            if len(records):
                self._rings[source] = np.concatenate([self._rings[source], records])
                self.added += len(records)
        over = len(self) - self.capacity
        if over > 0:
            ages = np.concatenate([ring["generation"] for ring in self._rings])
            oldest = np.sort(ages, kind="stable")[over - 1]
            for source, ring in enumerate(self._rings):
                drop = min(int((ring["generation"] <= oldest).sum()), max(len(ring) - 1, 0), over)
                over -= drop
                self._rings[source] = ring[drop:].copy()

    def sample(self, rng: np.random.Generator, n: int, symmetric: bool = True) -> Batch:
        """n positions of one source, drawn by how many it has; symmetric: each in a random symmetry of its board."""
        sizes = np.array([len(ring) for ring in self._rings], float)
        source = int(rng.choice(len(sizes), p=sizes / sizes.sum()))
        game, ring = self.games[source], self._rings[source]
        records = ring[rng.integers(0, len(ring), n)]
        turns = rng.integers(0, game.symmetries, n) if symmetric and game.symmetries > 1 else None
        return batch_of(game, records, turns)

    def age(self, generation: int) -> float:
        """The mean age of positions, in generations."""
        if not len(self):
            return 0.0
        return generation - float(np.concatenate([ring["generation"] for ring in self._rings]).mean())

    def state_dict(self) -> dict[str, Any]:
        """Everything, as a checkpoint can hold it."""
        return {"added": self.added, "rings": [packed(ring) for ring in self._rings]}

    def load_state_dict(self, content: dict[str, Any]) -> None:
        """Be as `state_dict` told."""
        self.added = content["added"]
        self._rings = [
            unpacked(packet, position_dtype(game)) for packet, game in zip(content["rings"], self.games, strict=True)
        ]


def packed(records: np.ndarray) -> torch.Tensor:
    """An array as a tensor of bytes, compressed: most of a state is zeros."""
    return torch.frombuffer(bytearray(zlib.compress(records.tobytes(), 1)), dtype=torch.uint8)


def unpacked(packet: torch.Tensor, dtype: np.dtype) -> np.ndarray:
    """The array in such a tensor; a ValueError if it is of another type."""
    try:
        return np.frombuffer(zlib.decompress(packet.numpy().tobytes()), dtype).copy()
    except (zlib.error, ValueError) as error:
        raise ValueError(f"positions of another version of sandtable, or damaged: {error}") from None
