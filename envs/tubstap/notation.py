"""Any position as one line of text, and back.

    tubstap 4x3 .f=./.^=H/.~=. rI10@1,1/rU7@1,3*/bP5@4,2 t0 limit20 threshold0 rules=official

The fields, one space between them: the word `tubstap`; width x height; the rows of terrain from the top, a number
before a letter repeating it (`3.` is `...`); the units in the order of their ids, each its team (r, b), its letter,
its HP and its cell, then `*` if it has acted (a dead unit is only `rI0`); the turn; the map's turn limit and HP
threshold; `quiet3` after three turns without HP lost and `hurt` if HP were lost in this turn, each only where it
says something; the rules, by their name or as the official ones with options changed:
`rules=official+hp=real+quiet_turns=20`. The map's author and comment are not told.

A position has exactly one such text, and no other is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from itertools import groupby
from typing import Any, NoReturn

from sandtable.envs.tubstap.blocks import shown
from sandtable.envs.tubstap.position import Map, Position, Unit
from sandtable.envs.tubstap.rulesets import Rules, make_rules, rules_text
from sandtable.envs.tubstap.tables import MAX_SIDE, UNIT_LETTERS
from sandtable.envs.tubstap.validity import position_faults
from sandtable.names import unknown_name

TERRAIN_LETTERS = "#.~f^=H"
TEAM_LETTERS = "rb"

_FORM = "tubstap WxH TERRAIN UNITS tTURN limitN thresholdN [quietN] [hurt] rules=NAME"
_RUN = re.compile(r"([1-9][0-9]?)?([#.~f^=H])")
_UNIT = re.compile(
    r"([rb])([FAPURI])(?:0|([0-9]{1,2}(?:\.[0-9]{1,20})?(?:e-[0-9]{1,3})?)@([0-9]{1,2}),([0-9]{1,2})(\*?))"
)


class NotationError(ValueError):
    """A text that is not a position: the message tells the column, what stood there and what is valid."""


def position_to_text(position: Position) -> str:
    """The one line that tells this position."""
    for fault in position_faults(position):
        raise NotationError(f"this position cannot be: {fault.tag.lower()} {fault.index}: {fault.text}")
    return _text(position)


def position_from_text(text: str) -> Position:
    """The position that a line tells."""
    if not isinstance(text, str):
        raise NotationError(f"column 1: {shown(repr(text))} is not text; valid is {_FORM}")
    fields = _Fields(text)
    fields.take("tubstap")
    terrain = _terrain(fields, *_size(fields))
    at, units = fields.column, _units(fields)
    turn, limit, threshold = (int(fields.take(f"{name}([0-9]{{1,5}})")[1]) for name in ("t", "limit", "threshold"))
    quiet = fields.take_if("quiet([0-9]{1,5})")
    hurt = fields.take_if("hurt")
    rules = _rules(fields)
    map = Map(terrain, tuple(_with_hp(unit, rules) for unit in units), limit, threshold)
    position = Position(map, rules, turn, int(quiet[1]) if quiet else 0, bool(hurt))
    _check(position, text, at)
    return position


class _Fields:
    """The fields of a line, taken one after the other."""

    def __init__(self, text: str) -> None:
        self._rest: list[str] = text.split(" ")
        self.column = 1

    @property
    def next(self) -> str:
        return self._rest[0] if self._rest else ""

    def take(self, form: str) -> re.Match[str]:
        """The next field, which must be of this form."""
        found = self.take_if(form)
        if not found:
            valid = re.sub(r"\(.*?\)", "N", form)
            self.fail(self.column, f"{shown(self.next)}: valid is {valid} (the whole line: {_FORM})")
        return found

    def take_if(self, form: str) -> re.Match[str] | None:
        """The next field if it is of this form."""
        found = re.fullmatch(form, self.next)
        if found and self._rest:
            self.column += len(self._rest.pop(0)) + 1
        return found

    def items(self) -> Iterator[tuple[int, str]]:
        """The parts of the next field between its slashes, each with its column; the field is then taken."""
        column = self.column
        for part in self.next.split("/"):
            yield column, part
            column += len(part) + 1
        self.take(".*")

    def fail(self, column: int, what: str) -> NoReturn:
        raise NotationError(f"column {column}: {what}")


def _size(fields: _Fields) -> tuple[int, int]:
    column = fields.column
    size = fields.take("([0-9]{1,2})x([0-9]{1,2})")
    width, height = int(size[1]), int(size[2])
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
        fields.fail(column, f"size {size[0]!r}: valid are 1x1 to {MAX_SIDE}x{MAX_SIDE}")
    return width, height


def _terrain(fields: _Fields, width: int, height: int) -> tuple[tuple[int, ...], ...]:
    column = fields.column
    rows = tuple(_row(fields, text, at, width) for at, text in fields.items())
    if len(rows) != height:
        fields.fail(column, f"{len(rows)} rows of terrain; valid are {height}, as the size says")
    return rows


def _row(fields: _Fields, text: str, column: int, width: int) -> tuple[int, ...]:
    row: list[int] = []
    at = 0
    while at < len(text):
        run = _RUN.match(text, at)
        if not run:
            fields.fail(column + at, f"terrain {shown(text[at:])}: valid are {' '.join(TERRAIN_LETTERS)}, repeated 5.")
        row += [TERRAIN_LETTERS.index(run[2])] * int(run[1] or 1)
        at = run.end()
    if len(row) != width:
        fields.fail(column, f"{len(row)} cells in the row {shown(text)}; valid are {width}, as the size says")
    return tuple(row)


def _units(fields: _Fields) -> list[Unit]:
    units = []
    for column, text in fields.items():
        found = _UNIT.fullmatch(text)
        if not found:
            fields.fail(column, f"unit {shown(text)}: valid are such as rI10@3,4 and bP5@4,2* and, dead, rI0")
        team, letter, hp, x, y, acted = found.groups()
        kind, side = UNIT_LETTERS.index(letter), TEAM_LETTERS.index(team)
        units.append(Unit(int(x or 0), int(y or 0), kind, side, float(hp or 0), acted == "*"))
    return units


def _with_hp(unit: Unit, rules: Rules) -> Unit:
    """HP as the rules count them; a fraction where they are whole stays, to be refused by the check."""
    return replace(unit, hp=int(unit.hp)) if rules.hp == "integer" and unit.hp.is_integer() else unit


def _rules(fields: _Fields) -> Rules:
    column, valid = fields.column, [field.name for field in dataclass_fields(Rules)]
    name, *changes = fields.take(r"rules=(\S+)")[1].split("+")
    if fields.next:
        fields.fail(fields.column, f"{shown(fields.next)} after the rules; valid is the end of the line")
    options: dict[str, Any] = {}
    for change in changes:
        option, _, value = change.partition("=")
        if option not in valid:
            fields.fail(column, unknown_name("rules option", option, valid))
        options[option] = _value(value)
    try:
        return make_rules(name, **options)
    except ValueError as error:
        fields.fail(column, str(error))


def _value(text: str) -> int | bool | str:
    if re.fullmatch("[0-9]{1,9}", text):
        return int(text)
    return {"true": True, "false": False}.get(text, text)


def _check(position: Position, text: str, units_at: int) -> None:
    """That the position can be, and that the text is the one text of it."""
    for fault in position_faults(position):
        field, name = _blamed(text, fault.tag, fault.index, units_at)
        raise NotationError(f"column {field}: {name}{fault.text}")
    canonical = _text(position)
    if text != canonical:
        same = next((i for i, (a, b) in enumerate(zip(text, canonical, strict=False)) if a != b), len(canonical))
        raise NotationError(f"column {same + 1}: {shown(text[same:])}: valid, for this position, is {canonical!r}")


def _blamed(text: str, tag: str, index: int, units_at: int) -> tuple[int, str]:
    """The column of what a fault is about, and how the message begins."""
    if tag == "UNIT":
        before = text[units_at - 1 :].split("/")[:index]
        unit = text[units_at - 1 :].split(" ")[0].split("/")[index]
        return units_at + sum(len(one) + 1 for one in before), f"unit {unit!r}: "
    words = {"TURNLIMIT": " limit", "HPTHRESHOLD": " threshold", "TURN": " t", "QUIET": " quiet"}
    at = text.find(words[tag], units_at) if tag in words else units_at - 2
    return at + 2, ""


def _text(position: Position) -> str:
    map = position.map
    fields = [
        "tubstap",
        f"{map.width}x{map.height}",
        "/".join(_row_text(row) for row in map.terrain),
        "/".join(_unit_text(unit) for unit in map.units),
        f"t{position.turn}",
        f"limit{map.turn_limit}",
        f"threshold{map.hp_threshold}",
        f"quiet{position.quiet}" if position.quiet else "",
        "hurt" if position.hurt else "",
        f"rules={rules_text(position.rules)}",
    ]
    return " ".join(field for field in fields if field)


def _row_text(row: tuple[int, ...]) -> str:
    runs = ((TERRAIN_LETTERS[code], len(list(cells))) for code, cells in groupby(row))
    return "".join(f"{length}{letter}" if length > 1 else letter for letter, length in runs)


def _unit_text(unit: Unit) -> str:
    hp = float(unit.hp)
    text = f"{TEAM_LETTERS[unit.team]}{UNIT_LETTERS[unit.kind]}{int(hp) if hp.is_integer() else repr(hp)}"
    return f"{text}@{unit.x},{unit.y}{'*' if unit.acted else ''}" if hp else text
