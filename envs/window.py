"""Drawing and showing pictures with pygame, the same for every game.

Pictures are arrays of shape (height, width, 3), uint8. They are drawn on surfaces off the screen, so that a machine
without a display can draw; only a `Window` opens one. pygame-ce is an optional extra and is imported on first use.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled

Colour = tuple[int, int, int]
Point = tuple[float, float]

SMOOTHING = 3


def load_pygame() -> Any:
    """The pygame module, ready to draw off the screen."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
        import pygame.font
        import pygame.surfarray
    except ImportError as error:
        raise DependencyNotInstalled('drawing needs pygame-ce: pip install "sandtable[render]"') from error
    if not pygame.font.get_init():
        pygame.font.init()
    return pygame


def mix(a: Colour, b: Colour, share: float) -> Colour:
    """The colour on the way from `a` to `b`."""
    red, green, blue = (round(p + (q - p) * share) for p, q in zip(a, b, strict=True))
    return red, green, blue


def to_picture(surface: Any) -> np.ndarray:
    """The surface's pixels, shape (height, width, 3) uint8; pygame itself counts columns first."""
    return np.ascontiguousarray(load_pygame().surfarray.array3d(surface).swapaxes(0, 1))


def save_png(picture: np.ndarray, path: str | Path) -> None:
    """Writes a picture (height, width, 3) to a file."""
    pygame = load_pygame()
    pygame.image.save(pygame.surfarray.make_surface(picture.swapaxes(0, 1)), str(path))


class Brush:
    """Draws smooth shapes on a piece of a picture; lengths and places are fractions of `unit` pixels.

    It draws `smoothing` times larger and scales down, because pygame's own shapes have jagged edges; the time grows
    with the square of it.
    """

    def __init__(
        self, width: int, height: int, unit: float, background: Colour | None = None, smoothing: int = SMOOTHING
    ) -> None:
        self._pygame = load_pygame()
        self._size = (width, height)
        self._scale = unit * smoothing
        self._surface = self._pygame.Surface((width * smoothing, height * smoothing), self._pygame.SRCALPHA, 32)
        self._surface.fill((0, 0, 0, 0) if background is None else background)

    def _at(self, point: Point) -> Point:
        return point[0] * self._scale, point[1] * self._scale

    def polygon(self, colour: Sequence[int], points: Sequence[Point]) -> None:
        self._pygame.draw.polygon(self._surface, colour, [self._at(p) for p in points])

    def circle(self, colour: Sequence[int], centre: Point, radius: float, ring: float = 0.0) -> None:
        """A disc, or a ring of that thickness inside the radius."""
        thick = max(1, round(ring * self._scale)) if ring else 0
        self._pygame.draw.circle(self._surface, colour, self._at(centre), radius * self._scale, thick)

    def box(self, colour: Sequence[int], corner: Point, size: Point, radius: float = 0.0) -> None:
        """A filled rectangle with rounded corners."""
        (left, top), (right, bottom) = self._at(corner), self._at((corner[0] + size[0], corner[1] + size[1]))
        frame = (round(left), round(top), round(right) - round(left), round(bottom) - round(top))
        self._pygame.draw.rect(self._surface, colour, frame, border_radius=round(radius * self._scale))

    def line(self, colour: Sequence[int], points: Sequence[Point], thick: float) -> None:
        """A line through the points with round joints and ends."""
        for a, b in pairwise(points):
            self._segment(colour, a, b, thick / 2)
        for point in points:
            self.circle(colour, point, thick / 2)

    def _segment(self, colour: Sequence[int], a: Point, b: Point, half: float) -> None:
        along = np.subtract(b, a)
        length = float(np.hypot(*along))
        if length:
            side = np.array((-along[1], along[0])) * (half / length)
            self.polygon(colour, [tuple(p) for p in (a + side, b + side, b - side, a - side)])

    def text(
        self, colour: Sequence[int], text: str, centre: Point, size: float, room: float = 0.0, anchor: str = "center"
    ) -> None:
        """Text whose `anchor` (a pygame name such as "midleft") is at `centre`; made smaller to fit in `room`."""
        # Fonts are not kept: whoever calls pygame.quit() in this process would leave dead ones behind.
        font = self._pygame.font.Font(None, max(1, round(size * self._scale)))
        width = font.size(text)[0] / self._scale
        if room and width > room:
            font = self._pygame.font.Font(None, max(1, int(size * self._scale * room / width)))
        drawn = font.render(text, True, colour)
        self._surface.blit(drawn, drawn.get_rect(**{anchor: [round(c) for c in self._at(centre)]}))

    def paint(self, onto: Any, corner: tuple[int, int] = (0, 0)) -> None:
        """Lays what was drawn over another surface."""
        blend(onto, self.result(), corner)

    def result(self) -> Any:
        """What was drawn, at its true size; its colours are multiplied by alpha (see `blend`)."""
        # Scaling plain alpha would mix the black of the empty pixels into every edge.
        return self._pygame.transform.smoothscale(self._surface.premul_alpha(), self._size)


def blend(onto: Any, piece: Any, corner: tuple[int, int]) -> None:
    """Lays a brush's result over a surface."""
    onto.blit(piece, corner, special_flags=load_pygame().BLEND_PREMULTIPLIED)


class Window:
    """A window that shows pictures. It opens with the first one, and again after `close`.

    When the person closes it, the game goes on unseen: `show` does nothing until `close` is called.
    """

    def __init__(self, title: str = "sandtable") -> None:
        self.title = title
        self.dismissed = False
        """Whether the person has closed it."""
        self._clock: Any = None

    def show(self, picture: np.ndarray, fps: float = 0) -> None:
        """Shows a picture (height, width, 3) uint8 and waits so that no more than `fps` come in a second (0: never)."""
        if self.dismissed:
            return
        pygame = load_pygame()
        screen = self._screen(pygame, (picture.shape[1], picture.shape[0]))
        pygame.surfarray.blit_array(screen, picture.swapaxes(0, 1))
        pygame.display.flip()
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()
            self.dismissed = True
        elif fps:
            self._clock.tick(fps)

    def _screen(self, pygame: Any, size: tuple[int, int]) -> Any:
        if self._clock is None:
            self._clock = pygame.time.Clock()
        if not pygame.display.get_init():
            pygame.display.init()
        # pygame has one screen for the whole process: somebody else may have closed or resized it meanwhile.
        screen = pygame.display.get_surface()
        if screen is None or screen.get_size() != size:
            screen = pygame.display.set_mode(size)
        pygame.display.set_caption(self.title)
        return screen

    def close(self) -> None:
        """Closes the window if it is open; the next picture opens a new one."""
        if self._clock is not None:
            load_pygame().display.quit()
        self._clock = None
        self.dismissed = False
