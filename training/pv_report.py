"""What learning by self-play tells: a line on stderr, curves and pictures for TensorBoard, results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from sandtable.matches.progress import Progress, clock
from sandtable.training.pictures import add_boards
from sandtable.training.run import Run, write_hparams

if TYPE_CHECKING:
    from sandtable.envs.game import Game
    from sandtable.training.ladder import Climb, Result
    from sandtable.training.pv_config import PvConfig
    from sandtable.training.pv_loop import Loop
    from sandtable.training.selfplay_pv import Counts

_PICTURES = 6
"""Positions of a game in its picture."""
_LOSSES = {"policy loss": "loss/policy", "value loss": "loss/value", "norm": "loss/weights"}
_TAGS = {
    **_LOSSES,
    "policy entropy": "policy/entropy",
    "search entropy": "policy/entropy of the search",
    "value accuracy": "value/accuracy",
    "age": "replay/age in generations",
    "replay": "replay/positions",
    "trained": "replay/trained a position",
}


class Line(Progress):
    """How far the run is."""

    def __init__(self, config: PvConfig, seconds: Callable[[], float], quiet: bool) -> None:
        """seconds: of work so far."""
        super().__init__(config.generations, "generations", quiet=quiet)
        self._config, self._seconds = config, seconds
        self._told = "the first generation is being played"
        self.elo: tuple[float, float, float] | None = None

    def show(self, generation: int, games: int, speed: float, told: dict[str, float]) -> None:
        """A generation is over. speed: positions a second."""
        losses = [f"{name.split()[0]} {told[name]:.3f}" for name in ("policy loss", "value loss") if name in told]
        self._told = ", ".join([f"generation {generation}", f"{games} games", f"{speed:.0f} positions/s", *losses])
        self.advance(generation - self.done)

    def line(self) -> str:
        parts = [self._told]
        if self.elo is not None:
            elo, low, high = self.elo
            parts.append(f"Elo {elo:.0f} ({low:.0f} to {high:.0f})")
        left = self._left()
        return ", ".join(
            [*parts, f"{clock(self._seconds())} gone", *([f"{clock(left)} left"] if left is not None else [])]
        )

    def _left(self) -> float | None:
        """Seconds until the end, as far as one can tell."""
        ends = []
        if self._config.minutes:
            ends.append(max(60 * self._config.minutes - self._seconds(), 0.0))
        if self._config.generations and self.done:
            ends.append((self._config.generations - self.done) * self._seconds() / self.done)
        return min(ends, default=None)

    def say(self, text: str) -> None:
        """A line of its own."""
        print(f"\r{text.ljust(self._width)}" if self._width else text, file=sys.stderr)


class Curves:
    """TensorBoard's side of a run. If it cannot be written that is said once, and the run goes on without."""

    def __init__(self, run: Run, generation: int) -> None:
        self._writer = run.writer(generation)
        self._broken = False

    def generation(self, told: dict[str, float], counts: list[Counts], seconds: float, step: int) -> None:
        """What was learned and played in a generation."""
        games = max(sum(count.games for count in counts), 1)
        speeds = {"speed/simulations a second": "simulations", "speed/positions a second": "plies"}
        numbers = {_TAGS[name]: number for name, number in told.items()}
        numbers |= {
            tag: sum(getattr(count, name) for count in counts) / max(seconds, 1e-9) for tag, name in speeds.items()
        }
        if any(count.games for count in counts):
            numbers["games/won by the first player"] = sum(count.first_wins for count in counts) / games
            numbers["games/drawn"] = sum(count.draws for count in counts) / games
        with self._writing():
            for tag, number in numbers.items():
                self._writer.add_scalar(tag, number, step)

    def climb(self, climb: Climb, step: int, game: Game) -> None:
        """What the ladder said, and a game on it."""
        elo, low, high = climb.elo
        numbers = {"elo/ladder": elo, "elo/interval low": low, "elo/interval high": high}
        numbers |= {f"score/{rung}": result.score for rung, result in climb.results.items()}
        with self._writing():
            for tag, number in numbers.items():
                self._writer.add_scalar(tag, number, step)
            if climb.shown is not None and len(climb.shown):
                shown = some_of(climb.shown)
                add_boards(self._writer, f"game/against {list(climb.results)[-1]}", game, shown, step)

    def gate(self, result: Result, passed: bool, step: int) -> None:
        """How a match against the best went."""
        with self._writing():
            self._writer.add_scalar("gate/score", result.score, step)
            self._writer.add_scalar("gate/passed", float(passed), step)

    def end(self, config: PvConfig, told: dict[str, Any]) -> None:
        """The options and how strong they have made the network."""
        scores = {"end/elo": told["ladder"]["elo"]} if told["ladder"] else {}
        with self._writing():
            write_hparams(self._writer, asdict(config), {**scores, "end/games": told["games"]})

    def close(self) -> None:
        with self._writing():
            self._writer.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if not self._broken:
                print(f"TensorBoard: {error.strerror or error}; the run goes on without", file=sys.stderr)
            self._broken = True


def some_of(states: np.ndarray) -> np.ndarray:
    """Some positions of a game, from the first to the last."""
    return states[np.unique(np.linspace(0, len(states) - 1, _PICTURES).round().astype(int))]


def results_of(loop: Loop) -> dict[str, Any]:
    """What is in results.json: counts, and what the ladder said at the end and on the way."""
    now, network = loop.counters, loop.learner.network
    climbs = sorted(now.climbs, key=lambda climb: climb["generation"])
    return {
        "network": {"name": network.name, "options": network.options, "weights": network.weights},
        "generations": now.generation,
        "steps": loop.learner.steps,
        "games": now.games,
        "positions": loop.replay.added,
        "plies": now.plies,
        "simulations": now.simulations,
        "minutes": now.seconds / 60,
        "ladder": climbs[-1] if climbs else None,
        "climbs": climbs,
    }
