# SPDX-License-Identifier: MIT
"""Runs ``python -m cffpy`` in forks of a process that has imported cffpy already.

Starting Python and importing what a command needs takes longer than most tests. A fork has streams,
environment, folder and exit code of its own, as a new process has: tests/test_new_processes.py
compares them.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

#: The fixture ``run_cffpy``: ``run_cffpy("info", path, input=b"", env={...})``.
Run = Callable[..., subprocess.CompletedProcess[bytes]]

CHECKOUT = Path(__file__).resolve().parent.parent

#: Modules that are left to the command: they import what takes long.
_NOT_IMPORTED = ("cffpy.tui",)

#: Python reads these when it starts, so a fork would not see a change.
_OF_THE_INTERPRETER = ("PYTHON", "LC_", "LANG")

_LONGEST_REQUEST = 1 << 17

IS_POSSIBLE = hasattr(os, "fork") and sys.platform.startswith("linux")


class CommandServer:
    """The client's side: starts the server, and has it run commands, one at a time."""

    def __init__(self) -> None:
        self._environment = dict(os.environ)
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(other.fileno())],
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                cwd=CHECKOUT,
            )

    def close(self) -> None:
        """End the server."""
        self._socket.close()
        self._process.wait(timeout=120)

    def can_run(self, environment: Mapping[str, str]) -> bool:
        """Whether a fork behaves as a new process with this environment."""
        return self._of_interpreter(environment) == self._of_interpreter(self._environment)

    @staticmethod
    def _of_interpreter(environment: Mapping[str, str]) -> dict[str, str]:
        return {
            name: value
            for name, value in environment.items()
            if name.startswith(_OF_THE_INTERPRETER)
        }

    def run(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        *,
        input: bytes | None = None,  # noqa: A002 - as in subprocess
        stdin: BinaryIO | None = None,
        cwd: str | os.PathLike[str] | None = None,
        check: bool = False,
        merge: bool = False,
        timeout: float,
    ) -> subprocess.CompletedProcess[bytes]:
        """As ``subprocess.run`` with ``capture_output``.

        ``merge``: standard error goes to standard output, as with ``2>&1``.
        """
        request = [list(arguments), dict(environment), os.fspath(cwd or os.getcwd())]
        with _Pipe() as source, _Pipe() as output, _Pipe() as errors:
            of_stdin = 0 if stdin is None else stdin.fileno()
            if input is not None:
                of_stdin = source.reading
            socket.send_fds(
                self._socket,
                [json.dumps(request).encode()],
                [of_stdin, output.writing, (output if merge else errors).writing],
            )
            source.begin_write(input or b"")
            output.begin_read()
            errors.begin_read()
            pid = int(self._socket.recv(32))
            if not select.select([self._socket], [], [], timeout)[0]:
                os.kill(pid, signal.SIGKILL)
                self._socket.recv(32)
                raise subprocess.TimeoutExpired(list(arguments), timeout)
            code = int(self._socket.recv(32))
            done = subprocess.CompletedProcess(
                [sys.executable, "-m", "cffpy", *arguments], code, output.end(), errors.end()
            )
        if check:
            done.check_returncode()
        return done


class _Pipe:
    """A pipe of which a thread reads or writes one end."""

    def __init__(self) -> None:
        self.reading, self.writing = os.pipe()
        self._data = b""
        self._thread: threading.Thread | None = None

    def __enter__(self) -> _Pipe:
        return self

    def __exit__(self, *_problem: object) -> None:
        if self._thread is not None:
            self._thread.join()
        for descriptor in (self.reading, self.writing):
            if descriptor >= 0:
                os.close(descriptor)

    def begin_write(self, data: bytes) -> None:
        """Write and close; the reader has its own copy of the other end."""
        os.close(self.reading)
        self.reading = -1

        def write() -> None:
            writing, self.writing = self.writing, -1
            try:
                with open(writing, "wb") as file:
                    file.write(data)
            except BrokenPipeError:
                pass  # the command ended before it read all

        self._thread = threading.Thread(target=write)
        self._thread.start()

    def begin_read(self) -> None:
        """Read until all copies of the other end are closed."""
        os.close(self.writing)
        self.writing = -1

        def read() -> None:
            reading, self.reading = self.reading, -1
            with open(reading, "rb") as file:
                self._data = file.read()

        self._thread = threading.Thread(target=read)
        self._thread.start()

    def end(self) -> bytes:
        """What was read."""
        assert self._thread is not None
        self._thread.join()
        return self._data


# -- the server -----------------------------------------------------------------------------------


def _import_all() -> None:
    import cffpy

    for module in pkgutil.walk_packages(cffpy.__path__, "cffpy."):
        if not module.name.startswith(_NOT_IMPORTED) and not module.name.endswith("__main__"):
            with suppress(ModuleNotFoundError):  # of an optional library: left to the command
                importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


def _serve(connection: socket.socket) -> tuple[Any, list[int]] | None:
    """Fork for each request. Returns the request in the fork, None at the end in the server."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(connection, _LONGEST_REQUEST, 3)
        if not message:
            return None
        pid = os.fork()
        if not pid:
            connection.close()
            return json.loads(message), descriptors
        for descriptor in descriptors:
            os.close(descriptor)
        connection.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        connection.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(request: Any, descriptors: list[int]) -> None:
    """Make this fork what a new process would be."""
    arguments, environment, folder = request
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    import cffpy.__main__

    sys.modules["__main__"] = cffpy.__main__
    sys.argv = [cffpy.__main__.__file__, *arguments]
    sys.path[0] = folder
    sys.stdin = sys.__stdin__ = _stream(0, "rb", sys.stdin)
    sys.stdout = sys.__stdout__ = _stream(1, "wb", sys.stdout)
    sys.stderr = sys.__stderr__ = _stream(2, "wb", sys.stderr)


def _stream(number: int, mode: str, before: Any) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        open(number, mode, closefd=False),
        encoding=before.encoding,
        errors=before.errors,
        newline=None if mode == "rb" else "\n",
        line_buffering=number == 2,
    )


def main() -> None:
    """Serve; each fork runs its command and ends as ``python -m cffpy`` does."""
    _import_all()
    found = _serve(socket.socket(fileno=int(sys.argv[1])))
    if found is None:
        return
    _become(*found)
    import cffpy.__main__

    try:
        cffpy.__main__.main()
    except SystemExit as ending:
        if not isinstance(ending.code, int):
            raise
        _leave(ending.code)
    _leave(0)


def _leave(code: int) -> NoReturn:
    """End without taking down all modules of the server: writing to their pages copies them."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(code)  # Python says what it could not write
    os._exit(code)


if __name__ == "__main__":
    main()
