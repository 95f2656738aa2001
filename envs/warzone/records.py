"""Game records, JSON lines: who played from where, then a line for every turn.

    {"game": "warzone", "date": "2026-01-31", "red": "mcts:sims=200", "blue": "greedy", "start": "warzone 9 0-1/…"}
    {"turn": 0, "red": [[2, 2, 5], [2, 3, 6]], "blue": [[7, 7, 5]], "first": "blue"}

`start` is the position in the notation, orders are [source, destination, armies] in the player's order with source
and destination the same in a deploy, and `first` is whom the coin named. A turn in which blue did not move has neither
`blue` nor `first`. What is told can be played again from `start`; the coin is told for readers only.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandtable.envs.warzone.notation import NotationError, position_from_text, position_to_text
from sandtable.envs.warzone.position import PLAYERS, Order, Position
from sandtable.envs.warzone.validity import shown, whole_fault

_HEAD = ("game", "date", "red", "blue", "start")


class RecordError(ValueError):
    """A text that is no record of a game: the message tells its line."""


@dataclass(frozen=True)
class RecordedTurn:
    """The orders of one turn; `blue` and `first` (0 or 1, whom the coin named) are None if blue did not move."""

    turn: int
    red: tuple[Order, ...]
    blue: tuple[Order, ...] | None = None
    first: int | None = None


@dataclass(frozen=True)
class Record:
    """A game: where it began, when and by whom it was played, and what was ordered."""

    start: Position
    date: str
    red: str
    blue: str
    turns: tuple[RecordedTurn, ...] = ()


def format_record(record: Record) -> str:
    """The text of a record."""
    start = position_to_text(record.start)
    head = {"game": "warzone", "date": record.date, "red": record.red, "blue": record.blue, "start": start}
    return "\n".join(json.dumps(line) for line in (head, *(_turn_line(turn) for turn in record.turns))) + "\n"


def _turn_line(turn: RecordedTurn) -> dict[str, Any]:
    line: dict[str, Any] = {"turn": turn.turn, "red": turn.red}
    if turn.blue is not None and turn.first is not None:
        line |= {"blue": turn.blue, "first": PLAYERS[turn.first]}
    return line


def parse_record(text: str, name: str = "record") -> Record:
    """The game that a record's text tells; `name` is what errors call the text.

    Its form is checked; whether the orders follow the rules is for the engine to tell.
    """
    lines = [_line(line, f"{name}: line {i}") for i, line in enumerate(text.splitlines(), 1)]
    if not lines or set(lines[0]) != set(_HEAD) or lines[0]["game"] != "warzone":
        raise RecordError(f'{name}: line 1: valid is an object with {", ".join(_HEAD)}, where game is "warzone"')
    for field in _HEAD:
        if not isinstance(lines[0][field], str):
            raise RecordError(f"{name}: line 1: {field}: {shown(lines[0][field])} is not text")
    try:
        start = position_from_text(lines[0]["start"])
    except NotationError as error:
        raise RecordError(f"{name}: line 1: start: {error}") from None
    turns = tuple(_turn(line, f"{name}: line {i}") for i, line in enumerate(lines[1:], 2))
    return Record(start, lines[0]["date"], lines[0]["red"], lines[0]["blue"], turns)


def load_record(path: str | os.PathLike[str]) -> Record:
    """The record of a file."""
    return parse_record(Path(path).read_text(encoding="utf-8"), str(path))


def _line(text: str, where: str) -> dict[str, Any]:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise RecordError(f"{where}: {shown(text)}: valid is a JSON object")
    return told


def _turn(told: dict[str, Any], where: str) -> RecordedTurn:
    if set(told) not in ({"turn", "red"}, {"turn", "red", "blue", "first"}):
        raise RecordError(f"{where}: valid is an object with turn and red, or turn, red, blue and first")
    if fault := whole_fault("turn", told["turn"], 0, 2**15):
        raise RecordError(f"{where}: {fault}")
    if "blue" not in told:
        return RecordedTurn(told["turn"], _orders(told["red"], where))
    if told["first"] not in PLAYERS:
        raise RecordError(f"{where}: first {shown(told['first'])}: valid are {' and '.join(PLAYERS)}")
    red, blue = _orders(told["red"], where), _orders(told["blue"], where)
    return RecordedTurn(told["turn"], red, blue, PLAYERS.index(told["first"]))


def _orders(told: Any, where: str) -> tuple[Order, ...]:
    valid = isinstance(told, list) and all(
        isinstance(order, list) and len(order) == 3 and all(type(value) is int for value in order) for order in told
    )
    if not valid:
        raise RecordError(f"{where}: {shown(told)}: valid are orders [source, destination, armies]")
    return tuple((source, destination, armies) for source, destination, armies in told)
