# SPDX-License-Identifier: MIT
"""Memory of the processes that run tasks: a limit, its peak, and one heap for all threads."""

from __future__ import annotations

import sys
from contextlib import suppress

from cffpy.tables.writers import library, prefer_small_memory

#: M_ARENA_MAX of glibc's malloc.h.
_ARENA_MAX = -8


def peak_memory() -> int:
    """The peak memory of this process in bytes; 0 where the system does not report it."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def bound_memory(most: int) -> None:
    """Let this process allocate at most this many bytes from now on; 0: any number.

    A capture that needs more fails with MemoryError, and has an entry that says so.
    """
    if not most:
        return
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if soft == resource.RLIM_INFINITY:
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def share_heap() -> None:
    """Have the threads of this process use one heap: for processes that only run tasks.

    glibc gives each thread an arena, and pyarrow has its own allocator. Little of what pyarrow's
    threads free between tasks is used again, so a worker's memory grew by half within 10,000
    captures. pyarrow must not have started its threads before.
    """
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):  # other C libraries have no arenas
            ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
    prefer_small_memory()
    if "pyarrow" in sys.modules:
        arrow = library("pyarrow")
        arrow.set_memory_pool(arrow.system_memory_pool())
