"""Warzone as a Gymnasium environment: the checkers of the libraries, and what reset and step mean."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from sandtable.agents.policy import Decisions, Policy
from sandtable.agents.simple import GreedyPolicy, without_opinion
from sandtable.envs.warzone.actions import GENE_VALUES
from sandtable.envs.warzone.gym import WarzoneEnv
from sandtable.envs.warzone.rulesets import RULESETS
from sandtable.envs.warzone.state import unpack_orders
from sandtable.envs.window import load_pygame
from tests.environments import allowed_warnings, choose, illegal, same
from tests.warzone_environments import (
    ACTIONS,
    CONFIGURATIONS,
    CROSS_PRODUCT,
    KINDS,
    MAPS,
    RULES,
    configuration,
    genes_of,
    random_action,
    three_in_a_row,
)

Clone = Callable[[Any], Any]


def make(**options: Any) -> WarzoneEnv:
    """The environment itself, made by its id."""
    env = gymnasium.make("Warzone-v0", **options).unwrapped
    assert isinstance(env, WarzoneEnv)
    return env


def play(env: Any, seed: int | None, steps: int = 40) -> list[Any]:
    """Everything that is answered in a game of random legal actions; it is begun with the seed, or gone on with."""
    rng = np.random.default_rng(0)
    answers: list[Any] = [] if seed is None else [env.reset(seed=seed)]
    while len(answers) < steps and not env._over:
        answers.append(env.step(random_action(rng, env, env._mask)))
    return answers


# The libraries' own checks


def gymnasium_accepts(options: dict[str, Any]) -> None:
    check_env(make(**options), skip_render_check=True)


def sb3_accepts(options: dict[str, Any]) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with allowed_warnings():
        checker.check_env(make(**options))


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_gymnasium_accepts_it(name: str) -> None:
    gymnasium_accepts(CONFIGURATIONS[name])


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_sb3_accepts_it(name: str) -> None:
    sb3_accepts(CONFIGURATIONS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", CROSS_PRODUCT)
def test_everything_with_everything(name: str) -> None:
    gymnasium_accepts(CROSS_PRODUCT[name])
    sb3_accepts(CROSS_PRODUCT[name])


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("options", [{"opponent": None}, {"side": "random"}, {"on_illegal": "noop"}, {"start": "fair"}])
def test_gymnasium_accepts_other_options(action: str, options: dict[str, Any]) -> None:
    gymnasium_accepts({"action": action, **options})


@pytest.mark.parametrize("map", ["simple", "italy"])
def test_gymnasium_accepts_what_is_drawn(map: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("sandtable.envs.screen.FPS", 0)
    check_env(make(map=map))


# Genes


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("map", MAPS)
def test_every_action_of_genes_is_a_legal_move(map: str, rules: str) -> None:
    env = make(map=map, rules=rules, opponent=None)
    rng = np.random.default_rng(0)
    shape = env.codec.space.shape or ()
    states = env.game.random_games(env.game.new(40, seed=1), seed=2, plies=9)
    states = np.repeat(states[~env.game.done(states)], 20)
    actions = rng.integers(0, GENE_VALUES, (len(states), *shape))
    actions[::5] = GENE_VALUES - 1
    actions[1::5] = 0
    actions[2::5] *= rng.random((len(actions[2::5]), *shape)) < 0.1
    moves = env.codec.moves(states, actions)
    assert env.game.legal(states, moves).all()
    for state, move in zip(states, moves, strict=True):
        deployed = sum(armies for source, destination, armies in unpack_orders(move) if source == destination)
        assert deployed == env.game.income(state, env.game.player(state))


def test_genes_are_armies_and_the_highest_is_all() -> None:
    env = make(start=three_in_a_row((7, 1, 40)), opponent=None)
    env.reset()
    west = genes_of(env, (0, 0, 5), (0, 1, 3))
    assert unpack_orders(env.codec.moves(env._duel.states, west[None])[0]) == [(0, 0, 5), (0, 1, 3)]
    env.step(west)
    east = genes_of(env, (2, 2, 5), (2, 1, GENE_VALUES - 1))
    assert unpack_orders(env.codec.moves(env._duel.states, east[None])[0]) == [(2, 2, 5), (2, 1, 45)]


def test_masks_of_genes_tell_what_is_the_players_own() -> None:
    env = make(start=three_in_a_row((7, 1, 40)), opponent=None)
    env.reset()
    for own in ([1, 0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 0, 0, 1]):
        masks = env.action_masks().reshape(7, GENE_VALUES)
        assert masks.dtype == np.bool_ and masks[:, 0].all()
        assert masks.all(1).tolist() == [bool(one) for one in own]
        env.step(genes_of(env))
    env._over = True
    assert not env.action_masks().any()


def test_without_illegal_actions_there_is_no_mask() -> None:
    observation, info = make().reset(seed=0)
    assert "action_mask" not in observation and "action_mask" not in info


# Orders


@pytest.mark.parametrize("kind", KINDS)
def test_the_mask_is_the_same_in_all_three_places(kind: str) -> None:
    for observation, *_, info in play(make(action="orders", observation=kind, opponent=None), seed=1):
        if kind != "graph_space":
            assert same(observation["action_mask"], info["action_mask"])
    env = make(action="orders", observation=kind)
    _, info = env.reset(seed=1)
    assert info["action_mask"].dtype == np.int8 and env.action_masks().dtype == np.bool_
    assert np.array_equal(info["action_mask"], env.action_masks())
    assert env.action_space.sample(info["action_mask"]) in np.flatnonzero(info["action_mask"])


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("map", ["simple", "italy"])
def test_masked_actions_are_the_legal_ones(map: str, rules: str) -> None:
    env = make(map=map, rules=rules, action="orders", opponent=None, turn_limit=6)
    codec: Any = env.codec
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    over = False
    while not over:
        actions = np.arange(codec.n)
        drafts: Any = env._duel.drafts
        allowed = codec.legal(np.repeat(env._duel.states, codec.n), np.repeat(drafts, codec.n, 0), actions)
        assert np.array_equal(allowed, env.action_masks())
        assert env.game.legal(env.state, drafts[0])
        *_, over, _, _ = env.step(choose(rng, env.action_masks()))
    assert not env.action_masks().any()


@pytest.mark.parametrize("rules", RULES)
def test_no_two_legal_actions_draft_the_same(rules: str) -> None:
    env = make(map="banana", rules=rules, action="orders", opponent=None)
    codec: Any = env.codec
    for *_, info in play(env, seed=3, steps=60):
        actions = np.flatnonzero(info["action_mask"])
        draft: Any = env._duel.drafts
        drafts = np.repeat(draft, len(actions), 0)
        codec.take(np.repeat(env._duel.states, len(actions)), drafts, np.arange(len(actions)), actions)
        if np.array_equal(info["action_mask"], env.action_masks()):
            assert len({draft.tobytes() for draft in drafts}) == len(actions)


@pytest.mark.parametrize("map", MAPS)
@pytest.mark.parametrize("rules", RULES)
def test_a_masked_random_player_finishes_its_games(map: str, rules: str) -> None:
    env = make(map=map, rules=rules, action="orders", turn_limit=12)
    rng = np.random.default_rng(0)
    for seed in range(2):
        env.reset(seed=seed)
        over, most, sent = False, 0, 0
        while not over:
            before = int(env.state["turn"])
            income = env.game.income(env.state, 0)
            *_, over, _, info = env.step(choose(rng, env.action_masks()))
            assert "illegal_action" not in info
            sent = sent + 1 if env.state["turn"] == before else 0
            most = max(most, sent)
            assert sent <= income + len(env.game.map.territories)
        assert most > 0


def test_a_turn_of_orders() -> None:
    env = make(start=three_in_a_row((4, 2, 1)), action="orders", opponent=None)
    codec: Any = env.codec
    env.reset()
    mask = env.action_masks()
    assert not mask[0] and not mask[codec.action(1, 1)] and not mask[codec.action(2, 1)]
    for amount in ("few", "half", "all"):  # 5 armies: 1, 3 or 5
        assert mask[codec.action(0, 0, amount)]
    # 4 against 2: the fewest are 3; half of 4 is 2, which does not take it.
    assert [bool(mask[codec.action(0, 1, amount)]) for amount in ("few", "half", "all")] == [True, True, True]
    for action in (
        codec.action(0, 1, "few"),
        codec.action(0, 0, "few"),
        codec.action(0, 0, "half"),
        codec.action(0, 0),
    ):
        env.step(action)
    # The deploys come first, added up: 1 + 2 + 2.
    assert unpack_orders(env._duel.drafts[0]) == [(0, 0, 5), (0, 1, 3)]  # type: ignore[index]
    # What was taken sends on.
    assert env.action_masks()[codec.action(1, 2)] or env.action_masks()[codec.action(1, 2, "few")]
    *_, info = env.step(0)
    assert info["player"] == "blue" and unpack_orders(env.state["pending"]) == [(0, 0, 5), (0, 1, 3)]
    assert not env._duel.drafts.any()  # type: ignore[union-attr]


def test_armies_move_once_where_the_rules_say_so() -> None:
    for multi_attack in (False, True):
        env = make(start=three_in_a_row((9, 0, 1)), action="orders", opponent=None, multi_attack=multi_attack)
        codec: Any = env.codec
        env.reset()
        env.step(codec.action(0, 1, "all"))
        mask = env.action_masks()
        assert any(mask[codec.action(1, 2, amount)] for amount in ("few", "half", "all")) == multi_attack
        assert not any(mask[codec.action(0, 1, amount)] for amount in ("few", "half", "all"))


def test_actions_are_numbered_as_documented() -> None:
    env = make(action="orders")
    codec: Any = env.codec
    n, edges = len(env.game.map.territories), len(env.game.map.edges)
    assert codec.n == 1 + 3 * (n + 2 * edges)
    assert codec.action(4, 4, "half") == 1 + 3 * 4 + 1
    assert codec.describe(0) == "end the move" and codec.describe(1) == f"deploy few to {env.game.map.territories[0]}"
    for action in range(1, codec.n):
        gene, amount = divmod(action - 1, 3)
        assert codec.action(*codec._ends[gene], ("few", "half", "all")[amount]) == action
    with pytest.raises(ValueError, match="no edge joins"):
        codec.action(0, 19)
    with pytest.raises(ValueError, match="did you mean 'half'"):
        codec.action(0, 0, "haf")


# Actions that are none


@pytest.mark.parametrize("action", [-1, 10**6, 1.5, "0", None, [0], np.array([0, 1])])
@pytest.mark.parametrize("kind", ACTIONS)
def test_what_is_no_action_is_refused(kind: str, action: Any) -> None:
    env = make(action=kind, on_illegal="noop")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"is not in (Multi)?Discrete"):
        env.step(action)
    assert not env._over


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda genes: np.array(genes, np.int32)])
def test_whole_numbers_of_any_type_are_genes(kind: Any) -> None:
    env = make()
    env.reset(seed=0)
    env.step(kind([1] * env.game.gene_length))


@pytest.mark.parametrize("opponent", ["random", None])
def test_an_illegal_action_forfeits(opponent: str | None) -> None:
    env = make(action="orders", opponent=opponent)
    _, info = env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(illegal(info["action_mask"]))
    assert (reward, terminated, truncated, info["illegal_action"]) == (-1.0, True, False, True)
    assert not observation["action_mask"].any() and not info["action_mask"].any() and not env.action_masks().any()
    with pytest.raises(ResetNeeded):
        env.step(0)


@pytest.mark.parametrize("opponent", ["random", None])
def test_an_illegal_action_raises(opponent: str | None) -> None:
    env = make(action="orders", opponent=opponent, on_illegal="raise")
    _, info = env.reset(seed=0)
    before = env.game.to_text(env.state)
    with pytest.raises(ValueError, match=r"illegal action: the move cannot end: 5 armies are left to deploy"):
        env.step(0)
    last = int(np.flatnonzero(info["action_mask"] == 0)[-1])
    with pytest.raises(ValueError, match=r"illegal action: send all from .* to .*: "):
        env.step(last)
    assert env.game.to_text(env.state) == before and not env._duel.drafts.any()  # type: ignore[union-attr]
    assert not env.step(choose(np.random.default_rng(0), env.action_masks()))[2]


@pytest.mark.parametrize("opponent", ["random", None])
def test_an_illegal_action_does_nothing(opponent: str | None) -> None:
    env = make(action="orders", opponent=opponent, on_illegal="noop")
    start, first = env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(illegal(first["action_mask"]))
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert same(observation, start)
    assert same(info, {**first, "illegal_action": True})
    *_, info = env.step(choose(np.random.default_rng(0), env.action_masks()))
    assert "illegal_action" not in info


# Rewards and sides


class WaitingPolicy(Policy):
    """Anybody's own opponent: it orders nothing. It remembers the sides that it played."""

    def __init__(self) -> None:
        super().__init__()
        self.played: set[int] = set()

    def decide(self, states: np.ndarray, seeds: np.ndarray) -> Decisions:
        self.played |= set(self.game.player(states).tolist())
        return without_opinion(np.zeros((len(states), self.game.move_length), np.int16))


class CheatingPolicy(Policy):
    """Its moves are never legal."""

    def decide(self, states: np.ndarray, seeds: np.ndarray) -> Decisions:
        return without_opinion(np.full((len(states), self.game.move_length), 31, np.int16))


@pytest.mark.parametrize("side", ["red", "blue"])
def test_the_side_wins(side: str) -> None:
    at, home, foe = (0, 0, 2) if side == "red" else (2, 2, 0)
    armies = (30, 0, 0) if side == "red" else (0, 0, 30)
    env = make(start=three_in_a_row(armies), opponent=WaitingPolicy(), side=side)
    _, info = env.reset()
    assert info["player"] == side
    # An army that arrives moves on: genes run in the order of territories, so the way back is a turn longer.
    answers = [env.step(genes_of(env, (at, 1, 30), (1, foe, 31), (home, home, 5))) for _ in range(1)]
    while not answers[-1][2]:
        answers.append(env.step(genes_of(env, (1, foe, 31))))
    assert answers[-1][1:3] == (1.0, True) and len(answers) <= 2


def test_the_side_loses() -> None:
    env = make(start=three_in_a_row((0, 0, 30)), opponent="greedy")
    env.reset()
    reward, over = 0.0, False
    while not over:
        _, reward, over, _, info = env.step(genes_of(env))
    assert (reward, info["player"]) == (-1.0, "red")


def test_a_draw_is_worth_nothing() -> None:
    env = make(start=three_in_a_row((1, 9, 1), turn_limit=2), rules="default", turn_limit=2, opponent=WaitingPolicy())
    env.reset()
    assert env.step(genes_of(env))[1:3] == (0.0, False)
    assert env.step(genes_of(env))[1:3] == (0.0, True)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("side", ["red", "blue", "random"])
@pytest.mark.parametrize("opponent", ["random", "greedy"])
def test_rewards_are_outcomes_for_the_side(side: str, opponent: str, action: str) -> None:
    env = make(side=side, opponent=opponent, action=action, map="simple", turn_limit=20)
    seen = set()
    for seed in range(8):
        *earlier, last = play(env, seed, steps=2_000)
        sign = {"red": 1, "blue": -1}[last[4]["player"]]
        assert last[1] == sign * env.game.outcome(env.state) and last[2]
        assert all(answer[1] == 0.0 and not answer[2] for answer in earlier[1:])
        assert len({info["player"] for *_, info in (*earlier, last)}) == 1
        seen.add(last[4]["player"])
    assert seen == ({"red", "blue"} if side == "random" else {side})


@pytest.mark.parametrize("action", ACTIONS)
def test_both_sides_are_played_without_an_opponent(action: str) -> None:
    """Red's move is kept until blue's is in, and blue does not see it."""
    env = make(map="simple", action=action, opponent=None)
    rng = np.random.default_rng(0)
    board, info = env.reset(seed=0)
    assert info["player"] == "red"
    while info["player"] == "red":
        before = env.state.copy()
        observation, reward, over, _, info = env.step(random_action(rng, env, env._mask))
        assert (reward, over, int(env.state["turn"])) == (0.0, False, 0)
    assert env.state["waiting"] and np.array_equal(env.state["armies"], before["armies"])
    assert np.array_equal(observation["nodes"][:, 0], board["nodes"][:, 1])  # the observation is the mover's
    other = make(map="simple", action=action, opponent=None)
    other.reset(seed=0)
    other.step(np.zeros(env.game.gene_length, np.int64)) if action == "genes" else finish_turn(other)
    assert same(other._show(np.zeros(1, np.bool_))[0], observation)
    while info["player"] == "blue":
        *_, info = env.step(random_action(rng, env, env._mask))
    assert env.state["turn"] == 1 and not env.state["waiting"]


def finish_turn(env: WarzoneEnv) -> None:
    """Deploy everything to one place and end the move."""
    env.step(next(action for action in range(3, env.codec.top, 3) if env.action_masks()[action]))
    env.step(0)


@pytest.mark.parametrize("action", ACTIONS)
def test_sides_take_turns(action: str) -> None:
    players = [info["player"] for *_, info in play(make(opponent=None, action=action), seed=0, steps=60)]
    turns = [player for player, following in pairwise(players) if player != following]
    assert all(a != b for a, b in pairwise(turns)) and len(turns) > 2


# Opponents


@pytest.mark.parametrize("side", ["red", "blue"])
def test_a_policy_of_ones_own_is_the_opponent(side: str) -> None:
    policy = WaitingPolicy()
    play(make(opponent=policy, side=side), seed=0, steps=5)
    assert policy.played == {1 if side == "red" else 0}


def test_an_opponent_is_the_same_as_text_and_as_a_policy() -> None:
    assert same(play(make(opponent="greedy"), seed=5), play(make(opponent=GreedyPolicy()), seed=5))


def test_an_opponent_that_cheats_is_found_out() -> None:
    env = make(opponent=CheatingPolicy())
    env.reset(seed=0)
    with pytest.raises(ValueError, match="the opponent's move: "):
        play(env, None)


# Misuse


BAD_OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "map": ({"map": "itally"}, "italy"),
    "rules": ({"rules": "defualt"}, "default"),
    "start": ({"start": "randon"}, "random"),
    "action": ({"action": "order"}, "orders"),
    "observation": ({"observation": "grahp"}, "graph"),
    "opponent": ({"opponent": "gredy"}, "greedy"),
    "side": ({"side": "bleu"}, "blue"),
    "on_illegal": ({"on_illegal": "forfiet"}, "forfeit"),
    "render_mode": ({"render_mode": "asni"}, "ansi"),
    "option": ({"observatoin": "graph"}, "observation"),
    "option of the rules": ({"turn_limmit": 3}, "turn_limit"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_a_bad_option_is_answered_with_the_nearest(case: str) -> None:
    options, nearest = BAD_OPTIONS[case]
    with pytest.raises(ValueError, match=rf"\(did you mean '{nearest}'\?\)"):
        WarzoneEnv(**options)


@pytest.mark.parametrize("options", [{"side": None}, {"turn_limit": -1}, {"candidates": 0}, {"order": "alphabetic"}])
def test_other_bad_options(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=str(next(iter(options)))):
        WarzoneEnv(**options)


def test_a_step_before_the_first_reset_and_after_the_end() -> None:
    env = WarzoneEnv(map="simple", turn_limit=2)
    zeros = np.zeros(env.game.gene_length, np.int64)
    with pytest.raises(ResetNeeded):
        env.step(zeros)
    play(env, seed=0)
    for _ in range(2):
        with pytest.raises(ResetNeeded):
            env.step(zeros)
    env.reset()
    env.step(zeros)


# Starting from a position


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("opponent", ["random", None])
def test_a_game_begins_at_a_position(action: str, opponent: str | None) -> None:
    other = make(opponent=None)
    play(other, seed=4, steps=5)
    text = other.game.to_text(other.state)
    env = make(action=action, opponent=opponent)
    _, info = env.reset(options={"position": text})
    assert env.game.to_text(env.state) == text and info["player"] == "red"


def test_the_second_player_goes_on_in_the_middle_of_a_turn() -> None:
    other = make(opponent=None)
    play(other, seed=4, steps=4)
    text = other.game.to_text(other.state)
    assert other.state["waiting"]
    _, info = make(opponent=None).reset(options={"position": text})
    assert info["player"] == "blue"
    env = make(opponent="random")
    env.reset(seed=0, options={"position": text})
    assert env.state["turn"] == other.state["turn"] + 1


def test_a_position_must_fit() -> None:
    other = make(map="banana")
    other.reset(seed=0)
    text = other.game.to_text(other.state)
    for map_ in ("owl_island", "italy"):
        env = make(map=map_)
        with pytest.raises(ValueError, match="on another map"):
            env.reset(options={"position": text})
        with pytest.raises(ValueError, match="did you mean 'position'"):
            env.reset(options={"positoin": text})
        with pytest.raises(ResetNeeded):
            env.step(np.zeros(env.game.gene_length, np.int64))


# Seeds and copies


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("options", [{}, {"side": "random", "opponent": "greedy"}, {"opponent": "mcts:sims=5"}])
def test_a_seed_repeats_a_game(options: dict[str, Any], action: str) -> None:
    env = make(action=action, **options)
    first = play(env, seed=7, steps=25)
    assert same(first, play(env, seed=7, steps=25))
    assert same(first, play(make(action=action, **options), seed=7, steps=25))
    assert not same(first, play(env, seed=8, steps=25))


def test_games_after_the_first_follow_from_the_seed_too() -> None:
    games = []
    for env in (make(), make()):
        env.reset(seed=3)
        games.append([env.reset()[0] for _ in range(5)])
    assert same(*games)
    assert not any(same(a, b) for a, b in pairwise(games[0]))


def test_without_a_seed_games_differ() -> None:
    assert not same(make().reset(), make().reset())


CLONES: dict[str, Clone] = {
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("clone", CLONES)
@pytest.mark.parametrize("opponent", ["random", "greedy", None])
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("kind", ["both", "graph_space"])
def test_a_copy_goes_on_in_the_same_way(clone: str, opponent: str | None, action: str, kind: str) -> None:
    env = make(opponent=opponent, action=action, observation=kind)
    play(env, seed=2, steps=6)
    other = CLONES[clone](env)
    before = env.game.to_text(other.state)
    expected = play(env, None)
    assert env.game.to_text(other.state) == before
    assert same(expected, play(other, None))
    assert same(env.reset(), other.reset())


def test_the_environment_with_its_wrappers_is_copied() -> None:
    env = gymnasium.make("Warzone-v0")
    env.reset(seed=0)
    for clone in CLONES.values():
        assert same(play(clone(env).unwrapped, None), play(copy.deepcopy(env).unwrapped, None))


def arrays(answer: Any) -> list[np.ndarray]:
    """All arrays in an observation and info."""
    if isinstance(answer, np.ndarray):
        return [answer]
    parts = answer.values() if isinstance(answer, dict) else answer if isinstance(answer, tuple) else ()
    return [array for part in parts for array in arrays(part)]


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_answered_is_never_written_again(kind: str, action: str) -> None:
    answers = play(make(observation=kind, action=action), seed=0, steps=5)
    found = [array for answer in answers for array in arrays(answer)]
    assert len(found) >= 10
    for i, a in enumerate(found):
        assert a.flags.writeable
        assert not any(np.shares_memory(a, b) for b in found[:i])


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("map", ["simple", "italy"])
def test_observations_are_in_their_space_to_the_end(kind: str, map: str, action: str) -> None:
    env = make(**configuration(map, action, kind), opponent="greedy")
    for seed in range(3):
        for observation, *_ in play(env, seed, steps=60):
            assert env.observation_space.contains(observation)


# Pictures


def test_text_is_rendered() -> None:
    env = make(render_mode="ansi", map="simple", opponent=None)
    env.reset(seed=0)
    first = env.render()
    assert isinstance(first, str) and "turn 0 of 100" in first
    env.step(np.zeros(env.game.gene_length, np.int64))
    # What red has ordered is not told before blue has ordered too.
    assert env.render() == first.replace("turn 0 of 100", "turn 0 of 100, red has given orders")
    env.step(np.zeros(env.game.gene_length, np.int64))
    red, blue = env.render().splitlines()[-2:]
    assert red.startswith("red: +") and blue.startswith("blue: +")
    env.reset()
    assert not env.render().splitlines()[-1].startswith("blue: +")


@pytest.mark.parametrize("side", ["red", "blue"])
def test_the_orders_of_both_are_shown(side: str) -> None:
    env = make(render_mode="ansi", side=side)
    env.reset(seed=0)
    env.step(np.zeros(env.game.gene_length, np.int64))
    assert [line.split()[0] for line in env.render().splitlines()[-2:]] == ["red:", "blue:"]


def test_pictures_are_rendered() -> None:
    pytest.importorskip("pygame")
    env = make(render_mode="rgb_array")
    env.reset(seed=0)
    first = env.render()
    assert first.dtype == np.uint8 and first.ndim == 3 and first.shape[2] == 3
    env.step(np.zeros(env.game.gene_length, np.int64))
    second = env.render()
    assert second.shape == first.shape and not np.array_equal(first, second)
    env.close()


def test_people_see_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("sandtable.envs.screen.FPS", 0)
    pygame = load_pygame()
    env = make(render_mode="human", map="simple")
    env.reset(seed=0)
    before = pygame.surfarray.array3d(pygame.display.get_surface())
    env.step(np.zeros(env.game.gene_length, np.int64))
    assert not np.array_equal(before, pygame.surfarray.array3d(pygame.display.get_surface()))
    assert env.render() is None
    env.close()
    env.close()
    assert not pygame.display.get_init()


def test_rules_are_given_by_name_or_as_they_are() -> None:
    by_name, as_they_are = make(rules="warzone"), make(rules=RULESETS["default"], order="pairs", multi_attack=False)
    assert by_name.game.rules == as_they_are.game.rules
