"""The symmetries of TUBSTAP's boards: playing, legal moves, outcomes and keys go along with them."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sandtable
from sandtable.envs.tubstap.position import Position
from sandtable.envs.tubstap.rulesets import RULESETS
from sandtable.envs.tubstap.symmetry import inverse, symmetries_of, turn_planes, turn_vectors
from tests.reference.random_maps import SYMMETRIES, random_map, turn_map
from tests.strategies import positions

NAMES = ("same", "left-right", "upside-down", "half-turn", "diagonal", "quarter-right", "quarter-left", "antidiagonal")
"""What the k-th symmetry is called among the turns of the reference."""
MAPS = ("li-symmetric", "takahashi-complex", "crossroads", "narrows", "archipelago", "long-campaign", "kimura-map02")


def game_on(name: str, rules: str = "official") -> Any:
    return sandtable.make_game("tubstap", map=name, rules=rules)


def rows_of(moves: np.ndarray) -> set[tuple[int, ...]]:
    return {tuple(row) for row in moves.tolist()}


def check_laws(game: Any, states: np.ndarray, k: int) -> None:
    """What holds of any states (n,) in their k-th symmetry."""
    turned = game.symmetry(states, k)
    assert np.array_equal(game.symmetry(turned, inverse(k)), states)
    assert np.array_equal(game.player(turned), game.player(states))
    assert np.array_equal(game.done(turned), game.done(states))
    assert np.array_equal(game.outcome(turned), game.outcome(states))
    rows, ends = game.moves_each(states)
    there = game.symmetry_moves(states, rows, k, ends)
    assert np.array_equal(game.symmetry_moves(turned, there, inverse(k), ends), rows)
    legal, legal_ends = game.moves_each(turned)
    assert np.array_equal(ends, legal_ends)
    for i in range(len(states)):
        assert rows_of(there[ends[i] : ends[i + 1]]) == rows_of(legal[ends[i] : ends[i + 1]])


@pytest.mark.parametrize("name", MAPS)
def test_random_games_are_played_alike_on_turned_boards(name: str) -> None:
    game = game_on(name)
    for k in range(game.symmetries):
        states = game.new(4, seed=k)
        turned = game.symmetry(states, k)
        rng = np.random.default_rng(k)
        for _ in range(12):
            check_laws(game, states, k)
            running = ~game.done(states)
            states, turned = states[running], turned[running]
            rows, ends = game.moves_each(states)
            chosen = rows[[rng.integers(ends[i], ends[i + 1]) for i in range(len(states))]]
            turned = game.play(turned, game.symmetry_moves(states, chosen, k))
            states = game.play(states, chosen)
            assert np.array_equal(turned, game.symmetry(states, k))


@settings(deadline=None, max_examples=60)
@given(position=positions(max_side=9), k=st.integers(0, 7))
def test_any_position(position: Position, k: int) -> None:
    game = game_on("li-symmetric")
    k %= symmetries_of(position.map.width, position.map.height)
    check_laws(game, np.array([game.from_position(position)]), k)


@pytest.mark.parametrize("rules", RULESETS)
@pytest.mark.parametrize("size", ["8x8", "12x12", "20x20", "long", "wide"])
def test_a_turned_state_is_that_of_the_turned_map(size: str, rules: str) -> None:
    """Texts and keys are the same as if the map file had been turned."""
    rng = random.Random(f"{size} {rules}")
    for _ in range(8):
        map = random_map(rng, size)
        game: Any = sandtable.make_game("tubstap", map=map, rules=rules)
        states = game.random_games(game.new(1, seed=0), seed=rng.randrange(1000), plies=rng.randrange(12))
        assert game.symmetries == (8 if map.width == map.height else 4)
        position = game.position(states[0])
        for k in range(game.symmetries):
            turned = game.symmetry(states, k)[0]
            there = turn_map(position.map, SYMMETRIES[NAMES[k]])
            units = tuple(u if u.hp else dead for u, dead in zip(there.units, position.map.units, strict=True))
            expected = game.from_position(replace(position, map=replace(there, units=units)))
            assert game.to_text(turned) == game.to_text(expected)
            assert game.key(turned) == game.key(expected)


def test_equal_keys_stay_equal() -> None:
    """Two ways to the same state lead to the same turned state; different states stay different."""
    game = game_on("takahashi-complex")
    states = np.concatenate([game.random_games(game.new(50, seed=1), seed=s, plies=2) for s in range(4)])
    keys = game.key(states)
    for k in range(8):
        turned = game.key(game.symmetry(states, k))
        assert np.array_equal(keys[:, None] == keys, turned[:, None] == turned)


def test_a_symmetry_for_each_state() -> None:
    game = game_on("takahashi-complex")
    states = game.random_games(game.new(16, seed=1), seed=1, plies=5)
    ks = np.arange(16) % 8
    moves = np.stack([game.moves(state)[-1] for state in states])
    turned, there = game.symmetry(states, ks), game.symmetry_moves(states, moves, ks)
    for i, k in enumerate(ks):
        assert turned[i] == game.symmetry(states[i], int(k))[0]
        assert np.array_equal(there[i], game.symmetry_moves(states[i], moves[i], int(k)))
    assert game.legal(turned, there).all()


def test_the_states_given_are_not_changed() -> None:
    game = game_on("crossroads")
    states = game.new(2, seed=1)
    before = states.copy()
    moves = game.moves(states[0])
    kept = moves.copy()
    game.symmetry(states, 5)
    game.symmetry_moves(states[0], moves, 5)
    assert np.array_equal(states, before) and np.array_equal(moves, kept)
    assert not np.shares_memory(game.symmetry(states, 0), states)


def test_what_is_no_symmetry_is_refused() -> None:
    game = game_on("takahashi-complex")
    states = game.new(3, seed=1)
    for k in (-1, 8, np.array([0, 9, 0])):
        with pytest.raises(ValueError, match="valid on a board of 8x8 cells are 0 to 7"):
            game.symmetry(states, k)
    narrow: Any = sandtable.make_game("tubstap", map=random_map(random.Random(1), "long"))
    with pytest.raises(ValueError, match="are 0 to 3"):
        narrow.symmetry(narrow.new(1), 4)
    with pytest.raises(ValueError, match="5 moves for 3 states"):
        game.symmetry_moves(states, np.zeros((5, 3), np.int16), 1)
    for k in (4, 8):
        with pytest.raises(ValueError, match="are 0 to 3"):
            narrow.symmetry_moves(narrow.new(1), narrow.moves(narrow.new(1)), k)


def test_planes_and_vectors_turn_alike() -> None:
    plane = np.zeros((5, 5), int)
    for x, y in ((0, 1), (3, 4), (2, 2)):
        plane[:] = 0
        plane[y, x] = 1
        for k in range(8):
            turned_x, turned_y = turn_vectors(np.array(x - 2), np.array(y - 2), k)
            assert turn_planes(plane, k)[turned_y + 2, turned_x + 2] == 1
