"""How many sequences of 1, 2 and 3 unit actions every shipped map has: the engine against counts by the oracle."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import sandtable
from sandtable.envs.tubstap.rulesets import Rules
from tests.make_perft import PERFT, perft, shipped_maps
from tests.reference.tubstap import Reference

COUNTS: dict[str, list[int]] = json.loads(PERFT.read_text(encoding="utf-8"))


def engine_perft(game: Any, state: np.ndarray, depth: int) -> int:
    moves = game.moves(state)
    if depth == 1 or len(moves) == 0:
        return len(moves)
    after = game.play(np.repeat(state, len(moves)), moves)
    return sum(engine_perft(game, one, depth - 1) for one in after)


def test_every_map_is_counted() -> None:
    assert sorted(COUNTS) == sorted(shipped_maps()), "run python -m tests.make_perft"


@pytest.mark.parametrize("name", COUNTS)
def test_engine_counts_like_the_oracle(name: str) -> None:
    game = sandtable.make_game("tubstap", map=name)
    state = game.new(1, 0)[0]
    assert [engine_perft(game, state, depth) for depth in range(1, len(COUNTS[name]) + 1)] == COUNTS[name]


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_the_oracles(name: str) -> None:
    assert perft(Reference(shipped_maps()[name], Rules()), 1) == COUNTS[name][0], "run python -m tests.make_perft"
