"""The agents that do not look ahead."""

from __future__ import annotations

import numpy as np

from sandtable.agents.policy import Decisions, Policy
from sandtable.envs.game import greedy_move_each, random_move_each


class RandomPolicy(Policy):
    """Any legal move, all equally likely."""

    def decide(self, states: np.ndarray, seeds: np.ndarray) -> Decisions:
        rows = np.empty((len(states), self.game.move_length), np.int16)
        random_move_each(states, seeds, rows)
        return without_opinion(rows)


class GreedyPolicy(Policy):
    """The game's simple hand-written player (for TUBSTAP, the platform's sample AI)."""

    def decide(self, states: np.ndarray, seeds: np.ndarray) -> Decisions:
        rows = np.empty((len(states), self.game.move_length), np.int16)
        greedy_move_each(states, seeds, rows)
        return without_opinion(rows)


def without_opinion(rows: np.ndarray) -> Decisions:
    """Decisions of an agent that has neither values nor visits."""
    return Decisions(rows, np.full(len(rows), np.nan), [None] * len(rows))
