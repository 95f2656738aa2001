"""Random starts, made in compiled code: units on random cells, terrain by chance, point symmetry if wanted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sandtable.envs.bitboard import count, empty, is_empty, layout_for, load, nth, only, store
from sandtable.envs.jit import jit
from sandtable.envs.randomness import below, uniform
from sandtable.envs.tubstap.position import Map, Position
from sandtable.envs.tubstap.rules import settle_new
from sandtable.envs.tubstap.rulesets import Rules
from sandtable.envs.tubstap.state import COST_BOARD, pack
from sandtable.envs.tubstap.tables import ENTRY_COST, MAX_UNITS, PLAIN, RED, TERRAIN_NAMES, UNIT_CLASS

_CLASS = np.array(UNIT_CLASS, np.int64)
_COST = np.array(ENTRY_COST, np.int64)
_KIND, _LEAST_HP, _MOST_HP = range(3)


@dataclass(frozen=True)
class Scatter:
    """A family of random starts on a board of width × height cells."""

    width: int
    height: int
    turn_limit: int
    forces: tuple[tuple[tuple[tuple[int, int, int], ...], ...], ...]
    """Pairs (RED's, BLUE's units), one of them drawn for each start; a unit is (kind, least HP, most HP)."""
    terrain: tuple[tuple[int, float], ...] = ((PLAIN, 1.0),)
    """(terrain, how likely), adding up to 1."""
    symmetric: bool = False
    """RED in the upper half, BLUE the same turned by 180 degrees."""

    @property
    def units_a_side(self) -> int:
        return max(len(side) for pair in self.forces for side in pair)

    def fill(self, rules: Rules, states: np.ndarray, seeds: np.ndarray) -> None:
        """Write a start under these rules into each of states (n,), drawn with its seed."""
        stride = layout_for(self.width, self.height).stride
        _scatter_each(_blank(self, rules), stride, *_tables(self), self.symmetric, states, seeds)
        settle_new(states)


@lru_cache
def _blank(family: Scatter, rules: Rules) -> np.ndarray:
    """The family's board (1,) without units."""
    plain = ((PLAIN,) * family.width,) * family.height
    return pack(Position(Map(plain, (), family.turn_limit, 0), rules))


@lru_cache
def _tables(family: Scatter) -> tuple[np.ndarray, np.ndarray]:
    """The forces (pairs, 2, 16, 3): kind (-1 for nobody), least and most HP; the summed chances of terrains (7,)."""
    forces = np.full((len(family.forces), 2, MAX_UNITS, 3), -1, np.int64)
    for i, pair in enumerate(family.forces):
        for team, side in enumerate(pair):
            for j, unit in enumerate(side):
                forces[i, team, j] = unit
    shares = np.zeros(len(TERRAIN_NAMES))
    for terrain, share in family.terrain:
        shares[terrain] = share
    return forces, np.cumsum(shares)


@jit
def _draw_terrain(state, stride, shares, rng):
    boards = (empty(state.boards), empty(state.boards), empty(state.boards))
    twice = (empty(state.boards), empty(state.boards), empty(state.boards))
    air, vehicle, foot = boards
    air2, vehicle2, foot2 = twice
    for y in range(state.height):
        for x in range(state.width):
            cell = np.int64(y * stride + x)
            terrain = np.searchsorted(shares, uniform(rng), side="right")
            state.terrain[cell] = terrain
            here = only(state.boards, cell)
            if _COST[terrain, 0] == 1:
                air = air | here
            if _COST[terrain, 1] == 1:
                vehicle = vehicle | here
            elif _COST[terrain, 1] == 2:
                vehicle2 = vehicle2 | here
            if _COST[terrain, 2] == 1:
                foot = foot | here
            elif _COST[terrain, 2] == 2:
                foot2 = foot2 | here
    store(state.boards, COST_BOARD, air)
    store(state.boards, COST_BOARD + 1, air2)
    store(state.boards, COST_BOARD + 2, vehicle)
    store(state.boards, COST_BOARD + 3, vehicle2)
    store(state.boards, COST_BOARD + 4, foot)
    store(state.boards, COST_BOARD + 5, foot2)


@jit
def _place(state, slot, number, kind, hp, cell):
    team = slot // MAX_UNITS
    state.kind[slot] = kind
    state.id[slot] = number
    state.hp[slot] = hp
    state.cell[slot] = cell
    state.at[cell] = slot
    state.alive |= np.uint32(1) << np.uint32(slot)
    store(state.boards, team, load(state.boards, team) | only(state.boards, np.int64(cell)))


@jit
def _upper_half(state, stride):
    half = empty(state.boards)
    for y in range(state.height // 2):
        for x in range(state.width):
            half = half | only(state.boards, np.int64(y * stride + x))
    return half


@jit
def _scatter_units(state, stride, force, symmetric, rng):
    """Place all units; False where a unit found no cell."""
    number = 0
    for team in range(2):
        for j in range(MAX_UNITS):
            kind = force[team, j, _KIND]
            if kind < 0:
                break
            slot = team * MAX_UNITS + j
            if symmetric and team != RED:
                cell = (state.height - 1) * stride + state.width - 1 - np.int64(state.cell[j])
                _place(state, slot, number, kind, np.float64(state.hp[j]), cell)
            else:
                costs = COST_BOARD + 2 * _CLASS[kind]
                free = load(state.boards, costs) | load(state.boards, costs + 1)
                free = free & ~load(state.boards, 0) & ~load(state.boards, 1)
                if symmetric:
                    free = free & _upper_half(state, stride)
                if is_empty(free):
                    return False
                hp = force[team, j, _LEAST_HP] + below(rng, force[team, j, _MOST_HP] - force[team, j, _LEAST_HP] + 1)
                _place(state, slot, number, kind, np.float64(hp), nth(free, below(rng, count(free))))
            number += 1
    return True


@jit
def _scatter_each(blank, stride, forces, shares, symmetric, states, seeds):
    rng = np.empty(1, np.uint64)
    for i in range(len(states)):
        rng[0] = seeds[i]
        placed = False
        while not placed:
            states[i] = blank[0]
            _draw_terrain(states[i], stride, shares, rng)
            placed = _scatter_units(states[i], stride, forces[below(rng, len(forces))], symmetric, rng)
