"""Game records of the original platform: a map, who played, and every action of every turn.

The original says what was played, not whether it was legal, and so does this file: a record is checked for its
form and for the units and cells that it names; whether the moves follow the rules is for the engine to tell
(Tubstap.replay). COM blocks, in which the original keeps remarks, are passed over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sandtable.envs.tubstap.blocks import (
    MAP_TAGS,
    RECORD_TAGS,
    Block,
    Blocks,
    MapError,
    read_text,
    shown,
    text_fault,
    write_text,
)
from sandtable.envs.tubstap.maps import format_map, map_of_blocks
from sandtable.envs.tubstap.position import Map
from sandtable.envs.tubstap.tables import MAX_HP, MAX_TURN, TEAMS
from sandtable.envs.tubstap.validity import whole_fault

RESIGN, MOVE, ATTACK, TURN_END = range(4)
KIND_NAMES = ("resign", "move", "move and attack", "turn end")
RULE = "rule_set_version_0100"
"""What the original writes as PLAYEDRULE."""

_DECIMAL = re.compile(r"[0-9]{1,2}(?:\.[0-9]{1,20})?(?:e-[0-9]{1,3})?")
_TURN_FIELDS = ("index", "team", "number of actions")
_ACTION_FIELDS = (
    "unit", "x", "y", "from_x", "from_y", "target", "attack_x", "attack_y", "kind", "damage", "counter",
)  # fmt: skip


@dataclass(frozen=True)
class RecordedAction:
    """One action, in the order of the file's fields. Coordinates are those of map files.

    `unit` goes from (from_x, from_y) to (x, y). If it attacks, `target` is the unit it attacks, which stands at
    (attack_x, attack_y); else these three are -1 here, while the original leaves attack_x and attack_y at 0, which
    is read as well. A turn end and a resignation name no unit: -1 everywhere (the original: from 0, 0).
    """

    unit: int = -1
    x: int = -1
    y: int = -1
    from_x: int = -1
    from_y: int = -1
    target: int = -1
    attack_x: int = -1
    attack_y: int = -1
    kind: int = TURN_END
    damage: float = 0
    """HP that the target lost; a whole number unless the game is played with real HP."""
    counter: float = 0
    """HP that the unit lost to the counter-attack."""


@dataclass(frozen=True)
class RecordedTurn:
    """The actions of one turn. Turns are counted from 0; the team is 0 (red) in even ones, 1 (blue) in odd ones.

    The original writes a turn without actions too; one that is left out says the same.
    """

    index: int
    team: int
    actions: tuple[RecordedAction, ...] = ()


@dataclass(frozen=True)
class Record:
    """A game: the map it began on, when, by which rules and by whom it was played, and what happened."""

    map: Map
    date: str
    rule: str
    red: str
    blue: str
    turns: tuple[RecordedTurn, ...] = ()


def parse_record(text: str, name: str = "record") -> Record:
    """The game that a record's text tells; `name` is what errors call the text."""
    blocks = Blocks(text, name, MAP_TAGS + RECORD_TAGS)
    map = map_of_blocks(blocks)
    date, rule, red, blue = (blocks.text(tag) for tag in RECORD_TAGS[:4])
    return Record(map, date, rule, red, blue, tuple(_turns(blocks, map)))


def load_record(path: str | os.PathLike[str]) -> Record:
    """The record of a file in UTF-8 or Shift-JIS."""
    return parse_record(read_text(path), str(path))


def save_record(record: Record, path: str | os.PathLike[str]) -> None:
    """Write a record; what could not be read back is refused."""
    write_text(format_record(record), path)


def format_record(record: Record) -> str:
    """The text of a record, always in the same order and layout."""
    for name in ("date", "rule", "red", "blue"):
        if fault := text_fault(getattr(record, name)):
            raise MapError(f"record.{name}: {fault}")
    lines = [
        f"PLAYEDDATE[{record.date}];",
        f"PLAYEDRULE[{record.rule}];",
        f"PLAYERRED[{record.red}]PLAYERBLUE[{record.blue}];",
    ]
    for turn in record.turns:
        lines.append(f"TURNINFO[{turn.index},{turn.team},{len(turn.actions)}];")
        lines += [_action_text(action) for action in turn.actions]
    text = format_map(record.map) + "\n".join(lines) + "\n"
    if parse_record(text) != record:
        raise MapError("record: it would be read back differently; valid are tuples of RecordedTurn and plain numbers")
    return text


def _action_text(action: RecordedAction) -> str:
    values = (getattr(action, name) for name in _ACTION_FIELDS)
    return f"ACTION[{','.join(_number_text(value) for value in values)}];"


def _number_text(value: float) -> str:
    """Exact, and without a point where the number is whole."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(float(value))
    return repr(value)


def _turns(blocks: Blocks, map: Map) -> Iterator[RecordedTurn]:
    """The turns in their order, each TURNINFO with the ACTIONs that follow it."""
    opened: list[tuple[Block, list[Block]]] = []
    for block in blocks.in_order:
        if block.tag == "TURNINFO":
            opened.append((block, []))
        elif block.tag == "ACTION" and not opened:
            block.fail("an action before the first TURNINFO; valid is after it")
        elif block.tag == "ACTION":
            opened[-1][1].append(block)
    last = -1
    for head, actions in opened:
        index, team, count = (
            head.whole(part, name) for part, name in zip(head.parts(_TURN_FIELDS), _TURN_FIELDS, strict=True)
        )
        if not last < index <= MAX_TURN:
            head.fail(f"turn {index}: valid are {last + 1} to {MAX_TURN}, for turns follow each other")
        last = index
        if team != index % 2:
            head.fail(f"team {team}: valid is {index % 2} ({TEAMS[index % 2]}), whose turn {index} is")
        if count != len(actions):
            head.fail(f"{len(actions)} ACTION blocks follow; valid is their number")
        yield RecordedTurn(index, team, tuple(_action(block, team, map) for block in actions))


def _action(block: Block, team: int, map: Map) -> RecordedAction:
    parts = dict(zip(_ACTION_FIELDS, block.parts(_ACTION_FIELDS), strict=True))
    damage, counter = (_lost_hp(block, parts.pop(name), name) for name in ("damage", "counter"))
    whole = {name: block.whole(part, name) for name, part in parts.items()}
    action = RecordedAction(**whole, damage=damage, counter=counter)
    if fault := _action_fault(action, team, map):
        block.fail(fault)
    return action


def _lost_hp(block: Block, text: str, name: str) -> float:
    if not _DECIMAL.fullmatch(text) or float(text) > MAX_HP:
        block.fail(f"{name} {shown(text)}: valid are numbers from 0 to {MAX_HP}")
    return int(text) if text.isdigit() else float(text)


def _action_fault(action: RecordedAction, team: int, map: Map) -> str | None:
    if whole_fault("kind", action.kind, RESIGN, TURN_END):
        return f"kind {action.kind}: valid are " + ", ".join(f"{i} {name}" for i, name in enumerate(KIND_NAMES))
    acts, attacks = action.kind in (MOVE, ATTACK), action.kind == ATTACK
    if not attacks and (action.damage or action.counter):
        return f"damage {action.damage} and counter {action.counter} without an attack; valid is 0"
    return (
        _unit_fault("unit", action.unit, acts, team, map)
        or _unit_fault("target", action.target, attacks, 1 - team, map)
        or _cell_fault(("x", action.x), ("y", action.y), acts, map)
        or _cell_fault(("from_x", action.from_x), ("from_y", action.from_y), acts, map)
        or _cell_fault(("attack_x", action.attack_x), ("attack_y", action.attack_y), attacks, map)
    )


def _unit_fault(name: str, unit: int, needed: bool, team: int, map: Map) -> str | None:
    """Whether an action that needs a unit of a team names one, and another action names none."""
    if not needed:
        return None if unit == -1 else f"{name} {unit}: valid is -1 (none)"
    if 0 <= unit < len(map.units) and map.units[unit].team == team:
        return None
    valid = ", ".join(str(i) for i, one in enumerate(map.units) if one.team == team)
    return f"{name} {unit}: valid are {valid}, the {TEAMS[team]} units"


def _cell_fault(x: tuple[str, int], y: tuple[str, int], needed: bool, map: Map) -> str | None:
    """Whether an action that needs a cell names one inside the border, and another action names none."""
    if needed:
        return whole_fault(*x, 1, map.width) or whole_fault(*y, 1, map.height)
    if (x[1], y[1]) in ((-1, -1), (0, 0)):
        return None
    return f"{x[0]},{y[0]} {x[1]},{y[1]}: valid are -1,-1 and 0,0 (none)"
