"""Tree search over any game, compiled once for each: UCT with the variants of the papers.

A tree is an array of nodes; the children of a node stand in one run, in the order in which the game lists its
moves. Node 0 is the root. States are not stored: every simulation replays its path from the root's state.
The player to move is stored in the node, for several moves of one side may follow each other.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sandtable.envs.game import (
    attack_move,
    done,
    greedy_move,
    key,
    luck,
    material,
    moves,
    outcome,
    play,
    player,
    random_move,
    sound_attack_move,
    strong_moves,
    unit_move,
)
from sandtable.envs.jit import jit
from sandtable.envs.randomness import below, mix, uniform

LEAF = -1  # the first child of a node without children


class Style(NamedTuple):
    """What differs between the searches. Plain numbers: compiled code takes it as it is."""

    c: float
    """How much exploration counts, beside mean outcomes from 0 (lost) to 1 (won)."""
    threshold: int
    """A node gets its children, all at once, when it is visited after so many earlier visits."""
    log_of_all: bool
    """Exploration grows with the log of all simulations, not of the visits of the node."""
    minimax: bool
    """At the opponent's nodes the opponent chooses; if not, everybody plays for the player at the root."""
    prune: bool
    """Nodes get only the moves that a player would ever make, as the game defines them."""
    greedy: bool
    """Nodes also get the move of the game's hand-written player, if it is not among the others."""
    attack_chance: float
    """In rollouts a random attack is played this often where there is one, else any move of a random unit;
    0: all moves are equally likely."""
    sound: bool
    """Only such attacks that take no less than they cost."""
    margin: float
    """The share of a rollout's result that is the material left at its end; the rest is who won."""
    roll_all: bool
    """A node that gets children rolls out each of them at once."""
    plies: int
    """A rollout stops after so many moves, as a draw unless the game says otherwise."""


@lru_cache
def node_dtype(move_length: int) -> np.dtype:
    """A node: the sum of outcomes for player 0, visits, its children, whose move it is, the move that led here
    and what chance does then, and, where it has children, the key of its state."""
    return np.dtype(
        [
            ("total", np.float64),
            ("key", np.uint64),
            ("luck", np.uint64),
            ("visits", np.int32),
            ("first", np.int32),
            ("count", np.int32),
            ("player", np.int8),
            ("move", np.int16, move_length),
        ],
        align=True,
    )


@jit
def plant(nodes):
    """Make nodes[0] the root of a new tree."""
    node = nodes[0]
    node.total = 0.0
    node.visits = 0
    node.first = LEAF
    node.count = 0
    return 1


@jit
def listed(state, greedy, rng, rows):
    """Write the moves of a node into rows, which are one more than the most moves; how many. greedy: see Style."""
    n = moves(state, rows[:-1])
    if greedy and n > 0:
        greedy_move(state, rng, rows[n])
        for i in range(n):
            if (rows[i] == rows[n]).all():
                return n
        n += 1
    return n


@jit
def _expand(nodes, used, parent, state, prune, greedy, rng, rows):
    """Give the node its children; the number of nodes in use then."""
    n = strong_moves(state, rows[:-1]) if prune else listed(state, greedy, rng, rows)
    node = nodes[parent]
    node.first = used
    node.count = n
    node.player = player(state)
    node.key = key(state)
    for i in range(n):
        child = nodes[used + i]
        child.total = 0.0
        child.visits = 0
        child.first = LEAF
        child.count = 0
        # One fall of chance for a node: over its siblings and their replies all falls are seen.
        child.luck = mix(rng[0] + np.uint64(used + i))
        for j in range(len(child.move)):
            child.move[j] = rows[i, j]
    return used + n


@jit
def _select(nodes, parent, chooser, simulations, c, log_of_all, rng):
    """The child with the highest upper bound for `chooser`; untried ones first, from a random place on."""
    node = nodes[parent]
    growth = c * np.sqrt(np.log(np.float64(simulations if log_of_all else node.visits)))
    sign = 0.5 if chooser == 0 else -0.5
    n = node.count
    start = below(rng, n)
    best, best_bound = node.first, -np.inf
    for i in range(n):
        index = node.first + (start + i if start + i < n else start + i - n)
        child = nodes[index]
        if child.visits == 0:
            return index
        visits = np.float64(child.visits)
        bound = sign * child.total / visits + growth / np.sqrt(visits)
        if bound > best_bound:
            best, best_bound = index, bound
    return best


@jit
def _attack(state, sound, rng, move):
    return sound_attack_move(state, rng, move) if sound else attack_move(state, rng, move)


@jit
def rollout(state, attack_chance, sound, margin, plies, rng, move):
    """Play the state to its end by random moves, at most `plies`; the result for player 0 (see Style)."""
    while plies > 0 and not done(state):
        if attack_chance == 0.0:
            random_move(state, rng, move)
        elif uniform(rng) >= attack_chance or not _attack(state, sound, rng, move):
            unit_move(state, rng, move)
        play(state, move)
        plies -= 1
    return (1.0 - margin) * outcome(state) + margin * material(state)


@jit
def _enter(nodes, node, state):
    """Play the move that leads to a node."""
    luck(state, nodes[node].luck)
    play(state, nodes[node].move)


@jit
def _back_up(nodes, path, depth, result):
    """Tell all nodes of a path about a result."""
    for i in range(depth + 1):
        nodes[path[i]].visits += 1
        nodes[path[i]].total += result


@jit
def simulate(nodes, full, used, root, simulations, style, rng, work, rows, path):
    """Grow the tree by at least so many simulations; (simulations that were run, nodes in use).

    It stops early when the next expansion might not fit into `nodes`, or a path into `path`, which must then be
    made larger; but if the tree is `full`, it goes on without new nodes. root (1,): the root's state; work (2,): room
    for states; rows (most moves + 1, length) int16.
    """
    c, threshold, log_of_all, minimax, prune, greedy, attack_chance, sound, margin, roll_all, plies = style
    us = player(root[0])
    ran = 0
    while ran < simulations:
        room = used + len(rows) <= len(nodes)
        if not room and not full:
            return ran, used
        work[0] = root[0]
        state = work[0]
        node, depth, grown = 0, 0, False
        path[0] = 0
        while not grown and not done(state):
            if depth + 1 == len(path):
                return ran, used
            if nodes[node].first == LEAF:
                if (nodes[node].visits < threshold and depth > 0) or not room:
                    break
                used = _expand(nodes, used, node, state, prune, greedy, rng, rows)
                grown = True
                if roll_all:
                    break
            chooser = nodes[node].player if minimax else us
            node = _select(nodes, node, chooser, nodes[0].visits, c, log_of_all, rng)
            depth += 1
            path[depth] = node
            _enter(nodes, node, state)
        if grown and roll_all:
            for child in range(nodes[node].first, nodes[node].first + nodes[node].count):
                work[1] = state
                _enter(nodes, child, work[1])
                path[depth + 1] = child
                _back_up(nodes, path, depth + 1, rollout(work[1], attack_chance, sound, margin, plies, rng, rows[0]))
            ran += nodes[node].count
        else:
            _back_up(nodes, path, depth, rollout(state, attack_chance, sound, margin, plies, rng, rows[0]))
            ran += 1
    return ran, used


@jit
def best_child(nodes, by_mean):
    """The root's child with the best mean outcome for the root's player, or the most visits; of equals the other."""
    root = nodes[0]
    sign = 1.0 if root.player == 0 else -1.0
    best, best_first, best_second = -1, -np.inf, -np.inf
    for index in range(root.first, root.first + root.count):
        child = nodes[index]
        if child.visits == 0:
            continue
        mean, visits = sign * child.total / child.visits, np.float64(child.visits)
        first, second = (mean, visits) if by_mean else (visits, mean)
        if first > best_first or (first == best_first and second > best_second):
            best, best_first, best_second = index, first, second
    return best


@jit
def root_visits(nodes, state, rows, visits):
    """Write the visits of the root's children into visits (m,), one for each legal move; how many those are."""
    n = moves(state[0], rows[:-1])
    child, end = nodes[0].first, nodes[0].first + nodes[0].count
    for i in range(n):
        visits[i] = 0
        # The children are the legal moves or some of them, in the same order.
        same = child < end
        if same:
            for j in range(len(nodes[child].move)):
                same = same and nodes[child].move[j] == rows[i, j]
        if same:
            visits[i] = nodes[child].visits
            child += 1
    return n


@jit
def find(nodes, used, state):
    """The node with children whose state is `state` (1,), or -1."""
    wanted = key(state[0])
    for i in range(used):
        if nodes[i].first != LEAF and nodes[i].key == wanted:
            return i
    return -1


@jit
def transplant(nodes, start, fresh):
    """Copy the tree below `start` into `fresh`, which is at least as long; the number of nodes in use there."""
    fresh[0] = nodes[start]
    used, at = 1, 0
    while at < used:
        node = fresh[at]
        if node.first != LEAF:
            old = node.first
            node.first = used
            for i in range(node.count):
                fresh[used + i] = nodes[old + i]
            used += node.count
        at += 1
    return used
