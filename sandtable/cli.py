"""What stands behind evaluate.py and train.py: options in, a tournament or a trainer, a table out.

Everything that is wrong with the options is told in one line, with exit code 2, before a game is played.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from sandtable.names import read_value

if TYPE_CHECKING:
    from sandtable.envs.game import Game
    from sandtable.matches.agreements import Agreements
    from sandtable.matches.tournament import Played, Tournament

BAD_INPUT, FAILED, INTERRUPTED = 2, 1, 130
"""Exit codes."""


class _Parser(argparse.ArgumentParser):
    """A parser that complains in one line, and looks for games and agents only when help is asked for."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: error: {' '.join(message.split())}\n")

    def format_help(self) -> str:
        from sandtable.agents.registry import agent_names
        from sandtable.envs.games import GAMES

        return f"{super().format_help()}\ngames: {', '.join(sorted(GAMES))}\nagents: {', '.join(agent_names())}\n"


def evaluate(argv: Sequence[str] | None = None) -> int:
    """Play agents against each other and print the table. Returns the exit code."""
    parser = _evaluate_parser()
    args = parser.parse_args(argv)
    try:
        game = _prepare(args)
    except (ValueError, TypeError, OSError) as error:
        parser.error(str(error))
    try:
        return _run(game, args)
    except KeyboardInterrupt:
        return INTERRUPTED


def _evaluate_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="evaluate.py",
        description="Let agents play each other: every pair, every start position, both colours.",
        epilog="Agents are given as NAME or NAME:KEY=VALUE,…, for example mcts:sims=200 or mcts:seconds=0.5.",
    )
    add = parser.add_argument
    add("--game", default="tubstap", metavar="NAME", help="the game (default: tubstap)")
    add("--map", metavar="NAME|PATH", help="a map or family of maps by name, or a map file (default: the game's)")
    add("--rules", metavar="NAME", help="a ruleset (default: the game's)")
    add(
        "--option",
        action="append",
        default=[],
        type=_key_and_value,
        metavar="KEY=VALUE",
        help="one option of the rules or of the map; may be given again (default: none)",
    )
    add("--agents", nargs="+", default=[], metavar="SPEC", help="two agents or more; the same one twice is a mirror")
    add("--games", type=_whole(1), default=100, metavar="N", help="games a pair, an even number (default: 100)")
    add("--seed", type=_whole(0), default=0, metavar="S", help="the same seed gives the same table (default: 0)")
    add(
        "--workers",
        type=_whole(0),
        metavar="N",
        help="processes that play; 0: in this one, for an agent that asks at the keyboard (default: all cores)",
    )
    add(
        "--time-limit",
        type=_seconds,
        metavar="SECONDS",
        help="an agent that thinks longer about one decision loses the game (default: none)",
    )
    add(
        "--tie-after",
        type=_whole(0),
        metavar="TURN",
        help="after this turn, a game is drawn when both agents see their chance of winning between 49%% and 51%%; "
        "agents without an opinion play on (default: never)",
    )
    add(
        "--surrender",
        type=_share_of_wins,
        metavar="SHARE",
        help="an agent gives up when the other sees a chance of winning of at least this, such as 0.99, and it sees "
        "for itself at most the rest (default: never)",
    )
    add("--record", type=Path, metavar="DIR", help="write a record of every game into this folder (default: none)")
    add("--json", type=Path, metavar="FILE", help="write the table as JSON into this file (default: none)")
    add("--show", action="store_true", help="print the first game move by move (default: no)")
    add("--quiet", action="store_true", help="no progress on stderr (default: show it)")
    return parser


def _prepare(args: argparse.Namespace) -> Game:
    """The game, after looking at every option that could be wrong."""
    from sandtable.agents.registry import check
    from sandtable.envs.games import make_game

    if len(args.agents) < 2:
        raise ValueError(f"--agents: at least two are needed, got {len(args.agents)}")
    options = dict(args.option)
    named = {"map": args.map, "rules": args.rules}
    for key in options:
        if key in named:
            raise ValueError(f"--option {key}=…: use --{key}")
    game = make_game(args.game, **{key: value for key, value in named.items() if value is not None}, **options)
    for spec in args.agents:
        check(spec, game)
    if args.json is not None and (args.json.is_dir() or not args.json.absolute().parent.is_dir()):
        raise ValueError(f"--json {args.json}: not a file in an existing folder")
    if args.record is not None:
        args.record.mkdir(parents=True, exist_ok=True)
    return game


def _run(game: Game, args: argparse.Namespace) -> int:
    from sandtable.matches.table import to_text
    from sandtable.matches.tournament import play_tournament

    if args.games % 2:
        print(f"--games {args.games}: playing {args.games + 1}, both colours of every position", file=sys.stderr)
    keeper = _Keeper(game, args)
    tournament = play_tournament(
        game,
        args.agents,
        args.games,
        args.seed,
        args.workers,
        args.time_limit,
        _agreements(args),
        record=args.show or args.record is not None,
        on_game=keeper,
        quiet=args.quiet,
    )
    if keeper.shown:
        print(keeper.shown)
    print(_heading(game, args), end="\n\n")
    print(to_text(tournament), end="")
    sys.stdout.flush()
    complete = all([keeper.report(), _write_json(tournament, game, args)])
    if tournament.interrupted:
        print(f"interrupted after {len(tournament.games)} games", file=sys.stderr)
        return INTERRUPTED
    return 0 if complete else FAILED


class _Keeper:
    """Takes each game as it ends: writes its record, keeps the text of the first, and lets go of the moves."""

    def __init__(self, game: Game, args: argparse.Namespace) -> None:
        self._game, self._args = game, args
        self._date = date.today().isoformat()
        self._trouble: list[str] = []
        self._unwritten = 0
        self.shown = ""

    def __call__(self, played: Played) -> None:
        if self._args.show and played.job.index == 0:
            from sandtable.matches.transcript import transcript

            self.shown = transcript(self._game, played, color=sys.stdout.isatty())
        if self._args.record is not None:
            self._write(played)
        played.result.history = None

    def _write(self, played: Played) -> None:
        from sandtable.matches.files import write_record

        try:
            self._unwritten += not write_record(self._game, played, self._args.record, self._date)
        except (OSError, ValueError) as error:
            # A tournament of hours goes on without a record.
            self._trouble.append(f"game {played.number}: {error}")

    def report(self) -> bool:
        """Say which records are missing; False if any could not be written."""
        if self._unwritten:
            print(f"{self._unwritten} games ended before a move was recorded and have no record", file=sys.stderr)
        if self._trouble:
            print(f"{len(self._trouble)} records could not be written, first {self._trouble[0]}", file=sys.stderr)
        return not self._trouble


def _write_json(tournament: Tournament, game: Game, args: argparse.Namespace) -> bool:
    from sandtable.matches.files import write_whole
    from sandtable.matches.table import to_json

    if args.json is None:
        return True
    setting: dict[str, Any] = {"game": args.game, **game.setting, "options": dict(args.option)}
    agreements = _agreements(args)
    setting |= {"time_limit": args.time_limit, "agreements": asdict(agreements) if agreements else None}
    text = json.dumps(to_json(tournament, **setting), indent=2, ensure_ascii=False)
    try:
        write_whole(args.json, text + "\n")
    except OSError as error:
        print(f"--json {args.json}: {error}", file=sys.stderr)
        return False
    return True


def _heading(game: Game, args: argparse.Namespace) -> str:
    """What was played, for the line above the table."""
    parts = [args.game, f"map {game.setting['map']}", f"rules {game.setting['rules']}"]
    games = args.games + args.games % 2
    agreements = _agreements(args)
    return f"{', '.join(parts)}: {games} games a pair, seed {args.seed}" + (f", {agreements}" if agreements else "")


def _agreements(args: argparse.Namespace) -> Agreements | None:
    from sandtable.matches.agreements import Agreements

    if args.tie_after is None and args.surrender is None:
        return None
    return Agreements(args.tie_after, args.surrender)


def _whole(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    return read


def _number(text: str) -> float:
    """The number in a text, NaN if there is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _seconds(text: str) -> float:
    value = _number(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


def _share_of_wins(text: str) -> float:
    value = _number(text)
    if not 0.5 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share above 0.5 and at most 1, such as 0.99")
    return value


def _key_and_value(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.isidentifier() or not value:
        raise argparse.ArgumentTypeError(f"{text!r} should be KEY=VALUE")
    return key, read_value(value)


def train(argv: Sequence[str] | None = None) -> int:
    """Train an agent. Returns the exit code."""
    from sandtable.agents.registry import agent_names
    from sandtable.names import unknown_name
    from sandtable.training import TRAINERS

    parser = _Parser(
        prog="train.py",
        description="Train an agent, or make what it learns from.",
        epilog=f"trained: {', '.join(TRAINERS)}; the options of each: --agent NAME --help",
        add_help=False,
        allow_abbrev=False,
    )
    parser.add_argument("--agent", metavar="NAME", help="what to train")
    parser.add_argument("-h", "--help", action="store_true", help="show this, or the options of a trainer")
    args, rest = parser.parse_known_args(argv)
    if args.agent in TRAINERS:
        module, function = TRAINERS[args.agent].split(":")
        return getattr(import_module(module), function)([*rest, *(["--help"] if args.help else [])])
    if args.help:
        parser.print_help()
        return 0
    if args.agent is None:
        parser.error("the following arguments are required: --agent")
    if args.agent in agent_names():
        parser.error(f"the agent {args.agent!r} needs no training; trained are: {', '.join(TRAINERS) or 'none yet'}")
    parser.error(unknown_name("agent", args.agent, [*agent_names(), *TRAINERS]))
