"""The frame of a recipe: a command whose stages keep their results, so that it goes on where it was after whatever
ended it.

A recipe is a function that takes a `Workshop` and a scale (a frozen dataclass of numbers) and answers the sections of a
page. `main` makes a command of it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from sandtable.matches.files import write_whole
from sandtable.matches.workers import available_cores
from sandtable.training.locks import locked
from sandtable.training.manifest import git_commit
from sandtable.training.options import Parser, one_of, whole
from sandtable.version import __version__

FAILED, INTERRUPTED = 1, 130
"""Exit codes."""
_RECIPE, _PAGE = "recipe.json", "page.md"


@dataclass(frozen=True)
class Stage:
    """What is kept of a stage that is over."""

    name: str
    result: Any
    """What came out, as JSON can hold it."""
    seconds: float
    """How long it took."""
    again: bool
    """Whether it had been begun before, by a process that was ended: what that one took is not in `seconds`."""
    version: str
    """Of sandtable, when it ended."""
    commit: str | None
    cores: int
    workers: int | None


class Workshop:
    """The folder of a recipe. Each stage leaves a file in `stages/`, and is not done again once it is there."""

    def __init__(self, folder: Path, seed: int = 0, workers: int | None = None, quiet: bool = True) -> None:
        self.folder, self.seed, self.workers, self.quiet = folder, seed, workers, quiet
        self.stages: list[Stage] = []
        """Those that are over, in the order of the recipe."""

    def begin(self, about: dict[str, Any]) -> None:
        """Write down what is made here, or compare with what is: another recipe, scale or seed is refused."""
        path = self.folder / _RECIPE
        about = json.loads(json.dumps(about))
        if not path.exists():
            (self.folder / "stages").mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps(about, indent=2, ensure_ascii=False) + "\n")
            return
        there = _read(path)
        for name, ours in about.items():
            if there.get(name) != ours:
                raise ValueError(
                    f"{self.folder} holds another recipe's results: {name} is {json.dumps(there.get(name))} there, "
                    f"{json.dumps(ours)} was asked for; choose another --out"
                )

    def stage(self, name: str, work: Callable[[], Any]) -> Any:
        """The result of a stage: what is kept of it, or what `work` answers now."""
        path = self.folder / "stages" / f"{name}.json"
        if not path.exists():
            self._do(name, path, work)
        self.stages.append(Stage(**_read(path)))
        return self.stages[-1].result

    def _do(self, name: str, path: Path, work: Callable[[], Any]) -> None:
        begun = path.with_suffix(".begun")
        again = begun.exists()
        begun.touch()
        self.tell(f"{name}{', going on' if again else ''}")
        began = monotonic()
        result = work()
        seconds = round(monotonic() - began, 3)
        stage = Stage(name, result, seconds, again, __version__, git_commit(), available_cores(), self.workers)
        write_whole(path, json.dumps(asdict(stage), indent=1, ensure_ascii=False) + "\n")
        begun.unlink(missing_ok=True)

    def tell(self, text: str) -> None:
        """A line on stderr, unless quiet."""
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)


def _read(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: damaged ({error}); take it away to have it made again") from None
    if not isinstance(told, dict):
        raise ValueError(f"{path}: damaged (not an object); take it away to have it made again")
    return told


Cook = Callable[[Workshop, Any], str]
"""From a workshop and a scale to the page."""


def main(name: str, description: str, scales: Mapping[str, Any], cook: Cook, argv: Sequence[str] | None = None) -> int:
    """The command of a recipe. Returns the exit code."""
    parser = make_parser(name, description, scales)
    args = parser.parse_args(argv)
    folder = args.out or Path("runs") / f"{name}-{args.scale}"
    workshop = Workshop(folder, args.seed, args.workers, args.quiet)
    scale = scales[args.scale]
    try:
        _require_torch()
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder, "a recipe is going on here"):
            workshop.begin({"recipe": name, "scale": args.scale, "seed": args.seed, "numbers": asdict(scale)})
            page = cook(workshop, scale)
            write_whole(folder / _PAGE, page)
    except (ValueError, TypeError, ImportError) as error:
        parser.error(str(error))
    except (KeyboardInterrupt, _interrupted()):
        print(f"interrupted: what is whole stays in {folder}; the same command goes on from there", file=sys.stderr)
        return INTERRUPTED
    except (OSError, RuntimeError) as error:
        told = f"{error.strerror or error}" if isinstance(error, OSError) else str(error)
        print(f"{folder}: {told}; what is whole stays, the same command goes on from there", file=sys.stderr)
        return FAILED
    print(page, end="")
    workshop.tell(f"\n{folder / _PAGE}")
    return 0


def make_parser(name: str, description: str, scales: Mapping[str, Any]) -> Parser:
    """The options of a recipe's command."""
    parser = Parser(
        prog=f"python -m sandtable.baselines.{name}",
        description=description,
        epilog="The same command in the same folder goes on where it was, after Ctrl-C, kill -9 or a full disk.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "--scale",
        type=one_of(*scales),
        default="quick",
        metavar="NAME",
        help="how large everything is: quick (about ten minutes on two cores), paper (the paper's numbers), or "
        "tiny (seconds, only to try the program) (default: quick)",
    )
    add("--out", type=Path, metavar="DIR", help=f"the folder of all results (default: runs/{name}-SCALE)")
    add("--workers", type=whole(0), metavar="N", help="processes; 0: all in this one (default: all cores)")
    add("--seed", type=whole(0), default=0, metavar="S", help="of data, weights and matches (default: 0)")
    add("--quiet", action="store_true", help="no progress on stderr (default: show it)")
    return parser


def _require_torch() -> None:
    from sandtable.encoders.networks.registry import need

    need("a recipe", "torch", "safetensors", "tensorboard")
    import torch

    torch.set_num_threads(1)  # processes that are forked must not find threads of torch at work


def _interrupted() -> type[BaseException]:
    """What a run raises that was asked to end; looked for only when something was raised, as it loads torch."""
    from sandtable.training.value import Interrupted

    return Interrupted
