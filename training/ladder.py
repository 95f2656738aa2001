"""How strong a network has become: matches against a fixed ladder of opponents, and one Elo number on their scale.

The Elos of the rungs were measured once, against each other, all pairs with 200 games (Warzone: 100):

    python evaluate.py --map li-symmetric --rules li2022 --games 200 --seed 1 \
        --agents random greedy muct:sims=20 muct:sims=200 muct:sims=2000
    python evaluate.py --map kimura-map01 --rules kimura2020 --games 200 --seed 1 \
        --agents random greedy muct:sims=20 muct:sims=200 muct:sims=2000
    python evaluate.py --game warzone --map owl_island --games 100 --seed 1 \
        --agents random greedy mcts:preset=warzone,sims=20 mcts:preset=warzone

Elos there have intervals of about ±40 (Warzone ±55). The agent that is no rung ties the weak ones to the strong ones,
which would otherwise win every game. Only the differences mean something; random is put at 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sandtable.agents.registry import make_agent
from sandtable.matches.elo import ELO_PER_NAT, PRIOR_ELO, Z95, score_interval
from sandtable.training.selfplay import Players

if TYPE_CHECKING:
    from sandtable.agents.policy import Policy
    from sandtable.envs.game import Game

Scale = Mapping[str, float]
SCALES: dict[str, dict[str, Scale]] = {
    "tubstap": {
        "li-symmetric": {"random": 0, "greedy": 461, "muct:sims=200": 836, "muct:sims=2000": 999},
        "kimura-map01": {"random": 0, "greedy": 414, "muct:sims=200": 860, "muct:sims=2000": 955},
    },
    "warzone": {
        "owl_island": {"random": 0, "greedy": 343, "mcts:preset=warzone": 634},
    },
}
"""The Elos of the rungs, by game and map. A game's first scale serves its other maps as well."""
_STARTS, _GAMES = 0, 1  # what random numbers are for


@dataclass(frozen=True)
class Result:
    """How a match went, for the agent that it is about."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        return self.wins + 0.5 * self.draws

    @property
    def score(self) -> float:
        """Points a game."""
        return self.points / self.games

    @property
    def interval(self) -> tuple[float, float]:
        """95% interval of the score."""
        return score_interval(self.points, self.games)


@dataclass(frozen=True)
class Climb:
    """The results of an agent against every rung, and what they say about its strength."""

    scale: dict[str, float]
    results: dict[str, Result]
    """By rung, the weakest first."""
    shown: np.ndarray | None = field(default=None, compare=False)
    """The states (n,) of one of the games against the highest rung, to look at; the last is before the last move."""

    @property
    def elo(self) -> tuple[float, float, float]:
        """The agent's Elo on the scale of the rungs, and its 95% interval."""
        return elo_against(
            np.array([self.scale[rung] for rung in self.results], float),
            np.array([result.points for result in self.results.values()]),
            np.array([result.games for result in self.results.values()], float),
        )

    def to_text(self) -> str:
        """A table for people."""
        rows = [("rung", "its Elo", "won-drawn-lost", "score", "95% interval")]
        for rung, result in self.results.items():
            low, high = result.interval
            counts = f"{result.wins}-{result.draws}-{result.losses}"
            rows.append((rung, f"{self.scale[rung]:.0f}", counts, f"{result.score:.1%}", f"{low:.1%} to {high:.1%}"))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        elo, low, high = self.elo
        return "\n".join([*lines, "", f"Elo {elo:.0f}, 95% interval {low:.0f} to {high:.0f} (random is 0)"])

    def to_json(self) -> dict[str, Any]:
        """The same as JSON can hold it."""
        elo, low, high = self.elo
        rungs = {
            rung: {
                "elo": self.scale[rung],
                "won": result.wins,
                "drawn": result.draws,
                "lost": result.losses,
                "score": result.score,
                "interval": list(result.interval),
            }
            for rung, result in self.results.items()
        }
        return {"elo": elo, "interval": [low, high], "rungs": rungs}

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Climb:
        rungs = told["rungs"]
        results = {rung: Result(one["won"], one["drawn"], one["lost"]) for rung, one in rungs.items()}
        return cls({rung: one["elo"] for rung, one in rungs.items()}, results)


def scale_of(game: Game) -> Scale:
    """The rungs of a game and their Elos, weakest first: measured on its map, or else on another."""
    scales = SCALES[game.name]
    return scales.get(game.setting["map"], next(iter(scales.values())))


def climb(
    game: Game,
    agent: str | Policy,
    games: int,
    seed: int = 0,
    tick: Callable[[int], None] = lambda ended: None,
) -> Climb:
    """Play an agent against each rung, so many games a rung. The same seed plays the same starts, and with an agent
    whose decisions follow from their seeds the same games."""
    policy, scale = make_agent(agent), scale_of(game)
    results, shown = {}, None
    for rung in scale:
        records, swapped = _play(game, policy, make_agent(rung), games, seed, tick)
        results[rung], shown = _result(records, swapped), records["state"][records["game"] == 0]
    return Climb(dict(scale), results, shown)


def play_match(
    game: Game,
    agent: str | Policy,
    opponent: str | Policy,
    games: int,
    seed: int = 0,
    tick: Callable[[int], None] = lambda ended: None,
) -> Result:
    """Play two agents, side by side, each start with both colours (an odd number of games is rounded up)."""
    return _result(*_play(game, make_agent(agent), make_agent(opponent), games, seed, tick))


def _play(
    game: Game, agent: Policy, opponent: Policy, games: int, seed: int, tick: Callable[[int], None]
) -> tuple[np.ndarray, np.ndarray]:
    """The records of all states, and of each game whether the agent had the second player's side."""
    both = {"agent": agent, "opponent": opponent}
    players = Players(game, tuple(both), both.__getitem__)
    starts = np.zeros((games + 1) // 2, game.dtype)
    game.fill(starts, _seeds(seed, _STARTS, len(starts)))
    swapped = np.arange(2 * len(starts)) % 2 == 1
    return players.play(np.repeat(starts, 2), _seeds(seed, _GAMES, len(swapped)), swapped, tick), swapped


def _result(records: np.ndarray, swapped: np.ndarray) -> Result:
    first = records[records["ply"] == 0]
    ours = (first["player"] == 1) == swapped[first["game"]]
    signs = np.sign(np.where(ours, first["outcome"], -first["outcome"]))
    return Result(int((signs > 0).sum()), int((signs == 0).sum()), int((signs < 0).sum()))


def _seeds(seed: int, purpose: int, n: int) -> np.ndarray:
    return np.random.SeedSequence([seed, purpose]).generate_state(n, np.uint64)


def elo_against(elos: np.ndarray, points: np.ndarray, games: np.ndarray) -> tuple[float, float, float]:
    """The likeliest Elo of an agent that scored points (n,) in games (n,) against opponents of fixed elos (n,), and its
    95% interval. Draws count half. The weak prior of all our ratings, around the opponents' mean, keeps it finite where
    everything was won or lost."""
    against = elos / ELO_PER_NAT
    centre, prior = float(against.mean()), (ELO_PER_NAT / PRIOR_ELO) ** 2
    rating = centre
    for _ in range(200):  # Newton's method on a strictly concave function, its steps limited against overshooting
        expected = 1.0 / (1.0 + np.exp(against - rating))
        slope = float((points - games * expected).sum()) - prior * (rating - centre)
        curvature = float((games * expected * (1.0 - expected)).sum()) + prior
        step = max(-2.0, min(2.0, slope / curvature))
        rating += step
        if abs(step) < 1e-10:
            break
    half = Z95 * ELO_PER_NAT / math.sqrt(curvature)
    elo = rating * ELO_PER_NAT
    return elo, elo - half, elo + half
