"""Damaged texts for fuzzing: what a slip of the hand, a bad copy or a broken disk does to a file."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

_NUMBERS = ("", "0", "1", "7", "11", "23", "99", "30001", "9" * 30, "-1", "+5", " 5 ", "٣", "1e3", "0x1", "1.5", "007")
_PIECES = (*"[];,/@*#=+ \0\n\t\ufeffé", "\r\n", "UNIT[", "MAP[0];", "nan")


def mutations(text: str, count: int, seed: int) -> Iterator[str]:
    """`count` damaged versions of a text, each with one to three faults; the same for the same seed."""
    rng = random.Random(seed)
    for _ in range(count):
        damaged = text
        for _ in range(rng.randint(1, 3)):
            damaged = rng.choice(_FAULTS)(damaged, rng)
        yield damaged


def _flip(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + chr(rng.randrange(256)) + text[at + 1 :]


def _delete(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + text[at + rng.choice((1, 1, 1, 5, 50)) :]


def _repeat(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    end = at + rng.choice((1, 1, 5, 30))
    return text[:end] + text[at:]


def _insert(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(_PIECES) + text[at:]


def _swap_parts(text: str, rng: random.Random) -> str:
    separator = rng.choice("\n;/ ,")
    parts = text.split(separator)
    i, j = rng.randrange(len(parts)), rng.randrange(len(parts))
    parts[i], parts[j] = parts[j], parts[i]
    return separator.join(parts)


def _renumber(text: str, rng: random.Random) -> str:
    numbers = list(re.finditer(r"[0-9]+", text))
    if not numbers:
        return text
    chosen = rng.choice(numbers)
    return text[: chosen.start()] + rng.choice(_NUMBERS) + text[chosen.end() :]


_FAULTS: tuple[Callable[[str, random.Random], str], ...] = (
    _flip, _delete, _repeat, _insert, _swap_parts, _renumber, _renumber,
)  # fmt: skip
