"""TUBSTAP as a PettingZoo environment: PettingZoo's own checks, and what its agents get."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest

from sandtable.envs.tubstap.aec import env as wrapped_env
from sandtable.envs.tubstap.aec import raw_env
from tests.environments import (
    CONFIGURATIONS,
    CROSS_PRODUCT,
    KINDS,
    allowed_warnings,
    choose,
    face_to_face,
    illegal,
    same,
)

with allowed_warnings():
    from pettingzoo.test import api_test, render_test, seed_test

MAKERS = {"env": wrapped_env, "raw_env": raw_env}
CYCLES = 20


def play(env: Any, seed: int | None = None, steps: int = 60) -> list[Any]:
    """What the agents get in a game of random legal actions; it is begun with the seed, or gone on with."""
    rng = np.random.default_rng(0)
    if seed is not None:
        env.reset(seed=seed)
    answers: list[Any] = []
    for agent in env.agent_iter(steps):
        answer = env.last()
        answers.append((agent, copy.deepcopy(answer)))
        env.step(None if answer[2] else choose(rng, answer[4]["action_mask"]))
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
    pettingzoo_accepts(list(MAKERS.values())[number % 2], CONFIGURATIONS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", CROSS_PRODUCT)
@pytest.mark.parametrize("maker", MAKERS)
def test_everything_with_everything(maker: str, name: str) -> None:
    pettingzoo_accepts(MAKERS[maker], CROSS_PRODUCT[name])


@pytest.mark.parametrize("on_illegal", ["forfeit", "raise", "noop"])
def test_pettingzoo_accepts_a_whole_game(on_illegal: str) -> None:
    with allowed_warnings():
        api_test(wrapped_env(map="kimura-random", on_illegal=on_illegal), num_cycles=200)


@pytest.mark.parametrize(("maker", "source"), [("env", "li-symmetric"), ("raw_env", "archipelago")])
def test_pettingzoo_accepts_what_is_drawn(maker: str, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("sandtable.envs.screen.FPS", 0)
    render_test(partial(MAKERS[maker], map=source))


# What the agents get


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", ["li-symmetric", "kimura-random"])
def test_it_is_the_gymnasium_environment_without_an_opponent(kind: str, source: str) -> None:
    env = raw_env(map=source, observation=kind)
    other = gymnasium.make("Tubstap-v0", map=source, observation=kind, opponent=None)
    rng = np.random.default_rng(0)
    env.reset(seed=5)
    observation, info = other.reset(seed=5)
    over = False
    while not over:
        seen, reward, *_, known = env.last()
        assert env.agent_selection == info["player"] and reward == 0.0
        assert same(seen, observation) and same(known["action_mask"], info["action_mask"])
        action = choose(rng, info["action_mask"])
        mover = env.agent_selection
        env.step(action)
        observation, reward, over, _, info = other.step(action)
        assert env.rewards[mover] == reward and env.terminations == {"red": over, "blue": over}
    assert same(env.observe(mover), observation)


@pytest.mark.parametrize("kind", ["graph", "image", "both"])
def test_the_mask_of_an_agent_who_waits_is_empty(kind: str) -> None:
    env = raw_env(observation=kind)
    env.reset(seed=0)
    assert not env.observe("blue")["action_mask"].any() and not env.infos["blue"]["action_mask"].any()
    assert env.observe("red")["action_mask"].any()
    assert same(env.infos["red"]["action_mask"], env.observe("red")["action_mask"])
    assert env.observe("blue")["image" if kind == "image" else "nodes"].any()


def test_an_agent_acts_until_its_turn_is_over() -> None:
    agents = [agent for agent, _ in play(wrapped_env(), seed=0, steps=12)]
    assert agents == (["red"] * 3 + ["blue"] * 3) * 2


@pytest.mark.parametrize("seed", range(8))
def test_rewards_are_the_outcome(seed: int) -> None:
    env = raw_env(map="kimura-random")
    last = {agent: answer for agent, answer in play(env, seed, steps=400) if answer[2]}
    outcome = env.game.outcome(env._duel.states[0])
    assert {agent: answer[1] for agent, answer in last.items()} == {"red": outcome, "blue": -outcome}
    assert not any(answer[4]["action_mask"].any() for answer in last.values())
    assert env.agents == []


def attack(env: Any) -> int:
    moves = env.unwrapped.game.moves(env.unwrapped._duel.states[0])
    return env.unwrapped.codec.action(moves[moves[:, 2] >= 0][0])


def test_the_winner_gets_what_the_loser_loses() -> None:
    env = wrapped_env(map=face_to_face(10, 1))
    env.reset()
    env.step(attack(env))
    assert env.rewards == {"red": 1.0, "blue": -1.0} and all(env.terminations.values())


def test_an_illegal_action_forfeits() -> None:
    env = wrapped_env()
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


def test_an_illegal_action_raises() -> None:
    env = wrapped_env(on_illegal="raise")
    env.reset(seed=0)
    before = env.last()
    with pytest.raises(ValueError, match=r"illegal action: unit 0 .* cannot"):
        env.step(illegal(before[4]["action_mask"]))
    assert same(env.last(), before)


def test_an_illegal_action_does_nothing() -> None:
    env = wrapped_env(on_illegal="noop")
    env.reset(seed=0)
    before = env.last()
    env.step(illegal(before[4]["action_mask"]))
    after = env.last()
    assert same(after[:4], before[:4]) and env.agent_selection == "red" and after[4]["illegal_action"]
    env.step(choose(np.random.default_rng(0), after[4]["action_mask"]))
    assert "illegal_action" not in env.last()[4]


@pytest.mark.parametrize("action", [-1, 10**6, "0", None, 1.5])
def test_what_is_no_action_is_refused(action: Any) -> None:
    env = raw_env(on_illegal="noop")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="is not in Discrete"):
        env.step(action)


def test_every_agent_has_spaces_of_its_own() -> None:
    env = wrapped_env()
    red, blue = env.action_space("red"), env.action_space("blue")
    assert red == blue and red is not blue and red is env.action_space("red")
    red.seed(1)
    expected = red.sample()
    red.seed(1)
    blue.seed(2)
    assert red.sample() == expected


def test_a_game_begins_at_a_position() -> None:
    env = raw_env()
    play(env, seed=0, steps=10)
    text = env.game.to_text(env._duel.states[0])
    other = wrapped_env()
    other.reset(options={"position": text})
    assert other.agent_selection == env.agent_selection
    assert same(other.last()[0], env.last()[0])
    with pytest.raises(ValueError, match="8x8 cells"):
        wrapped_env(map="kimura-map01").reset(options={"position": text})


def test_a_seed_repeats_a_game() -> None:
    env = wrapped_env()
    assert same(play(env, seed=1), play(env, seed=1))
    assert not same(play(env, seed=1), play(env, seed=2))


def test_a_copy_goes_on_in_the_same_way() -> None:
    env = wrapped_env()
    play(env, seed=0, steps=10)
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    expected = play(env)
    assert all(same(play(other), expected) for other in copies)


BAD_OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "map": ({"map": "li-symetric"}, "li-symmetric"),
    "observation": ({"observation": "grahp"}, "graph"),
    "on_illegal": ({"on_illegal": "forfiet"}, "forfeit"),
    "render_mode": ({"render_mode": "asni"}, "ansi"),
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
