"""The tree search with a network for games in which both players choose at once: decoupled PUCT.

As in agents/joint.py, a node has arms of both players, each picked by its own values and priors without knowing the
other's pick, and leads to a node for each pair that was met. A leaf is judged twice, once for each player's moves; its
value is the mean of both. As in agents/pvtree.py, many trees share the arrays and a path to a leaf that is being judged
counts as lost, for either player.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sandtable.agents.pvtree import NO_PARENT, draw_shares
from sandtable.agents.tree import LEAF, listed
from sandtable.envs.game import done, luck, outcome, play, player
from sandtable.envs.jit import jit
from sandtable.envs.randomness import mix

NODE = np.dtype(
    [
        ("luck", np.uint64),  # what chance does on the way here
        ("total", np.float64),  # the sum of values for player 0
        ("visits", np.int32),
        ("virtual", np.int32),  # how often it is on the way to a leaf that is being judged
        ("parent", np.int32),
        ("pair", np.int16, 2),  # by which arms of the parent
        ("place", np.int32),  # which of the arms and pairs are its own; LEAF if it has none
        ("counts", np.int32, 2),  # how many arms the player to move has, and the other
        ("player", np.int8),
    ],
    align=True,
)


@lru_cache
def arm_dtype(move_length: int) -> np.dtype:
    """An arm: the sum of values for player 0, visits, those on the way, what the policy says, and the move."""
    return np.dtype(
        [
            ("total", np.float64),
            ("visits", np.int32),
            ("virtual", np.int32),
            ("prior", np.float32),
            ("move", np.int16, move_length),
        ],
        align=True,
    )


@jit
def new_node(nodes, used, parent, i, j, word):
    node = nodes[used]
    node.luck = word
    node.total = 0.0
    node.visits = 0
    node.virtual = 0
    node.parent = parent
    node.pair[0], node.pair[1] = i, j
    node.place = LEAF
    return used + 1


@jit
def plant(nodes, used, roots, words):
    """Make a new root for each of roots (g,); the number of nodes in use then. words (g,) uint64: what chance in each
    tree follows from."""
    for g in range(len(roots)):
        roots[g] = used
        used = new_node(nodes, used, NO_PARENT, 0, 0, words[g])
    return used


@jit
def _pick(node, arms, n, chooser, style):
    """The arm with the highest bound for `chooser`."""
    sign = 1.0 if chooser == 0 else -1.0
    untried = sign * node.total / node.visits - style.fpu if style.fpu >= 0.0 and node.visits > 0 else 0.0
    growth = style.c * np.sqrt(np.float64(node.visits + node.virtual))
    best, best_bound = 0, -np.inf
    for i in range(n):
        arm = arms[i]
        visits = np.float64(arm.visits + arm.virtual)
        value = untried if visits == 0.0 else (sign * arm.total - arm.virtual) / visits
        bound = value + growth * arm.prior / (1.0 + visits)
        if bound > best_bound:
            best, best_bound = i, bound
    return best


@jit
def _tell(nodes, arms, node, value, visits, virtual):
    """Tell a node, and all above it with the arms on the way, a value for player 0."""
    while True:
        nodes[node].visits += visits
        nodes[node].total += value
        nodes[node].virtual += virtual
        parent = nodes[node].parent
        if parent == NO_PARENT:
            return
        for side in range(2):
            arm = arms[nodes[parent].place, side, nodes[node].pair[side]]
            arm.visits += visits
            arm.total += value
            arm.virtual += virtual
        node = parent


@jit
def gather(nodes, used, arms, pairs, roots, states, left, style, rngs, work, most, found, leaves, rows, ends):
    """One round, as in agents/pvtree.py: (how many leaves there are to judge, nodes in use). The i-th leaf is
    leaves[2 i] for the player to move and leaves[2 i + 1] for the other."""
    n = 0
    ends[0] = 0
    for g in range(len(roots)):
        for _ in range(style.leaves):
            if left[g] <= 0:
                break
            if n == len(found) or ends[2 * n] + 2 * (most + 1) > len(rows):
                return n, used
            work[0] = states[g]
            state, node = work[0], roots[g]
            while not done(state) and nodes[node].place != LEAF:
                place, mover = nodes[node].place, nodes[node].player
                i = _pick(nodes[node], arms[place, 0], nodes[node].counts[0], mover, style)
                j = _pick(nodes[node], arms[place, 1], nodes[node].counts[1], 1 - mover, style)
                if pairs[place, i, j] == LEAF:
                    if used == len(nodes):
                        break
                    pairs[place, i, j] = used
                    used = new_node(nodes, used, node, i, j, mix(nodes[node].luck + np.uint64(i * most + j + 1)))
                node = pairs[place, i, j]
                luck(state, nodes[node].luck)
                play(state, arms[place, 0, i].move)
                play(state, arms[place, 1, j].move)
            if done(state):
                _tell(nodes, arms, node, outcome(state), 1, 0)
                left[g] -= 1
                continue
            if nodes[node].place == LEAF and nodes[node].virtual > 0:
                break  # it is on its way already
            _tell(nodes, arms, node, 0.0, 0, 1)
            left[g] -= 1
            found[n] = node
            for side in range(2):
                at = 2 * n + side
                leaves[at] = state
                room = rows[ends[at] : ends[at] + most + 1]
                ends[at + 1] = ends[at] + listed(leaves[at], style.greedy, rngs[g : g + 1], room)
                if side == 0:
                    # What the other may order does not depend on what has been ordered.
                    play(state, room[0])
            n += 1
    return n, used


@jit
def _fill(arms, rows, logits, trust):
    """Give a side its arms with their priors."""
    n = len(rows)
    top, total = -np.inf, 0.0
    for i in range(n):
        top = max(top, logits[i])
    for i in range(n):
        total += np.exp(logits[i] - top)
    for i in range(n):
        arm = arms[i]
        arm.total = 0.0
        arm.visits = 0
        arm.virtual = 0
        arm.prior = trust * np.exp(logits[i] - top) / total + (1.0 - trust) / n
        for j in range(len(arm.move)):
            arm.move[j] = rows[i, j]


@jit
def expand(nodes, arms, pairs, places, found, leaves, rows, ends, values, logits, style):
    """Give judged leaves their arms, as far as there is room, and tell their values; places in use then."""
    for i in range(len(found)):
        node = nodes[found[i]]
        mover = player(leaves[2 * i])
        value = 0.5 * (values[2 * i] - values[2 * i + 1])
        value = value if mover == 0 else -value
        if node.place == LEAF and places < len(arms):
            node.place = places
            node.player = mover
            pairs[places] = LEAF
            for side in range(2):
                at = 2 * i + side
                node.counts[side] = ends[at + 1] - ends[at]
                part = slice(ends[at], ends[at + 1])
                _fill(arms[places, side], rows[part], logits[part], style.trust)
            places += 1
        _tell(nodes, arms, found[i], value, 1, -1)
    return places


@jit
def stir(nodes, arms, roots, wild, noise, alpha, rngs):
    """Dirichlet noise of this share in the priors of the players to move at those roots that are wild (g,)."""
    for g in range(len(roots)):
        if wild[g] and noise > 0.0:
            root = nodes[roots[g]]
            own = arms[root.place, 0]
            drawn = draw_shares(root.counts[0], alpha, rngs[g : g + 1])
            for i in range(root.counts[0]):
                own[i].prior = (1.0 - noise) * own[i].prior + noise * drawn[i]


@jit
def count_moves(nodes, roots, ends):
    """Write where the moves of each root's player will begin and end."""
    ends[0] = 0
    for g in range(len(roots)):
        ends[g + 1] = ends[g] + nodes[roots[g]].counts[0]


@jit
def read(nodes, arms, roots, ends, rows, visits, policy, values, chosen):
    """As in agents/pvtree.py, of the moves of the players to move."""
    for g in range(len(roots)):
        root = nodes[roots[g]]
        sign = 1.0 if root.player == 0 else -1.0
        values[g] = sign * root.total / root.visits if root.visits > 0 else 0.0
        own = arms[root.place, 0]
        tried = 0
        for i in range(root.counts[0]):
            tried += own[i].visits
        best, best_first, best_second = ends[g], -np.inf, -np.inf
        for i in range(root.counts[0]):
            at = ends[g] + i
            for j in range(len(own[i].move)):
                rows[at, j] = own[i].move[j]
            visits[at] = own[i].visits
            policy[at] = own[i].visits / tried if tried > 0 else own[i].prior
            mean = sign * own[i].total / own[i].visits if own[i].visits > 0 else -np.inf
            second = mean if tried > 0 else np.float64(own[i].prior)
            if own[i].visits > best_first or (own[i].visits == best_first and second > best_second):
                best, best_first, best_second = at, np.float64(own[i].visits), second
        chosen[g] = best
