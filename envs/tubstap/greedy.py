"""The platform's sample player, compiled.

An attack scores damage × (10 + threat) − counter-damage × (10 + own HP), where threat is the most damage that
the target could do, from where it can get to, to one of our units that have acted. The best attack is played
if it does any damage and scores above −20. Otherwise a random unit goes to the cell with the most
5 × stars + power / (distance + 5), rounded down, for the enemy that makes this largest. Of equals the first is taken.
"""

from __future__ import annotations

import numpy as np

from sandtable.envs import game
from sandtable.envs.bitboard import has, is_empty, lowest, without_lowest
from sandtable.envs.jit import answer, jit
from sandtable.envs.randomness import below
from sandtable.envs.tubstap.playouts import count_slots, nth_slot, set_move
from sandtable.envs.tubstap.rules import (
    active_units,
    attack_cells,
    damage,
    distance,
    exchange,
    is_tubstap,
    lowest_slot,
    may_hurt,
    player,
    power,
    reach,
    side_units,
    stars,
    targets,
)
from sandtable.envs.tubstap.state import NOBODY

_ONE = np.uint32(1)
_WORTH_ATTACKING = -20.0


@jit
def _threat(state, enemy, acted):
    """The most damage that the enemy could do to one of the units of the mask `acted`."""
    most = 0.0
    if not acted:
        return most
    attackable = targets(state, enemy, reach(state, enemy))
    kind, hp = state.kind[enemy], np.float64(state.hp[enemy])
    while acted:
        slot = lowest_slot(acted)
        acted &= acted - _ONE
        cell = np.int64(state.cell[slot])
        if has(attackable, cell):
            own = state.kind[slot]
            most = max(most, damage(state, kind, hp, own, np.float64(state.hp[slot]), stars(state, own, cell)))
    return most


@jit
def _best_attack(state, move):
    """Write the attack with the highest score into move; that score."""
    best = -np.inf
    acted = side_units(state, player(state)) & state.acted
    units = active_units(state)
    while units:
        slot = lowest_slot(units)
        units &= units - _ONE
        reachable = reach(state, slot)
        hostile = targets(state, slot, reachable)
        while not is_empty(hostile):
            target_cell = lowest(hostile)
            hostile = without_lowest(hostile)
            target = np.int64(state.at[target_cell])
            if not may_hurt(state, state.kind[slot], state.kind[target]):
                continue
            threat = _threat(state, target, acted)
            cells = attack_cells(state, slot, reachable, target_cell)
            while not is_empty(cells):
                cell = lowest(cells)
                cells = without_lowest(cells)
                hit, counter = exchange(state, slot, cell, target)
                score = hit * (10.0 + threat) - counter * (10.0 + state.hp[slot])
                if hit > 0.0 and score > best:
                    best = score
                    set_move(move, slot, cell, target)
    return best


@jit
def _pull(state, kind, cell, enemies):
    """How much a unit of this kind wants to stand on the cell."""
    most = 0.0
    while enemies:
        enemy = lowest_slot(enemies)
        enemies &= enemies - _ONE
        strength = power(state, kind, state.kind[enemy])
        most = max(most, strength // (distance(state, cell, np.int64(state.cell[enemy])) + 5.0))
    return 5.0 * stars(state, kind, cell) + most


@jit
def greedy_move(state, rng, move):
    if _best_attack(state, move) > _WORTH_ATTACKING:
        return
    units = active_units(state)
    slot = nth_slot(units, below(rng, count_slots(units)))
    enemies = side_units(state, 1 - player(state))
    best = -np.inf
    cells = reach(state, slot)
    while not is_empty(cells):
        cell = lowest(cells)
        cells = without_lowest(cells)
        pull = _pull(state, state.kind[slot], cell, enemies)
        if pull > best:
            best = pull
            set_move(move, slot, cell, NOBODY)


answer(game.greedy_move, is_tubstap, greedy_move)
