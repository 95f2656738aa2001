"""Random maps, positions and orders of Warzone, for comparing the engine with the oracle."""

from __future__ import annotations

import random

from sandtable.envs.warzone.position import Bonus, Map, Order, Position
from sandtable.envs.warzone.rulesets import Rules
from sandtable.envs.warzone.state import LAYOUTS

SIZES = {"pair": (2, 1, 0), **{f"{layout.territories}": layout[:3] for layout in LAYOUTS}}
"""Territories, edges and bonuses: the smallest map, and the largest of every layout."""


def random_map(rng: random.Random, size: str) -> Map:
    """A connected map of exactly this size."""
    n, edges, bonuses = SIZES[size]
    chosen = {tuple(sorted((i, rng.randrange(i)))) for i in range(1, n)}
    others = [(a, b) for b in range(n) for a in range(b) if (a, b) not in chosen]
    chosen.update(rng.sample(others, edges - len(chosen)))
    return Map(
        territories=tuple(f"T{i}" for i in range(n)),
        edges=tuple(sorted((a, b) for a, b in chosen)),
        bonuses=tuple(
            Bonus(tuple(sorted(rng.sample(range(n), rng.randint(1, min(4, n))))), rng.randint(0, 9), f"B{i}")
            for i in range(bonuses)
        ),
    )


def random_position(rng: random.Random, map_: Map, rules: Rules, neutral: float = 0.3) -> Position:
    """Any board on which both players own something."""
    n = len(map_.territories)
    owner = [0 if rng.random() < neutral else rng.randint(1, 2) for _ in range(n)]
    for player, territory in zip((1, 2), rng.sample(range(n), 2), strict=True):
        owner[territory] = player
    armies = tuple(rng.choice((0, 1, 2, 3, 5, 8, 13, 40)) for _ in range(n))
    turn = rng.randrange(rules.turn_limit or 50)
    return Position(map_, rules, armies, tuple(owner), turn, rng.getrandbits(64))


def random_orders(rng: random.Random, position: Position, player: int, income: int, most: int = 12) -> list[Order]:
    """Legal orders without any sense: from anywhere along any edge, some of them twice."""
    land = [i for i, owner in enumerate(position.owner) if owner == player]
    deploys: list[Order] = []
    left = rng.randint(0, income)
    while left and rng.random() < 0.8:
        armies, territory = rng.randint(1, left), rng.choice(land)
        deploys.append((territory, territory, armies))
        left -= armies
    # Most orders begin on own land, so that something happens.
    ends = [edge if rng.random() < 0.5 else edge[::-1] for edge in position.map.edges]
    own = [edge for edge in ends if edge[0] in land] or ends
    sends = [(*rng.choice(own if rng.random() < 0.8 else ends), rng.choice((1, 2, 5, 9, 40))) for _ in range(most)]
    return deploys[:20] + sends[: rng.randint(0, most)]
