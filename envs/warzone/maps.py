"""Map files of this project (JSON), read strictly: nothing is guessed, every error tells its file and place.

    {"title": "Three",
     "territories": ["West", "Middle", "East"],
     "edges": [[0, 1], [1, 2]],
     "bonuses": [{"name": "Coast", "territories": [0, 2], "value": 2}],
     "places": [[0.0, 0.5], [0.5, 0.4], [1.0, 0.5]],
     "start": {"armies": [2, 4, 2], "owner": [1, 0, 2]}}

Territories are numbered from 0 in their order. `title`, `bonuses`, `places` (for drawing, x to the right and y down,
from 0 to 1) and `start` may be left out.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

from sandtable.envs.warzone.places import lay_out
from sandtable.envs.warzone.position import Bonus, Map, Start
from sandtable.envs.warzone.validity import map_faults, shown
from sandtable.names import unknown_name

_FIELDS = ("title", "territories", "edges", "bonuses", "places", "start")
_MOST_CHARACTERS = 1_000_000


class MapError(ValueError):
    """A map that cannot be: the message tells the file, the place in it and what is valid there."""


def parse_map(text: str, name: str = "map") -> Map:
    """The map that a JSON text tells; `name` is what errors call the text."""
    found = _map(_json(text, name), name)
    for fault in map_faults(found):
        raise MapError(f"{name}: {fault.where}: {fault.text}")
    return found


def load_map(path: str | os.PathLike[str]) -> Map:
    """The map of a file in UTF-8."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise MapError(f"{path}: byte {error.start}: this is not UTF-8 text") from None
    return parse_map(text, str(path))


def save_map(map: Map, path: str | os.PathLike[str]) -> None:
    """Write a map file; what could not be read back is refused."""
    Path(path).write_text(format_map(map), encoding="utf-8")


def check_map(map: Map) -> Map:
    """The map itself if it is valid, and a MapError about its first fault if not."""
    for fault in map_faults(map):
        raise MapError(f"map.{fault.where}: {fault.text}")
    return map


def format_map(map: Map) -> str:
    """The text of a map file, always in the same order and layout."""
    check_map(map)
    bonuses = [{"name": b.name, "territories": list(b.territories), "value": b.value} for b in map.bonuses]
    lines = [f'"title": {_text(map.title)}', f'"territories": {_text(list(map.territories))}']
    lines.append(f'"edges": {_text(map.edges)}')
    lines.append('"bonuses": [' + ",".join(f"\n  {_text(bonus)}" for bonus in bonuses) + "\n ]")
    if map.places:
        lines.append(f'"places": {_text(map.places)}')
    if map.start:
        lines.append(f'"start": {_text({"armies": map.start.armies, "owner": map.start.owner})}')
    text = "{\n " + ",\n ".join(lines) + "\n}\n"
    if parse_map(text) != map:
        raise MapError("map: it would be read back differently; valid are tuples, plain numbers and text")
    return text


@lru_cache(maxsize=64)
def with_places(map: Map) -> Map:
    """The map, laid out if it does not say where its territories are."""
    if map.places:
        return map
    places = lay_out(len(map.territories), map.edges)
    return Map(map.territories, map.edges, map.bonuses, places, map.title, map.start)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _json(text: str, name: str) -> Any:
    if not isinstance(text, str) or len(text) > _MOST_CHARACTERS:
        raise MapError(f"{name}: valid is text of up to {_MOST_CHARACTERS} characters")
    try:
        return json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_once, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise MapError(f"{name}: line {error.lineno} column {error.colno}: {error.msg}; valid is JSON") from None
    except (ValueError, RecursionError) as error:
        raise MapError(f"{name}: {str(error) or 'nested too deeply'}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
        raise ValueError(f"{shown(twice)} is given twice")
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number of JSON")


def _map(told: Any, name: str) -> Map:
    fields = _object(told, _FIELDS, ("territories", "edges"), "", name)
    return Map(
        territories=tuple(_list(fields["territories"], "territories", name)),
        edges=_edges(fields["edges"], name),
        bonuses=tuple(_bonus(one, i, name) for i, one in enumerate(_list(fields.get("bonuses", []), "bonuses", name))),
        places=tuple(_tuple(place) for place in _list(fields.get("places", []), "places", name)),
        title=fields.get("title", ""),
        start=_start(fields["start"], name) if "start" in fields else None,
    )


def _edges(told: Any, name: str) -> tuple[Any, ...]:
    """In ascending order where they are valid; faults are told in the order of the file."""
    edges = tuple(_tuple(edge) for edge in _list(told, "edges", name))
    if not all(isinstance(edge, tuple) and len(edge) == 2 and all(type(end) is int for end in edge) for edge in edges):
        return edges
    ascending = tuple((min(edge), max(edge)) for edge in edges)
    return ascending if len(set(ascending)) < len(edges) else tuple(sorted(ascending))


def _bonus(told: Any, index: int, name: str) -> Bonus:
    where = f"bonuses[{index}]"
    fields = _object(told, ("name", "territories", "value"), ("territories", "value"), where, name)
    territories = tuple(_list(fields["territories"], f"{where}.territories", name))
    if all(type(territory) is int for territory in territories):
        territories = tuple(sorted(territories))
    return Bonus(territories, fields["value"], fields.get("name", ""))


def _start(told: Any, name: str) -> Start:
    fields = _object(told, ("armies", "owner"), ("armies", "owner"), "start", name)
    return Start(*(tuple(_list(fields[part], f"start.{part}", name)) for part in ("armies", "owner")))


def _object(told: Any, valid: tuple[str, ...], needed: tuple[str, ...], where: str, name: str) -> dict[str, Any]:
    place = f"{name}: {where}" if where else name
    if not isinstance(told, dict):
        raise MapError(f"{place}: {shown(told)}: valid is an object with {', '.join(needed)}")
    for key in told:
        if key not in valid:
            raise MapError(f"{place}: {unknown_name('field', key, valid)}")
    for key in needed:
        if key not in told:
            raise MapError(f"{place}: {key} is missing")
    return told


def _list(told: Any, where: str, name: str) -> list[Any]:
    if not isinstance(told, list):
        raise MapError(f"{name}: {where}: {shown(told)}: valid is a list")
    return told


def _tuple(told: Any) -> Any:
    return tuple(told) if isinstance(told, list) else told
