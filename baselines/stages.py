"""What recipes are made of: data sets, trained networks, starts, matches and thinking times, each resumable by what is
there already."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from sandtable.agents.registry import make_agent
from sandtable.baselines.recipe import Workshop
from sandtable.envs.games import make_game
from sandtable.envs.tubstap.sources import Source
from sandtable.matches.elo import score_interval
from sandtable.matches.progress import Progress
from sandtable.matches.table import forfeits
from sandtable.matches.tournament import play_tournament
from sandtable.training.data import make_data
from sandtable.training.manifest import Recipe
from sandtable.training.processes import in_processes
from sandtable.training.run import RESULTS, Run
from sandtable.training.shards import read_facts

if TYPE_CHECKING:
    from sandtable.agents.policy import Policy
    from sandtable.envs.tubstap.game import Tubstap
    from sandtable.training.value_config import ValueConfig

_COUNTS = ("games", "states", "wins", "draws", "losses")
_STARTS_A_TASK = 5


# Data


def data_set(workshop: Workshop, name: str, recipe: Recipe) -> list[dict[str, int]]:
    """Make the data set `data/NAME`. How many games, states, wins, draws and losses it has of each source of maps."""
    folder = workshop.folder / "data" / name

    def work() -> list[dict[str, int]]:
        make_data(folder, recipe, workshop.workers, workshop.quiet)
        counts = [dict.fromkeys(_COUNTS, 0) for _ in recipe.maps]
        for shard in recipe.shards:
            facts = read_facts(folder, shard)
            assert facts is not None
            for key in _COUNTS:
                counts[shard.source][key] += getattr(facts, key)
        return counts

    return workshop.stage(f"data-{name}", work)


# Training


def trained(workshop: Workshop, name: str, configs: Mapping[str, ValueConfig]) -> dict[str, Any]:
    """Train networks, several at a time, each in `runs/KEY`. By key: what is in its results.json."""

    def work() -> dict[str, Any]:
        folders = {key: workshop.folder / "runs" / key for key in configs}
        waiting = [(folders[key], config) for key, config in configs.items() if not (folders[key] / RESULTS).exists()]
        total = sum(config.epochs for _, config in waiting)
        with Progress(total, "epochs", quiet=workshop.quiet) as progress:
            learned = in_processes(_learn, waiting, workshop.workers, progress.advance)
            with closing(learned):
                for (folder, _), _ in learned:
                    workshop.tell(f"{folder.name} is trained")
        return {key: json.loads((folders[key] / RESULTS).read_text(encoding="utf-8")) for key in configs}

    return workshop.stage(name, work)


def _learn(task: tuple[Path, ValueConfig], tell: Callable[[int], None]) -> None:
    from sandtable.training.value_run import learn

    folder, config = task
    run = Run(folder, config.keep)
    run.checkpoints.clear()
    learn(run, config, on_epoch=lambda: tell(1))


# Matches


class GivenStarts(Source):
    """Starts that were made before: the first is the first, whatever the seed."""

    def __init__(self, source: Source, starts: np.ndarray) -> None:
        self.width, self.height, self.units_a_side = source.width, source.height, source.units_a_side
        self.starts = starts

    def fill(self, game: Tubstap, states: np.ndarray, seeds: np.ndarray) -> None:
        states[:] = self.starts[: len(states)]


@dataclass(frozen=True)
class Cast:
    """Agents by the names that they have on the page, so that games do not depend on where weights lie."""

    weights: Mapping[str, Path] = field(default_factory=dict)
    """Networks that play by depth-2 minimax."""
    specs: Mapping[str, str] = field(default_factory=dict)
    """Other agents."""

    def __call__(self, name: str) -> Policy:
        if name in self.weights:
            return make_agent("minimax", weights=str(self.weights[name]))
        return make_agent(self.specs[name])


def starts(workshop: Workshop, name: str, map_: str, rules: str, count: int) -> Tubstap:
    """The game with `count` starts of a source of maps that are the same for every match."""
    game: Any = make_game("tubstap", map=map_, rules=rules)

    def work() -> list[str]:
        tasks = [(map_, rules, first, min(first + _STARTS_A_TASK, count)) for first in range(0, count, _STARTS_A_TASK)]
        made: dict[int, list[str]] = {}
        with Progress(count, "starts", quiet=workshop.quiet) as progress:
            working = in_processes(_Starts(workshop.seed), tasks, workshop.workers, progress.advance)
            with closing(working):
                for task, texts in working:
                    made[task[2]] = texts
        return [text for first in sorted(made) for text in made[first]]

    states = game.from_text(workshop.stage(f"starts-{name}", work))
    return make_game("tubstap", map=GivenStarts(game.source, states), rules=rules)  # type: ignore[return-value]


@dataclass(frozen=True)
class _Starts:
    """Makes some starts of a source of maps: its name, the rules, from which to which."""

    seed: int

    def __call__(self, task: tuple[str, str, int, int], tell: Callable[[int], None]) -> list[str]:
        map_, rules, first, end = task
        game: Any = make_game("tubstap", map=map_, rules=rules)
        states = np.zeros(end - first, game.dtype)
        words = [np.random.SeedSequence([self.seed, 3, i]).generate_state(1, np.uint64) for i in range(first, end)]
        game.fill(states, np.concatenate(words))
        tell(end - first)
        return list(game.to_text(states))


def match(workshop: Workshop, name: str, game: Tubstap, cast: Cast, sides: Sequence[str], games: int) -> dict[str, Any]:
    """Two of the cast against each other, every start with both colours: wins, draws and losses of the first, its
    score and the 95% interval of that."""

    def work() -> dict[str, Any]:
        played = play_tournament(
            game, sides, games, workshop.seed, workshop.workers, make_agent=cast, quiet=workshop.quiet
        )
        if played.interrupted:
            raise KeyboardInterrupt
        for agent, reason, _ in forfeits(played.games):
            raise RuntimeError(f"{name}: {agent} lost by forfeit: {reason}")
        (pair,) = played.pairs
        low, high = score_interval(pair.points, len(pair.games))
        counts = {"wins": pair.wins, "draws": pair.draws, "losses": pair.losses}
        return {**counts, "score": pair.score, "low": low, "high": high}

    return workshop.stage(f"match-{name}", work)


def thinking(workshop: Workshop, name: str, game: Tubstap, cast: Cast, players: Sequence[str], count: int) -> Any:
    """By player: the median time of the first move over `count` starts, in seconds, alone and with one thread."""

    def work() -> dict[str, float]:
        return {player: _first_move(game, cast(player), count) for player in players}

    return workshop.stage(f"thinking-{name}", work)


def _first_move(game: Tubstap, agent: Policy, count: int) -> float:
    states = game.new(count)
    agent.reset(game, seed=0)
    agent.act(states[:1])  # whatever is made at the first call is made now
    seconds = []
    for i in range(count):
        began = perf_counter()
        agent.act(states[i : i + 1])
        seconds.append(perf_counter() - began)
    return median(seconds)
