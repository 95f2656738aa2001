"""The rules of TUBSTAP, compiled: the answers to the questions of sandtable.envs.game.

A move is a row (slot, cell, target slot or NOBODY): the unit goes to the cell and attacks the target.
"""

from __future__ import annotations

import numba
import numpy as np
from llvmlite import ir

from sandtable.envs import game
from sandtable.envs.bitboard import empty, has, is_empty, load, lowest, neighbours, only, store, stride, without_lowest
from sandtable.envs.jit import answer, jit
from sandtable.envs.randomness import mix
from sandtable.envs.tubstap.state import (
    BLUE_WON,
    COST_BOARD,
    DRAWN,
    DTYPES,
    MAX_UNITS,
    NOBODY,
    RECTANGLE_BOARD,
    RED_WON,
    RUNNING,
)
from sandtable.envs.tubstap.tables import (
    AIR,
    ANTIAIR,
    CANNON,
    CANNON_RANGE,
    INFANTRY,
    MAX_HP,
    MAX_TURN,
    MOBILITY,
    POWER,
    STARS,
    UNIT_CLASS,
)

_MOBILITY = np.array(MOBILITY, np.int64)
_CLASS = np.array(UNIT_CLASS, np.int64)
_STARS = np.array(STARS, np.float64)
_POWER = POWER.astype(np.float64)
_NEAREST, _FARTHEST = CANNON_RANGE
_SIDE_MASK = np.array([(1 << MAX_UNITS) - 1, ((1 << MAX_UNITS) - 1) << MAX_UNITS], np.uint32)
_ONE = np.uint32(1)
_FULL_HP = float(MAX_HP)
_ANY_DAMAGE = 1e-9
_ROUNDING = 1e-9  # sums of real HP that differ by less are equal, in whatever order they were added

RECORDS = tuple(numba.from_dtype(dtype) for dtype in DTYPES)


def is_tubstap(record) -> bool:
    """Whether a numba type is a state of this game."""
    return record in RECORDS


@jit
def fits(state, width, height, units):
    """Whether the state is of a map of this size with at most so many units a side: what arrays are made for."""
    more = 0
    for slot in range(units, MAX_UNITS):
        more += (state.id[slot] >= 0) + (state.id[MAX_UNITS + slot] >= 0)
    return more == 0 and state.width == width and state.height == height


@jit
def first_unfit(states, width, height, units):
    """The index of the first state that does not fit (see `fits`), or -1."""
    for i in range(len(states)):
        if not fits(states[i], width, height, units):
            return i
    return -1


@jit
def player(state):
    return np.int64(state.turn & 1)


@jit
def done(state):
    return state.status != RUNNING


@jit
def outcome(state):
    return 1.0 if state.status == RED_WON else -1.0 if state.status == BLUE_WON else 0.0


@jit
def active_units(state):
    """The mask of the slots that may still act in this turn."""
    if state.status != RUNNING:
        return np.uint32(0)
    return state.alive & ~state.acted & _SIDE_MASK[state.turn & 1]


@jit
def side_units(state, side):
    """The mask of a side's living units."""
    return state.alive & _SIDE_MASK[side]


@jit
def lowest_slot(mask):
    """The first slot of a mask that is not empty."""
    return np.int64(_trailing_zeros(mask))


@numba.extending.intrinsic
def _trailing_zeros(context, mask):
    return numba.types.uint32(numba.types.uint32), lambda context, builder, sig, args: builder.cttz(
        args[0], ir.Constant(ir.IntType(1), 1)
    )


@jit
def mobility(state, kind):
    """The points of movement of a kind of unit."""
    return np.int64(state.cannon_mobility) if kind == CANNON else _MOBILITY[kind]


@jit
def reach(state, slot):
    """The cells that the unit can end its move on, its own included, whosever turn it is."""
    kind = state.kind[slot]
    side = slot >> 4
    costs = COST_BOARD + 2 * _CLASS[kind]
    enemies = load(state.boards, 1 - side)
    once = load(state.boards, costs) & ~enemies
    twice = load(state.boards, costs + 1) & ~enemies
    start = only(state.boards, np.int64(state.cell[slot]))
    steps = mobility(state, kind)
    now = start
    if is_empty(twice):
        for _ in range(steps):
            after = now | (neighbours(now) & once)
            if is_empty(after ^ now):
                break
            now = after
    else:
        before = empty(state.boards)
        for _ in range(steps):
            after = now | (neighbours(now) & once) | (neighbours(before) & twice)
            before = now
            now = after
    return (now & ~load(state.boards, side)) | start


@jit
def distance(state, a, b):
    """The Manhattan distance of two cells."""
    width = stride(state.boards)
    return abs(a // width - b // width) + abs(a % width - b % width)


@jit
def power(state, kind, target_kind):
    """The attack power of one kind of unit against another; 0 where it cannot hurt."""
    if kind == ANTIAIR and target_kind == INFANTRY:
        return np.float64(state.antiair_infantry)
    return _POWER[kind, target_kind]


@jit
def stars(state, kind, cell):
    """The defence of a kind of unit on a cell."""
    return 0.0 if _CLASS[kind] == AIR else _STARS[state.terrain[cell]]


@jit
def damage(state, kind, hp, target_kind, target_hp, target_stars):
    """What an attack takes from the target, whose HP are `target_hp`."""
    strength = power(state, kind, target_kind)
    if strength == 0.0:
        return 0.0
    lost = (strength * hp + 70.0) / (100.0 + target_stars * target_hp)
    if not state.real:
        lost = np.floor(lost)
    return min(lost, np.float64(target_hp))


@jit
def exchange(state, slot, cell, target):
    """What the attack from `cell` takes from the target, and what its counter-attack takes from the attacker."""
    kind, target_kind = state.kind[slot], state.kind[target]
    hp, target_hp = np.float64(state.hp[slot]), np.float64(state.hp[target])
    hit = damage(state, kind, hp, target_kind, target_hp, stars(state, target_kind, state.cell[target]))
    left = target_hp - hit
    if left <= 0.0 or kind == CANNON or target_kind == CANNON:
        return hit, 0.0
    return hit, damage(state, target_kind, left, kind, hp, stars(state, kind, cell))


@jit
def exchange_of(states, slot, cell, target):
    """The exchange in states[0], for people."""
    return exchange(states[0], slot, cell, target)


@jit
def may_hurt(state, kind, target_kind):
    """Whether attacks of one kind of unit on another are legal."""
    return state.ineffective_attacks != 0 or _POWER[kind, target_kind] > 0.0


@jit
def in_range(state, cell):
    """The cells that a cannon on `cell` fires at."""
    rectangle = load(state.boards, RECTANGLE_BOARD)
    too_near = only(state.boards, cell)
    near_enough = too_near
    for distance in range(1, _FARTHEST + 1):
        # Inside a rectangle the Manhattan distance is the number of steps.
        near_enough = near_enough | (neighbours(near_enough) & rectangle)
        if distance < _NEAREST:
            too_near = near_enough
    return near_enough & ~too_near


@jit
def targets(state, slot, reachable):
    """The cells of the enemies that the unit can attack, kinds that it cannot hurt included."""
    enemies = load(state.boards, 1 - (slot >> 4))
    if state.kind[slot] == CANNON:
        return in_range(state, np.int64(state.cell[slot])) & enemies
    return neighbours(reachable) & enemies


@jit
def attack_cells(state, slot, reachable, target_cell):
    """From where the unit attacks a target on `target_cell`, which is one of its `targets`."""
    if state.kind[slot] == CANNON:
        return only(state.boards, np.int64(state.cell[slot]))
    return neighbours(only(state.boards, target_cell)) & reachable


@jit
def _write(out, n, slot, cells, target):
    """Append a move to each of the cells."""
    while not is_empty(cells):
        out[n, 0] = slot
        out[n, 1] = lowest(cells)
        out[n, 2] = target
        cells = without_lowest(cells)
        n += 1
    return n


@jit
def _write_attacks(state, slot, reachable, least_damage, out, n):
    """Append the attacks that do at least so much damage."""
    hostile = targets(state, slot, reachable)
    while not is_empty(hostile):
        cell = lowest(hostile)
        hostile = without_lowest(hostile)
        target = np.int64(state.at[cell])
        if not may_hurt(state, state.kind[slot], state.kind[target]):
            continue
        if least_damage > 0.0 and exchange(state, slot, state.cell[slot], target)[0] < least_damage:
            continue
        n = _write(out, n, slot, attack_cells(state, slot, reachable, cell), target)
    return n


@jit
def _moves(state, least_damage, out):
    n = 0
    units = active_units(state)
    while units:
        slot = lowest_slot(units)
        units &= units - _ONE
        reachable = reach(state, slot)
        n = _write(out, n, slot, reachable, NOBODY)
        n = _write_attacks(state, slot, reachable, least_damage, out, n)
    return n


@jit
def moves(state, out):
    return _moves(state, 0.0, out)


@jit
def strong_moves(state, out):
    """All moves but the attacks that do no damage."""
    return _moves(state, _ANY_DAMAGE, out)


@jit
def legal(state, move):
    """Whether a row of any numbers is a legal move."""
    slot, cell, target = np.int64(move[0]), np.int64(move[1]), np.int64(move[2])
    if not 0 <= slot < 2 * MAX_UNITS or not 0 <= cell < len(state.terrain):
        return False
    if not (active_units(state) >> np.uint32(slot)) & _ONE:
        return False
    reachable = reach(state, slot)
    if target == NOBODY:
        return has(reachable, cell)
    if not 0 <= target < 2 * MAX_UNITS or not (state.alive >> np.uint32(target)) & _ONE:
        return False
    target_cell = np.int64(state.cell[target])
    if not has(targets(state, slot, reachable), target_cell):
        return False
    if not may_hurt(state, state.kind[slot], state.kind[target]):
        return False
    return has(attack_cells(state, slot, reachable, target_cell), cell)


@jit
def _lose(state, slot, lost):
    """Take HP from a unit; without any left it is gone at once."""
    if lost <= 0.0:
        return
    state.hurt = 1
    state.hp[slot] -= lost
    if state.hp[slot] <= 0:
        state.hp[slot] = 0
        side = slot >> 4
        state.alive &= ~(_ONE << np.uint32(slot))
        board = load(state.boards, side)
        store(state.boards, side, board & ~only(state.boards, np.int64(state.cell[slot])))


@jit
def _hp_sum(state, side):
    total = 0.0
    units = side_units(state, side)
    while units:
        total += state.hp[lowest_slot(units)]
        units &= units - _ONE
    return total


@jit
def material(state):
    """The difference of the HP sums, as a share of what the larger side had with all its units unhurt."""
    red = blue = 0
    for slot in range(MAX_UNITS):
        red += state.id[slot] >= 0
        blue += state.id[MAX_UNITS + slot] >= 0
    return (_hp_sum(state, 0) - _hp_sum(state, 1)) / (_FULL_HP * max(red, blue))


@jit
def _judge(state):
    """Who has won, at the end of a turn: wiped out first, then the turn limit, then the quiet turns."""
    if side_units(state, 0) == 0:
        return BLUE_WON
    if side_units(state, 1) == 0:
        return RED_WON
    if state.turn_limit > 0 and state.turn >= state.turn_limit:
        ahead = 0.0 if state.limit_is_draw else _hp_sum(state, 0) - _hp_sum(state, 1)
        needed = state.hp_threshold + _ROUNDING
        return RED_WON if ahead > needed else BLUE_WON if -ahead > needed else DRAWN
    if state.quiet_turns > 0 and state.quiet >= state.quiet_turns:
        return DRAWN
    return DRAWN if state.turn >= MAX_TURN else RUNNING


@jit
def _end_turn(state):
    state.acted &= ~_SIDE_MASK[state.turn & 1]
    state.turn += 1
    state.quiet = 0 if state.hurt else state.quiet + 1
    state.hurt = 0
    state.status = _judge(state)


@jit
def settle(state):
    """End the turns of sides that have nothing left to do."""
    while state.status == RUNNING and not active_units(state):
        _end_turn(state)


@jit
def map_key(state):
    """A key of the map, the units' kinds and the rules."""
    word = mix(np.uint64(state.width) << np.uint64(8) | np.uint64(state.height))
    for cell in range(len(state.terrain)):
        word = mix(word ^ np.uint64(state.terrain[cell]))
    for slot in range(len(state.kind)):
        word = mix(word ^ (np.uint64(state.kind[slot]) << np.uint64(8)) ^ np.uint64(state.id[slot] + 1))
    for number in (
        state.turn_limit,
        state.hp_threshold,
        state.quiet_turns,
        state.antiair_infantry,
        np.int16(state.cannon_mobility),
        np.int16(state.ineffective_attacks),
        np.int16(state.limit_is_draw),
    ):
        word = mix(word ^ np.uint64(number))
    return word


@jit
def settle_new(states):
    """Judge states that come from outside: one may be over already, or begin with a side that cannot act."""
    for i in range(len(states)):
        states[i].map_key = map_key(states[i])
        states[i].status = _judge(states[i])
        settle(states[i])


@jit
def play(state, move):
    slot, cell, target = np.int64(move[0]), np.int64(move[1]), np.int64(move[2])
    side = slot >> 4
    board = load(state.boards, side) & ~only(state.boards, np.int64(state.cell[slot]))
    store(state.boards, side, board | only(state.boards, cell))
    state.cell[slot] = cell
    state.at[cell] = slot
    state.acted |= _ONE << np.uint32(slot)
    if target != NOBODY:
        hit, counter = exchange(state, slot, cell, target)
        _lose(state, target, hit)
        _lose(state, slot, counter)
        if side_units(state, 1 - side) == 0:
            _end_turn(state)
    settle(state)


@jit
def key(state):
    word = mix(state.map_key ^ (np.uint64(state.turn) << np.uint64(32) | np.uint64(state.acted & state.alive)))
    word = mix(word ^ (np.uint64(state.quiet) << np.uint64(8) | np.uint64(state.hurt)))
    units = state.alive
    while units:
        slot = lowest_slot(units)
        units &= units - _ONE
        hp = np.uint64(np.float64(state.hp[slot]) * 1e9)
        word = mix(word ^ (np.uint64(slot) << np.uint64(58) ^ np.uint64(state.cell[slot]) << np.uint64(48) ^ hp))
    return word


@jit
def attacks(state, move):
    return move[2] != NOBODY


@jit
def forget(state, rng):
    """Everything is known in this game."""


@jit
def luck(state, word):
    """Nothing is left to chance in this game."""


for _question, _body in (
    (game.player, player),
    (game.moves, moves),
    (game.strong_moves, strong_moves),
    (game.legal, legal),
    (game.play, play),
    (game.done, done),
    (game.outcome, outcome),
    (game.material, material),
    (game.key, key),
    (game.attacks, attacks),
    (game.forget, forget),
    (game.luck, luck),
):
    answer(_question, is_tubstap, _body)
