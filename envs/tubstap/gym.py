"""TUBSTAP as a Gymnasium environment: one side against an opponent, or both sides in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from inspect import signature
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from sandtable.encoders.features.observation import Observer, row
from sandtable.envs.duel import ON_ILLEGAL, Duel
from sandtable.envs.screen import FPS, RENDER_MODES, Screen
from sandtable.envs.tubstap.actions import ActionCodec
from sandtable.envs.tubstap.game import Tubstap
from sandtable.envs.tubstap.position import Map
from sandtable.envs.tubstap.rulesets import Rules
from sandtable.envs.tubstap.tables import TEAMS
from sandtable.names import unknown_name

_MAP_OPTIONS = ("rollouts",)  # of li-local-search
_RUNNING = np.zeros(1, np.bool_)


class Table:
    """A game with its actions and observations, as every environment of TUBSTAP sets it up."""

    def __init__(
        self,
        n: int,
        map: str | Path | Map = "li-symmetric",
        rules: str | Rules = "official",
        observation: str = "graph",
        opponent: Any = "random",
        side: str = "red",
        on_illegal: str = "forfeit",
        **options: Any,
    ) -> None:
        one_of("side", side, (*TEAMS, "random"))
        one_of("on_illegal", on_illegal, ON_ILLEGAL)
        self.game = Tubstap(map=map, rules=rules, **options)
        self.codec = ActionCodec(self.game)
        self.observer = Observer(self.game, self.codec, observation)
        self.action_space = spaces.Discrete(self.codec.n)
        number = None if side == "random" else TEAMS.index(side)
        self.duel = Duel(self.game, self.codec, n, _make_opponent(opponent), number, on_illegal)


def refuse_unknown(options: dict[str, Any], environment: Callable[..., Any]) -> None:
    """Refuse names that are options neither of the environment, nor of the rules or a source of maps."""
    own = [name for name in signature(environment).parameters if name != "options"]
    valid = [*own, *(field.name for field in fields(Rules)), *_MAP_OPTIONS]
    for name in options:
        if name not in valid:
            raise ValueError(unknown_name("option", name, valid))


def one_of(name: str, value: Any, valid: tuple[Any, ...]) -> None:
    """Refuse an option's value that is none of the valid ones."""
    if value not in valid:
        raise ValueError(unknown_name(name, value, [str(v) for v in valid]))


def _make_opponent(opponent: Any) -> Any:
    if opponent is None:
        return None
    # The one late look-up: environments know nothing of agents but their registry.
    from sandtable.agents.registry import make_agent

    return make_agent(opponent)


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
        self._screen.clear()
        self._over = True
        position = _position_option(options)
        if position is None:
            self._duel.start()
        else:
            self._duel.start_from(fitting_state(self.game, position))
        self._over = False
        return self._show(_RUNNING)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self._over:
            raise gymnasium.error.ResetNeeded("the game is over: call reset() before step()")
        if not self.action_space.contains(action):
            raise ValueError(f"action {action!r} is not in {self.action_space}")
        before = self._duel.states.copy() if self.render_mode else None
        actions = np.array([action], np.int64)
        rewards, over, illegal = self._duel.step(actions)
        if before is not None and not illegal[0]:
            self._screen.remember(before[0], self.codec.moves(before, actions)[0])
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
        self._screen.update(self.state)
        return row(observations, 0), {"action_mask": self._mask, "player": TEAMS[self._duel.sides[0]]}

def fitting_state(game: Tubstap, text: str) -> np.void:
    """The state of a position, which must fit the spaces of an environment of this game."""
    state = game.from_text(text)
    units = max(np.count_nonzero(side >= 0) for side in np.split(state["id"], 2))
    size = (int(state["width"]), int(state["height"]))
    if size != (game.width, game.height) or units > game.units_a_side:
        raise ValueError(
            f"the position has {size[0]}x{size[1]} cells and {units} units a side; this environment is made for "
            f"{game.width}x{game.height} and at most {game.units_a_side}"
        )
    if state.dtype != game.dtype:
        raise ValueError(f"the position's HP are not {game.rules.hp}, as the environment's are")
    return state


def _position_option(options: dict[str, Any] | None) -> str | None:
    for name in options or {}:
        if name != "position":
            raise ValueError(unknown_name("option of reset", name, ["position"]))
    return (options or {}).get("position")
