"""Primitive Monte Carlo: no tree, the same number of random rollouts after every legal move, the best mean."""

from __future__ import annotations

import numpy as np

from sandtable.agents.budget import Budget, at_least
from sandtable.agents.policy import Decisions, Policy
from sandtable.agents.tree import rollout
from sandtable.envs.game import luck, moves_of, play
from sandtable.envs.jit import jit
from sandtable.envs.randomness import random_word


@jit
def _roll(root, rows, totals, counts, simulations, plies, rng, work, move):
    """Run rollouts after one of the first len(totals) moves each, those with the fewest so far first."""
    at = 0
    for i in range(len(counts)):
        if counts[i] < counts[0]:
            at = i
            break
    for _ in range(simulations):
        work[0] = root[0]
        luck(work[0], random_word(rng))
        play(work[0], rows[at])
        totals[at] += rollout(work[0], 0.0, False, 0.0, plies, rng, move)
        counts[at] += 1
        at = at + 1 if at + 1 < len(counts) else 0


class PmcPolicy(Policy):
    """rollouts: how many after each legal move; or seconds: the time of a decision; plies: the longest rollout."""

    def __init__(self, *, rollouts: int | None = None, seconds: float | None = None, plies: int = 2_000) -> None:
        super().__init__()
        if rollouts is None and seconds is None:
            rollouts = 100
        self._rollouts = None if rollouts is None else at_least("rollouts", rollouts, 1)
        self._seconds = Budget(None, seconds, 1).seconds
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
            totals, counts = self._roll(root, rows, n, rng)
            tried = np.maximum(counts, 1)
            means = np.where(counts > 0, signs[i] * totals / tried, -np.inf)
            best = int(np.argmax(means))
            chosen[i], values[i] = rows[best], means[best]
            visits.append(counts)
        return Decisions(chosen, values, visits)

    def _roll(self, root: np.ndarray, rows: np.ndarray, n: int, rng: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The sums of outcomes for player 0 after each of the n moves, and their numbers."""
        totals, counts = np.zeros(n), np.zeros(n, np.int64)
        work, move = root.copy(), np.empty(self.game.move_length, np.int16)
        most = None if self._rollouts is None else self._rollouts * n
        Budget(most, self._seconds, 1).spend(
            lambda sims: _roll(root, rows, totals, counts, sims, self._plies, rng, work, move)
        )
        return totals, counts
