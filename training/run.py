"""The folder of a run: its config, checkpoints, what TensorBoard shows, and its results."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandtable.matches.files import write_whole
from sandtable.training.checkpoints import Checkpoints
from sandtable.training.options import to_json

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

CONFIG, RESULTS, BEST = "config.json", "results.json", "best.safetensors"


class Run:
    """A run in its folder. Begin it with `begin`, find it again by `Run(folder)`."""

    def __init__(self, folder: Path, keep: int = 2) -> None:
        self.folder = folder
        self.checkpoints = Checkpoints(folder / "checkpoints", keep)

    @property
    def config(self) -> Path:
        """The file with the run's config."""
        return self.folder / CONFIG

    @property
    def best(self) -> Path:
        """The file of the best network so far."""
        return self.folder / BEST

    def begin(self, config: Any) -> None:
        """Make the folder and write the config; a folder with another run is refused."""
        self.require_free()
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self.config, to_json(config))

    def require_free(self) -> None:
        """A ValueError if there is a run in the folder."""
        if self.config.exists():
            raise ValueError(
                f"{self.folder} holds a run already: --resume {self.folder} goes on, or choose another --out"
            )

    def require(self) -> None:
        """A ValueError if there is no run in the folder."""
        if not self.config.is_file():
            raise ValueError(f"{self.folder}: no run here (there is no {CONFIG})")

    def writer(self, step: int = 0) -> SummaryWriter:
        """What writes for TensorBoard. step: where the run goes on; what was written for later steps is purged."""
        from torch.utils.tensorboard import SummaryWriter

        return SummaryWriter(str(self.folder / "tensorboard"), purge_step=step + 1 if step else None)

    def write_results(self, results: dict[str, Any]) -> None:
        """Write the results as JSON."""
        write_whole(self.folder / RESULTS, json.dumps(results, indent=2, ensure_ascii=False) + "\n")


def write_hparams(writer: SummaryWriter, options: dict[str, Any], scores: dict[str, float]) -> None:
    """Tell TensorBoard's HPARAMS page which options led to which scores."""
    from torch.utils.tensorboard.summary import hparams

    plain = {name: value if isinstance(value, (bool, int, float)) else str(value) for name, value in options.items()}
    for summary in hparams(plain, scores):
        assert writer.file_writer is not None
        writer.file_writer.add_summary(summary)
    for name, score in scores.items():
        writer.add_scalar(name, score)


class Stop:
    """Whether somebody has asked the run to end."""

    asked = False


@contextmanager
def stop_when_asked() -> Iterator[Stop]:
    """Within the block, Ctrl-C and SIGTERM only ask, so that a step is never left half done; the second time they end
    it at once."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def ask(number: int, frame: Any) -> None:
        if stop.asked:
            raise KeyboardInterrupt
        stop.asked = True

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
