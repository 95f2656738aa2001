"""TUBSTAP as a PettingZoo AEC environment: the agents red and blue, each acting until its turn is over."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from sandtable.encoders.features.observation import row
from sandtable.envs.screen import FPS, RENDER_MODES, Screen
from sandtable.envs.tubstap.position import Map
from sandtable.envs.tubstap.rulesets import Rules
from sandtable.envs.tubstap.table import Table, fitting_state, refuse_unknown
from sandtable.envs.tubstap.tables import TEAMS


def env(**options: Any) -> AECEnv:
    """The environment in PettingZoo's usual wrappers: misuse is answered with a clear error."""
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(raw_env(**options)))


class raw_env(AECEnv):
    """TUBSTAP for two agents. Options as for TubstapEnv, without opponent and side."""

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(RENDER_MODES),
        "name": "tubstap_v0",
        "is_parallelizable": False,
        "render_fps": FPS,
    }

    def __init__(
        self,
        map: str | Path | Map = "li-symmetric",
        rules: str | Rules = "official",
        observation: str = "graph",
        on_illegal: str = "forfeit",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        refuse_unknown(options, raw_env)
        table = Table(1, map, rules, observation, None, "red", on_illegal, **options)
        self.game, self.codec, self._observer, self._duel = table.game, table.codec, table.observer, table.duel
        self.possible_agents = list(TEAMS)
        # A space of its own for each agent: seeding one must not seed the other's.
        self.action_spaces = {agent: deepcopy(table.action_space) for agent in TEAMS}
        self.observation_spaces = {agent: deepcopy(table.observer.space) for agent in TEAMS}
        self.render_mode = render_mode
        self._screen = Screen(self.game, render_mode)
        if render_mode is not None:
            self._duel.watch = self._screen.see

    def observation_space(self, agent: str) -> gymnasium.Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new game. options: {"position": the text of a position} to begin there; others are ignored."""
        if seed is not None:
            self._duel.seed(0, seed)
        if options and "position" in options:
            self._duel.start_from(fitting_state(self.game, options["position"]))
        else:
            self._duel.start()
        self.agents = list(TEAMS)
        self.rewards = dict.fromkeys(TEAMS, 0.0)
        self._cumulative_rewards = dict.fromkeys(TEAMS, 0.0)
        self.terminations = dict.fromkeys(TEAMS, False)
        self.truncations = dict.fromkeys(TEAMS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in TEAMS}
        self.agent_selection = TEAMS[self._duel.sides[0]]
        self._screen.start(self._duel.states[0])

    def observe(self, agent: str) -> Any:
        """What the agent sees. Its mask, which stands in infos from now on, is all zero unless it is to move."""
        idle = np.array([agent != self.agent_selection or self.terminations[agent]])
        observations, masks = self._observer.observe(self._duel.states, np.array([TEAMS.index(agent)]), idle)
        self.infos[agent]["action_mask"] = masks[0]
        return row(observations, 0)

    def action_masks(self) -> np.ndarray:
        """Which actions are legal for the agent to move, (n,) bool."""
        over = np.array([self.terminations[self.agent_selection]])
        return self.codec.masks(self._duel.states, over)[0].astype(np.bool_)

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if not self.action_spaces[agent].contains(action):
            raise ValueError(f"action {action!r} is not in {self.action_spaces[agent]}")
        mover = self._duel.sides[0]
        rewards, over, illegal = self._duel.step(np.array([action], np.int64))
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent] = {"illegal_action": True} if illegal[0] else {}
        self.rewards = {TEAMS[mover]: float(rewards[0]), TEAMS[1 - mover]: -float(rewards[0])}
        if over[0]:
            self.terminations = dict.fromkeys(TEAMS, True)
        self.agent_selection = TEAMS[self._duel.sides[0]]
        self._accumulate_rewards()

    def render(self) -> Any:
        return self._screen.render(self._duel.states[0])

    def close(self) -> None:
        self._screen.close()
