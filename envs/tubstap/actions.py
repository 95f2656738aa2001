"""Moves as numbers of a Discrete space: (own unit, destination cell, no attack or which enemy).

With u units a side on a board of width × height cells, the action of unit i going to column x and row y (from 0)
and attacking enemy j is ((i × height + y) × width + x) × (u + 1) + j + 1, and + 0 instead of j + 1 without an attack.
Units count from 0 within their side, in the order of the map file.
"""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from sandtable.envs.bitboard import is_empty, layout_for, lowest, stride, without_lowest
from sandtable.envs.jit import jit
from sandtable.envs.tubstap.game import Tubstap
from sandtable.envs.tubstap.rules import (
    active_units,
    attack_cells,
    lowest_slot,
    may_hurt,
    player,
    reach,
    targets,
)
from sandtable.envs.tubstap.state import NOBODY
from sandtable.envs.tubstap.tables import MAX_UNITS

_ONE = np.uint32(1)


@jit
def _mark(state, cells, unit, target, units, mask):
    """Allow the unit to go to each of the cells, with this target (0: none)."""
    pitch = stride(state.boards)
    while not is_empty(cells):
        cell = lowest(cells)
        cells = without_lowest(cells)
        y, x = cell // pitch, cell % pitch
        mask[((unit * state.height + y) * state.width + x) * (units + 1) + target] = 1


@jit
def _mask_each(states, idle, units, masks):
    for i in range(len(states)):
        if idle[i]:
            continue
        state, mask = states[i], masks[i]
        side = player(state)
        active = active_units(state)
        while active:
            slot = lowest_slot(active)
            active &= active - _ONE
            unit = slot - side * MAX_UNITS
            reachable = reach(state, slot)
            _mark(state, reachable, unit, 0, units, mask)
            hostile = targets(state, slot, reachable)
            while not is_empty(hostile):
                cell = lowest(hostile)
                hostile = without_lowest(hostile)
                target = np.int64(state.at[cell])
                if may_hurt(state, state.kind[slot], state.kind[target]):
                    cells = attack_cells(state, slot, reachable, cell)
                    _mark(state, cells, unit, target - (1 - side) * MAX_UNITS + 1, units, mask)


@jit
def _rows_each(states, actions, units, n, rows):
    """Write the moves of actions; False if one is none of the n."""
    for i in range(len(states)):
        state = states[i]
        side = player(state)
        action = np.int64(actions[i])
        if not 0 <= action < n:
            return False
        target = action % (units + 1)
        action //= units + 1
        x = action % state.width
        action //= state.width
        rows[i, 0] = action // state.height + side * MAX_UNITS
        rows[i, 1] = action % state.height * stride(state.boards) + x
        rows[i, 2] = NOBODY if target == 0 else target - 1 + (1 - side) * MAX_UNITS
    return True


class ActionCodec:
    """The actions of one game."""

    masked = True

    def __init__(self, game: Tubstap) -> None:
        self._game = game
        self._units, self._width, self._height = game.units_a_side, game.width, game.height
        self.n = self._units * self._height * self._width * (self._units + 1)
        self.space, self.top = spaces.Discrete(self.n), self.n - 1

    def masks(self, states: np.ndarray, idle: np.ndarray | None = None) -> np.ndarray:
        """Which actions are legal for the player to move: (b, n) int8; none where the game is over or `idle` (b,)."""
        self._game.require_fit(states)
        masks = np.zeros((len(states), self.n), np.int8)
        _mask_each(states, np.zeros(len(states), np.bool_) if idle is None else idle, self._units, masks)
        return masks

    def moves(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """The moves (b, 3) that actions (b,) of the space mean; legal or not."""
        self._game.require_fit(states)
        rows = np.empty((len(states), 3), np.int16)
        if actions.shape != states.shape or not _rows_each(states, actions, self._units, self.n, rows):
            raise ValueError(f"{len(states)} actions from 0 to {self.n - 1} are needed, got {actions!r}"[:200])
        return rows

    def action(self, move: np.ndarray) -> int:
        """The number of a move."""
        slot, cell, target = (int(value) for value in move)
        row, column = divmod(cell, layout_for(self._width, self._height).stride)
        where = (slot % MAX_UNITS * self._height + row) * self._width + column
        return where * (self._units + 1) + (0 if target == NOBODY else target % MAX_UNITS + 1)
