"""Pictures of positions: the land in its owners' colours, armies as tokens, and the orders of the last turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import cos, hypot, pi, sin
from typing import TYPE_CHECKING, Any

import numpy as np

from sandtable.envs.palette import INK, LABEL, TEAM_COLOURS, WHITE
from sandtable.envs.strips import BADGE_RADII, footer, header
from sandtable.envs.warzone.landscape import BONUS_COLOURS, Layout, band_radius, layout, paint_land, sea_links, ways_of
from sandtable.envs.warzone.maps import with_places
from sandtable.envs.warzone.position import FIRST, NEUTRAL, PLAYERS, SECOND, Map, Order, Position
from sandtable.envs.warzone.rulesets import NO_LIMIT
from sandtable.envs.warzone.validity import income_of
from sandtable.envs.window import Brush, Colour, Point, blend, load_pygame, mix, to_picture

if TYPE_CHECKING:
    from sandtable.envs.warzone.render import LastMove

PARCHMENT: Colour = (226, 217, 192)
STONE: Colour = (112, 110, 104)
DEPLOY: Colour = (40, 132, 62)
BOTH: Colour = (92, 100, 116)
LAND_COLOURS = (PARCHMENT, *(mix(PARCHMENT, colour, 0.5) for colour in TEAM_COLOURS))
_TOKEN = 0.37  # half the size of a token, in units


def draw(
    position: Position, last_move: LastMove | None = None, first_move: LastMove | None = None, unit: int = 52
) -> np.ndarray:
    """A picture (height, width, 3) uint8 whose size depends on the map and `unit`, in pixels, only.

    first_move: what the other player has ordered in the same turn as last_move.
    """
    pygame = load_pygame()
    map_ = with_places(position.map)
    plan = layout(map_, unit)
    land = paint_land(map_, unit, [LAND_COLOURS[owner] for owner in position.owner])
    picture = pygame.surfarray.make_surface(land.swapaxes(0, 1)).convert(32, 0)
    blend(picture, _links(map_, unit), (0, plan.strip))
    blend(picture, _chips(map_, unit, tuple(_holders(position))), (0, plan.strip))
    moves = [move for move in (first_move, last_move) if move is not None]
    blend(picture, _arrows(plan, [(move.player, order) for move in moves for order in move.orders]), (0, plan.strip))
    for i, centre in enumerate(plan.centres):
        piece = _token(position.owner[i], position.armies[i], round(plan.unit))
        blend(picture, piece, (round(centre[0] - piece.get_width() / 2), round(centre[1] - piece.get_height() / 2)))
    blend(picture, _names(map_, unit), (0, plan.strip))
    blend(picture, _deploys(plan, [(move.player, order) for move in moves for order in move.orders]), (0, plan.strip))
    _paint_strips(picture, plan, position)
    return to_picture(picture)


def _holders(position: Position) -> list[int]:
    """Who holds each bonus whole."""
    owners = ({position.owner[i] for i in bonus.territories} for bonus in position.map.bonuses)
    return [owner.pop() if len(owner) == 1 else NEUTRAL for owner in owners]


def _board_brush(plan: Layout, smoothing: int = 2) -> Brush:
    """A brush over the board between the strips."""
    return Brush(plan.width, plan.height - 2 * plan.strip, plan.unit, smoothing=smoothing)


def _on_board(plan: Layout, pixel: Point) -> Point:
    return pixel[0] / plan.unit, (pixel[1] - plan.strip) / plan.unit


def _at(plan: Layout, territory: int) -> Point:
    return _on_board(plan, plan.centres[territory])


def _ways(plan: Layout, a: int, b: int) -> list[tuple[Point, Point]]:
    """The straight ways from one territory to another, as a board's brush takes them."""
    return [(_on_board(plan, start), _on_board(plan, end)) for start, end in ways_of(plan, a, b)]


# What stays the same


@lru_cache(maxsize=8)
def _links(map_: Map, unit: int) -> Any:
    """The ways between neighbours; those over the sea are dashed."""
    plan = layout(map_, unit)
    brush = _board_brush(plan)
    for edge in map_.edges:
        for a, b in _ways(plan, *edge):
            if edge not in sea_links(map_, unit):
                brush.line((*INK, 60), [a, b], 0.05)
                continue
            length = hypot(b[0] - a[0], b[1] - a[1])
            for i in range(round(length / 0.3)):
                brush.line((*WHITE, 150), [_between(a, b, (i + part) * 0.3 / length) for part in (0.0, 0.5)], 0.05)
    return brush.result()


def _between(a: Point, b: Point, share: float) -> Point:
    return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share


@lru_cache(maxsize=8)
def _names(map_: Map, unit: int) -> Any:
    """The territories' names below their tokens."""
    plan = layout(map_, unit)
    brush = _board_brush(plan, smoothing=3)
    for i, name in enumerate(map_.territories):
        x, y = _at(plan, i)
        for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            brush.text((*PARCHMENT, 235), name, (x + 0.022 * dx, y + 0.53 + 0.022 * dy), 0.29, 1.7)
        brush.text(INK, name, (x, y + 0.53), 0.29, 1.7)
    return brush.result()


@lru_cache(maxsize=64)
def _chips(map_: Map, unit: int, holders: tuple[int, ...]) -> Any:
    """The names and values of the bonuses, in the colour of who holds one whole."""
    plan = layout(map_, unit)
    brush = _board_brush(plan, smoothing=3)
    for i, (centre, holder) in enumerate(zip(_chip_places(map_, unit), holders, strict=True)):
        bonus, colour = map_.bonuses[i], BONUS_COLOURS[i % len(BONUS_COLOURS)]
        width, height = _chip_size(map_, i)
        corner = (centre[0] - width / 2, centre[1] - height / 2)
        inner = TEAM_COLOURS[holder - 1] if holder else mix(colour, INK, 0.25)
        brush.box((0, 0, 0, 60), (corner[0] + 0.03, corner[1] + 0.04), (width, height), height / 2)
        brush.box(WHITE if holder else mix(colour, WHITE, 0.35), corner, (width, height), height / 2)
        inset = (corner[0] + 0.035, corner[1] + 0.035)
        brush.box(inner, inset, (width - 0.07, height - 0.07), height / 2 - 0.035)
        brush.text(WHITE, _chip_text(bonus.name, bonus.value), centre, 0.34, width - 0.2)
    return brush.result()


def _chip_text(name: str, value: int) -> str:
    return f"+{value} {name}".strip()


def _chip_size(map_: Map, number: int) -> Point:
    bonus = map_.bonuses[number]
    return 0.36 + 0.128 * len(_chip_text(bonus.name, bonus.value)), 0.4


@lru_cache(maxsize=8)
def _chip_places(map_: Map, unit: int) -> tuple[Point, ...]:
    """On the outline of each bonus, where there is most room."""
    plan = layout(map_, unit)
    tokens = [_at(plan, i) for i in range(len(plan.centres))]
    taken: list[tuple[Point, Point]] = [((x, y + 0.1), (0.9, 1.15)) for x, y in tokens]
    right, bottom = plan.width / plan.unit, (plan.height - 2 * plan.strip) / plan.unit
    places = []
    for number, bonus in enumerate(map_.bonuses):
        size = _chip_size(map_, number)
        reach = band_radius(map_, number, 1.0)
        spots = [_ring(tokens[i], reach, turn) for i in bonus.territories for turn in range(16)]
        spots += [_between(tokens[a], tokens[b], 0.5) for a in bonus.territories for b in bonus.territories if a < b]
        inside = [_clamped(spot, size, right, bottom) for spot in spots]
        best = min(inside, key=lambda spot: sum(_overlap(spot, size, *other) for other in taken))
        places.append(best)
        taken.append((best, size))
    return tuple(places)


def _ring(centre: Point, reach: float, turn: int) -> Point:
    return centre[0] + reach * cos(turn * pi / 8), centre[1] + reach * sin(turn * pi / 8)


def _clamped(spot: Point, size: Point, right: float, bottom: float) -> Point:
    x, y = (min(max(c, s / 2 + 0.1), far - s / 2 - 0.1) for c, s, far in zip(spot, size, (right, bottom), strict=True))
    return x, y


def _overlap(spot: Point, size: Point, other: Point, other_size: Point) -> float:
    """The area that two boxes share."""
    wide, high = (max(0.0, (s + o) / 2 - abs(a - b)) for a, b, s, o in zip(spot, other, size, other_size, strict=True))
    return wide * high


# What changes


@lru_cache(maxsize=1024)
def _token(owner: int, armies: int, size: int) -> Any:
    """Armies: red on a square, blue on a disc, nobody's on a small disc of stone."""
    colour = STONE if owner == NEUTRAL else TEAM_COLOURS[owner - 1]
    half = _TOKEN - 0.06 if owner == NEUTRAL else _TOKEN
    brush = Brush(size, size, size)
    radius = 0.13 if owner == FIRST else half
    for shape, grow, dx, dy in (((0, 0, 0, 80), 0.02, 0.02, 0.045), (mix(colour, INK, 0.5), 0.03, 0.0, 0.0),
                                (mix(colour, WHITE, 0.35), 0.0, 0.0, 0.0), (colour, -0.025, 0.0, 0.012)):  # fmt: skip
        edge = 2 * (half + grow)
        brush.box(shape, (0.5 - half - grow + dx, 0.5 - half - grow + dy), (edge, edge), max(radius + grow, 0.05))
    brush.text(WHITE, _short(armies), (0.5, 0.515), 0.52 if owner else 0.46, 2 * half - 0.1)
    return brush.result()


def _short(armies: int) -> str:
    """At most four characters."""
    for name, size in (("M", 1_000_000), ("k", 1_000)):
        if armies >= 10 * size:
            return f"{armies // size}{name}"
    return str(armies)


def _arrows(plan: Layout, orders: Sequence[tuple[int, Order]]) -> Any:
    """An arrow for everything that was sent, with the number; two that meet pass each other on the right."""
    brush = _board_brush(plan)
    sent: dict[tuple[int, int, int], int] = {}
    for player, (source, destination, armies) in orders:
        if source != destination:
            sent[player, source, destination] = sent.get((player, source, destination), 0) + armies
    lines = [(key[0], _arrow_line(*way), armies) for key, armies in sent.items() for way in _ways(plan, *key[1:])]
    for player, (a, b), _ in lines:
        _paint_arrow(brush, TEAM_COLOURS[player], a, b)
    for player, (a, b), armies in lines:
        _paint_number(brush, TEAM_COLOURS[player], _number_place(a, b), str(armies))
    return brush.result()


def _number_place(a: Point, b: Point) -> Point:
    """On an arrow, or beside a short one."""
    length = hypot(b[0] - a[0], b[1] - a[1]) or 1.0
    x, y = _between(a, b, min(0.45, 0.7 / length))
    aside = 0.22 if length < 0.7 else 0.0
    return x - (b[1] - a[1]) / length * aside, y + (b[0] - a[0]) / length * aside


def _arrow_line(a: Point, b: Point) -> tuple[Point, Point]:
    """From beside one token to beside the other."""
    length = hypot(b[0] - a[0], b[1] - a[1]) or 1.0
    ux, uy = (b[0] - a[0]) / length, (b[1] - a[1]) / length
    aside = 0.13
    start, end = min(0.3, 0.3 * length), min(0.5, 0.42 * length)
    return (
        (a[0] + ux * start - uy * aside, a[1] + uy * start + ux * aside),
        (b[0] - ux * end - uy * aside, b[1] - uy * end + ux * aside),
    )


def _paint_arrow(brush: Brush, colour: Colour, a: Point, b: Point) -> None:
    length = hypot(b[0] - a[0], b[1] - a[1]) or 1.0
    ux, uy = (b[0] - a[0]) / length, (b[1] - a[1]) / length
    for shade, grow in ((WHITE, 0.035), (colour, 0.0)):
        brush.line(shade, [a, (b[0] - 0.12 * ux, b[1] - 0.12 * uy)], 0.13 + 2 * grow)
        head = [(0.12 + 1.6 * grow, 0.0), (-0.18 - grow, 0.18 + 1.6 * grow), (-0.18 - grow, -0.18 - 1.6 * grow)]
        brush.polygon(shade, [(b[0] + f * ux - s * uy, b[1] + f * uy + s * ux) for f, s in head])


def _paint_number(brush: Brush, colour: Colour, centre: Point, text: str) -> None:
    width = 0.2 + 0.12 * len(text)
    for shade, grow in ((colour, 0.03), (WHITE, 0.0)):
        corner = (centre[0] - width / 2 - grow, centre[1] - 0.14 - grow)
        brush.box(shade, corner, (width + 2 * grow, 0.28 + 2 * grow), 0.13)
    brush.text(mix(colour, INK, 0.4), text, (centre[0], centre[1] + 0.01), 0.3)


def _deploys(plan: Layout, orders: Iterable[tuple[int, Order]]) -> Any:
    """What was deployed, at the upper right of the tokens."""
    brush = _board_brush(plan)
    for player, (source, destination, armies) in orders:
        if source == destination:
            x, y = _at(plan, source)
            text = f"+{armies}"
            width = 0.16 + 0.13 * len(text)
            for shade, grow in ((TEAM_COLOURS[player], 0.045), (DEPLOY, 0.0)):
                corner = (x + 0.42 - width / 2 - grow, y - 0.5 - grow)
                brush.box(shade if grow == 0 else WHITE, corner, (width + 2 * grow, 0.28 + 2 * grow), 0.12)
            brush.text(WHITE, text, (x + 0.42, y - 0.35), 0.3)
    return brush.result()


# The strips above and below the board


def _paint_strips(picture: Any, plan: Layout, position: Position) -> None:
    width, height = picture.get_size()
    badge, colour, radius = _badge(position)
    blend(picture, header(width, plan.strip, _turn_text(position), badge, colour, radius), (0, 0))
    red, blue = (_armies(position, owner) for owner in (FIRST, SECOND))
    words = (f"{red} armies, +{income_of(position, FIRST)}", f"{blue} armies, +{income_of(position, SECOND)}")
    share = red / (red + blue or 1)
    blend(picture, footer(width, plan.strip, words, share, 4.2), (0, height - plan.strip))


def _badge(position: Position) -> tuple[str, Colour, float]:
    """Who is to order, or who has won."""
    for player, other in ((0, SECOND), (1, FIRST)):
        if other not in position.owner:
            return f"{PLAYERS[player]} has won", TEAM_COLOURS[player], BADGE_RADII[player]
    if position.rules.turn_limit != NO_LIMIT and position.turn >= position.rules.turn_limit:
        return "a draw", LABEL, BADGE_RADII[1]
    if position.pending is not None:
        return f"{PLAYERS[1]} to order", TEAM_COLOURS[1], BADGE_RADII[1]
    return "both to order", BOTH, BADGE_RADII[1]


def _armies(position: Position, owner: int) -> int:
    return sum(armies for armies, one in zip(position.armies, position.owner, strict=True) if one == owner)


def _turn_text(position: Position) -> str:
    limit = position.rules.turn_limit
    title = f"{position.map.title}, " if position.map.title else ""
    return f"{title}turn {position.turn}" + (f" / {limit}" if limit != NO_LIMIT else "")
