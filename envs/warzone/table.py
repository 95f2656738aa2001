"""What every environment of Warzone is set up with."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from sandtable.encoders.features.observation import Observer
from sandtable.encoders.features.warzone import WarzoneGraph, WarzoneImage
from sandtable.envs.screen import Screen
from sandtable.envs.table import GameTable
from sandtable.envs.warzone.actions import make_codec
from sandtable.envs.warzone.game import Warzone
from sandtable.envs.warzone.position import Map, Position
from sandtable.envs.warzone.rulesets import Rules
from sandtable.envs.warzone.turns import TurnScreen

OPTIONS = (*(field.name for field in fields(Rules)), "candidates")
"""What the game takes beside map, rules and start."""


class Table(GameTable):
    """A game with its actions and observations, as every environment of Warzone sets it up."""

    game: Warzone

    def __init__(
        self,
        n: int,
        map: str | Path | Map | None = None,
        rules: str | Rules = "default",
        start: str | Position = "random",
        action: str = "genes",
        observation: str = "graph",
        opponent: Any = "random",
        side: str = "red",
        on_illegal: str = "forfeit",
        **options: Any,
    ) -> None:
        game = Warzone(map=map, rules=rules, start=start, **options)
        codec = make_codec(game, action)
        drafting = action == "orders"
        observer = Observer(WarzoneGraph(game, drafting), WarzoneImage(game, drafting), codec, observation)
        super().__init__(game, codec, observer, n, opponent, side, on_illegal)

    def fitting_state(self, text: str) -> np.void:
        state = self.game.from_text(text)
        if self.game.position(state).map.bare() != self.game.map.bare():
            raise ValueError("the position is on another map than this environment's")
        if state["leader"]:
            raise ValueError("blue orders first in this position: in games red does")
        return state

    def make_screen(self, render_mode: str | None) -> Screen:
        return TurnScreen(self.game, render_mode)
