"""The searches: known best moves, signs with several moves of one side in a row, seeds, budgets, reuse."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import sandtable
from sandtable.agents.mcts import Tree, TreePolicy
from sandtable.envs.game import Game

SEARCHES = ("pmc:rollouts=50", "mcts:sims=2000", "mcts:sims=2000,preset=kimura2020", "muct:sims=2000")
PLAIN = "tubstap 5x5 5./5./5./5./5."


@pytest.fixture(scope="module")
def game() -> Game:
    return sandtable.make_game("tubstap")


def _decide(game: Game, spec: str, text: str, seed: int = 1) -> tuple[tuple[int, ...], float]:
    agent = sandtable.make_agent(spec)
    agent.reset(game, seed)
    state = game.from_text(text)
    decisions = agent.act(np.array([state]))
    return game.decode(state, decisions.moves[0]), float(decisions.values[0])  # type: ignore[attr-defined]


@pytest.mark.parametrize("spec", SEARCHES)
def test_the_winning_attack_is_found(game: Game, spec: str) -> None:
    """RED wins if it kills the last unit of BLUE in this turn, the last one, and draws otherwise."""
    text = f"{PLAIN} rP5@1,1/rI2@1,5/bI3@3,1 t18 limit19 threshold10 rules=official"
    (unit, _, _, target), value = _decide(game, spec, text)
    assert (unit, target) == (0, 2)
    assert value > 0


@pytest.mark.parametrize("spec", SEARCHES)
def test_blue_finds_it_as_well(game: Game, spec: str) -> None:
    text = f"{PLAIN} bP5@1,1/bI2@1,5/rI3@3,1 t19 limit20 threshold10 rules=official"
    (unit, _, _, target), value = _decide(game, spec, text)
    assert (unit, target) == (0, 2)
    assert value > 0


@pytest.mark.parametrize("spec", SEARCHES)
@pytest.mark.parametrize("mover", ["r", "b"])
def test_signs_with_three_moves_in_a_row(game: Game, spec: str, mover: str) -> None:
    """In the last turn only three attacks, one of each unit, win: no sign may flip between these moves."""
    other = "b" if mover == "r" else "r"
    turn = 18 if mover == "r" else 19
    units = "/".join(f"{mover}I10@1,{y}" for y in (1, 3, 5)) + "/" + "/".join(f"{other}I8@3,{y}" for y in (1, 3, 5))
    text = f"{PLAIN} {units} t{turn} limit{turn + 1} threshold14 rules=official"
    state = game.from_text(text)
    agent = sandtable.make_agent(spec)
    agent.reset(game, 1)
    while not game.done(state):
        assert game.player(state) == (0 if mover == "r" else 1)
        decisions = agent.act(np.array([state]))
        move = decisions.moves[0]
        assert game.decode(state, move)[3] != -1  # type: ignore[attr-defined]
        assert decisions.values[0] > 0
        state = game.play(state, move)
    assert game.outcome(state) == (1 if mover == "r" else -1)


def test_opponents_nodes_choose_for_the_opponent(game: Game) -> None:
    """A unit that cannot get away from a panzer is lost, unless the opponent is so kind as to spare it."""
    text = f"{PLAIN} rI3@3,3/bP9@4,3 t0 limit2 threshold10 rules=official"
    _, value = _decide(game, "muct:sims=20000,margin=0", text)
    _, hopeful = _decide(game, "muct:sims=20000,margin=0,minimax_nodes=false", text)
    assert value < -0.8
    assert hopeful > -0.2


@pytest.mark.parametrize("spec", [*SEARCHES, "greedy", "random"])
def test_the_same_seed_gives_the_same_decisions(game: Game, spec: str) -> None:
    states = game.new(4, seed=3)
    answers = []
    for _ in range(2):
        agent = sandtable.make_agent(spec)
        agent.reset(game, 7)
        answers.append([agent.act(states), agent.act(states)])
    for one, two in zip(*answers, strict=True):
        assert np.array_equal(one.moves, two.moves)
        assert np.array_equal(one.values, two.values, equal_nan=True)
        for a, b in zip(one.visits, two.visits, strict=True):
            assert (a is None and b is None) or np.array_equal(a, b)


def test_the_same_seed_gives_the_same_tree(game: Game) -> None:
    trees = [_tree(game, "muct:sims=3000", seed) for seed in (1, 1, 2)]
    assert trees[0].used == trees[1].used
    same = trees[0].nodes[: trees[0].used]
    for name in ("total", "visits", "first", "count", "move"):
        assert np.array_equal(same[name], trees[1].nodes[: trees[1].used][name])
    assert not np.array_equal(trees[0].nodes[:50]["visits"], trees[2].nodes[:50]["visits"])


def _tree(game: Game, spec: str, seed: int) -> Tree:
    agent: Any = sandtable.make_agent(spec)
    agent.reset(game, seed)
    agent.act(game.new(1, seed=1))
    return agent._trees[0]


@pytest.mark.parametrize("spec", ["mcts:sims=3000", "muct:sims=30000"])
def test_the_tree_adds_up(game: Game, spec: str) -> None:
    tree = _tree(game, spec, 1)
    nodes = tree.nodes[: tree.used]
    assert nodes[0]["visits"] == int(spec.split("=")[1])
    inner = np.flatnonzero(nodes["first"] >= 0)
    assert len(inner) > 10
    for i in inner:
        children = nodes[nodes[i]["first"] : nodes[i]["first"] + nodes[i]["count"]]
        assert children["visits"].sum() <= nodes[i]["visits"]
        assert abs(nodes[i]["total"]) <= nodes[i]["visits"] + 1e-9
    root = nodes[nodes[0]["first"] : nodes[0]["first"] + nodes[0]["count"]]
    assert root["visits"].sum() == nodes[0]["visits"]


@pytest.mark.parametrize("spec", ["pmc:rollouts=3", "mcts:sims=300", "muct:sims=300"])
def test_visits_belong_to_the_legal_moves(game: Game, spec: str) -> None:
    text = f"{PLAIN} rI1@1,1/rP5@1,2/bP9@2,1/bI9@3,2 t0 limit9 threshold0 rules=official"
    state = game.from_text(text)
    agent = sandtable.make_agent(spec)
    agent.reset(game, 1)
    decisions = agent.act(np.array([state]))
    visits, moves = decisions.visits[0], game.moves(state)
    assert visits is not None and len(visits) == len(moves)
    chosen = np.flatnonzero((moves == decisions.moves[0]).all(1))
    assert len(chosen) == 1 and visits[chosen[0]] > 0
    if spec.startswith("muct"):
        harmless = [i for i, move in enumerate(moves) if move[2] >= 0 and game.damages(state, move)[0] == 0]  # type: ignore[attr-defined]
        assert harmless and not visits[harmless].any()


@pytest.mark.parametrize("agent_name", ["mcts", "muct", "pmc"])
def test_a_budget_in_seconds(game: Game, agent_name: str) -> None:
    states = game.new(1, seed=1)
    agent = sandtable.make_agent(f"{agent_name}:seconds=0.05")
    agent.reset(game, 1)
    agent.act(states)  # compiled now
    start = time.perf_counter()
    decisions = agent.act(states)
    assert time.perf_counter() - start < 5
    assert decisions.visits[0] is not None and decisions.visits[0].sum() > 100


def test_whichever_ends_first(game: Game) -> None:
    agent = sandtable.make_agent("mcts:sims=50,seconds=60")
    agent.reset(game, 1)
    decisions = agent.act(game.new(1, seed=1))
    assert decisions.visits[0] is not None and decisions.visits[0].sum() == 50


def test_a_kept_tree_goes_on(game: Game) -> None:
    agent: Any = sandtable.make_agent("muct:sims=500,reuse=true")
    agent.reset(game, 1)
    state = game.new(1, seed=1)
    first = agent.act(state)
    before = dict(zip(map(tuple, game.moves(state[0])), first.visits[0], strict=True))[tuple(first.moves[0])]
    state = game.play(state, first.moves)
    second = agent.act(state)
    # The child's own first visits, before it had children, are no visits of children.
    assert 500 < second.visits[0].sum() <= before + 500
    assert agent._trees[0].nodes[0]["visits"] == before + 500
    agent.act(game.new(1, seed=99))
    assert agent._trees[0].nodes[0]["visits"] == 500, "a state that the tree has not met begins a new one"


def test_a_kept_tree_is_one_players_without_minimax_nodes(game: Game) -> None:
    agent: Any = sandtable.make_agent("muct:sims=3000,reuse=true,minimax_nodes=false")
    assert isinstance(agent, TreePolicy)
    agent.reset(game, 1)
    state = game.new(1, seed=1)
    while game.player(state)[0] == 0:
        state = game.play(state, agent.act(state).moves)
    agent.act(state)
    assert agent._trees[0].nodes[0]["visits"] == 3000


def test_a_rollout_has_an_end(game: Game) -> None:
    """Nobody can hurt anybody and nothing limits the game: the rollouts' own limit ends them."""
    endless = sandtable.make_game("tubstap", map="first-steps", turn_limit=0)
    state = endless.from_text(f"{PLAIN} rF10@1,1/bI10@5,5 t0 limit9 threshold0 rules=official+turn_limit=0")
    agent = sandtable.make_agent("mcts:sims=5,plies=100")
    agent.reset(endless, 1)
    assert agent.act(np.array([state])).values[0] == 0


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("mtcs", "did you mean 'mcts'"),
        ("mcts:sim=5", "did you mean 'sims'"),
        ("mcts:sims=0", "sims=0 must be"),
        ("mcts:sims=2.5", "sims=2.5 must be"),
        ("mcts:sims=true", "sims=True must be"),
        ("mcts:seconds=nan", "seconds=nan must be"),
        ("mcts:preset=li2020", "did you mean 'li2022'"),
        ("mcts:choose=best", "must be 'mean' or 'visits'"),
        ("muct:margin=2", "from 0 to 1"),
        ("muct:minimax_nodes=1", "true or false"),
        ("mcts:", "after the colon"),
        ("mcts:sims", "should be key=value"),
        ("mcts:sims=1,sims=2", "twice"),
        ("greedy:sims=3", "unknown option of the agent 'greedy' 'sims'"),
        ("", "unknown agent"),
    ],
)
def test_bad_specs_are_answered(spec: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        sandtable.make_agent(spec)


def test_things_that_are_no_spec() -> None:
    with pytest.raises(TypeError, match="got int"):
        sandtable.make_agent(3)  # type: ignore[arg-type]
    agent = sandtable.make_agent("random")
    assert sandtable.make_agent(agent) is agent
