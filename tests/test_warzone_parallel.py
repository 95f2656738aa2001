"""Warzone as a PettingZoo parallel environment: both players choose at once."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from sandtable.envs.warzone.aec import raw_env
from sandtable.envs.warzone.parallel import parallel_env
from tests.environments import allowed_warnings, choose, illegal, same
from tests.warzone_environments import (
    ACTIONS,
    CONFIGURATIONS,
    CROSS_PRODUCT,
    KINDS,
    genes_of,
    random_action,
    three_in_a_row,
)

with allowed_warnings():
    from pettingzoo.test import parallel_api_test, parallel_seed_test

CYCLES = 12
PLAYERS = ("red", "blue")


def actions_for(rng: np.random.Generator, env: Any, infos: dict[str, Any]) -> dict[str, Any]:
    return {agent: random_action(rng, env, infos[agent].get("action_mask")) for agent in env.agents}


def play(env: Any, seed: int | None = None, steps: int = 60, infos: Any = None) -> list[Any]:
    """Everything that is answered in a game of random legal actions; it is begun with the seed, or gone on with."""
    rng = np.random.default_rng(0)
    answers: list[Any] = [] if seed is None else [env.reset(seed=seed)]
    infos = answers[0][1] if answers else infos
    while len(answers) < steps and env.agents:
        answers.append(env.step(actions_for(rng, env, infos)))
        infos = answers[-1][-1]
    return answers


def pettingzoo_accepts(options: dict[str, Any]) -> None:
    with allowed_warnings():
        parallel_api_test(parallel_env(**options), num_cycles=CYCLES)
        parallel_seed_test(partial(parallel_env, **options), num_cycles=CYCLES)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_pettingzoo_accepts_it(name: str) -> None:
    pettingzoo_accepts(CONFIGURATIONS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", CROSS_PRODUCT)
def test_everything_with_everything(name: str) -> None:
    pettingzoo_accepts(CROSS_PRODUCT[name])


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("on_illegal", ["forfeit", "raise", "noop"])
def test_pettingzoo_accepts_whole_games(action: str, on_illegal: str) -> None:
    with allowed_warnings():
        env = parallel_env(map="simple", action=action, on_illegal=on_illegal, turn_limit=6)
        parallel_api_test(env, num_cycles=400)


# What the agents get


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_aec_environment_without_its_order(kind: str, seed: int) -> None:
    options: dict[str, Any] = {"map": "simple", "observation": kind, "turn_limit": 20}
    env, other = parallel_env(**options), raw_env(**options)
    rng = np.random.default_rng(seed)
    observations, infos = env.reset(seed=seed)
    other.reset(seed=seed)
    while env.agents:
        actions = actions_for(rng, env, infos)
        for agent in PLAYERS:
            assert other.agent_selection == agent and same(other.last()[0], observations[agent])
            other.step(actions[agent])
        observations, rewards, terminations, truncations, infos = env.step(actions)
        assert rewards == other.rewards and terminations == other.terminations and not any(truncations.values())
    assert env.game.to_text(env._duel.states[0]) == other.game.to_text(other._duel.states[0])


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_rewards_are_the_outcome(action: str, seed: int) -> None:
    env = parallel_env(map="simple", action=action, turn_limit=25)
    *earlier, last = play(env, seed, steps=3_000)
    outcome = env.game.outcome(env._duel.states[0])
    assert last[1] == {"red": outcome, "blue": -outcome} and all(last[2].values()) and env.agents == []
    assert all(answer[1] == {"red": 0.0, "blue": 0.0} for answer in earlier[1:])


def test_both_move_at_once() -> None:
    """V2 of the rules: both attack with everything; who is first wins the fight, whatever the order of the agents."""
    winners = set()
    for seed in range(12):
        env = parallel_env(start=three_in_a_row((3, 3, 9), (1, 2, 0)))
        env.reset(seed=seed)
        red, blue = genes_of(env, (0, 0, 5), (0, 1, 8)), genes_of(env, (1, 1, 5), (1, 0, 8))
        _, rewards, terminations, _, _ = env.step({"blue": blue, "red": red})
        assert all(terminations.values()) and set(rewards.values()) == {1.0, -1.0}
        winners.add(rewards["red"])
    assert winners == {1.0, -1.0}


def test_who_has_ended_waits_for_the_other() -> None:
    env = parallel_env(map="simple", action="orders")
    codec: Any = env.codec
    _, infos = env.reset(seed=0)
    own = {agent: int(np.flatnonzero(env._duel.states["owner"][0] == i + 1)[0]) for i, agent in enumerate(PLAYERS)}
    env.step({"red": codec.action(own["red"], own["red"]), "blue": codec.action(own["blue"], own["blue"], "few")})
    *_, infos = env.step({"red": 0, "blue": codec.action(own["blue"], own["blue"], "few")})
    assert np.flatnonzero(infos["red"]["action_mask"]).tolist() == [0] and not infos["blue"]["action_mask"][0]
    observations, *_, infos = env.step({"red": 0, "blue": codec.action(own["blue"], own["blue"], "all")})
    assert same(observations["red"]["action_mask"], infos["red"]["action_mask"])
    assert env._duel.states["turn"][0] == 0
    *_, infos = env.step({"red": 0, "blue": 0})
    assert env._duel.states["turn"][0] == 1
    assert all(infos[agent]["action_mask"].sum() > 1 and not infos[agent]["action_mask"][0] for agent in PLAYERS)


def test_nobody_sees_the_others_draft() -> None:
    env = parallel_env(action="orders")
    _, infos = env.reset(seed=0)
    rng = np.random.default_rng(0)
    legal = {agent: choose(rng, infos[agent]["action_mask"]) for agent in PLAYERS}
    one, other = copy.deepcopy(env), copy.deepcopy(env)
    different = {**legal, "blue": int(np.flatnonzero(infos["blue"]["action_mask"])[-1])}
    assert different != legal
    assert same(one.step(legal)[0]["red"], other.step(different)[0]["red"])


@pytest.mark.parametrize(
    ("wrong", "rewards"), [(("red",), (-1.0, 1.0)), (("blue",), (1.0, -1.0)), (PLAYERS, (0.0, 0.0))]
)
def test_an_illegal_action_forfeits(wrong: tuple[str, ...], rewards: tuple[float, float]) -> None:
    env = parallel_env(action="orders")
    _, infos = env.reset(seed=0)
    rng = np.random.default_rng(0)
    masks = {agent: infos[agent]["action_mask"] for agent in PLAYERS}
    answer = env.step({a: illegal(masks[a]) if a in wrong else choose(rng, masks[a]) for a in PLAYERS})
    assert answer[1] == dict(zip(PLAYERS, rewards, strict=True)) and all(answer[2].values()) and env.agents == []
    assert {agent for agent in PLAYERS if "illegal_action" in answer[4][agent]} == set(wrong)
    assert not any(answer[4][agent]["action_mask"].any() for agent in PLAYERS)
    with pytest.raises(ResetNeeded):
        env.step({"red": 0, "blue": 0})


def test_an_illegal_action_raises_before_anything_is_drafted() -> None:
    env = parallel_env(action="orders", on_illegal="raise")
    _, infos = env.reset(seed=0)
    with pytest.raises(ValueError, match="illegal action: the move cannot end"):
        env.step({"red": choose(np.random.default_rng(0), infos["red"]["action_mask"]), "blue": 0})
    assert not env._drafts.any()  # type: ignore[union-attr]


def test_an_illegal_action_does_nothing() -> None:
    env = parallel_env(action="orders", on_illegal="noop")
    before, _ = env.reset(seed=0)
    observations, rewards, terminations, _, infos = env.step({"red": 0, "blue": 0})
    assert same(observations, before) and rewards == {"red": 0.0, "blue": 0.0} and not any(terminations.values())
    assert all(infos[agent]["illegal_action"] for agent in PLAYERS)


def test_what_are_no_actions_is_refused() -> None:
    env = parallel_env(action="orders")
    with pytest.raises(ResetNeeded):
        env.step({"red": 0, "blue": 0})
    env.reset(seed=0)
    with pytest.raises(ValueError, match="no action of blue"):
        env.step({"red": 0})
    with pytest.raises(ValueError, match="of red is not in Discrete"):
        env.step({"red": -1, "blue": 0})


def test_a_game_begins_at_a_position() -> None:
    other = raw_env()
    other.reset(seed=3)
    texts = [other.game.to_text(other._duel.states[0])]
    other.step(genes_of(other))
    texts.append(other.game.to_text(other._duel.states[0]))
    env = parallel_env()
    env.reset(options={"position": texts[0]})
    assert env.game.to_text(env._duel.states[0]) == texts[0]
    with pytest.raises(ValueError, match="in the middle of a turn"):
        env.reset(options={"position": texts[1]})
    assert env.agents == []


@pytest.mark.parametrize("action", ACTIONS)
def test_a_seed_repeats_a_game(action: str) -> None:
    env = parallel_env(action=action)
    assert same(play(env, seed=1, steps=30), play(env, seed=1, steps=30))
    assert not same(play(env, seed=1, steps=30), play(env, seed=2, steps=30))


@pytest.mark.parametrize("action", ACTIONS)
def test_a_copy_goes_on_in_the_same_way(action: str) -> None:
    env = parallel_env(action=action)
    infos = play(env, seed=0, steps=4)[-1][-1]
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    expected = play(env, infos=infos)
    assert all(same(play(other, infos=infos), expected) for other in copies)


def test_text_and_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    env = parallel_env(map="simple", render_mode="ansi")
    env.reset(seed=0)
    first = env.render()
    env.step({agent: genes_of(env) for agent in PLAYERS})
    assert "turn 1" in env.render() and env.render().splitlines()[-2].startswith("red: +") and "red: +" not in first
    pytest.importorskip("pygame")
    drawn = parallel_env(map="simple", render_mode="rgb_array")
    drawn.reset(seed=0)
    assert drawn.render().shape[2] == 3
    drawn.close()


def test_bad_options() -> None:
    with pytest.raises(ValueError, match="did you mean 'observation'"):
        parallel_env(observatoin="graph")
    with pytest.raises(ValueError, match="unknown option 'opponent'"):
        parallel_env(opponent="random")
