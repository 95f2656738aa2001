"""The rules of Warzone, compiled: the answers to the questions of sandtable.envs.game.

A move is a row of one player's orders for a turn: how many there are, then for each of them source × 64 + destination
and the number of armies; deploys (source and destination are the same) come first, and zeros follow the last order.
"""

from __future__ import annotations

import numba
import numpy as np

from sandtable.envs import game
from sandtable.envs.jit import answer, jit
from sandtable.envs.randomness import mix
from sandtable.envs.warzone.masks import count, has, only
from sandtable.envs.warzone.state import (
    DRAWN,
    DTYPES,
    FIRST_WON,
    MAX_ARMIES,
    MAX_ORDER,
    ORDER_MASK,
    ORDER_SHIFT,
    RUNNING,
    SECOND_WON,
)

# Sixty of a hundred attackers kill, seventy of a hundred defenders do; both are rounded to the nearest.
_KILLED_BY_ATTACKERS, _KILLED_BY_DEFENDERS, _ROUNDING = 6, 7, 5
_TURNS_OF_INCOME, _TERRITORY = 2.0, 0.5
_COIN_STEP = np.uint64(0x9E3779B97F4A7C15)
_SIGN = np.uint64(63)
_32 = np.uint64(32)

RECORDS = tuple(numba.from_dtype(dtype) for dtype in DTYPES)


def is_warzone(record) -> bool:
    """Whether a numba type is a state of this game."""
    return record in RECORDS


@jit
def player(state):
    return np.int64(state.leader ^ state.waiting)


@jit
def done(state):
    return state.status != RUNNING


@jit
def outcome(state):
    return 1.0 if state.status == FIRST_WON else -1.0 if state.status == SECOND_WON else 0.0


@jit
def income(state, side):
    """What a player (0 or 1) may deploy in this turn."""
    held = state.held[side]
    total = np.int64(state.base_income)
    for i in range(state.bonuses):
        if state.bonus[i] & ~held == 0:
            total += state.bonus_value[i]
    return total


@jit
def income_each(states, side, out):
    for i in range(len(states)):
        out[i] = income(states[i], side)


@jit
def least_to_capture(defenders):
    """The fewest armies that take a territory with so many defenders."""
    if defenders <= 1:
        return defenders + 1
    return (10 * defenders - _ROUNDING) // _KILLED_BY_ATTACKERS + 1


# Resolving a turn


@jit
def deploys(row):
    """How many deploys a move begins with."""
    n = 0
    while n < row[0] and (row[1 + 2 * n] >> ORDER_SHIFT) == (row[1 + 2 * n] & ORDER_MASK):
        n += 1
    return n


@jit
def _deploy(state, row):
    """Run a move's deploys; how many there were."""
    n = deploys(row)
    for i in range(n):
        territory = np.uint64(row[1 + 2 * i] & ORDER_MASK)
        state.armies[territory] = min(np.int64(state.armies[territory]) + row[2 + 2 * i], MAX_ARMIES)
    return n


@jit
def _left(tenths):
    """So many tenths of armies, rounded to the nearest; none if there are fewer than none."""
    # Unsigned division by a constant is a multiplication.
    return np.int64(np.uint64(max(tenths + _ROUNDING, np.int64(0))) // np.uint64(10))


@jit
def _send(state, side, row, i):
    """Run the i-th order of a player's move, a transfer or an attack, on what has become of the board."""
    source = np.uint64(row[1 + 2 * i] >> ORDER_SHIFT)
    destination = np.uint64(row[1 + 2 * i] & ORDER_MASK)
    own = state.held[side]
    if not has(own, source):
        return
    here, there = np.int64(state.armies[source]), np.int64(state.armies[destination])
    sent = min(np.int64(row[2 + 2 * i]), here)
    if not state.multi_attack:
        sent = min(sent, np.int64(state.movable[source]))
        state.movable[source] -= sent
    if sent == 0:
        return
    if has(own, destination):
        state.armies[source] = here - sent
        state.armies[destination] = min(there + sent, MAX_ARMIES)
        return
    survivors = _left(10 * sent - _KILLED_BY_DEFENDERS * there)
    defenders = _left(10 * there - _KILLED_BY_ATTACKERS * sent)
    if survivors > 0 and defenders == 0:
        state.armies[source] = here - sent
        state.armies[destination] = survivors
        _capture(state, side, destination)
    else:
        state.armies[source] = here - sent + survivors
        state.armies[destination] = defenders
        state.movable[destination] = min(np.int64(state.movable[destination]), defenders)


@jit
def _capture(state, side, territory):
    state.held[side] |= only(territory)
    state.held[1 - side] &= ~only(territory)
    state.owner[territory] = side + 1
    state.movable[territory] = 0


@jit
def resolve(state, row_0, row_1, first):
    """Run both players' moves of a turn in place. first: 0 or 1, the player whom the coin names."""
    at_0, at_1 = _deploy(state, row_0), _deploy(state, row_1)
    side = np.int64(first)
    if state.fewest_deploys and at_0 != at_1:
        side = np.int64(at_0 > at_1)
    if not state.multi_attack:
        state.movable[:] = state.armies
    end_0, end_1 = np.int64(row_0[0]), np.int64(row_1[0])
    left, run = 1, 2 if state.pairs else 1
    while at_0 < end_0 and at_1 < end_1:
        if side == 0:
            _send(state, 0, row_0, at_0)
            at_0 += 1
        else:
            _send(state, 1, row_1, at_1)
            at_1 += 1
        left -= 1
        if left == 0:
            side, left = 1 - side, run
    for i in range(at_0, end_0):
        _send(state, 0, row_0, i)
    for i in range(at_1, end_1):
        _send(state, 1, row_1, i)
    if not state.multi_attack:
        state.movable[:] = 0
    state.turn += 1
    state.status = judge(state)


@jit
def judge(state):
    """Who has won, at the end of a turn."""
    if state.held[0] == 0:
        return SECOND_WON
    if state.held[1] == 0:
        return FIRST_WON
    if state.turn_limit > 0 and state.turn >= state.turn_limit:
        return DRAWN
    return RUNNING


@jit
def judge_new(states):
    """Judge states that come from outside: one may be over already."""
    for i in range(len(states)):
        states[i].status = judge(states[i])


@jit
def toss(state):
    """Throw this turn's coin: the player, 0 or 1, whom it names."""
    state.coin += _COIN_STEP
    return np.int64(mix(state.coin) >> _SIGN)


@jit
def next_coin(states):
    """What this turn's coin will say in states[0]: 0 or 1."""
    return np.int64(mix(states[0].coin + _COIN_STEP) >> _SIGN)


@jit
def withdraw(state):
    """Take back the leader's orders, if they are in: the turn as both players see it while they choose."""
    state.pending[:] = 0
    state.waiting = 0


@jit
def luck(state, word):
    state.coin = word


@jit
def play(state, move):
    if state.waiting == 0:
        for i in range(len(state.pending)):
            state.pending[i] = move[i]
        state.waiting = 1
        return
    if state.leader == 0:
        resolve(state, state.pending, move, toss(state))
    else:
        resolve(state, move, state.pending, toss(state))
    withdraw(state)


@jit
def resolve_each(states, rows_0, rows_1, firsts):
    """Resolve a turn in each of states (n,) in place. rows (n, move_length); firsts (n,): 0, 1, or -1 for the coin."""
    for i in range(len(states)):
        coin = toss(states[i])
        resolve(states[i], rows_0[i], rows_1[i], coin if firsts[i] < 0 else firsts[i])


@jit
def resolve_pairs(state, rows_0, rows_1, first, out):
    """Resolve every move of rows_0 (n, length) against every move of rows_1 (m, length) from the one state (1,).

    out (n, m) gets the states; first: 0, 1, or -1 for the state's coin.
    """
    for i in range(len(rows_0)):
        for j in range(len(rows_1)):
            out[i, j] = state[0]
            coin = toss(out[i, j])
            resolve(out[i, j], rows_0[i], rows_1[j], coin if first < 0 else first)


# Judging rows and positions


@jit
def legal(state, move):
    """Whether a row of any numbers is a legal move."""
    n = np.int64(move[0])
    if state.status != RUNNING or not 0 <= n <= len(move) // 2:
        return False
    side = player(state)
    deployed, attacking = np.int64(0), False
    for i in range(n):
        code, armies = np.int64(move[1 + 2 * i]), np.int64(move[2 + 2 * i])
        source, destination = code >> ORDER_SHIFT, code & ORDER_MASK
        if not 0 <= source < state.territories or destination >= state.territories or not 1 <= armies <= MAX_ORDER:
            return False
        if source != destination:
            attacking = True
            if not has(state.adjacent[source], destination):
                return False
        elif attacking or not has(state.held[side], source):
            return False
        else:
            deployed += armies
    for i in range(1 + 2 * n, len(move)):
        if move[i] != 0:
            return False
    return not state.check_deploys or deployed <= income(state, side)


@jit
def _worth(state, side):
    """What a player has, in armies: those on the board, the income of two turns, and half an army a territory."""
    worth = _TURNS_OF_INCOME * income(state, side) + _TERRITORY * count(state.held[side])
    for i in range(state.territories):
        worth += state.armies[i] if state.owner[i] == side + 1 else 0
    return worth


@jit
def material(state):
    """The lead (a − b) / (a + b) in what both players have."""
    ours, theirs = _worth(state, 0), _worth(state, 1)
    return (ours - theirs) / (ours + theirs) if ours + theirs > 0 else 0.0


@jit
def attacks(state, move):
    """Whether one of its orders goes to land that is not the mover's."""
    own, found = state.held[player(state)], False
    for i in range(move[0]):
        found |= not has(own, np.int64(move[1 + 2 * i] & ORDER_MASK))
    return found


@jit
def board_key(state):
    """A key of what both players see: the board and the turn."""
    word = mix(state.held[0] ^ mix(state.held[1] ^ (np.uint64(state.turn) << _32)))
    for i in range(state.territories):
        word = mix(word ^ np.uint64(state.armies[i]) ^ (np.uint64(i) << _32))
    return word


@jit
def key(state):
    """The coin is not part of it: nobody can see it, and positions that look alike are one."""
    word = board_key(state)
    if state.leader:
        word = mix(word + _COIN_STEP)
    if state.waiting:
        word = mix(~word)
        for i in range(1 + 2 * np.int64(state.pending[0])):
            word = mix(word ^ np.uint64(state.pending[i]))
    return word


for _question, _body in (
    (game.player, player),
    (game.legal, legal),
    (game.play, play),
    (game.luck, luck),
    (game.done, done),
    (game.outcome, outcome),
    (game.material, material),
    (game.key, key),
    (game.attacks, attacks),
):
    answer(_question, is_warzone, _body)
