"""TUBSTAP as a PettingZoo AEC environment: the agents red and blue, each acting until its turn is over."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from pettingzoo import AECEnv

from sandtable.envs.aec import GameAECEnv, wrapped
from sandtable.envs.screen import FPS, RENDER_MODES
from sandtable.envs.table import refuse_unknown
from sandtable.envs.tubstap.actions import ActionCodec
from sandtable.envs.tubstap.game import OPTIONS, Tubstap
from sandtable.envs.tubstap.position import Map
from sandtable.envs.tubstap.rulesets import Rules
from sandtable.envs.tubstap.table import Table


def env(**options: Any) -> AECEnv:
    """The environment in PettingZoo's usual wrappers: misuse is answered with a clear error."""
    return wrapped(raw_env(**options))


class raw_env(GameAECEnv):
    """TUBSTAP for two agents. Options as for TubstapEnv, without opponent and side."""

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(RENDER_MODES),
        "name": "tubstap_v0",
        "is_parallelizable": False,
        "render_fps": FPS,
    }
    game: Tubstap
    codec: ActionCodec

    def __init__(
        self,
        map: str | Path | Map = "li-symmetric",
        rules: str | Rules = "official",
        observation: str = "graph",
        on_illegal: str = "forfeit",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        refuse_unknown(options, raw_env, OPTIONS)
        super().__init__(Table(1, map, rules, observation, None, "red", on_illegal, **options), render_mode)
