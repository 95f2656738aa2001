"""Random moves of TUBSTAP, chosen without listing all of them."""

from __future__ import annotations

import numpy as np

from sandtable.envs import game
from sandtable.envs.bitboard import count, empty, is_empty, lowest, nth, without_lowest
from sandtable.envs.jit import answer, jit
from sandtable.envs.randomness import below
from sandtable.envs.tubstap.rules import active_units, attack_cells, is_tubstap, lowest_slot, may_hurt, reach, targets
from sandtable.envs.tubstap.state import NOBODY

_ONE = np.uint32(1)


@jit
def count_attacks(state, slot, reachable):
    """How many attacks the unit has."""
    n = 0
    hostile = targets(state, slot, reachable)
    while not is_empty(hostile):
        cell = lowest(hostile)
        hostile = without_lowest(hostile)
        if may_hurt(state, state.kind[slot], state.kind[state.at[cell]]):
            n += count(attack_cells(state, slot, reachable, cell))
    return n


@jit
def set_move(move, slot, cell, target):
    move[0] = slot
    move[1] = cell
    move[2] = target


@jit
def _nth_attack(state, slot, reachable, n, move):
    """Write the unit's n-th attack into move."""
    hostile = targets(state, slot, reachable)
    while not is_empty(hostile):
        cell = lowest(hostile)
        hostile = without_lowest(hostile)
        target = np.int64(state.at[cell])
        if may_hurt(state, state.kind[slot], state.kind[target]):
            cells = attack_cells(state, slot, reachable, cell)
            here = count(cells)
            if n < here:
                set_move(move, slot, nth(cells, n), target)
                return
            n -= here


@jit
def _nth_move(state, slot, reachable, n, move):
    """Write the unit's n-th move, attacks last, into move."""
    quiet = count(reachable)
    if n < quiet:
        set_move(move, slot, nth(reachable, n), NOBODY)
    else:
        _nth_attack(state, slot, reachable, n - quiet, move)


@jit
def random_move(state, rng, move):
    """Any legal move, all equally likely.

    One pass: a unit with m moves takes the place of the unit chosen so far with probability m / (moves so far).
    """
    total = 0
    chosen, chosen_moves = -1, 0
    chosen_reach = empty(state.boards)
    units = active_units(state)
    while units:
        slot = lowest_slot(units)
        units &= units - _ONE
        reachable = reach(state, slot)
        n = count(reachable) + count_attacks(state, slot, reachable)
        total += n
        if total == n or below(rng, total) < n:
            chosen, chosen_moves, chosen_reach = slot, n, reachable
    _nth_move(state, chosen, chosen_reach, below(rng, chosen_moves), move)


@jit
def attack_move(state, rng, move):
    """Any attack of any unit, all equally likely; whether there is one."""
    total = 0
    chosen, chosen_attacks = -1, 0
    chosen_reach = empty(state.boards)
    units = active_units(state)
    while units:
        slot = lowest_slot(units)
        units &= units - _ONE
        reachable = reach(state, slot)
        n = count_attacks(state, slot, reachable)
        total += n
        if n and (total == n or below(rng, total) < n):
            chosen, chosen_attacks, chosen_reach = slot, n, reachable
    if total:
        _nth_attack(state, chosen, chosen_reach, below(rng, chosen_attacks), move)
    return total > 0


@jit
def nth_slot(mask, n):
    for _ in range(n):
        mask &= mask - _ONE
    return lowest_slot(mask)


@jit
def count_slots(mask):
    n = 0
    while mask:
        mask &= mask - _ONE
        n += 1
    return n


@jit
def unit_move(state, rng, move):
    """A random unit, and any of its moves."""
    units = active_units(state)
    slot = nth_slot(units, below(rng, count_slots(units)))
    reachable = reach(state, slot)
    _nth_move(state, slot, reachable, below(rng, count(reachable) + count_attacks(state, slot, reachable)), move)


answer(game.random_move, is_tubstap, random_move)
answer(game.attack_move, is_tubstap, attack_move)
answer(game.unit_move, is_tubstap, unit_move)
