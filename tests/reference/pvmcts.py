"""PUCT with a judge, written down as plainly as possible: dictionaries, recursion, one simulation after the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Judge = Callable[[Any, np.ndarray], tuple[float, np.ndarray]]
"""A state and its moves → its value for the player to move, and the moves' logits."""


class Node:
    def __init__(self, state: Any, prior: float, attacks: bool) -> None:
        self.state, self.prior, self.attacks = state, prior, attacks
        self.children: list[Node] | None = None
        self.visits, self.total = 0, 0.0


class Puct:
    """total is for player 0 throughout."""

    def __init__(self, game: Any, judge: Judge, c: float, attack: float, fpu: float, trust: float) -> None:
        self.game, self.judge = game, judge
        self.c, self.attack, self.fpu, self.trust = c, attack, fpu, trust

    def visits(self, state: Any, sims: int) -> tuple[list[int], float]:
        """Of the root's moves; and the root's value for its player."""
        root = Node(state, 1.0, False)
        for _ in range(sims + 1):  # the first one judges the root itself
            self.simulate(root)
        assert root.children is not None
        sign = 1 if self.game.player(state) == 0 else -1
        return [child.visits for child in root.children], sign * root.total / root.visits

    def simulate(self, node: Node) -> float:
        if self.game.done(node.state):
            value = self.game.outcome(node.state)
        elif node.children is None:
            value = self.grow(node)
        else:
            value = self.simulate(self.best(node))
        node.visits += 1
        node.total += value
        return value

    def grow(self, node: Node) -> float:
        moves = self.game.moves(node.state)
        value, logits = self.judge(node.state, moves)
        shares = np.exp(logits - logits.max())
        priors = self.trust * shares / shares.sum() + (1 - self.trust) / len(moves)
        node.children = [
            Node(self.game.play(node.state, move), prior, move[2] >= 0)
            for move, prior in zip(moves, priors, strict=True)
        ]
        return value if self.game.player(node.state) == 0 else -value

    def best(self, node: Node) -> Node:
        sign = 1 if self.game.player(node.state) == 0 else -1
        assert node.children is not None
        untried = sign * node.total / node.visits - self.fpu if self.fpu >= 0 else 0.0

        def bound(child: Node) -> float:
            value = sign * child.total / child.visits if child.visits else untried
            explore = self.c * child.prior * math.sqrt(node.visits) + self.attack * child.attacks
            return value + explore / (1 + child.visits)

        return max(node.children, key=bound)


def halving(moves: int, sims: int) -> list[int]:
    """Sequential halving: how many visits the move that comes next has had, for each simulation."""
    if moves == 1:
        return list(range(sims))
    rounds = math.ceil(math.log2(moves))
    visits, order, left = [0] * moves, [], moves
    while len(order) < sims:
        for _ in range(max(1, sims // (rounds * left))):
            for i in range(left):
                order.append(visits[i])
                visits[i] += 1
        left = max(2, left // 2)
    return order[:sims]
