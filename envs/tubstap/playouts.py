"""Random moves of TUBSTAP, chosen without listing all of them."""

from __future__ import annotations

import numpy as np

from sandtable.envs import game
from sandtable.envs.bitboard import count, empty, is_empty, lowest, nth, without_lowest
from sandtable.envs.jit import answer, jit
from sandtable.envs.randomness import below
from sandtable.envs.tubstap.rules import (
    active_units,
    attack_cells,
    exchange,
    is_tubstap,
    lowest_slot,
    may_hurt,
    reach,
    targets,
)
from sandtable.envs.tubstap.state import NOBODY

_ONE = np.uint32(1)


@jit
def _wanted(state, slot, target, sound):
    """Whether an attack is legal and, if only sound ones are wanted, takes something and no less than it costs
    (on the terrain where the attacker stands now)."""
    if not may_hurt(state, state.kind[slot], state.kind[target]):
        return False
    if not sound:
        return True
    hit, counter = exchange(state, slot, state.cell[slot], target)
    return hit > 0.0 and hit >= counter


@jit
def count_attacks(state, slot, reachable, sound):
    """How many attacks, or sound ones, the unit has."""
    n = 0
    hostile = targets(state, slot, reachable)
    while not is_empty(hostile):
        cell = lowest(hostile)
        hostile = without_lowest(hostile)
        if _wanted(state, slot, np.int64(state.at[cell]), sound):
            n += count(attack_cells(state, slot, reachable, cell))
    return n


@jit
def set_move(move, slot, cell, target):
    move[0] = slot
    move[1] = cell
    move[2] = target


@jit
def _nth_attack(state, slot, reachable, sound, n, move):
    """Write the unit's n-th attack, or sound one, into move."""
    hostile = targets(state, slot, reachable)
    while not is_empty(hostile):
        cell = lowest(hostile)
        hostile = without_lowest(hostile)
        target = np.int64(state.at[cell])
        if _wanted(state, slot, target, sound):
            cells = attack_cells(state, slot, reachable, cell)
            here = count(cells)
            if n < here:
                set_move(move, slot, nth(cells, n), target)
                return
            n -= here


@jit
def nth_move(state, slot, reachable, n, move):
    """Write the unit's n-th move, attacks last, into move."""
    quiet = count(reachable)
    if n < quiet:
        set_move(move, slot, nth(reachable, n), NOBODY)
    else:
        _nth_attack(state, slot, reachable, False, n - quiet, move)


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
        n = count(reachable) + count_attacks(state, slot, reachable, False)
        total += n
        if total == n or below(rng, total) < n:
            chosen, chosen_moves, chosen_reach = slot, n, reachable
    nth_move(state, chosen, chosen_reach, below(rng, chosen_moves), move)


@jit
def _any_attack(state, sound, rng, move):
    """Write any attack (or sound one) of any unit into move, all equally likely; whether there is one."""
    total = 0
    chosen, chosen_attacks = -1, 0
    chosen_reach = empty(state.boards)
    units = active_units(state)
    while units:
        slot = lowest_slot(units)
        units &= units - _ONE
        reachable = reach(state, slot)
        n = count_attacks(state, slot, reachable, sound)
        total += n
        if n and (total == n or below(rng, total) < n):
            chosen, chosen_attacks, chosen_reach = slot, n, reachable
    if total:
        _nth_attack(state, chosen, chosen_reach, sound, below(rng, chosen_attacks), move)
    return total > 0


@jit
def attack_move(state, rng, move):
    return _any_attack(state, False, rng, move)


@jit
def sound_attack_move(state, rng, move):
    return _any_attack(state, True, rng, move)


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
    n = count(reachable) + count_attacks(state, slot, reachable, False)
    nth_move(state, slot, reachable, below(rng, n), move)


answer(game.random_move, is_tubstap, random_move)
answer(game.attack_move, is_tubstap, attack_move)
answer(game.sound_attack_move, is_tubstap, sound_attack_move)
answer(game.unit_move, is_tubstap, unit_move)
