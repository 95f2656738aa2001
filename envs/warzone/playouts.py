"""Random moves of Warzone, drawn as the research code draws them, and the candidates that searches are given.

Each army of the income goes to a random own territory on the border to foreign land. Then every own territory with
armies sends some. On the border it looks at a random number (at least one) of its foreign neighbours in random
order, and attacks each that what is left there can take with a random number of armies that can. Inland everything
goes one step nearer to foreign land. Last, these orders are shuffled.
"""

from __future__ import annotations

import numpy as np

from sandtable.envs import game
from sandtable.envs.jit import answer, jit
from sandtable.envs.randomness import below, mix, random_word
from sandtable.envs.warzone.masks import count, lowest, nth, only, without_lowest
from sandtable.envs.warzone.rules import board_key, done, income, is_warzone, player, withdraw
from sandtable.envs.warzone.state import MAX_ORDER, ORDER_SHIFT


@jit
def border(state, side):
    """The player's territories that touch foreign land."""
    own = state.held[side]
    found = np.uint64(0)
    rest = own
    while rest:
        territory = lowest(rest)
        rest = without_lowest(rest)
        if state.adjacent[territory] & ~own:
            found |= only(territory)
    return found


@jit
def set_order(move, at, source, destination, armies):
    """Write the order number `at` of a move."""
    move[1 + 2 * at] = source << ORDER_SHIFT | destination
    move[2 + 2 * at] = min(armies, MAX_ORDER)


@jit
def add_order(move, at, source, destination, armies):
    """The same where the row has room for it; the number of orders then."""
    if at == len(move) // 2:
        return at
    set_order(move, at, source, destination, armies)
    return at + 1


@jit
def finish(move, orders):
    """Close a row with so many orders."""
    move[0] = orders
    move[1 + 2 * orders :] = 0


@jit
def _wanted(defenders):
    """How many armies the research code wants for an attack: defenders / 0.6, rounded, at least one."""
    return max((10 * defenders + 3) // 6, 1)


@jit
def _deploy_at_random(state, side, front, rng, move):
    """Write a deploy for every territory of the border, some of them of 0 armies; how many there are."""
    n = 0
    rest = front
    while rest:
        territory = lowest(rest)
        rest = without_lowest(rest)
        set_order(move, n, territory, territory, 0)
        n += 1
    for _ in range(income(state, side)):
        move[2 + 2 * below(rng, n)] += 1
    return n


@jit
def _attack_at_random(state, source, foreign, armies, rng, move, at):
    """Write the attacks of a territory on the border; the number of orders then."""
    neighbours = count(foreign)
    for tried in range(1 + below(rng, neighbours)):
        destination = nth(foreign, below(rng, neighbours - tried))
        foreign &= ~only(destination)
        wanted = _wanted(np.int64(state.armies[destination]))
        if wanted <= armies:
            sent = wanted + below(rng, armies - wanted + 1)
            at = add_order(move, at, source, destination, sent)
            armies -= sent
            if armies == 0:
                break
    return at


@jit
def advance(state, own, front, rng, move, at):
    """Write the transfers of inland territories, one step nearer to foreign land; the number of orders then."""
    inland = own & ~front
    nearer = front
    while inland:
        found = np.uint64(0)
        rest = inland
        while rest:
            source = lowest(rest)
            rest = without_lowest(rest)
            ways = state.adjacent[source] & nearer
            if ways:
                found |= only(source)
                if state.armies[source] > 0:
                    destination = nth(ways, below(rng, count(ways)))
                    at = add_order(move, at, source, destination, np.int64(state.armies[source]))
        inland &= ~found
        nearer = found
    return at


@jit
def drop_empty_deploys(move, deploys, end):
    """Close the gaps in a move whose first orders are deploys, some of 0 armies; (deploys, orders) that are left."""
    last = kept = 0
    for i in range(end):
        if move[2 + 2 * i] != 0:
            move[1 + 2 * kept] = move[1 + 2 * i]
            move[2 + 2 * kept] = move[2 + 2 * i]
            kept += 1
            if i < deploys:
                last = kept
    return last, kept


@jit
def _shuffle(move, start, end, rng):
    """Put the orders from `start` on in random order."""
    for i in range(end - 1, start, -1):
        j = start + below(rng, i - start + 1)
        for k in range(1, 3):
            move[k + 2 * i], move[k + 2 * j] = move[k + 2 * j], move[k + 2 * i]


@jit
def random_orders(state, side, rng, move):
    """Write a random move of a player, whoever is to move."""
    own = state.held[side]
    front = border(state, side)
    deploys = _deploy_at_random(state, side, front, rng, move)
    at = deploys
    rest, i = front, 0
    while rest:
        source = lowest(rest)
        rest = without_lowest(rest)
        armies = np.int64(state.armies[source]) + move[2 + 2 * i]
        i += 1
        if armies > 0:
            at = _attack_at_random(state, source, state.adjacent[source] & ~own, armies, rng, move, at)
    at = advance(state, own, front, rng, move, at)
    deploys, at = drop_empty_deploys(move, deploys, at)
    _shuffle(move, deploys, at, rng)
    finish(move, at)


@jit
def random_move(state, rng, move):
    random_orders(state, player(state), rng, move)


@jit
def _is_new(out, n):
    """Whether the row n differs from all rows before it."""
    for i in range(n):
        same = True
        for j in range(1 + 2 * np.int64(out[n, 0])):
            if out[i, j] != out[n, j]:
                same = False
                break
        if same:
            return False
    return True


@jit
def candidates(state, seed, out):
    """Write len(out) random moves, equal ones only once, into out (m, length); how many. They follow from the seed."""
    if done(state):
        return 0
    rng = np.empty(1, np.uint64)
    rng[0] = seed
    n = 0
    for _ in range(len(out)):
        random_move(state, rng, out[n])
        if _is_new(out, n):
            n += 1
    return n


@jit
def candidates_of(states, seed, out):
    """The candidates in states[0], for people."""
    return candidates(states[0], seed, out)


@jit
def moves(state, out):
    """Candidates: nobody can list all moves. They follow from the board, the turn and the player to move alone, so
    that the second player's do not depend on what the first player has ordered and on no coin."""
    return candidates(state, mix(board_key(state) ^ np.uint64(player(state))), out)


@jit
def forget(state, rng):
    """Nobody knows the coins to come, nor what the leader has ordered: the turn as if the player to move led."""
    state.coin = random_word(rng)
    if state.waiting:
        state.leader = player(state)
        withdraw(state)


@jit
def no_attack_move(state, rng, move):
    """A move is a whole turn here: there is no such thing as an attack alone."""
    return False


answer(game.forget, is_warzone, forget)
answer(game.moves, is_warzone, moves)
answer(game.strong_moves, is_warzone, moves)
answer(game.random_move, is_warzone, random_move)
answer(game.attack_move, is_warzone, no_attack_move)
answer(game.sound_attack_move, is_warzone, no_attack_move)
answer(game.unit_move, is_warzone, random_move)
