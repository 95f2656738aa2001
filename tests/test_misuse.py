"""What is given wrongly gets a clear error, and never reaches compiled code, which checks nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pickle import dumps, loads
from typing import Any

import gymnasium
import numpy as np
import pytest

import sandtable
from sandtable.agents import mcts
from sandtable.agents.policy import Decisions, Policy
from sandtable.encoders.features.takahashi import TakahashiGraph, TakahashiImage
from sandtable.envs.tubstap.actions import ActionCodec
from sandtable.envs.tubstap.game import Tubstap
from sandtable.envs.tubstap.records import parse_record

OPEN = "tubstap 4x4 4./4./4./4. rI10@1,1/bI10@4,4 t0 limit40 threshold0 rules=official"
WALLED = "tubstap 4x4 .3#/4#/4#/3#. rI10@1,1/bI10@4,4 t0 limit40 threshold0 rules=official"


@pytest.fixture(scope="module")
def game() -> Tubstap:
    return Tubstap()


def test_states_of_larger_maps_do_not_go_into_smaller_arrays(game: Tubstap) -> None:
    others = Tubstap(map="skirmish").new(1)
    codec = ActionCodec(game)
    for ask in (
        lambda: codec.masks(others),
        lambda: codec.moves(others, np.zeros(1, np.int64)),
        lambda: TakahashiGraph(game).encode(others, np.zeros(1, np.int64)),
        lambda: TakahashiImage(game).encode(others, np.zeros(1, np.int64)),
    ):
        with pytest.raises(ValueError, match=r"6x6 cells and 6 units a side; .* made for 8x8 and at most 3"):
            ask()
    with pytest.raises(ValueError, match="actions from 0 to 767"):
        codec.moves(game.new(1), np.array([768]))


def test_things_that_are_no_states(game: Tubstap) -> None:
    agent = sandtable.make_agent("greedy")
    agent.reset(game, 1)
    for wrong in (5, "x", np.zeros((2, 2), game.dtype), np.zeros(3)):
        for ask in (game.moves, game.done, game.to_text, agent.act):
            with pytest.raises(TypeError, match="expected a state"):
                ask(wrong)  # type: ignore[operator]
    with pytest.raises(ValueError, match="expected one state, got an array of 2"):
        game.moves(game.new(2))


def test_moves_that_do_not_belong_to_the_states(game: Tubstap) -> None:
    states = game.new(3, seed=1)
    moves = game.moves(states[0])
    with pytest.raises(ValueError, match="3 moves of 3 whole numbers needed"):
        game.play(states, moves[:2])
    with pytest.raises(ValueError, match="a move of 3 whole numbers needed"):
        game.play(states[0], [0.5, 1.0, 2.0])
    assert not game.legal(states[0], np.array([0, 0, 2**64 - 1], np.uint64))
    assert not game.legal(states, moves[:2]).any()
    with pytest.raises(ValueError, match="there is no unit in slot 1000"):
        game.damages(states[0], np.array([1000, 5, 20000]))
    with pytest.raises(TypeError):
        game.encode(states[0], 0, 1.4, 2)  # type: ignore[arg-type]


def test_strided_and_read_only_states(game: Tubstap) -> None:
    states = game.new(6, seed=1)
    assert np.array_equal(game.player(states[::2]), [0, 0, 0])
    states.flags.writeable = False
    after = game.play(states[::2], np.array([game.moves(state)[0] for state in states[::2]]))
    assert len(after) == 3


def test_batches(game: Tubstap) -> None:
    states = game.random_games(game.new(5, seed=1), seed=2, plies=7)
    rows, ends = game.moves_each(states)
    for i, state in enumerate(states):
        assert np.array_equal(rows[ends[i] : ends[i + 1]], game.moves(state))
    first = rows[ends[:-1]]
    actions = game.decode_each(states, first)
    assert np.array_equal(game.encode_each(states, actions), first)
    assert [game.decode(state, move) for state, move in zip(states, first, strict=True)] == [*map(tuple, actions)]
    assert game.to_text(game.from_text(game.to_text(states))) == game.to_text(states)
    with pytest.raises(ValueError, match="different board sizes"):
        game.from_text([OPEN, Tubstap(map="crossroads").to_text(Tubstap(map="crossroads").new(1)[0])])


@pytest.mark.parametrize("seed", [-1, 1.5, "a"])
def test_seeds_that_are_none(game: Tubstap, seed: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="a seed is a whole number"):
        game.new(1, seed)


@pytest.mark.parametrize(
    "spec", ["random", "greedy", "pmc:rollouts=1", "mcts:sims=5", "muct:sims=5", "ga:generations=1"]
)
def test_agents_asked_too_early_or_too_late(game: Tubstap, spec: str) -> None:
    agent = sandtable.make_agent(spec)
    with pytest.raises(RuntimeError, match=r"call reset\(game, seed\) first"):
        agent.act(game.new(1))
    agent.reset(game, 1)
    states = game.new(2, seed=1)
    states[1] = game.random_games(states[1:], seed=1)[0]
    with pytest.raises(ValueError, match="state 1 of 2 is over"):
        agent.act(states)
    with pytest.raises(ValueError, match="1 states need 1 seeds"):
        agent.act(states[:1], np.zeros(3, np.uint64))
    assert len(agent.act(states[:1], [7]).moves) == 1  # type: ignore[arg-type]


def test_agents_in_copies_and_threads(game: Tubstap) -> None:
    agent = sandtable.make_agent("mcts:sims=100")
    agent.reset(game, 1)
    states = game.new(8, seed=1)
    seeds = np.arange(8, dtype=np.uint64)
    alone = agent.act(states, seeds).moves
    for copy in (deepcopy(agent), loads(dumps(agent))):
        assert np.array_equal(copy.act(states, seeds).moves, alone)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda i: agent.act(states[i : i + 1], seeds[i : i + 1]).moves[0], [*range(8)] * 20))
    assert np.array_equal(answers, np.tile(alone, (20, 1)))


@pytest.mark.parametrize("agent_name", ["mcts", "muct"])
def test_a_kept_tree_knows_the_map(game: Tubstap, agent_name: str) -> None:
    agent = sandtable.make_agent(f"{agent_name}:sims=200,reuse=true")
    agent.reset(game, 1)
    agent.act(np.array([game.from_text(OPEN)]))
    walled = game.from_text(WALLED)
    assert game.key(walled) != game.key(game.from_text(OPEN))
    assert game.legal(walled, agent.act(np.array([walled])).moves[0])


def test_a_full_tree_goes_on(game: Tubstap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcts, "_MOST_NODES", 1 << 14)
    agent: Any = sandtable.make_agent("mcts:sims=3000")
    agent.reset(game, 1)
    decisions = agent.act(game.new(1, seed=1))
    assert decisions.visits[0].sum() == 3000
    assert len(agent._trees[0].nodes) <= 1 << 14


def test_a_game_without_limits_ends() -> None:
    endless = Tubstap(turn_limit=0)
    state = endless.from_text("tubstap 2x1 .~ rI10@1,1/bF10@2,1 t29990 limit9 threshold0 rules=official+turn_limit=0")
    after = endless.random_games(np.array([state]), seed=1)
    assert after["turn"][0] == 30_000 and endless.outcome(after)[0] == 0
    assert endless.from_text(endless.to_text(after[0])) == after[0]


def test_opponents_with_trees() -> None:
    with pytest.raises(ValueError, match="not a batch"):
        gymnasium.make_vec("Tubstap-v0", num_envs=2, opponent="mcts:sims=4,reuse=true")
    env = gymnasium.make("Tubstap-v0", map="kimura-map01", side="blue", opponent="mcts:sims=4,reuse=true")
    unwrapped: Any = env.unwrapped
    seen = set()
    for _ in range(6):
        env.reset(seed=3)
        seen.add(unwrapped.game.to_text(unwrapped.state))
    assert len(seen) == 1


class _Mute(Policy):
    def decide(self, states: np.ndarray, seeds: np.ndarray) -> Decisions:
        return Decisions([], np.zeros(0), [])  # type: ignore[arg-type]


def test_an_opponent_that_answers_nothing_ends_the_game() -> None:
    env = gymnasium.make("Tubstap-v0", opponent=_Mute())
    _, info = env.reset(seed=1)
    with pytest.raises(ValueError, match=r"the opponent's moves must be whole numbers of shape \(1, 3\)"):
        while True:
            _, _, _, _, info = env.step(int(np.argmax(info["action_mask"])))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)


@pytest.mark.parametrize(
    "spec", ["mcts:sims=inf", "mcts:sims=nan", "mcts:sims=100000000000000000000", "mcts:seconds=inf", "mcts:c=inf"]
)
def test_numbers_without_measure(spec: str) -> None:
    with pytest.raises(ValueError, match="must be a"):
        sandtable.make_agent(spec)


def test_options_where_none_belong() -> None:
    assert sandtable.make_agent("mcts", sims=np.int64(5))
    with pytest.raises(ValueError, match="takes no options, got sims"):
        sandtable.make_agent(sandtable.make_agent("random"), sims=3)


@pytest.mark.parametrize("rules", ["official", "li2022"])
def test_a_record_replays(rules: str) -> None:
    game = Tubstap(rules=rules)
    agent = sandtable.make_agent("greedy")
    agent.reset(game, 1)
    states, moves = [game.new(1, seed=1)[0]], []
    while not game.done(states[-1]):
        moves.append(agent.act(np.array([states[-1]])).moves[0])
        states.append(game.play(states[-1], moves[-1]))
    record = parse_record(game.record(states[:-1], moves, ("a", "b"), "2026-01-01"))
    assert record.rule == ("rule_set_version_0100" if rules == "official" else rules)
    again, replayed = Tubstap(map=record.map, rules=rules).replay(record)
    assert np.array_equal(replayed, moves)
    assert game.to_text(again[-1]) == game.to_text(states[-1])
    with pytest.raises(ValueError, match="in the middle of another"):
        game.record(states[8:-1], moves[8:], ("a", "b"), "")
    with pytest.raises(ValueError, match="without a move"):
        game.record([], [], ("a", "b"), "")
