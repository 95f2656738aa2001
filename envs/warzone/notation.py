"""Any position as one line of text, and back.

    warzone 4 0-1,2/1-3/2-3 0,1=2/2,3=3 5r/0/3b/2 t7 coin=00000000deadbeef red=0+3/0>1*4 rules=default

The fields, one space between them: the word `warzone`; the number of territories; the edges, for each territory with
larger neighbours these; the bonuses, each its territories and its value, or `-` without any; the armies on each
territory with r (red, player 1) or b (blue, player 2) if it is a player's; how many turns were played; the word from
which the coins follow; red's orders for this turn where they are in, while blue's are not (`0+3` deploys 3 armies to
territory 0, `0>1*4` sends 4 from 0 to 1, `-` is no order at all); in a view of blue's, where blue orders first, `blue`
or `blue=` with its orders instead; the rules, by their name or as the default ones with options changed:
`rules=default+multi_attack=false+turn_limit=50`. The map's names and places are not told.

A position has exactly one such text, and no other is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields as dataclass_fields
from itertools import groupby
from typing import Any, NoReturn

from sandtable.envs.warzone.position import PLAYERS, Bonus, Map, Order, Position
from sandtable.envs.warzone.rulesets import Rules, make_rules, rules_text
from sandtable.envs.warzone.state import MAX_TERRITORIES
from sandtable.envs.warzone.validity import position_faults, shown
from sandtable.names import unknown_name

OWNER_LETTERS = ("", "r", "b")

_FORM = "warzone TERRITORIES EDGES BONUSES ARMIES tTURN coin=WORD [red=ORDERS|blue=ORDERS|blue] rules=NAME"
_NUMBER = r"[0-9]{1,5}"
_NUMBERS = f"{_NUMBER}(?:,{_NUMBER})*"
_LARGE = r"[0-9]{1,10}"
_ORDER = rf"(?:(?:red|blue)=)?(?:({_NUMBER})\+({_NUMBER})|({_NUMBER})>({_NUMBER})\*({_NUMBER}))"


class NotationError(ValueError):
    """A text that is not a position: the message tells the column, what stood there and what is valid."""


def position_to_text(position: Position) -> str:
    """The one line that tells this position."""
    for fault in position_faults(position):
        raise NotationError(f"this position cannot be: {fault.where}: {fault.text}")
    return _text(position)


def position_from_text(text: str) -> Position:
    """The position that a line tells."""
    if not isinstance(text, str):
        raise NotationError(f"column 1: {shown(text)} is not text; valid is {_FORM}")
    fields = _Fields(text)
    fields.take("warzone")
    size = int(fields.take(f"({_NUMBER})")[1])
    if not 2 <= size <= MAX_TERRITORIES:
        fields.fail(9, f"{size} territories; valid are 2 to {MAX_TERRITORIES}")
    map_ = Map(tuple(str(i) for i in range(size)), tuple(_edges(fields)), tuple(_bonuses(fields)))
    armies, owner = _board(fields)
    turn = int(fields.take(f"t({_NUMBER})")[1])
    coin = int(fields.take("coin=([0-9a-f]{16})")[1], 16)
    leader, pending = _pending(fields)
    position = Position(map_, _rules(fields), armies, owner, turn, coin, pending, leader)
    _check(position, text)
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
        found = re.fullmatch(form, self.next)
        if not found:
            self.fail(self.column, f"{shown(self.next)}: valid is {_FORM}")
        if self._rest:
            self.column += len(self._rest.pop(0)) + 1
        return found

    def items(self, form: str, example: str) -> list[re.Match[str]]:
        """The parts of the next field between its slashes, which must be of this form; the field is then taken."""
        column, found = self.column, []
        for part in self.next.split("/"):
            match = re.fullmatch(form, part)
            if not match:
                self.fail(column, f"{shown(part)}: valid are such as {example}")
            found.append(match)
            column += len(part) + 1
        self.take(".*")
        return found

    def fail(self, column: int, what: str) -> NoReturn:
        raise NotationError(f"column {column}: {what}")


def _edges(fields: _Fields) -> Iterable[tuple[int, int]]:
    items = fields.items(f"({_NUMBER})-({_NUMBERS})", "0-1,5")
    return [(int(item[1]), int(other)) for item in items for other in item[2].split(",")]


def _bonuses(fields: _Fields) -> Iterable[Bonus]:
    if fields.next == "-":
        fields.take("-")
        return []
    items = fields.items(f"({_NUMBERS})=({_NUMBER})", "0,1,2=3")
    return [Bonus(tuple(int(i) for i in item[1].split(",")), int(item[2])) for item in items]


def _board(fields: _Fields) -> tuple[tuple[int, ...], tuple[int, ...]]:
    items = fields.items(f"({_LARGE})([rb]?)", "5r and 3b and 2")
    return tuple(int(item[1]) for item in items), tuple(OWNER_LETTERS.index(item[2]) for item in items)


def _pending(fields: _Fields) -> tuple[int, tuple[Order, ...] | None]:
    """Who leads, and the orders that are given already."""
    if fields.next == "blue":
        fields.take("blue")
        return 1, None
    name, equals, orders = fields.next.partition("=")
    if not equals or name not in PLAYERS:
        return 0, None
    leader = PLAYERS.index(name)
    if orders == "-":
        fields.take(f"{name}=-")
        return leader, ()
    items = fields.items(_ORDER, "0+3 and 0>1*4")
    return leader, tuple(
        (int(item[1]), int(item[1]), int(item[2])) if item[1] else (int(item[3]), int(item[4]), int(item[5]))
        for item in items
    )


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


_FIELD_OF = {
    "territories": 1,
    "edges": 2,
    "bonuses": 3,
    "armies": 4,
    "owner": 4,
    "turn": 5,
    "coin": 6,
    "leader": 7,
    "pending": 7,
}


def _check(position: Position, text: str) -> None:
    """That the position can be, and that the text is the one text of it."""
    for fault in position_faults(position):
        before = text.split(" ")[: _FIELD_OF[re.split(r"[.\[]", fault.where)[0]]]
        raise NotationError(f"column {sum(len(field) + 1 for field in before) + 1}: {fault.where}: {fault.text}")
    canonical = _text(position)
    if text != canonical:
        same = next((i for i, (a, b) in enumerate(zip(text, canonical, strict=False)) if a != b), len(canonical))
        raise NotationError(f"column {same + 1}: {shown(text[same:])}: valid, for this position, is {canonical!r}")


def _text(position: Position) -> str:
    board = zip(position.armies, position.owner, strict=True)
    fields = [
        "warzone",
        str(len(position.map.territories)),
        "/".join(f"{a}-{_joined(b for _, b in run)}" for a, run in groupby(position.map.edges, lambda edge: edge[0])),
        "/".join(f"{_joined(bonus.territories)}={bonus.value}" for bonus in position.map.bonuses) or "-",
        "/".join(f"{armies}{OWNER_LETTERS[owner]}" for armies, owner in board),
        f"t{position.turn}",
        f"coin={position.coin:016x}",
        *_pending_text(position),
        f"rules={rules_text(position.rules)}",
    ]
    return " ".join(fields)


def _pending_text(position: Position) -> Iterator[str]:
    leader = PLAYERS[position.leader]
    if position.pending is not None:
        yield f"{leader}={orders_text(position.pending) or '-'}"
    elif position.leader:
        yield leader


def _joined(numbers: Iterable[int]) -> str:
    return ",".join(str(number) for number in numbers)


def orders_text(orders: Iterable[Order]) -> str:
    """Orders as the notation writes them."""
    return "/".join(f"{s}+{armies}" if s == d else f"{s}>{d}*{armies}" for s, d, armies in orders)
