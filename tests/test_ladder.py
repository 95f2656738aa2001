"""The ladder ranks agents as tournaments do, and its Elo is that of the likelihood."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from sandtable import make_agent, make_game
from sandtable.agents.policy import Decisions
from sandtable.agents.simple import GreedyPolicy
from sandtable.envs.game import Game
from sandtable.matches.elo import ELO_PER_NAT, PRIOR_ELO, fit
from sandtable.training.ladder import SCALES, Climb, Result, climb, elo_against, play_match, scale_of


@pytest.fixture(scope="module")
def game() -> Game:
    return make_game("tubstap", map="kimura-map01", rules="kimura2020")


def test_who_wins_and_who_loses(game: Game) -> None:
    """Greedy scored 98.5% against random when the scale was measured, with both colours."""
    strong, weak = play_match(game, "greedy", "random", 60), play_match(game, "random", "greedy", 60)
    assert strong.games == weak.games == 60
    assert strong.wins >= 55 and weak.losses >= 55
    mirror = play_match(game, "greedy", "greedy", 200)
    assert mirror.interval[0] < 0.5 < mirror.interval[1]


class Starts(GreedyPolicy):
    """Remembers the states that it was asked about first, and whose move it was."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[np.ndarray] = []

    def decide(self, states: np.ndarray, seeds: np.ndarray) -> Decisions:
        self.seen.append(states.copy())
        return super().decide(states, seeds)


def test_both_colours_of_fixed_starts_side_by_side() -> None:
    game = make_game("tubstap", map="li-symmetric", rules="li2022")
    agent = Starts()
    play_match(game, agent, "random", 9, seed=4)
    first = agent.seen[0]
    assert len(first) == 5 and (game.player(first) == 0).all() and len(set(game.key(first))) == 5
    again = Starts()
    play_match(game, again, "muct:sims=2", 10, seed=4)
    assert (again.seen[0] == first).all()
    other = Starts()
    play_match(game, other, "random", 10, seed=5)
    assert set(game.key(other.seen[0])) != set(game.key(first))


def test_the_same_games_again(game: Game) -> None:
    agent = "muct:sims=5"
    results = [climb(game, agent, 10, seed).results for seed in (1, 1, 2)]
    assert results[0] == results[1] != results[2]


def test_a_simultaneous_game() -> None:
    game = make_game("warzone", map="owl_island")
    found = play_match(game, "greedy", "random", 40)
    assert found.games == 40 and found.score > 0.6


@pytest.mark.parametrize("name", SCALES)
def test_scales(name: str) -> None:
    for source, scale in SCALES[name].items():
        game = make_game(name, map=source)
        assert scale_of(game) is scale
        elos = list(scale.values())
        assert elos[0] == 0 and elos == sorted(elos)
        for spec in scale:
            make_agent(spec).check(game)
    other = make_game(name, map={"tubstap": "li-random", "warzone": "italy"}[name])
    assert scale_of(other) is next(iter(SCALES[name].values()))


def test_a_climb_and_its_table(game: Game) -> None:
    ended: list[int] = []
    found = climb(game, "greedy", 20, tick=ended.append)
    assert sum(ended) == 80 and [result.games for result in found.results.values()] == [20] * 4
    assert found.shown is not None and len(found.shown) > 4 and found.shown[0] == game.new(1, 0)[0]
    assert not game.done(found.shown).any()
    elo, low, high = found.elo
    assert low < elo < high and low < found.scale["greedy"] < high
    lines = found.to_text().splitlines()
    assert lines[0].split() == ["rung", "its", "Elo", "won-drawn-lost", "score", "95%", "interval"]
    assert lines[1].startswith("random") and lines[4].startswith("muct:sims=2000")
    assert lines[-1] == f"Elo {elo:.0f}, 95% interval {low:.0f} to {high:.0f} (random is 0)"
    assert Climb.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_stronger_agents_stand_higher(game: Game) -> None:
    elos = [climb(game, spec, 20).elo[0] for spec in ("random", "muct:sims=20", "muct:sims=400")]
    assert elos[0] + 150 < elos[1] < elos[2] - 150


# The estimate


def log_posterior(rating: float, elos: Any, points: Any, games: Any) -> float:
    expected = 1 / (1 + 10 ** ((np.array(elos) - rating) / 400))
    told = np.sum(points * np.log(expected) + (np.array(games) - points) * np.log(1 - expected))
    return float(told) - (rating - np.mean(elos)) ** 2 / (2 * PRIOR_ELO**2)


@pytest.mark.parametrize("points", [[40, 30, 10], [20, 20, 20], [0, 0, 0], [40, 40, 40], [40, 40, 3.5]])
def test_the_likeliest_rating(points: list[float]) -> None:
    elos, games = np.array([0.0, 500.0, 900.0]), np.full(3, 40.0)
    elo, low, high = elo_against(elos, np.array(points), games)
    top = log_posterior(elo, elos, points, games)
    assert all(log_posterior(elo + step, elos, points, games) < top for step in (-1, -0.1, 0.1, 1))
    bend = 2 * top - log_posterior(elo - 1, elos, points, games) - log_posterior(elo + 1, elos, points, games)
    assert high - elo == pytest.approx(elo - low) == pytest.approx(1.959964 / math.sqrt(bend), rel=1e-3)


def test_it_agrees_with_the_tournaments() -> None:
    """A rung's own results against the other rungs, all of them measured, lead back to its Elo."""
    elos, games = np.array([0.0, 300.0, 700.0]), 1_000_000.0
    expected = 1 / (1 + np.exp((elos[None, :] - elos[:, None]) / ELO_PER_NAT))
    ratings = fit(games * (expected - 0.5 * np.eye(3)))
    for i in range(3):
        rest = [j for j in range(3) if j != i]
        elo, low, high = elo_against(elos[rest], games * expected[i, rest], np.full(2, games))
        assert elo == pytest.approx(elos[i], abs=0.1) and high - low < 3
        assert ratings.elo[i] - ratings.elo[0] == pytest.approx(elos[i], abs=0.1)


def test_results() -> None:
    result = Result(6, 2, 2)
    assert (result.games, result.points, result.score) == (10, 7, 0.7)
    assert result.interval[0] < 0.7 < result.interval[1]
