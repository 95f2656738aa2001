"""Primitive Monte Carlo: no tree, the same number of random rollouts after every legal move, the best mean."""

from __future__ import annotations

import numpy as np

from sandtable.agents.budget import Budget, at_least
from sandtable.agents.policy import Decisions, Policy
from sandtable.agents.tree import rollout
from sandtable.envs.game import moves_of, play
from sandtable.envs.jit import jit


@jit
def _roll_each(root, rows, n, rounds, plies, rng, work, move, totals):
    """Add the outcomes for player 0 of so many rollouts after each of the n moves to totals (n,)."""
    for i in range(n):
        for _ in range(rounds):
            work[0] = root[0]
            play(work[0], rows[i])
            totals[i] += rollout(work[0], 0.0, False, 0.0, plies, rng, move)


class PmcPolicy(Policy):
    """rollouts: how many after each legal move; or seconds: the time of a decision; plies: the longest rollout."""

    def __init__(self, *, rollouts: int | None = None, seconds: float | None = None, plies: int = 2_000) -> None:
        super().__init__()
        if rollouts is not None:
            rollouts = at_least("rollouts", rollouts, 1)
        self.budget = Budget(rollouts, seconds, 100)
        self._plies = at_least("plies", plies, 1)

    def decide(self, states: np.ndarray, seeds: np.ndarray) -> Decisions:
        chosen = np.empty((len(states), self.game.move_length), np.int16)
        values = np.empty(len(states))
        visits: list[np.ndarray | None] = []
        rows = np.empty((self.game.max_moves, self.game.move_length), np.int16)
        signs = np.where(self.game.player(states) == 0, 1.0, -1.0)
        for i in range(len(states)):
            root, rng = states[i : i + 1], seeds[i : i + 1].copy()
            n = moves_of(root, rows)
            totals = np.zeros(n)
            rounds = self._roll(root, rows, n, rng, totals)
            best = int(np.argmax(signs[i] * totals))
            chosen[i], values[i] = rows[best], signs[i] * totals[best] / rounds
            visits.append(np.full(n, rounds))
        return Decisions(chosen, values, visits)

    def _roll(self, root: np.ndarray, rows: np.ndarray, n: int, rng: np.ndarray, totals: np.ndarray) -> int:
        work, move = root.copy(), np.empty(self.game.move_length, np.int16)
        return self.budget.spend(lambda rounds: _roll_each(root, rows, n, rounds, self._plies, rng, work, move, totals))
