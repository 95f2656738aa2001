"""Warzone as a PettingZoo parallel environment: red and blue choose at the same time."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
from pettingzoo import ParallelEnv

from sandtable.encoders.features.observation import row
from sandtable.envs.duel import ENDED, REFUSED, refuse_draft
from sandtable.envs.screen import FPS, RENDER_MODES
from sandtable.envs.table import refuse_unknown
from sandtable.envs.warzone.drafts import END
from sandtable.envs.warzone.position import PLAYERS, Map, Position
from sandtable.envs.warzone.rulesets import Rules
from sandtable.envs.warzone.table import OPTIONS, Table

_ONE_GAME = np.zeros(1, np.int64)
_BOTH = np.arange(2)


class parallel_env(ParallelEnv):
    """Warzone for two agents at once. Options as for WarzoneEnv, without opponent and side.

    With genes, a step is a turn. With orders, both give one order a step; who has ended its move waits for the other
    and can only end it again, and the turn is played when both have. An illegal action of both is a draw.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES), "name": "warzone_v0", "render_fps": FPS}

    def __init__(
        self,
        map: str | Path | Map | None = None,
        rules: str | Rules = "default",
        start: str | Position = "random",
        action: str = "genes",
        observation: str = "graph",
        on_illegal: str = "forfeit",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        refuse_unknown(options, parallel_env, OPTIONS)
        self._table = table = Table(1, map, rules, start, action, observation, None, "red", on_illegal, **options)
        self.game, self.codec, self._duel = table.game, table.codec, table.duel
        self.possible_agents = list(PLAYERS)
        self.agents: list[str] = []
        # A space of its own for each agent: seeding one must not seed the other's.
        self.action_spaces = {agent: deepcopy(table.action_space) for agent in PLAYERS}
        self.observation_spaces = {agent: deepcopy(table.observer.space) for agent in PLAYERS}
        self.render_mode = render_mode
        self._screen = table.screen(render_mode)
        self._drafts = None if self._duel.drafts is None else np.zeros((2, self.game.move_length), np.int16)
        self._ended = np.zeros(2, np.bool_)

    def observation_space(self, agent: str) -> gymnasium.Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        """Begin a new game. options: {"position": the text of a position} to begin there; others are ignored."""
        if seed is not None:
            self._duel.seed(0, seed)
        self.agents = []
        if options and "position" in options:
            state = self._table.fitting_state(options["position"])
            if state["waiting"]:
                raise ValueError("the position is in the middle of a turn: both players choose at once here")
            self._duel.start_from(state)
        else:
            self._duel.start()
        self.agents = list(PLAYERS)
        self._next_turn()
        self._screen.start(self._duel.states[0])
        return self._show(over=False, illegal=np.zeros(2, np.bool_))

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        if not self.agents:
            raise gymnasium.error.ResetNeeded("the game is over: call reset() before step()")
        chosen = np.array([self._checked(agent, actions) for agent in PLAYERS], np.int64)
        illegal = self._step_moves(chosen) if self._drafts is None else self._step_drafts(chosen, self._drafts)
        rewards, over = self._judge(illegal)
        observations, infos = self._show(over, illegal)
        if over:
            self.agents = []
        ends = dict.fromkeys(PLAYERS, over), dict.fromkeys(PLAYERS, False)
        return observations, dict(zip(PLAYERS, rewards, strict=True)), *ends, infos

    def _checked(self, agent: str, actions: dict[str, Any]) -> Any:
        if agent not in actions:
            raise ValueError(f"no action of {agent}: both players choose at once")
        if not self.action_spaces[agent].contains(actions[agent]):
            raise ValueError(f"action {actions[agent]!r} of {agent} is not in {self.action_spaces[agent]}")
        return actions[agent]

    def _seats(self) -> np.ndarray:
        """The state (2,) once for each player, as if it were to move."""
        seats = np.repeat(self._duel.states, 2)
        seats["leader"] = _BOTH
        return seats

    def _step_moves(self, actions: np.ndarray) -> np.ndarray:
        """Play actions that are whole moves, which are always legal; which were not (2,)."""
        self._play(self.codec.moves(self._seats(), actions))
        return np.zeros(2, np.bool_)

    def _step_drafts(self, actions: np.ndarray, drafts: np.ndarray) -> np.ndarray:
        """Add actions to the moves, and play these when both have ended; which actions were illegal (2,)."""
        codec: Any = self.codec
        seats, choosing = self._seats(), np.flatnonzero(~self._ended)
        illegal = self._ended & (actions != END)
        if self._table.duel.on_illegal == "raise":
            if illegal.any():
                raise ValueError(f"illegal action: {PLAYERS[int(illegal.argmax())]} has ended its move and waits")
            refuse_draft(codec, seats[choosing], drafts[choosing], actions[choosing])
        taken = codec.take(seats, drafts, choosing, actions[choosing])
        illegal[choosing] = taken == REFUSED
        self._ended[choosing] = taken == ENDED
        if self._ended.all():
            self._play(drafts)
        return illegal

    def _play(self, rows: np.ndarray) -> None:
        for move in rows:
            self._duel.play(_ONE_GAME, move[None])
        self._next_turn()

    def _next_turn(self) -> None:
        self._ended[:] = False
        if self._drafts is not None:
            self._drafts[:] = 0

    def _judge(self, illegal: np.ndarray) -> tuple[list[float], bool]:
        """The rewards of both, and whether the game is over."""
        if illegal.any() and self._duel.on_illegal == "forfeit":
            red, blue = (float(one) for one in illegal)
            return [blue - red, red - blue], True
        outcome = self.game.outcome(self._duel.states[0])
        return [outcome, -outcome], self.game.done(self._duel.states[0])

    def _show(self, over: bool, illegal: np.ndarray) -> tuple[dict, dict]:
        """Observations and infos of both."""
        observations, masks = self._table.observer.observe(
            self._seats(), _BOTH, self._ended | np.bool_(over), self._drafts
        )
        infos: dict[str, dict[str, Any]] = {agent: {} for agent in PLAYERS}
        if masks is not None:
            shown = [masks] if self._table.observer.is_graph else [masks, observations["action_mask"]]
            for array in shown:
                array[self._ended, END] = not over
        for i, agent in enumerate(PLAYERS):
            if masks is not None:
                infos[agent]["action_mask"] = masks[i]
            if illegal[i]:
                infos[agent]["illegal_action"] = True
        return {agent: row(observations, i) for i, agent in enumerate(PLAYERS)}, infos

    def render(self) -> Any:
        return self._screen.render(self._duel.states[0])

    def close(self) -> None:
        self._screen.close()
