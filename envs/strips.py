"""The strips above and below a board: the turn and who is to move, and how the sides stand."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sandtable.envs.palette import FRAME, TEAM_COLOURS, WHITE
from sandtable.envs.window import Brush, Colour, mix

BADGE_RADII = (0.12, 0.37)
"""The corners of the first and of the second player's badge."""


@lru_cache(maxsize=64)
def header(width: int, strip: int, text: str, badge: str, colour: Colour, radius: float) -> Any:
    """A text on the left and a badge on the right, on a surface of width × strip pixels."""
    brush = Brush(width, strip, strip)
    right = width / strip
    brush.text(WHITE, text, (0.3, 0.55), 0.56, right / 2 - 0.4, "midleft")
    size = min(2.7, right / 2 - 0.3)
    brush.box(colour, (right - 0.25 - size, 0.17), (size, 0.74), radius)
    brush.text(WHITE, badge, (right - 0.25 - size / 2, 0.55), 0.5, size - 0.3)
    return brush.result()


@lru_cache(maxsize=64)
def footer(width: int, strip: int, words: tuple[str, str], share: float, room: float = 1.9) -> Any:
    """A bar of which the first side has the share, between words on both sides. room: of the words, in strips."""
    brush = Brush(width, strip, strip)
    right = width / strip
    bar = right - 2 * room
    brush.text(WHITE, words[0], (0.3, 0.45), 0.5, room - 0.45, "midleft")
    brush.text(WHITE, words[1], (right - 0.3, 0.45), 0.5, room - 0.45, "midright")
    brush.box(mix(TEAM_COLOURS[1], WHITE, 0.1), (room, 0.33), (bar, 0.24), 0.12)
    brush.box(mix(TEAM_COLOURS[0], WHITE, 0.1), (room, 0.33), (bar * share, 0.24), 0.12)
    brush.box(FRAME, (room + bar * share - 0.03, 0.3), (0.06, 0.3))
    return brush.result()
