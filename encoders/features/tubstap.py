"""What the encoders of TUBSTAP share: the order of the units, and what symmetries of the board do to the arrays.

Of u units a side, places 0 to u - 1 are mine and u to 2u - 1 the opponent's, each side in the order of the map file.
"""

from __future__ import annotations

import numpy as np

from sandtable.encoders.features.encoder import Arrays, Encoder
from sandtable.envs.bitboard import is_empty, lowest, neighbours, without_lowest
from sandtable.envs.game import Game
from sandtable.envs.jit import jit
from sandtable.envs.tubstap.rules import exchange, in_range, reach
from sandtable.envs.tubstap.symmetry import require_symmetry, turn_planes
from sandtable.envs.tubstap.tables import CANNON, MAX_UNITS


@jit
def unit_place(slot, me, units):
    """The place of a unit as player `me` sees it."""
    side = slot // MAX_UNITS
    return slot - side * MAX_UNITS + (0 if side == me else units)


@jit
def fire(state, slot):
    """The cells that the unit could attack if it were its turn (on some boards also cells beside the map)."""
    if state.kind[slot] == CANNON:
        return in_range(state, np.int64(state.cell[slot]))
    return neighbours(reach(state, slot))


@jit
def least_counter(state, slot, cells, target):
    """The counter-attack's damage where the attacker picks the best of the cells."""
    least = np.inf
    while not is_empty(cells):
        least = min(least, exchange(state, slot, lowest(cells), target)[1])
        cells = without_lowest(cells)
    return least


class TubstapEncoder(Encoder):
    """For states of a game's board with at most the game's number of units a side."""

    game = "tubstap"

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._width, self._height = self._game.width, self._game.height
        self._units = self._game.units_a_side

    def _require_fit(self, states: np.ndarray) -> None:
        self._game.require_fit(states)

    def symmetry(self, arrays: Arrays, k: int) -> Arrays:
        """The arrays of the same states in the k-th symmetry of their board. A graph of units has no directions."""
        require_symmetry(k, self._width, self._height)
        return dict(arrays)


class PlanesEncoder(TubstapEncoder):
    """All its arrays are planes of the board."""

    def symmetry(self, arrays: Arrays, k: int) -> Arrays:
        require_symmetry(k, self._width, self._height)
        return {name: turn_planes(planes, k) for name, planes in arrays.items()}
