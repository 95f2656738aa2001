"""Tree search where both sides choose at once: at a node each picks its move without knowing the other's.

A node has arms, moves of the one side and of the other, each with its own visits and outcomes; both sides pick by the
highest upper bound over their own arms (decoupled UCB). A pair of arms leads to a node of its own, made when the pair
is first met; what chance does on the way there is drawn then and stays. States are not stored: every simulation
replays its path from the root's state.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sandtable.agents.tree import LEAF, Style, listed, rollout
from sandtable.envs.game import Game, done, luck, moves_of, play, player
from sandtable.envs.jit import jit
from sandtable.envs.randomness import below, mix

_FIRST_ROOM = 1 << 7
_MOST_ROOM = 1 << 13
"""Nodes with arms: a tree of so many goes on without new ones."""

NODE = np.dtype(
    [
        ("luck", np.uint64),  # what chance does on the way here
        ("visits", np.int32),
        ("place", np.int32),  # which of the arms and pairs are its own; LEAF if it has none
        ("counts", np.int32, 2),  # how many arms the player to move has, and the other
        ("player", np.int8),
    ],
    align=True,
)


@lru_cache
def arm_dtype(move_length: int) -> np.dtype:
    """An arm: the sum of outcomes for player 0, visits, and the move."""
    return np.dtype([("total", np.float64), ("visits", np.int32), ("move", np.int16, move_length)], align=True)


@jit
def _new_node(nodes, used, word):
    node = nodes[used]
    node.luck = word
    node.visits = 0
    node.place = LEAF
    return used + 1


@jit
def _fill(arms, side, rows, n):
    """Give a side its arms: the first n of rows."""
    for i in range(n):
        arm = arms[side, i]
        arm.total = 0.0
        arm.visits = 0
        for j in range(len(arm.move)):
            arm.move[j] = rows[i, j]


@jit
def _expand(node, place, arms, pairs, state, spare, greedy, rng, rows):
    """Give a node its arms: the moves of the player to move, then those of the other. spare (1,): room for a state."""
    node.place = place
    node.player = player(state)
    node.counts[0] = listed(state, greedy, rng, rows)
    _fill(arms, 0, rows, node.counts[0])
    # What the other may order does not depend on what has been ordered.
    spare[0] = state
    play(spare[0], rows[0])
    node.counts[1] = listed(spare[0], greedy, rng, rows)
    _fill(arms, 1, rows, node.counts[1])
    pairs[:] = LEAF


@jit
def _pick(arms, n, visits, chooser, c, rng):
    """The arm with the highest upper bound for `chooser`; untried ones first, from a random place on."""
    growth = c * np.sqrt(np.log(np.float64(max(visits, 1))))
    sign = 0.5 if chooser == 0 else -0.5
    start = below(rng, n)
    best, best_bound = 0, -np.inf
    for k in range(n):
        i = start + k if start + k < n else start + k - n
        if arms[i].visits == 0:
            return i
        tried = np.float64(arms[i].visits)
        bound = sign * arms[i].total / tried + growth / np.sqrt(tried)
        if bound > best_bound:
            best, best_bound = i, bound
    return best


@jit
def _enter(state, arms, pairs, i, j, nodes, used, rng):
    """Play a pair of arms; (the node it leads to, nodes in use)."""
    child = pairs[i, j]
    if child == LEAF:
        child = used
        pairs[i, j] = child
        used = _new_node(nodes, used, mix(rng[0] + np.uint64(used)))
    luck(state, nodes[child].luck)
    play(state, arms[0, i].move)
    play(state, arms[1, j].move)
    return child, used


@jit
def _tell(nodes, arms, node, i, j, result):
    """Tell a node and the arms that were picked there about a result."""
    nodes[node].visits += 1
    own = arms[nodes[node].place]
    own[0, i].visits += 1
    own[0, i].total += result
    own[1, j].visits += 1
    own[1, j].total += result


@jit
def _back_up(nodes, arms, path, depth, result):
    for k in range(depth):
        _tell(nodes, arms, path[k, 0], path[k, 1], path[k, 2], result)


@jit
def simulate(nodes, arms, pairs, full, used, places, root, simulations, style, rng, work, rows, path):
    """Grow the tree by at least so many simulations; (simulations that were run, nodes in use, places in use).

    nodes (n,); arms (places, 2, most moves) and pairs (places, most moves, most moves): what nodes with arms have. It
    stops early when there may be no room left, which must then be made larger; but if the tree is `full`, it goes on
    without new places. root (1,): the root's state; work (2,): room for states;
    rows (most moves, length) int16; path (d, 3): a path longer than that is not followed further.
    """
    c, threshold, roll_all, plies = style.c, style.threshold, style.roll_all, style.plies
    if used == 0:
        used = _new_node(nodes, 0, np.uint64(0))
    ran = 0
    while ran < simulations:
        if used + len(rows) >= len(nodes) or (places == len(arms) and not full):
            break
        work[0] = root[0]
        state = work[0]
        node, depth, grown = 0, 0, False
        while not grown and depth < len(path) and not done(state):
            if nodes[node].place == LEAF:
                if (nodes[node].visits < threshold and depth > 0) or places == len(arms):
                    break
                _expand(nodes[node], places, arms[places], pairs[places], state, work[1:], style.greedy, rng, rows)
                places += 1
                grown = True
                if roll_all:
                    break
            own, met = arms[nodes[node].place], pairs[nodes[node].place]
            mover, visits = nodes[node].player, nodes[node].visits
            i = _pick(own[0], nodes[node].counts[0], visits, mover, c, rng)
            j = _pick(own[1], nodes[node].counts[1], visits, 1 - mover, c, rng)
            path[depth, 0], path[depth, 1], path[depth, 2] = node, i, j
            depth += 1
            node, used = _enter(state, own, met, i, j, nodes, used, rng)
        if grown and roll_all:
            own, met = arms[nodes[node].place], pairs[nodes[node].place]
            mine, theirs = nodes[node].counts[0], nodes[node].counts[1]
            shift = below(rng, theirs)
            for k in range(max(mine, theirs)):
                i, j = k % mine, (k + shift) % theirs
                work[1] = state
                child, used = _enter(work[1], own, met, i, j, nodes, used, rng)
                result = rollout(work[1], 0.0, False, 0.0, plies, rng, rows[0])
                nodes[child].visits += 1
                _tell(nodes, arms, node, i, j, result)
                _back_up(nodes, arms, path, depth, result)
            ran += max(mine, theirs)
        else:
            result = rollout(state, 0.0, False, 0.0, plies, rng, rows[0])
            if nodes[node].place == LEAF:
                nodes[node].visits += 1
            _back_up(nodes, arms, path, depth, result)
            ran += 1
    return ran, used, places


class JointTree:
    """A growing search tree of one game, and the room its simulations need."""

    def __init__(self, game: Game) -> None:
        n, length = game.max_moves + 1, game.move_length
        self._arms = np.empty((_FIRST_ROOM, 2, n), arm_dtype(length))
        self._pairs = np.empty((_FIRST_ROOM, n, n), np.int32)
        self._nodes = np.empty(_FIRST_ROOM * (n + 1), NODE)
        self._rows = np.empty((n, length), np.int16)
        self._path = np.empty((1 << 10, 3), np.int32)
        self._used = self._places = 0

    def start(self, root: np.ndarray) -> None:
        """Begin a new tree at the state root (1,)."""
        self.root, self._work = root.copy(), np.concatenate([root, root])
        self._used = self._places = 0

    def grow(self, simulations: int, style: Style, rng: np.ndarray) -> None:
        """Run so many simulations, with more room where it is needed."""
        while simulations > 0:
            if self._places == len(self._arms) < _MOST_ROOM:
                self._arms = np.concatenate([self._arms, np.empty_like(self._arms)])
                self._pairs = np.concatenate([self._pairs, np.empty_like(self._pairs)])
            if self._used + len(self._rows) >= len(self._nodes):
                self._nodes = np.concatenate([self._nodes, np.empty_like(self._nodes)])
            ran, self._used, self._places = simulate(
                self._nodes,
                self._arms,
                self._pairs,
                len(self._arms) == _MOST_ROOM,
                self._used,
                self._places,
                self.root,
                simulations,
                style,
                rng,
                self._work,
                self._rows,
                self._path,
            )
            simulations -= ran

    def decision(self, by_mean: bool) -> tuple[np.ndarray, float, np.ndarray]:
        """The chosen move, the value of the root for its player, and the visits of all its moves."""
        root = self._nodes[0]
        arms = self._arms[root["place"], 0, : root["counts"][0]]
        sign = 1.0 if root["player"] == 0 else -1.0
        visits = arms["visits"].astype(np.int64)
        means = np.where(visits > 0, sign * arms["total"] / np.maximum(visits, 1), -np.inf)
        first, second = (means, visits) if by_mean else (visits, means)
        best = max(range(len(arms)), key=lambda i: (first[i], second[i]))
        value = sign * float(arms["total"].sum()) / max(int(visits.sum()), 1)
        # The hand-written player's move, if it is among them, is the last and not one of the game's list.
        return arms["move"][best].copy(), value, visits[: moves_of(self.root, self._rows[:-1])]
