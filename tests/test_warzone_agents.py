"""The agents on Warzone: every move is legal by the rules' plain reference, and searches where both choose at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sandtable
from sandtable.agents.joint import JointTree
from sandtable.envs.warzone.position import Position
from sandtable.envs.warzone.rulesets import Rules
from sandtable.envs.warzone.sources import find_map
from sandtable.matches.tournament import play_tournament
from tests.reference.warzone import Reference

MAPS = ["simple", "owl_island", "banana", "italy"]
JOINT = "mcts:preset=warzone,sims=200"


@pytest.fixture(scope="module")
def owl() -> Any:
    return sandtable.make_game("warzone", map="owl_island")


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize(
    "pair", [("mcts:preset=soares2025,sims=60", "ga:generations=2"), ("mcts:preset=warzone,sims=60", "pmc:rollouts=2")]
)
def test_every_move_is_legal(name: str, pair: tuple[str, str]) -> None:
    """200 games a map: by the reference, not by the engine that made the moves."""
    game: Any = sandtable.make_game("warzone", map=name)
    played = play_tournament(game, list(pair), games=200, seed=1, workers=0, record=True, quiet=True).games
    assert len(played) == 200
    checked = 0
    for one in played:
        assert one.result.forfeit_by is None, one.result.reason
        history = one.result.history
        for state, move in zip(history.states, history.moves, strict=False):
            reference = Reference(game.position(state))
            assert reference.legal(game.player(state) + 1, game.decode(state, move), game.layout.orders)
            checked += 1
    assert checked > 1_000


def test_both_choose_at_once_only_where_they_do() -> None:
    agent = sandtable.make_agent("mcts:joint=true")
    with pytest.raises(ValueError, match=r"both players choose at once; in tubstap they do not"):
        agent.reset(sandtable.make_game("tubstap"))
    with pytest.raises(ValueError, match="joint=true keeps no trees"):
        sandtable.make_agent("mcts:joint=true,reuse=true")


@pytest.mark.parametrize("spec", [JOINT, "mcts:joint=true,sims=300", "mcts:preset=soares2025,sims=200,greedy=true"])
@pytest.mark.parametrize("second", [False, True])
def test_the_winning_move_is_found(spec: str, second: bool) -> None:
    """In the last turn one attack wins whatever the other does: whoever is to move finds it and knows its worth."""
    game: Any = sandtable.make_game("warzone", map="simple")
    owner = (2, 1, 1, 1, 1, 1, 1, 1, 1) if not second else (1, 2, 2, 2, 2, 2, 2, 2, 2)
    state = game.from_position(Position(find_map("simple"), Rules(), (3, 30, 0, 0, 0, 0, 0, 0, 0), owner, 99))
    if second:
        state = game.play(state, game.encode(state, [(0, 0, 5)]))
    agent = sandtable.make_agent(spec)
    agent.reset(game, seed=1)
    decision = agent.act(np.asarray(state).reshape(1))
    # Red's three armies may have become eight: thirteen take them.
    assert any(order[:2] == (1, 0) and order[2] >= 13 for order in game.decode(state, decision.moves[0]))
    assert decision.values[0] > 0.8


def test_visits_are_those_of_the_candidates(owl: Any) -> None:
    states = owl.new(3, 1)
    for spec in (JOINT, "mcts:joint=true,sims=200", "mcts:preset=soares2025,sims=200"):
        agent = sandtable.make_agent(spec)
        agent.reset(owl, seed=1)
        decisions = agent.act(states)
        for state, visits, move in zip(states, decisions.visits, decisions.moves, strict=True):
            candidates = owl.moves(state)
            assert visits is not None and len(visits) == len(candidates)
            # A round rolls out all candidates; the hand-written player's move is one more, and not in the list.
            assert 0 < visits.sum() <= 200 + 2 * len(candidates)
            assert spec == JOINT or (candidates == move).all(1).any()


def test_a_seed_repeats_decisions_and_the_first_players_orders_do_not_matter(owl: Any) -> None:
    state = owl.new(1, 1)
    moves = owl.moves(state[0])
    answers = []
    for red in moves[:2]:
        agent = sandtable.make_agent(JOINT)
        agent.reset(owl, seed=4)
        answers.append(agent.act(owl.play(state, red[None])))
    assert np.array_equal(answers[0].moves, answers[1].moves)
    assert np.array_equal(answers[0].values, answers[1].values)


@pytest.mark.parametrize("roll_all", [True, False])
def test_a_joint_tree_grows(owl: Any, roll_all: bool) -> None:
    """Far beyond its first room; what the arms of both sides have seen is what the root has."""
    agent: Any = sandtable.make_agent("mcts", joint=True, sims=40_000, plies=2, roll_all=roll_all)
    agent.reset(owl, seed=1)
    agent.act(owl.new(1, 2))
    tree: JointTree = agent._trees[0]
    root = tree._nodes[0]
    assert tree._places > 2_000 if not roll_all else tree._places > 1_000
    assert 40_000 <= root["visits"] <= 40_000 + 20
    for side in (0, 1):
        arms = tree._arms[root["place"], side, : root["counts"][side]]
        assert arms["visits"].sum() == root["visits"]
        assert np.abs(arms["total"]).max() <= arms["visits"].max()
    assert tree._arms[root["place"], 0]["total"][: root["counts"][0]].sum() == pytest.approx(
        tree._arms[root["place"], 1]["total"][: root["counts"][1]].sum()
    )


def test_a_mirror_favours_nobody(owl: Any) -> None:
    """Red orders first in the record, but not in what a search knows: over many mirrored games both win as often."""
    (pair,) = play_tournament(owl, ["mcts:preset=soares2025,sims=100"] * 2, games=400, seed=3, quiet=True).pairs
    red = sum(played.result.outcome > 0 for played in pair.games)
    blue = sum(played.result.outcome < 0 for played in pair.games)
    assert abs(red - blue) < 4 * (red + blue) ** 0.5


def test_tables_say_which_agents_cannot_play(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from sandtable.cli import evaluate

    with pytest.raises(SystemExit) as ended:
        evaluate(["--game", "tubstap", "--agents", "mcts:preset=warzone", "random", "--games", "2"])
    assert ended.value.code == 2
    assert "mcts:preset=warzone" in (told := capsys.readouterr().err) and "choose at once" in told
