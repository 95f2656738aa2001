"""How environments show a game: text, a picture, or a window, with the last move marked."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from sandtable.envs.game import Game, State
from sandtable.envs.window import Window
from sandtable.names import unknown_name

RENDER_MODES = ("ansi", "rgb_array", "human")
FPS = 4


class Screen:
    """Shows the states of one game after another in one render mode (None: not at all)."""

    def __init__(self, game: Game, render_mode: str | None) -> None:
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(unknown_name("render_mode", render_mode, RENDER_MODES))
        self._game, self.mode = game, render_mode
        self._window = Window(f"sandtable: {game.name}") if render_mode == "human" else None
        self._last: tuple[State, np.ndarray] | None = None

    def start(self, state: State) -> None:
        """A game begins at this state."""
        self._last = None
        self._update(state)

    def see(self, before: State, move: np.ndarray, state: State) -> None:
        """A move was played; it is marked from now on."""
        self._last = (before, move.copy())
        self._update(state)

    def _update(self, state: State) -> None:
        if self.mode == "human":
            self.render(state)

    def render(self, state: State) -> Any:
        """The text or the picture of the state; for "human" the window shows it."""
        if self.mode is None:
            gymnasium.logger.warn(f"render() needs a render_mode: one of {', '.join(RENDER_MODES)}")
            return None
        if self.mode == "ansi":
            return self._text(state)
        picture = self._picture(state)
        if self._window is None:
            return picture
        self._window.show(picture, FPS)
        return None

    def _text(self, state: State) -> str:
        return self._game.ansi(state, self._last)

    def _picture(self, state: State) -> np.ndarray:
        return self._game.picture(state, self._last)

    def close(self) -> None:
        if self._window is not None:
            self._window.close()
