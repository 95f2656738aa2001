"""Where starts come from: the papers' generators and the maps of this project by name, or anybody's map file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sandtable.envs.tubstap.maps import check_map, load_map
from sandtable.envs.tubstap.position import Map, Position, Unit
from sandtable.envs.tubstap.scatter import Scatter
from sandtable.envs.tubstap.tables import (
    BLUE,
    CANNON,
    FOREST,
    FORTRESS,
    INFANTRY,
    MAX_HP,
    MOUNTAIN,
    PANZER,
    PLAIN,
    RED,
    ROAD,
    SEA,
    UNIT_LETTERS,
)
from sandtable.names import split_spec, unknown_name

if TYPE_CHECKING:
    from sandtable.envs.tubstap.game import Tubstap
    from sandtable.envs.tubstap.rulesets import Rules

_MAP_FOLDER = Path(__file__).parent / "maps"
SUFFIX = ".tbsmap"


class Source(ABC):
    """A family of starts on boards of one size."""

    width: int
    height: int
    units_a_side: int

    @abstractmethod
    def fill(self, game: Tubstap, states: np.ndarray, seeds: np.ndarray) -> None:
        """Write a start into each of states (n,), drawn with its seed alone."""


class FixedSource(Source):
    """Always the same map."""

    def __init__(self, map_: Map) -> None:
        self.map = check_map(map_)
        self.width, self.height = map_.width, map_.height
        self.units_a_side = max(sum(unit.team == team for unit in map_.units) for team in (RED, BLUE))
        self._starts: dict[Rules, np.void] = {}

    def fill(self, game: Tubstap, states: np.ndarray, seeds: np.ndarray) -> None:
        states[:] = self._start(game)

    def _start(self, game: Tubstap) -> np.void:
        if game.rules not in self._starts:
            self._starts[game.rules] = game.from_position(Position(self.map, game.rules))
        return self._starts[game.rules]


class ScatterSource(Source):
    """Random starts of a family."""

    def __init__(self, family: Scatter) -> None:
        self.family = family
        self.width, self.height, self.units_a_side = family.width, family.height, family.units_a_side

    def fill(self, game: Tubstap, states: np.ndarray, seeds: np.ndarray) -> None:
        self.family.fill(game.rules, states, seeds)


class LocalSearchSource(Source):
    """Li 2022: starts made fairer by play. Two MCTS players play a random start; while the same side wins, the
    winner loses or the loser gains 1 HP; it ends when the game is tied or the winner changes."""

    _MOST_CHANGES = 60  # then the start is hopeless and another one is drawn

    def __init__(self, family: Scatter, rollouts: int) -> None:
        if type(rollouts) is not int or rollouts < 1:
            raise ValueError(f"li-local-search: rollouts={rollouts!r} must be a whole number of at least 1")
        self.start = ScatterSource(family)
        self.width, self.height, self.units_a_side = family.width, family.height, family.units_a_side
        self.rollouts = rollouts

    def fill(self, game: Tubstap, states: np.ndarray, seeds: np.ndarray) -> None:
        # The late look-up of an agent by its name: rules know nothing of searches.
        from sandtable.agents.registry import make_agent

        player = make_agent(f"mcts:sims={self.rollouts},preset=li2022")
        for i, seed in enumerate(seeds):
            states[i] = self._search(game, player, np.random.default_rng(int(seed)))

    def _search(self, game: Tubstap, player: Any, rng: np.random.Generator) -> np.ndarray:
        while True:
            start = np.zeros(1, game.dtype)
            self.start.fill(game, start, rng.integers(0, 2**64, 1, np.uint64))
            first = self._play(game, player, start, rng)
            for _ in range(self._MOST_CHANGES):
                if first == 0 or not self._balance(start[0], RED if first > 0 else BLUE, rng):
                    break
                if self._play(game, player, start, rng) != first:
                    return start[0]
            if first == 0:
                return start[0]

    def _play(self, game: Tubstap, player: Any, start: np.ndarray, rng: np.random.Generator) -> float:
        player.reset(game, int(rng.integers(2**63)))
        state = start.copy()
        while not game.done(state)[0]:
            state = game.play(state, player.act(state).moves)
        return float(game.outcome(state)[0])

    def _balance(self, state: np.void, winner: int, rng: np.random.Generator) -> bool:
        """Take 1 HP from a unit of the winner or give 1 HP to one of the loser; False if neither is possible."""
        size = state["hp"].shape[0] // 2
        own, other = winner * size, (1 - winner) * size
        weaker = [(slot, -1) for slot in range(own, own + size) if state["hp"][slot] > 1]
        stronger = [(slot, 1) for slot in range(other, other + size) if 0 < state["hp"][slot] < MAX_HP]
        choices = weaker + stronger
        if not choices:
            return False
        slot, change = choices[rng.integers(len(choices))]
        state["hp"][slot] += change
        return True


def _both(*side: tuple[int, int, int]) -> tuple[tuple[tuple[tuple[int, int, int], ...], ...], ...]:
    return ((side, side),)


_LI_FORCE = _both((INFANTRY, 10, 10), (INFANTRY, 10, 10), (PANZER, 5, 5))
_LI_LIMIT, _KIMURA_LIMIT, _TAKAHASHI_LIMIT = 40, 16, 16


def _kimura_forces() -> tuple[tuple[tuple[tuple[int, int, int], ...], ...], ...]:
    soldier = (INFANTRY, 1, MAX_HP)
    return tuple(((soldier,) * red, (soldier,) * blue) for red, blue in ((1, 1), (1, 2), (2, 1), (2, 2)))


_MIXED_ARMIES = ("FAPURI", "IIPR", "IIPU", "PPRI", "AIIR", "FARI", "FAPI", "PURI", "IIPUR", "FAPRI", "AAPIR", "FFARII")
_MIXED_LIMIT = 24


def _mixed(size: int) -> Scatter:
    """Ours: every kind of unit and of terrain on a square board. Both sides have the same army, but not its HP."""
    armies = [tuple((UNIT_LETTERS.index(letter), 5, MAX_HP) for letter in army) for army in _MIXED_ARMIES]
    terrain = ((PLAIN, 0.45), (FOREST, 0.2), (MOUNTAIN, 0.1), (ROAD, 0.1), (FORTRESS, 0.05), (SEA, 0.1))
    return Scatter(size, size, _MIXED_LIMIT, tuple((army, army) for army in armies), terrain)


FAMILIES: dict[str, Scatter] = {
    "mixed-8": _mixed(8),
    "mixed-10": _mixed(10),
    "mixed-12": _mixed(12),
    "li-random": Scatter(8, 8, _LI_LIMIT, ((((INFANTRY, 1, 10),) * 3, ((INFANTRY, 1, 9),) * 3),)),
    "li-symmetric": Scatter(8, 8, _LI_LIMIT, _LI_FORCE, symmetric=True),
    "li-symmetric-10": Scatter(10, 10, _LI_LIMIT, _LI_FORCE, symmetric=True),
    "kimura-random": Scatter(6, 6, _KIMURA_LIMIT, _kimura_forces()),
    "takahashi-simple": Scatter(
        8,
        8,
        _TAKAHASHI_LIMIT,
        _both(*((INFANTRY, 6, 10),) * 3, (PANZER, 3, 5)),
        ((PLAIN, 0.3), (FOREST, 0.7)),
    ),
    "takahashi-complex": Scatter(
        8,
        8,
        _TAKAHASHI_LIMIT,
        _both(*((INFANTRY, 6, 10),) * 2, (PANZER, 3, 5), (CANNON, 3, 5)),
        ((PLAIN, 0.4), (FOREST, 0.3), (MOUNTAIN, 0.3)),
    ),
}


def _face_to_face(columns: range) -> Map:
    """Kimura 2020's open 6×6 maps: infantry on these columns of the top and the bottom row."""
    size = 6
    units = [Unit(x, y, INFANTRY, team, MAX_HP) for team, y in ((RED, 1), (BLUE, size)) for x in columns]
    return Map(((PLAIN,) * size,) * size, tuple(units), _KIMURA_LIMIT, 0)


# The figures' cells are not in the paper's text; from these nobody can attack in the first turn.
PAPER_MAPS = {"kimura-map01": _face_to_face(range(3, 5)), "kimura-map02": _face_to_face(range(2, 6))}

_LOCAL_SEARCH = "li-local-search"
_LOCAL_SEARCH_ROLLOUTS = 400  # the paper: 6,400
SOURCE_OPTIONS = ("rollouts",)
"""Options that some source of maps takes."""


def map_files() -> dict[str, Path]:
    """The maps of this project by name."""
    return {path.stem: path for path in sorted(_MAP_FOLDER.glob(f"*{SUFFIX}"))}


def source_names() -> list[str]:
    """Every name that `map=` takes, paths aside."""
    return [*FAMILIES, _LOCAL_SEARCH, *PAPER_MAPS, *map_files()]


def make_source(map_: str | Path | Map | Source, **options: Any) -> Source:
    """The source that `map_` names: a name, the path of a map file, a map, or a source already made."""
    if isinstance(map_, str) and not map_.endswith(SUFFIX):
        map_, given = split_spec(map_)
        options = {**given, **options}
    if map_ == _LOCAL_SEARCH:
        rollouts = options.pop("rollouts", _LOCAL_SEARCH_ROLLOUTS)
        _refuse(options, _LOCAL_SEARCH, ["rollouts"])
        return LocalSearchSource(Scatter(8, 8, _LI_LIMIT, _LI_FORCE), rollouts)
    _refuse(options, str(map_) if isinstance(map_, (str, Path)) else "this map", [])
    if isinstance(map_, Source):
        return map_
    if isinstance(map_, Map):
        return FixedSource(map_)
    if not isinstance(map_, (str, Path)):
        raise TypeError(f"map must be a name, a path or a Map, got {type(map_).__name__}")
    if map_ in FAMILIES:
        return ScatterSource(FAMILIES[str(map_)])
    if map_ in PAPER_MAPS:
        return FixedSource(PAPER_MAPS[str(map_)])
    if map_ in map_files():
        return FixedSource(load_map(map_files()[str(map_)]))
    if str(map_).endswith(SUFFIX):
        return FixedSource(load_map(map_))
    raise ValueError(f"{unknown_name('map', str(map_), source_names())}, or the path of a {SUFFIX} file")


def _refuse(options: dict[str, Any], name: str, valid: list[str]) -> None:
    for option in options:
        raise ValueError(unknown_name(f"option of the map {name}", option, valid))
