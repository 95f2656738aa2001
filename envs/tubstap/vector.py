"""TUBSTAP as a native batch environment: many games stepped in compiled code at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from sandtable.envs.tubstap.position import Map
from sandtable.envs.tubstap.rulesets import Rules
from sandtable.envs.tubstap.table import Table, refuse_unknown
from sandtable.envs.tubstap.tables import TEAMS

_NAMES = np.array(TEAMS, object)


class TubstapVectorEnv(VectorEnv):
    """num_envs games of TUBSTAP, each the same, step by step, as TubstapEnv with its seed.

    A game that is over begins anew at the next step, whose action is then not looked at (Gymnasium's NEXT_STEP).
    Options are those of TubstapEnv; nothing is drawn.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}  # noqa: RUF012  (declared so by the base class)

    def __init__(
        self,
        num_envs: int = 1,
        map: str | Path | Map = "li-symmetric",
        rules: str | Rules = "official",
        observation: str = "graph",
        opponent: Any = "random",
        side: str = "red",
        on_illegal: str = "forfeit",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        if type(num_envs) is not int or num_envs < 1:
            raise ValueError(f"num_envs={num_envs!r} must be a whole number of at least 1")
        if render_mode is not None:
            raise ValueError(f"render_mode={render_mode!r}: the batch environment draws nothing; use gym.make")
        refuse_unknown(options, TubstapVectorEnv)
        table = Table(num_envs, map, rules, observation, opponent, side, on_illegal, **options)
        self.num_envs = num_envs
        self.game, self.codec, self._observer, self._duel = table.game, table.codec, table.observer, table.duel
        self.render_mode = None
        self.single_action_space, self.single_observation_space = table.action_space, table.observer.space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._over = np.ones(num_envs, np.bool_)
        self._masks = np.zeros((num_envs, self.codec.n), np.int8)
        self._everybody = np.ones(num_envs, np.bool_)
        self._begun = False

    @property
    def states(self) -> np.ndarray:
        """The records of the games (num_envs,), to be copied before they are kept."""
        return self._duel.states

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin all games anew. seed: one for the first game and its successors for the others, or a list."""
        if options:
            raise ValueError(f"the batch environment has no options of reset, got {', '.join(options)}")
        if isinstance(seed, np.integer):
            seed = int(seed)
        super().reset(seed=seed if isinstance(seed, int) else None)
        seeds = self._seeds(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds for {self.num_envs} games")
        for i, value in enumerate(seeds):
            if value is not None:
                self._duel.seed(i, value)
        self._duel.start()
        self._over, self._begun = np.zeros(self.num_envs, np.bool_), True
        return self._show({})

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        if not self._begun:
            raise ResetNeeded("call reset() before the first step()")
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise ValueError(f"actions must be {self.num_envs} whole numbers, got {actions.dtype} of {actions.shape}")
        if actions.min() < 0 or actions.max() >= self.codec.n:
            raise ValueError(f"actions go from 0 to {self.codec.n - 1}, got {actions.min()} to {actions.max()}")
        running = None if not self._over.any() else np.flatnonzero(~self._over)
        rewards, over, illegal = self._duel.step(actions.astype(np.int64), running)
        if running is not None:
            self._duel.start(np.flatnonzero(self._over))
        self._over = over
        info = {"illegal_action": illegal, "_illegal_action": illegal.copy()} if illegal.any() else {}
        observations, info = self._show(info)
        return observations, rewards, over.copy(), np.zeros(self.num_envs, np.bool_), info

    def _seeds(self, seed: int | list[int | None] | None) -> list[int | None]:
        if isinstance(seed, int):
            return [seed + i for i in range(self.num_envs)]
        return [None] * self.num_envs if seed is None else list(seed)

    def action_masks(self) -> np.ndarray:
        """Which actions are legal, (num_envs, n) bool."""
        return self._masks.astype(np.bool_)

    def _show(self, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        observations, self._masks = self._observer.observe(self._duel.states, self._duel.sides, self._over)
        info["action_mask"], info["_action_mask"] = self._masks, self._everybody.copy()
        info["player"], info["_player"] = _NAMES[self._duel.sides], self._everybody.copy()
        return tuple(observations) if self._observer.is_graph else observations, info
