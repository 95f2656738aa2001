"""What the workers of learning by self-play do: play a generation, climb the ladder, play a match.

A task has everything that its answer follows from, networks as the bytes of their files.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from sandtable.agents.registry import make_agent
from sandtable.encoders.networks.files import load_network
from sandtable.training.ladder import Climb, Result, climb, play_match
from sandtable.training.pv_config import PvConfig
from sandtable.training.selfplay_pv import Counts, play_generation

if TYPE_CHECKING:
    from sandtable.agents.policy import Policy
    from sandtable.envs.game import Game


@dataclass(frozen=True)
class Play:
    """Play a generation."""

    network: bytes
    state: dict[str, Any]
    """Of the player."""
    generation: int
    weights: list[float]
    """The shares of the sources of maps."""


@dataclass(frozen=True)
class Played:
    """The answer to that."""

    positions: list[np.ndarray]
    """For each source of maps."""
    state: dict[str, Any]
    """Of the player, afterwards."""
    counts: Counts


@dataclass(frozen=True)
class Ascent:
    """Climb the ladder; the answer is a Climb."""

    network: bytes


@dataclass(frozen=True)
class Match:
    """Play a network against another; the answer is a Result."""

    network: bytes
    opponent: bytes


class Work:
    """Does the tasks of a run. It keeps its games, which are slow to make."""

    def __init__(self, config: PvConfig) -> None:
        self.config = config

    @cached_property
    def games(self) -> list[Game]:
        return self.config.make_games()

    @cached_property
    def ladder_game(self) -> Game:
        return self.config.make_game(self.config.ladder_map or self.config.map[0])

    def __call__(self, task: Play | Ascent | Match) -> Played | Climb | Result:
        if isinstance(task, Play):
            return self._play(task)
        if isinstance(task, Ascent):
            with self._agent(task.network) as agent:
                return climb(self.ladder_game, agent, self.config.ladder_games, self.config.seed)
        # Two networks without chance would play the same game again and again.
        noise = self.config.noise
        with self._agent(task.network, noise) as agent, self._agent(task.opponent, noise) as opponent:
            return play_match(self.ladder_game, agent, opponent, self.config.gate_games, self.config.seed)

    def _play(self, task: Play) -> Played:
        with network_file(task.network) as path:
            network = load_network(path)
        options = self.config.play_options
        return Played(*play_generation(self.games, network, options, task.state, task.weights, task.generation))

    @contextmanager
    def _agent(self, network: bytes, noise: float = 0.0) -> Iterator[Policy]:
        """The agent of a network, with the search of the run."""
        search = asdict(self.config.search_options) | {"noise": noise}
        with network_file(network) as path:
            yield make_agent("pvmcts", weights=str(path), sims=self.config.ladder_sims, **search)


@contextmanager
def network_file(content: bytes) -> Iterator[Path]:
    """A file of a network for as long as the block lasts: files are looked at before anything is made of them."""
    with TemporaryDirectory(prefix="sandtable-") as folder:
        path = Path(folder) / "network.safetensors"
        path.write_bytes(content)
        yield path
