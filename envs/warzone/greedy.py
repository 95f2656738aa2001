"""A simple hand-written player, compiled.

Its targets are the foreign territories next to its own. A target is worth the values of the bonuses that its capture
completes, and of those that its capture takes from the enemy, who holds them whole. It costs the fewest armies that
take it; an enemy's territory is thought to get an equal share of the enemy's income, as all on the enemy's border.
Again and again the best target is attacked that can be paid: the highest worth first, then the enemy's before neutral
land, then the lowest cost, then the lowest number. The attack comes from the own neighbour with the most armies left,
which gets out of the income what it lacks; against neutral land it sends the cost, against the enemy everything it
has left. What is left of the income goes to the strongest territory that touches the enemy, or of the border if none
does. Then whoever has 1.1 times as many armies left as the strongest enemy next to it, who is not under attack yet,
is thought to get, attacks with all of them: two that only gather would face each other for ever. Inland armies go one
step nearer to foreign land.
"""

from __future__ import annotations

import numpy as np

from sandtable.envs import game
from sandtable.envs.jit import answer, jit
from sandtable.envs.warzone.masks import count, has, lowest, only, without_lowest
from sandtable.envs.warzone.playouts import add_order, advance, border, drop_empty_deploys, finish, set_order
from sandtable.envs.warzone.rules import income, is_warzone, least_to_capture, player
from sandtable.envs.warzone.state import MAX_TERRITORIES

_GRIND_TENTHS = 11


@jit
def _worth(state, own, enemy, target):
    """The values of the bonuses that capturing the target completes or breaks."""
    worth = 0
    for i in range(state.bonuses):
        bonus = state.bonus[i]
        if has(bonus, target) and (bonus & ~(own | only(target)) == 0 or bonus & ~enemy == 0):
            worth += state.bonus_value[i]
    return worth


@jit
def _strongest(own, neighbours, left):
    """The own neighbour with the most armies left."""
    rest = neighbours & own
    best = lowest(rest)
    while rest:
        territory = lowest(rest)
        rest = without_lowest(rest)
        if left[territory] > left[best]:
            best = territory
    return best


@jit
def _best_target(state, own, enemy, share, targets, purse, left):
    """(target, source, cost) of the best attack that can be paid; the target is -1 if there is none."""
    best, best_source, best_worth, best_cost = -1, -1, -1, 0
    while targets:
        target = lowest(targets)
        targets = without_lowest(targets)
        source = _strongest(own, state.adjacent[target], left)
        cost = least_to_capture(np.int64(state.armies[target]) + (share if has(enemy, target) else 0))
        if left[source] + purse < cost:
            continue
        worth = 2 * _worth(state, own, enemy, target) + has(enemy, target)
        if worth > best_worth or (worth == best_worth and cost < best_cost):
            best, best_source, best_worth, best_cost = target, source, worth, cost
    return best, best_source, best_cost


@jit
def _facing(state, front, enemy):
    """The territories of the border that touch the enemy, or all of them if none does."""
    found = np.uint64(0)
    rest = front
    while rest:
        territory = lowest(rest)
        rest = without_lowest(rest)
        if state.adjacent[territory] & enemy:
            found |= only(territory)
    return found if found else front


@jit
def _open(state, front, move, left):
    """Write an empty deploy for every territory of the border and what each has into left; how many there are."""
    n = 0
    targets = np.uint64(0)
    rest = front
    while rest:
        territory = lowest(rest)
        rest = without_lowest(rest)
        set_order(move, n, territory, territory, 0)
        left[territory] = state.armies[territory]
        targets |= state.adjacent[territory]
        n += 1
    return n, targets


@jit
def _add_deploy(front, move, territory, armies):
    """Add armies to the deploy of a territory of the border."""
    move[2 + 2 * count(front & (only(territory) - np.uint64(1)))] += armies


@jit
def _grind(state, source, targets, share, left, move, at):
    """Write the attack of a border territory on the strongest of the enemy's targets next to it, if that pays; the
    number of orders then."""
    rest = state.adjacent[source] & targets
    if left[source] == 0 or not rest:
        return at
    best = lowest(rest)
    while rest:
        target = lowest(rest)
        rest = without_lowest(rest)
        if state.armies[target] > state.armies[best]:
            best = target
    if 10 * left[source] < _GRIND_TENTHS * (np.int64(state.armies[best]) + share):
        return at
    sent, left[source] = left[source], 0
    return add_order(move, at, source, best, sent)


@jit
def greedy_move(state, rng, move):
    side = player(state)
    own, enemy = state.held[side], state.held[1 - side]
    front = border(state, side)
    left = np.empty(MAX_TERRITORIES, np.int64)
    deploys, targets = _open(state, front, move, left)
    targets &= ~own
    purse, at = income(state, side), deploys
    facing = count(border(state, 1 - side))
    share = (income(state, 1 - side) + facing - 1) // facing
    while True:
        target, source, cost = _best_target(state, own, enemy, share, targets, purse, left)
        if target < 0:
            break
        targets &= ~only(target)
        lacking = max(cost - left[source], 0)
        _add_deploy(front, move, source, lacking)
        purse -= lacking
        left[source] += lacking
        sent = left[source] if has(enemy, target) else cost
        at = add_order(move, at, source, target, sent)
        left[source] -= sent
    spot = _strongest(own, _facing(state, front, enemy), left)
    _add_deploy(front, move, spot, purse)
    left[spot] += purse
    rest = front
    while rest:
        at = _grind(state, lowest(rest), targets & enemy, share, left, move, at)
        rest = without_lowest(rest)
    at = advance(state, own, front, rng, move, at)
    _, at = drop_empty_deploys(move, deploys, at)
    finish(move, at)


answer(game.greedy_move, is_warzone, greedy_move)
