"""Where starts come from: a map of this project by name or anybody's map file, and how the land is dealt on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

import numpy as np

from sandtable.envs.jit import jit
from sandtable.envs.randomness import below, mix, random_word
from sandtable.envs.warzone.maps import check_map, load_map
from sandtable.envs.warzone.masks import only
from sandtable.envs.warzone.places import distances
from sandtable.envs.warzone.position import Map, Position
from sandtable.envs.warzone.state import set_board
from sandtable.names import unknown_name

_MAP_FOLDER = Path(__file__).parent / "maps"
SUFFIX = ".json"
STARTS = ("random", "fair", "map")

_MOST_ARMIES = 4  # a territory begins with 0 to 4
_A_SIDE = 2  # territories
_DEALT = 2 * _A_SIDE
_FAIR_DRAWS = 32


class Source(ABC):
    """A way to begin games on one map."""

    @abstractmethod
    def fill(self, states: np.ndarray, seeds: np.ndarray) -> None:
        """Write armies, owners and a coin into each of states (n,), drawn with its seed alone."""


class FixedSource(Source):
    """Always the same armies and owners; only the coins differ."""

    def __init__(self, armies: tuple[int, ...], owner: tuple[int, ...], turn: int = 0) -> None:
        self.armies, self.owner, self.turn = armies, owner, turn

    def fill(self, states: np.ndarray, seeds: np.ndarray) -> None:
        for state in states[:1]:
            set_board(state, self.armies, self.owner)
        for name in ("armies", "owner", "held"):
            states[name] = states[name][:1]
        states["turn"], states["coin"] = self.turn, seeds


class RandomSource(Source):
    """Every territory gets 0 to 4 armies, and each player two territories, all equally likely."""

    def __init__(self, map_: Map) -> None:
        _enough(map_)

    def fill(self, states: np.ndarray, seeds: np.ndarray) -> None:
        _deal_each(states, seeds)


class FairSource(Source):
    """Random starts that are the same for both: the two territories of each player hold the same two numbers of
    armies, and of 32 random choices of four territories that one is taken which divides the map most evenly.

    A choice divides the map by distance: each territory counts for the player who is nearer to it, and half for each
    where both are as near. It counts 1, and for each of its bonuses value / size more. The four territories
    are the players' in a random order, so that neither is preferred.
    """

    def __init__(self, map_: Map) -> None:
        _enough(map_)
        n = len(map_.territories)
        self._steps = distances(n, map_.edges)
        self._weight = np.ones(n)
        for bonus in map_.bonuses:
            self._weight[list(bonus.territories)] += bonus.value / len(bonus.territories)

    def fill(self, states: np.ndarray, seeds: np.ndarray) -> None:
        _deal_fairly_each(states, seeds, self._steps, self._weight)


@jit
def _draw_four(rng, n, four):
    """Write four different territories of n into four (4,)."""
    i = 0
    while i < _DEALT:
        four[i] = below(rng, n)
        fresh = True
        for j in range(i):
            fresh = fresh and four[j] != four[i]
        i += fresh


@jit
def _deal(state, rng, four):
    """Random armies everywhere, and the four territories to their owners."""
    for i in range(state.territories):
        state.armies[i] = below(rng, _MOST_ARMIES + 1)
    for i in range(_DEALT):
        side = i // _A_SIDE
        state.owner[four[i]] = side + 1
        state.held[side] |= only(four[i])
    state.coin = random_word(rng)


@jit
def _deal_each(states, seeds):
    rng, four = np.empty(1, np.uint64), np.empty(_DEALT, np.int64)
    for i in range(len(states)):
        rng[0] = mix(seeds[i])
        _draw_four(rng, states[i].territories, four)
        _deal(states[i], rng, four)


@jit
def _lead(four, steps, weight):
    """How much more of the map counts for the first player."""
    lead = 0.0
    for i in range(len(weight)):
        first, second = min(steps[i, four[0]], steps[i, four[1]]), min(steps[i, four[2]], steps[i, four[3]])
        lead += weight[i] if first < second else -weight[i] if second < first else 0.0
    return abs(lead)


@jit
def _deal_fairly_each(states, seeds, steps, weight):
    rng, four, best = np.empty(1, np.uint64), np.empty(_DEALT, np.int64), np.empty(_DEALT, np.int64)
    for i in range(len(states)):
        rng[0] = mix(seeds[i])
        least = np.inf
        for _ in range(_FAIR_DRAWS):
            _draw_four(rng, states[i].territories, four)
            lead = _lead(four, steps, weight)
            if lead < least:
                least = lead
                best[:] = four
        _deal(states[i], rng, best)
        for j in range(_A_SIDE):
            states[i].armies[best[_A_SIDE + j]] = states[i].armies[best[j]]


def _enough(map_: Map) -> None:
    n = len(map_.territories)
    if n < _DEALT:
        raise ValueError(f"a random start deals {_DEALT} territories, and this map has {n}: give it a start of its own")


def map_files() -> dict[str, Path]:
    """The maps of this project by name."""
    return {path.stem: path for path in sorted(_MAP_FOLDER.glob(f"*{SUFFIX}"))}


def source_names() -> list[str]:
    """Every name that `map=` takes, paths aside."""
    return list(map_files())


def find_map(map_: str | Path | Map) -> Map:
    """The map that is meant: a name, the path of a map file, or a map."""
    if isinstance(map_, Map):
        return check_map(map_)
    if not isinstance(map_, (str, Path)):
        raise TypeError(f"map must be a name, a path or a Map, got {type(map_).__name__}")
    if map_ in map_files():
        return load_map(map_files()[str(map_)])
    if str(map_).endswith(SUFFIX):
        return load_map(map_)
    raise ValueError(f"{unknown_name('map', str(map_), source_names())}, or the path of a {SUFFIX} file")


def make_source(map_: Map, start: str | Position) -> Source:
    """The source of starts on a map: "random", "fair", "map" (the map's own start), or always this position."""
    if isinstance(start, Position):
        return FixedSource(start.armies, start.owner, start.turn)
    if start == "random":
        return RandomSource(map_)
    if start == "fair":
        return FairSource(map_)
    if start != "map":
        raise ValueError(f"{unknown_name('start', start, STARTS)}, or a position")
    if map_.start is None:
        raise ValueError("start='map': this map has no start of its own")
    return FixedSource(map_.start.armies, map_.start.owner)
