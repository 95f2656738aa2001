"""A side's whole turn as a row of numbers, for evolution: what every unit does, and in which order.

A plan has three numbers a unit, in the order of the map file: its rank (lower acts first), the cell it goes to, and the
slot of its target or NOBODY. Whatever stands there is played as nearly as it can be: a unit that cannot attack its
target from the cell attacks it from another one; one that cannot attack it at all goes as near to the cell as it can.
"""

from __future__ import annotations

import numpy as np

from sandtable.envs import game
from sandtable.envs.bitboard import count, has, is_empty, lowest, without_lowest
from sandtable.envs.jit import answer, jit
from sandtable.envs.randomness import below
from sandtable.envs.tubstap.playouts import count_attacks, nth_move, set_move
from sandtable.envs.tubstap.rules import (
    active_units,
    attack_cells,
    distance,
    done,
    is_tubstap,
    lowest_slot,
    may_hurt,
    play,
    player,
    reach,
    side_units,
    targets,
)
from sandtable.envs.tubstap.state import NOBODY
from sandtable.envs.tubstap.tables import MAX_UNITS

_ONE = np.uint32(1)
_GENES = 3
_RANK, _CELL, _TARGET = range(_GENES)
_RANKS = 1 << 14
PLAN_LENGTH = _GENES * MAX_UNITS


@jit
def plan_length(state):
    return PLAN_LENGTH


@jit
def random_plan(state, side, rng, plan):
    """A random move of every unit of the side, as far as they can go now, in random order."""
    plan[:] = 0
    units = side_units(state, side)
    while units:
        slot = lowest_slot(units)
        units &= units - _ONE
        reachable = reach(state, slot)
        n = count(reachable) + count_attacks(state, slot, reachable, False)
        genes = plan[_GENES * (slot - side * MAX_UNITS) :]
        # The move's slot is written where the rank goes, which is then drawn.
        nth_move(state, slot, reachable, below(rng, n), genes)
        genes[_RANK] = below(rng, _RANKS)


@jit
def _next_slot(state, plan):
    """The unit of the lowest rank among those that may act."""
    units = active_units(state)
    best, best_rank = np.int64(-1), np.int64(_RANKS)
    while units:
        slot = lowest_slot(units)
        units &= units - _ONE
        rank = np.int64(plan[_GENES * (slot % MAX_UNITS) + _RANK])
        if best < 0 or rank < best_rank:
            best, best_rank = slot, rank
    return best


@jit
def _nearest(state, cells, wanted):
    """The cell that is nearest to `wanted`, of cells that are not empty."""
    best, best_distance = lowest(cells), np.int64(1 << 30)
    while not is_empty(cells):
        cell = lowest(cells)
        cells = without_lowest(cells)
        away = distance(state, cell, wanted)
        if away < best_distance:
            best, best_distance = cell, away
    return best


@jit
def plan_move(state, plan, move):
    """Write the next move of the plan of the player to move."""
    slot = _next_slot(state, plan)
    genes = plan[_GENES * (slot % MAX_UNITS) :]
    wanted, target = np.int64(genes[_CELL]), np.int64(genes[_TARGET])
    reachable = reach(state, slot)
    enemies = side_units(state, 1 - player(state))
    if 0 <= target < 2 * MAX_UNITS and (enemies >> np.uint32(target)) & _ONE:
        there = np.int64(state.cell[target])
        if has(targets(state, slot, reachable), there) and may_hurt(state, state.kind[slot], state.kind[target]):
            set_move(move, slot, _nearest(state, attack_cells(state, slot, reachable, there), wanted), target)
            return
    set_move(move, slot, _nearest(state, reachable, wanted), NOBODY)


@jit
def play_plans(state, mine, theirs, rng, move):
    """Play the rest of the mover's turn by one plan, and the other side's turn after it by the other."""
    us = player(state)
    for side in (us, 1 - us):
        while not done(state) and player(state) == side:
            plan_move(state, mine if side == us else theirs, move)
            play(state, move)


answer(game.plan_length, is_tubstap, plan_length)
answer(game.random_plan, is_tubstap, random_plan)
answer(game.plan_move, is_tubstap, plan_move)
answer(game.play_plans, is_tubstap, play_plans)
