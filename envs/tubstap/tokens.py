"""Units as tokens on the board, and the marks of the last move."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import cos, hypot, pi, sin
from typing import Any

from sandtable.envs.palette import INK, TEAM_COLOURS, WHITE
from sandtable.envs.tubstap.palette import ACTED, ATTACK, HEALTH
from sandtable.envs.tubstap.tables import MAX_HP, UNIT_LETTERS
from sandtable.envs.tubstap.tiles import margins
from sandtable.envs.window import Brush, Point, mix

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


def hp_text(hp: float, real: bool) -> str:
    # A living unit never reads 0.0.
    return f"{max(hp, 0.1) if hp else 0:.1f}" if real else f"{hp:.0f}"


@lru_cache(maxsize=1024)
def token(kind: int, team: int, hp: float, acted: bool, real: bool, cell: int) -> Any:
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
    brush.text(WHITE, hp_text(hp, real), (left + width / 2 - 0.01, 0.82), 0.37, width - 0.05)


def paint_path(picture: Any, move: LastMove, cell: int) -> None:
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


def paint_attack(picture: Any, attacker: tuple[int, int], target: tuple[int, int], cell: int) -> None:
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
    edge, strip = margins(cell)
    left, top = min(start[0], end[0]), min(start[1], end[1])
    width, height = abs(start[0] - end[0]) + 1, abs(start[1] - end[1]) + 1
    # Drawn anew for every picture, unlike the rest: less smoothing keeps long moves fast.
    brush = Brush(width * cell, height * cell, cell, smoothing=2)
    centres = tuple((x - left + 0.5, y - top + 0.5) for x, y in (start, end))
    return brush, (centres[0], centres[1]), (edge + (left - 1) * cell, strip + edge + (top - 1) * cell)
