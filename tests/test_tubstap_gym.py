"""TUBSTAP as a Gymnasium environment: the checkers of the libraries, and what reset and step mean."""

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

import sandtable
from sandtable.agents.policy import Decisions, Policy
from sandtable.agents.simple import GreedyPolicy, without_opinion
from sandtable.envs.tubstap.gym import TubstapEnv
from sandtable.envs.tubstap.position import Position
from sandtable.envs.tubstap.rulesets import RULESETS, Rules
from sandtable.envs.tubstap.sources import Source
from sandtable.envs.window import load_pygame
from tests.environments import (
    CONFIGURATIONS,
    CROSS_PRODUCT,
    KINDS,
    RULES,
    SOURCES,
    allowed_warnings,
    choose,
    configuration,
    face_to_face,
    illegal,
    same,
)

Clone = Callable[[Any], Any]


def make(**options: Any) -> TubstapEnv:
    """The environment itself, made by its id."""
    env = gymnasium.make("Tubstap-v0", **options).unwrapped
    assert isinstance(env, TubstapEnv)
    return env


def play(env: Any, seed: int | None, steps: int = 40) -> list[Any]:
    """Everything that is answered in a game of random legal actions; it is begun with the seed, or gone on with."""
    rng = np.random.default_rng(0)
    answers: list[Any] = [] if seed is None else [env.reset(seed=seed)]
    while len(answers) < steps and not env._over:
        answers.append(env.step(choose(rng, env.action_masks())))
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


@pytest.mark.parametrize("options", [{}, {"opponent": None}, {"side": "random"}, {"on_illegal": "noop"}])
def test_gymnasium_accepts_other_options(options: dict[str, Any]) -> None:
    gymnasium_accepts(options)


@pytest.mark.parametrize("source", ["li-symmetric", "archipelago"])
def test_gymnasium_accepts_what_is_drawn(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("sandtable.envs.screen.FPS", 0)
    check_env(make(map=source))


# Legal actions


@pytest.mark.parametrize("kind", KINDS)
def test_the_mask_is_the_same_in_all_three_places(kind: str) -> None:
    for observation, *_, info in play(make(observation=kind, opponent=None), seed=1):
        if kind != "graph_space":
            assert same(observation["action_mask"], info["action_mask"])
    env = make(observation=kind)
    _, info = env.reset(seed=1)
    assert info["action_mask"].dtype == np.int8 and env.action_masks().dtype == np.bool_
    assert np.array_equal(info["action_mask"], env.action_masks())
    assert env.action_space.sample(info["action_mask"]) in np.flatnonzero(info["action_mask"])


def assert_mask_is_legal_moves(env: TubstapEnv) -> None:
    moves = env.game.moves(env.state)
    actions = np.flatnonzero(env.action_masks())
    assert sorted(env.codec.action(move) for move in moves) == actions.tolist()
    decoded = env.codec.moves(np.repeat(env._duel.states, len(actions)), actions)
    assert {tuple(row) for row in decoded} == {tuple(row) for row in moves}


@pytest.mark.parametrize("source", SOURCES)
def test_masked_actions_are_the_legal_moves(source: str) -> None:
    env = make(**configuration(source), opponent=None, turn_limit=6)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    over = False
    while not over:
        assert_mask_is_legal_moves(env)
        *_, over, _, _ = env.step(choose(rng, env.action_masks()))
    assert not env.action_masks().any()


def test_attacks_that_do_nothing_are_masked_unless_the_rules_allow_them() -> None:
    env = make(map="mixed-front", opponent=None, ineffective_attacks=True, turn_limit=4)
    rng = np.random.default_rng(0)
    env.reset()
    for _ in range(30):
        if env._over:
            break
        assert_mask_is_legal_moves(env)
        env.step(choose(rng, env.action_masks()))


def test_actions_are_numbered_as_documented() -> None:
    env = make(opponent=None)
    env.reset(seed=3)
    unit, x, y, attack = 1, 4, 2, 0
    action = ((unit * 8 + y) * 8 + x) * 4 + attack
    slot, cell, target = env.codec.moves(env._duel.states, np.array([action]))[0]
    stride = env.game._stride_of(env.state)
    assert (slot, cell, target) == (unit, y * stride + x, -1)
    assert env.codec.n == 3 * 8 * 8 * 4


@pytest.mark.parametrize("action", [-1, 10**6, 1.5, "0", None, [0], np.array([0, 1])])
def test_what_is_no_action_is_refused(action: Any) -> None:
    env = make(on_illegal="noop")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"is not in Discrete"):
        env.step(action)
    assert not env._over


@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.array])
def test_whole_numbers_of_any_type_are_actions(kind: Any) -> None:
    env = make()
    env.reset(seed=0)
    *_, info = env.step(kind(np.flatnonzero(env.action_masks())[0]))
    assert "illegal_action" not in info


# Illegal actions


@pytest.mark.parametrize("opponent", ["random", None])
def test_an_illegal_action_forfeits(opponent: str | None) -> None:
    env = make(opponent=opponent)
    _, info = env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(illegal(info["action_mask"]))
    assert (reward, terminated, truncated, info["illegal_action"]) == (-1.0, True, False, True)
    assert not observation["action_mask"].any() and not info["action_mask"].any() and not env.action_masks().any()
    with pytest.raises(ResetNeeded):
        env.step(0)


@pytest.mark.parametrize("opponent", ["random", None])
def test_an_illegal_action_raises(opponent: str | None) -> None:
    env = make(opponent=opponent, on_illegal="raise")
    _, info = env.reset(seed=0)
    before = env.game.to_text(env.state)
    with pytest.raises(ValueError, match=r"illegal action: unit 0 .* cannot"):
        env.step(illegal(info["action_mask"]))
    assert env.game.to_text(env.state) == before
    assert not env.step(choose(np.random.default_rng(0), env.action_masks()))[2]


@pytest.mark.parametrize("opponent", ["random", None])
def test_an_illegal_action_does_nothing(opponent: str | None) -> None:
    env = make(opponent=opponent, on_illegal="noop")
    start, first = env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(illegal(first["action_mask"]))
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert same(observation, start)
    assert same(info, {**first, "illegal_action": True})
    *_, info = env.step(choose(np.random.default_rng(0), env.action_masks()))
    assert "illegal_action" not in info


# Rewards and sides


def attack_of(env: TubstapEnv) -> int:
    """A legal attack."""
    moves = env.game.moves(env.state)
    return env.codec.action(moves[moves[:, 2] >= 0][0])


def stay_of(env: TubstapEnv) -> int:
    moves = env.game.moves(env.state)
    return env.codec.action(moves[moves[:, 2] < 0][0])


def test_red_wins() -> None:
    env = make(map=face_to_face(10, 1))
    env.reset()
    assert env.step(attack_of(env))[1:3] == (1.0, True)


def test_red_loses_in_the_opponents_turn() -> None:
    env = make(map=face_to_face(1, 10), opponent="greedy")
    env.reset()
    observation, reward, terminated, _, info = env.step(stay_of(env))
    assert (reward, terminated, info["player"]) == (-1.0, True, "red")
    assert not observation["action_mask"].any() and not info["action_mask"].any()


def test_blue_wins() -> None:
    env = make(map=face_to_face(1, 10), opponent=StayingPolicy(), side="blue")
    _, info = env.reset()
    assert info["player"] == "blue"
    assert env.step(attack_of(env))[1:3] == (1.0, True)


def test_a_draw_is_worth_nothing() -> None:
    env = make(map=face_to_face(5, 5, turn_limit=2), limit_means="draw", opponent=StayingPolicy())
    env.reset()
    assert env.step(stay_of(env))[1:3] == (0.0, True)


@pytest.mark.parametrize("side", ["red", "blue", "random"])
@pytest.mark.parametrize("opponent", ["random", "greedy"])
def test_rewards_are_outcomes_for_the_side(side: str, opponent: str) -> None:
    env = make(side=side, opponent=opponent, map="kimura-random")
    seen = set()
    for seed in range(12):
        *earlier, last = play(env, seed, steps=200)
        sign = {"red": 1, "blue": -1}[last[4]["player"]]
        assert last[1] == sign * env.game.outcome(env.state) and last[2]
        assert all(answer[1] == 0.0 and not answer[2] for answer in earlier[1:])
        assert len({info["player"] for *_, info in (*earlier, last)}) == 1
        seen.add(last[4]["player"])
    assert seen == ({"red", "blue"} if side == "random" else {side})


def test_both_sides_are_played_without_an_opponent() -> None:
    env = make(map=face_to_face(10, 1), opponent=None)
    _, info = env.reset()
    assert info["player"] == "red"
    observation, reward, terminated, _, info = env.step(stay_of(env))
    assert (reward, terminated, info["player"]) == (0.0, False, "blue")
    assert observation["nodes"][0, 5] == np.float32(0.1)  # the observation is the mover's: its own unit has 1 HP
    env.step(stay_of(env))
    _, reward, terminated, _, info = env.step(attack_of(env))
    assert (reward, terminated, info["player"]) == (1.0, True, "red")


def test_the_player_keeps_moving_until_its_turn_is_over() -> None:
    env = make(opponent=None)
    players = [info["player"] for *_, info in play(env, seed=0, steps=12)]
    assert players == (["red"] * 3 + ["blue"] * 3) * 2


class LostThenFair(Source):
    """Starts that RED wins at once, and at last one that it does not."""

    width, height, units_a_side = 4, 4, 1

    def __init__(self, lost: int) -> None:
        self._lost = lost

    def fill(self, game: Any, states: np.ndarray, seeds: np.ndarray) -> None:
        self._lost -= 1
        states[:] = game.from_position(Position(face_to_face(10, 1 if self._lost >= 0 else 10), game.rules))


def test_a_start_that_is_lost_before_the_first_action_is_drawn_again() -> None:
    env = make(map=LostThenFair(3), opponent="greedy", side="blue")
    _, info = env.reset(seed=0)
    assert info["action_mask"].any() and info["player"] == "blue"


def test_a_map_on_which_every_start_is_lost_is_an_error() -> None:
    env = make(map=face_to_face(10, 1), opponent="greedy", side="blue")
    with pytest.raises(ValueError, match="over at once"):
        env.reset()
    with pytest.raises(ResetNeeded):
        env.step(0)


# Opponents


class StayingPolicy(Policy):
    """Anybody's own opponent: no unit moves or attacks. It remembers the colours that it played."""

    def __init__(self) -> None:
        super().__init__()
        self.played: set[int] = set()

    def decide(self, states: np.ndarray, seeds: np.ndarray) -> Decisions:
        self.played |= set(self.game.player(states).tolist())
        return without_opinion(np.stack([self._stay(state) for state in states]))

    def _stay(self, state: np.void) -> np.ndarray:
        return next(move for move in self.game.moves(state) if move[1] == state["cell"][move[0]] and move[2] < 0)


class CheatingPolicy(Policy):
    """Its moves are never legal."""

    def decide(self, states: np.ndarray, seeds: np.ndarray) -> Decisions:
        return without_opinion(np.full((len(states), 3), 31, np.int16))


@pytest.mark.parametrize("side", ["red", "blue"])
def test_a_policy_of_ones_own_is_the_opponent(side: str) -> None:
    policy = StayingPolicy()
    env = make(opponent=policy, side=side)
    play(env, seed=0)
    assert policy.played == {1 if side == "red" else 0}


def test_an_opponent_is_the_same_as_text_and_as_a_policy() -> None:
    assert same(play(make(opponent="greedy"), seed=5), play(make(opponent=GreedyPolicy()), seed=5))


def test_one_policy_plays_in_several_environments() -> None:
    policy = sandtable.make_agent("mcts:sims=5")
    small, large = make(map="kimura-map01", opponent=policy), make(map="long-campaign", opponent=policy)
    alone = play(make(map="kimura-map01", opponent="mcts:sims=5"), seed=0, steps=8)
    small.reset(seed=0)
    play(large, seed=0, steps=40)
    assert policy.game is large.game
    assert same(play(small, seed=0, steps=8), alone)
    assert policy.game is small.game


def test_an_opponent_that_cheats_is_found_out() -> None:
    env = make(opponent=CheatingPolicy())
    env.reset(seed=0)
    with pytest.raises(ValueError, match="the opponent's move: there is no unit in slot 31"):
        play(env, None)


def test_what_is_no_opponent_is_refused() -> None:
    with pytest.raises(TypeError, match="an agent is named by text"):
        make(opponent=3)


# Misuse


BAD_OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "map": ({"map": "li-symetric"}, "li-symmetric"),
    "rules": ({"rules": "oficial"}, "official"),
    "observation": ({"observation": "grahp"}, "graph"),
    "opponent": ({"opponent": "gredy"}, "greedy"),
    "option of the opponent": ({"opponent": "mcts:simms=3"}, "sims"),
    "side": ({"side": "bleu"}, "blue"),
    "on_illegal": ({"on_illegal": "forfiet"}, "forfeit"),
    "render_mode": ({"render_mode": "asni"}, "ansi"),
    "option": ({"observatoin": "graph"}, "observation"),
    "option of the rules": ({"turn_limmit": 3}, "turn_limit"),
    "option of the map": ({"map": "li-local-search", "rolouts": 3}, "rollouts"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_a_bad_option_is_answered_with_the_nearest(case: str) -> None:
    options, nearest = BAD_OPTIONS[case]
    with pytest.raises(ValueError, match=rf"\(did you mean '{nearest}'\?\)"):
        TubstapEnv(**options)


@pytest.mark.parametrize("options", [{"rollouts": 3}, {"side": None}, {"turn_limit": -1}, {"hp": "imaginary"}])
def test_other_bad_options(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=str(next(iter(options)))):
        TubstapEnv(**options)


def test_a_step_before_the_first_reset() -> None:
    with pytest.raises(ResetNeeded):
        TubstapEnv().step(0)


def test_a_step_after_the_end() -> None:
    env = make(map="kimura-random")
    play(env, seed=0, steps=200)
    for _ in range(2):
        with pytest.raises(ResetNeeded):
            env.step(0)
    env.reset()
    env.step(0)


# Starting from a position


def middle_game(env: TubstapEnv) -> str:
    """The text of a position of the first player's, some turns into a game."""
    other = make(map="li-symmetric", rules=env.game.rules, opponent=None)
    play(other, seed=4, steps=19)
    return other.game.to_text(other.state)


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("opponent", ["random", None])
def test_a_game_begins_at_a_position(rules: str, opponent: str | None) -> None:
    env = make(rules=rules, opponent=opponent)
    text = middle_game(env)
    _, info = env.reset(options={"position": text})
    assert env.game.to_text(env.state) == text and info["player"] == "red"
    assert_mask_is_legal_moves(env)


def test_the_opponent_moves_first_where_it_is_its_turn() -> None:
    env = make(side="blue")
    text = middle_game(env)
    _, info = env.reset(seed=0, options={"position": text})
    assert info["player"] == "blue" and env.game.player(env.state) == 1
    assert env.game.to_text(env.state) != text


def test_a_position_must_fit() -> None:
    env = make()
    text = middle_game(env)
    for options in ({"map": "kimura-map01"}, {"map": "kimura-map01", "rules": "li2022"}):
        with pytest.raises(ValueError, match="8x8 cells and 3 units a side"):
            make(**options).reset(options={"position": text})
    with pytest.raises(ValueError, match="HP are not real"):
        make(rules="li2022").reset(options={"position": text})
    with pytest.raises(ValueError, match="did you mean 'position'"):
        env.reset(options={"positoin": text})


def test_a_position_that_is_over_is_refused() -> None:
    env = make(map=face_to_face(5, 5))
    over = env.game.to_text(env.game.from_position(Position(face_to_face(5, 5), Rules(), turn=10)))
    with pytest.raises(ValueError, match="over at this position"):
        env.reset(options={"position": over})
    with pytest.raises(ResetNeeded):
        env.step(0)


# Seeds and copies


@pytest.mark.parametrize("options", [{}, {"side": "random", "opponent": "greedy"}, {"opponent": "mcts:sims=5"}])
def test_a_seed_repeats_a_game(options: dict[str, Any]) -> None:
    env = make(**options)
    first = play(env, seed=7)
    assert same(first, play(env, seed=7))
    assert same(first, play(make(**options), seed=7))
    assert not same(first, play(env, seed=8))


def test_games_after_the_first_follow_from_the_seed_too() -> None:
    first, second = make(map="kimura-random"), make(map="kimura-random")
    games = []
    for env in (first, second):
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
@pytest.mark.parametrize("opponent", ["random", "greedy", "mcts:sims=5", None])
@pytest.mark.parametrize("kind", ["both", "graph_space"])
def test_a_copy_goes_on_in_the_same_way(clone: str, opponent: str | None, kind: str) -> None:
    env = make(opponent=opponent, observation=kind)
    play(env, seed=2, steps=10)
    other = CLONES[clone](env)
    assert same(play(env, None), play(other, None))
    assert same(env.reset(), other.reset())


def test_a_copy_is_independent() -> None:
    env = make()
    play(env, seed=2, steps=10)
    before = env.game.to_text(env.state)
    play(copy.deepcopy(env), None)
    assert env.game.to_text(env.state) == before


def test_the_environment_with_its_wrappers_is_copied() -> None:
    env = gymnasium.make("Tubstap-v0")
    env.reset(seed=0)
    for clone in CLONES.values():
        assert same(play(clone(env).unwrapped, None), play(copy.deepcopy(env).unwrapped, None))


def arrays(answer: Any) -> list[np.ndarray]:
    """All arrays in an observation and info."""
    if isinstance(answer, np.ndarray):
        return [answer]
    parts = answer.values() if isinstance(answer, dict) else answer if isinstance(answer, tuple) else ()
    return [array for part in parts for array in arrays(part)]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_answered_is_never_written_again(kind: str) -> None:
    found = [array for answer in play(make(observation=kind), seed=0, steps=5) for array in arrays(answer)]
    assert len(found) > 10
    for i, a in enumerate(found):
        assert a.flags.writeable
        assert not any(np.shares_memory(a, b) for b in found[:i])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", ["kimura-random", "siege"])
@pytest.mark.parametrize("rules", ["official", "li2022"])
def test_observations_are_in_their_space_to_the_end(kind: str, source: str, rules: str) -> None:
    env = make(observation=kind, map=source, rules=rules, opponent="greedy")
    for seed in range(6):
        for observation, *_ in play(env, seed, steps=60):
            assert env.observation_space.contains(observation)


def test_a_graph_holds_the_units_alive_and_their_edges() -> None:
    graph = make(observation="graph_space", map=face_to_face(10, 1), opponent=None)
    padded = make(map=face_to_face(10, 1), opponent=None)
    before, _ = graph.reset()
    expected, _ = padded.reset()
    assert same(before.nodes, expected["nodes"])
    assert before.edge_links.tolist() == [[0, 1], [1, 0]]
    assert same(before.edges, expected["edges"][[0, 1], [1, 0]])
    after, *_ = graph.step(attack_of(graph))
    assert after.nodes.shape == (1, 13) and after.edges.shape == (0, 4) and after.edge_links.shape == (0, 2)


# Pictures


def test_text_is_rendered() -> None:
    env = make(render_mode="ansi", opponent=None)
    env.reset(seed=0)
    text = env.render()
    assert isinstance(text, str) and "red to move" in text and "last move" not in text
    env.step(stay_of(env))
    assert "last move: red" in env.render()
    env.reset()
    assert "last move" not in env.render()


def test_an_illegal_action_is_not_marked_as_a_move() -> None:
    env = make(render_mode="ansi", on_illegal="noop")
    env.reset(seed=0)
    before = env.render()
    env.step(illegal(env.action_masks()))
    assert env.render() == before


def test_pictures_are_rendered() -> None:
    pytest.importorskip("pygame")
    env = make(render_mode="rgb_array")
    env.reset(seed=0)
    first = env.render()
    assert first.dtype == np.uint8 and first.ndim == 3 and first.shape[2] == 3
    env.step(stay_of(env))
    second = env.render()
    assert second.shape == first.shape and not np.array_equal(first, second)
    env.close()


def test_people_see_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr("sandtable.envs.screen.FPS", 0)
    pygame = load_pygame()
    env = make(render_mode="human")
    env.reset(seed=0)
    before = pygame.surfarray.array3d(pygame.display.get_surface())
    env.step(stay_of(env))
    assert not np.array_equal(before, pygame.surfarray.array3d(pygame.display.get_surface()))
    assert env.render() is None
    env.close()
    env.close()
    assert not pygame.display.get_init()


def test_without_a_render_mode_nothing_is_drawn() -> None:
    env = make()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


def test_rules_are_given_by_name_or_as_they_are() -> None:
    by_name, as_they_are = make(rules="kimura2020"), make(rules=RULESETS["official"], turn_limit=16, limit_means="draw")
    assert by_name.game.rules == as_they_are.game.rules
