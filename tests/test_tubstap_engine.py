"""The engine against the oracle on random games, and the laws that every game obeys."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sandtable
from sandtable.envs.tubstap.position import Map, Position, Unit
from sandtable.envs.tubstap.rulesets import RULESETS, Rules
from sandtable.envs.tubstap.tables import BLUE, CANNON, FIGHTER, FORBIDDEN, INFANTRY, MAX_UNITS, PANZER, PLAIN, RED
from tests.reference.random_maps import SIZES, SYMMETRIES, random_map, showcase, swap_teams, turn_map
from tests.reference.tubstap import Action, Reference

ROOT = Path(__file__).parent.parent
RULES: dict[str, Rules] = {
    **RULESETS,
    "real": Rules(hp="real"),
    "antiair-115": Rules(antiair_infantry=115),
    "cannon-6": Rules(cannon_mobility=6),
    "ineffective": Rules(ineffective_attacks=True),
    "real-ineffective": Rules(hp="real", ineffective_attacks=True),
    "limit-5": Rules(turn_limit=5),
    "endless": Rules(turn_limit=0),
    "threshold-7": Rules(hp_threshold=7),
    "limit-draws": Rules(limit_means="draw"),
    "quiet-2": Rules(quiet_turns=2),
    "quiet-1-endless": Rules(quiet_turns=1, turn_limit=0),
    "real-all": Rules("real", 115, 6, True, 9, 2, "hp", 3),
}


def game_on(map: Map, rules: Rules) -> Any:
    return sandtable.make_game("tubstap", map=map, rules=rules)


def start(map: Map, rules: Rules) -> tuple[Any, np.void]:
    game = game_on(map, rules)
    return game, game.new(1, 0)[0]


def legal(game: Any, state: np.void) -> list[Action]:
    return [game.decode(state, move) for move in game.moves(state)]


def pick(rng: random.Random, moves: list[Action]) -> Action:
    """A random move, an attack every other time: purely random armies hardly ever meet."""
    attacks = [move for move in moves if move[3] >= 0]
    return rng.choice(sorted(attacks if attacks and rng.random() < 0.5 else moves))


def act(game: Any, state: np.void, move: Action) -> np.void:
    return game.play(state, game.encode(state, *move))


def contents(state: np.void) -> bytes:
    """All fields of a state. Its own bytes will not do: records are padded, and padding is not always copied."""
    return b"".join(state[name].tobytes() for name in state.dtype.names or ())


def walk(game: Any, state: np.void, seed: int, steps: int) -> Iterator[np.void]:
    """The states of a random game, its beginning included."""
    rng = random.Random(seed)
    yield state
    for _ in range(steps):
        if game.done(state):
            return
        state = act(game, state, pick(rng, legal(game, state)))
        yield state


def assert_agree(game: Any, state: np.void, reference: Reference) -> list[Action]:
    """The engine and the oracle see the same; answers the legal moves."""
    moves = legal(game, state)
    assert game.position(state) == reference.position()
    assert game.done(state) == reference.done()
    assert game.outcome(state) == reference.outcome()
    assert game.player(state) == reference.player()
    assert len(moves) == len(set(moves))
    assert set(moves) == reference.legal()
    return moves


def compare(map: Map, rules: Rules, seed: int, steps: int) -> int:
    """Play a random game with engine and oracle side by side; answers how many steps were compared."""
    game, state = start(map, rules)
    reference = Reference(map, rules)
    rng = random.Random(seed)
    for step in range(steps):
        moves = assert_agree(game, state, reference)
        if not moves:
            assert game.done(state)
            return step
        move = pick(rng, moves)
        reference.play(*move)
        state = act(game, state, move)
    return steps


# Against the oracle


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("size", SIZES)
def test_random_games(size: str, rules: str) -> None:
    for seed in range(8 if size == "8x8" else 3):
        rng = random.Random(f"{size} {rules} {seed}")
        compare(random_map(rng, size), RULES[rules], seed, steps=60)


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("size", SIZES)
def test_many_random_games(size: str, rules: str) -> None:
    for seed in range(200 if size == "8x8" else 40):
        rng = random.Random(f"many {size} {rules} {seed}")
        compare(random_map(rng, size), RULES[rules], seed, steps=400)


@pytest.mark.parametrize("size", ["8x8", "12x12", "20x20"])
def test_full_armies(size: str) -> None:
    rng = random.Random(size)
    map = random_map(rng, size, MAX_UNITS)
    while len(map.units) < 2 * MAX_UNITS:
        map = random_map(rng, size, MAX_UNITS)
    compare(map, Rules(ineffective_attacks=True), 0, steps=35)


def test_whole_games_of_small_armies() -> None:
    ended = 0
    for seed in range(30):
        map = random_map(random.Random(seed), "8x8", 2)
        ended += compare(map, Rules(), seed, steps=200) < 200
    assert ended == 30


@pytest.mark.parametrize("rules", ["official", "li2022"])
def test_positions_in_the_middle_of_a_game(rules: str) -> None:
    """A game goes on from any position as it would have gone on anyway."""
    for seed in range(5):
        game, state = start(random_map(random.Random(seed), "8x8", 3), RULES[rules])
        for now in walk(game, state, seed, 25):
            position = game.position(now)
            again = game.from_position(position)
            assert game.position(again) == position
            assert game.position(game.from_text(game.to_text(now))) == position
            assert game.key(again) == game.key(now)
            assert_agree(game, again, Reference.at(position))


def test_cannon_fires_over_forbidden_cells() -> None:
    for gap in ((FORBIDDEN,), (FORBIDDEN, FORBIDDEN)):
        terrain = ((PLAIN, *gap, PLAIN),)
        units = (Unit(1, 1, CANNON, RED, 10), Unit(len(gap) + 2, 1, INFANTRY, BLUE, 10))
        game, state = start(Map(terrain, units, 10, 0), Rules())
        assert set(legal(game, state)) == {(0, 1, 1, -1), (0, 1, 1, 1)}


def test_idle_sides_are_skipped() -> None:
    """A side none of whose units can act passes its turn at once, at the start as well."""
    units = (Unit(1, 1, INFANTRY, RED, 10, acted=True), Unit(3, 1, INFANTRY, BLUE, 10, acted=True))
    for idle in ((0,), (1,), (0, 1)):
        map = Map(((PLAIN,) * 3,), tuple(replace(u, acted=i in idle) for i, u in enumerate(units)), 3, 0)
        compare(map, Rules(), 0, steps=10)
        compare(map, Rules(turn_limit=1), 0, steps=10)
        compare(map, Rules(turn_limit=0, quiet_turns=1), 0, steps=10)


def test_wiping_out_ends_the_game_in_the_middle_of_a_turn() -> None:
    units = (Unit(1, 1, PANZER, RED, 10), Unit(3, 1, PANZER, RED, 10), Unit(2, 1, INFANTRY, BLUE, 1))
    game, state = start(Map(((PLAIN,) * 3,), units, 1, 0), Rules(limit_means="draw"))
    state = act(game, state, (0, 1, 1, 2))
    assert game.done(state)
    assert game.outcome(state) == 1
    position = game.position(state)
    assert position.turn == 1
    assert not any(u.acted for u in position.map.units)
    assert position.map.units[2] == Unit(0, 0, INFANTRY, BLUE, 0)


def test_equal_sums_of_real_hp_draw_whatever_their_order() -> None:
    """Added from left to right these sums differ in the last bit."""
    hp = (0.1, 0.2, 0.3)
    units = [Unit(x, 1, INFANTRY, RED, 10) for x in (1, 2, 3)] + [Unit(x, 9, INFANTRY, BLUE, 10) for x in (1, 2, 3)]
    map = Map(((PLAIN,) * 3,) * 9, tuple(units), 1, 0)
    hurt = tuple(replace(u, hp=h) for u, h in zip(units, (*hp, *reversed(hp)), strict=True))
    game = game_on(map, Rules(hp="real"))
    state = game.from_position(Position(replace(map, units=hurt), Rules(hp="real")))
    for unit in range(3):
        state = act(game, state, (unit, unit + 1, 1, -1))
    assert game.done(state)
    assert game.outcome(state) == 0


@pytest.mark.parametrize(("red", "blue", "winner"), [(9, 2, 0), (10, 2, 1), (2, 9, 0), (2, 10, -1), (5, 5, 0)])
@pytest.mark.parametrize(("of_map", "option"), [(7, "map"), (0, 7)])
@pytest.mark.parametrize("hp", ["integer", "real"])
def test_threshold_at_the_limit(hp: str, of_map: int, option: int | str, red: int, blue: int, winner: int) -> None:
    """By more than the threshold, the rules' or the map's: by exactly as much is a draw."""
    units = (Unit(1, 1, INFANTRY, RED, red), Unit(9, 1, INFANTRY, BLUE, blue))
    map, rules = Map(((PLAIN,) * 9,), units, 1, of_map), Rules(hp=hp, hp_threshold=option)
    game, state = start(map, rules)
    reference = Reference(map, rules)
    reference.play(0, 1, 1)
    state = act(game, state, (0, 1, 1, -1))
    assert_agree(game, state, reference)
    assert game.done(state)
    assert game.outcome(state) == winner
    drawn = game.from_position(replace(reference.position(), rules=replace(rules, limit_means="draw")))
    assert game.outcome(drawn) == 0


# Laws


@pytest.mark.parametrize("rules", RULES)
def test_hp_never_grow_and_units_never_appear(rules: str) -> None:
    for seed in range(3):
        game, state = start(random_map(random.Random(seed), "8x8"), RULES[rules])
        hp = [10.0] * 2 * MAX_UNITS
        for now in walk(game, state, seed, 60):
            units = game.position(now).map.units
            assert all(0 <= u.hp <= before for u, before in zip(units, hp, strict=False))
            hp = [u.hp for u in units]


@pytest.mark.parametrize("rules", ["official", "li2022"])
def test_a_seed_repeats_a_game(rules: str) -> None:
    game = game_on(random_map(random.Random(1), "8x8", 3), RULES[rules])
    first, second = (game.new(3, 7) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        games = [list(walk(game, state, 3, 40)) for state in (one, other)]
        assert [contents(s) for s in games[0]] == [contents(s) for s in games[1]]


def test_playing_leaves_the_state_alone() -> None:
    game, state = start(random_map(random.Random(2), "8x8", 4), Rules())
    for now in walk(game, state, 2, 20):
        before = contents(now)
        for move in game.moves(now)[:10]:
            assert contents(game.play(now, move)) != before
        assert contents(now) == before


def later(rules: Rules) -> Rules:
    """The same rules for a game that begins one turn later."""
    if isinstance(rules.turn_limit, str) or rules.turn_limit == 0:
        return rules
    return replace(rules, turn_limit=rules.turn_limit + 1)


@pytest.mark.parametrize("rules", RULES)
def test_swapped_colours_mirror_the_game(rules: str) -> None:
    """RED begins at turn 0, so the game in which BLUE begins is the one that starts (and ends) a turn later."""
    for seed in range(4):
        map = random_map(random.Random(f"swap {rules} {seed}"), "8x8")
        game, state = start(map, RULES[rules])
        swapped = replace(swap_teams(map), turn_limit=map.turn_limit + 1)
        mirror = game.from_position(Position(swapped, later(RULES[rules]), turn=1))
        rng = random.Random(seed)
        for _ in range(40):
            moves = legal(game, state)
            assert sorted(moves) == sorted(legal(game, mirror))
            assert game.done(state) == game.done(mirror)
            assert game.outcome(state) == -game.outcome(mirror)
            assert swap_teams(game.position(state).map).units == game.position(mirror).map.units
            if not moves:
                break
            assert game.player(state) == 1 - game.player(mirror)
            move = pick(rng, moves)
            state, mirror = act(game, state, move), act(game, mirror, move)


@pytest.mark.parametrize("size", ["8x8", "12x12", "long"])
@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_turned_boards_give_turned_games(symmetry: str, size: str) -> None:
    map = random_map(random.Random(f"turn {size}"), size, 4)

    def turned(move: Action) -> Action:
        unit, x, y, target = move
        return unit, *SYMMETRIES[symmetry](x, y, map.width, map.height), target

    game, state = start(map, Rules())
    other = game.from_position(Position(turn_map(map, SYMMETRIES[symmetry]), Rules()))
    rng = random.Random(5)
    for _ in range(30):
        moves = legal(game, state)
        assert {turned(move) for move in moves} == set(legal(game, other))
        assert game.done(state) == game.done(other)
        assert game.outcome(state) == game.outcome(other)
        if not moves:
            break
        move = pick(rng, moves)
        state, other = act(game, state, move), act(game, other, turned(move))


# The face of the game


@pytest.mark.parametrize("size", ["8x8", "12x12", "20x20"])
@pytest.mark.parametrize("rules", ["official", "li2022"])
def test_batches_equal_single_states(size: str, rules: str) -> None:
    game = game_on(random_map(random.Random(f"batch {size}"), size, 3), RULES[rules])
    states = game.new(6, 1)
    rng = random.Random(0)
    for _ in range(30):
        for question in (game.player, game.done, game.outcome):
            answers = question(states)
            assert answers.shape == (len(states),)
            assert answers.tolist() == [question(state) for state in states]
        states = states[~game.done(states)]
        if not len(states):
            break
        moves = np.stack([game.encode(state, *pick(rng, legal(game, state))) for state in states])
        after = game.play(states, moves)
        singly = [game.play(state, move) for state, move in zip(states, moves, strict=True)]
        assert [contents(state) for state in after] == [contents(state) for state in singly]
        states = after


def test_encode_and_decode_are_inverse() -> None:
    for size in SIZES:
        game, state = start(random_map(random.Random(f"encode {size}"), size, 3), Rules())
        for now in walk(game, state, 1, 10):
            for move in game.moves(now):
                assert game.encode(now, *game.decode(now, move)).tolist() == move.tolist()


@pytest.mark.parametrize("size", ["8x8", "12x12", "20x20"])
def test_legal_knows_every_row_of_numbers(size: str) -> None:
    rng = random.Random(f"legal {size}")
    game, state = start(random_map(rng, size, 4), Rules())
    for now in walk(game, state, 1, 8):
        moves = game.moves(now)
        listed = set(map(tuple, moves.tolist()))
        near = moves.astype(np.int64).repeat(3, axis=0)
        for row in near:
            row[rng.randrange(3)] += rng.choice((-100, -33, -16, -1, 0, 1, 2, 15, 16, 32, 400, 65536))
        for row in near.tolist():
            assert game.legal(now, row) == (tuple(row) in listed), row


def test_illegal_rows_are_not_played() -> None:
    game, state = start(showcase(), Rules())
    for row in ([0, 0, 0], [-1, 0, -1], [99, 0, -1], [0, 9999, -1], [0, 0, 99], [0, 0], [0, 0, -1, 0], [0.5, 0, -1]):
        with pytest.raises(ValueError):
            game.play(state, row)


@pytest.mark.parametrize("rules", ["official", "real-ineffective"])
@pytest.mark.parametrize("size", ["8x8", "12x12", "20x20"])
def test_random_moves_are_uniform(size: str, rules: str) -> None:
    """Pearson's statistic is near its mean, the number of outcomes, and by chance never six deviations from it."""
    game, state = start(random_map(random.Random(f"uniform {size}"), size, 3), RULES[rules])
    for now in list(walk(game, state, 4, 12))[::4]:
        moves = game.moves(now)
        if not len(moves):
            break
        # Different moves may lead to the same state: attacks that do nothing.
        expected = Counter(contents(after) for after in game.play(np.repeat(now, len(moves)), moves))
        tries = 50 * len(moves)
        found = Counter(contents(after) for after in game.random_games(np.repeat(now, tries), 1, plies=1))
        assert found.keys() <= expected.keys()
        statistic = sum((found[k] - 50 * n) ** 2 / (50 * n) for k, n in expected.items())
        assert statistic < len(expected) + 6 * (2 * len(expected)) ** 0.5


def test_random_games_come_to_their_end_and_repeat() -> None:
    game = game_on(random_map(random.Random(3), "8x8", 3), Rules())
    states = game.new(20, 0)
    ends = game.random_games(states, 5)
    assert game.done(ends).all()
    assert not game.done(states).any()
    assert [contents(end) for end in ends] == [contents(end) for end in game.random_games(states, 5)]
    assert len({contents(end) for end in ends}) > 1


def test_order_of_units_gives_equal_positions_and_keys() -> None:
    units = (*(Unit(x, 1, INFANTRY, RED, 10) for x in (1, 3, 5)), Unit(3, 5, INFANTRY, BLUE, 10))
    game, state = start(Map(((PLAIN,) * 5,) * 5, units, 10, 0), Rules())
    steps = [(unit, x, 2, -1) for unit, x in enumerate((1, 3, 5))]
    ends = []
    for order in permutations(steps[:2]):
        end = state
        for step in order:
            end = act(game, end, step)
        ends.append(end)
    assert game.position(ends[0]) == game.position(ends[1])
    assert game.key(ends[0]) == game.key(ends[1]) != game.key(state)
    assert len({game.key(game.play(state, move)) for move in game.moves(state)}) == len(game.moves(state))


LARGER = """
import sandtable
from sandtable.envs.tubstap.position import Position
from sandtable.envs.tubstap.rulesets import Rules
from tests.test_tubstap_engine import crowded, game_on, showcase

small, large = game_on(showcase(), Rules()), game_on(crowded(), Rules())
position = Position(crowded(), Rules())
try:
    state = small.from_position(position)
    assert len(small.moves(state)) == len(large.moves(state))
except ValueError:
    pass  # refusing is fine as well
"""


def crowded() -> Map:
    """Many units with many moves each."""
    units = [Unit(x, y, FIGHTER, RED, 10) for x in range(1, 9) for y in (1, 2)]
    return Map(((PLAIN,) * 8,) * 8, (*units, Unit(8, 8, INFANTRY, BLUE, 10)), 10, 0)


def test_positions_larger_than_the_games_own_map() -> None:
    """In a process of its own: were moves written past the end of their array, it would not end well."""
    result = subprocess.run([sys.executable, "-c", LARGER], capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr


REFUSED: dict[str, tuple[Action, str]] = {
    "nobody": ((7, 1, 1, -1), "unit 7"),
    "negative": ((-1, 1, 1, -1), "unit -1"),
    "enemy": ((3, 2, 3, -1), "unit 3"),
    "acted": ((1, 2, 1, -1), "acted"),
    "outside": ((0, 0, 1, -1), r"\(0, 1\)"),
    "far outside": ((0, 90, 1, -1), r"\(90, 1\)"),
    "occupied": ((0, 2, 1, -1), r"\(2, 1\)"),
    "beyond reach": ((0, 5, 1, -1), r"\(5, 1\)"),
    "sea": ((0, 4, 1, -1), r"\(4, 1\)"),
    "no such target": ((0, 1, 1, 7), "7"),
    "own side": ((0, 1, 1, 1), "1"),
    "itself": ((0, 1, 1, 0), "0"),
    "too far": ((0, 1, 1, 4), "4"),
    "cannot hurt": ((0, 2, 2, 5), "5"),
    "cannon moves and fires": ((2, 1, 3, 3), "3"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_illegal_moves_are_refused_with_the_reason(case: str) -> None:
    game, state = start(showcase(), Rules())
    move, reason = REFUSED[case]
    assert move not in legal(game, state)
    with pytest.raises(ValueError, match=reason):
        game.encode(state, *move)


def test_moves_of_the_dead_and_after_the_end_are_refused() -> None:
    game, state = start(showcase(), Rules())
    state = act(game, state, (0, 1, 1, 6))
    with pytest.raises(ValueError, match="6"):
        game.encode(state, 2, 1, 3, 6)
    over = game.from_position(Position(showcase(), Rules(), turn=10))
    assert game.done(over)
    assert len(game.moves(over)) == 0
    with pytest.raises(ValueError, match="over"):
        game.encode(over, 0, 1, 1, -1)
