"""Co-evolution: whatever numbers a plan holds, its moves are legal; seeds repeat; bad options are refused."""

from __future__ import annotations

import numpy as np
import pytest

import sandtable
from sandtable.agents.ga import Evolution
from sandtable.envs.game import Game, plan_length, plan_move, random_plan
from sandtable.envs.jit import jit


@jit
def _plan_move(states, plan, move):
    plan_move(states[0], plan, move)


@jit
def _random_plan(states, side, rng, plan):
    random_plan(states[0], side, rng, plan)


@jit
def _length(states):
    return plan_length(states[0])


@pytest.fixture(scope="module", params=["li-symmetric", "takahashi-complex", "skirmish", "crossroads"])
def game(request: pytest.FixtureRequest) -> Game:
    return sandtable.make_game("tubstap", map=request.param)


def test_any_numbers_are_a_plan(game: Game) -> None:
    """Played to the end by noise, then by random plans and plans of other positions: every move is legal."""
    rng = np.random.default_rng(1)
    move = np.empty(game.move_length, np.int16)
    state = game.new(1, seed=1)
    stale = np.zeros(_length(state), np.int16)
    word = np.array([3], np.uint64)
    while not game.done(state)[0]:
        kind = rng.integers(3)
        if kind == 0:
            plan = rng.integers(-(2**15), 2**15, len(stale)).astype(np.int16)
        elif kind == 1:
            plan = stale
        else:
            plan = np.zeros_like(stale)
            _random_plan(state, game.player(state)[0], word, plan)
            stale = plan.copy()
        _plan_move(state, plan, move)
        assert game.legal(state[0], move), game.why_illegal(state[0], move)
        state = game.play(state, move[None])


def test_the_best_live_on(game: Game) -> None:
    evolution = Evolution(game.new(1, seed=2), 8, np.array([1], np.uint64), game.move_length)
    evolution.generation(3, 0.2, 0, 10)
    order = np.argsort(-evolution.values.mean(1), kind="stable")
    best = [evolution.ours[i].copy() for i in order[:3]]
    scores = np.sort(evolution.values.mean(1))[::-1]
    evolution.generation(3, 0.2, 0, 10)
    for plan, score in zip(best, scores, strict=False):
        assert any(np.array_equal(plan, other) for other in evolution.ours[:3]), score


@pytest.mark.parametrize("spec", ["ga:generations=3,population=8", "ga:generations=2,population=6,value=rollouts"])
def test_the_same_seed_gives_the_same_decision(game: Game, spec: str) -> None:
    states = game.new(3, seed=5)
    answers = []
    for _ in range(2):
        agent = sandtable.make_agent(spec)
        agent.reset(game, 4)
        answers.append(agent.act(states))
    assert np.array_equal(answers[0].moves, answers[1].moves)
    assert np.array_equal(answers[0].values, answers[1].values)
    assert (abs(answers[0].values) <= 1).all()
    assert game.legal(states, answers[0].moves).all()


def test_the_winning_attack_is_found() -> None:
    game = sandtable.make_game("tubstap")
    text = "tubstap 5x5 5./5./5./5./5. rP5@1,1/rI2@1,5/bI3@3,1 t18 limit19 threshold10 rules=official"
    state = game.from_text(text)
    agent = sandtable.make_agent("ga")
    agent.reset(game, 1)
    unit, _, _, target = game.decode(state, agent.act(np.array([state])).moves[0])  # type: ignore[attr-defined]
    assert (unit, target) == (0, 2) or target == -1  # the infantry may step aside first
    while not game.done(state):
        state = game.play(state, agent.act(np.array([state])).moves[0])
    assert game.outcome(state) == 1


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("ga:value=materials", "did you mean 'material'"),
        ("ga:elites=30", "must be fewer than the population of 30"),
        ("ga:mutation=1.5", "from 0 to 1"),
        ("ga:generations=0", "generations=0 must be"),
        ("ga:generation=3", "did you mean 'generations'"),
    ],
)
def test_bad_options_are_answered(spec: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        sandtable.make_agent(spec)
