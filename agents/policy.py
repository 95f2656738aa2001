"""The one interface of everybody who chooses moves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

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

    A policy is bound to a game by `reset`, which also forgets everything about earlier games.
    """

    game: Game

    def __init__(self) -> None:
        self._rng = np.random.default_rng()

    def reset(self, game: Game, seed: int | None = None) -> None:
        """Start anew on `game`. The same seed and the same calls of `act` give the same decisions."""
        self.game = game
        self._rng = np.random.default_rng(seed)

    def act(self, states: np.ndarray, seeds: np.ndarray | None = None) -> Decisions:
        """Decide for every state of the array `states` (n,); none of them may be over.

        seeds (n,) uint64: the randomness of each decision, for callers that must not depend on how states
        are batched; drawn from the policy's own generator when not given.
        """
        if getattr(self, "game", None) is None:
            raise RuntimeError(f"{type(self).__name__} is bound to no game yet: call reset(game, seed) first")
        states = np.atleast_1d(np.asarray(states))
        if self.game.done(states).any():
            raise ValueError("there is nothing to decide: a state given to act() is over")
        if seeds is None:
            seeds = self._rng.integers(0, 2**64, len(states), np.uint64)
        return self.decide(states, seeds)

    @abstractmethod
    def decide(self, states: np.ndarray, seeds: np.ndarray) -> Decisions:
        """Decide for states (n,) with one seed (n,) uint64 each."""
