"""What every environment of TUBSTAP is set up with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sandtable.encoders.features.observation import Observer
from sandtable.encoders.features.takahashi import TakahashiGraph, TakahashiImage
from sandtable.envs.table import GameTable
from sandtable.envs.tubstap.actions import ActionCodec
from sandtable.envs.tubstap.game import Tubstap
from sandtable.envs.tubstap.position import Map
from sandtable.envs.tubstap.rulesets import Rules


class Table(GameTable):
    """A game with its actions and observations, as every environment of TUBSTAP sets it up."""

    game: Tubstap
    codec: ActionCodec

    def __init__(
        self,
        n: int,
        map: str | Path | Map = "li-symmetric",
        rules: str | Rules = "official",
        observation: str = "graph",
        opponent: Any = "random",
        side: str = "red",
        on_illegal: str = "forfeit",
        **options: Any,
    ) -> None:
        game = Tubstap(map=map, rules=rules, **options)
        codec = ActionCodec(game)
        observer = Observer(TakahashiGraph(game), TakahashiImage(game), codec, observation)
        super().__init__(game, codec, observer, n, opponent, side, on_illegal)

    def fitting_state(self, text: str) -> np.void:
        """The state of a position, which must fit the spaces. It plays by its own rules."""
        state = self.game.from_text(text)
        self.game.require_fit(np.array([state]))
        if state.dtype != self.game.dtype:
            raise ValueError(f"the position's HP are not {self.game.rules.hp}, as the environment's are")
        return state
