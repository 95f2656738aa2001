"""What agents are asked: options that are looked at, and how long a search may think."""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable
from typing import Any

import numpy as np

_FIRST_CHUNK = 4
_MOST = 2**31 - 1  # of anything that is counted


def at_least(name: str, value: Any, least: float, kind: type = int) -> Any:
    """The option's value as `kind`, refused if it is another thing, too small or endless."""
    number = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    if not number or not least <= value <= _MOST or kind(value) != value:
        whole = "whole " if kind is int else ""
        raise ValueError(f"{name}={value!r} must be a {whole}number of at least {least} and at most {_MOST}")
    return kind(value)


def share(name: str, value: Any) -> float:
    """The option's value, refused unless it is a number from 0 to 1."""
    if at_least(name, value, 0.0, float) > 1.0:
        raise ValueError(f"{name}={value!r} must be a number from 0 to 1")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """The option's value, refused unless it is true or false."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={value!r} must be true or false")
    return bool(value)


class Budget:
    """What one decision may cost. With neither given, `default` simulations."""

    def __init__(self, sims: int | None, seconds: float | None, default: int) -> None:
        if sims is None and seconds is None:
            sims = default
        self.sims = None if sims is None else at_least("sims", sims, 1)
        self.seconds = None if seconds is None else at_least("seconds", seconds, 0.001, float)

    def spend(self, run: Callable[[int], None]) -> int:
        """Call run(n) until the budget is spent; how many simulations were run."""
        if self.seconds is None:
            assert self.sims is not None
            run(self.sims)
            return self.sims
        start = time.perf_counter()
        ran, chunk = 0, _FIRST_CHUNK
        while True:
            if self.sims is not None:
                chunk = min(chunk, self.sims - ran)
            run(chunk)
            ran += chunk
            spent = time.perf_counter() - start
            # Never plan further than half of what is left, so that a slow stretch cannot overrun by much.
            chunk = min(int(ran / spent * (self.seconds - spent) / 2), 16 * ran)
            if chunk < 1 or ran == self.sims:
                return ran
