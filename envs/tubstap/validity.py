"""What a valid map and a valid position are: the one list of checks behind map files, notation and Python objects.

A fault names the block of the map file that is to blame, so that whoever reads text can tell its line or column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sandtable.envs.tubstap.blocks import shown, text_fault
from sandtable.envs.tubstap.position import Map, Position, Unit
from sandtable.envs.tubstap.rulesets import Rules
from sandtable.envs.tubstap.tables import (
    ENTRY_COST,
    FORTRESS,
    MAX_HP,
    MAX_SIDE,
    MAX_THRESHOLD,
    MAX_TURN,
    MAX_UNITS,
    TEAMS,
    TERRAIN_NAMES,
    UNIT_CLASS,
    UNIT_NAMES,
)


@dataclass(frozen=True)
class Fault:
    """What is wrong, and with which block: its tag and, of UNIT and MAP (rows inside the border), its index."""

    tag: str
    index: int
    text: str


UnitCheck = Callable[[Unit], "str | None"]


def whole_fault(name: str, value: object, low: int, high: int) -> str | None:
    if type(value) is int and low <= value <= high:
        return None
    return f"{name} {shown(str(value))[1:-1]}: valid are whole numbers from {low} to {high}"


def map_faults(map: Map) -> Iterator[Fault]:
    """Everything that is wrong with a map at the start of a game; the later ones mean something only after the
    first has been put right."""
    return _faults(map, _fresh_fault)


def position_faults(position: Position) -> Iterator[Fault]:
    """The same for a game at any moment: units may be hurt or dead."""
    if not isinstance(position.map, Map) or not isinstance(position.rules, Rules):
        yield Fault("RULES", 0, "a position is made of a Map and Rules")
        return
    yield from _faults(position.map, lambda unit: _later_fault(unit, position.rules))
    limit = turn_limit(position)
    quiet = position.rules.quiet_turns or MAX_TURN
    turn = whole_fault("turn", position.turn, 0, limit)
    if turn:
        yield Fault("TURN", 0, turn)
    elif fault := whole_fault("quiet", position.quiet, 0, min(position.turn, quiet)):
        yield Fault("QUIET", 0, fault)
    if type(position.hurt) is not bool:
        yield Fault("HURT", 0, f"hurt {position.hurt!r}: valid are True and False")


def turn_limit(position: Position) -> int:
    """The last turn that a game from here can reach."""
    limit = position.map.turn_limit if position.rules.turn_limit == "map" else position.rules.turn_limit
    return int(limit) or MAX_TURN


def _faults(map: Map, unit_check: UnitCheck) -> Iterator[Fault]:
    if fault := whole_fault("turn limit", map.turn_limit, 1, MAX_TURN):
        yield Fault("TURNLIMIT", 0, fault)
    if fault := whole_fault("HP threshold", map.hp_threshold, 0, MAX_THRESHOLD):
        yield Fault("HPTHRESHOLD", 0, fault)
    for tag, text in (("AUTHOR", map.author), ("MAPCOM", map.comment)):
        if fault := text_fault(text):
            yield Fault(tag, 0, fault)
    yield from _terrain_faults(map.terrain)
    yield from _unit_faults(map, unit_check)


def _terrain_faults(terrain: tuple[tuple[int, ...], ...]) -> Iterator[Fault]:
    if type(terrain) is not tuple or not all(type(row) is tuple for row in terrain):
        yield Fault("MAP", 0, "valid is a tuple of rows, each a tuple of terrain codes")
    if fault := whole_fault("rows inside the border", len(terrain), 1, MAX_SIDE):
        yield Fault("SIZEY", 0, fault)
    width = len(terrain[0])
    if fault := whole_fault("cells of a row inside the border", width, 1, MAX_SIDE):
        yield Fault("SIZEX", 0, fault)
    for y, row in enumerate(terrain):
        if len(row) != width:
            yield Fault("MAP", y, f"{len(row)} cells where the first row has {width}; valid are rows of one length")
        for x, code in enumerate(row):
            if fault := whole_fault(f"terrain at {x + 1},{y + 1}", code, 0, FORTRESS):
                names = ", ".join(f"{i} {name}" for i, name in enumerate(TERRAIN_NAMES))
                yield Fault("MAP", y, f"{fault} ({names})")


def _unit_faults(map: Map, unit_check: UnitCheck) -> Iterator[Fault]:
    if type(map.units) is not tuple or not all(isinstance(unit, Unit) for unit in map.units):
        yield Fault("UNIT", 0, "valid is a tuple of Unit")
    standing: dict[tuple[int, int], int] = {}
    for i, unit in enumerate(map.units):
        fault = _identity_fault(unit) or unit_check(unit)
        if not fault and unit.hp:
            fault = _cell_fault(unit, map, standing)
            standing[unit.x, unit.y] = i
        if fault:
            yield Fault("UNIT", i, fault)
    for team, name in enumerate(TEAMS):
        count = sum(unit.team == team for unit in map.units)
        if fault := whole_fault(f"{name} units", count, 1, MAX_UNITS):
            yield Fault(f"UNITNUM{name.upper()}", 0, fault)


def _identity_fault(unit: Unit) -> str | None:
    if whole_fault("kind", unit.kind, 0, len(UNIT_NAMES) - 1):
        return f"kind {unit.kind!r}: valid are " + ", ".join(f"{i} {name}" for i, name in enumerate(UNIT_NAMES))
    if whole_fault("team", unit.team, 0, 1):
        return f"team {unit.team!r}: valid are 0 (red) and 1 (blue)"
    if type(unit.acted) is not bool:
        return f"acted {unit.acted!r}: valid are True and False"
    return None


def _fresh_fault(unit: Unit) -> str | None:
    hp = int(unit.hp) if isinstance(unit.hp, float) and unit.hp.is_integer() else unit.hp
    return whole_fault("hp", hp, 1, MAX_HP)


def _later_fault(unit: Unit, rules: Rules) -> str | None:
    if isinstance(unit.hp, bool) or not isinstance(unit.hp, int | float) or not 0 <= unit.hp <= MAX_HP:
        return f"hp {unit.hp!r}: valid are numbers from 0 (dead) to {MAX_HP}"
    if rules.hp == "integer" and unit.hp != int(unit.hp):
        return f"hp {unit.hp!r}: by these rules valid are whole numbers from 0 (dead) to {MAX_HP}"
    if not unit.hp and (unit.x, unit.y, unit.acted) != (0, 0, False):
        return f"dead, yet at {unit.x!r},{unit.y!r} and acted {unit.acted}: valid are 0,0 and False"
    return None


def _cell_fault(unit: Unit, map: Map, standing: dict[tuple[int, int], int]) -> str | None:
    fault = whole_fault("x", unit.x, 1, map.width) or whole_fault("y", unit.y, 1, map.height)
    if fault:
        return fault
    mover, name = UNIT_CLASS[unit.kind], UNIT_NAMES[unit.kind]
    ground = map.terrain[unit.y - 1][unit.x - 1]
    if not ENTRY_COST[ground][mover]:
        valid = ", ".join(TERRAIN_NAMES[code] for code, cost in enumerate(ENTRY_COST) if cost[mover])
        return f"{name} cannot stand on {TERRAIN_NAMES[ground]} at {unit.x},{unit.y}; valid are {valid}"
    if (unit.x, unit.y) in standing:
        return f"unit {standing[unit.x, unit.y]} stands at {unit.x},{unit.y} already; valid are cells of its own"
    return None
