"""Checkpoints: everything that a run needs to go on, in files that are whole or not there, and never unpickled."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

from sandtable.matches.files import written_whole
from sandtable.matches.play import describe_error

FORMAT = 1
_PATTERN = "checkpoint-*.pt"


class Checkpoints:
    """The newest `keep` checkpoints of a run, in its folder.

    A checkpoint is a dictionary of tensors, numbers, texts, lists and dictionaries of them.
    """

    def __init__(self, folder: Path, keep: int = 2) -> None:
        self.folder, self.keep = folder, keep

    def save(self, step: int, content: dict[str, Any]) -> Path:
        """Write the checkpoint of a step, and take away those that are too old."""
        import torch

        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"checkpoint-{step:09d}.pt"
        memory = io.BytesIO()  # torch, writing into a file itself, would not tell why it could not
        torch.save({"format": FORMAT, "step": step, **content}, memory)
        with written_whole(path) as file:
            file.write(memory.getbuffer())
        for old in self.paths()[: -self.keep]:
            old.unlink(missing_ok=True)
        return path

    def paths(self) -> list[Path]:
        """The checkpoints that are there, oldest first."""
        return sorted(self.folder.glob(_PATTERN))

    def latest(self) -> dict[str, Any] | None:
        """The newest checkpoint that can be read, or None before the first. Damaged ones are told on stderr."""
        paths = self.paths()
        for path in reversed(paths):
            try:
                return load_checkpoint(path)
            except ValueError as error:
                print(error, file=sys.stderr)
        if paths:
            raise ValueError(f"{self.folder}: not one of its {len(paths)} checkpoints can be read")
        return None

    def clear(self) -> None:
        """Take away what a killed process left half-written."""
        for beside in self.folder.glob(f".{_PATTERN}.*"):
            beside.unlink(missing_ok=True)


def load_checkpoint(path: Path) -> dict[str, Any]:
    """The content of a checkpoint; a file that is none is refused with the reason."""
    import torch

    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise ValueError(f"{path}: there is no such file") from None
    except Exception as error:
        raise ValueError(f"{path}: not a checkpoint, or damaged ({describe_error(error)[:100]})") from None
    found = content.get("format") if isinstance(content, dict) else None
    if found != FORMAT:
        raise ValueError(f"{path}: not a checkpoint of format {FORMAT} (it says {found!r})")
    return content
