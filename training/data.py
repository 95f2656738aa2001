"""Data sets of self-play: a folder of shards and a manifest.json that says how to make it, again or to its end.

Game i of a source of maps follows from the seed, the source's text and i alone, and a shard holds a fixed range of
games. So whoever makes the same data set in the same folder goes on where it was left, whatever had happened, and the
number of processes changes nothing.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sandtable.matches.progress import Progress
from sandtable.training.locks import locked
from sandtable.training.manifest import MANIFEST, Recipe, git_commit, read_manifest, read_recipe, write_manifest
from sandtable.training.processes import in_processes
from sandtable.training.selfplay import MakeAgent, Players, record_dtype
from sandtable.training.shards import (
    Damaged,
    Facts,
    Shard,
    copy_clean,
    describe_dtype,
    read_facts,
    read_shard,
    write_shard,
)
from sandtable.version import __version__

if TYPE_CHECKING:
    from sandtable.envs.game import Game

_STARTS, _GAMES = 0, 1  # what random numbers are for


def play_shard(recipe: Recipe, game: Game, players: Players, shard: Shard, tell: Callable[[int], None]) -> np.ndarray:
    """The records of a shard's games."""
    numbers = np.arange(shard.first, shard.first + shard.games)
    colours = len(recipe.agents)
    source = recipe.maps[shard.source]
    starts = np.zeros(shard.games, game.dtype)
    game.fill(starts, _seeds(recipe, source, _STARTS, numbers // colours))
    seeds = _seeds(recipe, source, _GAMES, numbers)
    records = players.play(starts, seeds, numbers % colours == 1, tell)
    kept = records["ply"] % recipe.every == (seeds % np.uint64(recipe.every)).astype(np.int64)[records["game"]]
    records = records[kept]
    records["game"] += shard.first
    return copy_clean(records)


def _seeds(recipe: Recipe, source: str, purpose: int, numbers: np.ndarray) -> np.ndarray:
    name = int.from_bytes(hashlib.sha256(source.encode()).digest()[:8], "big")
    words = [np.random.SeedSequence([recipe.seed, name, purpose, int(i)]).generate_state(1, np.uint64) for i in numbers]
    return np.concatenate(words)


class Maker:
    """Makes shards in a process: games and agents are built at the first one that needs them."""

    def __init__(self, folder: Path, recipe: Recipe, make_agent: MakeAgent) -> None:
        self._folder, self._recipe, self._make_agent = folder, recipe, make_agent
        self._players: dict[int, Players] = {}

    @cached_property
    def _commit(self) -> str | None:
        return git_commit()

    def __call__(self, shard: Shard, tell: Callable[[int], None]) -> Facts:
        if shard.source not in self._players:
            game = self._recipe.make_games()[shard.source]
            self._players[shard.source] = Players(game, self._recipe.agents, self._make_agent)
        players = self._players[shard.source]
        try:
            records = play_shard(self._recipe, players.game, players, shard, tell)
        except (ValueError, RuntimeError) as error:
            raise RuntimeError(f"{self._recipe.maps[shard.source]}, games from {shard.first}: {error}") from error
        return write_shard(self._folder, shard, records, __version__, self._commit)


def _registered(spec: str) -> Any:
    from sandtable.agents.registry import make_agent

    return make_agent(spec)


def make_data(
    folder: Path,
    recipe: Recipe,
    workers: int | None = None,
    quiet: bool = True,
    make_agent: MakeAgent = _registered,
    start_method: str | None = None,
) -> Data:
    """Make the data set, or what is missing of it. workers: processes, all cores by default; 0: in this one.

    A folder with data of another recipe is refused. Damaged shards are told on stderr and made again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder, "data is being made here"):
        _begin(folder, recipe)
        missing = [shard for shard, sound in _looked_at(folder, recipe) if not sound]
        total = sum(recipe.games)
        with Progress(total, "games", quiet=quiet) as progress:
            progress.skip(total - sum(shard.games for shard in missing))
            made = in_processes(
                Maker(folder, recipe, make_agent), missing, workers, progress.advance, start_method=start_method
            )
            try:
                with closing(made):
                    for _ in made:
                        progress.tick()
            finally:
                _clear(folder)
        write_manifest(folder, recipe, [read_facts(folder, shard) for shard in recipe.shards])
    return open_data(folder)


def _begin(folder: Path, recipe: Recipe) -> None:
    """Write the manifest, or compare with the one that is there."""
    if (folder / MANIFEST).exists():
        there = read_recipe(folder)
        for option in fields(Recipe):
            ours, theirs = getattr(recipe, option.name), getattr(there, option.name)
            if ours != theirs:
                raise ValueError(
                    f"{folder} holds other data: {option.name} is {_told(theirs)} there, {_told(ours)} was asked for"
                )
        return
    if any(folder.glob("*.npy")):
        raise ValueError(f"{folder} holds .npy files without a {MANIFEST}: it is not a folder for data")
    write_manifest(folder, recipe, [])


def _told(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _looked_at(folder: Path, recipe: Recipe) -> Iterator[tuple[Shard, bool]]:
    """Every shard, and whether it is there and sound; a damaged one is told."""
    dtypes = [record_dtype(game) for game in recipe.make_games()]
    _clear(folder)
    for shard in recipe.shards:
        try:
            yield shard, read_shard(folder, shard, dtypes[shard.source]) is not None
        except Damaged as error:
            print(f"{error}: made again", file=sys.stderr)
            yield shard, False


def _clear(folder: Path) -> None:
    """Take away what killed processes left half-written."""
    for beside in folder.glob(".source-*"):
        beside.unlink(missing_ok=True)


@dataclass(frozen=True)
class Data:
    """A data set, or what there is of it, in memory only as far as it is looked at."""

    folder: Path
    recipe: Recipe
    games: list[Game]
    """The game on each source of maps."""
    shards: list[tuple[Shard, np.ndarray]]
    """Records (n,) of whole shards, by source and then by game."""
    fingerprint: str
    """The same for the same records."""

    @property
    def states(self) -> int:
        return sum(len(records) for _, records in self.shards)

    def column(self, name: str) -> np.ndarray:
        """A field of all records (states,), in their order; "source" is the number of their source of maps."""
        if name == "source":
            return np.concatenate([np.full(len(records), shard.source, np.int32) for shard, records in self.shards])
        return np.concatenate([records[name] for _, records in self.shards])

    @cached_property
    def _ends(self) -> np.ndarray:
        return np.cumsum([len(records) for _, records in self.shards])

    def take(self, rows: np.ndarray) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """The records of rows (n,), source by source: the source, where in `rows` they stand, and the records."""
        files = np.searchsorted(self._ends, rows, side="right")
        order = np.argsort(files, kind="stable")
        numbers, firsts = np.unique(files[order], return_index=True)
        found: dict[int, tuple[list[np.ndarray], list[np.ndarray]]] = {}
        for number, at in zip(numbers, np.split(order, firsts[1:]), strict=True):
            shard, records = self.shards[number]
            places, taken = found.setdefault(shard.source, ([], []))
            places.append(at)
            taken.append(records[rows[at] - (self._ends[number] - len(records))])
        return [(source, np.concatenate(at), np.concatenate(taken)) for source, (at, taken) in sorted(found.items())]


def open_data(folder: Path, complete: bool = True) -> Data:
    """The data set in a folder. complete: whether one with missing shards is refused."""
    manifest, recipe = read_manifest(folder), read_recipe(folder)
    games = recipe.make_games()
    dtypes = [record_dtype(game) for game in games]
    if manifest["records"] != [describe_dtype(dtype) for dtype in dtypes]:
        raise ValueError(f"{folder}: its records are of another version of sandtable ({manifest['sandtable']})")
    shards, marks = [], hashlib.sha256()
    for shard in sorted(recipe.shards, key=lambda shard: (shard.source, shard.first)):
        found = read_shard(folder, shard, dtypes[shard.source])
        if found is not None:
            shards.append((shard, found[0]))
            marks.update(f"{shard.name} {found[1].crc32} ".encode())
        elif complete:
            raise ValueError(f"{folder}: the data set is not complete, {shard.name} is missing; make it to its end")
    if not shards:
        raise ValueError(f"{folder}: not one shard is whole")
    return Data(folder, recipe, games, shards, marks.hexdigest()[:16])
