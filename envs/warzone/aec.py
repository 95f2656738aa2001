"""Warzone as a PettingZoo AEC environment: the agents red and blue, by turns, neither seeing the other's orders."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from pettingzoo import AECEnv

from sandtable.envs.aec import GameAECEnv, wrapped
from sandtable.envs.screen import FPS, RENDER_MODES
from sandtable.envs.table import refuse_unknown
from sandtable.envs.warzone.game import Warzone
from sandtable.envs.warzone.position import Map, Position
from sandtable.envs.warzone.rulesets import Rules
from sandtable.envs.warzone.table import OPTIONS, Table


def env(**options: Any) -> AECEnv:
    """The environment in PettingZoo's usual wrappers: misuse is answered with a clear error."""
    return wrapped(raw_env(**options))


class raw_env(GameAECEnv):
    """Warzone for two agents; red's move is kept until blue's is in. Options as for WarzoneEnv, without opponent and
    side."""

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(RENDER_MODES),
        "name": "warzone_v0",
        "is_parallelizable": False,  # parallel_env is the real thing
        "render_fps": FPS,
    }
    game: Warzone

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
        refuse_unknown(options, raw_env, OPTIONS)
        table = Table(1, map, rules, start, action, observation, None, "red", on_illegal, **options)
        super().__init__(table, render_mode)
