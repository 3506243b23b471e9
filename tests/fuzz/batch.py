# SPDX-License-Identifier: MIT
"""Runs many cases in one child process, so that 10,000 of them take acceptable time.

A case that fails here, or ends the child, is run again in a separate process (``child.run``).
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from tests.fuzz.child import Limits, Outcome, problem_of

#: Bytes of output that a command may print.
_MAX_OUTPUT = 24 << 20


class _TooLong(BaseException):
    """The command has used up its time; ``except Exception`` does not catch it."""


def batch(limits: Limits, work: Callable[[], Iterator[tuple[int, dict]]]) -> Iterator[dict]:
    """What ``work`` yields in a child: (number, result) each; the number comes first, alone.

    Where the child dies, the last that comes is the number of the case that it died of. A child
    that sends nothing for ``limits.waiting`` seconds is ended: it waits for something, which takes
    no processor time.
    """
    read_end, write_end = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process == 0:
        os.close(read_end)
        _child(limits, work, write_end)
    os.close(write_end)
    rest = b""
    try:
        while select.select([read_end], [], [], limits.waiting)[0]:
            received = os.read(read_end, 1 << 16)
            if not received:
                return
            *lines, rest = (rest + received).split(b"\n")
            for line in lines:
                yield json.loads(line)
    finally:
        os.close(read_end)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def _child(limits: Limits, work: Callable[[], Iterator[tuple[int, dict]]], write_end: int) -> None:
    try:
        resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_OUTPUT, _MAX_OUTPUT))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        with os.fdopen(write_end, "w", encoding="utf-8", buffering=1) as results:
            for number, result in work():
                results.write(json.dumps({"number": number, **result}) + "\n")
    finally:
        os._exit(0)


def run_here(arguments: list[str], limits: Limits) -> Outcome:
    """Run ``cffpy`` with these arguments in this process, which must be used for nothing else.

    ``peak`` is what the command uses beyond what this process had before it (Linux; elsewhere the
    process's maximum).
    """
    from cffpy.__main__ import run

    before = _reset_peak()
    begin = time.process_time()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = -1
        stderr = ""
        with _redirected(out.fileno(), err.fileno()), _time_limit(limits.seconds):
            try:
                code = run(arguments)
                sys.stdout.flush()
            except SystemExit as problem:
                code = problem.code if isinstance(problem.code, int) else 0
            except _TooLong:
                stderr = "too much processor time"
            except BaseException as problem:
                stderr = f"Traceback (most recent call last)\n{type(problem).__name__}: {problem}"
        printed = os.fstat(out.fileno()).st_size
        out.seek(0)
        err.seek(0)
        stdout = bytearray(out.read(1 << 20))
        error_bytes = bytearray(err.read(1 << 20))
        if os.fstat(err.fileno()).st_size > 1 << 20:
            stderr = stderr or "flood on standard error"
    seconds = time.process_time() - begin
    text = error_bytes.decode("utf-8", "replace") + stderr
    whole = printed < 1 << 20
    problem = stderr if stderr and "Traceback" not in stderr else ""
    problem = problem or problem_of(arguments, code, text, stdout, error_bytes, whole)
    peak = max(0, _memory("VmHWM") - before)
    return Outcome(problem, code, seconds, peak, text[-2000:], printed)


def _reset_peak() -> int:
    """The bytes that this process has in memory now; resets its recorded maximum."""
    try:
        with open("/proc/self/clear_refs", "w") as control:
            control.write("5")
    except OSError:
        return 0
    return _memory("VmRSS")


def _memory(name: str) -> int:
    """A value in bytes of Linux's status of this process; elsewhere the maximum so far."""
    try:
        with open("/proc/self/status") as rows:
            return next(int(row.split()[1]) << 10 for row in rows if row.startswith(name))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@contextmanager
def _redirected(out: int, err: int) -> Iterator[None]:
    """Standard output and standard error are these files, for descriptors and for Python."""
    kept = [os.dup(number) for number in (1, 2)]
    before = sys.stdout, sys.stderr
    os.dup2(out, 1)
    os.dup2(err, 2)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        sys.stdout, sys.stderr = before
        for number, descriptor in zip((1, 2), kept, strict=True):
            os.dup2(descriptor, number)
            os.close(descriptor)


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
