"""train.py --agent data: make a data set of self-play, or finish one."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandtable.training.manifest import Recipe
from sandtable.training.options import Parser, add_options, build, key_and_value, setting, specs, whole, wholes

FAILED, INTERRUPTED = 1, 130


@dataclass(frozen=True)
class DataConfig:
    """A data set: where it is, and what it is made of."""

    game: str = setting("tubstap", "the game", metavar="NAME")
    data: str = setting("", "the folder of the data set", metavar="DIR")
    self_play: tuple[str, ...] = setting(
        (), "who plays for the data: one agent itself, or two each other with both colours", specs, "AGENT[,AGENT]"
    )
    map: tuple[str, ...] = setting((), "sources of maps, by name or file", specs, "SOURCE[,SOURCE…]")
    games: tuple[int, ...] = setting((1000,), "games on every source, or one number for each", wholes, "N[,N…]")
    rules: str | None = setting(None, "a ruleset, the game's own if none", metavar="NAME")
    option: Mapping[str, Any] = setting(
        {}, "one option of the rules or of the map; may be given again", key_and_value, "KEY=VALUE", action="append"
    )
    data_seed: int = setting(0, "the same seed gives the same data", whole(0), "S")
    every: int = setting(1, "keep one state in so many of a game", whole(1), "N")
    shard_games: int = setting(64, "games in a file, played side by side", whole(1), "N")
    workers: int | None = setting(None, "processes that play; 0: in this one; none: all cores", whole(0), "N")

    def recipe(self) -> Recipe:
        """What the data set is made of; refused if agents or maps are wrong."""
        from sandtable.agents.registry import check

        if not self.self_play:
            raise ValueError("--self-play: which agents are to play?")
        if not self.map:
            raise ValueError("--map: where do they play? At least one source of maps is needed")
        games = self.games * len(self.map) if len(self.games) == 1 else self.games
        named = (
            self.map,
            games,
            self.self_play,
            self.rules,
            dict(self.option),
            self.data_seed,
            self.every,
            self.shard_games,
        )
        recipe = Recipe(self.game, *named)
        for game in recipe.make_games():
            for spec in recipe.agents:
                check(spec, game)
        return recipe


def main(argv: Sequence[str]) -> int:
    """Make a data set. Returns the exit code."""
    parser = Parser(prog="train.py --agent data", description="Make a data set of self-play, or finish one.")
    parser.add_argument("--config", type=Path, metavar="FILE", help="options from a JSON file (default: none)")
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr (default: show it)")
    add_options(parser, DataConfig)
    given = vars(parser.parse_args(argv))
    file, quiet = given.pop("config"), given.pop("quiet")
    try:
        config = build(DataConfig, given, file)
        if not config.data:
            raise ValueError("--data: a folder for the data set is needed")
        recipe = config.recipe()
    except (ValueError, TypeError, OSError) as error:
        parser.error(str(error))
    return make(parser, Path(config.data), recipe, config.workers, quiet)


def make(parser: Parser, folder: Path, recipe: Recipe, workers: int | None, quiet: bool) -> int:
    """Make a data set and say what it holds. Returns the exit code."""
    from sandtable.training.data import make_data

    try:
        data = make_data(folder, recipe, workers, quiet)
    except ValueError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print(f"interrupted: what is whole stays in {folder}; the same command goes on from there", file=sys.stderr)
        return INTERRUPTED
    except (OSError, RuntimeError) as error:
        told = f"{error.strerror or error}" if isinstance(error, OSError) else str(error)
        print(f"{folder}: {told}; what is whole stays, the same command goes on from there", file=sys.stderr)
        return FAILED
    print(f"{folder}: {data.states} states of {sum(recipe.games)} games")
    return 0
