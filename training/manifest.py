"""What a data set is made of, and the manifest.json that tells it."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandtable.envs.games import make_game
from sandtable.matches.files import write_whole
from sandtable.training.selfplay import record_dtype
from sandtable.training.shards import Facts, Shard, describe_dtype, shards_of
from sandtable.version import __version__

if TYPE_CHECKING:
    from sandtable.envs.game import Game

FORMAT = 1
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Recipe:
    """What a data set is made of. The same recipe gives the same data."""

    game: str
    """The game's name."""
    maps: tuple[str, ...]
    """The sources of maps, as make_game takes them."""
    games: tuple[int, ...]
    """How many games are played on each source."""
    agents: tuple[str, ...]
    """One agent plays itself; two play each other, every start with both colours."""
    rules: str | None = None
    """The ruleset, the game's own if None."""
    options: dict[str, Any] = field(default_factory=dict)
    """Single options of the rules or the maps."""
    seed: int = 0
    """What all random numbers follow from."""
    every: int = 1
    """Keep one state in so many of a game, the first drawn at random."""
    shard_games: int = 64
    """How many games a file holds; they are played side by side."""

    def __post_init__(self) -> None:
        if not self.maps or len(self.maps) != len(self.games):
            raise ValueError(f"{len(self.maps)} sources of maps need as many numbers of games, got {len(self.games)}")
        if len(set(self.maps)) < len(self.maps):
            raise ValueError(f"a source of maps is named twice: {', '.join(self.maps)}")
        if len(self.agents) not in (1, 2):
            raise ValueError(f"one agent or two play for data, got {len(self.agents)}")
        for name in ("every", "shard_games"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)} must be at least 1")
        if min(self.games) < 1:
            raise ValueError(f"games={min(self.games)} must be at least 1")
        if len(self.agents) == 2 and (odd := [n for n in (*self.games, self.shard_games) if n % 2]):
            raise ValueError(f"two agents play every start with both colours: {odd[0]} games are not an even number")

    def make_games(self) -> list[Game]:
        """The game on each source of maps."""
        named = {"rules": self.rules} if self.rules is not None else {}
        return [make_game(self.game, map=source, **named, **self.options) for source in self.maps]

    @property
    def shards(self) -> list[Shard]:
        """All files of the data set. They come source by source in turns, so that data cut short has all sources."""
        every = list(shards_of(self.games, self.shard_games))
        return sorted(every, key=lambda shard: (shard.first / self.games[shard.source], shard.source))

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Recipe:
        given: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in told.items()}
        return cls(**given)


def write_manifest(folder: Path, recipe: Recipe, facts: Sequence[Facts | None]) -> None:
    whole = [fact for fact in facts if fact is not None]
    names = ("games", "states", "wins", "draws", "losses")
    manifest = {
        "format": FORMAT,
        "recipe": asdict(recipe),
        "sandtable": {"version": __version__, "commit": git_commit()},
        "records": [describe_dtype(record_dtype(game)) for game in recipe.make_games()],
        "complete": bool(facts) and len(whole) == len(facts),
        "counts": {name: sum(getattr(fact, name) for fact in whole) for name in names},
    }
    write_whole(folder / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a data set; one that cannot be read is refused with the reason."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT:
            raise ValueError(f"it is of format {manifest['format']!r}, this version reads {FORMAT}")
        Recipe.from_json(manifest["recipe"])
    except FileNotFoundError:
        raise ValueError(f"{folder}: no data here (there is no {MANIFEST})") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path}: not the manifest of a data set: {error}") from None
    return manifest


def read_recipe(folder: Path) -> Recipe:
    """What the data set in a folder is made of."""
    return Recipe.from_json(read_manifest(folder)["recipe"])


def git_commit() -> str | None:
    """The commit of the checkout that this code stands in, if it does and git knows."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        folder = Path(__file__).resolve().parent
        ran = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10, check=True
        )
        return ran.stdout.strip() or None
    return None
