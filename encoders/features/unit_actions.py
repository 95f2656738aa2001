"""What a policy reads of a unit action of TUBSTAP, compiled: 22 features of every move.

0, 1 x and y of the destination, from the middle of the board / 10; 2, 3 x and y of the way there / 10; 4 its Manhattan
distance / 10; 5 the unit stays; 6 stars of the destination / 4; 7 it attacks; 8 damage / 10; 9 counter-damage / 10; 10
the target dies; 11 the unit dies; 12 distance to the nearest enemy left / 20; 13 enemies that can attack it there / 4;
14 the damage that they would do, each alone, / 10; 15-21 the terrain there, by its code.

Who can attack it there is told from the position before the move: the enemies' ways are those of now, but an enemy that
the attack kills or wounds, and the HP that the unit has left, count as they are afterwards.
"""

from __future__ import annotations

import numpy as np

from sandtable.encoders.features.tubstap import fire, unit_place
from sandtable.envs.bitboard import has, load, stride
from sandtable.envs.jit import jit
from sandtable.envs.tubstap.rules import (
    active_units,
    damage,
    distance,
    exchange,
    lowest_slot,
    may_hurt,
    player,
    side_units,
    stars,
)
from sandtable.envs.tubstap.state import NOBODY, RECTANGLE_BOARD, SLOTS
from sandtable.envs.tubstap.tables import MAX_HP, MAX_SIDE, STARS, TERRAIN_NAMES

_TERRAINS = len(TERRAIN_NAMES)
ACTION_FEATURES = 15 + _TERRAINS
DESTINATION, WAY = (0, 1), (2, 3)
"""The columns of x and y."""
_X, _Y, _WAY_X, _WAY_Y, _LENGTH, _STAYS, _STARS, _ATTACKS, _DAMAGE, _COUNTER, _KILLS, _DIES = range(12)
_NEAREST, _THREATS, _THREAT, _TERRAIN = range(12, 16)

_ONE = np.uint32(1)
_FULL_HP = float(MAX_HP)
_MOST_STARS = float(max(STARS))
_PLACE, _FAR, _COUNT = 10.0, float(MAX_SIDE), 4.0


@jit
def _known(state, slot, cell, target):
    """Whether the mover has such a unit to act with, the map such a cell, and the opponent such a target."""
    if not 0 <= slot < SLOTS or not (active_units(state) >> np.uint32(slot)) & _ONE:
        return False
    if not 0 <= cell < len(state.terrain) or not has(load(state.boards, RECTANGLE_BOARD), cell):
        return False
    enemies = side_units(state, 1 - player(state))
    return target == NOBODY or (0 <= target < SLOTS and (enemies >> np.uint32(target)) & _ONE != 0)


@jit
def _write_place(state, slot, cell, row):
    width, here = stride(state.boards), np.int64(state.cell[slot])
    y, x = cell // width, cell % width
    row[_X] = (x - (state.width - 1) / 2.0) / _PLACE
    row[_Y] = (y - (state.height - 1) / 2.0) / _PLACE
    row[_WAY_X] = (x - here % width) / _PLACE
    row[_WAY_Y] = (y - here // width) / _PLACE
    row[_LENGTH] = distance(state, here, cell) / _PLACE
    row[_STAYS] = cell == here
    row[_STARS] = stars(state, state.kind[slot], cell) / _MOST_STARS
    row[_TERRAIN + state.terrain[cell]] = 1.0


@jit
def _write_attack(state, slot, cell, target, row, lost):
    """lost (2,): the HP that target and unit lose."""
    hit, counter = exchange(state, slot, cell, target)
    lost[0], lost[1] = hit, counter
    row[_ATTACKS] = 1.0
    row[_DAMAGE] = hit / _FULL_HP
    row[_COUNTER] = counter / _FULL_HP
    row[_KILLS] = hit >= state.hp[target]
    row[_DIES] = counter >= state.hp[slot]


@jit
def _write_threat(state, slot, cell, target, lost, enemy, attackable, row):
    """What one enemy could do to the unit there."""
    hp = np.float64(state.hp[enemy]) - (lost[0] if enemy == target else 0.0)
    if hp <= 0.0:
        return
    away = distance(state, cell, np.int64(state.cell[enemy])) / _FAR
    if row[_NEAREST] == 0.0 or away < row[_NEAREST]:
        row[_NEAREST] = away
    left = np.float64(state.hp[slot]) - lost[1]
    kind = state.kind[slot]
    if left > 0.0 and has(attackable, cell) and may_hurt(state, state.kind[enemy], kind):
        row[_THREATS] += 1.0 / _COUNT
        row[_THREAT] += damage(state, state.kind[enemy], hp, kind, left, stars(state, kind, cell)) / _FULL_HP


@jit
def actions_each(states, players, units, rows, ends, unit, target, cell, features):
    """Write the actions of all states; the first of rows (m, 3) that is no move of its state's mover, or -1."""
    lost = np.zeros((len(rows), 2))
    for b in range(len(states)):
        state, me = states[b], players[b]
        width = stride(state.boards)
        for i in range(ends[b], ends[b + 1]):
            slot, there, victim = np.int64(rows[i, 0]), np.int64(rows[i, 1]), np.int64(rows[i, 2])
            if not _known(state, slot, there, victim):
                return i
            unit[i] = unit_place(slot, me, units)
            target[i] = NOBODY if victim == NOBODY else unit_place(victim, me, units)
            cell[i] = there // width * state.width + there % width
            _write_place(state, slot, there, features[i])
            if victim != NOBODY:
                _write_attack(state, slot, there, victim, features[i], lost[i])
        enemies = side_units(state, 1 - player(state))
        while enemies and ends[b] < ends[b + 1]:
            enemy = lowest_slot(enemies)
            enemies &= enemies - _ONE
            attackable = fire(state, enemy)
            for i in range(ends[b], ends[b + 1]):
                slot, there, victim = np.int64(rows[i, 0]), np.int64(rows[i, 1]), np.int64(rows[i, 2])
                _write_threat(state, slot, there, victim, lost[i], enemy, attackable, features[i])
    return -1
