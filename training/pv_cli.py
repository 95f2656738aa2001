"""train.py --agent pvmcts: learn by self-play, or go on with a run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sandtable.matches.workers import available_cores
from sandtable.training.data_cli import FAILED, INTERRUPTED
from sandtable.training.options import Parser, add_options, build, read_config
from sandtable.training.pv_config import PRESETS, PvConfig, preset
from sandtable.training.run import Run

_WITH_RESUME = (
    "minutes",
    "generations",
    "threads",
    "device",
    "ladder_every",
    "ladder_games",
    "ladder_sims",
    "checkpoint_seconds",
    "keep",
)
"""Options that do not change what a generation learns."""


def main(argv: Sequence[str]) -> int:
    """Learn by self-play. Returns the exit code."""
    parser = _parser()
    given = vars(parser.parse_args(argv))
    names = ("config", "preset", "out", "resume", "quiet")
    file, named, out, resume, quiet = (given.pop(name) for name in names)
    try:
        _require_torch()
        if resume:
            run, config = _resumed(resume, given, {"config": file, "preset": named, "out": out})
        else:
            run, config = _begun(given, file, named, out)
    except (ValueError, TypeError, OSError, ImportError) as error:
        parser.error(str(error))
    try:
        return _learn(run, config, quiet)
    except ValueError as error:
        parser.error(str(error))
    except OSError as error:
        print(f"{run.folder}: {error.strerror or error}; --resume goes on from the last checkpoint", file=sys.stderr)
        return FAILED


def _parser() -> Parser:
    parser = Parser(
        prog="train.py --agent pvmcts",
        description="Learn a value and a policy by self-play of the tree search that uses them.",
        epilog=f"with --resume only {', '.join('--' + name.replace('_', '-') for name in _WITH_RESUME)} and --quiet",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--preset", metavar="NAME", help=f"settings by name: {', '.join(PRESETS)}; other options go first")
    add("--config", type=Path, metavar="FILE", help="options from a JSON file, such as a run's own (default: none)")
    add("--out", type=Path, metavar="DIR", help="the run's folder (default: runs/pvmcts-NETWORK)")
    add("--resume", type=Path, metavar="DIR", help="go on with the run in this folder (default: a new run)")
    add("--quiet", action="store_true", help="no progress on stderr (default: show it)")
    add_options(parser, PvConfig)
    return parser


def _begun(given: dict[str, Any], file: Path | None, named: str | None, out: Path | None) -> tuple[Run, PvConfig]:
    """A new run, with everything looked at that could be wrong before a game is played."""
    laid = {**(preset(named) if named else {}), **(read_config(PvConfig, file) if file else {}), **given}
    config = build(PvConfig, laid)
    if not config.network:
        raise ValueError("--network: which network is to be trained?")
    if not config.map:
        raise ValueError("--map: where is it played? At least one source of maps is needed")
    if not config.minutes and not config.generations:
        raise ValueError("--minutes, --generations: when does it end? One of them is needed")
    if config.workers is None:
        config = replace(config, workers=available_cores())  # a run has the same players wherever it goes on
    _require_sound(config)
    run = Run(out or Path("runs") / f"pvmcts-{Path(config.network.partition(':')[0]).stem}", config.keep)
    run.require_free()
    return run, config


def _require_sound(config: PvConfig) -> None:
    import torch

    from sandtable.agents.pvmcts import UNIFORM
    from sandtable.agents.registry import make_agent
    from sandtable.training.pv_loop import begin_network

    games = config.make_games()
    begin_network(config, games)
    search = make_agent("pvmcts", weights=UNIFORM, **asdict(config.search_options))
    for game in (*games, *([config.make_game(config.ladder_map)] if config.ladder_map else [])):
        search.check(game)
    try:
        torch.zeros(1, device=config.learning_device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"--device {config.device}: {str(error).splitlines()[0]}") from None


def _resumed(folder: Path, given: dict[str, Any], others: dict[str, Any]) -> tuple[Run, PvConfig]:
    changed = [name for name in given if name not in _WITH_RESUME]
    changed += [name for name, value in others.items() if value is not None]
    if changed:
        raise ValueError(
            f"--resume goes on with the run's own config: --{changed[0].replace('_', '-')} cannot be changed"
        )
    run = Run(folder)
    run.require()
    config = replace(build(PvConfig, {}, run.config), **given)
    run.checkpoints.keep = config.keep
    run.checkpoints.clear()
    return run, config


def _require_torch() -> None:
    from sandtable.encoders.networks.registry import need

    need("training", "torch", "safetensors", "tensorboard")


def _learn(run: Run, config: PvConfig, quiet: bool) -> int:
    from sandtable.training.ladder import Climb
    from sandtable.training.pool import TaskFailed
    from sandtable.training.pv_loop import Loop
    from sandtable.training.value import Diverged, Interrupted

    loop = Loop(config, run, quiet)
    if not run.config.exists():
        run.begin(config)
    try:
        told = loop.learn()
    except Interrupted as stopped:
        print(f"{stopped}; --resume {run.folder} goes on", file=sys.stderr)
        return INTERRUPTED
    except (Diverged, TaskFailed) as error:
        print(f"{run.folder}: {error}", file=sys.stderr)
        return FAILED
    played = f"{told['generations']} generations, {told['games']} games, {told['positions']} positions"
    print(f"{config.network}, {told['network']['weights']} weights: {played} in {told['minutes']:.1f} minutes\n")
    if told["ladder"]:
        print(Climb.from_json(told["ladder"]).to_text(), end="\n\n")
    print(run.best)
    for trouble in loop.troubles.values():
        print(f"{run.folder}: {trouble}", file=sys.stderr)
    return FAILED if loop.troubles else 0
