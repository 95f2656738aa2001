"""2,400 turns of the research code, and the rules' test vectors: the oracle and the engine must reproduce all of them.

tests/data/warzone_turns.jsonl.gz holds one JSON object a turn: `map`, `armies`, `owner`, `income`, `orders_p1` and
`orders_p2` [[source, destination, armies]] (source = destination: a deploy), `first` (1 or 2, the coin), then
`armies_after`, `owner_after` and `winner_after` (1, 2 or null).
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import sandtable
from sandtable.envs.warzone.position import Order, Position
from sandtable.envs.warzone.rules import least_to_capture
from sandtable.envs.warzone.rulesets import RULESETS
from sandtable.envs.warzone.sources import find_map
from tests.reference.warzone import Reference, battle

TURNS = Path(__file__).parent / "data" / "warzone_turns.jsonl.gz"
MAPS = ("simple", "banana", "owl_island", "italy")
OUTCOME = {1: 1, 2: -1, None: 0}
LEAST = (1, 2, 3, 5, 6, 8, 10, 11, 13, 15, 16)
"""The fewest armies that capture a territory with 0 to 10 defenders."""


@pytest.fixture(scope="module")
def turns() -> list[dict[str, Any]]:
    with gzip.open(TURNS, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def games() -> dict[str, Any]:
    return {name: sandtable.make_game("warzone", map=name, rules="pyrisk") for name in MAPS}


def start_of(turn: dict[str, Any]) -> Position:
    return Position(find_map(turn["map"]), RULESETS["pyrisk"], tuple(turn["armies"]), tuple(turn["owner"]))


def orders_of(turn: dict[str, Any]) -> tuple[list[Order], list[Order]]:
    first, second = ([tuple(order) for order in turn[name]] for name in ("orders_p1", "orders_p2"))
    return first, second


def test_turns_are_complete(turns: list[dict[str, Any]]) -> None:
    assert [sum(turn["map"] == name for turn in turns) for name in MAPS] == [600] * 4
    assert sum(turn["winner_after"] is not None for turn in turns) > 50


def test_oracle(turns: list[dict[str, Any]]) -> None:
    for number, turn in enumerate(turns):
        reference = Reference(start_of(turn))
        assert [reference.income(player) for player in (1, 2)] == turn["income"], number
        reference.turn(*orders_of(turn), turn["first"])
        assert (reference.armies, reference.owner) == (turn["armies_after"], turn["owner_after"]), number
        assert reference.winner() == turn["winner_after"], number


def test_engine(turns: list[dict[str, Any]], games: dict[str, Any]) -> None:
    for number, turn in enumerate(turns):
        game = games[turn["map"]]
        state = game.from_position(start_of(turn))
        assert [game.income(state, player) for player in (0, 1)] == turn["income"], number
        after = game.resolve(state, *orders_of(turn), first=turn["first"])
        position = game.position(after)
        assert list(position.armies) == turn["armies_after"], number
        assert list(position.owner) == turn["owner_after"], number
        assert game.outcome(after) == OUTCOME[turn["winner_after"]], number
        assert game.done(after) == (turn["winner_after"] is not None), number


def row(*values: int) -> tuple[int, ...]:
    """Nine territories, the last ones empty."""
    return (*values, *(0,) * (9 - len(values)))


A, B = 1, 2
VECTORS: dict[str, dict[str, Any]] = {
    "V1": {
        "armies": row(2, 3, 4, 2, 3, 5, 1, 0, 2), "owner": row(A, A, A, 0, B, B),
        "red": [(2, 2, 5), (2, 3, 6), (1, 2, 3)], "blue": [(4, 4, 2), (5, 5, 3), (4, 3, 5), (5, 6, 4)],
        "after": {first: (row(2, 0, 6, 2, 2, 4, 3, 0, 2), row(A, A, A, A, B, B, B)) for first in (1, 2)},
    },
    "V2": {
        "armies": row(0, 0, 3, 3), "owner": row(0, 0, A, B),
        "red": [(2, 2, 5), (2, 3, 8)], "blue": [(3, 3, 5), (3, 2, 8)],
        "after": {1: (row(0, 0, 2), row(0, 0, B, B)), 2: (row(0, 0, 0, 2), row(0, 0, A, A))},
    },
    "V3": {
        "armies": row(1, 6, 1, 2, 4), "owner": row(A, A, 0, B, B),
        "red": [(1, 2, 6), (2, 3, 5)], "blue": [(4, 5, 4)],
        "after": {first: (row(1, 0, 0, 4, 0, 4), row(A, A, A, A, B, B)) for first in (1, 2)},
    },
    "V4": {
        "armies": row(5, 0, 1, 9), "owner": row(A, A, A, B),
        "red": [(0, 1, 5), (1, 2, 5), (1, 0, 2)], "blue": [(3, 2, 9), (2, 1, 7)],
        "after": {1: (row(0, 5), row(A, B, B, B)), 2: (row(0, 0, 4), row(A, A, B, B))},
    },
    "V5": {
        "armies": row(1, 1, 0, 0, 0, 0, 0, 0, 3), "owner": row(A, 0, 0, 0, 0, 0, 0, 0, B),
        "red": [(0, 1, 1)], "blue": [(8, 7, 9)],
        "after": {first: (row(0, 0, 0, 0, 0, 0, 0, 3), row(A, 0, 0, 0, 0, 0, 0, B, B)) for first in (1, 2)},
    },
}  # fmt: skip


@pytest.mark.parametrize("first", [1, 2])
@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name: str, first: int, games: dict[str, Any]) -> None:
    vector = VECTORS[name]
    position = Position(find_map("simple"), RULESETS["pyrisk"], vector["armies"], vector["owner"])
    reference = Reference(position)
    reference.turn(vector["red"], vector["blue"], first)
    assert (tuple(reference.armies), tuple(reference.owner)) == vector["after"][first]
    game = games["simple"]
    after = game.position(game.resolve(game.from_position(position), vector["red"], vector["blue"], first=first))
    assert (after.armies, after.owner) == vector["after"][first]


def test_fewest_armies_that_capture() -> None:
    for defenders in range(200):
        least = next(a for a in range(1, 400) if battle(a, defenders)[0] > 0 and battle(a, defenders)[1] <= 0)
        assert least_to_capture(defenders) == least
        assert defenders >= len(LEAST) or least == LEAST[defenders]


def test_battles(games: dict[str, Any]) -> None:
    """Every small battle between two territories, as the engine fights it."""
    game = games["simple"]
    for attackers in range(41):
        for defenders in range(31):
            armies = (attackers, defenders, *(0,) * 7)
            position = Position(find_map("simple"), RULESETS["pyrisk"], armies, (A, B, B, *(0,) * 6))
            after = game.position(game.resolve(game.from_position(position), [(0, 1, 40)], [], first=1))
            left, stay = (attackers, defenders) if attackers == 0 else battle(attackers, defenders)
            taken = left > 0 and stay <= 0
            assert after.armies[:2] == ((0, left) if taken else (max(left, 0), max(stay, 0)))
            assert after.owner[1] == (A if taken else B)
