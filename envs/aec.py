"""A game as a PettingZoo AEC environment: the two players as agents, each acting until its turn is over."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from sandtable.encoders.features.observation import row
from sandtable.envs.table import GameTable


def wrapped(env: AECEnv) -> AECEnv:
    """The environment in PettingZoo's usual wrappers: misuse is answered with a clear error."""
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))


class GameAECEnv(AECEnv):
    """A game for two agents; each game has its own, which says what its options are."""

    def __init__(self, table: GameTable, render_mode: str | None) -> None:
        super().__init__()
        self._table, self._duel = table, table.duel
        self.game, self.codec = table.game, table.codec
        self.possible_agents = list(table.game.players)
        # A space of its own for each agent: seeding one must not seed the other's.
        self.action_spaces = {agent: deepcopy(table.action_space) for agent in self.possible_agents}
        self.observation_spaces = {agent: deepcopy(table.observer.space) for agent in self.possible_agents}
        self.render_mode = render_mode
        self._screen = table.screen(render_mode)

    def observation_space(self, agent: str) -> gymnasium.Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new game. options: {"position": the text of a position} to begin there; others are ignored."""
        if seed is not None:
            self._duel.seed(0, seed)
        if options and "position" in options:
            self._duel.start_from(self._table.fitting_state(options["position"]))
        else:
            self._duel.start()
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self._mover()
        self._screen.start(self._duel.states[0])

    def _mover(self) -> str:
        return self.possible_agents[self._duel.sides[0]]

    def observe(self, agent: str) -> Any:
        """What the agent sees. Its mask, which stands in infos from now on, is all zero unless it is to move."""
        idle = np.array([agent != self.agent_selection or self.terminations[agent]])
        observations, masks = self._table.see(np.array([self.possible_agents.index(agent)]), idle)
        if masks is not None:
            self.infos[agent]["action_mask"] = masks[0]
        return row(observations, 0)

    def action_masks(self) -> np.ndarray:
        """Which actions are legal for the agent to move, bool."""
        return self._table.masks(np.array([self.terminations[self.agent_selection]]))[0]

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if not self.action_spaces[agent].contains(action):
            raise ValueError(f"action {action!r} is not in {self.action_spaces[agent]}")
        other = self.possible_agents[1 - self._duel.sides[0]]
        rewards, over, illegal = self._duel.step(np.array([action], np.int64))
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent] = {"illegal_action": True} if illegal[0] else {}
        self.rewards = {agent: float(rewards[0]), other: -float(rewards[0])}
        if over[0]:
            self.terminations = dict.fromkeys(self.possible_agents, True)
        self.agent_selection = self._mover()
        self._accumulate_rewards()

    def render(self) -> Any:
        return self._screen.render(self._duel.states[0])

    def close(self) -> None:
        self._screen.close()
