"""A folder that one process at a time writes into."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: whoever starts two has been careless
    fcntl = None  # type: ignore[assignment]

_PATIENCE = 5.0  # the workers of a process that was killed hold its lock until they notice


@contextmanager
def locked(folder: Path, what: str) -> Iterator[None]:
    """Keep others out of the folder. Who comes second is told that `what`, already. The lock goes with its process."""
    if fcntl is None:
        yield
        return
    with (folder / ".lock").open("w") as file:
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() > until:
                    raise ValueError(f"{folder}: {what} already, by another process") from None
                time.sleep(0.1)
        yield
