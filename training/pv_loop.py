"""Learning by self-play: while a generation of games is played, the network learns from the one before.

A run is the same whatever interrupts it. What is played follows from the weights that were handed out and the players'
states, what is learned from the positions, the seed and the generation. A checkpoint has all of it, and the generation
in flight as it was handed out. So a run that was killed and resumed hands it out again, and ends with the weights of
one that was left alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from sandtable.encoders.networks.files import SUFFIX, load_network, network_bytes
from sandtable.encoders.networks.registry import make_network
from sandtable.matches.files import written_whole
from sandtable.names import split_spec
from sandtable.training.ladder import Climb, Result
from sandtable.training.learner import Learner, NotFinite
from sandtable.training.locks import locked
from sandtable.training.pool import Pool, Tick, make_pool
from sandtable.training.pv_config import PvConfig
from sandtable.training.pv_report import Curves, Line, results_of
from sandtable.training.pv_tasks import Ascent, Match, Play, Played, Work
from sandtable.training.replay import Replay
from sandtable.training.run import Run, Stop, stop_when_asked
from sandtable.training.selfplay_pv import Counts, new_player
from sandtable.training.value import Diverged, Interrupted

if TYPE_CHECKING:
    from sandtable.encoders.networks.network import Network
    from sandtable.envs.game import Game

_ORDER = 3  # what random numbers are for


@dataclass
class Counters:
    """Where a run is. All of it goes into checkpoints."""

    generation: int = 0
    """Generations that were learned from."""
    games: int = 0
    plies: int = 0
    simulations: int = 0
    seconds: float = 0.0
    """Time of work, over all resumes."""
    accepted: int = 0
    """The generation after which the network that plays itself passed the gate."""
    climbs: list[dict[str, Any]] = field(default_factory=list)
    """What the ladder said, and after which generation."""


@dataclass(frozen=True)
class Flight:
    """A generation that is being played. The players' states are those before it."""

    generation: int
    network: bytes
    weights: list[float]


class Loop:
    """A run in its folder, from its config."""

    def __init__(self, config: PvConfig, run: Run, quiet: bool = True) -> None:
        torch.set_num_threads(config.threads)
        torch.manual_seed(config.seed)
        self.config, self.run = config, run
        self._work = Work(config)
        self.counters = Counters()
        self.learner = Learner(begin_network(config, self._work.games), config.learn_options, config.learning_device)
        self.replay = Replay(self._work.games, config.replay)
        self.states = [new_player(config.seed, worker) for worker in range(config.players)]
        self.flight: Flight | None = None
        self.ascent: tuple[int, bytes] | None = None
        """After which generation a network set out to climb the ladder, and which."""
        self.best = self._weights()
        """The network that passed the gate, where there is one; else the newest."""
        self.troubles: dict[str, str] = {}
        """What could not be written when it was last tried, and why."""
        self._landed: dict[int, Played] = {}
        self._judged: Result | None = None
        self._judge = config.players if config.ladder_every or config.gate else 0
        """The worker that climbs the ladder and plays matches. At the end all are free."""
        self._line = Line(config, self._seconds, quiet)
        self._before, self._began, self._saved = 0.0, time.monotonic(), -math.inf
        self._stop = Stop()
        self._pool: Pool

    # The run

    def learn(self) -> dict[str, Any]:
        """Learn to the end, from where the run is. What is in results.json then."""
        config = self.config
        with locked(self.run.folder, "a run is going on here"):
            found = self.run.checkpoints.latest()
            if found is not None:
                self._restore(found)
            self._before = self.counters.seconds
            self.curves = Curves(self.run, self.counters.generation)
            workers = max(config.players, self._judge + 1)
            try:
                pool = make_pool(self._work, workers, config.workers == 0)
                with pool as self._pool, stop_when_asked() as self._stop, self._line:
                    self._go()
                    return self._finish()
            finally:
                self.curves.close()

    def _go(self) -> None:
        if self.ascent is not None:
            self._pool.submit(self._judge, Ascent(self.ascent[1]))
            if self._judge < self.config.players:
                self._wait_for_ascent()
        if self.flight is not None:
            self._hand_out(self.flight)
        elif not self._is_over(self.counters.generation):
            self._take_off(self.counters.generation)
            self._save()
        while self.flight is not None:
            began = time.monotonic()
            flight, played = self.flight, self._land()
            self.states, self.flight = [one.state for one in played], None
            if not self._is_over(flight.generation + 1):
                self._take_off(flight.generation + 1)
            told = self._learn_from(played, flight.generation)
            self._pass_gate()
            self._tell(told, [one.counts for one in played], time.monotonic() - began)
            self._set_out()
            if self._stop.asked or time.monotonic() - self._saved >= self.config.checkpoint_seconds:
                self._save()
            self._leave_if_asked()

    def _is_over(self, generation: int) -> bool:
        """Whether the run ends before this generation."""
        config = self.config
        return bool(
            (config.generations and generation >= config.generations)
            or (config.minutes and self._seconds() >= 60 * config.minutes)
        )

    def _seconds(self) -> float:
        return self._before + time.monotonic() - self._began

    def _leave_if_asked(self) -> None:
        if self._stop.asked:
            told = "".join(f"; but {trouble}" for trouble in self.troubles.values())
            raise Interrupted(f"interrupted after generation {self.counters.generation}{told}")

    # Generations

    def _take_off(self, generation: int) -> None:
        """Hand out a generation, to be played by the network as it is now, or by the best where there is a gate."""
        network = self.best if self.config.gate else self._weights()
        self.flight = Flight(generation, network, self.config.weights_at(generation))
        self._hand_out(self.flight)

    def _hand_out(self, flight: Flight) -> None:
        for worker, state in enumerate(self.states):
            self._pool.submit(worker, Play(flight.network, state, flight.generation, flight.weights))

    def _land(self) -> list[Played]:
        """Wait for the generation; the players' answers in their order, whoever was first."""
        while len(self._landed) < self.config.players:
            self._take(self._tick_or_leave)
        landed, self._landed = self._landed, {}
        return [landed[worker] for worker in range(self.config.players)]

    def _take(self, tick: Tick) -> None:
        """Wait for the next answer of anybody."""
        worker, answer = self._pool.take(tick)
        if isinstance(answer, Played):
            self._landed[worker] = answer
        elif isinstance(answer, Climb):
            self._arrive(answer)
        else:
            self._judged = answer

    def _tick_or_leave(self) -> None:
        """Only where nothing is half done: what is in flight is handed out again."""
        self._line.tick()
        if self._stop.asked:
            self._save()
            self._leave_if_asked()

    def _learn_from(self, played: list[Played], generation: int) -> dict[str, float]:
        """Add positions to the replay and learn; the means of what is told of each step."""
        config, now = self.config, self.counters
        self.replay.add(
            [np.concatenate(of_source) for of_source in zip(*(one.positions for one in played), strict=True)]
        )
        for one in played:
            now.games += one.counts.games
            now.plies += one.counts.plies
            now.simulations += one.counts.simulations
        rng, rate = np.random.default_rng([config.seed, _ORDER, generation]), self._rate(generation)
        told: dict[str, list[float]] = {}
        due = int(self.replay.added * config.reuse / config.batch)
        while self.learner.steps < due:
            try:
                step = self.learner.step(self.replay.sample(rng, config.batch, config.symmetric), rate)
            except NotFinite as error:
                raise self._diverged(f"{error} (generation {generation})") from None
            for name, number in step.items():
                told.setdefault(name, []).append(number)
            self._line.tick()
        now.generation = generation + 1
        return {name: float(np.nanmean(numbers)) for name, numbers in told.items() if not np.isnan(numbers).all()}

    def _rate(self, generation: int) -> float:
        """The factor of the learning rate, by the schedule and how much of the run is over."""
        config = self.config
        shares = [generation / config.generations] if config.generations else []
        shares += [self._seconds() / (60 * config.minutes)] if config.minutes else []
        done = min(max(shares, default=0.0), 1.0)
        if config.schedule == "cosine":
            return (1 + math.cos(math.pi * done)) / 2
        if config.schedule == "steps":
            return 0.1 if done >= 0.75 else 0.3 if done >= 0.5 else 1.0
        return 1.0

    def _diverged(self, what: str) -> Diverged:
        kept = self.run.checkpoints.paths()
        return Diverged(f"{what}; the last good checkpoint is {kept[-1] if kept else 'none'}; a smaller --lr may help")

    def _weights(self) -> bytes:
        """The network as it is now."""
        tensors = self.learner.network.state_dict().values()
        if not all(bool(torch.isfinite(tensor).all()) for tensor in tensors if tensor.is_floating_point()):
            raise self._diverged(f"weights are no numbers any more after step {self.learner.steps}")
        now = self.counters
        return network_bytes(self.learner.network, generation=now.generation, steps=self.learner.steps, games=now.games)

    # The ladder and the gate

    def _set_out(self) -> None:
        """Let the network climb the ladder beside everything else, if it is time to."""
        every = self.config.ladder_every
        if not every or not self.config.ladder_games or self.counters.generation % every:
            return
        self._wait_for_ascent()
        self.ascent = self.counters.generation, self._weights()
        self._pool.submit(self._judge, Ascent(self.ascent[1]))

    def _wait_for_ascent(self, tick: Tick | None = None) -> None:
        while self.ascent is not None:
            self._take(tick or self._line.tick)

    def _arrive(self, climb: Climb) -> None:
        assert self.ascent is not None
        (generation, _), self.ascent = self.ascent, None
        self.counters.climbs.append({"generation": generation, **climb.to_json()})
        self.curves.climb(climb, generation, self._work.ladder_game)
        self._line.elo = climb.elo

    def _pass_gate(self) -> None:
        """Where there is a gate, take the network as the best if it scores enough against the one before."""
        config, now = self.config, self.counters
        if not config.gate or now.generation % config.gate_every:
            return
        self._wait_for_ascent()
        network = self._weights()
        self._pool.submit(self._judge, Match(network, self.best))
        while self._judged is None:
            self._take(self._line.tick)
        result, self._judged = self._judged, None
        if result.score >= config.gate:
            self.best, now.accepted = network, now.generation
        self.curves.gate(result, now.accepted == now.generation, now.generation)

    # What is told and kept

    def _tell(self, told: dict[str, float], counts: list[Counts], seconds: float) -> None:
        now = self.counters
        now.seconds = self._seconds()
        positions = sum(count.plies for count in counts)
        trained = self.learner.steps * self.config.batch / max(self.replay.added, 1)
        told |= {"age": self.replay.age(now.generation - 1), "replay": len(self.replay), "trained": trained}
        told |= {"norm": math.sqrt(sum(float(p.detach().square().sum()) for p in self.learner.network.parameters()))}
        self.curves.generation(told, counts, seconds, now.generation)
        self._line.show(now.generation, now.games, positions / max(seconds, 1e-9), told)

    def _save(self) -> None:
        """Write a checkpoint and the best network; if there is no room for them, say so and go on."""
        if not self.config.gate:
            self.best = self._weights()
        self.counters.seconds = self._seconds()
        content = {
            "learner": self.learner.state_dict(),
            "replay": self.replay.state_dict(),
            "counters": asdict(self.counters),
            "states": self.states,
            "flight": self.flight and {**asdict(self.flight), "network": _as_tensor(self.flight.network)},
            "ascent": self.ascent and {"generation": self.ascent[0], "network": _as_tensor(self.ascent[1])},
            "best": _as_tensor(self.best),
            "random": torch.get_rng_state(),
            "config": asdict(self.config),
        }
        with self._room_for("a checkpoint"):
            self.run.checkpoints.save(self.counters.generation, content)
            with written_whole(self.run.best) as file:
                file.write(self.best)
        self._saved = time.monotonic()

    @contextmanager
    def _room_for(self, what: str) -> Iterator[None]:
        """Go on without what a full disk has no room for, and say so."""
        try:
            yield
            self.troubles.pop(what, None)
        except OSError as error:
            self.troubles[what] = f"{what} could not be written: {error.strerror or error}"
            self._line.say(f"{self.run.folder}: {self.troubles[what]}; the run goes on")

    def _restore(self, content: dict[str, Any]) -> None:
        self.learner.load_state_dict(content["learner"])
        self.replay.load_state_dict(content["replay"])
        self.counters = Counters(**content["counters"])
        self.states = content["states"]
        if (flight := content["flight"]) is not None:
            self.flight = Flight(**flight | {"network": _as_bytes(flight["network"])})
        if (ascent := content["ascent"]) is not None and self.config.ladder_games:
            self.ascent = ascent["generation"], _as_bytes(ascent["network"])
        self.best = _as_bytes(content["best"])
        torch.set_rng_state(content["random"])
        if self.counters.climbs:
            self._line.elo = Climb.from_json(self.counters.climbs[-1]).elo

    def _finish(self) -> dict[str, Any]:
        """Climb the ladder with the newest network, unless it has just done so, and write the results."""
        self._save()
        self._wait_for_ascent(self._tick_or_leave)
        now, config = self.counters, self.config
        if config.ladder_games and not any(climb["generation"] == now.generation for climb in now.climbs):
            self.ascent = now.generation, self._weights()
            self._pool.submit(self._judge, Ascent(self.ascent[1]))
            self._wait_for_ascent(self._tick_or_leave)
        self._save()
        told = results_of(self)
        with self._room_for("results.json"):
            self.run.write_results(told)
        self.curves.end(config, told)
        return told


def begin_network(config: PvConfig, games: list[Game]) -> Network:
    """The network that a run begins with: fresh, or from a file."""
    if config.network.endswith(SUFFIX):
        network = load_network(Path(config.network))
    else:
        name, options = split_spec(config.network)
        network = make_network(name, games[0], **options)
    for game in games:
        network.check(game)
    if not network.has_policy:
        raise ValueError(
            f"--network: {network.name!r} has no policy over the moves of a state, so it cannot play itself"
        )
    return network


def _as_tensor(content: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(content), dtype=torch.uint8)


def _as_bytes(tensor: torch.Tensor) -> bytes:
    return tensor.numpy().tobytes()
