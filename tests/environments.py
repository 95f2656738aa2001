"""What the tests of the environments share: configurations, comparison, and the warnings that are allowed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from gymnasium.utils.env_checker import data_equivalence

import sandtable
from sandtable.encoders.features.observation import OBSERVATIONS
from sandtable.envs.tubstap.position import Map, Unit
from sandtable.envs.tubstap.tables import BLUE, INFANTRY, PLAIN, RED

KINDS = tuple(OBSERVATIONS)
RULES = tuple(sandtable.tubstap.RULESETS)
SOURCES = tuple(sandtable.tubstap.source_names())

ALLOWED_WARNINGS = {
    "Observation is not a NumPy array": "PettingZoo: observations are dictionaries, with the mask in them",
    "Observation space for each agent probably should be": "PettingZoo: the same",
    "Action space for each agent probably should be": "PettingZoo: genes are a MultiDiscrete",
    "We recommend agents to be named in the format": "PettingZoo: the players' names are red and blue, not player_0",
    "Action mask numpy array is all zeros": "PettingZoo: when the game is over there is nothing left to choose",
    "The old environment creation API has been deprecated": "PettingZoo: its tests use the old one of its own games",
    "Your observation .* has an unconventional shape": "SB3: a graph's arrays need a features extractor of their own",
    "It seems that your observation .* is an image": "SB3: planes are numbers from 0 to 1, not pixels",
    "Treating image space as channels-last": "SB3: the same; there are more planes than rows and columns",
    "The minimal resolution for an image is 36x36": "SB3: boards are small, and need an extractor of their own",
    ".*Graph.*not supported by Stable.Baselines3": "SB3 has no Graph spaces; it checks graph_space no further",
}
"""The beginning of a warning → why it is none to us. Every other warning is an error."""


@contextmanager
def allowed_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        for message in ALLOWED_WARNINGS:
            warnings.filterwarnings("ignore", message)
        yield


def configuration(source: str = "li-symmetric", observation: str = "graph", rules: str = "official") -> dict[str, Any]:
    """Options of an environment; a source that plays games to find its starts plays short ones."""
    options: dict[str, Any] = {"map": source, "observation": observation, "rules": rules}
    return {**options, "rollouts": 5} if source == "li-local-search" else options


CONFIGURATIONS = {
    **{source: configuration(source) for source in SOURCES},
    **{f"{kind}-{rules}": configuration(observation=kind, rules=rules) for kind in KINDS for rules in RULES},
}
CROSS_PRODUCT = {
    f"{source}-{kind}-{rules}": configuration(source, kind, rules)
    for source in SOURCES
    for kind in KINDS
    for rules in RULES
}


def same(a: Any, b: Any) -> bool:
    """Whether two observations, infos or whole answers are equal, types included."""
    return data_equivalence(a, b, exact=True)


def choose(rng: np.random.Generator, mask: np.ndarray) -> int:
    """A random legal action; 0 where there is none."""
    legal = np.flatnonzero(mask)
    return int(rng.choice(legal)) if len(legal) else 0


def illegal(mask: np.ndarray) -> int:
    """The first illegal action."""
    return int(np.flatnonzero(mask == 0)[0])


def face_to_face(red_hp: int, blue_hp: int, turn_limit: int = 10) -> Map:
    """Two infantry units side by side: with 10 HP against 1, who moves first wins at once."""
    units = (Unit(1, 1, INFANTRY, RED, red_hp), Unit(2, 1, INFANTRY, BLUE, blue_hp))
    return Map(((PLAIN,) * 4,) * 4, units, turn_limit, 0)
