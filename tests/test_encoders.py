"""The encoders: each against its slow reference, and what all of them keep to."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sandtable
from sandtable.encoders.features.registry import encoder_names, make_encoder
from sandtable.envs.tubstap.position import Map, Unit
from sandtable.envs.tubstap.rulesets import Rules
from sandtable.envs.tubstap.tables import BLUE, INFANTRY, PLAIN, RED
from sandtable.envs.warzone.rulesets import RULESETS as WARZONE_RULESETS
from tests.reference import encoders as reference
from tests.test_tubstap_features import RULES, assert_same, game_on, random_states
from tests.test_warzone_features import random_states as random_warzone_states

ROOT = Path(__file__).parent.parent
TUBSTAP: dict[str, Any] = {
    "li-matrices": reference.li_matrices,
    "li-image": reference.li_image,
    "kimura-planes": reference.kimura_planes,
    "tubstap-units": reference.tubstap_units,
}
MAPS = {"tubstap": "takahashi-complex", "warzone": "italy"}
GRAPHS = ("li-matrices", "soares-graph", "takahashi-graph", "tubstap-units", "warzone-graph")


def encoder_of(name: str) -> tuple[Any, Any]:
    """The encoder, and a game that it sees."""
    game = sandtable.make_game(game_of(name), map=MAPS[game_of(name)])
    return make_encoder(name, game), game


def game_of(name: str) -> str:
    return next(game for game in MAPS if name in encoder_names(game))


def some_states(game: Any, n: int = 20) -> np.ndarray:
    """States from the beginning, the middles of turns, and ends."""
    starts = game.new(n, seed=1)
    return np.concatenate([game.random_games(starts, seed=plies, plies=plies) for plies in (0, 3, 9, 500)])


def one_of(encoder: Any, arrays: dict[str, np.ndarray], i: int) -> dict[str, np.ndarray]:
    """The i-th state of a batch."""
    return {name: array if name in encoder.of_the_map else array[i] for name, array in arrays.items()}


# Against the references


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("size", ["8x8", "12x12", "20x20"])
def test_encoders_of_random_positions(size: str, rules: str) -> None:
    rng = random.Random(f"{size} {rules}")
    dead = 0
    for game, state in random_states(rng, size, RULES[rules], games=6 if size == "8x8" else 1, plies=24):
        position = game.position(state)
        dead += sum(unit.hp == 0 for unit in position.map.units)
        for name, plain in TUBSTAP.items():
            encoder = make_encoder(name, game)
            for me in (RED, BLUE):
                found = one_of(encoder, encoder.encode(state, np.array([me])), 0)
                assert_same(found, plain(position, me, game.units_a_side))
                assert found in encoder.space
    assert dead


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("size", ["8x8", "12x12", "20x20"])
def test_actions_of_random_positions(size: str, rules: str) -> None:
    rng = random.Random(f"actions {size} {rules}")
    attacks = 0
    for game, state in random_states(rng, size, RULES[rules], games=6 if size == "8x8" else 3, plies=18):
        rows = game.moves(state)
        actions = [game.decode(state, row) for row in rows]
        ends = np.array([0, len(rows)])
        for me in (RED, BLUE):
            encoder: Any = make_encoder("tubstap-units", game)
            found = encoder.actions(state, rows, ends, np.array([me]))
            assert not found.pop("state").any()
            assert_same(found, reference.unit_actions(game.position(state), me, game.units_a_side, actions))
        attacks += int((found["target"] >= 0).sum())
    assert attacks


@pytest.mark.parametrize("rules", WARZONE_RULESETS)
@pytest.mark.parametrize("map", ["simple", "banana", "italy", "small_earth"])
def test_soares_of_random_positions(map: str, rules: str) -> None:
    for game, state in random_warzone_states(map, rules):
        encoder: Any = make_encoder("soares-graph", game)
        position = game.position(state)
        for me in (0, 1):
            found = one_of(encoder, encoder.encode(state, np.array([me])), 0)
            assert_same(found, reference.soares_graph(position, me))
            assert found in encoder.space
        moves = game.moves(state)
        if len(moves):
            me, told = game.player(state), [game.decode(state, move) for move in moves]
            orders = encoder.orders(state, moves[None])[0]
            assert orders.shape == (len(moves), max(len(move) for move in told), 4)
            for found_orders, move in zip(orders, told, strict=True):
                assert found_orders[: len(move)].tolist() == reference.soares_orders(position, me, move)
                assert not found_orders[len(move) :].any()


def test_the_matrices_of_lis_figure_5() -> None:
    """Game state 1 of the paper: blue is to move, and its unit with 6 HP has moved already."""
    cells = {
        (6, 5): (RED, 6),
        (5, 4): (RED, 7),
        (7, 4): (RED, 5),
        (6, 4): (BLUE, 4),
        (6, 6): (BLUE, 6),
        (8, 4): (BLUE, 8),
    }
    units = tuple(Unit(x, y, INFANTRY, team, hp, hp == 6) for (x, y), (team, hp) in cells.items())
    units = tuple(Unit(u.x, u.y, u.kind, u.team, u.hp, u.acted or u.team == RED) for u in units)
    game = game_on(Map(((PLAIN,) * 8,) * 8, units, 10, 0), Rules())
    state = game.new()[0]
    assert game.player(state) == BLUE
    matrices = make_encoder("li-matrices", game).encode(state, np.array([RED]))["matrices"][0]
    hp = [
        [0, 0, 0, 6, 6, 6],
        [0, 0, 0, 7, 7, 0],
        [0, 0, 0, 5, 5, 5],
        [4, 4, 4, 0, 0, 0],
        [6, 6, 6, 0, 0, 0],
        [8, 0, 8, 0, 0, 0],
    ]
    assert matrices[0].tolist() == hp
    attack = np.array(hp) > 0
    sign = np.array([1, 1, 1, -1, -1, -1])[:, None]
    assert np.array_equal(matrices[1], 5 * sign * attack)
    assert np.array_equal(matrices[2], 3 * attack) and np.array_equal(matrices[5], attack)
    assert matrices[3].tolist() == [[0] * 6] * 3 + [[1, 1, 1, 0, 0, 0], [0] * 6, [1, 1, 1, 0, 0, 0]]
    distances = [
        [0, 2, 2, 1, 1, 3],
        [2, 0, 2, 1, 3, 3],
        [2, 2, 0, 1, 3, 1],
        [1, 1, 1, 0, 2, 2],
        [1, 3, 3, 2, 0, 4],
        [3, 3, 1, 2, 4, 0],
    ]
    assert matrices[4].tolist() == distances


def test_kimuras_selected_unit() -> None:
    game: Any = sandtable.make_game("tubstap", map="kimura-map01")
    encoder: Any = make_encoder("kimura-planes", game)
    states = game.random_games(game.new(6, seed=1), seed=1, plies=1)
    slots = np.array([-1, 0, 1, 16, 17, 0])
    planes = encoder.encode(states, selected=slots)["planes"]
    for state, slot, found in zip(states, slots, planes, strict=True):
        number = None if slot < 0 else int(state["id"][slot])
        expected = reference.kimura_planes(game.position(state), game.player(state), 2, number)
        assert_same({"planes": found}, expected)
    for wrong in (2, 15, 32, 1000, -2):
        with pytest.raises(ValueError, match="living unit"):
            encoder.encode(states, selected=np.full(6, wrong))
    with pytest.raises(ValueError, match="6 selected units"):
        encoder.encode(states, selected=np.zeros(2, np.int64))


# What all of them keep to


@pytest.mark.parametrize("name", encoder_names())
def test_spaces_and_batches(name: str) -> None:
    encoder, game = encoder_of(name)
    states = some_states(game)
    players = np.arange(len(states)) % 2
    arrays = encoder.encode(states, players)
    assert arrays.keys() == encoder.space.keys()
    for i in range(len(states)):
        single = one_of(encoder, arrays, i)
        assert single in encoder.space
        assert_same(single, one_of(encoder, encoder.encode(states[i], players[i : i + 1]), 0))
    mine = encoder.encode(states)
    assert_same(mine, encoder.encode(states, game.player(states)))
    for key, array in encoder.encode(states[:0]).items():
        assert array.shape == (array.shape if key in encoder.of_the_map else (0, *encoder.space[key].shape))


@pytest.mark.parametrize("name", encoder_names())
def test_nothing_is_shared_between_calls(name: str) -> None:
    encoder, game = encoder_of(name)
    states = game.new(2, seed=1)
    before = states.copy()
    first = encoder.encode(states)
    kept = {key: array.copy() for key, array in first.items()}
    for array in encoder.encode(states).values():
        array[...] = 1
    assert_same(first, kept)
    assert np.array_equal(states, before)


@pytest.mark.parametrize("name", encoder_names())
def test_wrong_players_and_states_are_refused(name: str) -> None:
    encoder, game = encoder_of(name)
    states = game.new(3, seed=1)
    for players in (np.array([0, 1]), np.array([0, 1, 2]), np.array([-1, 0, 0])):
        with pytest.raises(ValueError, match="3 players"):
            encoder.encode(states, players)
    other = sandtable.make_game(game.name, map="crossroads" if game.name == "tubstap" else "simple")
    with pytest.raises(ValueError, match=r"made for|another map"):
        encoder.encode(other.new(1, seed=1))
    with pytest.raises(TypeError, match="expected a state"):
        encoder.encode(np.zeros(3))


def test_encoders_by_name() -> None:
    assert encoder_names() == sorted([*encoder_names("tubstap"), *encoder_names("warzone")])
    games = {name: sandtable.make_game(name) for name in MAPS}
    for name in encoder_names():
        encoder = sandtable.make_encoder(name, games[game_of(name)])
        assert (encoder.name, encoder.game) == (name, game_of(name))
        (other,) = {*MAPS} - {encoder.game}
        with pytest.raises(ValueError, match=f"'{name}' sees {encoder.game}, not {other}"):
            sandtable.make_encoder(name, games[other])
    with pytest.raises(ValueError, match="did you mean 'li-matrices'"):
        sandtable.make_encoder("li-matrixes", games["tubstap"])
    with pytest.raises(ValueError, match="did you mean 'tubstap'"):
        encoder_names("tubstab")


def test_encoding_loads_no_torch() -> None:
    code = (
        "import sys, sandtable; from sandtable.encoders.features.registry import encoder_names\n"
        "for name in ('tubstap', 'warzone'):\n"
        "    game = sandtable.make_game(name)\n"
        "    for encoder in encoder_names(name): sandtable.make_encoder(encoder, game).encode(game.new(1, seed=1))\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


# Moves


def test_actions_of_a_batch() -> None:
    encoder, game = encoder_of("tubstap-units")
    states = some_states(game)
    rows, ends = game.moves_each(states)
    actions = encoder.actions(states, rows, ends)
    assert np.array_equal(np.bincount(actions["state"], minlength=len(states)), np.diff(ends))
    mask = encoder.encode(states)["unit_mask"]
    assert mask[actions["state"], actions["unit"]].all() and (actions["unit"] < game.units_a_side).all()
    attacking = actions["target"] >= 0
    assert mask[actions["state"][attacking], actions["target"][attacking]].all()
    assert np.array_equal(actions["features"][:, 7] == 1, attacking)
    for i in (0, 25, 50):
        single = encoder.actions(states[i], rows[ends[i] : ends[i + 1]], np.array([0, ends[i + 1] - ends[i]]))
        for name, array in single.items():
            assert name == "state" or np.array_equal(array, actions[name][ends[i] : ends[i + 1]])


def test_moves_that_are_none_are_refused() -> None:
    encoder, game = encoder_of("tubstap-units")
    states = game.new(1, seed=1)
    good = game.moves(states[0])[:1]
    for column, value in ((0, 5), (0, -1), (0, 17), (1, -1), (1, 64), (2, 0), (2, 40), (2, 31)):
        bad = good.copy()
        bad[0, column] = value
        with pytest.raises(ValueError, match=r"moves\[0\]"):
            encoder.actions(states, bad, np.array([0, 1]))
    for ends in ([0], [0, 2], [1, 1], [0, 1, 1]):
        with pytest.raises(ValueError, match="ends"):
            encoder.actions(states, good, np.array(ends))
    with pytest.raises(ValueError, match="are needed"):
        encoder.actions(states, good[:, :2], np.array([0, 1]))


def test_orders_that_are_none_are_refused() -> None:
    encoder, game = encoder_of("soares-graph")
    states = game.new(2, seed=1)
    length = game.move_length
    assert encoder.orders(states, np.zeros((2, 3, length), np.int16)).shape == (2, 3, 0, 4)
    for shape in ((1, 3, length), (2, 3, length - 1), (2, length)):
        with pytest.raises(ValueError, match="are needed"):
            encoder.orders(states, np.zeros(shape, np.int16))
    for column, value in ((0, -1), (0, length), (1, -1), (1, 63), (1, 63 << 6)):
        rows = np.zeros((2, 1, length), np.int16)
        rows[1, 0, column] = value
        with pytest.raises(ValueError, match=r"no moves|no such territories"):
            encoder.orders(states, rows)


def test_a_map_without_bonuses_has_none() -> None:
    bare = sandtable.warzone.Map(("West", "East"), ((0, 1),))
    start = sandtable.warzone.Position(bare, sandtable.warzone.Rules(), (1, 2), (1, 2))
    game: Any = sandtable.make_game("warzone", map=bare, start=start)
    encoder = make_encoder("soares-graph", game)
    arrays = encoder.encode(game.new(3, seed=1))
    assert arrays["bonus"].shape == (0, 2) and arrays["bonus_value"].shape == (0,)
    assert one_of(encoder, arrays, 0) in encoder.space


# Symmetries


@pytest.mark.parametrize("name", encoder_names("tubstap"))
@pytest.mark.parametrize("map", ["takahashi-complex", "crossroads", "narrows", "kimura-map02"])
def test_symmetries_of_arrays(name: str, map: str) -> None:
    game: Any = sandtable.make_game("tubstap", map=map)
    encoder = make_encoder(name, game)
    states = some_states(game, 5)
    arrays = encoder.encode(states)
    for k in range(game.symmetries):
        found = encoder.symmetry(arrays, k)
        assert_same(found, encoder.encode(game.symmetry(states, k)))
        assert one_of(encoder, found, 7) in encoder.space
    for k in (-1, game.symmetries, 8):
        with pytest.raises(ValueError, match="valid on a board"):
            encoder.symmetry(arrays, k)


@pytest.mark.parametrize("map", ["takahashi-complex", "crossroads", "narrows"])
def test_symmetries_of_actions(map: str) -> None:
    game: Any = sandtable.make_game("tubstap", map=map)
    encoder: Any = make_encoder("tubstap-units", game)
    states = some_states(game, 5)
    rows, ends = game.moves_each(states)
    for k in range(game.symmetries):
        turned = game.symmetry(states, k), game.symmetry_moves(states, rows, k, ends), ends
        assert_same(encoder.symmetry_actions(encoder.actions(states, rows, ends), k), encoder.actions(*turned))


@pytest.mark.parametrize("name", encoder_names("warzone"))
def test_warzone_has_only_the_identity(name: str) -> None:
    encoder, game = encoder_of(name)
    states = game.new(2, seed=1)
    arrays = encoder.encode(states)
    assert game.symmetries == 1 and np.array_equal(game.symmetry(states, 0), states)
    assert_same(encoder.symmetry(arrays, 0), arrays)
    moves = np.stack([game.moves(state)[0] for state in states])
    assert np.array_equal(game.symmetry_moves(states, moves, 0), moves)
    for wrong in (lambda: encoder.symmetry(arrays, 1), lambda: game.symmetry(states, 1)):
        with pytest.raises(ValueError, match="but 0, the identity"):
            wrong()
    with pytest.raises(ValueError, match="but 0, the identity"):
        game.symmetry_moves(states, moves, 3)


# PyTorch Geometric


@pytest.mark.parametrize("name", sorted({*encoder_names()} - {*GRAPHS}))
def test_images_are_no_graphs(name: str) -> None:
    encoder, game = encoder_of(name)
    with pytest.raises(TypeError, match="images, not graphs"):
        encoder.to_pyg(game.new(1, seed=1))


@pytest.mark.parametrize("name", [name for name in GRAPHS if game_of(name) == "tubstap"])
def test_graphs_of_units(name: str) -> None:
    pytest.importorskip("torch_geometric")
    encoder, game = encoder_of(name)
    states = some_states(game, 5)
    batch = encoder.to_pyg(states)
    alive = np.array([int(state["alive"]).bit_count() for state in states])
    assert np.bincount(batch.batch).tolist() == alive.tolist()
    assert batch.edge_index.shape == (2, (alive * (alive - 1)).sum())
    assert len(batch.edge_attr) == batch.num_edges
    arrays = encoder.encode(states)
    mask = arrays[next(key for key in arrays if key in ("unit_mask", "node_mask"))] == 1
    edges = {"li-matrices": "matrices", "takahashi-graph": "edges", "tubstap-units": "pairs"}[name]
    for i, graph in enumerate(batch.to_data_list()):
        among = arrays[edges][i].transpose(1, 2, 0) if name == "li-matrices" else arrays[edges][i]
        source, destination = np.flatnonzero(mask[i])[graph.edge_index.numpy()]
        assert np.array_equal(graph.edge_attr, among[source, destination])
        nodes = arrays["units" if name == "tubstap-units" else "nodes"]
        assert np.array_equal(graph.x, nodes[i][mask[i]])


@pytest.mark.parametrize("name", [name for name in GRAPHS if game_of(name) == "warzone"])
def test_graphs_of_territories(name: str) -> None:
    pytest.importorskip("torch_geometric")
    encoder, game = encoder_of(name)
    states = some_states(game, 5)
    batch, arrays = encoder.to_pyg(states), encoder.encode(states)
    n, bonuses = len(game.map.territories), game.map.bonuses
    assert np.array_equal(batch.x, arrays["nodes"].reshape(-1, arrays["nodes"].shape[-1]))
    assert np.array_equal(batch.totals, arrays["totals"])
    assert batch.bonus_value.tolist() == [bonus.value for bonus in bonuses] * len(states)
    pairs = {(int(b), int(t)) for b, t in batch.bonus_index.T}
    inside = {(b, t) for b, bonus in enumerate(bonuses) for t in bonus.territories}
    assert pairs == {(i * len(bonuses) + b, i * n + t) for i in range(len(states)) for b, t in inside}
    links = {(a, b) for a, b in batch[0].edge_index.T.tolist()}
    edges = {(a, b) for a in range(n) for b in game.map.neighbours(a)}
    assert links == edges if name == "soares-graph" else links > edges
    assert name == "soares-graph" or len(batch.edge_attr) == batch.num_edges


def test_a_missing_extra_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, game = encoder_of("takahashi-graph")
    monkeypatch.setitem(sys.modules, "sandtable.encoders.features.pyg", None)
    monkeypatch.delattr("sandtable.encoders.features.pyg", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'sandtable\[learn\]'"):
        encoder.to_pyg(game.new(1, seed=1))
