"""TUBSTAP for people and agents: the public face of its engine."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from sandtable.envs.bitboard import layout_for
from sandtable.envs.game import Game, State, as_states, one
from sandtable.envs.tubstap import greedy, plans, playouts  # noqa: F401  (they answer questions of the game)
from sandtable.envs.tubstap.notation import position_from_text, position_to_text
from sandtable.envs.tubstap.position import Map, Position
from sandtable.envs.tubstap.records import (
    ATTACK,
    MOVE,
    RESIGN,
    RULE,
    TURN_END,
    Record,
    RecordedAction,
    RecordedTurn,
    format_record,
)
from sandtable.envs.tubstap.render import LastMove, draw, to_ansi
from sandtable.envs.tubstap.rules import exchange_of, first_unfit, settle_new
from sandtable.envs.tubstap.rulesets import Rules, make_rules, rules_text
from sandtable.envs.tubstap.sources import SOURCE_OPTIONS, Source, make_source
from sandtable.envs.tubstap.state import MOVE_LENGTH, NOBODY, SLOTS, pack, state_dtype, unpack
from sandtable.envs.tubstap.symmetry import (
    first_asymmetric,
    require_symmetry,
    symmetries_of,
    symmetry_each,
    symmetry_moves_each,
)
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
        self.symmetries = symmetries_of(self.width, self.height)
        self.setting = {
            "map": "a map" if isinstance(map, (Map, Source)) else str(map),
            "rules": rules_text(self.rules),
        }
        layout = layout_for(self.width, self.height)
        self.dtype = state_dtype(layout, self.rules.hp == "real")

    def fill(self, states: np.ndarray, seeds: np.ndarray) -> None:
        self.source.fill(self, states, seeds)

    def require_fit(self, states: np.ndarray) -> None:
        """Refuse states whose maps are of another size than this game's, or have more units a side."""
        i = first_unfit(states, self.width, self.height, self.units_a_side)
        if i >= 0:
            units = max(np.count_nonzero(side >= 0) for side in np.split(states[i]["id"], 2))
            raise ValueError(
                f"the position has {states[i]['width']}x{states[i]['height']} cells and {units} units a side; these "
                f"arrays are made for {self.width}x{self.height} and at most {self.units_a_side}"
            )

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

    def to_text(self, state: State) -> Any:
        if np.ndim(state) == 0:
            return position_to_text(self.position(state))
        return [position_to_text(self.position(record)) for record in as_states(state)]

    def from_text(self, text: str | Sequence[str]) -> Any:
        if isinstance(text, str):
            return self.from_position(position_from_text(text))
        states = [self.from_text(line) for line in text]
        if len({state.dtype for state in states}) > 1:
            raise ValueError("positions of different board sizes or kinds of HP do not go into one array")
        return np.array(states, states[0].dtype if states else self.dtype)

    # Moves

    def encode(self, state: State, unit: int, x: int, y: int, target: int = -1) -> np.ndarray:
        """The move of unit number `unit` to (x, y), attacking unit number `target` unless that is -1.

        Numbers and coordinates are those of map files. An illegal move raises with the reason.
        """
        record = _record(state)
        unit, x, y, target = (operator.index(value) for value in (unit, x, y, target))
        slot = self._slot(record, unit, "unit")
        victim = NOBODY if target == -1 else self._slot(record, target, "target")
        if not (1 <= x <= record["width"] and 1 <= y <= record["height"]):
            raise ValueError(f"({x}, {y}) is outside: {self._why_closed(record, x, y, slot)}")
        move = np.array([slot, (y - 1) * self._stride_of(record) + x - 1, victim], np.int16)
        if not self.legal(record, move):
            raise ValueError(self.why_illegal(record, move))
        return move

    def encode_each(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """The moves (n, 3) of actions (n, 4), each (unit, x, y, target), in states (n,)."""
        rows = [self.encode(state, *action) for state, action in zip(as_states(states), actions, strict=True)]
        return np.array(rows, np.int16).reshape(-1, MOVE_LENGTH)

    def decode_each(self, states: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """The actions (n, 4), each (unit, x, y, target), of moves (n, 3) in states (n,)."""
        rows = [self.decode(state, move) for state, move in zip(as_states(states), moves, strict=True)]
        return np.array(rows, np.int64).reshape(-1, 4)

    def decode(self, state: State, move: np.ndarray) -> tuple[int, int, int, int]:
        """(unit, x, y, target) of a move, as map files number them; target -1 for no attack."""
        record = _record(state)
        slot, cell, victim = (int(value) for value in move)
        y, x = divmod(cell, self._stride_of(record))
        return int(record["id"][slot]), x + 1, y + 1, -1 if victim == NOBODY else int(record["id"][victim])

    def damages(self, state: State, move: np.ndarray) -> tuple[float, float]:
        """What the move's attack takes from the target, and its counter-attack from the attacker."""
        if not self.legal(_record(state), move):
            raise ValueError(self.why_illegal(state, move))
        if move[2] == NOBODY:
            return 0, 0
        hit, counter = exchange_of(one(state), int(move[0]), int(move[1]), int(move[2]))
        return (hit, counter) if _record(state)["real"] else (int(hit), int(counter))

    # Symmetries

    def symmetry(self, states: np.ndarray, k: int | np.ndarray) -> np.ndarray:
        """The states (n,) on their boards turned or mirrored by the k-th symmetry (see symmetry.py); k: one for all, or
        (n,). Playing, outcomes and legal moves go along with it."""
        states = as_states(states)
        turned = states.copy()
        symmetry_each(states, _symmetries(states, k), turned)
        return turned

    def symmetry_moves(
        self, states: np.ndarray, moves: np.ndarray, k: int | np.ndarray, ends: np.ndarray | None = None
    ) -> np.ndarray:
        states, rows = as_states(states), np.array(moves, np.int16).reshape(-1, MOVE_LENGTH)
        if ends is not None:
            which = np.repeat(np.arange(len(states)), np.diff(ends))
        else:
            which = np.zeros(len(rows), np.int64) if len(states) == 1 else np.arange(len(states))
        if len(which) != len(rows):
            raise ValueError(f"{len(rows)} moves for {len(states)} states: valid is one each, one state, or `ends`")
        turned = rows.copy()
        symmetry_moves_each(states, which, _symmetries(states, k), rows, turned)
        return turned.reshape(np.shape(moves))

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
        if not states:
            raise ValueError("a game without a move has no record")
        start = self.position(states[0])
        if start.turn or any(unit.hp <= 0 for unit in start.map.units):
            raise ValueError("a record begins with a map: this game began in the middle of another")
        rules = rules_text(start.rules)
        return format_record(Record(start.map, date, RULE if rules == "official" else rules, *names, tuple(turns)))

    def replay(self, record: Record) -> tuple[list[np.void], list[np.ndarray]]:
        """The states and moves of a record under this game's rules: one state more than moves. What the record tells
        and the rules forbid raises; whoever ends a turn early lets the remaining units stay."""
        states: list[np.void] = [self.from_position(Position(record.map, self.rules))]
        moves: list[np.ndarray] = []
        for action in (action for turn in record.turns for action in turn.actions):
            if action.kind == RESIGN:
                break
            turn = states[-1]["turn"]
            while True:
                move = self._replayed(states[-1], action)
                moves.append(move)
                states.append(self.play(states[-1], move))
                if action.kind != TURN_END or self.done(states[-1]) or states[-1]["turn"] != turn:
                    break
        return states, moves

    def _replayed(self, state: np.void, action: RecordedAction) -> np.ndarray:
        if action.kind == TURN_END:
            return next(m for m in self.moves(state) if m[1] == state["cell"][m[0]] and m[2] == NOBODY)
        return self.encode(state, action.unit, action.x, action.y, action.target if action.kind == ATTACK else -1)

    def _recorded(self, state: State, move: np.ndarray) -> RecordedAction:
        unit, x, y, target = self.decode(state, move)
        drawn = self.last_move(state, move)
        attacked = (-1, -1) if drawn.target_x is None or drawn.target_y is None else (drawn.target_x, drawn.target_y)
        kind = MOVE if target == -1 else ATTACK
        hit, counter = self.damages(state, move)
        return RecordedAction(unit, x, y, drawn.from_x, drawn.from_y, target, *attacked, kind, hit, counter)

    def _slot(self, record: np.void, unit: int, what: str) -> int:
        slots = np.flatnonzero(record["id"] == unit)
        if unit < 0 or len(slots) == 0:
            raise ValueError(f"{what} {unit}: the units of this map are numbered 0 to {record['id'].max()}")
        return int(slots[0])

    def _stride_of(self, record: np.void) -> int:
        return layout_for(int(record["width"]), int(record["height"])).stride


def _symmetries(states: np.ndarray, k: int | np.ndarray) -> np.ndarray:
    """A symmetry of the board of each of states (n,), (n,) int64."""
    ks = np.ascontiguousarray(np.broadcast_to(np.asarray(k, np.int64), states.shape))
    wrong = first_asymmetric(states, ks)
    if wrong >= 0:
        require_symmetry(int(ks[wrong]), int(states[wrong]["width"]), int(states[wrong]["height"]))
    return ks


def _record(state: State) -> np.void:
    return one(state)[0]
