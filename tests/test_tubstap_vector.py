"""The batch environment against single ones, step by step."""

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
from sandtable.envs.tubstap.vector import TubstapVectorEnv
from tests.environments import KINDS, choose, face_to_face, illegal, same

GAMES = 7
STEPS = 150
SHORT: dict[str, Any] = {"turn_limit": 8}

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    **{kind: {"observation": kind, **SHORT} for kind in KINDS},
    "greedy-blue": {"opponent": "greedy", "side": "blue", **SHORT},
    "greedy-policy": {"opponent": GreedyPolicy(), "side": "random", **SHORT},
    "mcts-random-side": {"opponent": "mcts:sims=10", "side": "random", "map": "kimura-random"},
    "mcts-red": {"opponent": "mcts:sims=10", "side": "red", **SHORT},
    "random-side": {"side": "random", "map": "kimura-random"},
    "lost-starts": {"side": "blue", "opponent": "greedy", "map": "kimura-random"},
    "both-sides": {"opponent": None, "observation": "both", **SHORT},
    "both-sides-noop": {"opponent": None, "on_illegal": "noop", **SHORT},
    "forfeit": {"on_illegal": "forfeit"},
    "forfeit-both-sides": {"opponent": None, "on_illegal": "forfeit"},
    "noop": {"on_illegal": "noop", "side": "random", **SHORT},
    "raise": {"on_illegal": "raise", **SHORT},
    "real": {"rules": "li2022", "opponent": "greedy", "observation": "image"},
    "terrain": {"map": "takahashi-complex", "rules": "takahashi2023", "observation": "both", "opponent": "greedy"},
    "large": {"map": "siege", "opponent": "greedy", "turn_limit": 4},
    "local-search": {"map": "li-local-search", "rollouts": 3, "turn_limit": 6},
}


class Single:
    """A single environment that begins anew as a batch does: at the step after the end, whose action it ignores."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.env = gymnasium.make("Tubstap-v0", **options)
        self._over = False

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
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


def actions_for(rng: np.random.Generator, infos: dict[str, Any], share_illegal: float) -> np.ndarray:
    """Random legal actions, and some illegal ones among them."""
    masks = infos["action_mask"]
    return np.array([illegal(mask) if rng.random() < share_illegal else choose(rng, mask) for mask in masks])


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_batch_is_many_single_games(name: str) -> None:
    options = CONFIGURATIONS[name]
    share_illegal = 0.0 if options.get("on_illegal") == "raise" else 0.05 if "on_illegal" in options else 0.0
    batch: Any = gymnasium.make_vec("Tubstap-v0", num_envs=GAMES, **options)
    singles = [Single(options) for _ in range(GAMES)]
    rng = np.random.default_rng(0)
    answer: Any = batch.reset(seed=11)
    for i, single in enumerate(singles):
        assert_row(answer, i, single.env.reset(seed=11 + i), batch.observation_space)
    ended = wrong = 0
    for _ in range(STEPS):
        actions = actions_for(rng, answer[-1], share_illegal)
        answer = batch.step(actions)
        for i, single in enumerate(singles):
            assert_row(answer, i, single.step(int(actions[i])), batch.observation_space)
        assert np.array_equal(batch.action_masks(), answer[-1]["action_mask"])
        ended += answer[2].sum()
        wrong += "illegal_action" in answer[-1]
    assert ended > GAMES and (wrong > 0) == (share_illegal > 0)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_gymnasiums_own_batch(kind: str) -> None:
    options: dict[str, Any] = {"num_envs": GAMES, "observation": kind, "opponent": "greedy", **SHORT}
    native = gymnasium.make_vec("Tubstap-v0", **options)
    sync = gymnasium.make_vec("Tubstap-v0", vectorization_mode="sync", **options)
    assert isinstance(native, TubstapVectorEnv) and isinstance(sync, SyncVectorEnv)
    assert native.observation_space == sync.observation_space and native.action_space == sync.action_space
    assert native.single_observation_space == sync.single_observation_space
    answer: Any = native.reset(seed=3)
    assert same(answer, sync.reset(seed=3))
    rng = np.random.default_rng(0)
    for _ in range(60):
        actions = actions_for(rng, answer[-1], 0.05)
        answer = native.step(actions)
        assert same(answer, sync.step(actions))
        assert answer[0] in native.observation_space


def test_environments_work_in_processes_of_their_own() -> None:
    """Started by "spawn": nothing is inherited, the id imports what it needs."""
    native = gymnasium.make_vec("Tubstap-v0", num_envs=2, **SHORT)
    spawned = AsyncVectorEnv([partial(gymnasium.make, "sandtable:Tubstap-v0", **SHORT)] * 2, context="spawn")
    try:
        answer: Any = native.reset(seed=3)
        assert same(answer, spawned.reset(seed=3))
        rng = np.random.default_rng(0)
        for _ in range(40):
            actions = actions_for(rng, answer[-1], 0.02)
            answer = native.step(actions)
            assert same(answer, spawned.step(actions))
    finally:
        spawned.close()


def test_metadata() -> None:
    batch: Any = gymnasium.make_vec("Tubstap-v0", num_envs=3)
    assert batch.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert batch.num_envs == 3 and batch.observation_space["nodes"].shape == (3, 6, 13)


def test_an_illegal_action_of_one_game_raises_before_any_is_played() -> None:
    batch = TubstapVectorEnv(3, on_illegal="raise")
    _, infos = batch.reset(seed=0)
    before = batch.states.copy()
    actions = actions_for(np.random.default_rng(0), infos, 0.0)
    actions[2] = illegal(infos["action_mask"][2])
    with pytest.raises(ValueError, match=r"illegal action: unit 0 .* cannot"):
        batch.step(actions)
    assert [batch.game.to_text(state) for state in batch.states] == [batch.game.to_text(state) for state in before]


@pytest.mark.parametrize("seed", [3, [3, 4, 5], (3, 4, 5), np.arange(3, 6).tolist()])
def test_seeds_are_one_or_a_list(seed: Any) -> None:
    expected = TubstapVectorEnv(3).reset(seed=3)
    assert same(TubstapVectorEnv(3).reset(seed=seed), expected)


def test_a_game_without_a_seed_goes_on_with_its_own() -> None:
    first, second = TubstapVectorEnv(2), TubstapVectorEnv(2)
    first.reset(seed=0)
    second.reset(seed=0)
    assert same(first.reset(seed=[None, 9]), second.reset(seed=[None, 9]))


@pytest.mark.parametrize("seed", [[1, 2], []])
def test_a_wrong_number_of_seeds(seed: list[int | None]) -> None:
    with pytest.raises(ValueError, match=f"{len(seed)} seeds for 3 games"):
        TubstapVectorEnv(3).reset(seed=seed)


@pytest.mark.parametrize("actions", [[0, 1], [0.0, 1.0, 2.0], [[0, 1, 2]], 0, [0, 1, -1], [0, 1, 10**6]])
def test_what_are_no_actions_is_refused(actions: Any) -> None:
    batch = TubstapVectorEnv(3)
    batch.reset(seed=0)
    with pytest.raises(ValueError, match="actions"):
        batch.step(actions)


BAD_OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "num_envs": ({"num_envs": 0}, "num_envs=0 must be a whole number"),
    "render_mode": ({"render_mode": "ansi"}, "draws nothing"),
    "option": ({"observatoin": "graph"}, "did you mean 'observation'"),
    "side": ({"side": "bleu"}, "did you mean 'blue'"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_bad_options(case: str) -> None:
    options, message = BAD_OPTIONS[case]
    with pytest.raises(ValueError, match=message):
        TubstapVectorEnv(**options)


def test_options_of_reset_are_refused() -> None:
    with pytest.raises(ValueError, match="no options of reset"):
        TubstapVectorEnv(2).reset(options={"position": ""})


def test_a_step_before_the_first_reset() -> None:
    with pytest.raises(ResetNeeded):
        TubstapVectorEnv(2).step([0, 0])


def test_every_start_lost_is_an_error() -> None:
    with pytest.raises(ValueError, match="over at once"):
        TubstapVectorEnv(2, map=face_to_face(10, 1), opponent="greedy", side="blue").reset()


def test_what_is_answered_is_never_written_again() -> None:
    batch = TubstapVectorEnv(3, **SHORT)
    answers: list[Any] = [batch.reset(seed=0)]
    kept = [copy.deepcopy(answers[0])]
    rng = np.random.default_rng(0)
    for _ in range(30):
        answers.append(batch.step(actions_for(rng, answers[-1][-1], 0.0)))
        kept.append(copy.deepcopy(answers[-1]))
    assert same(answers, kept)


def test_a_copy_goes_on_in_the_same_way() -> None:
    batch = TubstapVectorEnv(3, side="random", **SHORT)
    _, infos = batch.reset(seed=0)
    batch.step(actions_for(np.random.default_rng(0), infos, 0.0))
    for other in (copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
        mine, rng = copy.deepcopy(batch), np.random.default_rng(1)
        masks = mine.action_masks()
        for _ in range(30):
            actions = np.array([choose(rng, mask) for mask in masks])
            assert same(mine.step(actions), other.step(actions))
            masks = mine.action_masks()
