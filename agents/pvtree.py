"""Tree search with a network, compiled once for each game: many trees side by side in one array of nodes.

A search goes in rounds. `gather` walks every tree down to leaves that nobody has judged yet, by prior and mean value
(PUCT); the network judges the leaves of all trees in one batch; `expand` gives them children with priors and tells the
values to all nodes above. While a leaf is being judged its path counts as lost (virtual loss), so that several leaves
of one tree in a round are different ones.

As in agents/tree.py, the children of a node stand in one run in the order in which the game lists its moves, states are
replayed from the root's, and the player to move is stored in the node.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sandtable.agents.tree import LEAF, listed
from sandtable.envs.game import attacks, done, key, luck, outcome, play, player
from sandtable.envs.jit import jit
from sandtable.envs.randomness import mix, uniform

NO_PARENT = -1
_TINY = 1e-12


class Style(NamedTuple):
    """What differs between the searches. Plain numbers: compiled code takes it as it is."""

    c: float
    """How much exploration counts, beside mean values from -1 to 1."""
    attack: float
    """Kimura's B_attack: an attack's bound is higher by this / (1 + visits)."""
    fpu: float
    """A move that was never tried is taken to be this much worse than its node; below 0: to be a draw."""
    trust: float
    """The share of the network's policy in priors; the rest is the same for all moves."""
    greedy: bool
    """Nodes also get the move of the game's hand-written player, if it is not among the others."""
    leaves: int
    """How many leaves of a tree may be judged in one round."""
    gumbel: bool
    """Whether the root spends its simulations by sequential halving (Danihelka 2022), not by PUCT."""
    considered: int
    """Among how many moves, at most, the root then chooses."""
    sharpness: float
    """How much values count beside the logits of the policy then."""


@lru_cache
def node_dtype(move_length: int) -> np.dtype:
    """A node: the sum of values for player 0, visits, how often it is on the way to a leaf that is being judged, its
    parent and children, what the policy and a draw at the root say about the move that led here and what chance does
    then, and, where it has children, the network's value for player 0, whose move it is and the key of its state."""
    return np.dtype(
        [
            ("total", np.float64),
            ("key", np.uint64),
            ("luck", np.uint64),
            ("visits", np.int32),
            ("virtual", np.int32),
            ("parent", np.int32),
            ("first", np.int32),
            ("count", np.int32),
            ("prior", np.float32),
            ("drawn", np.float32),
            ("value", np.float32),
            ("player", np.int8),
            ("attacks", np.bool_),
            ("move", np.int16, move_length),
        ],
        align=True,
    )


@jit
def _clear(node, parent):
    node.total = 0.0
    node.visits = 0
    node.virtual = 0
    node.parent = parent
    node.first = LEAF
    node.count = 0
    node.drawn = 0.0


@jit
def plant(nodes, used, roots, words):
    """Make a new root for each of roots (g,) that is LEAF; the number of nodes in use then. words (g,) uint64: what
    chance in each tree follows from."""
    for g in range(len(roots)):
        if roots[g] == LEAF:
            roots[g] = used
            _clear(nodes[used], NO_PARENT)
            nodes[used].luck = words[g]
            used += 1
    return used


# Walking down


@jit
def _mean(node, sign):
    """The mean value of a node that was visited, for the player of the sign."""
    return sign * node.total / node.visits


@jit
def _by_bound(nodes, parent, style):
    """The child with the highest bound for the player to move."""
    node = nodes[parent]
    sign = 1.0 if node.player == 0 else -1.0
    untried = _mean(node, sign) - style.fpu if style.fpu >= 0.0 and node.visits > 0 else 0.0
    growth = style.c * np.sqrt(np.float64(node.visits + node.virtual))
    best, best_bound = node.first, -np.inf
    for index in range(node.first, node.first + node.count):
        child = nodes[index]
        visits = np.float64(child.visits + child.virtual)
        value = untried if visits == 0.0 else (sign * child.total - child.virtual) / visits
        bound = growth * child.prior
        if style.attack > 0.0 and child.attacks:
            bound += style.attack
        bound = value + bound / (1.0 + visits)
        if bound > best_bound:
            best, best_bound = index, bound
    return best


@jit
def _sharpened(visits, sharpness, value):
    """What a value from -1 to 1 adds to a logit, with so many visits of the most visited move."""
    return (50.0 + visits) * sharpness * 0.5 * value


@jit
def _most_visits(nodes, root):
    most = 0
    for index in range(nodes[root].first, nodes[root].first + nodes[root].count):
        most = max(most, nodes[index].visits)
    return most


@jit
def _by_halving(nodes, root, wanted, style):
    """Of the root's children with the wanted number of visits the most promising one; if there is none, by bound."""
    node = nodes[root]
    sign = 1.0 if node.player == 0 else -1.0
    most = _most_visits(nodes, root)
    best, best_score = -1, -np.inf
    for index in range(node.first, node.first + node.count):
        child = nodes[index]
        if child.visits + child.virtual == wanted:
            score = child.drawn + np.log(child.prior + _TINY)
            if child.visits > 0:
                score += _sharpened(most, style.sharpness, _mean(child, sign))
            if score > best_score:
                best, best_score = index, score
    return best if best >= 0 else _by_bound(nodes, root, style)


@jit
def _descend(nodes, root, state, wanted, style):
    """Walk from a root to a leaf or an end, playing on `state`; (the node, whether the game is over there)."""
    node = root
    while True:
        if done(state):
            return node, True
        if nodes[node].first == LEAF:
            return node, False
        node = (
            _by_halving(nodes, node, wanted, style) if style.gumbel and node == root else _by_bound(nodes, node, style)
        )
        luck(state, nodes[node].luck)
        play(state, nodes[node].move)


@jit
def _back_up(nodes, node, value, virtual):
    """Tell a node and all above it a value for player 0."""
    while node != NO_PARENT:
        nodes[node].visits += 1
        nodes[node].total += value
        nodes[node].virtual -= virtual
        node = nodes[node].parent


@jit
def gather(nodes, roots, states, left, first, plans, style, rngs, work, most, found, leaves, rows, ends):
    """One round: walk down every tree that has simulations left. How many leaves there are to judge.

    Their nodes stand in found, their states in leaves, their moves in rows[ends[i] : ends[i + 1]]. Ends of games are
    counted at once. left (g,): simulations of each tree still to run; first (g,): how many visits its root had before;
    plans (g, simulations): for halving, how many visits the next child has had; most: the most moves of a state.
    """
    n = 0
    ends[0] = 0
    for g in range(len(roots)):
        root = roots[g]
        for _ in range(style.leaves):
            if left[g] <= 0 or (nodes[root].first == LEAF and nodes[root].virtual > 0):
                break
            if n == len(found) or ends[n] + most + 1 > len(rows):
                return n
            step = nodes[root].visits + nodes[root].virtual - first[g]
            wanted = plans[g, min(max(step, 0), plans.shape[1] - 1)]
            work[0] = states[g]
            node, over = _descend(nodes, root, work[0], wanted, style)
            if over:
                _back_up(nodes, node, outcome(work[0]), 0)
                left[g] -= 1
                continue
            if nodes[node].virtual > 0:
                break  # it is on its way already
            above = node
            while above != NO_PARENT:
                nodes[above].virtual += 1
                above = nodes[above].parent
            left[g] -= 1
            found[n] = node
            leaves[n] = work[0]
            room = rows[ends[n] : ends[n] + most + 1]
            ends[n + 1] = ends[n] + listed(work[0], style.greedy, rngs[g : g + 1], room)
            n += 1
    return n


# Growing


@jit
def _set_priors(nodes, node, logits, trust):
    """Softmax of the logits as the priors of a node's children."""
    top, total = -np.inf, 0.0
    for i in range(len(logits)):
        top = max(top, logits[i])
    for i in range(len(logits)):
        total += np.exp(logits[i] - top)
    for i in range(len(logits)):
        share = np.exp(logits[i] - top) / total
        nodes[node.first + i].prior = trust * share + (1.0 - trust) / len(logits)


@jit
def expand(nodes, used, found, leaves, rows, ends, values, logits, style):
    """Give judged leaves their children, as far as there is room, and tell their values; nodes in use then.

    values (n,): for the player to move at each leaf; logits: of the moves.
    """
    for i in range(len(values)):
        node, state = nodes[found[i]], leaves[i]
        mover = player(state)
        value = values[i] if mover == 0 else -values[i]
        n = ends[i + 1] - ends[i]
        if node.first == LEAF and used + n <= len(nodes):
            node.first = used
            node.count = n
            node.player = mover
            node.value = value
            node.key = key(state)
            for j in range(n):
                child = nodes[used + j]
                _clear(child, found[i])
                child.luck = mix(node.luck + np.uint64(j + 1))
                row = rows[ends[i] + j]
                child.attacks = style.attack > 0.0 and attacks(state, row)
                for m in range(len(child.move)):
                    child.move[m] = row[m]
            _set_priors(nodes, node, logits[ends[i] : ends[i + 1]], style.trust)
            used += n
        _back_up(nodes, found[i], value, 1)
    return used


# Chance at the root


@jit
def _normal(rng):
    return np.sqrt(-2.0 * np.log(1.0 - uniform(rng))) * np.cos(2.0 * np.pi * uniform(rng))


@jit
def _gamma(alpha, rng):
    """A draw of the gamma distribution (Marsaglia and Tsang)."""
    boost = 1.0
    if alpha < 1.0:
        boost = (1.0 - uniform(rng)) ** (1.0 / alpha)
        alpha += 1.0
    d = alpha - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    while True:
        x = _normal(rng)
        v = (1.0 + c * x) ** 3
        if v > 0.0 and np.log(1.0 - uniform(rng)) < 0.5 * x * x + d - d * v + d * np.log(v):
            return boost * d * v


@jit
def draw_shares(n, alpha, rng):
    """Shares (n,) drawn of a Dirichlet distribution. alpha: of all of them together."""
    drawn = np.empty(n)
    for i in range(n):
        drawn[i] = _gamma(alpha / n, rng)
    return drawn / max(drawn.sum(), _TINY)


@jit
def stir(nodes, roots, wild, style, noise, alpha, rngs):
    """Chance at those roots that are wild (g,): Gumbel noise for halving, else Dirichlet noise of this share in the
    priors. alpha: of all moves of a root together."""
    for g in range(len(roots)):
        root = nodes[roots[g]]
        rng = rngs[g : g + 1]
        for i in range(root.count):
            child = nodes[root.first + i]
            child.drawn = 0.0
            if wild[g] and style.gumbel:
                child.drawn = -np.log(-np.log(1.0 - uniform(rng) * (1.0 - _TINY)) + _TINY)
        if wild[g] and noise > 0.0 and not style.gumbel:
            drawn = draw_shares(root.count, alpha, rng)
            for i in range(root.count):
                child = nodes[root.first + i]
                child.prior = (1.0 - noise) * child.prior + noise * drawn[i]


@jit
def plan_halving(nodes, roots, sims, considered, plans):
    """Write which visits the chosen child is to have had at each simulation, for sequential halving."""
    visits = np.zeros(considered, np.int32)
    for g in range(len(roots)):
        among = min(considered, nodes[roots[g]].count)
        if among == 0:
            continue  # it has no children yet
        visits[:] = 0
        rounds = max(1, np.int64(np.ceil(np.log2(np.float64(max(among, 2))))))
        step, n = 0, among
        while step < sims[g]:
            each = max(1, sims[g] // (rounds * n))
            for _ in range(each):
                for i in range(n):
                    if step < sims[g]:
                        plans[g, step] = visits[i]
                        step += 1
                    visits[i] += 1
            n = max(2, n // 2) if among > 1 else 1


# What came out


@jit
def count_moves(nodes, roots, ends):
    """Write where each root's moves will begin and end."""
    ends[0] = 0
    for g in range(len(roots)):
        ends[g + 1] = ends[g] + nodes[roots[g]].count


@jit
def read(nodes, roots, ends, style, rows, visits, policy, values, chosen):
    """Write the moves of all roots, their visits, what a policy should learn, the roots' values for their players, and
    which of the moves is best."""
    for g in range(len(roots)):
        root = nodes[roots[g]]
        sign = 1.0 if root.player == 0 else -1.0
        values[g] = _mean(root, sign) if root.visits > 0 else 0.0
        tried, weight, mixed = 0, 0.0, 0.0
        for i in range(root.count):
            child = nodes[root.first + i]
            at = ends[g] + i
            for j in range(len(child.move)):
                rows[at, j] = child.move[j]
            visits[at] = child.visits
            tried += child.visits
            if child.visits > 0:
                weight += child.prior
                mixed += child.prior * _mean(child, sign)
        most = _most_visits(nodes, roots[g])
        # What is not known about a move that was never tried: the value of the root, mixed from all that was seen.
        unknown = (sign * root.value + tried * mixed / weight) / (1.0 + tried) if weight > 0.0 else sign * root.value
        best, best_first, best_second = ends[g], -np.inf, -np.inf
        top = -np.inf
        for i in range(root.count):
            child = nodes[root.first + i]
            at = ends[g] + i
            value = _mean(child, sign) if child.visits > 0 else unknown
            if style.gumbel:
                score = np.log(child.prior + _TINY) + _sharpened(most, style.sharpness, value)
                policy[at] = score
                top = max(top, score)
                score += child.drawn
            else:
                policy[at] = child.visits / tried if tried > 0 else child.prior
                score = value if tried > 0 else child.prior
            if child.visits > best_first or (child.visits == best_first and score > best_second):
                best, best_first, best_second = at, np.float64(child.visits), score
        chosen[g] = best
        if style.gumbel:
            total = 0.0
            for at in range(ends[g], ends[g + 1]):
                policy[at] = np.exp(policy[at] - top)
                total += policy[at]
            for at in range(ends[g], ends[g + 1]):
                policy[at] /= total


# Keeping what is known for the next move


@jit
def find(nodes, used, state):
    """The node with children whose state is `state` (1,), or LEAF."""
    wanted = key(state[0])
    for i in range(used):
        if nodes[i].first != LEAF and nodes[i].key == wanted:
            return i
    return LEAF


@jit
def transplant(nodes, start, fresh, used):
    """Copy the tree below `start` into `fresh` behind the nodes in use there, which must have room; nodes in use."""
    root = used
    fresh[root] = nodes[start]
    fresh[root].parent = NO_PARENT
    at = root
    used += 1
    while at < used:
        node = fresh[at]
        if node.first != LEAF:
            old = node.first
            node.first = used
            for i in range(node.count):
                fresh[used + i] = nodes[old + i]
                fresh[used + i].parent = at
            used += node.count
        at += 1
    return used
