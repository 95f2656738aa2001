"""train.py --agent value: make data if there is none, train a value network on it, or go on with a run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sandtable.names import split_spec
from sandtable.training.data_cli import FAILED, INTERRUPTED, make
from sandtable.training.manifest import MANIFEST
from sandtable.training.options import Parser, add_options, build
from sandtable.training.run import Run
from sandtable.training.value_config import ValueConfig

_WITH_RESUME = ("data", "test_data", "threads", "workers")
"""Options that do not change what a run learns: data may have been moved."""


def main(argv: Sequence[str]) -> int:
    """Train a value network. Returns the exit code."""
    parser = _parser()
    given = vars(parser.parse_args(argv))
    file, out, resume, quiet = (given.pop(name) for name in ("config", "out", "resume", "quiet"))
    try:
        run, config = _resumed(resume, given, file, out) if resume else _begun(given, file, out)
        _require_torch()
    except (ValueError, TypeError, OSError, ImportError) as error:
        parser.error(str(error))
    if not (Path(config.data) / MANIFEST).exists() or config.self_play:
        try:
            recipe = config.recipe()
        except (ValueError, TypeError, OSError) as error:
            parser.error(f"{config.data} holds no data, so it has to be made: {error}")
        if code := make(parser, Path(config.data), recipe, config.workers, quiet):
            return code
    try:
        return _train(run, config, quiet)
    except ValueError as error:
        parser.error(str(error))
    except OSError as error:
        print(f"{run.folder}: {error.strerror or error}; --resume goes on from the last checkpoint", file=sys.stderr)
        return FAILED


def _parser() -> Parser:
    parser = Parser(
        prog="train.py --agent value",
        description="Train a value network on self-play: on the data in --data, made first if it is not there.",
        epilog=f"with --resume only {', '.join('--' + name.replace('_', '-') for name in _WITH_RESUME)} and --quiet",
    )
    add = parser.add_argument
    add("--config", type=Path, metavar="FILE", help="options from a JSON file, such as a run's own (default: none)")
    add("--out", type=Path, metavar="DIR", help="the run's folder (default: runs/value-NETWORK)")
    add("--resume", type=Path, metavar="DIR", help="go on with the run in this folder (default: a new run)")
    add("--quiet", action="store_true", help="no progress on stderr (default: show it)")
    add_options(parser, ValueConfig)
    return parser


def _begun(given: dict[str, Any], file: Path | None, out: Path | None) -> tuple[Run, ValueConfig]:
    """A new run, with everything looked at that could be wrong before data is made or read."""
    config = build(ValueConfig, given, file)
    if not config.network:
        raise ValueError("--network: which network is to be trained?")
    if not config.data:
        raise ValueError("--data: a folder is needed, with data or for it")
    _require_torch()
    import torch

    from sandtable.encoders.networks.registry import make_network

    torch.set_num_threads(config.threads)  # processes that are forked to play must not find threads of torch at work
    name, options = split_spec(config.network)
    make_network(name, None, **options)
    run = Run(out or Path("runs") / f"value-{name}", config.keep)
    run.require_free()
    return run, config


def _resumed(folder: Path, given: dict[str, Any], file: Path | None, out: Path | None) -> tuple[Run, ValueConfig]:
    changed = [name for name in given if name not in _WITH_RESUME]
    changed += [name for name, value in (("config", file), ("out", out)) if value is not None]
    if changed:
        raise ValueError(
            f"--resume goes on with the run's own config: --{changed[0].replace('_', '-')} cannot be changed"
        )
    run = Run(folder)
    run.require()
    config = replace(build(ValueConfig, {}, run.config), **given)
    run.checkpoints.keep = config.keep
    run.checkpoints.clear()
    return run, config


def _require_torch() -> None:
    from sandtable.encoders.networks.registry import need

    need("training", "torch", "safetensors", "tensorboard")


def _train(run: Run, config: ValueConfig, quiet: bool) -> int:
    from sandtable.training.value import Diverged, Interrupted
    from sandtable.training.value_report import accuracy_table
    from sandtable.training.value_run import learn

    try:
        told = learn(run, config, quiet)
    except Interrupted as stopped:
        print(f"{stopped}; --resume {run.folder} goes on", file=sys.stderr)
        return INTERRUPTED
    except Diverged as error:
        print(f"{run.folder}: {error}", file=sys.stderr)
        return FAILED
    print(f"{config.network}, {told['network']['weights']} weights, best after epoch {told['best_epoch']}\n")
    print(accuracy_table(told))
    print(f"\n{run.best}")
    return 0
