"""The one place that knows how numba compiles and caches here.

`jit` compiles without the GIL and caches machine code on disk. Numba notices that a cached function's own
file changed, but not that a file it calls into or takes constants from did; so the cache lives in a folder named by
a hash of all sources in the rooms with compiled code, and an edit is never answered by old machine code.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.extending import overload

F = TypeVar("F", bound=Callable[..., Any])

_ROOMS = ("envs", "encoders", "agents")
_FORGET_AFTER_DAYS = 30
_OURS = re.compile(r"code-[0-9a-f]{16}")  # other people's folders may stand beside ours


def _sources() -> list[Path]:
    package = Path(__file__).resolve().parent.parent
    return sorted(path for room in _ROOMS for path in (package / room).rglob("*.py"))


@lru_cache
def cache_folder() -> str:
    """The folder of this version's machine code: $SANDTABLE_CACHE or the user's cache folder, then a hash."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in _sources():
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    for base in (os.environ.get("SANDTABLE_CACHE"), _user_cache(), _private_temporary()):
        if not base:
            continue
        folder = Path(base) / f"code-{digest.hexdigest()[:16]}"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.utime(folder)
        except OSError:
            continue
        _forget_old(folder)
        return str(folder)
    return tempfile.mkdtemp(prefix="sandtable-")


def _user_cache() -> str:
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sandtable")  # noqa: PTH118, PTH111


def _private_temporary() -> str | None:
    """A folder in the temporary directory that belongs to this user alone: cached code is trusted when loaded."""
    if not hasattr(os, "getuid"):
        return None
    folder = Path(tempfile.gettempdir()) / f"sandtable-{os.getuid()}"
    try:
        folder.mkdir(exist_ok=True, mode=0o700)
        mine = folder.stat()
    except OSError:
        return None
    return str(folder) if mine.st_uid == os.getuid() and not mine.st_mode & 0o077 else None


def _forget_old(current: Path) -> None:
    """Remove the machine code of versions that nobody has started for a month."""
    limit = time.time() - _FORGET_AFTER_DAYS * 86_400
    for folder in current.parent.iterdir():
        # Others may be clearing up as well: what is gone already is no trouble.
        with suppress(OSError):
            if folder != current and _OURS.fullmatch(folder.name) and folder.stat().st_mtime < limit:
                shutil.rmtree(folder, ignore_errors=True)


def jit(function: F) -> F:
    """Compile `function`, without the GIL, cached across processes."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = cache_folder()
    try:
        # The place of the cache is fixed when the function is decorated: other people's code keeps its own.
        return numba.njit(cache=True, nogil=True)(function)
    finally:
        numba.config.CACHE_DIR = before


def answer(question: Callable[..., Any], of: Callable[[Any], bool], body: Any) -> None:
    """Let the compiled `body` answer `question` (a function of game.py) for the states whose type is `of` a game."""
    code = question.__code__
    parameters = code.co_varnames[: code.co_argcount]
    # Numba compares parameter names, so each form of question is written out.
    forms = {
        ("state",): lambda state: (lambda state: body(state)) if of(state) else None,
        ("state", "out"): lambda state, out: (lambda state, out: body(state, out)) if of(state) else None,
        ("state", "move"): lambda state, move: (lambda state, move: body(state, move)) if of(state) else None,
        ("state", "word"): lambda state, word: (lambda state, word: body(state, word)) if of(state) else None,
        ("state", "rng"): lambda state, rng: (lambda state, rng: body(state, rng)) if of(state) else None,
        ("state", "plan", "move"): lambda state, plan, move: (
            (lambda state, plan, move: body(state, plan, move)) if of(state) else None
        ),
        ("state", "side", "rng", "plan"): lambda state, side, rng, plan: (
            (lambda state, side, rng, plan: body(state, side, rng, plan)) if of(state) else None
        ),
        ("state", "mine", "theirs", "rng", "move"): lambda state, mine, theirs, rng, move: (
            (lambda state, mine, theirs, rng, move: body(state, mine, theirs, rng, move)) if of(state) else None
        ),
        ("state", "rng", "move"): lambda state, rng, move: (
            (lambda state, rng, move: body(state, rng, move)) if of(state) else None
        ),
    }
    overload(question)(forms[parameters])
