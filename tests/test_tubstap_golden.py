"""150 games of the original platform, step by step: the oracle and the engine must reproduce all of them.

tests/data/tubstap_traces.jsonl.gz holds one JSON object a game: `map` (text of a .tbsmap file), `steps` (`turn`,
`color`, `units` [[id, x, y, kind, team, hp, acted]], `legal` [[unit, x, y, target or -1]], `action`,
`dmg` [attack, counter-attack]), then `winner` (0, 1, or -1 for a draw), `final_turn` and `final_units`.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import sandtable
from sandtable.envs.tubstap.maps import parse_map
from sandtable.envs.tubstap.position import Position
from sandtable.envs.tubstap.rulesets import Rules
from tests.reference.tubstap import Reference

TRACES = Path(__file__).parent / "data" / "tubstap_traces.jsonl.gz"
RULES = Rules(ineffective_attacks=True)  # the original lists attacks of power 0 as legal
OUTCOME = {0: 1, 1: -1, -1: 0}


@pytest.fixture(scope="module")
def games() -> list[dict[str, Any]]:
    with gzip.open(TRACES, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def units_of(position: Position) -> list[list[float]]:
    units = enumerate(position.map.units)
    return [[i, u.x, u.y, u.kind, u.team, u.hp, int(u.acted)] for i, u in units if u.hp > 0]


def test_traces_are_complete(games: list[dict[str, Any]]) -> None:
    assert len(games) == 150
    assert sum(len(g["steps"]) for g in games) == 7456


def test_oracle(games: list[dict[str, Any]]) -> None:
    for number, trace in enumerate(games):
        reference = Reference(parse_map(trace["map"]), RULES)
        for at, step in enumerate(trace["steps"]):
            where = f"game {number}, step {at}"
            assert not reference.done(), where
            assert (reference.turn, reference.player()) == (step["turn"], step["color"]), where
            assert units_of(reference.position()) == step["units"], where
            assert reference.legal() == set(map(tuple, step["legal"])), where
            assert list(reference.play(*step["action"])) == step["dmg"], where
        assert reference.done(), f"game {number}"
        assert reference.legal() == set()
        assert reference.turn == trace["final_turn"]
        assert units_of(reference.position()) == trace["final_units"]
        assert reference.outcome() == OUTCOME[trace["winner"]]


def test_engine(games: list[dict[str, Any]]) -> None:
    for number, trace in enumerate(games):
        game: Any = sandtable.make_game("tubstap", map=parse_map(trace["map"]), rules=RULES)
        state = game.new(1, 0)[0]
        for at, step in enumerate(trace["steps"]):
            where = f"game {number}, step {at}"
            before = game.position(state)
            assert not game.done(state), where
            assert (before.turn, game.player(state)) == (step["turn"], step["color"]), where
            assert units_of(before) == step["units"], where
            moves = [game.decode(state, move) for move in game.moves(state)]
            assert len(moves) == len(step["legal"]), where
            assert set(moves) == set(map(tuple, step["legal"])), where
            state = game.play(state, game.encode(state, *step["action"]))
            assert losses(before, game.position(state), step["action"]) == step["dmg"], where
        assert game.done(state), f"game {number}"
        assert len(game.moves(state)) == 0
        assert game.position(state).turn == trace["final_turn"]
        assert units_of(game.position(state)) == trace["final_units"]
        assert game.outcome(state) == OUTCOME[trace["winner"]]


def losses(before: Position, after: Position, action: list[int]) -> list[float]:
    """The HP that the target and the attacker lost."""
    attacker, _, _, target = action
    if target < 0:
        return [0, 0]
    return [before.map.units[i].hp - after.map.units[i].hp for i in (target, attacker)]
