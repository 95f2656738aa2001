"""Memory between layers: freed, asked for again, and so better kept."""

from __future__ import annotations

import ctypes
import os

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # the names of glibc's malloc.h
_KEPT, _FROM_HEAP = 256 * 2**20, 32 * 2**20
_ASKED = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "GLIBC_TUNABLES", "LD_PRELOAD")


def keep_freed_memory() -> bool:
    """Let this process keep up to 256 MB that it has freed, and say whether that could be done.

    A layer of a network takes some megabytes and frees them. glibc gives them back to the system, and the next layer
    asks for them again, page by page: without that, evaluations were up to 1.7 times as fast on a virtual machine.
    Other systems, and people who have told malloc what to do, are left alone.
    """
    if any(name in os.environ for name in _ASKED):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return mallopt(_TRIM_THRESHOLD, _KEPT) == 1 and mallopt(_MMAP_THRESHOLD, _FROM_HEAP) == 1
