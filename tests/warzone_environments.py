"""What the tests of Warzone's environments share."""

from __future__ import annotations

from typing import Any

import numpy as np

import sandtable
from sandtable.encoders.features.observation import OBSERVATIONS
from sandtable.envs.warzone.position import Map, Position
from sandtable.envs.warzone.rulesets import Rules
from tests.environments import choose

KINDS = tuple(OBSERVATIONS)
RULES = tuple(sandtable.warzone.RULESETS)
MAPS = tuple(sandtable.warzone.source_names())
ACTIONS = ("genes", "orders")


def configuration(
    map: str = "italy", action: str = "genes", observation: str = "graph", rules: str = "default"
) -> dict[str, Any]:
    return {"map": map, "action": action, "observation": observation, "rules": rules}


CONFIGURATIONS = {
    **{f"{map}-{action}": configuration(map, action) for map in MAPS for action in ACTIONS},
    **{
        f"{kind}-{action}-{rules}": configuration("banana", action, kind, rules)
        for kind in KINDS
        for action in ACTIONS
        for rules in RULES
    },
}
CROSS_PRODUCT = {
    f"{map}-{action}-{kind}-{rules}": configuration(map, action, kind, rules)
    for map in MAPS
    for action in ACTIONS
    for kind in KINDS
    for rules in RULES
}


def three_in_a_row(armies: tuple[int, int, int], owner: tuple[int, int, int] = (1, 0, 2), **rules: Any) -> Position:
    """West, Middle and East: with 5 armies more, who has enough armies walks over the others."""
    map_ = Map(("West", "Middle", "East"), ((0, 1), (1, 2)))
    return Position(map_, Rules(**rules), armies, owner)


def genes_of(env: Any, *orders: tuple[int, int, int]) -> np.ndarray:
    """The action of some orders (source, destination, armies) where the action is genes."""
    ends, genes = env.codec._ends, np.zeros(env.codec.space.shape, np.int64)
    for source, destination, armies in orders:
        genes[int(np.flatnonzero((ends == (source, destination)).all(1))[0])] = armies
    return genes


def random_action(rng: np.random.Generator, env: Any, mask: np.ndarray | None) -> Any:
    """A legal action; without a mask all are."""
    if mask is not None:
        return choose(rng, mask)
    return rng.integers(0, env.unwrapped.codec.top + 1, env.unwrapped.codec.space.shape)
