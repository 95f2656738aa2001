"""TUBSTAP as a native batch environment: many games stepped in compiled code at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sandtable.envs.table import refuse_unknown
from sandtable.envs.tubstap.actions import ActionCodec
from sandtable.envs.tubstap.game import OPTIONS, Tubstap
from sandtable.envs.tubstap.position import Map
from sandtable.envs.tubstap.rulesets import Rules
from sandtable.envs.tubstap.table import Table
from sandtable.envs.vector import GameVectorEnv, refuse_bad_batch


class TubstapVectorEnv(GameVectorEnv):
    """num_envs games of TUBSTAP, each the same, step by step, as TubstapEnv with its seed.

    A game that is over begins anew at the next step, whose action is then not looked at (Gymnasium's NEXT_STEP).
    Options are those of TubstapEnv; nothing is drawn.
    """

    game: Tubstap
    codec: ActionCodec

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
        refuse_bad_batch(num_envs, render_mode)
        refuse_unknown(options, TubstapVectorEnv, OPTIONS)
        super().__init__(Table(num_envs, map, rules, observation, opponent, side, on_illegal, **options))
