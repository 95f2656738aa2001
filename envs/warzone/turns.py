"""How environments show whole turns: what both players ordered at the same time is shown together."""

from __future__ import annotations

from typing import Any

import numpy as np

from sandtable.envs.game import State
from sandtable.envs.screen import Screen
from sandtable.envs.warzone.game import Warzone
from sandtable.envs.warzone.position import PLAYERS
from sandtable.envs.warzone.render import LastMove, draw, orders_in_words


class TurnScreen(Screen):
    """Shows the orders of the last turn. The first player's are not shown before the second player's are in."""

    _game: Warzone

    def see(self, before: State, move: np.ndarray, state: State) -> None:
        if self._game.player(before) == 1:
            super().see(before, move, state)

    def _moves(self) -> tuple[LastMove, LastMove] | None:
        """What the first and the second player ordered in the last turn."""
        if self._last is None:
            return None
        before, move = self._last
        pending: Any = np.asarray(before)["pending"]
        return LastMove(0, tuple(self._game.decode(before, pending))), self._game.last_move(before, move)

    def _text(self, state: State) -> str:
        text, moves = self._game.ansi(state), self._moves()
        names = self._game.map.territories
        told = (f"{PLAYERS[move.player]}: {orders_in_words(move.orders, names)}" for move in moves or ())
        return "\n".join([text, *told])

    def _picture(self, state: State) -> np.ndarray:
        first, last = self._moves() or (None, None)
        return draw(self._game.position(state), last, first)
