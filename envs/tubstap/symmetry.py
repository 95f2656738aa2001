"""The symmetries of a board, compiled: states and moves as they are on the turned or mirrored map.

Symmetry k is three bits: 4 mirrors the board at its main diagonal (x and y change places), then 1 mirrors it left to
right and 2 upside down. 0 is the identity. Boards that are not square have only the first four, which keep their shape.
Units keep their slots.
"""

from __future__ import annotations

import numpy as np

from sandtable.envs.bitboard import empty, is_empty, load, lowest, only, store, stride, without_lowest
from sandtable.envs.jit import jit
from sandtable.envs.tubstap.rules import map_key
from sandtable.envs.tubstap.state import BOARDS

LEFT_RIGHT, UPSIDE_DOWN, DIAGONAL = 1, 2, 4
SYMMETRIES = 8
SHAPE_KEEPING = 4


def inverse(k: int) -> int:
    """The symmetry that takes back the k-th: the quarter turns are each other's, the others their own."""
    return {5: 6, 6: 5}.get(k, k)


def symmetries_of(width: int, height: int) -> int:
    """How many symmetries a board of this size has: those from 0 on, below this number."""
    return SYMMETRIES if width == height else SHAPE_KEEPING


def require_symmetry(k: int, width: int, height: int) -> None:
    """Refuse numbers that are no symmetry of a board of this size."""
    n = symmetries_of(width, height)
    if not 0 <= k < n:
        raise ValueError(f"symmetry k={k!r}: valid on a board of {width}x{height} cells are 0 to {n - 1}")


def turn_planes(planes: np.ndarray, k: int) -> np.ndarray:
    """Planes (…, height, width) of a board in its k-th symmetry."""
    if k & DIAGONAL:
        planes = planes.swapaxes(-1, -2)
    if k & LEFT_RIGHT:
        planes = planes[..., ::-1]
    if k & UPSIDE_DOWN:
        planes = planes[..., ::-1, :]
    return np.ascontiguousarray(planes)


def turn_vectors(x: np.ndarray, y: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Where vectors (x, y) point in the k-th symmetry, among them cells counted from the middle of the board."""
    if k & DIAGONAL:
        x, y = y, x
    return (-x if k & LEFT_RIGHT else x), (-y if k & UPSIDE_DOWN else y)


@jit
def _turned(state, cell, k):
    """Where a cell of the rectangle comes to lie. The board is square if the symmetry needs that."""
    pitch = stride(state.boards)
    y, x = cell // pitch, cell % pitch
    if k & DIAGONAL:
        x, y = y, x
    if k & LEFT_RIGHT:
        x = state.width - 1 - x
    if k & UPSIDE_DOWN:
        y = state.height - 1 - y
    return y * pitch + x


@jit
def _turn_board(state, i, k):
    cells, turned = load(state.boards, i), empty(state.boards)
    while not is_empty(cells):
        turned = turned | only(state.boards, _turned(state, lowest(cells), k))
        cells = without_lowest(cells)
    store(state.boards, i, turned)


@jit
def _turn(before, state, k):
    """Make `state`, a copy of `before`, the state in its k-th symmetry."""
    pitch = stride(state.boards)
    for y in range(before.height):
        for x in range(before.width):
            cell = y * pitch + x
            there = _turned(state, cell, k)
            state.terrain[there] = before.terrain[cell]
            state.at[there] = before.at[cell]
    for slot in range(len(before.cell)):
        state.cell[slot] = _turned(state, np.int64(before.cell[slot]), k)
    for i in range(BOARDS):
        _turn_board(state, np.int64(i), k)
    state.map_key = map_key(state)


@jit
def first_asymmetric(states, ks):
    """The first of states (n,) whose board has no symmetry of the number ks[i], or -1."""
    for i in range(len(states)):
        k = ks[i]
        if k < 0 or k >= SYMMETRIES or (k >= SHAPE_KEEPING and states[i].width != states[i].height):
            return i
    return -1


@jit
def symmetry_each(states, ks, out):
    """Turn each of states (n,) by its ks[i] into out, a copy of them."""
    for i in range(len(states)):
        if ks[i] > 0:
            _turn(states[i], out[i], ks[i])


@jit
def symmetry_moves_each(states, which, ks, rows, out):
    """Turn the cell of each of rows (m, 3), a move in states[which[i]], by that state's ks; out is a copy of rows."""
    for i in range(len(rows)):
        out[i, 1] = _turned(states[which[i]], np.int64(rows[i, 1]), ks[which[i]])
