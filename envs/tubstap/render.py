"""Pictures and text boards of positions."""

from __future__ import annotations

import numpy as np

from sandtable.envs.palette import TEAM_COLOURS
from sandtable.envs.strips import BADGE_RADII, footer, header
from sandtable.envs.tubstap.position import Position, Unit
from sandtable.envs.tubstap.rulesets import NO_LIMIT
from sandtable.envs.tubstap.tables import BLUE, PLAIN, RED, TEAMS, UNIT_LETTERS
from sandtable.envs.tubstap.tiles import board, margins
from sandtable.envs.tubstap.tokens import LastMove, hp_text, paint_attack, paint_path, token
from sandtable.envs.window import blend, to_picture

TERRAIN_CHARACTERS = "#.~f^=H"
TERRAIN_CODES = (90, 32, 36, 92, 33, 37, 97)  # colours of a terminal
TEAM_CODES = (91, 94)


def to_ansi(position: Position, last_move: LastMove | None = None, color: bool = True) -> str:
    """A board of text for terminals. The words are the same with and without colours.

    A unit is its letter (RED upper case, blue lower case), its HP, ' if it has acted, and the terrain it stands on
    unless that is plain: i7'f is a blue infantry of 7 HP in a forest that has acted.
    """
    width = 8 if position.rules.hp == "real" else 6
    red, blue = (hp_text(hp, position.rules.hp == "real") for hp in _hp_sums(position))
    lines = [f"{_turn_text(position)}, {TEAMS[position.mover]} to move, HP red {red} blue {blue}"]
    lines.append("   " + "".join(f"{x:<{width}}" for x in range(1, position.map.width + 1)))
    units = {(unit.x, unit.y): unit for unit in _living(position)}
    for y, row in enumerate(position.map.terrain, 1):
        cells = [_cell_text(position, units.get((x, y)), terrain, color, width) for x, terrain in enumerate(row, 1)]
        lines.append(f"{y:>2} " + "".join(cells))
    if last_move:
        lines.append(_move_text(last_move))
    return "\n".join(line.rstrip() for line in lines)


def _cell_text(position: Position, unit: Unit | None, terrain: int, color: bool, width: int) -> str:
    text, code = TERRAIN_CHARACTERS[terrain], str(TERRAIN_CODES[terrain])
    if unit:
        letter = UNIT_LETTERS[unit.kind] if unit.team == RED else UNIT_LETTERS[unit.kind].lower()
        ground = "" if terrain == PLAIN else text
        text = letter + hp_text(unit.hp, position.rules.hp == "real") + "'" * unit.acted + ground
        code = f"{2 if unit.acted else 1};{TEAM_CODES[unit.team]}"
    padding = " " * (width - len(text))
    return (f"\x1b[{code}m{text}\x1b[0m" if color else text) + padding


def _move_text(move: LastMove) -> str:
    start, end = f"({move.from_x},{move.from_y})", f"({move.x},{move.y})"
    way = f"{start} stays" if start == end else f"{start} to {end}"
    attack = "" if move.target_x is None else f", attacks ({move.target_x},{move.target_y})"
    return f"last move: {TEAMS[move.team]} {way}{attack}"


def draw(position: Position, last_move: LastMove | None = None, cell: int = 56) -> np.ndarray:
    """A picture (height, width, 3) uint8 whose size depends on the map's size and `cell`, in pixels, only."""
    edge, strip = margins(cell)
    picture = board(position.map.terrain, cell).copy()
    width, height = picture.get_size()
    mover = position.mover
    badge = header(
        width, strip, _turn_text(position), f"{TEAMS[mover]} to move", TEAM_COLOURS[mover], BADGE_RADII[mover]
    )
    blend(picture, badge, (0, 0))
    red, blue = _hp_sums(position)
    words = (f"HP {hp_text(red, position.rules.hp == 'real')}", f"HP {hp_text(blue, position.rules.hp == 'real')}")
    blend(picture, footer(width, strip, words, red / (red + blue or 1.0)), (0, height - strip))
    if last_move:
        paint_path(picture, last_move, cell)
    for unit in _living(position):
        piece = token(unit.kind, unit.team, max(0.1, round(unit.hp, 1)), unit.acted, position.rules.hp == "real", cell)
        blend(picture, piece, (edge + (unit.x - 1) * cell, strip + edge + (unit.y - 1) * cell))
    if last_move and last_move.target_x is not None and last_move.target_y is not None:
        paint_attack(picture, (last_move.x, last_move.y), (last_move.target_x, last_move.target_y), cell)
    return to_picture(picture)


def _living(position: Position) -> list[Unit]:
    return [unit for unit in position.map.units if unit.hp > 0]


def _hp_sums(position: Position) -> tuple[float, float]:
    living = _living(position)
    red, blue = (sum(unit.hp for unit in living if unit.team == team) for team in (RED, BLUE))
    return red, blue


def _turn_text(position: Position) -> str:
    limit = position.map.turn_limit if position.rules.turn_limit == "map" else position.rules.turn_limit
    return f"turn {position.turn}" + (f" / {limit}" if limit != NO_LIMIT else "")
