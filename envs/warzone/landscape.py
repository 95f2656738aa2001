"""The ground of a picture: where everything stands, the coast, the borders and the bonuses of a map.

It is worked out pixel by pixel, once for each map: land is where the links between neighbours are near, every pixel of
it belongs to the nearest territory, and a bonus is a band around the ways between its territories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise, permutations

import numpy as np

from sandtable.envs.palette import FRAME, INK, WHITE
from sandtable.envs.warzone.position import Bonus, Map
from sandtable.envs.window import Colour, Point, mix

SEA: Colour = (66, 102, 122)
FOAM: Colour = (134, 172, 184)
BONUS_COLOURS: tuple[Colour, ...] = (
    (214, 158, 20), (46, 134, 84), (130, 82, 168), (196, 98, 26), (20, 132, 140), (190, 78, 134), (112, 122, 30),
    (122, 88, 60), (84, 96, 190), (70, 148, 40),
)  # fmt: skip

_WIDEST, _NARROWEST = 1120.0, 620.0
_LONG = 2.0  # links this much longer than the usual one cross the sea
_ROUND = 0.7  # and those over this share of the picture go round the world


@dataclass(frozen=True)
class Layout:
    """Where a map's territories stand in a picture of width × height pixels, strips included."""

    width: int
    height: int
    strip: int
    unit: float
    """The distance that two territories need to stand side by side."""
    centres: tuple[Point, ...]
    """In pixels of the picture."""


@lru_cache(maxsize=16)
def layout(map_: Map, unit: int) -> Layout:
    """The layout of a map whose places are known. unit: pixels that a territory needs, if the map is not too large."""
    places = np.array(map_.places)
    low, high = places.min(0), places.max(0)
    span = np.maximum(high - low, 1e-6)
    scale = np.clip(1.3 * unit / _nearest(places), _NARROWEST / span.max(), _WIDEST / span.max())
    size = min(float(unit), max(scale * _nearest(places) / 1.1, 0.5 * unit))
    strip, edge = round(0.72 * unit), 1.35 * size
    centres = edge + (places - low) * scale
    width, height = (round(2 * edge + length) for length in span * scale)
    return Layout(width, height + 2 * strip, strip, size, tuple((float(x), float(y) + strip) for x, y in centres))


def _nearest(places: np.ndarray) -> float:
    apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    np.fill_diagonal(apart, np.inf)
    return float(np.quantile(apart.min(1), 0.1)) or 1e-6


@lru_cache(maxsize=16)
def sea_links(map_: Map, unit: int) -> frozenset[tuple[int, int]]:
    """The edges that are drawn as ways over the sea, for they are long."""
    centres = np.array(layout(map_, unit).centres)
    lengths = {(a, b): float(np.hypot(*(centres[a] - centres[b]))) for a, b in map_.edges}
    usual = float(np.median(list(lengths.values())))
    return frozenset(edge for edge, length in lengths.items() if length > _LONG * usual)


def ways_of(plan: Layout, a: int, b: int) -> tuple[tuple[Point, Point], ...]:
    """From territory a to b in pixels. A way round the world is two: out at one side and in at the other."""
    start, end = plan.centres[a], plan.centres[b]
    apart = end[0] - start[0]
    if abs(apart) < _ROUND * plan.width:
        return ((start, end),)
    round_ = plan.width if apart < 0 else -plan.width
    return (start, (end[0] + round_, end[1])), ((start[0] - round_, start[1]), end)


@dataclass(frozen=True)
class Ground:
    """What stays the same in all pictures of a map; pixels of the board between the strips (h, w)."""

    territory: np.ndarray
    """(h, w) int: whose land it is."""
    land: np.ndarray
    """(h, w, 1) float32: from 0 (sea) to 1 (land)."""
    shade: np.ndarray
    """(h, w, 1) float32: how dark borders and coasts are drawn, from 0 to 1."""
    sea: np.ndarray
    """(h, w, 3) float32: colours of the water."""
    tint: np.ndarray
    """(h, w, 4) float32: the bonuses' colours, and how much they cover."""


@lru_cache(maxsize=8)
def ground(map_: Map, unit: int) -> Ground:
    plan = layout(map_, unit)
    height, width = plan.height - 2 * plan.strip, plan.width
    centres = np.array(plan.centres) - (0, plan.strip)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    links = [edge for edge in map_.edges if edge not in sea_links(map_, unit)]
    nearness = _nearness(x, y, centres, links, plan.unit)
    land = np.clip((nearness - 1.0) * 6.0 + 0.5, 0.0, 1.0)[..., None]
    territory, border = _cells(x, y, centres)
    coast = np.clip(1.0 - np.abs(nearness - 1.06) * 9.0, 0.0, 1.0) * 0.55
    shade = np.maximum(np.clip(1.3 - border, 0.0, 1.0) * 0.5, coast)[..., None]
    foam = np.clip((nearness - 0.45) / 0.55, 0.0, 1.0)[..., None] ** 2
    sea = np.array(SEA, np.float32) * (1 - 0.7 * foam) + np.array(FOAM, np.float32) * (0.7 * foam)
    return Ground(territory, land, shade * land, sea, _tint(map_, plan, centres, (height, width)))


def _nearness(
    x: np.ndarray, y: np.ndarray, centres: np.ndarray, links: Sequence[tuple[int, int]], unit: float
) -> np.ndarray:
    """A sum over territories and links that falls with the distance to them: land is where it is above 1."""
    total = 0.07 * np.sin(x / 17.0 + 1.7) * np.sin(y / 13.0) + 0.05 * np.sin(x / 7.0 + y / 9.0)
    for i in range(len(centres)):
        _add_near(total, x, y, centres[i], centres[i], 0.78 * unit, 2.4)
    for a, b in links:
        _add_near(total, x, y, centres[a], centres[b], 0.52 * unit, 0.9)
    return total


def _add_near(
    total: np.ndarray, x: np.ndarray, y: np.ndarray, a: np.ndarray, b: np.ndarray, reach: float, weight: float
) -> None:
    """Add weight × exp(-(distance to the way from a to b / reach)²)."""
    box = _box(total.shape, np.array([a, b]), 3 * reach)
    apart = _distance(x[box], y[box], a, b)
    total[box] += weight * np.exp(-((apart / reach) ** 2))


def _box(shape: tuple[int, ...], points: np.ndarray, margin: float) -> tuple[slice, slice]:
    """The pixels around some points."""
    low, high = np.maximum(points.min(0) - margin, 0).astype(int), (points.max(0) + margin + 1).astype(int)
    return slice(low[1], min(high[1], shape[0])), slice(low[0], min(high[0], shape[1]))


def _distance(x: np.ndarray, y: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The distance of pixels to the straight way from a to b."""
    along = b - a
    length = float(along @ along) or 1.0
    share = np.clip(((x - a[0]) * along[0] + (y - a[1]) * along[1]) / length, 0.0, 1.0)
    return np.hypot(x - a[0] - share * along[0], y - a[1] - share * along[1])


def _cells(x: np.ndarray, y: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest territory of every pixel, and the distance to the border of its land."""
    first = np.full(x.shape, np.inf, np.float32)
    nearest = np.zeros(x.shape, np.intp)
    # Borders that are a little crooked look like land.
    x, y = x + 3.0 * np.sin(y / 11.0) + 1.5 * np.sin(y / 4.7), y + 3.0 * np.sin(x / 12.0) + 1.5 * np.sin(x / 5.3)
    for i, (cx, cy) in enumerate(centres):
        apart = (x - cx) ** 2 + (y - cy) ** 2
        closer = apart < first
        nearest[closer], first[closer] = i, apart[closer]
    border = np.full(x.shape, np.inf, np.float32)
    for i, (cx, cy) in enumerate(centres):
        step = np.maximum(np.hypot(centres[:, 0] - cx, centres[:, 1] - cy), 1e-6)[nearest]
        edge = ((x - cx) ** 2 + (y - cy) ** 2 - first) / (2 * step)
        border = np.minimum(border, np.where(nearest == i, np.inf, edge))
    return nearest, border


def _rings(bonus: Bonus, ways: Sequence[tuple[int, int]]) -> Iterator[tuple[int, ...]]:
    """Three or four territories that ways join in a ring: what lies between them belongs to the bonus."""
    for size in (3, 4):
        for first, *others in combinations(bonus.territories, size):
            for rest in permutations(others):
                ring = (first, *rest)
                if all((min(way), max(way)) in ways for way in pairwise((*ring, first))):
                    yield ring


def _in_triangle(x: np.ndarray, y: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    turns = [(q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]) for p, q in ((a, b), (b, c), (c, a))]
    return np.logical_or(np.minimum.reduce(turns) >= 0, np.maximum.reduce(turns) <= 0)


def bonus_ways(map_: Map, bonus: Bonus, centres: np.ndarray) -> list[tuple[int, int]]:
    """The edges inside a bonus, and the shortest other ways that make it one piece."""
    inside = set(bonus.territories)
    ways = [(a, b) for a, b in map_.edges if a in inside and b in inside]
    piece = {i: i for i in inside}
    rest = sorted(
        ((a, b) for a in inside for b in inside if a < b),
        key=lambda way: float(np.hypot(*(centres[way[0]] - centres[way[1]]))),
    )
    found = []
    for a, b in (*ways, *rest):
        new = piece[a] != piece[b]
        if new or (a, b) in ways:
            found.append((a, b))
        old = piece[b]
        for i in inside:
            if piece[i] == old:
                piece[i] = piece[a]
    return sorted(set(found)) or [(bonus.territories[0], bonus.territories[0])]


def band_radius(map_: Map, number: int, unit: float) -> float:
    """How far a bonus reaches around its territories: farther than the smaller ones that lie in it."""
    own = set(map_.bonuses[number].territories)
    inner = sum(
        1 for i, other in enumerate(map_.bonuses)
        if i != number and own & set(other.territories) and (len(other.territories), i) < (len(own), number)
    )  # fmt: skip
    return unit * (0.56 + 0.09 * min(inner, 4))


def _tint(map_: Map, plan: Layout, centres: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The bonuses' bands, the wider ones below."""
    tint = np.zeros((*shape, 4), np.float32)
    radii = {i: band_radius(map_, i, plan.unit) for i in range(len(map_.bonuses))}
    for i in sorted(radii, key=lambda i: -radii[i]):
        _paint_band(tint, map_, map_.bonuses[i], centres, radii[i], BONUS_COLOURS[i % len(BONUS_COLOURS)])
    return tint


def _paint_band(tint: np.ndarray, map_: Map, bonus: Bonus, centres: np.ndarray, radius: float, colour: Colour) -> None:
    box = _box(tint.shape[:2], centres[list(bonus.territories)], radius + 2)
    y, x = (axis.astype(np.float32) for axis in np.mgrid[box])
    apart = np.full(x.shape, np.inf, np.float32)
    ways = bonus_ways(map_, bonus, centres)
    for a, b in ways:
        apart = np.minimum(apart, _distance(x, y, centres[a], centres[b]))
    for corners in _rings(bonus, ways):
        for i in range(1, len(corners) - 1):
            apart[_in_triangle(x, y, *centres[[corners[0], corners[i], corners[i + 1]]])] = 0.0
    inside = np.clip(radius - apart + 0.5, 0.0, 1.0)
    line = np.clip(2.2 - np.abs(radius - 1.5 - apart), 0.0, 1.0)
    cover = np.maximum(inside * 0.13, line * 0.95)[..., None]
    under = tint[box]
    together = cover + under[..., 3:] * (1 - cover)
    mixed = np.array(colour, np.float32) * cover + under[..., :3] * under[..., 3:] * (1 - cover)
    tint[box] = np.concatenate([mixed / np.maximum(together, 1e-6), together], axis=-1)


def paint_land(map_: Map, unit: int, colours: Sequence[Colour]) -> np.ndarray:
    """The whole picture (height, width, 3) uint8 with the land in its owners' colours; the strips are empty."""
    plan, place = layout(map_, unit), ground(map_, unit)
    land = np.array(colours, np.float32)[place.territory]
    land = land * (1 - place.shade) + np.array(mix(INK, WHITE, 0.1), np.float32) * place.shade
    board = place.sea * (1 - place.land) + land * place.land
    board = board * (1 - place.tint[..., 3:]) + place.tint[..., :3] * place.tint[..., 3:]
    picture = np.empty((plan.height, plan.width, 3), np.uint8)
    picture[:] = FRAME
    picture[plan.strip : plan.height - plan.strip] = np.rint(board)
    return picture
