"""A game as a native batch environment: many games stepped in compiled code at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from sandtable.envs.table import GameTable


class GameVectorEnv(VectorEnv):
    """Many games of one kind, each the same, step by step, as the single environment with its seed.

    A game that is over begins anew at the next step, whose action is then not looked at (Gymnasium's NEXT_STEP).
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}  # noqa: RUF012  (declared so by the base class)

    def __init__(self, table: GameTable) -> None:
        self._table, self._duel = table, table.duel
        self.num_envs = num_envs = table.duel.n
        self.game, self.codec = table.game, table.codec
        self.render_mode = None
        self.single_action_space, self.single_observation_space = table.action_space, table.observer.space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._names = np.array(table.game.players, object)
        self._over = np.ones(num_envs, np.bool_)
        self._masks: np.ndarray | None = None
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
        actions = self._checked(np.asarray(actions))
        running = None if not self._over.any() else np.flatnonzero(~self._over)
        rewards, over, illegal = self._duel.step(actions, running)
        if running is not None:
            self._duel.start(np.flatnonzero(self._over))
        self._over = over
        info = {"illegal_action": illegal, "_illegal_action": illegal.copy()} if illegal.any() else {}
        observations, info = self._show(info)
        return observations, rewards, over.copy(), np.zeros(self.num_envs, np.bool_), info

    def _checked(self, actions: np.ndarray) -> np.ndarray:
        """The actions (num_envs, …) as int64; what is none of the space is refused."""
        shape, top = (self.num_envs, *(self.codec.space.shape or ())), self.codec.top
        if actions.shape != shape or actions.dtype.kind not in "iu":
            wanted = " × ".join(map(str, shape))
            raise ValueError(f"actions must be {wanted} whole numbers, got {actions.dtype} of {actions.shape}")
        if actions.min() < 0 or actions.max() > top:
            raise ValueError(f"actions go from 0 to {top}, got {actions.min()} to {actions.max()}")
        return actions.astype(np.int64)

    def _seeds(self, seed: int | list[int | None] | None) -> list[int | None]:
        if isinstance(seed, int):
            return [seed + i for i in range(self.num_envs)]
        return [None] * self.num_envs if seed is None else list(seed)

    def action_masks(self) -> np.ndarray:
        """Which actions are legal, (num_envs, …) bool."""
        return self._table.masks(self._over) if self._masks is None else self._masks.astype(np.bool_)

    def _show(self, info: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        observations, self._masks = self._table.see(self._duel.sides, self._over)
        if self._masks is not None:
            info["action_mask"], info["_action_mask"] = self._masks, self._everybody.copy()
        info["player"], info["_player"] = self._names[self._duel.sides], self._everybody.copy()
        return tuple(observations) if self._table.observer.is_graph else observations, info


def refuse_bad_batch(num_envs: Any, render_mode: str | None) -> None:
    """Refuse what is no number of games, and a render mode."""
    if type(num_envs) is not int or num_envs < 1:
        raise ValueError(f"num_envs={num_envs!r} must be a whole number of at least 1")
    if render_mode is not None:
        raise ValueError(f"render_mode={render_mode!r}: the batch environment draws nothing; use gym.make")
