"""Files of state records: each an .npy file for a fixed range of games, and beside it a .json file that describes it.

The description is written last, so a shard without one does not count. It has the records' checksum: a damaged file is
found out before anything is learned from it.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sandtable.matches.files import write_whole, written_whole

_CHUNK = 1 << 24


class Damaged(ValueError):
    """A shard that is not what it was when it was written; the text says which and why."""


@dataclass(frozen=True)
class Shard:
    """Which games a file holds."""

    source: int
    """The number of their source of maps."""
    first: int
    """Its first game of that source."""
    games: int
    """How many."""

    @property
    def name(self) -> str:
        return f"source-{self.source:02d}-game-{self.first:07d}"


@dataclass(frozen=True)
class Facts:
    """What is known about a whole shard without opening it."""

    games: int
    states: int
    wins: int
    """States from which the player to move went on to win."""
    draws: int
    losses: int
    crc32: int
    version: str
    """Of sandtable, when it was written."""
    commit: str | None


def shards_of(games: tuple[int, ...], size: int) -> Iterator[Shard]:
    """The shards of sources with so many games each, at most `size` games a shard."""
    for source, count in enumerate(games):
        for first in range(0, count, size):
            yield Shard(source, first, min(size, count - first))


def write_shard(folder: Path, shard: Shard, records: np.ndarray, version: str, commit: str | None) -> Facts:
    """Write the records of a shard's games."""
    signs = np.sign(records["outcome"])
    wins, draws, losses = (int((signs == sign).sum()) for sign in (1, 0, -1))
    content = io.BytesIO()  # numpy, writing into a file itself, would not tell why it could not
    np.save(content, records, allow_pickle=False)
    with written_whole(folder / f"{shard.name}.npy") as file:
        file.write(content.getbuffer())
    facts = Facts(shard.games, len(records), wins, draws, losses, checksum(records), version, commit)
    write_whole(folder / f"{shard.name}.json", json.dumps(asdict(facts)) + "\n")
    return facts


def read_facts(folder: Path, shard: Shard) -> Facts | None:
    """The description of a shard, or None before it is whole."""
    path = folder / f"{shard.name}.json"
    try:
        return Facts(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise Damaged(f"{path}: damaged ({error})") from None


def read_shard(folder: Path, shard: Shard, dtype: np.dtype) -> tuple[np.ndarray, Facts] | None:
    """The records (n,) of a shard, left on disk until they are looked at, or None before it is whole."""
    facts = read_facts(folder, shard)
    if facts is None:
        return None
    path = folder / f"{shard.name}.npy"
    try:
        records = np.load(path, mmap_mode="r" if facts.states else None, allow_pickle=False)
    except FileNotFoundError:
        raise Damaged(f"{path}: missing") from None
    except (ValueError, EOFError) as error:
        raise Damaged(f"{path}: damaged ({str(error).splitlines()[0]})") from None
    if describe_dtype(records.dtype) != describe_dtype(dtype):
        raise Damaged(f"{path}: its records are not those of this version and game")
    if records.shape != (facts.states,) or checksum(records) != facts.crc32:
        raise Damaged(f"{path}: damaged (its checksum is wrong)")
    return records.view(dtype), facts  # a file does not tell that fields are aligned, which compiled code must know


def copy_clean(records: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The same records (n,) with zeros between their fields, where else anything may stand: same games, same bytes."""
    clean = np.zeros(records.shape, records.dtype) if out is None else out
    for name in records.dtype.names or ():
        if records.dtype[name].names:
            copy_clean(records[name], clean[name])
        else:
            clean[name] = records[name]
    return clean


def checksum(records: np.ndarray) -> int:
    """CRC-32 of the records' bytes."""
    raw, crc = records.view(np.uint8).reshape(-1), 0
    for start in range(0, len(raw), _CHUNK):
        crc = zlib.crc32(raw[start : start + _CHUNK].data, crc)
    return crc


def describe_dtype(dtype: np.dtype) -> Any:
    """A record's fields as JSON can tell them."""
    return json.loads(json.dumps(np.lib.format.dtype_to_descr(dtype)))
