"""Kimura and Ikeda 2020: five planes of the board, with the unit that is to act selected in the input.

The paper names "the map terrain data, the unit position and HP data, and the data of the moved unit", from 0 to 1, in
five layers. Here: terrain, my units, the opponent's, the units that have acted, the selected unit. Kinds of units are
not in them, for the paper has only infantry.
"""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from sandtable.encoders.features.encoder import Arrays
from sandtable.encoders.features.tubstap import PlanesEncoder
from sandtable.envs.bitboard import stride
from sandtable.envs.game import Game
from sandtable.envs.jit import jit
from sandtable.envs.tubstap.rules import lowest_slot
from sandtable.envs.tubstap.state import SLOTS
from sandtable.envs.tubstap.tables import MAX_HP, MAX_UNITS, TERRAIN_NAMES

PLANES = 5
_TERRAIN, _MINE, _THEIRS, _ACTED, _SELECTED = range(PLANES)
NOBODY_SELECTED = -1
_ONE = np.uint32(1)
_FULL_HP = float(MAX_HP)
_LAST_TERRAIN = float(len(TERRAIN_NAMES) - 1)


@jit
def _write_planes(state, me, selected, planes):
    width = stride(state.boards)
    for y in range(state.height):
        for x in range(state.width):
            planes[_TERRAIN, y, x] = state.terrain[y * width + x] / _LAST_TERRAIN
    living = state.alive
    while living:
        slot = lowest_slot(living)
        living &= living - _ONE
        y, x = state.cell[slot] // width, state.cell[slot] % width
        planes[_MINE if slot // MAX_UNITS == me else _THEIRS, y, x] = state.hp[slot] / _FULL_HP
        planes[_ACTED, y, x] = (state.acted >> np.uint32(slot)) & _ONE
        if slot == selected:
            planes[_SELECTED, y, x] = 1.0


@jit
def _planes_each(states, players, selected, planes):
    """Write all planes; the first state whose selected unit is not alive, or -1."""
    for i in range(len(states)):
        slot = selected[i]
        alive = 0 <= slot < SLOTS and (states[i].alive >> np.uint32(slot)) & _ONE
        if slot != NOBODY_SELECTED and not alive:
            return i
        _write_planes(states[i], players[i], slot, planes[i])
    return -1


class KimuraPlanes(PlanesEncoder):
    """planes (5, height, width) from 0 to 1: terrain code / 6; my units, HP / 10; the opponent's, HP / 10; 1 where a
    unit stands that has acted; 1 where the selected unit stands."""

    name = "kimura-planes"

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._shape = (PLANES, self._height, self._width)
        self.space = spaces.Dict({"planes": spaces.Box(0.0, 1.0, self._shape, np.float32)})

    def encode(
        self, states: np.ndarray, players: np.ndarray | None = None, selected: np.ndarray | None = None
    ) -> Arrays:
        """The planes (b, 5, height, width) of states (b,).

        selected (b,): the slot of the unit selected in each, as moves name it, or -1 for none; None: none anywhere.
        """
        states, players = self._views(states, players)
        slots = np.full(len(states), NOBODY_SELECTED) if selected is None else np.asarray(selected, np.int64)
        if slots.shape != states.shape:
            raise ValueError(f"{len(states)} selected units are needed, got {selected!r}"[:200])
        planes = np.zeros((len(states), *self._shape), np.float32)
        wrong = _planes_each(states, players, slots, planes)
        if wrong >= 0:
            raise ValueError(f"selected[{wrong}] = {slots[wrong]}: valid is the slot of a living unit, or -1 for none")
        return {"planes": planes}
