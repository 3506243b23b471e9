# SPDX-License-Identifier: MIT
"""Runs a function in a child process, so that all memory that it needs is free afterwards.

glibc keeps most of what a process has freed: objects that live on lie between freed ones.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import traceback
from typing import TYPE_CHECKING, NoReturn, TypeVar, cast

from cffpy.errors import CffpyError

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")

_PIECE = 1 << 16


class ChildDied(CffpyError):
    """The process ended without a result: it was killed."""


def run_in_child(work: Callable[[], Result]) -> Result:
    """Call ``work`` in a child process and wait for its end; returns what it returns.

    That can be pickled. What ``work`` raises is raised here. Raises ChildDied where the child was
    killed. Where the system is not Linux, or this process has other threads, which the child would
    lack, ``work`` runs in this process.
    """
    if sys.platform != "linux" or not hasattr(os, "fork") or _has_threads():
        return work()
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    watched, held = os.pipe()  # the child's end is closed when this process ends
    try:
        child = os.fork()
    except OSError:  # too many processes
        for descriptor in (reading, writing, watched, held):
            os.close(descriptor)
        return work()
    if not child:
        os.close(reading)
        os.close(held)
        _run(work, writing, watched)
    os.close(writing)
    os.close(watched)
    try:
        data = _read_all(reading)
        status = _wait(child)
        child = 0
    finally:
        os.close(held)
        os.close(reading)
        if child:  # interrupted
            os.kill(child, 9)
            _wait(child)
    return cast("Result", _result(data, status))


def _has_threads() -> bool:
    """Whether there are others, also such as libraries start and Python does not know of."""
    try:
        return len(os.listdir("/proc/self/task")) > 1
    except OSError:
        return True


def _read_all(pipe: int) -> bytes:
    content = bytearray()
    while piece := os.read(pipe, _PIECE):
        content += piece
    return bytes(content)


def _wait(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _result(data: bytes, status: int) -> object:
    """What the child returned; raises what it raised."""
    if status or not data:
        how = f"by signal {-status}" if status < 0 else f"with exit code {status}"
        raise ChildDied(f"the process that decodes captures ended {how}")
    is_problem, result = pickle.loads(data)
    if is_problem:
        raise result
    return result


# -- in the child -------------------------------------------------------------------------------


def _run(work: Callable[[], object], writing: int, watched: int) -> NoReturn:
    """Write what ``work`` returns or raises, and exit."""
    code = 1
    try:
        threading.Thread(target=_end_with, args=(watched,), daemon=True).start()
        data = _outcome(work)
        sys.stdout.flush()
        sys.stderr.flush()
        while data:
            data = data[os.write(writing, data) :]
        code = 0
    finally:
        os._exit(code)


def _end_with(watched: int) -> None:
    """End this process when its parent has ended, however that was."""
    os.read(watched, 1)
    os._exit(1)


def _outcome(work: Callable[[], object]) -> bytes:
    try:
        return pickle.dumps((False, work()))
    except BaseException as problem:
        problem.add_note(traceback.format_exc())
        try:
            data = pickle.dumps((True, problem))
            pickle.loads(data)  # of some, __init__ takes more than the message
        except Exception:
            kind = CffpyError if isinstance(problem, CffpyError) else RuntimeError
            data = pickle.dumps((True, kind(str(problem))))
        return data
