"""Units as tokens: a TUBSTAP state for networks of any board and any number of units, and its moves for a policy.

Cells are told as (x, y) from the middle of the board, so that a symmetry turns them like vectors. A scale is the same
on all boards: 10 cells for places, 20 for distances.
"""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from sandtable.encoders.features.encoder import Arrays, GraphEncoder
from sandtable.encoders.features.tubstap import TubstapEncoder, least_counter, unit_place
from sandtable.encoders.features.unit_actions import ACTION_FEATURES, DESTINATION, WAY, actions_each
from sandtable.envs.bitboard import has, stride
from sandtable.envs.game import Game
from sandtable.envs.jit import jit
from sandtable.envs.tubstap.rules import (
    active_units,
    attack_cells,
    damage,
    distance,
    done,
    lowest_slot,
    may_hurt,
    mobility,
    player,
    reach,
    stars,
    targets,
)
from sandtable.envs.tubstap.symmetry import require_symmetry, turn_planes, turn_vectors
from sandtable.envs.tubstap.tables import MAX_HP, MAX_SIDE, MAX_UNITS, STARS, TERRAIN_NAMES, UNIT_NAMES

KINDS = len(UNIT_NAMES)
UNIT_FEATURES = KINDS + 12
_HP, _MINE, _CAN_ACT, _ACTED, _X, _Y, _STARS, _MOBILITY, _THREATS, _THREAT, _TARGETS, _BEST = range(
    KINDS, UNIT_FEATURES
)
PAIR_FEATURES = 10
_FRIEND, _FOE, _DISTANCE, _DX, _DY, _CAN_ATTACK, _DAMAGE, _COUNTER, _ANYWHERE, _KILLS = range(PAIR_FEATURES)
TOTALS = 10
_TURN, _LEFT, _HP_DECIDE, _MY_HP, _THEIR_HP, _THRESHOLD, _QUIET, _TO_MOVE, _WIDTH, _HEIGHT = range(TOTALS)

_ONE = np.uint32(1)
_FULL_HP = float(MAX_HP)
_MOST_STARS = float(max(STARS))
_PLACE, _FAR, _COUNT, _HP_SUM = 10.0, float(MAX_SIDE), 4.0, 100.0


@jit
def _write_unit(state, slot, me, unit):
    """What a unit is by itself."""
    kind, width = state.kind[slot], stride(state.boards)
    y, x = state.cell[slot] // width, state.cell[slot] % width
    unit[kind] = 1.0
    unit[_HP] = state.hp[slot] / _FULL_HP
    unit[_MINE] = slot // MAX_UNITS == me
    unit[_CAN_ACT] = (active_units(state) >> np.uint32(slot)) & _ONE
    unit[_ACTED] = (state.acted >> np.uint32(slot)) & _ONE
    unit[_X] = (x - (state.width - 1) / 2.0) / _PLACE
    unit[_Y] = (y - (state.height - 1) / 2.0) / _PLACE
    unit[_STARS] = stars(state, kind, np.int64(state.cell[slot])) / _MOST_STARS
    unit[_MOBILITY] = mobility(state, kind) / _PLACE


@jit
def _write_pair(state, slot, other, pair):
    """Where the other unit is, and what an attack on it would do if there were one; its damage, 0 to friends."""
    width = stride(state.boards)
    here, there = np.int64(state.cell[slot]), np.int64(state.cell[other])
    pair[_DISTANCE] = distance(state, here, there) / _FAR
    pair[_DX] = (there % width - here % width) / _FAR
    pair[_DY] = (there // width - here // width) / _FAR
    if slot // MAX_UNITS == other // MAX_UNITS:
        pair[_FRIEND] = 1.0
        return 0.0
    pair[_FOE] = 1.0
    kind, hp = state.kind[other], np.float64(state.hp[other])
    hit = damage(state, state.kind[slot], np.float64(state.hp[slot]), kind, hp, stars(state, kind, there))
    pair[_ANYWHERE] = hit / _FULL_HP
    return hit


@jit
def _write_attack(state, slot, reachable, other, hit, unit, foe, pair):
    """An attack that the unit could make if it were its turn."""
    cells = attack_cells(state, slot, reachable, np.int64(state.cell[other]))
    pair[_CAN_ATTACK] = 1.0
    pair[_DAMAGE] = hit / _FULL_HP
    pair[_COUNTER] = least_counter(state, slot, cells, other) / _FULL_HP
    pair[_KILLS] = hit >= state.hp[other]
    unit[_TARGETS] += 1.0 / _COUNT
    unit[_BEST] = max(unit[_BEST], pair[_DAMAGE])
    foe[_THREATS] += 1.0 / _COUNT
    foe[_THREAT] += pair[_DAMAGE]


@jit
def _write_pairs(state, slot, me, places, units, pairs):
    i, reachable = unit_place(slot, me, places), reach(state, slot)
    attackable = targets(state, slot, reachable)
    others = state.alive & ~(_ONE << np.uint32(slot))
    while others:
        other = lowest_slot(others)
        others &= others - _ONE
        j = unit_place(other, me, places)
        hit = _write_pair(state, slot, other, pairs[i, j])
        foe, there = other // MAX_UNITS != slot // MAX_UNITS, np.int64(state.cell[other])
        if foe and has(attackable, there) and may_hurt(state, state.kind[slot], state.kind[other]):
            _write_attack(state, slot, reachable, other, hit, units[i], units[j], pairs[i, j])


@jit
def _write_totals(state, me, totals):
    if state.turn_limit > 0:
        totals[_TURN] = min(state.turn / state.turn_limit, 1.0)
        totals[_LEFT] = min(max(state.turn_limit - state.turn, 0) / _FAR, 1.0)
        totals[_HP_DECIDE] = 0.0 if state.limit_is_draw else 1.0
        totals[_THRESHOLD] = min(state.hp_threshold / _FULL_HP, 1.0)
    else:
        totals[_LEFT] = 1.0
    if state.quiet_turns > 0:
        totals[_QUIET] = min(state.quiet / state.quiet_turns, 1.0)
    mine = theirs = 0.0
    living = state.alive
    while living:
        slot = lowest_slot(living)
        living &= living - _ONE
        if slot // MAX_UNITS == me:
            mine += state.hp[slot]
        else:
            theirs += state.hp[slot]
    totals[_MY_HP], totals[_THEIR_HP] = mine / _HP_SUM, theirs / _HP_SUM
    totals[_TO_MOVE] = not done(state) and player(state) == me
    totals[_WIDTH], totals[_HEIGHT] = state.width / _FAR, state.height / _FAR


@jit
def _encode_each(states, players, places, units, mask, cells, pairs, totals, terrain):
    for b in range(len(states)):
        state, me = states[b], players[b]
        width = stride(state.boards)
        for y in range(state.height):
            for x in range(state.width):
                terrain[b, y, x] = state.terrain[y * width + x]
        living = state.alive
        while living:
            slot = lowest_slot(living)
            living &= living - _ONE
            i = unit_place(slot, me, places)
            mask[b, i] = 1
            cells[b, i] = state.cell[slot] // width * state.width + state.cell[slot] % width
            _write_unit(state, slot, me, units[b, i])
        living = state.alive
        while living:
            slot = lowest_slot(living)
            living &= living - _ONE
            _write_pairs(state, slot, me, places, units[b], pairs[b])
        _write_totals(state, me, totals[b])


class TubstapUnits(TubstapEncoder, GraphEncoder):
    """For n = 2u units, mine first, on a board of h × w cells.

    units (n, 18): kind F A P U R I (0-5, one of them 1), HP / 10, mine, may act now, has acted, x and y from the middle
    of the board / 10, stars of its cell / 4, mobility / 10; then, as if it were everybody's turn: enemies that can
    attack it / 4, the damage they would do in sum / 10, enemies that it can attack / 4, its greatest damage / 10.

    pairs (n, n, 10), from row to column: friend, foe, distance / 20, x and y from one to the other / 20, can attack,
    damage / 10 of that attack, its least counter-damage / 10, damage / 10 of an attack from anywhere, whether the
    attack that it can make kills.

    totals (10,): turn / limit, turns left / 20 (at most 1, and 1 without a limit), HP decide at the limit, my HP and
    the opponent's in sum / 100, HP threshold / 10 (at most 1), turns without a loss / those that draw, I am to move,
    w / 20, h / 20.

    unit_mask (n,), cells (n,): y × w + x of the unit's cell, and terrain (h, w): its codes. Dead units are zeros.
    """

    name = "tubstap-units"

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._n = n = 2 * self._units
        most = float(MAX_UNITS)
        self.space = spaces.Dict(
            {
                "units": spaces.Box(-1.0, most, (n, UNIT_FEATURES), np.float32),
                "unit_mask": spaces.MultiBinary(n),
                "cells": spaces.Box(0, self._width * self._height - 1, (n,), np.int64),
                "pairs": spaces.Box(-1.0, 2.0, (n, n, PAIR_FEATURES), np.float32),
                "totals": spaces.Box(0.0, 2.0, (TOTALS,), np.float32),
                "terrain": spaces.Box(0, len(TERRAIN_NAMES) - 1, (self._height, self._width), np.int8),
            }
        )
        self.graph_space = spaces.Graph(
            spaces.Box(-1.0, most, (UNIT_FEATURES,), np.float32), spaces.Box(-1.0, 2.0, (PAIR_FEATURES,), np.float32)
        )

    def encode(self, states: np.ndarray, players: np.ndarray | None = None) -> Arrays:
        """The arrays (b, …) of states (b,), by the names of `space`."""
        states, players = self._views(states, players)
        b, n = len(states), self._n
        out: Arrays = {
            "units": np.zeros((b, n, UNIT_FEATURES), np.float32),
            "unit_mask": np.zeros((b, n), np.int8),
            "cells": np.zeros((b, n), np.int64),
            "pairs": np.zeros((b, n, n, PAIR_FEATURES), np.float32),
            "totals": np.zeros((b, TOTALS), np.float32),
            "terrain": np.zeros((b, self._height, self._width), np.int8),
        }
        _encode_each(states, players, self._units, *out.values())
        return out

    def actions(
        self, states: np.ndarray, moves: np.ndarray, ends: np.ndarray, players: np.ndarray | None = None
    ) -> Arrays:
        """What a policy reads of the movers' moves (m, 3) in states (b,): those of state i are moves[ends[i] :
        ends[i + 1]], as game.moves_each answers them. players: whose view, as for `encode`; None: the movers'.

        state (m,): whose move it is, an index of states. unit (m,): the place of the unit that acts. target (m,): the
        place of the unit that is attacked, or -1. cell (m,): y × w + x of the destination. features (m, 22): see
        unit_actions.py.
        """
        states, players = self._views(states, players)
        rows, ends = np.ascontiguousarray(moves, np.int16), np.asarray(ends, np.int64)
        if rows.ndim != 2 or rows.shape[1] != self._game.move_length:
            raise ValueError(f"moves (m, {self._game.move_length}) are needed, got {rows.shape}")
        if ends.shape != (len(states) + 1,) or ends[0] != 0 or ends[-1] != len(rows) or (np.diff(ends) < 0).any():
            raise ValueError(f"ends: {len(states) + 1} numbers from 0 up to {len(rows)} are needed, got {ends!r}"[:200])
        m = len(rows)
        out: Arrays = {
            "state": np.repeat(np.arange(len(states)), np.diff(ends)),
            "unit": np.empty(m, np.int64),
            "target": np.empty(m, np.int64),
            "cell": np.empty(m, np.int64),
            "features": np.zeros((m, ACTION_FEATURES), np.float32),
        }
        names = ("unit", "target", "cell", "features")
        wrong = actions_each(states, players, self._units, rows, ends, *(out[name] for name in names))
        if wrong >= 0:
            reason = self._game.why_illegal(states[out["state"][wrong]], rows[wrong])
            raise ValueError(f"moves[{wrong}]: {reason}")
        return out

    def symmetry(self, arrays: Arrays, k: int) -> Arrays:
        """The arrays of `encode` in the k-th symmetry of the board."""
        require_symmetry(k, self._width, self._height)
        out = dict(arrays)
        out["units"] = _turn_columns(arrays["units"], (_X, _Y), k)
        out["pairs"] = _turn_columns(arrays["pairs"], (_DX, _DY), k)
        out["terrain"] = turn_planes(arrays["terrain"], k)
        out["cells"] = np.where(arrays["unit_mask"] == 1, self._turned_cells(k)[arrays["cells"]], 0)
        return out

    def symmetry_actions(self, arrays: Arrays, k: int) -> Arrays:
        """The arrays of `actions` in the k-th symmetry of the board, in the same order of moves."""
        require_symmetry(k, self._width, self._height)
        features = _turn_columns(arrays["features"], DESTINATION, k)
        features = _turn_columns(features, WAY, k)
        return {**arrays, "cell": self._turned_cells(k)[arrays["cell"]], "features": features}

    def _turned_cells(self, k: int) -> np.ndarray:
        """Where each cell comes to lie, (h × w,)."""
        before = turn_planes(np.arange(self._width * self._height).reshape(self._height, self._width), k)
        return np.argsort(before.reshape(-1))

    def graph(self, arrays: Arrays, i: int) -> spaces.GraphInstance:
        """The units alive, with an edge each way between any two."""
        alive = np.flatnonzero(arrays["unit_mask"][i])
        links = np.argwhere(~np.eye(len(alive), dtype=np.bool_))
        source, destination = alive[links].T
        return spaces.GraphInstance(arrays["units"][i][alive], arrays["pairs"][i][source, destination], links)


def _turn_columns(array: np.ndarray, columns: tuple[int, int], k: int) -> np.ndarray:
    """The array with the vectors that stand in two of its last axis's columns turned."""
    x, y = columns
    out = array.copy()
    out[..., x], out[..., y] = turn_vectors(array[..., x], array[..., y], k)
    return out
