"""How environments show whole turns: what both players ordered at the same time is shown together."""

from __future__ import annotations

import numpy as np

from sandtable.envs.game import State
from sandtable.envs.screen import Screen


class TurnScreen(Screen):
    """Shows the orders of the last turn. The first player's are not shown before the second player's are in."""

    def see(self, before: State, move: np.ndarray, state: State) -> None:
        if np.asarray(before)["waiting"]:
            super().see(before, move, state)
