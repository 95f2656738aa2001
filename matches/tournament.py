"""Everybody against everybody: each pair plays every start position with both colours.

The same seed gives the same games whatever the number of workers. A game's randomness comes from the seed, the two
agents, who has which colour, and the position: naming agents in another order or adding one changes nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from sandtable.matches import elo
from sandtable.matches.agreements import Agreements, turns_over
from sandtable.matches.play import GameResult
from sandtable.matches.progress import Progress
from sandtable.matches.worker import Entrant, Job, MakeAgent
from sandtable.matches.workers import play_jobs

if TYPE_CHECKING:
    from sandtable.agents.policy import Policy
    from sandtable.envs.game import Game


@dataclass(frozen=True)
class Played:
    """A game of the tournament."""

    job: Job
    result: GameResult

    @property
    def number(self) -> int:
        """Its number for people, from 1."""
        return self.job.index + 1

    def points(self, label: str) -> float:
        """What that agent got: 1, ½ or 0."""
        points = 0.5 + 0.5 * float(np.sign(self.result.outcome))
        return points if self.job.sides[0].label == label else 1.0 - points


@dataclass
class Pair:
    """Two agents and the games between them. Wins, losses and the score are those of `a`."""

    a: Entrant
    b: Entrant
    games: list[Played] = field(default_factory=list)

    def count(self, points: float) -> int:
        return sum(played.points(self.a.label) == points for played in self.games)

    @property
    def wins(self) -> int:
        return self.count(1.0)

    @property
    def draws(self) -> int:
        return self.count(0.5)

    @property
    def losses(self) -> int:
        return self.count(0.0)

    @property
    def points(self) -> float:
        return self.wins + 0.5 * self.draws

    @property
    def score(self) -> float | None:
        """Points a game, or None before the first."""
        return self.points / len(self.games) if self.games else None

    @property
    def elo_difference(self) -> tuple[float, float, float]:
        """By how much `a` is stronger, from these games alone, and its 95% interval."""
        against = len(self.games) - self.points
        return elo.fit(np.array([[0.0, self.points], [against, 0.0]])).difference(0, 1)


@dataclass
class Tournament:
    """A tournament, played or interrupted."""

    entrants: list[Entrant]
    players: tuple[str, str]
    """What the game calls its two sides."""
    positions: int
    seed: int
    games: list[Played]
    """In the order of the schedule."""
    interrupted: bool = False

    @property
    def pairs(self) -> list[Pair]:
        pairs = {frozenset((a.label, b.label)): Pair(a, b) for a, b in combinations(self.entrants, 2)}
        for played in self.games:
            pairs[frozenset(side.label for side in played.job.sides)].games.append(played)
        return list(pairs.values())

    @property
    def ratings(self) -> elo.Ratings:
        """Elo of the entrants, in their order."""
        at = {entrant.label: i for i, entrant in enumerate(self.entrants)}
        points = np.zeros((len(at), len(at)))
        for pair in self.pairs:
            a, b = at[pair.a.label], at[pair.b.label]
            points[a, b], points[b, a] = pair.points, len(pair.games) - pair.points
        return elo.fit(points)

    @property
    def colours(self) -> tuple[int, int, int]:
        """How many games the first player won, how many were drawn, how many the second player won."""
        signs = [np.sign(played.result.outcome) for played in self.games]
        return signs.count(1), signs.count(0), signs.count(-1)


def seconds_per_move(games: Sequence[Played], label: str) -> float | None:
    """How long an agent thought on average, or None when it never came to a decision."""
    seconds, decisions = 0.0, 0
    for played in games:
        for side, entrant in enumerate(played.job.sides):
            if entrant.label == label:
                seconds += played.result.seconds[side]
                decisions += played.result.decisions[side]
    return seconds / decisions if decisions else None


def enter(specs: Sequence[str]) -> list[Entrant]:
    """Entrants from specs; the second of the same spec is labelled "spec #2"."""
    entrants = []
    for i, spec in enumerate(specs):
        number = specs[: i + 1].count(spec)
        entrants.append(Entrant(spec if number == 1 else f"{spec} #{number}", spec))
    return entrants


def schedule(game: Game, entrants: Sequence[Entrant], positions: int, seed: int, record: bool = False) -> list[Job]:
    """All games, position by position, so that a tournament that is cut short has played all pairs about equally."""
    starts = game.new(positions, seed)
    jobs: list[Job] = []
    for position in range(positions):
        for a, b in combinations(entrants, 2):
            for sides in ((a, b), (b, a)):
                seeds = _seeds(seed, sides, position)
                jobs.append(Job(len(jobs), position, starts[position].copy(), sides, seeds, record))
    return jobs


def _registered(spec: str) -> Policy:
    """An agent of the registry, which is loaded only where an agent is built: in the workers."""
    from sandtable import make_agent

    return make_agent(spec)


def play_tournament(
    game: Game,
    specs: Sequence[str],
    games: int = 100,
    seed: int = 0,
    workers: int | None = None,
    time_limit: float | None = None,
    agreements: Agreements | None = None,
    make_agent: MakeAgent = _registered,
    record: bool = False,
    on_game: Callable[[Played], None] = lambda played: None,
    quiet: bool = True,
    **pool_options: Any,
) -> Tournament:
    """Play `games` games a pair (an odd number is rounded up: both colours of every position).

    time_limit and agreements are those of play_game. record keeps the moves of every game, on_game gets each game as
    it ends, quiet=False shows progress on stderr.
    Ctrl-C ends it early: the games so far are the tournament then.
    """
    entrants, positions = enter(specs), (games + 1) // 2
    jobs = schedule(game, entrants, positions, seed, record)
    if agreements is not None and jobs:
        turns_over(jobs[0].start)  # A game that has no turns is refused here, and not in every worker.
    tournament = Tournament(entrants, game.players, positions, seed, [])
    with Progress(len(jobs), "games", quiet=quiet) as progress:
        results = play_jobs(game, jobs, make_agent, workers, time_limit, agreements, progress.tick, **pool_options)
        try:
            with closing(results):
                for job, result in results:
                    tournament.games.append(Played(job, result))
                    on_game(tournament.games[-1])
                    progress.advance()
        except KeyboardInterrupt:
            tournament.interrupted = True
    tournament.games.sort(key=lambda played: played.job.index)
    return tournament


def _seeds(seed: int, sides: tuple[Entrant, Entrant], position: int) -> tuple[int, int]:
    names = [int.from_bytes(hashlib.sha256(side.label.encode()).digest()[:8], "big") for side in sides]
    first, second = np.random.SeedSequence([seed, *names, position]).generate_state(2, np.uint64)
    return int(first), int(second)
