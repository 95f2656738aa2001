"""The encoders in plain Python, written from the papers and the docstrings: the oracle that compiled ones are held to.

All answer the arrays of one position, seen by player `me`, with `units` places a side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sandtable.envs.tubstap.position import Position
from sandtable.envs.tubstap.tables import AIR, ANTIAIR, BLUE, CANNON, CANNON_RANGE, POWER, RED, UNIT_CLASS
from sandtable.envs.tubstap.tables import STARS as TERRAIN_STARS
from sandtable.envs.warzone.position import Order
from sandtable.envs.warzone.position import Position as WarzonePosition
from sandtable.envs.warzone.validity import income_of
from tests.reference.tubstap import Action, Cell, Piece, Reference

Arrays = dict[str, np.ndarray]


def places(position: Position, me: int, units: int) -> dict[int, int]:
    """Unit number → place: mine first, each side in the order of the map file."""
    sides: dict[int, list[int]] = {RED: [], BLUE: []}
    for number, unit in enumerate(position.map.units):
        sides[unit.team].append(number)
    mine = {number: i for i, number in enumerate(sides[me])}
    return {**mine, **{number: units + i for i, number in enumerate(sides[1 - me])}}


def living(game: Reference) -> list[Piece]:
    return game.alive(RED) + game.alive(BLUE)


def can_act(game: Reference, unit: Piece) -> bool:
    return not game.done() and unit.team == game.player() and not unit.acted


def attacks(game: Reference, unit: Piece, enemy: Piece) -> list[tuple[float, float]]:
    """Damage and counter-damage from every cell that the unit could attack the enemy from, if it were its turn."""
    cells = [cell for cell in game._destinations(unit) if enemy in game._targets(unit, cell)]
    return [game._fight(replace(unit, x=x, y=y), replace(enemy)) for x, y in cells]


def distance(a: Cell, b: Cell) -> int:
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def signed_type(unit: Piece, me: int) -> int:
    return unit.kind if unit.team == me else -unit.kind


def li_matrices(position: Position, me: int, units: int) -> Arrays:
    game, place, n = Reference.at(position), places(position, me, units), 2 * units
    matrices, nodes, mask = np.zeros((6, n, n), np.float32), np.zeros((n, 4), np.float32), np.zeros(n, np.int8)
    for unit in living(game):
        i = place[unit.id]
        mask[i] = 1
        nodes[i] = unit.hp, signed_type(unit, me), game._mobility(unit), can_act(game, unit)
        for other in living(game):
            j = place[other.id]
            matrices[4, i, j] = distance(unit.cell, other.cell)
            if other.team != unit.team:
                matrices[3, i, j] = can_act(game, unit)
                if attacks(game, unit, other):
                    numbers = (unit.hp, signed_type(unit, me), game._mobility(unit))
                    matrices[[0, 1, 2, 5], i, j] = [*numbers, 1]
    return {"matrices": matrices, "nodes": nodes, "unit_mask": mask}


def li_image(position: Position, me: int, units: int) -> Arrays:
    game = Reference.at(position)
    planes = np.zeros((7, position.map.height, position.map.width), np.float32)
    for unit in living(game):
        power = max(*POWER[unit.kind], position.rules.antiair_infantry if unit.kind == ANTIAIR else 0)
        colour = 1 if unit.team == me else -1
        numbers = (1, unit.hp, power / 10, colour, signed_type(unit, me), game._mobility(unit), can_act(game, unit))
        planes[:, unit.y - 1, unit.x - 1] = numbers
    return {"image": planes}


def kimura_planes(position: Position, me: int, units: int, selected: int | None = None) -> Arrays:
    """selected: the number of the selected unit."""
    game = Reference.at(position)
    planes = np.zeros((5, position.map.height, position.map.width), np.float32)
    planes[0] = np.array(position.map.terrain) / 6
    for unit in living(game):
        planes[1 if unit.team == me else 2, unit.y - 1, unit.x - 1] = unit.hp / 10
        planes[3:, unit.y - 1, unit.x - 1] = unit.acted, unit.id == selected
    return {"planes": planes}


def _middle(game: Reference, cell: Cell) -> tuple[float, float]:
    """x and y of a cell from the middle of the board, / 10."""
    return (cell[0] - (game.map.width + 1) / 2) / 10, (cell[1] - (game.map.height + 1) / 2) / 10


def _stars(game: Reference, unit: Piece, cell: Cell) -> float:
    return 0 if UNIT_CLASS[unit.kind] == AIR else TERRAIN_STARS[game._terrain(cell)] / 4


def tubstap_units(position: Position, me: int, units: int) -> Arrays:
    game, place, n = Reference.at(position), places(position, me, units), 2 * units
    map_ = position.map
    out: Arrays = {
        "units": np.zeros((n, 18), np.float32),
        "unit_mask": np.zeros(n, np.int8),
        "cells": np.zeros(n, np.int64),
        "pairs": np.zeros((n, n, 10), np.float32),
        "totals": _totals(game, me),
        "terrain": np.array(map_.terrain, np.int8),
    }
    for unit in living(game):
        i = place[unit.id]
        out["unit_mask"][i] = 1
        out["cells"][i] = (unit.y - 1) * map_.width + unit.x - 1
        out["units"][i, unit.kind] = 1
        numbers = [unit.hp / 10, unit.team == me, can_act(game, unit), unit.acted, *_middle(game, unit.cell)]
        out["units"][i, 6:14] = [*numbers, _stars(game, unit, unit.cell), game._mobility(unit) / 10]
        for other in living(game):
            if other is not unit:
                out["pairs"][i, place[other.id]] = _pair(game, unit, other)
    can_attack, damages = out["pairs"][..., 5], out["pairs"][..., 6]
    sums = [can_attack.sum(0) / 4, damages.sum(0), can_attack.sum(1) / 4, damages.max(1)]
    out["units"][:, 14:] = np.stack(sums, -1)
    return out


def _pair(game: Reference, unit: Piece, other: Piece) -> list[float]:
    foe = other.team != unit.team
    numbers = [not foe, foe, distance(unit.cell, other.cell) / 20, (other.x - unit.x) / 20, (other.y - unit.y) / 20]
    exchanges = attacks(game, unit, other) if foe else []
    damage, counter = min(exchanges, key=lambda exchange: exchange[1]) if exchanges else (0, 0)
    anywhere = game._damage(unit, other) if foe else 0
    attack = [bool(exchanges), damage / 10, counter / 10, anywhere / 10, bool(exchanges) and damage >= other.hp]
    return [*numbers, *attack]


def _totals(game: Reference, me: int) -> np.ndarray:
    limit, quiet = game._option("turn_limit"), game.rules.quiet_turns
    totals = np.zeros(10, np.float32)
    totals[1] = 1
    if limit:
        totals[:3] = min(game.turn / limit, 1), min(max(limit - game.turn, 0) / 20, 1), game.rules.limit_means == "hp"
        totals[5] = min(game._option("hp_threshold") / 10, 1)
    totals[3:5] = [sum(unit.hp for unit in game.alive(team)) / 100 for team in (me, 1 - me)]
    totals[6] = min(game.quiet / quiet, 1) if quiet else 0
    totals[7:] = not game.done() and game.player() == me, game.map.width / 20, game.map.height / 20
    return totals


def unit_actions(position: Position, me: int, units: int, moves: list[Action]) -> Arrays:
    """What a policy reads of moves (unit number, x, y, target number or -1)."""
    place = places(position, me, units)
    rows = list(_actions(Reference.at(position), moves))
    return {
        "unit": np.array([place[unit] for unit, *_ in moves], np.int64),
        "target": np.array([-1 if target < 0 else place[target] for *_, target in moves], np.int64),
        "cell": np.array([(y - 1) * position.map.width + x - 1 for _, x, y, _ in moves], np.int64),
        "features": np.array(rows, np.float32).reshape(-1, 22),
    }


def _actions(game: Reference, moves: list[Action]) -> Iterator[list[float]]:
    zones = {enemy.id: _zone(game, enemy) for enemy in game.alive(1 - game.player())}
    for number, x, y, target in moves:
        unit = game.units[number]
        damage, counter = 0.0, 0.0
        if target >= 0:
            damage, counter = game._fight(replace(unit, x=x, y=y), replace(game.units[target]))
        after = replace(unit, x=x, y=y, hp=unit.hp - counter)
        left = [replace(e, hp=e.hp - damage if e.id == target else e.hp) for e in game.alive(1 - game.player())]
        left = [enemy for enemy in left if enemy.hp > 0]
        threats = [e for e in left if after.hp > 0 and after.cell in zones[e.id] and _hurts(game, e, after)]
        way = [(x - unit.x) / 10, (y - unit.y) / 10, distance(unit.cell, (x, y)) / 10, unit.cell == (x, y)]
        attack = [target >= 0, damage / 10, counter / 10, target >= 0 and len(left) < len(zones), after.hp <= 0]
        danger = [
            min((distance(after.cell, enemy.cell) / 20 for enemy in left), default=0),
            len(threats) / 4,
            sum(game._damage(enemy, after) for enemy in threats) / 10,
        ]
        terrain = [game._terrain((x, y)) == code for code in range(7)]
        yield [*_middle(game, (x, y)), *way, _stars(game, unit, (x, y)), *attack, *danger, *terrain]


def _hurts(game: Reference, enemy: Piece, unit: Piece) -> bool:
    return game._power(enemy, unit) > 0 or game.rules.ineffective_attacks


def _zone(game: Reference, enemy: Piece) -> set[Cell]:
    """The cells that an enemy could attack now."""
    everywhere = [(x, y) for x in range(1, game.map.width + 1) for y in range(1, game.map.height + 1)]
    if enemy.kind == CANNON:
        return {cell for cell in everywhere if CANNON_RANGE[0] <= distance(cell, enemy.cell) <= CANNON_RANGE[1]}
    ends = game._destinations(enemy)
    return {cell for cell in everywhere if any(distance(cell, end) == 1 for end in ends)}


def soares_graph(position: WarzonePosition, me: int) -> Arrays:
    map_, mine, theirs = position.map, me + 1, 2 - me
    n = len(map_.territories)
    nodes = np.zeros((n, 5), np.float32)
    for i, (owner, armies) in enumerate(zip(position.owner, position.armies, strict=True)):
        nodes[i] = [owner == mine, owner == theirs, *(armies * (owner == whose) for whose in (mine, theirs, 0))]
    incomes = [income_of(position, mine), income_of(position, theirs)]
    return {
        "nodes": nodes,
        "totals": np.array([*incomes, *nodes[:, 2:].sum(0)], np.float32),
        "adjacency": np.array([[j in map_.neighbours(i) for j in range(n)] for i in range(n)], np.int8),
        "bonus": np.array([[i in b.territories for i in range(n)] for b in map_.bonuses], np.int8).reshape(-1, n),
        "bonus_value": np.array([bonus.value for bonus in map_.bonuses], np.float32),
    }


def soares_orders(position: WarzonePosition, me: int, orders: list[Order]) -> list[list[int]]:
    """Kind, armies, source, destination of every order."""
    told = []
    for source, destination, armies in orders:
        kind = 3 if source == destination else 2 if position.owner[destination] == me + 1 else 1
        told.append([kind, armies, source, destination])
    return told
