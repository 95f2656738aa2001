"""What a tournament leaves on disk. Every file is written beside its place and renamed: it is whole or not there."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from sandtable.matches.tournament import Played

if TYPE_CHECKING:
    from sandtable.envs.game import Game


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """A file to write into, which takes its place at the end of the with block; an error leaves nothing of it."""
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        # mkstemp keeps the file to its owner; this one is as readable as any other that the user writes.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(beside, 0o666 & ~umask)  # noqa: PTH101
        os.replace(beside, path)  # noqa: PTH105
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that nobody ever sees half of it."""
    with written_whole(path) as file:
        file.write(text.encode())


def record_name(played: Played, players: tuple[str, str], suffix: str) -> str:
    """For example 00007-position-002-red-greedy-blue-random.tbsrec."""
    sides = "-".join(f"{player}-{_plain(side.label)}" for player, side in zip(players, played.job.sides, strict=True))
    return f"{played.number:05d}-position-{played.job.position + 1:03d}-{sides}{suffix}"


def write_record(game: Game, played: Played, folder: Path, date: str) -> bool:
    """Write the record of a game in the game's own format. False when there were no moves or they were lost."""
    history = played.result.history
    if history is None or not history.moves:
        return False
    names = (played.job.sides[0].label, played.job.sides[1].label)
    text = game.record(history.states[:-1], history.moves, names, date)
    write_whole(folder / record_name(played, game.players, game.record_suffix), text)
    return True


def _plain(label: str) -> str:
    """A label as part of a file name, on any system."""
    return re.sub(r"[^A-Za-z0-9.]+", "_", label).strip("._")[:60]
