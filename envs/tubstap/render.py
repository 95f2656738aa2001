"""Pictures and text boards of positions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import cos, hypot, pi, sin
from typing import Any

import numpy as np

from sandtable.envs.tubstap.position import Position, Unit
from sandtable.envs.tubstap.rulesets import NO_LIMIT
from sandtable.envs.tubstap.tables import (
    BLUE,
    FORBIDDEN,
    FOREST,
    FORTRESS,
    MAX_HP,
    MOUNTAIN,
    PLAIN,
    RED,
    ROAD,
    SEA,
    TEAMS,
    UNIT_LETTERS,
)
from sandtable.envs.window import Brush, Colour, Point, blend, load_pygame, mix, to_picture

TERRAIN_CHARACTERS = "#.~f^=H"
TERRAIN_CODES = (90, 32, 36, 92, 33, 37, 97)  # colours of a terminal
TEAM_CODES = (91, 94)

# Vermilion and blue stay apart for every kind of colour blindness; the tokens' shapes differ too.
TEAM_COLOURS: tuple[Colour, Colour] = ((206, 64, 44), (38, 98, 178))
WHITE: Colour = (255, 255, 255)
INK: Colour = (28, 32, 40)
FRAME: Colour = (36, 41, 51)
LABEL: Colour = (158, 166, 178)
ACTED: Colour = (128, 128, 128)
ATTACK: Colour = (255, 193, 40)
HEALTH: Colour = (120, 220, 110)

GRASS: Colour = (196, 212, 152)
WATER: Colour = (112, 168, 204)
FOAM: Colour = (188, 218, 232)
PAVING: Colour = (206, 196, 178)
STONE: Colour = (150, 148, 150)
ROCK: Colour = (150, 132, 116)
LEAVES: Colour = (84, 134, 82)
HATCH: Colour = (56, 60, 70)

STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))  # to the neighbours: north, east, south, west

Shape = tuple[Point, ...]
HULL: tuple[Shape, ...] = (
    ((0.0, 0.52), (0.94, 0.52), (1.0, 0.7), (0.0, 0.7)),
    ((0.04, 0.76), (0.96, 0.76), (0.84, 0.98), (0.16, 0.98)),
)
# In a box of 1 by 1, for each kind of unit.
PICTOGRAMS: tuple[tuple[Shape, ...], ...] = (
    (
        ((0.5, 0.0), (0.59, 0.3), (0.98, 0.74), (0.98, 0.84), (0.6, 0.76), (0.72, 1.0), (0.28, 1.0), (0.4, 0.76),
         (0.02, 0.84), (0.02, 0.74), (0.41, 0.3)),
    ),
    (
        ((0.5, 0.0), (0.6, 0.14), (0.6, 0.32), (1.0, 0.38), (1.0, 0.56), (0.6, 0.6), (0.57, 0.8), (0.76, 0.88),
         (0.76, 1.0), (0.24, 1.0), (0.24, 0.88), (0.43, 0.8), (0.4, 0.6), (0.0, 0.56), (0.0, 0.38), (0.4, 0.32),
         (0.4, 0.14)),
    ),
    (
        *HULL,
        ((0.22, 0.2), (0.6, 0.2), (0.7, 0.47), (0.14, 0.47)),
        ((0.6, 0.24), (1.08, 0.24), (1.08, 0.34), (0.6, 0.34)),
    ),
    (
        ((0.1, 0.56), (0.92, 0.02), (1.02, 0.17), (0.22, 0.74)),
        ((0.0, 0.98), (0.3, 0.6), (0.44, 0.7), (0.1, 1.04)),
        tuple((0.52 + 0.21 * cos(i * pi / 8), 0.77 + 0.21 * sin(i * pi / 8)) for i in range(16)),
    ),
    (
        *HULL,
        ((0.2, 0.46), (0.52, 0.0), (0.64, 0.06), (0.36, 0.46)),
        ((0.5, 0.46), (0.82, 0.0), (0.94, 0.06), (0.66, 0.46)),
    ),
    (
        tuple((0.5 + 0.17 * cos(i * pi / 8), 0.18 + 0.17 * sin(i * pi / 8)) for i in range(16)),
        ((0.28, 0.4), (0.72, 0.4), (0.8, 0.72), (0.68, 0.74), (0.68, 1.0), (0.53, 1.0), (0.5, 0.74), (0.47, 1.0),
         (0.32, 1.0), (0.32, 0.74), (0.2, 0.72)),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class LastMove:
    """What a unit did last, in map coordinates; the target is None when it did not attack."""

    from_x: int
    from_y: int
    x: int
    y: int
    target_x: int | None
    target_y: int | None
    team: int


def to_ansi(position: Position, last_move: LastMove | None = None, color: bool = True) -> str:
    """A board of text for terminals. The words are the same with and without colours.

    A unit is its letter (RED upper case, blue lower case), its HP, ' if it has acted, and the terrain it stands on
    unless that is plain: i7'f is a blue infantry of 7 HP in a forest that has acted.
    """
    width = 8 if position.rules.hp == "real" else 6
    red, blue = (_hp_text(hp, position.rules.hp == "real") for hp in _hp_sums(position))
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
        text = letter + _hp_text(unit.hp, position.rules.hp == "real") + "'" * unit.acted + ground
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
    edge, strip = _margins(cell)
    picture = _board(position.map.terrain, cell).copy()
    width, height = picture.get_size()
    blend(picture, _header(width, cell, _turn_text(position), position.mover), (0, 0))
    blend(picture, _footer(width, cell, _hp_sums(position), position.rules.hp == "real"), (0, height - strip))
    if last_move:
        _paint_path(picture, last_move, cell)
    for unit in _living(position):
        token = _token(unit.kind, unit.team, max(0.1, round(unit.hp, 1)), unit.acted, position.rules.hp == "real", cell)
        blend(picture, token, (edge + (unit.x - 1) * cell, strip + edge + (unit.y - 1) * cell))
    if last_move and last_move.target_x is not None and last_move.target_y is not None:
        _paint_attack(picture, (last_move.x, last_move.y), (last_move.target_x, last_move.target_y), cell)
    return to_picture(picture)


def _margins(cell: int) -> tuple[int, int]:
    """Pixels of the edge with coordinates around the board, and of the strips above and below it."""
    return round(0.4 * cell), round(0.72 * cell)


def _living(position: Position) -> list[Unit]:
    return [unit for unit in position.map.units if unit.hp > 0]


def _hp_sums(position: Position) -> tuple[float, float]:
    living = _living(position)
    red, blue = (sum(unit.hp for unit in living if unit.team == team) for team in (RED, BLUE))
    return red, blue


def _hp_text(hp: float, real: bool) -> str:
    # A living unit never reads 0.0.
    return f"{max(hp, 0.1) if hp else 0:.1f}" if real else f"{hp:.0f}"


def _turn_text(position: Position) -> str:
    limit = position.map.turn_limit if position.rules.turn_limit == "map" else position.rules.turn_limit
    return f"turn {position.turn}" + (f" / {limit}" if limit != NO_LIMIT else "")


# The terrain

TILE_COLOURS = (FRAME, GRASS, WATER, mix(GRASS, LEAVES, 0.35), mix(GRASS, ROCK, 0.45), GRASS, STONE)
TUFTS = (((0.2, 0.3), (0.72, 0.7)), ((0.75, 0.25), (0.3, 0.8)), ((0.5, 0.2), (0.16, 0.66)), ((0.85, 0.5), (0.4, 0.4)))


@lru_cache(maxsize=8)
def _board(terrain: tuple[tuple[int, ...], ...], cell: int) -> Any:
    """The picture without units and words: all that stays the same during a game."""
    pygame = load_pygame()
    edge, strip = _margins(cell)
    width, height = len(terrain[0]), len(terrain)
    board = pygame.Surface((width * cell + 2 * edge, height * cell + 2 * (edge + strip)), 0, 32)
    board.fill(FRAME)
    for y in range(height):
        for x in range(width):
            corner = (edge + x * cell, strip + edge + y * cell)
            blend(board, _tile(terrain[y][x], _joined(terrain, x, y), (3 * x + 5 * y) % 4, cell), corner)
    _paint_coordinates(board, width, height, cell)
    return board


def _joined(terrain: tuple[tuple[int, ...], ...], x: int, y: int) -> tuple[bool, ...]:
    """Whether sea or road goes on to the north, east, south and west, as it does beyond the edge of the map."""
    own = terrain[y][x]
    same = {SEA: (SEA,), ROAD: (ROAD, FORTRESS)}.get(own, ())
    rows, columns = range(len(terrain)), range(len(terrain[0]))
    ways = [(x + dx, y + dy) for dx, dy in STEPS]
    return tuple((terrain[b][a] if b in rows and a in columns else own) in same for a, b in ways)


def _paint_coordinates(board: Any, width: int, height: int, cell: int) -> None:
    edge, strip = _margins(cell)
    far_x, far_y = edge + width * cell, strip + edge + height * cell
    places = [(n, (edge + (n - 1) * cell, y)) for n in range(1, width + 1) for y in (strip, far_y)]
    for number, corner in places:
        _label(number, cell, edge, cell).paint(board, corner)
    places = [(n, (x, strip + edge + (n - 1) * cell)) for n in range(1, height + 1) for x in (0, far_x)]
    for number, corner in places:
        _label(number, edge, cell, cell).paint(board, corner)


def _label(number: int, width: int, height: int, cell: int) -> Brush:
    brush = Brush(width, height, cell)
    brush.text(LABEL, str(number), (width / cell / 2, height / cell / 2), 0.32)
    return brush


@lru_cache(maxsize=512)
def _tile(terrain: int, joined: tuple[bool, ...], variant: int, cell: int) -> Any:
    """One cell of terrain. The variants differ in small things, so that a wide plain does not look printed."""
    brush = Brush(cell, cell, cell, GRASS)
    if terrain == FORBIDDEN:
        _forbidden(brush)
    else:
        (_plain, _sea, _forest, _mountain, _road, _fortress)[terrain - 1](brush, joined, variant)
        for corner, size in (((0.0, 0.0), (1.0, 0.018)), ((0.0, 0.0), (0.018, 1.0))):
            brush.box(mix(TILE_COLOURS[terrain], INK, 0.2), corner, size)
    return brush.result()


def _forbidden(brush: Brush) -> None:
    brush.box(FRAME, (0, 0), (1, 1))
    for i in range(-4, 4):
        brush.line(HATCH, [(i / 4, 1.0), (i / 4 + 1.0, 0.0)], 0.05)


def _plain(brush: Brush, joined: tuple[bool, ...], variant: int) -> None:
    for x, y in TUFTS[variant]:
        for lean in (-0.05, 0.0, 0.05):
            brush.line(mix(GRASS, LEAVES, 0.35), [(x + lean / 2, y), (x + lean * 1.4, y - 0.08 + abs(lean) / 2)], 0.022)


def _sea(brush: Brush, joined: tuple[bool, ...], variant: int) -> None:
    brush.box(WATER, (0, 0), (1, 1))
    for row, y in enumerate((0.2, 0.45, 0.7, 0.92)):
        left = 0.1 + 0.45 * ((row + variant) % 2)
        wave = [(left + i / 20 * 0.4, y + 0.03 * sin(i / 20 * 4 * pi)) for i in range(21)]
        brush.line(mix(WATER, FOAM, 0.6), wave, 0.025)
    for side, wet in enumerate(joined):
        if not wet:
            brush.box(PAVING, *_strip(side, 0.07))
            brush.box(FOAM, *_strip(side, 0.07, 0.05))


def _strip(side: int, thick: float, inset: float = 0.0) -> tuple[Point, Point]:
    """The corner and the size of a strip along one side of the cell."""
    near, far = inset, 1.0 - thick - inset
    return (
        ((0.0, near), (1.0, thick)),
        ((far, 0.0), (thick, 1.0)),
        ((0.0, far), (1.0, thick)),
        ((near, 0.0), (thick, 1.0)),
    )[side]


def _forest(brush: Brush, joined: tuple[bool, ...], variant: int) -> None:
    brush.box(TILE_COLOURS[FOREST], (0, 0), (1, 1))
    shift = 0.04 * (variant - 1.5)
    for x, y, size in ((0.24, 0.38, 0.3), (0.72, 0.34, 0.32), (0.48, 0.66, 0.34), (0.14, 0.9, 0.28), (0.84, 0.9, 0.3)):
        _tree(brush, x + (shift if y < 0.6 else -shift), y, size)


def _tree(brush: Brush, x: float, foot: float, size: float) -> None:
    brush.box((104, 82, 60), (x - 0.02, foot - 0.02), (0.04, 0.08))
    for top, half in ((0.95, 0.36), (0.62, 0.5)):
        high, low = foot - size * top, foot - size * (top - 0.62)
        brush.polygon(LEAVES, [(x, high), (x + half * size, low), (x - half * size, low)])
        brush.polygon(mix(LEAVES, INK, 0.22), [(x, high), (x + half * size, low), (x + half * size * 0.1, low)])


def _mountain(brush: Brush, joined: tuple[bool, ...], variant: int) -> None:
    brush.box(TILE_COLOURS[MOUNTAIN], (0, 0), (1, 1))
    peaks = ((0.68, 0.24, 0.34), (0.36, 0.08, 0.4)) if variant % 2 else ((0.3, 0.26, 0.32), (0.62, 0.08, 0.4))
    for x, top, half in peaks:
        foot, snow = 0.92, top + 0.24
        reach = half * (snow - top) / (foot - top)
        brush.polygon(ROCK, [(x, top), (x + half, foot), (x - half, foot)])
        brush.polygon(mix(ROCK, INK, 0.3), [(x, top), (x + half, foot), (x + 0.06, foot), (x - 0.03, 0.6)])
        rim = [(x + reach, snow), (x + reach * 0.3, snow - 0.06), (x - reach * 0.2, snow + 0.03), (x - reach, snow)]
        brush.polygon((244, 244, 246), [(x, top), *rim])


def _road(brush: Brush, joined: tuple[bool, ...], variant: int) -> None:
    _plain(brush, joined, variant)
    open_sides = [side for side, goes_on in enumerate(joined) if goes_on] or list(range(4))
    for colour, half in ((mix(PAVING, INK, 0.35), 0.31), (PAVING, 0.27)):
        brush.box(colour, (0.5 - half, 0.5 - half), (2 * half, 2 * half), 0.1)
        for side in open_sides:
            _lane(brush, colour, side, half)
    for side in open_sides:
        dx, dy = STEPS[side]
        for a, b in ((0.1, 0.2), (0.34, 0.44)):
            brush.line(mix(PAVING, WHITE, 0.75), [(0.5 + a * dx, 0.5 + a * dy), (0.5 + b * dx, 0.5 + b * dy)], 0.035)


def _lane(brush: Brush, colour: Colour, side: int, half: float) -> None:
    """From the middle of the cell to one side."""
    dx, dy = STEPS[side]
    if dx:
        brush.box(colour, (0.5 if dx > 0 else 0.0, 0.5 - half), (0.5, 2 * half))
    else:
        brush.box(colour, (0.5 - half, 0.5 if dy > 0 else 0.0), (2 * half, 0.5))


def _fortress(brush: Brush, joined: tuple[bool, ...], variant: int) -> None:
    brush.box(mix(PAVING, STONE, 0.35), (0, 0), (1, 1))
    dark, light = mix(STONE, INK, 0.45), mix(STONE, WHITE, 0.25)
    for colour, grow in ((dark, 0.03), (light, 0.0)):
        brush.box(colour, (0.1 - grow, 0.28 - grow), (0.8 + 2 * grow, 0.62 + 2 * grow))
        for x in (0.1, 0.41, 0.72):
            brush.box(colour, (x - grow, 0.1 - grow), (0.18 + 2 * grow, 0.3))
    for row, y in enumerate((0.4, 0.55, 0.7)):
        brush.line(mix(light, dark, 0.4), [(0.12, y), (0.88, y)], 0.015)
        for x in (0.3, 0.55, 0.8):
            brush.line(mix(light, dark, 0.4), [(x - 0.1 * (row % 2), y), (x - 0.1 * (row % 2), y + 0.15)], 0.015)
    brush.box(dark, (0.4, 0.58), (0.2, 0.32), 0.1)


# Units and moves


@lru_cache(maxsize=1024)
def _token(kind: int, team: int, hp: float, acted: bool, real: bool, cell: int) -> Any:
    body = mix(TEAM_COLOURS[team], ACTED, 0.55) if acted else TEAM_COLOURS[team]
    sign = mix(WHITE, body, 0.25) if acted else WHITE
    radius = (0.12, 0.37)[team]
    brush = Brush(cell, cell, cell)
    brush.box((0, 0, 0, 70), (0.13, 0.16), (0.78, 0.77), radius)
    brush.box(mix(body, INK, 0.5), (0.11, 0.12), (0.77, 0.77), radius)
    brush.box(mix(body, WHITE, 0.3), (0.135, 0.145), (0.72, 0.72), radius - 0.025)
    brush.box(body, (0.135, 0.17), (0.72, 0.695), radius - 0.025)
    brush.text(sign, UNIT_LETTERS[kind], (0.35, 0.43), 0.6)
    for shape in PICTOGRAMS[kind]:
        brush.polygon(mix(sign, body, 0.15), [(0.54 + 0.25 * x, 0.28 + 0.25 * y) for x, y in shape])
    _hp_badge(brush, hp, real, acted)
    return brush.result()


def _hp_badge(brush: Brush, hp: float, real: bool, acted: bool) -> None:
    width = 0.5 if real else 0.36
    left = 0.98 - width
    room = left - 0.24
    brush.box(INK, (0.19, 0.71), (room, 0.11), 0.05)
    full = room - 0.04
    brush.box(mix(HEALTH, ACTED, 0.5 * acted), (0.21, 0.73), (full * min(1.0, hp / MAX_HP), 0.07), 0.035)
    brush.box(WHITE, (left - 0.02, 0.63), (width + 0.02, 0.36), 0.12)
    brush.box(INK, (left, 0.65), (width - 0.02, 0.32), 0.1)
    brush.text(WHITE, _hp_text(hp, real), (left + width / 2 - 0.01, 0.82), 0.37, width - 0.05)


def _paint_path(picture: Any, move: LastMove, cell: int) -> None:
    """A dot where the unit came from and an arrow to where it stands, or a halo around it if it stayed."""
    start, end = (move.from_x, move.from_y), (move.x, move.y)
    brush, (a, b), corner = _over(start, end, cell)
    length = hypot(b[0] - a[0], b[1] - a[1])
    for colour, grow in ((WHITE, 0.035), (TEAM_COLOURS[move.team], 0.0)):
        brush.circle(colour, a, (0.17 if length else 0.45) + grow)
        if length:
            ux, uy = (b[0] - a[0]) / length, (b[1] - a[1]) / length
            brush.line(colour, [a, (b[0] - 0.6 * ux, b[1] - 0.6 * uy)], 0.12 + 2 * grow)
            tip = 0.36 - 1.6 * grow
            head = [(-tip, 0.0), (-0.66 - grow, 0.2 + 1.6 * grow), (-0.66 - grow, -0.2 - 1.6 * grow)]
            brush.polygon(colour, [(b[0] + f * ux - s * uy, b[1] + f * uy + s * ux) for f, s in head])
    brush.paint(picture, corner)


def _paint_attack(picture: Any, attacker: tuple[int, int], target: tuple[int, int], cell: int) -> None:
    """Dashes from the attacker, and a burst on the target's near side."""
    brush, (a, b), corner = _over(attacker, target, cell)
    length = hypot(b[0] - a[0], b[1] - a[1])
    ux, uy = (b[0] - a[0]) / length, (b[1] - a[1]) / length
    for i in range(int((length - 0.75) / 0.25)):
        near, far = 0.48 + 0.25 * i, 0.56 + 0.25 * i
        dash = [(a[0] + d * ux, a[1] + d * uy) for d in (near, far)]
        brush.line(INK, dash, 0.13)
        brush.line(ATTACK, dash, 0.08)
    centre = (b[0] - 0.46 * ux, b[1] - 0.46 * uy)
    for colour, size in ((INK, 0.27), (ATTACK, 0.23), (WHITE, 0.11)):
        spokes = [(size * (1.0 if i % 2 == 0 else 0.5), i * pi / 8) for i in range(16)]
        brush.polygon(colour, [(centre[0] + r * cos(turn), centre[1] + r * sin(turn)) for r, turn in spokes])
    brush.paint(picture, corner)


def _over(
    start: tuple[int, int], end: tuple[int, int], cell: int
) -> tuple[Brush, tuple[Point, Point], tuple[int, int]]:
    """A brush over the cells between two cells, the two cells' centres on it, and its corner in the picture."""
    edge, strip = _margins(cell)
    left, top = min(start[0], end[0]), min(start[1], end[1])
    width, height = abs(start[0] - end[0]) + 1, abs(start[1] - end[1]) + 1
    # Drawn anew for every picture, unlike the rest: less smoothing keeps long moves fast.
    brush = Brush(width * cell, height * cell, cell, smoothing=2)
    centres = tuple((x - left + 0.5, y - top + 0.5) for x, y in (start, end))
    return brush, (centres[0], centres[1]), (edge + (left - 1) * cell, strip + edge + (top - 1) * cell)


# The strips above and below the board


@lru_cache(maxsize=64)
def _header(width: int, cell: int, turn: str, mover: int) -> Any:
    strip = _margins(cell)[1]
    brush = Brush(width, strip, strip)
    right = width / strip
    brush.text(WHITE, turn, (0.3, 0.55), 0.56, right / 2 - 0.4, "midleft")
    size = min(2.7, right / 2 - 0.3)
    brush.box(TEAM_COLOURS[mover], (right - 0.25 - size, 0.17), (size, 0.74), (0.12, 0.37)[mover])
    brush.text(WHITE, f"{TEAMS[mover]} to move", (right - 0.25 - size / 2, 0.55), 0.5, size - 0.3)
    return brush.result()


@lru_cache(maxsize=64)
def _footer(width: int, cell: int, sums: tuple[float, float], real: bool) -> Any:
    strip = _margins(cell)[1]
    brush = Brush(width, strip, strip)
    right, words = width / strip, 1.9
    room = right - 2 * words
    share = sums[RED] / (sum(sums) or 1.0)
    brush.text(WHITE, f"HP {_hp_text(sums[RED], real)}", (0.3, 0.45), 0.5, words - 0.45, "midleft")
    brush.text(WHITE, f"HP {_hp_text(sums[BLUE], real)}", (right - 0.3, 0.45), 0.5, words - 0.45, "midright")
    brush.box(mix(TEAM_COLOURS[BLUE], WHITE, 0.1), (words, 0.33), (room, 0.24), 0.12)
    brush.box(mix(TEAM_COLOURS[RED], WHITE, 0.1), (words, 0.33), (room * share, 0.24), 0.12)
    brush.box(FRAME, (words + room * share - 0.03, 0.3), (0.06, 0.3))
    return brush.result()
