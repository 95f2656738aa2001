"""A toy with the face of a game: Nim with three heaps, where who takes the last stone wins and ten moves are a draw.

Small enough that a tournament takes a moment, and nothing in matches/ may need more than this.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from sandtable.agents.policy import Decisions, Policy

DTYPE = np.dtype([("heaps", np.int16, 3), ("mover", np.int16), ("moves", np.int16)])
LIMIT = 10


class Nim:
    """States are records, a move is (heap, stones)."""

    name = "nim"
    players = ("red", "blue")
    move_length = 2
    record_suffix = ".nim"

    def new(self, n: int = 1, seed: int | None = None) -> np.ndarray:
        states = np.zeros(n, DTYPE)
        states["heaps"] = np.random.default_rng(seed).integers(1, 8, (n, 3))
        return states

    def player(self, state: Any) -> int:
        return int(state["mover"])

    def view(self, states: np.ndarray, seeds: np.ndarray | None = None) -> np.ndarray:
        return states

    def moves(self, state: Any) -> np.ndarray:
        rows = [(heap, take) for heap in range(3) for take in range(1, state["heaps"][heap] + 1)]
        return np.array(rows, np.int16).reshape(-1, 2)

    def legal(self, state: Any, move: np.ndarray) -> bool:
        heap, take = move.tolist()
        return 0 <= heap < 3 and 1 <= take <= state["heaps"][heap]

    def play(self, state: Any, move: np.ndarray) -> Any:
        after = state.copy()
        after["heaps"][move[0]] -= move[1]
        after["mover"] = 1 - after["mover"]
        after["moves"] += 1
        return after

    def done(self, state: Any) -> bool:
        return not state["heaps"].any() or state["moves"] >= LIMIT

    def outcome(self, state: Any) -> float:
        if state["heaps"].any():
            return 0.0
        return 1.0 if state["mover"] == 1 else -1.0

    def describe(self, state: Any, move: np.ndarray) -> str:
        return f"{self.players[self.player(state)]} takes {move[1]} from heap {move[0]}"

    def ansi(self, state: Any, move: Any = None, color: bool = False) -> str:
        return " ".join(map(str, state["heaps"].tolist()))

    def record(self, states: list[Any], moves: list[np.ndarray], names: tuple[str, str], date: str) -> str:
        lines = [f"{self.ansi(state)}: {move.tolist()}" for state, move in zip(states, moves, strict=True)]
        return "\n".join([*names, date, *lines]) + "\n"


class RandomNim(Policy):
    """Any move, from the seeds that it is given."""

    def decide(self, states: np.ndarray, seeds: np.ndarray) -> Decisions:
        rows = [self.pick(state, np.random.default_rng(int(seed))) for state, seed in zip(states, seeds, strict=True)]
        return Decisions(np.array(rows, np.int16), np.full(len(states), np.nan), [None] * len(states))

    def pick(self, state: Any, rng: np.random.Generator) -> np.ndarray:
        return rng.choice(self.game.moves(state))


class PerfectNim(RandomNim):
    """Leaves heaps whose exclusive or is 0 where that can be done."""

    def pick(self, state: Any, rng: np.random.Generator) -> np.ndarray:
        moves = self.game.moves(state)
        good = [m for m in moves if np.bitwise_xor.reduce(self.game.play(state, m)["heaps"]) == 0]
        return good[0] if good else rng.choice(moves)


class SlowNim(RandomNim):
    """Random, but every decision takes a while."""

    def pick(self, state: Any, rng: np.random.Generator) -> np.ndarray:
        time.sleep(0.05)
        return super().pick(state, rng)


AGENTS: dict[str, type[Policy]] = {"random": RandomNim, "perfect": PerfectNim, "slow": SlowNim}


def make_toy_agent(spec: str) -> Policy:
    return AGENTS[spec]()
