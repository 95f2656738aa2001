"""Random maps for comparing the engine with the oracle, and what may be done to a map without changing the game."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from sandtable.envs.tubstap.position import Map, Unit
from sandtable.envs.tubstap.tables import (
    BLUE,
    ENTRY_COST,
    FOREST,
    FORTRESS,
    INFANTRY,
    MAX_HP,
    MAX_UNITS,
    MOUNTAIN,
    PLAIN,
    RED,
    ROAD,
    SEA,
    UNIT_CLASS,
    UNIT_NAMES,
)

SIZES = {
    "8x8": ((2, 8), (2, 8)),
    "12x12": ((9, 12), (9, 12)),
    "20x20": ((13, 20), (13, 20)),
    "long": ((1, 3), (9, 20)),
    "wide": ((9, 20), (1, 3)),
}
"""Lowest and highest width and height, by name."""

Terrain = tuple[tuple[int, ...], ...]


def random_map(rng: random.Random, size: str = "8x8", units: int | None = None) -> Map:
    """A map of a size of SIZES with so many units a side (as far as there is room), by default a random number."""
    (least_wide, most_wide), (least_high, most_high) = SIZES[size]
    width, height = rng.randint(least_wide, most_wide), rng.randint(least_high, most_high)
    weights = [rng.choice((0, 1)), 6, *(rng.choice((0, 1, 3)) for _ in range(5))]  # plain is never rare
    terrain = tuple(tuple(rng.choices(range(7), weights)[0] for _ in range(width)) for _ in range(height))
    teams = [team for team in (RED, BLUE) for _ in range((units or rng.choice((1, 2, 3, 4, 6, MAX_UNITS))) - 1)]
    rng.shuffle(teams)
    teams = [*rng.sample((RED, BLUE), 2), *teams]  # the first two find room on any map
    terrain, placed = _place(rng, terrain, teams)
    return Map(terrain, placed, turn_limit=rng.randint(3, 30), hp_threshold=rng.choice((0, 0, 0, 1, 3, 10)))


def _place(rng: random.Random, terrain: Terrain, teams: list[int]) -> tuple[Terrain, tuple[Unit, ...]]:
    """Units of these teams on random cells that they can enter; where there are too few such cells, fewer units,
    but at least one of each team, on cells that become plain for them."""
    height, width = len(terrain), len(terrain[0])
    cells = [(x, y) for y in range(1, height + 1) for x in range(1, width + 1)]
    rng.shuffle(cells)
    rows = [list(row) for row in terrain]
    acted_share = rng.choice((0, 0, 0.3, 1))
    units: list[Unit] = []
    for team, (x, y) in zip(teams, cells, strict=False):
        kinds = [k for k in range(len(UNIT_NAMES)) if ENTRY_COST[rows[y - 1][x - 1]][UNIT_CLASS[k]]]
        if not kinds:
            if any(u.team == team for u in units):
                continue
            rows[y - 1][x - 1], kinds = PLAIN, [INFANTRY]
        units.append(Unit(x, y, rng.choice(kinds), team, rng.randint(1, MAX_HP), rng.random() < acted_share))
    return tuple(map(tuple, rows)), tuple(units)


def swap_teams(map: Map) -> Map:
    """RED and BLUE have changed places; ids stay."""
    return replace(map, units=tuple(replace(u, team=1 - u.team) for u in map.units))


Turn = Callable[[int, int, int, int], tuple[int, int]]
"""(x, y, width, height), counted from 1 → where that cell is on the turned board."""

SYMMETRIES: dict[str, Turn] = {
    "same": lambda x, y, w, h: (x, y),
    "left-right": lambda x, y, w, h: (w + 1 - x, y),
    "upside-down": lambda x, y, w, h: (x, h + 1 - y),
    "half-turn": lambda x, y, w, h: (w + 1 - x, h + 1 - y),
    "diagonal": lambda x, y, w, h: (y, x),
    "antidiagonal": lambda x, y, w, h: (h + 1 - y, w + 1 - x),
    "quarter-left": lambda x, y, w, h: (y, w + 1 - x),
    "quarter-right": lambda x, y, w, h: (h + 1 - y, x),
}


def turn_map(map: Map, turn: Turn) -> Map:
    """The map with its board turned or mirrored; ids stay."""
    w, h = map.width, map.height
    moved = {turn(x, y, w, h): map.terrain[y - 1][x - 1] for x in range(1, w + 1) for y in range(1, h + 1)}
    width, height = max(x for x, _ in moved), max(y for _, y in moved)
    terrain = tuple(tuple(moved[x, y] for x in range(1, width + 1)) for y in range(1, height + 1))
    units = []
    for u in map.units:
        x, y = turn(u.x, u.y, w, h)
        units.append(replace(u, x=x, y=y))
    return replace(map, terrain=terrain, units=tuple(units))


def showcase() -> Map:
    """A small map made by hand on which a unit of RED has something to be refused for every reason:
    used by the tests of error messages."""
    terrain = (
        (PLAIN, PLAIN, FOREST, SEA, PLAIN),
        (PLAIN, MOUNTAIN, PLAIN, SEA, ROAD),
        (PLAIN, PLAIN, PLAIN, PLAIN, FORTRESS),
    )
    infantry, panzer, fighter, cannon = (UNIT_NAMES.index(n) for n in ("infantry", "panzer", "fighter", "cannon"))
    units = (
        Unit(1, 1, infantry, RED, 10),
        Unit(2, 1, panzer, RED, 10, acted=True),
        Unit(1, 3, cannon, RED, 10),
        Unit(2, 3, infantry, BLUE, 10),
        Unit(5, 3, panzer, BLUE, 10),
        Unit(3, 1, fighter, BLUE, 10),
        Unit(1, 2, infantry, BLUE, 1),
    )
    return Map(terrain, units, turn_limit=10, hp_threshold=0)
