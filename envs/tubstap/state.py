"""The record of a TUBSTAP state, packed from a Position and unpacked into one.

One record holds everything the rules need, the map and the ruleset included: copying it is copying a game.
RED's units have the slots 0 to 15 and BLUE's 16 to 31, each side in the order of the map file; `id` keeps the
number that a unit has there. Cells are numbered as sandtable.envs.bitboard lays them out.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sandtable.envs.bitboard import LAYOUTS, Layout, layout_for
from sandtable.envs.tubstap.position import Map, Position, Unit
from sandtable.envs.tubstap.rulesets import Rules
from sandtable.envs.tubstap.tables import AIR, BLUE, ENTRY_COST, FOOT, MAX_UNITS, RED, VEHICLE

SLOTS = 2 * MAX_UNITS
NOBODY = -1  # the target of a move without an attack
MOVE_LENGTH = 3  # slot, cell, target slot

# Rows of the field `boards`: where RED and BLUE stand, for each class of unit the cells of cost 1 and of cost 2,
# and the map's rectangle, forbidden cells included.
COST_BOARD = 2
RECTANGLE_BOARD = COST_BOARD + 6
BOARDS = RECTANGLE_BOARD + 1

RUNNING, RED_WON, BLUE_WON, DRAWN = range(4)


@lru_cache
def state_dtype(layout: Layout, real: bool) -> np.dtype:
    """The record for maps of this layout, with integer or real HP."""
    cells = layout.side * layout.stride
    return np.dtype(
        [
            ("boards", np.uint64, (BOARDS, layout.words)),
            ("map_key", np.uint64),  # of everything that stays the same in a game
            ("hp", np.float64 if real else np.int8, SLOTS),
            ("cell", np.int16, SLOTS),
            ("kind", np.uint8, SLOTS),
            ("id", np.int8, SLOTS),
            ("at", np.uint8, cells),  # the slot of the unit on an occupied cell
            ("terrain", np.uint8, cells),
            ("alive", np.uint32),  # a bit a slot
            ("acted", np.uint32),
            ("turn", np.int16),
            ("turn_limit", np.int16),  # 0: none
            ("hp_threshold", np.int16),
            ("quiet", np.int16),
            ("quiet_turns", np.int16),
            ("antiair_infantry", np.int16),
            ("cannon_mobility", np.uint8),
            ("ineffective_attacks", np.uint8),
            ("limit_is_draw", np.uint8),
            ("real", np.uint8),
            ("hurt", np.uint8),
            ("status", np.uint8),
            ("width", np.uint8),
            ("height", np.uint8),
            ("map_turn_limit", np.int16),  # what the map says, whatever the rules make of it
            ("map_hp_threshold", np.int16),
            ("turn_limit_rule", np.int16),  # -1: the map's
            ("hp_threshold_rule", np.int16),  # -1: the map's
        ],
        align=True,
    )


DTYPES = tuple(state_dtype(layout, real) for layout in LAYOUTS for real in (False, True))


def pack(position: Position) -> np.ndarray:
    """The state (1,) of a position: boards and masks set up, and not yet looked at by the rules (see rules.settle)."""
    layout = layout_for(position.map.width, position.map.height)
    states = np.zeros(1, state_dtype(layout, position.rules.hp == "real"))
    state = states[0]
    state["turn"], state["quiet"], state["hurt"] = position.turn, position.quiet, position.hurt
    _pack_rules(state, position.map, position.rules)
    _pack_terrain(state, position.map, layout)
    _pack_units(state, position.map.units, layout)
    return states


def _pack_rules(state: np.void, map_: Map, rules: Rules) -> None:
    state["map_turn_limit"], state["map_hp_threshold"] = map_.turn_limit, map_.hp_threshold
    for name in ("turn_limit", "hp_threshold"):
        rule = getattr(rules, name)
        state[f"{name}_rule"] = -1 if rule == "map" else rule
        state[name] = getattr(map_, name) if rule == "map" else rule
    state["real"] = rules.hp == "real"
    state["limit_is_draw"] = rules.limit_means == "draw"
    for name in ("antiair_infantry", "cannon_mobility", "ineffective_attacks", "quiet_turns"):
        state[name] = getattr(rules, name)


def _pack_terrain(state: np.void, map_: Map, layout: Layout) -> None:
    state["width"], state["height"] = map_.width, map_.height
    for y, row in enumerate(map_.terrain):
        for x, terrain in enumerate(row):
            cell = y * layout.stride + x
            state["terrain"][cell] = terrain
            _add(state["boards"][RECTANGLE_BOARD], cell)
            for kind_class in (AIR, VEHICLE, FOOT):
                cost = ENTRY_COST[terrain][kind_class]
                if cost:
                    _add(state["boards"][COST_BOARD + 2 * kind_class + cost - 1], cell)


def _pack_units(state: np.void, units: tuple[Unit, ...], layout: Layout) -> None:
    state["id"] = -1
    free = {RED: 0, BLUE: MAX_UNITS}
    for number, unit in enumerate(units):
        slot = free[unit.team]
        free[unit.team] += 1
        if slot >= (unit.team + 1) * MAX_UNITS:
            raise ValueError(f"unit {number} is the {MAX_UNITS + 1}th of its side: at most {MAX_UNITS} are supported")
        state["id"][slot], state["kind"][slot] = number, unit.kind
        if unit.hp <= 0:
            continue
        cell = (unit.y - 1) * layout.stride + unit.x - 1
        state["hp"][slot], state["cell"][slot], state["at"][cell] = unit.hp, cell, slot
        state["alive"] |= np.uint32(1 << slot)
        if unit.acted:
            state["acted"] |= np.uint32(1 << slot)
        _add(state["boards"][unit.team], cell)


def _add(words: np.ndarray, cell: int) -> None:
    words[cell // 64] |= np.uint64(1 << cell % 64)


def unpack(state: np.void) -> Position:
    """The position of a state."""
    stride = layout_for(int(state["width"]), int(state["height"])).stride
    width, height = int(state["width"]), int(state["height"])
    terrain = tuple(tuple(int(t) for t in state["terrain"][y * stride : y * stride + width]) for y in range(height))
    slots = [slot for slot in range(SLOTS) if state["id"][slot] >= 0]
    slots.sort(key=lambda slot: state["id"][slot])
    units = tuple(_unpack_unit(state, slot, stride) for slot in slots)
    map_ = Map(terrain, units, int(state["map_turn_limit"]), int(state["map_hp_threshold"]))
    return Position(map_, unpack_rules(state), int(state["turn"]), int(state["quiet"]), bool(state["hurt"]))


def _unpack_unit(state: np.void, slot: int, stride: int) -> Unit:
    kind, team = int(state["kind"][slot]), slot // MAX_UNITS
    if not int(state["alive"]) >> slot & 1:
        return Unit(0, 0, kind, team, 0)
    y, x = divmod(int(state["cell"][slot]), stride)
    return Unit(x + 1, y + 1, kind, team, state["hp"][slot].item(), bool(int(state["acted"]) >> slot & 1))


def unpack_rules(state: np.void) -> Rules:
    """The ruleset that a state carries."""
    turn_limit, hp_threshold = int(state["turn_limit_rule"]), int(state["hp_threshold_rule"])
    return Rules(
        hp="real" if state["real"] else "integer",
        antiair_infantry=int(state["antiair_infantry"]),
        cannon_mobility=int(state["cannon_mobility"]),
        ineffective_attacks=bool(state["ineffective_attacks"]),
        turn_limit="map" if turn_limit < 0 else turn_limit,
        hp_threshold="map" if hp_threshold < 0 else hp_threshold,
        limit_means="draw" if state["limit_is_draw"] else "hp",
        quiet_turns=int(state["quiet_turns"]),
    )
