"""Warzone as a PettingZoo AEC environment: PettingZoo's own checks, and what its agents get."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest

from sandtable.envs.warzone.aec import env as wrapped_env
from sandtable.envs.warzone.aec import raw_env
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
    from pettingzoo.test import api_test, render_test, seed_test

MAKERS = {"env": wrapped_env, "raw_env": raw_env}
CYCLES = 12


def play(env: Any, seed: int | None = None, steps: int = 60) -> list[Any]:
    """What the agents get in a game of random legal actions; it is begun with the seed, or gone on with."""
    rng = np.random.default_rng(0)
    if seed is not None:
        env.reset(seed=seed)
    answers: list[Any] = []
    for agent in env.agent_iter(steps):
        answer = env.last()
        answers.append((agent, copy.deepcopy(answer)))
        env.step(None if answer[2] else random_action(rng, env, answer[4].get("action_mask")))
    return answers


# PettingZoo's own checks


def pettingzoo_accepts(make: Any, options: dict[str, Any]) -> None:
    with allowed_warnings():
        # api_test asks every observation for its dtype, which a Graph's has not.
        if options["observation"] != "graph_space":
            api_test(make(**options), num_cycles=CYCLES)
        seed_test(partial(make, **options), num_cycles=CYCLES)


@pytest.mark.parametrize(("number", "name"), list(enumerate(CONFIGURATIONS)))
def test_pettingzoo_accepts_it(number: int, name: str) -> None:
    """By turns with and without the wrappers."""
    pettingzoo_accepts(list(MAKERS.values())[number // 2 % 2], CONFIGURATIONS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", CROSS_PRODUCT)
@pytest.mark.parametrize("maker", MAKERS)
def test_everything_with_everything(maker: str, name: str) -> None:
    pettingzoo_accepts(MAKERS[maker], CROSS_PRODUCT[name])


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("on_illegal", ["forfeit", "raise", "noop"])
def test_pettingzoo_accepts_a_whole_game(on_illegal: str, action: str) -> None:
    with allowed_warnings():
        api_test(wrapped_env(map="simple", action=action, on_illegal=on_illegal, turn_limit=6), num_cycles=200)


@pytest.mark.parametrize(("maker", "map"), [("env", "simple"), ("raw_env", "banana")])
def test_pettingzoo_accepts_what_is_drawn(maker: str, map: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("sandtable.envs.screen.FPS", 0)
    render_test(partial(MAKERS[maker], map=map))


# What the agents get


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("action", ACTIONS)
def test_it_is_the_gymnasium_environment_without_an_opponent(kind: str, action: str) -> None:
    options: dict[str, Any] = {"map": "simple", "observation": kind, "action": action, "turn_limit": 10}
    env = raw_env(**options)
    other = gymnasium.make("Warzone-v0", opponent=None, **options)
    rng = np.random.default_rng(0)
    env.reset(seed=5)
    observation, info = other.reset(seed=5)
    over = False
    while not over:
        seen, reward, *_, known = env.last()
        assert env.agent_selection == info["player"] and reward == 0.0
        assert same(seen, observation) and same(known.get("action_mask"), info.get("action_mask"))
        chosen = random_action(rng, env, info.get("action_mask"))
        mover = env.agent_selection
        env.step(chosen)
        observation, reward, over, _, info = other.step(chosen)
        assert env.rewards[mover] == reward and env.terminations == {"red": over, "blue": over}
    assert same(env.observe(mover), observation)


@pytest.mark.parametrize("kind", ["graph", "image", "both"])
def test_the_mask_of_an_agent_who_waits_is_empty(kind: str) -> None:
    env = raw_env(observation=kind, action="orders")
    env.reset(seed=0)
    assert not env.observe("blue")["action_mask"].any() and not env.infos["blue"]["action_mask"].any()
    assert env.observe("red")["action_mask"].any()
    assert same(env.infos["red"]["action_mask"], env.observe("red")["action_mask"])
    assert env.observe("blue")["image" if kind == "image" else "nodes"].any()


def test_an_agent_who_waits_does_not_see_the_others_orders() -> None:
    env = raw_env(action="orders")
    env.reset(seed=0)
    before = {agent: env.observe(agent) for agent in env.agents}
    env.step(choose(np.random.default_rng(0), env.last()[4]["action_mask"]))
    assert env.agent_selection == "red"
    assert not same(env.observe("red"), before["red"]) and same(env.observe("blue"), before["blue"])


def test_agents_take_turns() -> None:
    agents = [agent for agent, _ in play(wrapped_env(), seed=0, steps=10)]
    assert agents == ["red", "blue"] * 5


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("seed", range(4))
def test_rewards_are_the_outcome(seed: int, action: str) -> None:
    env = raw_env(map="simple", action=action, turn_limit=25)
    last = {agent: answer for agent, answer in play(env, seed, steps=4_000) if answer[2]}
    outcome = env.game.outcome(env._duel.states[0])
    assert {agent: answer[1] for agent, answer in last.items()} == {"red": outcome, "blue": -outcome}
    assert env.agents == []


def test_the_winner_gets_what_the_loser_loses() -> None:
    env = wrapped_env(start=three_in_a_row((30, 0, 0)))
    env.reset()
    env.step(genes_of(env.unwrapped, (0, 0, 5), (0, 1, 30), (1, 2, 31)))
    assert env.rewards == {"red": 0.0, "blue": 0.0} and env.agent_selection == "blue"
    env.step(genes_of(env.unwrapped))
    env.step(genes_of(env.unwrapped, (1, 2, 31)))
    env.step(genes_of(env.unwrapped))
    assert env.rewards == {"red": 1.0, "blue": -1.0} and all(env.terminations.values())


def test_an_illegal_action_forfeits() -> None:
    env = wrapped_env(action="orders")
    env.reset(seed=0)
    env.step(illegal(env.last()[4]["action_mask"]))
    assert env.rewards == {"red": -1.0, "blue": 1.0} and all(env.terminations.values())
    for agent in env.agent_iter():
        observation, reward, terminated, _, info = env.last()
        assert terminated and reward == {"red": -1.0, "blue": 1.0}[agent]
        assert ("illegal_action" in info) == (agent == "red")
        assert not observation["action_mask"].any() and not info["action_mask"].any()
        env.step(None)
    assert env.agents == []


def test_an_illegal_action_raises_or_does_nothing() -> None:
    env = wrapped_env(action="orders", on_illegal="raise")
    env.reset(seed=0)
    before = env.last()
    with pytest.raises(ValueError, match="illegal action: the move cannot end"):
        env.step(0)
    assert same(env.last(), before)
    env = wrapped_env(action="orders", on_illegal="noop")
    env.reset(seed=0)
    env.step(0)
    after = env.last()
    assert same(after[:4], before[:4]) and env.agent_selection == "red" and after[4]["illegal_action"]


@pytest.mark.parametrize("kind", ACTIONS)
@pytest.mark.parametrize("action", [-1, 10**6, "0", None, 1.5])
def test_what_is_no_action_is_refused(kind: str, action: Any) -> None:
    env = raw_env(action=kind, on_illegal="noop")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"is not in (Multi)?Discrete"):
        env.step(action)


def test_every_agent_has_spaces_of_its_own() -> None:
    env = wrapped_env()
    red, blue = env.action_space("red"), env.action_space("blue")
    assert red == blue and red is not blue and red is env.action_space("red")


def test_a_game_begins_at_a_position() -> None:
    env = raw_env()
    play(env, seed=0, steps=5)
    text = env.game.to_text(env._duel.states[0])
    other = wrapped_env()
    other.reset(options={"position": text})
    assert other.agent_selection == env.agent_selection == "blue"
    assert same(other.last()[0], env.last()[0])
    with pytest.raises(ValueError, match="on another map"):
        wrapped_env(map="banana").reset(options={"position": raw_text("simple")})


def raw_text(map: str) -> str:
    env = raw_env(map=map)
    env.reset(seed=0)
    return env.game.to_text(env._duel.states[0])


@pytest.mark.parametrize("action", ACTIONS)
def test_a_seed_repeats_a_game(action: str) -> None:
    env = wrapped_env(action=action)
    assert same(play(env, seed=1), play(env, seed=1))
    assert not same(play(env, seed=1), play(env, seed=2))


@pytest.mark.parametrize("action", ACTIONS)
def test_a_copy_goes_on_in_the_same_way(action: str) -> None:
    env = wrapped_env(action=action)
    play(env, seed=0, steps=5)
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    expected = play(env)
    assert all(same(play(other), expected) for other in copies)


BAD_OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "map": ({"map": "itally"}, "italy"),
    "action": ({"action": "gene"}, "genes"),
    "option": ({"observatoin": "graph"}, "observation"),
    "option of the rules": ({"turn_limmit": 3}, "turn_limit"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_a_bad_option_is_answered_with_the_nearest(case: str) -> None:
    options, nearest = BAD_OPTIONS[case]
    with pytest.raises(ValueError, match=rf"\(did you mean '{nearest}'\?\)"):
        wrapped_env(**options)


@pytest.mark.parametrize("option", ["opponent", "side"])
def test_there_is_no_opponent(option: str) -> None:
    with pytest.raises(ValueError, match=f"unknown option '{option}'"):
        wrapped_env(**{option: "red"})
