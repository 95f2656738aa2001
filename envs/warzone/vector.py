"""Warzone as a native batch environment: many games stepped in compiled code at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sandtable.envs.table import refuse_unknown
from sandtable.envs.vector import GameVectorEnv, refuse_bad_batch
from sandtable.envs.warzone.game import Warzone
from sandtable.envs.warzone.position import Map, Position
from sandtable.envs.warzone.rulesets import Rules
from sandtable.envs.warzone.table import OPTIONS, Table


class WarzoneVectorEnv(GameVectorEnv):
    """num_envs games of Warzone, each the same, step by step, as WarzoneEnv with its seed.

    A game that is over begins anew at the next step, whose action is then not looked at (Gymnasium's NEXT_STEP).
    Options are those of WarzoneEnv; nothing is drawn.
    """

    game: Warzone

    def __init__(
        self,
        num_envs: int = 1,
        map: str | Path | Map | None = None,
        rules: str | Rules = "default",
        start: str | Position = "random",
        action: str = "genes",
        observation: str = "graph",
        opponent: Any = "random",
        side: str = "red",
        on_illegal: str = "forfeit",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        refuse_bad_batch(num_envs, render_mode)
        refuse_unknown(options, WarzoneVectorEnv, OPTIONS)
        super().__init__(Table(num_envs, map, rules, start, action, observation, opponent, side, on_illegal, **options))
