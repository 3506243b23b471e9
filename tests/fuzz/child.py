# SPDX-License-Identifier: MIT
"""Runs one command in a child process with limits: output, exit, time and memory.

The child is a fork of this process, which has imported cffpy, so a case costs no more than its
command. Changes of memory, limits and output end with the child.
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import signal
import sys
import time
from typing import NamedTuple

#: Output after which a command may be stopped: it is not a hang.
ENOUGH = 24 << 20

#: Output on standard error that is a failure.
_MAX_STDERR = 1 << 20

_KEPT = 1 << 20

#: Characters that change the direction of text or end a line on a terminal.
_BIDI = "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

#: Commands that print captured bytes as the reference does, or bytes on purpose.
_RAW = ("dump", "crashdec", "asm", "disasm", "aubinator", "aubinator-error-decode")


class Limits(NamedTuple):
    """Of one command: bytes of address space, seconds of processor time and of waiting."""

    memory: int = 1536 << 20
    seconds: int = 20
    waiting: int = 200


class Outcome(NamedTuple):
    """How a command ended. ``problem``: what is wrong, "" if nothing."""

    problem: str
    code: int
    seconds: float
    peak: int
    stderr: str
    stdout_bytes: int


def run(arguments: list[str], limits: Limits, environment: dict[str, str]) -> Outcome:
    """Run ``cffpy`` with these arguments."""
    sys.stdout.flush()
    sys.stderr.flush()
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    process = os.fork()
    if process == 0:
        _child(arguments, limits, environment, out_write, err_write)
    os.close(out_write)
    os.close(err_write)
    streams = {out_read: bytearray(), err_read: bytearray()}
    counts = {out_read: 0, err_read: 0}
    waited = _collect(process, streams, counts, {out_read: ENOUGH, err_read: _MAX_STDERR}, limits)
    _, status, usage = os.wait4(process, 0)
    stderr = streams[err_read].decode("utf-8", "replace")
    problem = "" if waited else f"not done after {limits.waiting} seconds"
    if not problem and counts[err_read] > _MAX_STDERR:
        problem = "flood on standard error"
    code = os.waitstatus_to_exitcode(status)
    whole = counts[out_read] <= _KEPT
    problem = problem or problem_of(
        arguments, code, stderr, streams[out_read], streams[err_read], whole
    )
    return Outcome(
        problem,
        code,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss * 1024,
        stderr,
        counts[out_read],
    )


def _child(
    arguments: list[str], limits: Limits, environment: dict[str, str], out: int, err: int
) -> None:
    code = 99
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.closerange(3, 256)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
        resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))
        os.environ.update(environment)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
        sys.argv = ["cffpy", *arguments]
        from cffpy.__main__ import main

        try:
            main()
        except SystemExit as problem:
            code = problem.code if isinstance(problem.code, int) else 0
        sys.stdout.flush()
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 98
    finally:
        try:
            sys.stderr.flush()
        finally:
            os._exit(code)


def _collect(
    process: int,
    streams: dict[int, bytearray],
    counts: dict[int, int],
    most: dict[int, int],
    limits: Limits,
) -> bool:
    """Read both pipes to their ends; False where that took too long and the child was ended."""
    deadline = time.monotonic() + limits.waiting
    selector = selectors.DefaultSelector()
    for descriptor in streams:
        selector.register(descriptor, selectors.EVENT_READ)
    in_time = True
    while selector.get_map():
        ready = selector.select(max(0.0, deadline - time.monotonic()))
        if not ready and in_time:
            in_time = False
            os.kill(process, signal.SIGKILL)
            deadline = time.monotonic() + 5
            continue
        if not ready:
            break
        for key, _ in ready:
            data = os.read(key.fd, 1 << 16)
            counts[key.fd] += len(data)
            if len(streams[key.fd]) < _KEPT:
                streams[key.fd] += data
            if not data or counts[key.fd] > most[key.fd]:
                selector.unregister(key.fd)
                os.close(key.fd)
    selector.close()
    return in_time


def problem_of(
    arguments: list[str],
    code: int,
    stderr: str,
    stdout: bytearray,
    raw_stderr: bytearray,
    whole: bool,
) -> str:
    """What is wrong with how a command ended and with what it printed; "" for nothing."""
    return _ending(code, stderr) or _printed(
        arguments, stdout, raw_stderr, whole and code in (0, 1)
    )


def _ending(code: int, stderr: str) -> str:
    if "Traceback (most recent" in stderr:
        return "traceback: " + stderr.strip().rsplit("\n", 1)[-1][:200]
    if "internal error" in stderr:
        return stderr[stderr.index("internal error") :].split("\n", 1)[0][:200]
    if "error: out of memory" in stderr:
        return "out of memory"
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "too much processor time"
    if code < 0:
        return f"signal {signal.Signals(-code).name}"
    return "" if code in (0, 1, 2) else f"exit code {code}"


def _printed(arguments: list[str], stdout: bytearray, stderr: bytearray, whole: bool) -> str:
    """What is wrong with what a command printed: characters that a terminal obeys, broken JSON."""
    strange = _control(stderr.replace(b"\t", b""))
    if arguments[0] not in _RAW and not {"--svg", "--color"} & {*arguments}:
        strange = strange or _control(stdout)
    if strange:
        return f"prints the control character {strange}"
    if "--json" in arguments and whole and stdout:
        try:
            json.loads(stdout)
        except ValueError as problem:
            return f"JSON: {problem}"
    return ""


def _control(printed: bytearray) -> str:
    for character in printed.decode("utf-8", "replace"):
        number = ord(character)
        if (
            (number < 0x20 and character not in "\n\t")
            or 0x7F <= number < 0xA0
            or character in _BIDI
        ):
            return f"{number:#x}"
    return ""
