"""TUBSTAP as a Gymnasium environment: one side against an opponent, or both sides in turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from sandtable.encoders.features.observation import row
from sandtable.envs.duel import OpponentError
from sandtable.envs.screen import FPS, RENDER_MODES, Screen
from sandtable.envs.tubstap.game import Tubstap
from sandtable.envs.tubstap.position import Map
from sandtable.envs.tubstap.rulesets import Rules
from sandtable.envs.tubstap.table import Table, fitting_state, refuse_unknown
from sandtable.envs.tubstap.tables import TEAMS
from sandtable.names import unknown_name

_RUNNING = np.zeros(1, np.bool_)


class TubstapEnv(gymnasium.Env):
    """TUBSTAP for one learner.

    map: a name, the path of a .tbsmap file or a Map; rules: a ruleset; observation: "graph", "image", "both" or
    "graph_space"; opponent: the text of an agent, a policy, or None to play both sides in turn (the observation
    is the mover's and info["player"] names it); side: "red", "blue" or "random"; on_illegal: what an illegal
    action does, "forfeit" the game, "raise" or "noop"; render_mode: None, "ansi", "rgb_array" or "human";
    options: single options of the rules or of the source of maps. See docs/tubstap.md.

    Legal actions stand in the observation and in info as "action_mask" and are answered by action_masks(). When
    the game is over, by a forfeit too, the mask is all zero.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": FPS}  # noqa: RUF012  (declared so by the base class)

    def __init__(
        self,
        map: str | Path | Map = "li-symmetric",
        rules: str | Rules = "official",
        observation: str = "graph",
        opponent: Any = "random",
        side: str = "red",
        on_illegal: str = "forfeit",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        refuse_unknown(options, TubstapEnv)
        table = Table(1, map, rules, observation, opponent, side, on_illegal, **options)
        self.game: Tubstap = table.game
        self.codec, self._observer, self._duel = table.codec, table.observer, table.duel
        self.action_space, self.observation_space = table.action_space, table.observer.space
        self.render_mode = render_mode
        self._screen = Screen(self.game, render_mode)
        if render_mode is not None:
            self._duel.watch = self._screen.see
        self._mask = np.zeros(self.codec.n, np.int8)
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
            self._duel.start_from(fitting_state(self.game, position))
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
        """Which actions are legal, (n,) bool: the convention of sb3-contrib."""
        return self._mask.astype(np.bool_)

    def render(self) -> Any:
        return self._screen.render(self.state)

    def close(self) -> None:
        self._screen.close()

    def _show(self, over: np.ndarray) -> tuple[Any, dict[str, Any]]:
        observations, masks = self._observer.observe(self._duel.states, self._duel.sides, over)
        self._mask = masks[0]
        return row(observations, 0), {"action_mask": self._mask, "player": TEAMS[self._duel.sides[0]]}


def _position_option(options: dict[str, Any] | None) -> str | None:
    for name in options or {}:
        if name != "position":
            raise ValueError(unknown_name("option of reset", name, ["position"]))
    return (options or {}).get("position")
