"""The board under the units: tiles of terrain, and the coordinates along its edges."""

from __future__ import annotations

from functools import lru_cache
from math import pi, sin
from typing import Any

from sandtable.envs.palette import FRAME, INK, LABEL, WHITE
from sandtable.envs.tubstap.tables import FORBIDDEN, FOREST, FORTRESS, MOUNTAIN, ROAD, SEA
from sandtable.envs.window import Brush, Colour, Point, blend, load_pygame, mix

GRASS: Colour = (196, 212, 152)
WATER: Colour = (112, 168, 204)
FOAM: Colour = (188, 218, 232)
PAVING: Colour = (206, 196, 178)
STONE: Colour = (150, 148, 150)
ROCK: Colour = (150, 132, 116)
LEAVES: Colour = (84, 134, 82)
HATCH: Colour = (56, 60, 70)

STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))  # to the neighbours: north, east, south, west

TILE_COLOURS = (FRAME, GRASS, WATER, mix(GRASS, LEAVES, 0.35), mix(GRASS, ROCK, 0.45), GRASS, STONE)
TUFTS = (((0.2, 0.3), (0.72, 0.7)), ((0.75, 0.25), (0.3, 0.8)), ((0.5, 0.2), (0.16, 0.66)), ((0.85, 0.5), (0.4, 0.4)))


def margins(cell: int) -> tuple[int, int]:
    """Pixels of the edge with coordinates around the board, and of the strips above and below it."""
    return round(0.4 * cell), round(0.72 * cell)


@lru_cache(maxsize=8)
def board(terrain: tuple[tuple[int, ...], ...], cell: int) -> Any:
    """The picture without units and words: all that stays the same during a game."""
    pygame = load_pygame()
    edge, strip = margins(cell)
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
    edge, strip = margins(cell)
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
