"""Self-play of the tree search with a network: many games side by side, some rounds of moves at a time.

A generation is a pure function of the network, the options and the player's state, in which games that go on are kept
from one generation to the next. So whoever plays it, and however often, it is the same.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from sandtable.agents.pvmcts import SearchOptions, draw, make_search
from sandtable.envs.game import random_game_each
from sandtable.envs.randomness import mix
from sandtable.training.replay import packed, position_dtype, positions, unpacked
from sandtable.training.selfplay import decision_seeds

if TYPE_CHECKING:
    from sandtable.encoders.networks.network import Network
    from sandtable.envs.game import Game

_FULL, _OPENING = np.uint64(11), np.uint64(12)
"""What draws of a game's seed are for."""


@dataclass(frozen=True)
class PlayOptions:
    """How self-play is played."""

    games: int = 128
    """Games side by side, of all sources of maps together."""
    rounds: int = 4
    """Moves of every game in a generation."""
    sims: int = 64
    """Simulations of a full search."""
    fast_sims: int = 16
    """Simulations of the others, whose policy is not learned."""
    full_share: float = 1.0
    """How many searches are full ones (playout-cap randomisation)."""
    temperature: float = 0.0
    """At the first move of a game, moves are drawn by visits ** (1 / temperature); 0: the best is played."""
    half_life: float = 10.0
    """After so many moves the temperature is half of that."""
    opening: int = 0
    """Games begin with 0 to so many random moves, which nobody learns from."""
    most_plies: int = 1_000
    """A game with so many moves ends as a draw."""
    search: SearchOptions = field(default_factory=SearchOptions)


@dataclass
class Counts:
    """What happened in a generation."""

    games: int = 0
    first_wins: int = 0
    draws: int = 0
    plies: int = 0
    simulations: int = 0
    seconds: float = 0.0


class _Table:
    """The games of one source that go on: states (n,), the games' numbers and plies, and their positions so far."""

    def __init__(self, game: Game, content: dict[str, Any] | None, word: np.uint64) -> None:
        self.game, self._word = game, word
        if content is None:
            self.states, self.open = np.zeros(0, game.dtype), np.zeros(0, position_dtype(game))
            self.numbers, self.plies, self.next = np.zeros(0, np.int64), np.zeros(0, np.int64), 0
        else:
            self.states = unpacked(content["states"], game.dtype)
            self.open = unpacked(content["open"], position_dtype(game))
            self.numbers, self.plies = content["numbers"].numpy().copy(), content["plies"].numpy().copy()
            self.next = int(content["next"])

    def content(self) -> dict[str, Any]:
        """Everything, as a checkpoint can hold it."""
        return {
            "states": packed(self.states),
            "open": packed(self.open),
            "numbers": torch.from_numpy(self.numbers.copy()),
            "plies": torch.from_numpy(self.plies.copy()),
            "next": self.next,
        }

    def seeds(self, numbers: np.ndarray) -> np.ndarray:
        """The seeds of games: what a game draws follows from its number alone."""
        return mix(mix(numbers.astype(np.uint64)) + self._word)

    def fill(self, wanted: int, opening: int) -> None:
        """Begin games until so many are running."""
        while len(self.states) < wanted:
            numbers = np.arange(self.next, self.next + wanted - len(self.states), dtype=np.int64)
            self.next += len(numbers)
            starts, seeds = np.zeros(len(numbers), self.game.dtype), self.seeds(numbers)
            self.game.fill(starts, seeds)
            if opening:
                draws = mix(seeds + _OPENING)
                room = np.empty(self.game.move_length, np.int16)
                for i in range(len(starts)):
                    plies = int(draws[i] % np.uint64(opening + 1))
                    random_game_each(starts[i : i + 1], draws[i : i + 1], plies, room, np.empty(1, np.int64))
            going = ~self.game.done(starts)
            self.states = np.concatenate([self.states, starts[going]])
            self.numbers = np.concatenate([self.numbers, numbers[going]])
            self.plies = np.concatenate([self.plies, np.zeros(int(going.sum()), np.int64)])


def play_generation(
    games: list[Game],
    network: Network | None,
    options: PlayOptions,
    state: dict[str, Any],
    weights: list[float],
    generation: int = 0,
) -> tuple[list[np.ndarray], dict[str, Any], Counts]:
    """Play some rounds. The positions of games that ended, for each source; the player's state then; what happened.

    state: of `new_player`, or what the last generation answered; weights: the sources' shares of the games.
    """
    counts = Counts()
    began = time.perf_counter()
    share = np.array(weights, float) / sum(weights)
    wanted = np.where(share > 0, np.maximum(np.rint(share * options.games), 1), 0).astype(int)
    ended, tables = [], []
    for source, game in enumerate(games):
        word = mix(np.array([state["seed"]], np.uint64) + np.uint64(source * 1_000_003 + state["worker"] + 1))[0]
        table = _Table(game, state["tables"].get(str(source)), word)
        ended.append(_play_source(table, network, options, int(wanted[source]), generation, counts))
        tables.append(table)
    counts.seconds = time.perf_counter() - began
    after = {**state, "tables": {str(source): table.content() for source, table in enumerate(tables)}}
    return ended, after, counts


def new_player(seed: int, worker: int) -> dict[str, Any]:
    """The state of a player before its first generation. worker: its number; each plays other games."""
    return {"seed": seed, "worker": worker, "tables": {}}


def _play_source(
    table: _Table, network: Network | None, options: PlayOptions, wanted: int, generation: int, counts: Counts
) -> np.ndarray:
    """Play the games of one source; the positions of those that ended."""
    game = table.game
    search = make_search(game, network, options.search)
    made = [table.open]
    over_numbers, over_outcomes = [np.zeros(0, np.int64)], [np.zeros(0)]
    for _ in range(options.rounds):
        table.fill(wanted, options.opening)
        if not len(table.states):
            break
        seeds = _decision_seeds(table.seeds(table.numbers), table.plies)
        full = (mix(seeds + _FULL) >> np.uint64(11)) * 2.0**-53 < options.full_share
        seen = game.view(table.states, seeds)
        found = search.run(seen, seeds, np.where(full, options.sims, options.fast_sims), full)
        records = positions(game, seen, found)
        records["owner"], records["full"], records["generation"] = table.numbers, full, generation
        made.append(records)
        heat = options.temperature * 0.5 ** (table.plies / options.half_life)
        chosen = draw(found, heat, seeds) if options.temperature > 0 else found.chosen
        table.states = game.play(table.states, found.rows[chosen])
        table.plies = table.plies + 1
        over = game.done(table.states) | (table.plies >= options.most_plies)
        outcomes = game.outcome(table.states[over])
        over_numbers.append(table.numbers[over])
        over_outcomes.append(outcomes)
        counts.games += len(outcomes)
        counts.first_wins += int((outcomes > 0).sum())
        counts.draws += int((outcomes == 0).sum())
        counts.plies += len(over)
        table.states, table.numbers, table.plies = table.states[~over], table.numbers[~over], table.plies[~over]
    counts.simulations += search.simulations
    numbers, outcomes = np.concatenate(over_numbers), np.concatenate(over_outcomes)
    everything = np.concatenate(made)
    order = np.argsort(numbers)
    place = np.searchsorted(numbers[order], everything["owner"])
    ended = place < len(numbers)
    ended[ended] = numbers[order][place[ended]] == everything["owner"][ended]
    table.open = everything[~ended]
    records = everything[ended]
    outcome = outcomes[order][place[ended]] if len(numbers) else np.zeros(0)
    records["outcome"] = np.where(records["player"] == 0, outcome, -outcome)
    return records


def _decision_seeds(seeds: np.ndarray, plies: np.ndarray) -> np.ndarray:
    """The seeds (n,) of decisions at these plies (n,)."""
    return decision_seeds(seeds + np.asarray(plies, np.uint64) * np.uint64(0x2545F4914F6CDD1D), 0)
