"""Minimax against a plain one: the same values whatever is merged, laid out in batches or cut."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import sandtable
from sandtable.agents.minimax import MinimaxPolicy


class Oracle:
    """Stands for a network: any number for a position, always the same one."""

    def __init__(self) -> None:
        self.asked = 0

    def check(self, game: Any) -> None:
        pass

    def values(self, game: Any, states: np.ndarray, players: Any = None) -> np.ndarray:
        self.asked += len(states)
        assert not game.done(states).any()
        return (game.key(states) >> np.uint64(40)).astype(float) / 2**23 - 1.0


def minimax(depth: int, merge: bool = True) -> MinimaxPolicy:
    policy = MinimaxPolicy(weights="oracle", depth=depth, merge=merge)
    policy._networks = {"weights": Oracle()}
    return policy


def plain(game: Any, state: Any, depth: int) -> float:
    """The value for player 0, by the definition."""
    if game.done(state):
        return game.outcome(state)
    sign = 1.0 if game.player(state) == 0 else -1.0
    if depth == 0:
        return sign * float(Oracle().values(game, np.array([state], state.dtype))[0])
    values = [plain(game, game.play(state, move), depth - 1) for move in game.moves(state)]
    return max(values) if sign > 0 else min(values)


def positions(game: Any, n: int) -> list[Any]:
    """Positions near the end of random games, where sides change within a few plies and some lines end."""
    found: list[Any] = []
    for seed in range(1_000):
        states = game.new(1, seed)
        states = game.random_games(states, seed, 12 + seed % 20)
        if not game.done(states)[0] and len(game.moves(states[0])) <= 30:
            found.append(states[0])
        if len(found) == n:
            return found
    raise AssertionError("too few positions")


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_it_is_minimax(depth: int) -> None:
    game: Any = sandtable.make_game("tubstap", map="kimura-map01", turn_limit=12)
    for state in positions(game, 12 if depth < 3 else 3):
        expected = plain(game, state, depth) * (1 if game.player(state) == 0 else -1)
        for merge in (True, False):
            policy = minimax(depth, merge)
            policy.reset(game, 1)
            decision = policy.act(np.array([state]))
            assert decision.values[0] == pytest.approx(expected)
            after = plain(game, game.play(state, decision.moves[0]), depth - 1)
            assert abs(after) == pytest.approx(abs(expected))


def test_equal_positions_are_asked_about_once() -> None:
    """With units that may act in either order about half of all leaves are met twice."""
    game: Any = sandtable.make_game("tubstap", map="li-symmetric")
    policy = minimax(2)
    policy.reset(game, 1)
    policy.act(game.new(1, 1))
    network: Any = policy._networks["weights"]
    assert network.asked == policy.evaluated
    assert 0.4 < policy.evaluated / policy.leaves < 0.7


def test_cutting_saves_leaves() -> None:
    """From depth 4 on: two plies are laid out whole, the best child of the root cuts the answers to the others."""
    game: Any = sandtable.make_game("tubstap", map="kimura-map01", turn_limit=12)
    state = next(state for state in positions(game, 60) if len(game.moves(state)) <= 12)
    policy = minimax(4)
    policy.reset(game, 1)
    policy.act(np.array([state]))
    layer = [state]
    for _ in range(4):
        layer = [game.play(each, move) for each in layer for move in game.moves(each)]
    assert policy.leaves < 0.7 * len(layer)


def test_it_plays_warzone_by_candidates() -> None:
    game: Any = sandtable.make_game("warzone", map="owl_island")
    policy = minimax(2)
    policy.reset(game, 1)
    states = game.new(3, 1)
    states = np.concatenate([states, game.play(states, np.array([game.moves(state)[0] for state in states]))])
    decisions = policy.act(states)
    assert game.legal(states, decisions.moves).all()
    assert policy.leaves > 6 * 100
    again = minimax(2)
    again.reset(game, 1)
    assert np.array_equal(again.act(states).moves, decisions.moves)


def test_bad_options() -> None:
    with pytest.raises(ValueError, match="depth=0"):
        sandtable.make_agent("minimax:depth=0,weights=x")
    with pytest.raises(ValueError, match="weights=None: a file of a network is needed"):
        sandtable.make_agent("minimax")
    with pytest.raises(ValueError, match="at most 8"):
        sandtable.make_agent("minimax:depth=9,weights=x")


def test_networks_that_cannot_play_are_refused(tmp_path: Any) -> None:
    pytest.importorskip("torch")
    from sandtable.encoders.networks.files import save_network

    game: Any = sandtable.make_game("tubstap", map="li-symmetric")
    path = tmp_path / "net.safetensors"
    save_network(path, sandtable.make_network("gcn4"))
    agent = sandtable.make_agent("minimax", weights=str(path))
    agent.reset(game, 1)
    decision = agent.act(game.new(2, 1))
    assert game.legal(game.new(2, 1), decision.moves).all() and (np.abs(decision.values) <= 1).all()
    for other, words in (
        (sandtable.make_game("warzone"), "tubstap"),
        (sandtable.make_game("tubstap", map="skirmish"), "units"),
    ):
        with pytest.raises(ValueError, match=words):
            sandtable.make_agent("minimax", weights=str(path)).reset(other)
    path.write_bytes(path.read_bytes()[:1000])
    for weights, words in ((str(path), "cut off"), (str(tmp_path / "no.safetensors"), "no file"), ("li", "unknown")):
        with pytest.raises(ValueError, match=words):
            sandtable.make_agent("minimax", weights=weights).reset(game)


class Pointer(Oracle):
    """Stands for a policy: likes moves with small numbers."""

    has_policy = True

    def logits(self, game: Any, states: np.ndarray, moves: np.ndarray, ends: np.ndarray) -> np.ndarray:
        assert ends[-1] == len(moves) and len(ends) == len(states) + 1
        return -moves.astype(np.float32) @ np.array([10_000, 10, 1], np.float32)


def test_a_policy_prunes() -> None:
    game: Any = sandtable.make_game("tubstap", map="kimura-map01", turn_limit=12)
    for state in positions(game, 5):
        policy = MinimaxPolicy(weights="oracle", policy="pointer", keep=3)
        policy._networks = {"weights": Oracle(), "policy": Pointer()}
        policy.reset(game, 1)
        decision = policy.act(np.array([state]))
        listed = game.moves(state)
        best = listed[np.argsort(-Pointer().logits(game, np.array([state]), listed, np.array([0, len(listed)])))[:3]]
        assert (best == decision.moves[0]).all(1).any()
        assert policy.leaves <= 9


def test_policies_of_networks_and_those_without(tmp_path: Any) -> None:
    pytest.importorskip("torch")
    from sandtable.encoders.networks.files import save_network

    for name, game in (("units", sandtable.make_game("tubstap")), ("soares", sandtable.make_game("warzone"))):
        network = sandtable.make_network(name, game)
        path = tmp_path / f"{name}.safetensors"
        save_network(path, network)
        agent = sandtable.make_agent("minimax", weights=str(path), policy=str(path), keep=4)
        agent.reset(game, 1)
        states = game.new(3, 1)
        assert game.legal(states, agent.act(states).moves).all()
        rows, ends = game.moves_each(states)
        alone = [
            network.logits(game, states[i : i + 1], rows[a:b], np.array([0, b - a]))
            for i, (a, b) in enumerate(pairwise(ends))
        ]
        assert np.allclose(network.logits(game, states, rows, ends), np.concatenate(alone), atol=1e-5)
    path = tmp_path / "gcn4.safetensors"
    save_network(path, sandtable.make_network("gcn4"))
    game = sandtable.make_game("tubstap", map="li-symmetric")
    agent = sandtable.make_agent("minimax", weights=str(path), policy=str(path), keep=4)
    with pytest.raises(ValueError, match="no policy"):
        agent.reset(game, 1)
