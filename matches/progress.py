"""A line on stderr that tells how far a long piece of work is: redrawn on a terminal, else a new one now and then."""

from __future__ import annotations

import sys
from shutil import get_terminal_size
from time import monotonic
from types import TracebackType
from typing import TextIO

REDRAW_SECONDS = 0.1
LINE_SECONDS = 10.0
_BAR = 24


class Progress:
    """Counts up to `total` things called `unit`. Use it in a with block; `quiet` shows nothing."""

    def __init__(self, total: int, unit: str = "games", stream: TextIO | None = None, quiet: bool = False) -> None:
        self.total, self.unit, self.quiet = total, unit, quiet
        self.done = 0
        self._skipped = 0
        self.note = ""
        self._stream = stream if stream is not None else sys.stderr
        self._terminal = self._stream.isatty()
        self._began = self._shown = monotonic()
        self._width = 0

    def __enter__(self) -> Progress:
        if self._terminal:
            self._show()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the terminal on a clean line."""
        if self._width and not self.quiet:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()

    def advance(self, by: int = 1, note: str | None = None) -> None:
        """`by` more are done; `note` is shown behind the numbers until there is another."""
        self.done += by
        self.note = self.note if note is None else note
        self.tick()

    def skip(self, count: int) -> None:
        """So many were done before: they count, and tell nothing about the speed."""
        self.done += count
        self._skipped += count

    def tick(self) -> None:
        """Show the line again if it is time to. Call it whenever waiting."""
        if monotonic() - self._shown >= (REDRAW_SECONDS if self._terminal else LINE_SECONDS):
            self._show()

    def line(self) -> str:
        """What is shown: share, count, speed, time left."""
        elapsed = max(monotonic() - self._began, 1e-9)
        done = self.done - self._skipped
        rate = done / elapsed
        left = clock((self.total - self.done) / rate) if done else "?"
        share = self.done / self.total if self.total else 1.0
        filled = int(share * _BAR)
        bar = f"[{'#' * filled}{'.' * (_BAR - filled)}] " if self._terminal else ""
        speed = f"{rate:.1f} {self.unit}/s" if rate >= 1 or not done else f"{1 / rate:.1f} s a {self.unit[:-1]}"
        text = f"{bar}{self.done}/{self.total} {self.unit}, {speed}, {clock(elapsed)} gone, {left} left"
        return f"{text}, {self.note}" if self.note else text

    def _show(self) -> None:
        self._shown = monotonic()
        if self.quiet:
            return
        text = self.line()
        if self._terminal:
            text = text[: get_terminal_size().columns - 1]
            self._stream.write("\r" + text.ljust(self._width))
            self._width = len(text)
        else:
            self._stream.write(text + "\n")
        self._stream.flush()


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
