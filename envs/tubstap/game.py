"""TUBSTAP for people and agents: the public face of its engine."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from sandtable.envs.bitboard import layout_for
from sandtable.envs.game import Game, State
from sandtable.envs.tubstap import greedy, plans, playouts  # noqa: F401  (they answer questions of the game)
from sandtable.envs.tubstap.notation import position_from_text, position_to_text
from sandtable.envs.tubstap.position import Map, Position
from sandtable.envs.tubstap.records import Record, RecordedAction, RecordedTurn, format_record
from sandtable.envs.tubstap.render import LastMove, draw, to_ansi
from sandtable.envs.tubstap.rules import exchange_of, settle_new
from sandtable.envs.tubstap.rulesets import Rules, make_rules, rules_text
from sandtable.envs.tubstap.sources import SOURCE_OPTIONS, Source, make_source
from sandtable.envs.tubstap.state import MOVE_LENGTH, NOBODY, SLOTS, pack, state_dtype, unpack
from sandtable.envs.tubstap.tables import (
    CANNON,
    ENTRY_COST,
    MAX_SIDE,
    MAX_UNITS,
    POWER,
    TEAMS,
    TERRAIN_NAMES,
    UNIT_CLASS,
    UNIT_NAMES,
)
from sandtable.envs.tubstap.validity import position_faults
from sandtable.names import unknown_name

_MOVE, _MOVE_AND_ATTACK = 1, 2  # types of action in a game record
_RULE_OPTIONS = tuple(field.name for field in fields(Rules))
OPTIONS = (*_RULE_OPTIONS, *SOURCE_OPTIONS)
"""The names of single options, beside map and rules."""


class Tubstap(Game):
    """TUBSTAP under one ruleset on one source of maps.

    map: a name, the path of a .tbsmap file, or a Map; rules: a ruleset's name or Rules; options: single options
    of the rules (turn_limit=40) or of the source of maps (rollouts=800).
    """

    name = "tubstap"
    players = TEAMS
    move_length = MOVE_LENGTH
    # A unit ends on any cell, or attacks each enemy from at most four. Positions from text may be larger than the
    # game's own maps, so this is the bound for all of them.
    max_moves = MAX_UNITS * (MAX_SIDE**2 + 4 * MAX_UNITS)
    record_suffix = ".tbsrec"

    def __init__(
        self, map: str | Path | Map | Source = "li-symmetric", rules: str | Rules = "official", **options: Any
    ) -> None:
        for name in options:
            if name not in OPTIONS:
                raise ValueError(unknown_name("option of tubstap", name, ("map", "rules", *OPTIONS)))
        source_options = {name: value for name, value in options.items() if name not in _RULE_OPTIONS}
        self.rules = make_rules(rules, **{k: v for k, v in options.items() if k not in source_options})
        self.source = make_source(map, **source_options)
        self.width, self.height = self.source.width, self.source.height
        self.units_a_side = self.source.units_a_side
        self.setting = {
            "map": "a map" if isinstance(map, (Map, Source)) else str(map),
            "rules": rules_text(self.rules),
        }
        layout = layout_for(self.width, self.height)
        self.dtype = state_dtype(layout, self.rules.hp == "real")

    def fill(self, states: np.ndarray, seeds: np.ndarray) -> None:
        self.source.fill(self, states, seeds)

    # Positions and text

    def position(self, state: State) -> Position:
        """The state in plain Python."""
        return unpack(_record(state))

    def from_position(self, position: Position) -> np.void:
        """The state of a position, under the position's own rules; an impossible one raises with the reason."""
        for fault in position_faults(position):
            raise ValueError(f"impossible position: {fault.text}")
        states = pack(position)
        settle_new(states)
        return states[0]

    def to_text(self, state: State) -> str:
        return position_to_text(self.position(state))

    def from_text(self, text: str) -> np.void:
        return self.from_position(position_from_text(text))

    # Moves

    def encode(self, state: State, unit: int, x: int, y: int, target: int = -1) -> np.ndarray:
        """The move of unit number `unit` to (x, y), attacking unit number `target` unless that is -1.

        Numbers and coordinates are those of map files. An illegal move raises with the reason.
        """
        record = _record(state)
        slot = self._slot(record, unit, "unit")
        victim = NOBODY if target == -1 else self._slot(record, target, "target")
        if not (1 <= x <= record["width"] and 1 <= y <= record["height"]):
            raise ValueError(f"({x}, {y}) is outside: {self._why_closed(record, x, y, slot)}")
        move = np.array([slot, (y - 1) * self._stride_of(record) + x - 1, victim], np.int16)
        if not self.legal(record, move):
            raise ValueError(self.why_illegal(record, move))
        return move

    def decode(self, state: State, move: np.ndarray) -> tuple[int, int, int, int]:
        """(unit, x, y, target) of a move, as map files number them; target -1 for no attack."""
        record = _record(state)
        slot, cell, victim = (int(value) for value in move)
        y, x = divmod(cell, self._stride_of(record))
        return int(record["id"][slot]), x + 1, y + 1, -1 if victim == NOBODY else int(record["id"][victim])

    def damages(self, state: State, move: np.ndarray) -> tuple[float, float]:
        """What the move's attack takes from the target, and its counter-attack from the attacker."""
        if move[2] == NOBODY:
            return 0, 0
        hit, counter = exchange_of(np.asarray(state).reshape(1), int(move[0]), int(move[1]), int(move[2]))
        return (hit, counter) if _record(state)["real"] else (int(hit), int(counter))

    def why_illegal(self, state: State, move: Any) -> str:
        record = _record(state)
        row = np.asarray(move).reshape(-1)
        if row.dtype.kind not in "iu" or len(row) != MOVE_LENGTH:
            return f"a move is {MOVE_LENGTH} whole numbers (slot, cell, target slot or {NOBODY}), got {move!r}"
        if self.done(record):
            return "the game is over: there are no moves"
        slot, cell, victim = (int(value) for value in row)
        if not 0 <= slot < SLOTS or record["id"][slot] < 0:
            return f"there is no unit in slot {slot}"
        unit = f"unit {record['id'][slot]} ({TEAMS[slot // MAX_UNITS]} {UNIT_NAMES[record['kind'][slot]]})"
        if slot // MAX_UNITS != self.player(record):
            return f"{unit} is not {TEAMS[self.player(record)]}'s, who is to move"
        if not int(record["alive"]) >> slot & 1:
            return f"{unit} is dead"
        if int(record["acted"]) >> slot & 1:
            return f"{unit} has acted already in this turn"
        reachable = {(x, y) for _, x, y, target in self._moves_of(record, slot) if target == -1}
        _, x, y, _ = self.decode(record, np.array([slot, cell, NOBODY]))
        if (x, y) not in reachable:
            return f"{unit} cannot end its move on ({x}, {y}): {self._why_closed(record, x, y, slot)}"
        return f"{unit} on ({x}, {y}) cannot attack {self._why_safe(record, slot, victim, (x, y))}"

    def _moves_of(self, record: np.void, slot: int) -> list[tuple[int, int, int, int]]:
        return [self.decode(record, move) for move in self.moves(record) if move[0] == slot]

    def _why_closed(self, record: np.void, x: int, y: int, slot: int) -> str:
        """Why the unit cannot end on a cell that it cannot end on."""
        position = self.position(record)
        if not (1 <= x <= position.map.width and 1 <= y <= position.map.height):
            return f"x goes from 1 to {position.map.width}, y from 1 to {position.map.height}"
        terrain = position.map.terrain[y - 1][x - 1]
        if not ENTRY_COST[terrain][UNIT_CLASS[record["kind"][slot]]]:
            return f"it cannot enter {TERRAIN_NAMES[terrain]}"
        if any((other.x, other.y) == (x, y) and other.hp > 0 for other in position.map.units):
            return "another unit stands there"
        return "that is too far"

    def _why_safe(self, record: np.void, slot: int, victim: int, cell: tuple[int, int]) -> str:
        """Which target the unit cannot attack from the cell, and why."""
        if not 0 <= victim < SLOTS or record["id"][victim] < 0:
            return f"slot {victim}: there is no unit in it"
        name = f"unit {record['id'][victim]} ({UNIT_NAMES[record['kind'][victim]]})"
        kind, target_kind = record["kind"][slot], record["kind"][victim]
        if victim // MAX_UNITS == slot // MAX_UNITS:
            return f"{name}: it is of the same side"
        if not int(record["alive"]) >> victim & 1:
            return f"{name}: it is dead"
        if not POWER[kind, target_kind] and not record["ineffective_attacks"]:
            return f"{name}: {UNIT_NAMES[kind]} cannot hurt {UNIT_NAMES[target_kind]}"
        if kind == CANNON and (slot, *cell) != self._place_of(record, slot):
            return f"{name}: a cannon moves or fires, not both"
        return f"{name}: it is out of range from there"

    def _place_of(self, record: np.void, slot: int) -> tuple[int, int, int]:
        y, x = divmod(int(record["cell"][slot]), self._stride_of(record))
        return slot, x + 1, y + 1

    def describe(self, state: State, move: np.ndarray) -> str:
        record = _record(state)
        unit, x, y, target = self.decode(record, move)
        slot = int(move[0])
        who = f"{TEAMS[slot // MAX_UNITS]} {UNIT_NAMES[record['kind'][slot]]} {unit}"
        where = "stays" if int(move[1]) == record["cell"][slot] else f"goes to ({x},{y})"
        if target == -1:
            return f"{who} {where}"
        hit, counter = self.damages(record, move)
        return f"{who} {where} and attacks {UNIT_NAMES[record['kind'][int(move[2])]]} {target} (-{hit:g}, -{counter:g})"

    # Pictures and records

    def last_move(self, before: State, move: np.ndarray) -> LastMove:
        """A move as drawings show it. before: the state it was played in."""
        record = _record(before)
        from_y, from_x = divmod(int(record["cell"][int(move[0])]), self._stride_of(record))
        _, x, y, target = self.decode(record, move)
        target_y, target_x = (None, None)
        if target != -1:
            target_y, target_x = divmod(int(record["cell"][int(move[2])]), self._stride_of(record))
            target_y, target_x = target_y + 1, target_x + 1
        return LastMove(from_x + 1, from_y + 1, x, y, target_x, target_y, int(move[0]) // MAX_UNITS)

    def ansi(self, state: State, move: tuple[State, np.ndarray] | None = None, color: bool = False) -> str:
        return to_ansi(self.position(state), self.last_move(*move) if move else None, color=color)

    def picture(self, state: State, move: tuple[State, np.ndarray] | None = None) -> np.ndarray:
        return draw(self.position(state), self.last_move(*move) if move else None)

    def record(self, states: list[Any], moves: list[np.ndarray], names: tuple[str, str], date: str) -> str:
        turns: list[RecordedTurn] = []
        for state, move in zip(states, moves, strict=True):
            turn, action = int(_record(state)["turn"]), self._recorded(state, move)
            if turns and turns[-1].index == turn:
                turns[-1] = RecordedTurn(turn, turn % 2, (*turns[-1].actions, action))
            else:
                turns.append(RecordedTurn(turn, turn % 2, (action,)))
        start = self.position(states[0])
        return format_record(Record(start.map, date, "rule_set_version_0100", *names, tuple(turns)))

    def _recorded(self, state: State, move: np.ndarray) -> RecordedAction:
        unit, x, y, target = self.decode(state, move)
        drawn = self.last_move(state, move)
        attacked = (-1, -1) if drawn.target_x is None or drawn.target_y is None else (drawn.target_x, drawn.target_y)
        kind = _MOVE if target == -1 else _MOVE_AND_ATTACK
        hit, counter = self.damages(state, move)
        return RecordedAction(unit, x, y, drawn.from_x, drawn.from_y, target, *attacked, kind, hit, counter)

    def _slot(self, record: np.void, unit: int, what: str) -> int:
        slots = np.flatnonzero(record["id"] == unit)
        if unit < 0 or len(slots) == 0:
            raise ValueError(f"{what} {unit}: the units of this map are numbered 0 to {record['id'].max()}")
        return int(slots[0])

    def _stride_of(self, record: np.void) -> int:
        return layout_for(int(record["width"]), int(record["height"])).stride


def _record(state: State) -> np.void:
    return np.asarray(state).reshape(1)[0]
