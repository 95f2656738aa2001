"""Co-evolution (Soares 2025, section 4.2): two populations of plans for the coming turn, ours and the opponent's.

An individual is a plan, a row of numbers that the game can always play (it repairs what cannot be done). Its fitness
is the mean value, for its side, of the positions after it has met every individual of the other population. The best
ones live on; the others are children of random pairs by one-point crossover, and some of their numbers mutate.
"""

from __future__ import annotations

import numpy as np

from sandtable.agents.budget import Budget, at_least, share
from sandtable.agents.policy import Decisions, Policy
from sandtable.agents.tree import rollout
from sandtable.envs.game import (
    done,
    material,
    outcome,
    plan_length,
    plan_move,
    play_plans,
    player,
    random_plan,
)
from sandtable.envs.jit import jit
from sandtable.envs.randomness import below, uniform
from sandtable.names import unknown_name

EVALUATORS = ("material", "rollouts")


@jit
def _plan_length(root):
    return plan_length(root[0])


@jit
def _populate(root, us, rng, ours, theirs):
    """Fill both populations with random plans."""
    for i in range(len(ours)):
        random_plan(root[0], us, rng, ours[i])
    for i in range(len(theirs)):
        random_plan(root[0], 1 - us, rng, theirs[i])


@jit
def _value(state, rollouts, plies, rng, work, move):
    """The state's value for player 0: its outcome if it is over, else its material or the mean of rollouts."""
    if done(state):
        return outcome(state)
    if rollouts == 0:
        return material(state)
    total = 0.0
    for _ in range(rollouts):
        work[0] = state
        total += rollout(work[0], 0.0, False, 0.0, plies, rng, move)
    return total / rollouts


@jit
def _meet(root, us, ours, theirs, rollouts, plies, rng, work, move, values):
    """values[i, j]: for us, after our i-th plan has met their j-th. work (2,): room for states."""
    sign = 1.0 if us == 0 else -1.0
    for i in range(len(ours)):
        for j in range(len(theirs)):
            work[0] = root[0]
            play_plans(work[0], ours[i], theirs[j], rng, move)
            values[i, j] = sign * _value(work[0], rollouts, plies, rng, work[1:], move)


@jit
def _breed(root, side, plans, fitness, elites, mutation, rng, fresh):
    """The next generation of a population in `fresh`: its elites, best first, and children of random pairs."""
    order = np.argsort(-fitness)
    for i in range(elites):
        fresh[i] = plans[order[i]]
    stranger = np.empty_like(fresh[0])
    for i in range(elites, len(plans)):
        mother, father = plans[below(rng, len(plans))], plans[below(rng, len(plans))]
        cut = below(rng, len(mother) + 1)
        fresh[i, :cut] = mother[:cut]
        fresh[i, cut:] = father[cut:]
        # A number that mutates becomes that of a random plan: always something that the game could have drawn.
        random_plan(root[0], side, rng, stranger)
        for k in range(len(stranger)):
            if uniform(rng) < mutation:
                fresh[i, k] = stranger[k]


@jit
def _first_move(root, plan, move):
    plan_move(root[0], plan, move)


@jit
def _us(root):
    return player(root[0])


class GaPolicy(Policy):
    """Two populations evolve against each other; the best plan's next move is played.

    generations, seconds: the budget of a decision; population, elites: individuals a side, and how many live on;
    mutation: the chance that a number of a child mutates; value: what a position is worth, "material" (see the
    game) or "rollouts"; rollouts, plies: how many of them, and how long.
    """

    def __init__(
        self,
        *,
        generations: int | None = None,
        seconds: float | None = None,
        population: int = 30,
        elites: int = 5,
        mutation: float = 0.1,
        value: str = "material",
        rollouts: int = 1,
        plies: int = 2_000,
    ) -> None:
        super().__init__()
        if value not in EVALUATORS:
            raise ValueError(unknown_name("value", value, EVALUATORS))
        if generations is not None:
            generations = at_least("generations", generations, 1)
        self.budget = Budget(generations, seconds, 20)
        self._population = at_least("population", population, 2)
        self._elites = at_least("elites", elites, 1)
        if self._elites >= self._population:
            raise ValueError(f"elites={elites} must be fewer than the population of {population}")
        self._mutation = share("mutation", mutation)
        self._rollouts = at_least("rollouts", rollouts, 1) if value == "rollouts" else 0
        self._plies = at_least("plies", plies, 1)

    def decide(self, states: np.ndarray, seeds: np.ndarray) -> Decisions:
        rows = np.empty((len(states), self.game.move_length), np.int16)
        values = np.empty(len(states))
        for i in range(len(states)):
            evolution = Evolution(states[i : i + 1], self._population, seeds[i : i + 1], self.game.move_length)
            self.budget.spend(lambda n, evolution=evolution: self._evolve(evolution, n))  # type: ignore[misc]
            rows[i], values[i] = evolution.best()
        return Decisions(rows, values, [None] * len(states))

    def _evolve(self, evolution: Evolution, generations: int) -> None:
        for _ in range(generations):
            evolution.generation(self._elites, self._mutation, self._rollouts, self._plies)


class Evolution:
    """Two populations that evolve at one state (1,)."""

    def __init__(self, root: np.ndarray, population: int, seed: np.ndarray, move_length: int) -> None:
        self.root, self._rng = root.copy(), seed.copy()
        self._us = _us(root)
        shape = (population, _plan_length(root))
        self.ours, self.theirs = np.zeros(shape, np.int16), np.zeros(shape, np.int16)
        self._spare = np.zeros(shape, np.int16)
        self.values = np.zeros((population, population))
        self._work, self._move = np.concatenate([root, root]), np.empty(move_length, np.int16)
        _populate(self.root, self._us, self._rng, self.ours, self.theirs)
        self._bred = True

    def generation(self, elites: int, mutation: float, rollouts: int, plies: int) -> None:
        """Let the populations meet, and breed the next ones from what came of it."""
        if not self._bred:
            self.ours, self._spare = self._next(self._us, self.ours, self.values.mean(1), elites, mutation)
            self.theirs, self._spare = self._next(1 - self._us, self.theirs, -self.values.mean(0), elites, mutation)
        _meet(
            self.root,
            self._us,
            self.ours,
            self.theirs,
            rollouts,
            plies,
            self._rng,
            self._work,
            self._move,
            self.values,
        )
        self._bred = False

    def _next(
        self, side: int, plans: np.ndarray, fitness: np.ndarray, elites: int, mutation: float
    ) -> tuple[np.ndarray, np.ndarray]:
        _breed(self.root, side, plans, fitness, elites, mutation, self._rng, self._spare)
        return self._spare, plans

    def best(self) -> tuple[np.ndarray, float]:
        """The next move of our best plan, and that plan's fitness."""
        fitness = self.values.mean(1)
        i = int(fitness.argmax())
        _first_move(self.root, self.ours[i], self._move)
        return self._move.copy(), float(fitness[i])
