"""The one interface of everybody who chooses moves."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sandtable.envs.game import as_states

if TYPE_CHECKING:
    from sandtable.envs.game import Game


@dataclass
class Decisions:
    """What a policy answers for n states."""

    moves: np.ndarray
    """(n, game.move_length) int16: one move a state."""
    values: np.ndarray
    """(n,) float64: the expected outcome for the player to move, in [-1, 1]; NaN where the agent has no opinion."""
    visits: Sequence[np.ndarray | None]
    """For each state how often every move of game.moves(state) was tried, in that order, or None."""


class Policy(ABC):
    """Chooses moves for batches of states. It never touches an environment.

    A policy is bound to a game by `reset`, which also forgets everything about earlier games. It may be shared by
    threads, which then decide one after the other: give each a policy of its own to let them think at once.
    """

    game: Game
    keeps_trees = False
    """Whether a decision may depend on earlier ones, and so on the order of calls."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng()
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock())

    def check(self, game: Game) -> None:  # noqa: B027  (most play every game)
        """Raise a ValueError with the reason if this policy cannot play the game."""

    def reset(self, game: Game, seed: int | None = None) -> None:
        """Start anew on `game`. The same seed and the same calls of `act` give the same decisions."""
        self.check(game)
        self.game = game
        self._rng = np.random.default_rng(seed)

    def act(self, states: np.ndarray, seeds: np.ndarray | None = None) -> Decisions:
        """Decide for every state of the array `states` (n,); none of them may be over.

        seeds (n,) uint64: the randomness of each decision, for callers that must not depend on how states
        are batched; drawn from the policy's own generator when not given.
        """
        if getattr(self, "game", None) is None:
            raise RuntimeError(f"{type(self).__name__} is bound to no game yet: call reset(game, seed) first")
        states = as_states(states)
        over = self.game.done(states)
        if over.any():
            raise ValueError(f"there is nothing to decide: state {int(np.argmax(over))} of {len(states)} is over")
        with self._lock:
            if seeds is None:
                seeds = self._rng.integers(0, 2**64, len(states), np.uint64)
            seeds = np.ascontiguousarray(seeds, np.uint64)
            if seeds.shape != states.shape:
                raise ValueError(f"{len(states)} states need {len(states)} seeds, got an array of shape {seeds.shape}")
            return self.decide(self.game.view(states, seeds), seeds)

    @abstractmethod
    def decide(self, states: np.ndarray, seeds: np.ndarray) -> Decisions:
        """Decide for states (n,), shown as their players may know them (Game.view), with one seed (n,) uint64 each."""
