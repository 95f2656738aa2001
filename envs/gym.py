"""A game as a Gymnasium environment: one side against an opponent, or both sides in turn."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from sandtable.encoders.features.observation import row
from sandtable.envs.duel import OpponentError
from sandtable.envs.screen import FPS, RENDER_MODES
from sandtable.envs.table import GameTable
from sandtable.names import unknown_name

_RUNNING = np.zeros(1, np.bool_)


class GameEnv(gymnasium.Env):
    """A game for one learner; each game has its own, which says what its options are."""

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": FPS}  # noqa: RUF012  (declared so by the base class)

    def __init__(self, table: GameTable, render_mode: str | None) -> None:
        self._table, self._duel = table, table.duel
        self.game, self.codec = table.game, table.codec
        self.action_space, self.observation_space = table.action_space, table.observer.space
        self.render_mode = render_mode
        self._screen = table.screen(render_mode)
        self._mask: np.ndarray | None = None
        self._over = True

    @property
    def state(self) -> np.void:
        """The record of the game, to be copied before it is kept."""
        return self._duel.states[0]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a new game. options: {"position": the text of a position} to begin there."""
        super().reset(seed=seed)
        if seed is not None:
            self._duel.seed(0, seed)
        self._over = True
        position = _position_option(options)
        if position is None:
            self._duel.start()
        else:
            self._duel.start_from(self._table.fitting_state(position))
        self._over = False
        self._screen.start(self.state)
        return self._show(_RUNNING)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self._over:
            raise gymnasium.error.ResetNeeded("the game is over: call reset() before step()")
        if not self.action_space.contains(action):
            raise ValueError(f"action {action!r} is not in {self.action_space}")
        try:
            rewards, over, illegal = self._duel.step(np.array([action], np.int64))
        except OpponentError:
            self._over = True
            raise
        self._over = bool(over[0])
        observation, info = self._show(over)
        if illegal[0]:
            info["illegal_action"] = True
        return observation, float(rewards[0]), self._over, False, info

    def action_masks(self) -> np.ndarray:
        """Which actions are legal, bool: the convention of sb3-contrib."""
        if self._mask is None:
            return self._table.masks(np.array([self._over]))[0]
        return self._mask.astype(np.bool_)

    def render(self) -> Any:
        return self._screen.render(self.state)

    def close(self) -> None:
        self._screen.close()

    def _show(self, over: np.ndarray) -> tuple[Any, dict[str, Any]]:
        observations, masks = self._table.see(self._duel.sides, over)
        info: dict[str, Any] = {} if masks is None else {"action_mask": masks[0]}
        self._mask = info.get("action_mask")
        info["player"] = self._table.game.players[self._duel.sides[0]]
        return row(observations, 0), info


def _position_option(options: dict[str, Any] | None) -> str | None:
    for name in options or {}:
        if name != "position":
            raise ValueError(unknown_name("option of reset", name, ["position"]))
    return (options or {}).get("position")
