"""Warzone in plain Python, written from the rules alone: the oracle that the engine is compared with.

Nothing here is fast or clever, on purpose. Players are 1 and 2 throughout.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from sandtable.envs.warzone.position import Order, Position
from sandtable.envs.warzone.rulesets import NO_LIMIT

DEPLOY, ATTACK = 25, 50
"""The priorities of orders: a lower one runs first."""
MOST_ARMIES = 1_000_000_000
MOST_IN_AN_ORDER = 32_767


def battle(attackers: int, defenders: int) -> tuple[int, int]:
    """What is left of both; 60% of the attackers and 70% of the defenders kill one each, rounded to the nearest."""
    left = math.floor(attackers - Fraction(7, 10) * defenders + Fraction(1, 2))
    stay = math.floor(defenders - Fraction(6, 10) * attackers + Fraction(1, 2))
    return left, stay


def priority(order: Order) -> int:
    return DEPLOY if order[0] == order[1] else ATTACK


def merge_as_pyrisk(orders: dict[int, list[Order]], first: int) -> list[tuple[int, Order]]:
    """The four lines of the research code."""
    lists = {player: list(orders[player]) for player in (1, 2)}
    merged = []
    turn = first
    while lists[1] and lists[2]:
        a, b = lists[1][0], lists[2][0]
        if turn == 1 and priority(a) <= priority(b):
            merged.append((1, lists[1].pop(0)))
            turn = 2
        elif turn == 2 and priority(b) <= priority(a):
            merged.append((2, lists[2].pop(0)))
            turn = 1
        else:
            lower = 1 if priority(a) < priority(b) else 2
            merged.append((lower, lists[lower].pop(0)))
    return merged + [(player, order) for player in (1, 2) for order in lists[player]]


def merge(orders: dict[int, list[Order]], first: int, run: int) -> list[tuple[int, Order]]:
    """The orders of one phase: one of the first player's, then `run` of each in turn; the rest at the end."""
    lists = {player: list(orders[player]) for player in (1, 2)}
    merged = []
    player, left = first, 1
    while lists[1] and lists[2]:
        merged.append((player, lists[player].pop(0)))
        left -= 1
        if left == 0:
            player, left = 3 - player, run
    return merged + [(player, order) for player in (1, 2) for order in lists[player]]


class Reference:
    """One game, changed in place by `turn`."""

    def __init__(self, position: Position) -> None:
        self.map, self.rules = position.map, position.rules
        self.armies, self.owner = list(position.armies), list(position.owner)
        self.turns = position.turn
        self.moved = [0] * len(self.armies)
        """Without multi-attack: how many armies of a territory have moved already in this turn."""

    def position(self) -> Position:
        return Position(self.map, self.rules, tuple(self.armies), tuple(self.owner), self.turns)

    def land(self, player: int) -> list[int]:
        return [i for i, owner in enumerate(self.owner) if owner == player]

    def income(self, player: int) -> int:
        held = set(self.land(player))
        return self.rules.base_income + sum(b.value for b in self.map.bonuses if held.issuperset(b.territories))

    def joined(self, a: int, b: int) -> bool:
        return (a, b) in self.map.edges or (b, a) in self.map.edges

    def winner(self) -> int | None:
        """1 or 2, 0 for a draw, None while the game goes on."""
        for player in (1, 2):
            if not self.land(player):
                return 3 - player
        at_limit = self.rules.turn_limit != NO_LIMIT and self.turns >= self.rules.turn_limit
        return 0 if at_limit else None

    def legal(self, player: int, orders: list[Order], most_orders: int) -> bool:
        if self.winner() is not None or len(orders) > most_orders:
            return False
        n = len(self.armies)
        for source, destination, armies in orders:
            if not (0 <= source < n and 0 <= destination < n and 1 <= armies <= MOST_IN_AN_ORDER):
                return False
            if source == destination and self.owner[source] != player:
                return False
            if source != destination and not self.joined(source, destination):
                return False
        kinds = [priority(order) for order in orders]
        deployed = sum(armies for source, destination, armies in orders if source == destination)
        return kinds == sorted(kinds) and (not self.rules.check_deploys or deployed <= self.income(player))

    def turn(self, orders_1: list[Order], orders_2: list[Order], first: int) -> None:
        """Resolve a turn; first: whom the coin names."""
        for player, order in self.merged({1: orders_1, 2: orders_2}, first):
            if priority(order) == DEPLOY:
                self.add(order[1], order[2])
            else:
                self.send(player, *order)
        self.moved = [0] * len(self.armies)
        self.turns += 1

    def merged(self, orders: dict[int, list[Order]], first: int) -> list[tuple[int, Order]]:
        deploys = {p: [o for o in orders[p] if priority(o) == DEPLOY] for p in (1, 2)}
        attacks = {p: [o for o in orders[p] if priority(o) == ATTACK] for p in (1, 2)}
        run = 2 if self.rules.order == "pairs" else 1
        if self.rules.first_attacker == "fewest_deploys":
            if run == 1:
                return merge_as_pyrisk(orders, first)
            if len(deploys[1]) != len(deploys[2]):
                first = 1 if len(deploys[1]) < len(deploys[2]) else 2
        return merge(deploys, first, run) + merge(attacks, first, run)

    def add(self, territory: int, armies: int) -> None:
        self.armies[territory] = min(self.armies[territory] + armies, MOST_ARMIES)

    def send(self, player: int, source: int, destination: int, armies: int) -> None:
        if self.owner[source] != player:
            return
        here, there = self.armies[source], self.armies[destination]
        sent = min(armies, here)
        if not self.rules.multi_attack:
            sent = min(sent, here - self.moved[source])
        if self.owner[destination] == player:
            self.armies[source] -= sent
            self.add(destination, sent)
            self.settled(destination, self.armies[destination] - there)
            return
        if sent == 0:
            return
        left, stay = battle(sent, there)
        if left > 0 and stay <= 0:
            self.armies[source] -= sent
            self.armies[destination], self.owner[destination] = left, player
            self.moved[destination] = left
        else:
            self.armies[source] -= sent - max(left, 0)
            self.settled(source, max(left, 0))
            self.armies[destination] = max(stay, 0)
            self.moved[destination] = max(self.moved[destination] - (there - max(stay, 0)), 0)

    def settled(self, territory: int, armies: int) -> None:
        """So many armies more on a territory have moved already; where it is attacked they are lost first."""
        self.moved[territory] += armies


def mirrored(position: Position) -> Position:
    """The same with the players' roles swapped."""
    return replace(position, owner=tuple((0, 2, 1)[owner] for owner in position.owner))
