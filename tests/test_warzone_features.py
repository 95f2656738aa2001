"""The features of Warzone against a slow computation from plain positions."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sandtable
from sandtable.encoders.features.warzone import WarzoneGraph, WarzoneImage
from sandtable.envs.warzone.actions import GenesCodec, OrdersCodec
from sandtable.envs.warzone.position import FIRST, NEUTRAL, SECOND, Bonus, Map, Order, Position
from sandtable.envs.warzone.rulesets import RULESETS, Rules
from sandtable.envs.warzone.state import pack_orders
from sandtable.envs.warzone.validity import income_of

MAPS = ("simple", "banana", "italy", "small_earth")


def squashed(x: float, scale: float = 10.0) -> float:
    return x / (x + scale)


def random_states(name: str, rules: str, games: int = 3) -> Iterator[tuple[Any, np.void]]:
    """Some states of random games, ends and middles of turns included."""
    game = sandtable.make_game("warzone", map=name, rules=rules)
    for plies in (0, 3, 8, 15, 200):
        for state in game.random_games(game.new(games, seed=plies), seed=plies, plies=plies):
            yield game, state


def takes(attackers: int, defenders: int) -> bool:
    return (10 * attackers - 7 * defenders + 5) // 10 > 0 and (10 * defenders - 6 * attackers + 5) // 10 <= 0


def plain_graph(position: Position, me: int) -> dict[str, np.ndarray]:
    map_, mine, theirs = position.map, me + 1, 2 - me
    n, m = len(map_.territories), max(len(map_.bonuses), 1)
    nodes, edges = np.zeros((n, 8), np.float32), np.zeros((n, n, 3), np.float32)
    bonuses, membership, totals = np.zeros((m, 3), np.float32), np.zeros((m, n), np.int8), np.zeros(8, np.float32)
    for i in range(n):
        seen = {mine: 0, theirs: 1, NEUTRAL: 2}[position.owner[i]]
        nodes[i, seen], nodes[i, 3 + seen] = 1, squashed(position.armies[i])
        others = [j for j in map_.neighbours(i) if position.owner[j] != position.owner[i]]
        nodes[i, 6] = position.owner[i] != NEUTRAL and len(others) > 0
        nodes[i, 7] = squashed(sum(b.value / len(b.territories) for b in map_.bonuses if i in b.territories))
        for j in range(n):
            together = [b for b in map_.bonuses if i in b.territories and j in b.territories]
            edges[i, j, 0] = j in map_.neighbours(i)
            edges[i, j, 1] = squashed(sum(b.value / len(b.territories) for b in together))
            edges[i, j, 2] = (
                position.owner[i] != NEUTRAL and j in others and takes(position.armies[i], position.armies[j])
            )
    for k, bonus in enumerate(map_.bonuses):
        membership[k, list(bonus.territories)] = 1
        owners = [position.owner[i] for i in bonus.territories]
        bonuses[k] = squashed(bonus.value), owners.count(mine) / len(owners), owners.count(theirs) / len(owners)
    armies = [sum(position.armies[i] for i in range(n) if position.owner[i] == owner) for owner in (mine, theirs, 0)]
    totals[:2] = squashed(income_of(position, mine)), squashed(income_of(position, theirs))
    totals[2:5] = [squashed(one, 100.0) for one in armies]
    totals[5:7] = position.owner.count(mine) / n, position.owner.count(theirs) / n
    totals[7] = position.turn / position.rules.turn_limit if position.rules.turn_limit else 0
    edge_mask = (edges.any(-1) & ~np.eye(n, dtype=bool)).astype(np.int8)
    names = ("nodes", "node_mask", "edges", "edge_mask", "bonuses", "membership", "totals")
    arrays = (nodes, np.ones(n, np.int8), edges, edge_mask, bonuses, membership, totals)
    return dict(zip(names, arrays, strict=True))


def plain_image(graph: dict[str, np.ndarray]) -> np.ndarray:
    nodes, edges = graph["nodes"], graph["edges"]
    n = len(nodes)
    planes = [edges[..., k] for k in range(3)]
    for k in range(6):
        planes += [np.repeat(nodes[:, k, None], n, 1), np.repeat(nodes[None, :, k], n, 0)]
    return np.stack(planes)


def encode(features: Any, state: np.void, me: int, *drafts: np.ndarray) -> dict[str, np.ndarray]:
    """The arrays of one state."""
    batch = features.encode(np.asarray(state).reshape(1), np.array([me]), *drafts)
    return {name: array[0] for name, array in batch.items()}


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_allclose(found[name], array, rtol=0, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("rules", RULESETS)
@pytest.mark.parametrize("name", MAPS)
def test_features_of_random_positions(name: str, rules: str) -> None:
    for game, state in random_states(name, rules, games=1 if name == "small_earth" else 3):
        position = game.position(state)
        for me in (0, 1):
            expected = plain_graph(position, me)
            assert_same(encode(WarzoneGraph(game), state, me), expected)
            image = encode(WarzoneImage(game), state, me)
            assert_same(image, {"image": plain_image(expected), "totals": expected["totals"]})


@pytest.mark.parametrize("name", ["simple", "italy"])
def test_blue_sees_what_red_would_see_with_the_colours_swapped(name: str) -> None:
    for game, state in random_states(name, "default"):
        position = replace(game.position(state), pending=None)
        swapped = replace(position, owner=tuple({0: 0, 1: 2, 2: 1}[owner] for owner in position.owner))
        for me in (0, 1):
            there = encode(WarzoneGraph(game), game.from_position(swapped), 1 - me)
            assert_same(encode(WarzoneGraph(game), state, me), there)


@pytest.mark.parametrize("drafting", [False, True])
def test_a_batch_is_what_its_states_are(drafting: bool) -> None:
    game: Any = sandtable.make_game("warzone", map="italy")
    states = game.random_games(game.new(20, seed=1), seed=2, plies=9)
    players = np.arange(20) % 2
    drafts = (np.zeros((20, game.move_length), np.int16),) if drafting else ()
    features: Any
    for features in (WarzoneGraph(game, drafting), WarzoneImage(game, drafting)):
        batch = features.encode(states, players, *drafts)
        for name, space in features.space.items():
            assert batch[name].shape == (20, *space.shape) and batch[name].dtype == space.dtype
        for i in range(20):
            single = encode(features, states[i], players[i], *(draft[i : i + 1] for draft in drafts))
            assert_same({name: array[i] for name, array in batch.items()}, single)


THREE = Map(("West", "Middle", "East"), ((0, 1), (1, 2)), (Bonus((0, 2), 4),))


def three(
    armies: tuple[int, ...], owner: tuple[int, ...], orders: tuple[Order, ...] = ()
) -> tuple[Any, Any, np.ndarray]:
    game: Any = sandtable.make_game("warzone", map=THREE, start=Position(THREE, Rules(), armies, owner))
    return game, game.new()[0], pack_orders(orders, game.layout)[None]


def test_numbers_worked_out_by_hand() -> None:
    game, state, _ = three((5, 3, 0), (1, 0, 2))
    red = encode(WarzoneGraph(game), state, 0)
    np.testing.assert_allclose(red["nodes"][0], [1, 0, 0, 5 / 15, 0, 0, 1, 2 / 12], atol=1e-6)
    np.testing.assert_allclose(red["nodes"][1], [0, 0, 1, 0, 0, 3 / 13, 0, 0], atol=1e-6)
    np.testing.assert_allclose(red["edges"][0, 1], [1, 0, 1])  # 5 take 3
    np.testing.assert_allclose(red["edges"][2, 1], [1, 0, 0])
    np.testing.assert_allclose(red["edges"][0, 2], [0, 2 / 12, 0], atol=1e-6)  # not next to each other, but one bonus
    assert red["edge_mask"].tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    np.testing.assert_allclose(red["bonuses"], [[4 / 14, 0.5, 0.5]], atol=1e-6)
    np.testing.assert_allclose(red["totals"][2:5], [5 / 105, 0, 3 / 103], atol=1e-6)


def test_a_draft_is_shown_to_its_player_alone() -> None:
    game, state, draft = three((5, 3, 0), (1, 0, 2), ((0, 0, 2), (0, 1, 6), (0, 1, 1)))
    features = WarzoneGraph(game, drafting=True)
    red, nothing = encode(features, state, 0, draft), encode(features, state, 0, np.zeros_like(draft))
    # 6 against 3 lose 2, and the one that follows joins them: 4 + 1.
    np.testing.assert_allclose(red["nodes"][:, 8], [2 / 12, 0, 0], atol=1e-6)
    assert red["nodes"][:, 9].tolist() == [1, 1, 0]
    np.testing.assert_allclose(red["nodes"][:, 10], [0, 5 / 15, 0], atol=1e-6)
    np.testing.assert_allclose(red["edges"][0, 1, 3], 7 / 17, atol=1e-6)
    np.testing.assert_allclose(red["totals"][8:], [3 / 13, 2 / 3], atol=1e-6)
    np.testing.assert_allclose(nothing["totals"][8:], [5 / 15, 0], atol=1e-6)
    assert nothing["nodes"][:, 9].tolist() == [1, 0, 0]
    blue = encode(features, state, 1, draft)
    assert not blue["nodes"][:, 8:].any() and not blue["edges"][..., 3].any() and not blue["totals"][8:].any()


@pytest.mark.parametrize("rules", RULESETS)
def test_a_drafted_move_is_what_was_shown(rules: str) -> None:
    """If blue does nothing, the board after red's move is the one that red's last observation promised."""
    game: Any = sandtable.make_game("warzone", map="italy", rules=rules)
    codec, features = OrdersCodec(game), WarzoneGraph(game, drafting=True)
    rng = random.Random(rules)
    for seed in range(10):
        states, drafts = game.new(1, seed=seed), np.zeros((1, game.move_length), np.int16)
        ended = False
        while not ended:
            shown = features.encode(states, np.array([0]), drafts)["nodes"][0]
            action = rng.choice(np.flatnonzero(codec.masks(states, None, drafts)[0]).tolist())
            ended = codec.take(states, drafts, np.array([0]), np.array([action]))[0] == 2
        after = game.play(game.play(states[0], drafts[0]), np.zeros(game.move_length, np.int16))
        owner = np.array(game.position(after).owner)
        assert np.array_equal(shown[:, 9] == 1, owner == FIRST) and (owner == SECOND).sum() <= 2
        armies = np.array(game.position(after).armies, np.float32)
        np.testing.assert_allclose(shown[:, 10], np.where(owner == FIRST, armies / (armies + 10), 0), atol=1e-6)


def test_a_graph_holds_all_edges_and_the_totals_in_every_node() -> None:
    game, state, _ = three((5, 3, 0), (1, 0, 2))
    features = WarzoneGraph(game)
    arrays = features.encode(np.asarray(state).reshape(1), np.array([0]))
    graph: Any = features.graph(arrays, 0)
    assert graph in features.graph_space
    assert graph.nodes.shape == (3, 16) and np.array_equal(graph.nodes[2, 8:], arrays["totals"][0])
    assert graph.edge_links.shape == (6, 2)


def test_states_of_another_map_are_refused() -> None:
    banana, owl = (sandtable.make_game("warzone", map=name) for name in ("banana", "owl_island"))
    assert banana.dtype == owl.dtype
    states, nobody = owl.new(2, seed=0), np.zeros(2, np.int64)
    codecs: list[Any] = [OrdersCodec(banana), GenesCodec(banana)]  # type: ignore[arg-type]
    for features in (WarzoneGraph(banana), WarzoneImage(banana)):  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="on another map"):
            features.encode(states, nobody)
    for codec in codecs:
        with pytest.raises(ValueError, match="on another map"):
            codec.masks(states)
    with pytest.raises(ValueError, match="genes are needed"):
        codecs[1].moves(banana.new(2, seed=0), np.zeros((2, 3), np.int64))
    drafts = np.zeros((2, banana.move_length), np.int16)
    assert not codecs[0].legal(banana.new(2, seed=0), drafts, np.array([-1, codecs[0].n])).any()


def test_a_map_without_bonuses() -> None:
    bare = Map(("West", "East"), ((0, 1),))
    game: Any = sandtable.make_game("warzone", map=bare, start=Position(bare, Rules(), (1, 2), (1, 2)))
    arrays = encode(WarzoneGraph(game), game.new()[0], 0)
    assert arrays["bonuses"].shape == (1, 3) and not arrays["bonuses"].any() and not arrays["membership"].any()
