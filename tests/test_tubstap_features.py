"""The features of Takahashi 2023 against a slow computation from plain positions."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sandtable
from sandtable.encoders.features.takahashi import PLANES, TakahashiGraph, TakahashiImage
from sandtable.envs.tubstap.position import Map, Position, Unit
from sandtable.envs.tubstap.rulesets import RULESETS, Rules
from sandtable.envs.tubstap.tables import ANTIAIR, BLUE, CANNON, FIGHTER, FOREST, INFANTRY, PANZER, PLAIN, RED
from tests.reference.random_maps import random_map, swap_teams
from tests.reference.tubstap import Piece, Reference

RULES = {
    **RULESETS,
    "ineffective": Rules(ineffective_attacks=True),
    "real-ineffective": Rules(hp="real", ineffective_attacks=True),
}
CAN_ACT, FRIEND, FOE, DAMAGE, COUNTER = 12, 0, 1, 2, 3
LAST_PLANE = 19


def game_on(map: Map, rules: Rules) -> Any:
    return sandtable.make_game("tubstap", map=map, rules=rules)


def random_states(rng: random.Random, size: str, rules: Rules, games: int, plies: int) -> Iterator[tuple[Any, np.void]]:
    """Every third state of some random games, ends included, in which units attack when they can."""
    for _ in range(games):
        game = game_on(random_map(rng, size), rules)
        state = game.new(1, 0)[0]
        for ply in range(plies):
            if ply % 3 == 0 or game.done(state):
                yield game, state
            if game.done(state):
                break
            moves = game.moves(state)
            attacks = moves[moves[:, 2] >= 0]
            state = game.play(state, rng.choice(attacks if len(attacks) and rng.random() < 0.5 else moves))


def node_numbers(position: Position, me: int, units: int) -> dict[int, int]:
    """Unit number → node: mine first, each side in the order of the map file."""
    sides: dict[int, list[int]] = {RED: [], BLUE: []}
    for number, unit in enumerate(position.map.units):
        sides[unit.team].append(number)
    mine = {number: i for i, number in enumerate(sides[me])}
    return {**mine, **{number: units + i for i, number in enumerate(sides[1 - me])}}


def best_exchange(game: Reference, unit: Piece, enemy: Piece) -> tuple[float, float]:
    """The damage of an attack, and of its counter-attack where the attacker picks the cell; zeros if it cannot."""
    exchanges = []
    for x, y in game._destinations(unit):
        if enemy in game._targets(unit, (x, y)):
            exchanges.append(game._fight(replace(unit, x=x, y=y), replace(enemy)))
    return min(exchanges, key=lambda exchange: exchange[1]) if exchanges else (0.0, 0.0)


def plain_graph(position: Position, me: int, units: int) -> dict[str, np.ndarray]:
    game, number = Reference.at(position), node_numbers(position, me, units)
    n = 2 * units
    nodes, edges = np.zeros((n, 13), np.float32), np.zeros((n, n, 4), np.float32)
    node_mask, edge_mask = np.zeros(n, np.int8), np.zeros((n, n), np.int8)
    living = game.alive(RED) + game.alive(BLUE)
    for unit in living:
        i = number[unit.id]
        node_mask[i] = 1
        nodes[i, unit.kind + (0 if unit.team == me else 6)] = unit.hp / 10
        nodes[i, CAN_ACT] = not game.done() and unit.team == game.player() and not unit.acted
        for other in living:
            j = number[other.id]
            if other is not unit:
                edge_mask[i, j] = 1
                edges[i, j, FRIEND if other.team == unit.team else FOE] = 1
            if other.team != unit.team:
                edges[i, j, [DAMAGE, COUNTER]] = np.divide(best_exchange(game, unit, other), 10)
    return {"nodes": nodes, "node_mask": node_mask, "edges": edges, "edge_mask": edge_mask}


def plain_image(position: Position, me: int) -> np.ndarray:
    game = Reference.at(position)
    planes = np.zeros((20, position.map.height, position.map.width), np.float32)
    for y, row in enumerate(position.map.terrain):
        for x, terrain in enumerate(row):
            planes[12 + terrain, y, x] = 1
    for unit in game.alive(RED) + game.alive(BLUE):
        planes[unit.kind + (0 if unit.team == me else 6), unit.y - 1, unit.x - 1] = unit.hp / 10
        planes[LAST_PLANE, unit.y - 1, unit.x - 1] = not game.done() and unit.team == game.player() and not unit.acted
    return planes


def encode(game: Any, state: np.void, me: int) -> dict[str, np.ndarray]:
    """The arrays of graph and image of one state."""
    states, players = np.asarray(state).reshape(1), np.array([me])
    batch = {**TakahashiGraph(game).encode(states, players), **TakahashiImage(game).encode(states, players)}
    return {name: array[0] for name, array in batch.items()}


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_allclose(found[name], array, rtol=0, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("size", ["8x8", "12x12", "20x20"])
def test_features_of_random_positions(size: str, rules: str) -> None:
    rng = random.Random(f"{size} {rules}")
    attacked = 0
    for game, state in random_states(rng, size, RULES[rules], games=8 if size == "8x8" else 2, plies=24):
        position = game.position(state)
        for me in (RED, BLUE):
            expected = {**plain_graph(position, me, game.units_a_side), "image": plain_image(position, me)}
            assert_same(encode(game, state, me), expected)
            attacked += int(np.count_nonzero(expected["edges"][..., DAMAGE]))
    assert attacked


@pytest.mark.parametrize("size", ["8x8", "12x12"])
def test_blue_sees_what_red_would_see_with_the_colours_swapped(size: str) -> None:
    rules = Rules(turn_limit=0)
    for game, state in random_states(random.Random(size), size, rules, games=6, plies=20):
        if game.done(state):
            continue
        position = game.position(state)
        swapped = replace(position, map=swap_teams(position.map), turn=position.turn + 1)
        for me in (RED, BLUE):
            assert_same(encode(game, state, me), encode(game, game.from_position(swapped), 1 - me))


def test_a_batch_is_what_its_states_are() -> None:
    game: Any = sandtable.make_game("tubstap", map="takahashi-complex")
    states = game.random_games(game.new(20, seed=1), seed=2, plies=9)
    players = np.arange(20) % 2
    features: Any
    for features in (TakahashiGraph(game), TakahashiImage(game)):
        batch = features.encode(states, players)
        for name, space in features.space.items():
            assert batch[name].shape == (20, *space.shape) and batch[name].dtype == space.dtype
        for i in range(20):
            single = features.encode(states[i : i + 1], players[i : i + 1])
            assert_same({name: array[i] for name, array in batch.items()}, {n: a[0] for n, a in single.items()})


def test_numbers_worked_out_by_hand() -> None:
    """A red panzer beside blue infantry in a forest, a blue fighter that it cannot hurt, a cannon out of range."""
    units = (
        Unit(1, 1, PANZER, RED, 10),
        Unit(1, 2, ANTIAIR, RED, 8, acted=True),
        Unit(2, 1, INFANTRY, BLUE, 10),
        Unit(2, 2, FIGHTER, BLUE, 5),
        Unit(7, 7, CANNON, BLUE, 3),
    )
    terrain = ((PLAIN, FOREST, *(PLAIN,) * 5), *((PLAIN,) * 7,) * 6)
    game = game_on(Map(terrain, units, 10, 0), Rules())
    red = encode(game, game.new()[0], RED)
    assert red["nodes"][0, PANZER] == 1.0 and red["nodes"][0, CAN_ACT] == 1.0
    assert red["nodes"][1, ANTIAIR] == np.float32(0.8) and red["nodes"][1, CAN_ACT] == 0.0
    assert red["nodes"][3, 6 + INFANTRY] == 1.0
    assert red["node_mask"].tolist() == [1, 1, 0, 1, 1, 1]
    # (75 × 10 + 70) / (100 + 3 × 10) = 6; the counter of 4 HP: (5 × 4 + 70) / (100 + 1 × 10) = 0.
    np.testing.assert_allclose(red["edges"][0, 3], [0, 1, 0.6, 0])
    np.testing.assert_allclose(red["edges"][0, 4], [0, 1, 0, 0])  # the fighter: no attack, so no counter either
    np.testing.assert_allclose(red["edges"][1, 4], [0, 1, 0.5, 0])  # it has acted, and kills
    np.testing.assert_allclose(red["edges"][5, 0], [0, 1, 0, 0])
    np.testing.assert_allclose(red["edges"][0, 1], [1, 0, 0, 0])
    assert red["image"].shape == (PLANES, 7, 7)
    assert red["image"][PANZER, 0, 0] == 1.0 and red["image"][12 + FOREST, 0, 1] == 1.0
    assert red["image"][LAST_PLANE].sum() == 1.0 and red["image"][LAST_PLANE, 0, 0] == 1.0


def test_an_attack_that_is_not_legal_has_no_counter() -> None:
    """Antiair would answer a fighter's attack, which does nothing: an edge only where such attacks are legal."""
    units = (Unit(1, 1, FIGHTER, RED, 10), Unit(2, 1, ANTIAIR, BLUE, 10))
    map = Map(((PLAIN,) * 3,) * 3, units, 10, 0)
    counters = []
    for rules in (Rules(), Rules(ineffective_attacks=True)):
        game = game_on(map, rules)
        counters.append(encode(game, game.new()[0], RED)["edges"][0, 1, COUNTER])
    assert counters == [0.0, np.float32(0.7)]
