"""Map files of the original platform (.tbsmap), read strictly: nothing is guessed, every error tells its line."""

from __future__ import annotations

import os

from sandtable.envs.tubstap.blocks import MAP_TAGS, Block, Blocks, MapError, read_text, write_text
from sandtable.envs.tubstap.position import Map, Unit
from sandtable.envs.tubstap.tables import FORBIDDEN, MAX_SIDE, TEAMS, UNIT_NAMES
from sandtable.envs.tubstap.validity import Fault, map_faults, whole_fault
from sandtable.names import unknown_name

__all__ = ["MapError", "check_map", "format_map", "load_map", "map_of_blocks", "parse_map", "save_map"]

_UNIT_FIELDS = ("x", "y", "name", "team", "hp", "acted")


def parse_map(text: str, name: str = "map") -> Map:
    """The map that a .tbsmap text tells; `name` is what errors call the text."""
    return map_of_blocks(Blocks(text, name, MAP_TAGS))


def load_map(path: str | os.PathLike[str]) -> Map:
    """The map of a file in UTF-8 or Shift-JIS."""
    return parse_map(read_text(path), str(path))


def save_map(map: Map, path: str | os.PathLike[str]) -> None:
    """Write a map file; what could not be read back is refused."""
    write_text(format_map(map), path)


def check_map(map: Map) -> Map:
    """The map itself if it is valid, and a MapError about its first fault if not."""
    for fault in map_faults(map):
        raise MapError(f"{_place(fault)}: {fault.text}")
    return map


def format_map(map: Map) -> str:
    """The text of a map file, always in the same order and layout."""
    check_map(map)
    size_x, size_y = map.width + 2, map.height + 2
    count = [sum(unit.team == team for unit in map.units) for team in range(len(TEAMS))]
    edge = (FORBIDDEN,) * size_x
    rows = [edge, *((FORBIDDEN, *row, FORBIDDEN) for row in map.terrain), edge]
    lines = [
        f"SIZEX[{size_x}];SIZEY[{size_y}];",
        f"TURNLIMIT[{map.turn_limit}];HPTHRESHOLD[{map.hp_threshold}];",
        f"UNITNUMRED[{count[0]}];UNITNUMBLUE[{count[1]}];",
        f"AUTHOR[{map.author}];" + (f"MAPCOM[{map.comment}];" if map.comment else ""),
        *(f"UNIT[{u.x},{u.y},{UNIT_NAMES[u.kind]},{u.team},{int(u.hp)},{int(u.acted)}];" for u in map.units),
        *(f"MAP[{','.join(str(code) for code in row)}];" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def map_of_blocks(blocks: Blocks) -> Map:
    """The map told by blocks of which others (those of a game record) may stand beside the map's."""
    comment = blocks.optional("MAPCOM")
    found = Map(
        terrain=_terrain(blocks),
        units=tuple(_unit(block) for block in blocks.every("UNIT")),
        turn_limit=blocks.one("TURNLIMIT").number(),
        hp_threshold=blocks.one("HPTHRESHOLD").number(),
        author=blocks.text("AUTHOR"),
        comment=comment.value if comment else "",
    )
    _check_counts(blocks, found)
    for fault in map_faults(found):
        _blamed(blocks, fault).fail(fault.text)
    return found


def _terrain(blocks: Blocks) -> tuple[tuple[int, ...], ...]:
    """The cells inside the border, whose presence is checked here; their codes are not."""
    size_x, size_y, rows = blocks.one("SIZEX"), blocks.one("SIZEY"), blocks.every("MAP")
    for size in (size_x, size_y):
        if fault := whole_fault(size.tag, size.number(), 3, MAX_SIDE + 2):
            size.fail(f"{fault}, the border of one forbidden cell on every side included")
    if len(rows) != size_y.number():
        size_y.fail(f"there are {len(rows)} MAP rows; valid is one for each of SIZEY")
    cells = [_row(block, size_x.number()) for block in rows]
    for block, row in ((rows[0], cells[0]), (rows[-1], cells[-1])):
        _check_border(block, row)
    for block, row in zip(rows, cells, strict=True):
        _check_border(block, [row[0], row[-1]])
    return tuple(tuple(row[1:-1]) for row in cells[1:-1])


def _row(block: Block, size: int) -> list[int]:
    parts = [part.strip(" \t\r\n") for part in block.value.split(",")]
    if len(parts) != size:
        block.fail(f"{len(parts)} cells; valid are {size}, as SIZEX says")
    return [block.whole(part, f"terrain at x {x}") for x, part in enumerate(parts)]


def _check_border(block: Block, cells: list[int]) -> None:
    for code in cells:
        if code != FORBIDDEN:
            block.fail(f"terrain {code} on the border; valid there is {FORBIDDEN} (forbidden)")


def _unit(block: Block) -> Unit:
    x, y, name, team, hp, acted = block.parts(_UNIT_FIELDS)
    if name not in UNIT_NAMES:
        block.fail(unknown_name("unit", name, UNIT_NAMES))
    if block.whole(acted, "acted") not in (0, 1):
        block.fail(f"acted {acted}: valid are 0 and 1")
    return Unit(
        x=block.whole(x, "x"),
        y=block.whole(y, "y"),
        kind=UNIT_NAMES.index(name),
        team=block.whole(team, "team"),
        hp=block.whole(hp, "hp"),
        acted=block.whole(acted, "acted") == 1,
    )


def _check_counts(blocks: Blocks, map: Map) -> None:
    for team, name in enumerate(TEAMS):
        told = blocks.one(f"UNITNUM{name.upper()}")
        count = sum(unit.team == team for unit in map.units)
        if all(unit.team in (0, 1) for unit in map.units) and told.number() != count:
            told.fail(f"there are {count} {name} UNIT blocks; valid is their number")


def _blamed(blocks: Blocks, fault: Fault) -> Block:
    """The block that a fault is about. Rows inside the border are counted without the first MAP block."""
    return blocks.every(fault.tag)[fault.index + (fault.tag == "MAP")]


_PLACES = {
    "SIZEX": "terrain", "SIZEY": "terrain", "TURNLIMIT": "turn_limit", "HPTHRESHOLD": "hp_threshold",
    "UNITNUMRED": "units", "UNITNUMBLUE": "units", "AUTHOR": "author", "MAPCOM": "comment",
}  # fmt: skip


def _place(fault: Fault) -> str:
    """The part of a Map object that a fault is about."""
    if fault.tag in _PLACES:
        return f"map.{_PLACES[fault.tag]}"
    return f"map.{'units' if fault.tag == 'UNIT' else 'terrain'}[{fault.index}]"
