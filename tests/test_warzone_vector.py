"""The batch environment of Warzone against single ones, step by step."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import iterate

from sandtable.agents.simple import GreedyPolicy
from sandtable.envs.warzone.vector import WarzoneVectorEnv
from tests.environments import choose, illegal, same
from tests.warzone_environments import ACTIONS, KINDS, RULES

GAMES = 5
STEPS = 80
SHORT: dict[str, Any] = {"map": "simple", "turn_limit": 4}
ORDERS: dict[str, Any] = {"action": "orders", **SHORT}

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    **{f"{kind}-{action}": {"observation": kind, "action": action, **SHORT} for kind in KINDS for action in ACTIONS},
    **{f"{rules}-{action}": {"rules": rules, "action": action, **SHORT} for rules in RULES for action in ACTIONS},
    "greedy-blue": {"opponent": "greedy", "side": "blue", **SHORT},
    "greedy-policy": {"opponent": GreedyPolicy(), "side": "random", **ORDERS},
    "mcts-random-side": {"opponent": "mcts:sims=5", "side": "random", **SHORT},
    "both-sides": {"opponent": None, "observation": "both", **SHORT},
    "both-sides-noop": {"opponent": None, "on_illegal": "noop", **ORDERS},
    "forfeit": {"on_illegal": "forfeit", **ORDERS},
    "forfeit-both-sides": {"opponent": None, "on_illegal": "forfeit", **ORDERS},
    "noop": {"on_illegal": "noop", "side": "random", **ORDERS},
    "raise": {"on_illegal": "raise", **ORDERS},
    "fair": {"map": "italy", "start": "fair", "turn_limit": 5},
    "large": {"map": "small_earth", "turn_limit": 3},
}


class Single:
    """A single environment that begins anew as a batch does: at the step after the end, whose action it ignores."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.env: Any = gymnasium.make("Warzone-v0", **options)
        self._over = False

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self._over:
            self._over = False
            observation, info = self.env.reset()
            return observation, 0.0, False, False, info
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._over = terminated or truncated
        return observation, float(reward), terminated, truncated, info


def info_of(infos: dict[str, Any], i: int) -> dict[str, Any]:
    """The info of the i-th game of a batch."""
    names = [name for name in infos if not name.startswith("_")]
    return {name: infos[name][i] for name in names if infos[f"_{name}"][i]}


def assert_row(batch: Any, i: int, single: Any, space: gymnasium.Space) -> None:
    """The i-th row of what a batch answered is what the single environment did."""
    observation, *numbers, info = single
    observations, *columns, infos = batch
    assert same(list(iterate(space, observations))[i], observation)
    assert [column[i] for column in columns] == numbers
    known = info_of(infos, i)
    assert known.keys() == info.keys()
    assert all(np.array_equal(known[name], info[name]) for name in info)


def actions_for(rng: np.random.Generator, env: Any, infos: dict[str, Any], share_illegal: float = 0.0) -> np.ndarray:
    """Random legal actions, and some illegal ones among them."""
    if "action_mask" not in infos:
        return rng.integers(0, env.unwrapped.codec.top + 1, env.action_space.shape)
    masks = infos["action_mask"]
    return np.array([illegal(mask) if rng.random() < share_illegal else choose(rng, mask) for mask in masks])


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_batch_is_many_single_games(name: str) -> None:
    options = CONFIGURATIONS[name]
    share_illegal = 0.05 if options.get("on_illegal", "raise") != "raise" else 0.0
    batch: Any = gymnasium.make_vec("Warzone-v0", num_envs=GAMES, **options)
    singles = [Single(options) for _ in range(GAMES)]
    rng = np.random.default_rng(0)
    answer: Any = batch.reset(seed=11)
    for i, single in enumerate(singles):
        assert_row(answer, i, single.env.reset(seed=11 + i), batch.observation_space)
    ended = wrong = 0
    for _ in range(STEPS):
        actions = actions_for(rng, batch, answer[-1], share_illegal)
        answer = batch.step(actions)
        for i, single in enumerate(singles):
            assert_row(answer, i, single.step(actions[i]), batch.observation_space)
        if "action_mask" in answer[-1]:
            assert np.array_equal(batch.action_masks(), answer[-1]["action_mask"])
        assert np.array_equal(batch.action_masks(), [single.env.unwrapped.action_masks() for single in singles])
        ended += answer[2].sum()
        wrong += "illegal_action" in answer[-1]
    assert ended > 0 and (wrong > 0) == (share_illegal > 0)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_gymnasiums_own_batch(kind: str, action: str) -> None:
    options: dict[str, Any] = {"num_envs": GAMES, "observation": kind, "opponent": "greedy", "action": action, **SHORT}
    native = gymnasium.make_vec("Warzone-v0", **options)
    sync = gymnasium.make_vec("Warzone-v0", vectorization_mode="sync", **options)
    assert isinstance(native, WarzoneVectorEnv) and isinstance(sync, SyncVectorEnv)
    assert native.observation_space == sync.observation_space and native.action_space == sync.action_space
    assert native.single_observation_space == sync.single_observation_space
    answer: Any = native.reset(seed=3)
    assert same(answer, sync.reset(seed=3))
    rng = np.random.default_rng(0)
    for _ in range(40):
        actions = actions_for(rng, native, answer[-1], 0.05)
        answer = native.step(actions)
        assert same(answer, sync.step(actions))
        assert answer[0] in native.observation_space


def test_environments_work_in_processes_of_their_own() -> None:
    """Started by "spawn": nothing is inherited, the id imports what it needs."""
    native = gymnasium.make_vec("Warzone-v0", num_envs=2, **ORDERS)
    spawned = AsyncVectorEnv([partial(gymnasium.make, "sandtable:Warzone-v0", **ORDERS)] * 2, context="spawn")
    try:
        answer: Any = native.reset(seed=3)
        assert same(answer, spawned.reset(seed=3))
        rng = np.random.default_rng(0)
        for _ in range(40):
            actions = actions_for(rng, native, answer[-1], 0.02)
            answer = native.step(actions)
            assert same(answer, spawned.step(actions))
    finally:
        spawned.close()


def test_metadata() -> None:
    batch: Any = gymnasium.make_vec("Warzone-v0", num_envs=3)
    assert batch.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert batch.num_envs == 3 and batch.observation_space["nodes"].shape == (3, 20, 8)
    assert batch.action_space.shape == (3, 94)


def test_an_illegal_action_of_one_game_raises_before_any_is_played() -> None:
    batch = WarzoneVectorEnv(3, on_illegal="raise", action="orders")
    _, infos = batch.reset(seed=0)
    actions = actions_for(np.random.default_rng(0), batch, infos)
    actions[2] = 0
    with pytest.raises(ValueError, match=r"illegal action: the move cannot end"):
        batch.step(actions)
    assert not batch._duel.drafts.any()  # type: ignore[union-attr]


@pytest.mark.parametrize("actions", [[0, 1], [0.0, 1.0, 2.0], [[0, 1, 2]], 0, [0, 1, -1], [0, 1, 10**6]])
@pytest.mark.parametrize("kind", ACTIONS)
def test_what_are_no_actions_is_refused(kind: str, actions: Any) -> None:
    batch = WarzoneVectorEnv(3, action=kind)
    batch.reset(seed=0)
    with pytest.raises(ValueError, match="actions"):
        batch.step(actions)


BAD_OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "num_envs": ({"num_envs": 0}, "num_envs=0 must be a whole number"),
    "render_mode": ({"render_mode": "ansi"}, "draws nothing"),
    "option": ({"observatoin": "graph"}, "did you mean 'observation'"),
    "side": ({"side": "bleu"}, "did you mean 'blue'"),
    "action": ({"action": "ordres"}, "did you mean 'orders'"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_bad_options(case: str) -> None:
    options, message = BAD_OPTIONS[case]
    with pytest.raises(ValueError, match=message):
        WarzoneVectorEnv(**options)


def test_a_step_before_the_first_reset() -> None:
    with pytest.raises(ResetNeeded):
        WarzoneVectorEnv(2, action="orders").step([0, 0])


@pytest.mark.parametrize("action", ACTIONS)
def test_what_is_answered_is_never_written_again(action: str) -> None:
    batch = WarzoneVectorEnv(3, action=action, **SHORT)
    answers: list[Any] = [batch.reset(seed=0)]
    kept = [copy.deepcopy(answers[0])]
    rng = np.random.default_rng(0)
    for _ in range(30):
        answers.append(batch.step(actions_for(rng, batch, answers[-1][-1])))
        kept.append(copy.deepcopy(answers[-1]))
    assert same(answers, kept)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_copy_goes_on_in_the_same_way(action: str) -> None:
    batch = WarzoneVectorEnv(3, action=action, side="random", **SHORT)
    _, infos = batch.reset(seed=0)
    *_, infos = batch.step(actions_for(np.random.default_rng(0), batch, infos))
    for other in (copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
        mine, rng, known = copy.deepcopy(batch), np.random.default_rng(1), infos
        for _ in range(30):
            actions = actions_for(rng, mine, known)
            answer = mine.step(actions)
            assert same(answer, other.step(actions))
            known = answer[-1]
