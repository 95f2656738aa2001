"""What a valid map and a valid position are: the one list of checks behind map files, notation and Python objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from sandtable.envs.warzone.position import NEUTRAL, SECOND, Bonus, Map, Order, Position, Start
from sandtable.envs.warzone.rulesets import MAX_TURN, Rules
from sandtable.envs.warzone.state import (
    MAX_ARMIES,
    MAX_BONUS,
    MAX_BONUSES,
    MAX_EDGES,
    MAX_ORDER,
    MAX_TERRITORIES,
    Layout,
    layout_for,
)

MAX_COIN = 2**64 - 1


@dataclass(frozen=True)
class Fault:
    """What is wrong, and where: "edges[3]", "bonuses[0].value", "armies[7]"."""

    where: str
    text: str


def shown(value: object) -> str:
    """What a user wrote, in one line and never longer than a line."""
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def whole_fault(name: str, value: object, low: int, high: int) -> str | None:
    if type(value) is int and low <= value <= high:
        return None
    return f"{name} {shown(value)}: valid are whole numbers from {low} to {high}"


def map_faults(map_: Map) -> Iterator[Fault]:
    """Everything that is wrong with a map; the later ones mean something only after the first has been put right."""
    n = len(map_.territories)
    if not 2 <= n <= MAX_TERRITORIES:
        yield Fault("territories", f"{n} of them; valid are 2 to {MAX_TERRITORIES}")
    for i, name in enumerate([map_.title, *map_.territories]):
        if fault := _name_fault(name):
            yield Fault(f"territories[{i - 1}]" if i else "title", fault)
    for i, name in enumerate(map_.territories):
        if name in map_.territories[:i]:
            other = map_.territories.index(name)
            yield Fault(f"territories[{i}]", f"{shown(name)} is the name of territory {other} too")
    yield from _edge_faults(n, map_.edges)
    yield from _bonus_faults(n, map_.bonuses)
    yield from _place_faults(n, map_.places)
    if map_.start is not None:
        yield from _start_faults(n, map_.start)


def _name_fault(name: object) -> str | None:
    if not isinstance(name, str) or len(name) > 60 or not name.isprintable():
        return f"{shown(name)}: valid is text of up to 60 printable characters"
    return None


def _edge_faults(n: int, edges: Sequence[tuple[int, int]]) -> Iterator[Fault]:
    if len(edges) > MAX_EDGES:
        yield Fault("edges", f"{len(edges)} of them; at most {MAX_EDGES} are supported")
    seen: dict[tuple[int, int], int] = {}
    for i, edge in enumerate(edges):
        where = f"edges[{i}]"
        if not isinstance(edge, tuple) or len(edge) != 2:
            yield Fault(where, f"{shown(edge)}: valid are two territories")
            return
        for end in edge:
            if fault := whole_fault("territory", end, 0, n - 1):
                yield Fault(where, fault)
                return
        a, b = sorted(edge)
        if a == b:
            yield Fault(where, f"it joins territory {a} to itself; valid are two different territories")
        if (a, b) in seen:
            yield Fault(where, f"it joins {a} and {b}, as edges[{seen[a, b]}] does; valid is one edge between two")
        seen[a, b] = i
    if unreached := _unreached(n, list(seen)):
        yield Fault("edges", f"no way leads from territory 0 to {unreached[0]}; valid is a connected map")
    if tuple(edges) != tuple(sorted(seen)):
        yield Fault("edges", "valid are edges in ascending order, the smaller territory first")


def _unreached(n: int, edges: list[tuple[int, int]]) -> list[int]:
    """The territories to which no way leads from territory 0."""
    reached, new = {0}, {0}
    while new:
        new = {b for edge in edges for a, b in (edge, edge[::-1]) if a in new} - reached
        reached |= new
    return [i for i in range(n) if i not in reached]


def _bonus_faults(n: int, bonuses: Sequence[Bonus]) -> Iterator[Fault]:
    if len(bonuses) > MAX_BONUSES:
        yield Fault("bonuses", f"{len(bonuses)} of them; at most {MAX_BONUSES} are supported")
    for i, bonus in enumerate(bonuses):
        where = f"bonuses[{i}]"
        if fault := _name_fault(bonus.name):
            yield Fault(f"{where}.name", fault)
        if fault := whole_fault("value", bonus.value, 0, MAX_BONUS):
            yield Fault(f"{where}.value", fault)
        if len(bonus.territories) == 0:
            yield Fault(f"{where}.territories", "it is empty; valid is at least one territory")
        for at, territory in enumerate(bonus.territories):
            if fault := whole_fault("territory", territory, 0, n - 1):
                yield Fault(f"{where}.territories[{at}]", fault)
                return
            if territory in bonus.territories[:at]:
                yield Fault(f"{where}.territories[{at}]", f"territory {territory} stands there twice")
        if tuple(bonus.territories) != tuple(sorted(bonus.territories)):
            yield Fault(f"{where}.territories", "valid are territories in ascending order")


def _place_faults(n: int, places: Sequence[tuple[float, float]]) -> Iterator[Fault]:
    if len(places) not in (0, n):
        yield Fault("places", f"{len(places)} of them; valid is one for each of the {n} territories, or none")
    for i, place in enumerate(places):
        valid = isinstance(place, tuple) and len(place) == 2
        if not valid or not all(type(c) in (int, float) and isfinite(c) and 0 <= c <= 1 for c in place):
            yield Fault(f"places[{i}]", f"{shown(place)}: valid are two numbers from 0 to 1, x and y")


def _start_faults(n: int, start: Start) -> Iterator[Fault]:
    for fault in board_faults(n, start.armies, start.owner):
        yield Fault(f"start.{fault.where}", fault.text)


def board_faults(n: int, armies: Sequence[int], owner: Sequence[int]) -> Iterator[Fault]:
    """What is wrong with the armies and owners of n territories."""
    for name, values, top in (("armies", armies, MAX_ARMIES), ("owner", owner, SECOND)):
        if len(values) != n:
            yield Fault(name, f"{len(values)} numbers; valid is one for each of the {n} territories")
        for i, value in enumerate(values):
            if fault := whole_fault(name, value, 0, top):
                yield Fault(f"{name}[{i}]", fault)
                return
    if all(one == NEUTRAL for one in owner):
        yield Fault("owner", "nobody owns anything; valid is at least one territory of a player's")


def position_faults(position: Position) -> Iterator[Fault]:
    """Everything that is wrong with a game at one moment."""
    if not isinstance(position.map, Map) or not isinstance(position.rules, Rules):
        yield Fault("map", "a position is made of a Map and Rules")
        return
    maps = list(map_faults(position.map))
    yield from maps
    if maps:
        return
    boards = list(board_faults(len(position.map.territories), position.armies, position.owner))
    yield from boards
    if fault := whole_fault("turn", position.turn, 0, position.rules.turn_limit or MAX_TURN):
        yield Fault("turn", fault)
    elif fault := whole_fault("coin", position.coin, 0, MAX_COIN):
        yield Fault("coin", fault)
    elif fault := whole_fault("leader", position.leader, 0, 1):
        yield Fault("leader", fault)
    elif position.pending is not None and not boards:
        yield from _pending_faults(position, position.pending)


def is_over(position: Position) -> bool:
    """Whether the game has ended here: somebody owns nothing, or the turn limit is reached."""
    limit = position.rules.turn_limit
    return len(set(position.owner) - {NEUTRAL}) < 2 or (limit > 0 and position.turn >= limit)


def _pending_faults(position: Position, orders: tuple[Order, ...]) -> Iterator[Fault]:
    if is_over(position):
        yield Fault("pending", "the game is over: valid are no orders")
    elif fault := orders_fault(position, position.leader + 1, orders, layout_for(position.map)):
        yield Fault("pending", fault)


def income_of(position: Position, owner: int) -> int:
    """What a player (1 or 2) may deploy."""
    whole = (all(position.owner[i] == owner for i in bonus.territories) for bonus in position.map.bonuses)
    values = (bonus.value for bonus in position.map.bonuses)
    return position.rules.base_income + sum(value for value, held in zip(values, whole, strict=True) if held)


def orders_fault(position: Position, owner: int, orders: Sequence[Order], layout: Layout) -> str | None:
    """Why these orders of a player (1 or 2) are no legal move, or None."""
    if len(orders) > layout.orders:
        return f"{len(orders)} orders: a move on a map of this size has at most {layout.orders}"
    deployed, attacking = 0, False
    for i, order in enumerate(orders):
        fault = _order_fault(position, owner, order, attacking)
        if fault:
            return f"order {i} {shown(order)}: {fault}"
        attacking = attacking or order[0] != order[1]
        deployed += order[2] if order[0] == order[1] else 0
    income = income_of(position, owner)
    if position.rules.check_deploys and deployed > income:
        return f"{deployed} armies are deployed: the income is {income}"
    return None


def _order_fault(position: Position, owner: int, order: Order, attacking: bool) -> str | None:
    if not isinstance(order, tuple) or len(order) != 3 or any(type(value) is not int for value in order):
        return "valid are three whole numbers: source, destination, armies"
    source, destination, armies = order
    top = len(position.map.territories) - 1
    for name, territory in (("source", source), ("destination", destination)):
        if fault := whole_fault(name, territory, 0, top):
            return fault
    if fault := whole_fault("armies", armies, 1, MAX_ORDER):
        return fault
    if source != destination:
        joined = (min(source, destination), max(source, destination)) in position.map.edges
        return None if joined else f"no edge joins territories {source} and {destination}"
    if attacking:
        return "a deploy after an attack or transfer: deploys come first"
    if position.owner[source] != owner:
        return f"territory {source} is not the player's own: deploys go to own territories"
    return None
