# SPDX-License-Identifier: MIT
"""A process that runs tasks one at a time, each part of a task in a child process of its own.

So the memory of what decodes is free when a library writes, and all of it after a task.

The pools of the standard library can wait for ever when a worker dies while another one starts, and
do not say which task the dead worker had. Here each worker has its own connection: it closes when
the worker ends, whatever the reason.
The memory of such a process has a limit, its peak is measured, and its threads share a heap.
"""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from cffpy.tables.child_process import ChildDied, run_in_child
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


if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from typing import TypeAlias

    from cffpy.index.model import Call, Done, Task

    Reply: TypeAlias = Done | Exception | None
    #: Runs a task, its parts by the second argument.
    Build: TypeAlias = Callable[[Task, Call], Done]

_Result = TypeVar("_Result")


class WorkerDied(Exception):
    """The process ended without an outcome."""


class WorkerProcess:
    """A process that runs tasks. ``connection`` can be read when ``outcome`` does not block."""

    def __init__(self) -> None:
        # libraries of the builder have threads, so it is not forked
        is_linux = sys.platform == "linux"
        context = get_context("forkserver") if is_linux else get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self._task: Task | None = None
        self._has_started = False

    def wait_until_started(self) -> None:
        """Wait until the process takes tasks; once. Raises WorkerDied."""
        self._receive()
        self._has_started = True

    def run(self, build: Build, task: Task) -> None:
        """Start a task; the process has none."""
        self._task = task
        # where the process has died, outcome() says so
        with suppress(OSError):
            self.connection.send((build, task))

    def outcome(self) -> Done | None:
        """The outcome of the task, None where the process has started only.

        Raises WorkerDied, and what the task raises.
        """
        if not self._has_started:
            self.wait_until_started()
            return None
        reply = self._receive()
        self._task = None
        if isinstance(reply, Exception):
            raise reply
        return reply

    @property
    def task(self) -> Task:
        """The task that runs, or that ran when the process died."""
        assert self._task is not None
        return self._task

    def end(self) -> None:
        """End the process. A task that runs is given up: its partition has no journal."""
        self.connection.close()
        if self._task is not None:
            self._process.kill()
        self._process.join()

    def _receive(self) -> Reply:
        try:
            reply: Reply = self.connection.recv()
        except (EOFError, OSError):
            raise WorkerDied from None
        return reply


def _serve(connection: Connection) -> None:
    """Run tasks until the connection closes, or the builder ends for any reason.

    Where a child process is killed, this one ends, too: the builder tries the task again.
    """
    if sys.platform != "linux":  # there, it has children, which cannot begin where threads are
        Thread(target=_end_with_builder, daemon=True).start()
    share_heap()
    # the builder decides what happens at Ctrl-C; its terminal sends that to all processes
    with suppress(EOFError, OSError, KeyboardInterrupt, ChildDied):
        connection.send(None)
        while True:
            build, task = connection.recv()
            connection.send(_reply(build, task))


def _reply(build: Build, task: Task) -> Reply:
    try:
        return build(task, _call_apart)
    except ChildDied:
        raise
    except Exception as problem:
        problem.add_note(traceback.format_exc())
        return problem


def _call_apart(work: Callable[[], _Result]) -> _Result:
    """Call a function in a child process, which ends with the builder."""

    def call() -> _Result:
        if sys.platform == "linux":
            Thread(target=_end_with_builder, daemon=True).start()
        return work()

    return run_in_child(call)


def _end_with_builder() -> None:
    builder = parent_process()
    if builder is not None:
        builder.join()
        os._exit(1)
