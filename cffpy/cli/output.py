# SPDX-License-Identifier: MIT
"""Where output goes: colour, pager, big raw output, errors, exit codes.

Data goes to standard output, everything else to standard error. rich and subprocess are imported
only when needed.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import Popen
    from types import TracebackType
    from typing import IO, Any, BinaryIO

    from rich.console import Console

    from cffpy.layout import BytesLike

EXIT_OK = 0
EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130

_UNBOUNDED = 4096  # columns
_LESS_FLAGS = "FRSMKX"  # as the reference: quit if short, raw colours, chop lines, keep the screen


def is_terminal(stream: IO[Any] | None) -> bool:
    """True if the stream is a terminal; False for a closed or missing one."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def use_colour(flag: bool | None = None, stdout: IO[Any] | None = None) -> bool:
    """Whether to colour standard output; the only place that decides it.

    In order of precedence: the flag; a non-empty NO_COLOR, FORCE_COLOR or CLICOLOR_FORCE; whether
    standard output is a terminal that is not ``dumb``.
    """
    if flag is not None:
        return flag
    environment = os.environ
    if environment.get("NO_COLOR"):
        return False
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        if environment.get(name, "") not in ("", "0"):
            return True
    return is_terminal(sys.stdout if stdout is None else stdout) and (
        environment.get("TERM") != "dumb"
    )


def console(colour: bool | None = None) -> Console:
    """A rich console on standard output with the colour decision applied."""
    from rich.console import Console

    colour = use_colour(colour)
    terminal = is_terminal(sys.stdout)
    return Console(
        force_terminal=True if colour else None,
        color_system="auto" if colour and terminal else ("standard" if colour else None),
        no_color=not colour,
        highlight=False,
        width=None if terminal else _UNBOUNDED,  # do not wrap lines in files and pipes
    )


def pager_command() -> str | None:
    """The pager as a shell command: CFFPY_PAGER, PAGER, else less; None for no pager."""
    for name in ("CFFPY_PAGER", "PAGER"):
        chosen = os.environ.get(name)
        if chosen is not None:
            return None if chosen.strip() in ("", "cat") else chosen
    from shutil import which

    return "less" if which("less") else None


class PagedOutput:
    """A context manager: an unbuffered binary file for big output.

    With ``pager``, and if standard output is a terminal, the file is the input of a pager;
    otherwise it is standard output. Quitting the pager is not an error: the next write raises
    BrokenPipeError inside the block, and the block ends silently.
    """

    def __init__(self, pager: bool = True) -> None:
        self._command = pager_command() if pager and is_terminal(sys.stdout) else None
        self._process: Popen[bytes] | None = None
        self._interrupt: Any = None
        self._stream: BinaryIO

    def __enter__(self) -> BinaryIO:
        if self._command is None:
            sys.stdout.flush()
            self._stream = open(sys.stdout.fileno(), "wb", buffering=0, closefd=False)
            return self._stream
        import signal
        import subprocess

        environment = dict(os.environ)
        environment.setdefault("LESS", _LESS_FLAGS)
        process = self._process = subprocess.Popen(
            self._command, shell=True, stdin=subprocess.PIPE, env=environment, bufsize=0
        )
        assert process.stdin is not None
        self._stream = process.stdin  # type: ignore[assignment]
        # Ctrl-C belongs to the pager, where it stops a search.
        self._interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
        return self._stream

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if self._process is None:
            self._stream.close()
            return False
        import signal
        from contextlib import suppress

        with suppress(BrokenPipeError):
            self._stream.close()
        self._process.wait()
        signal.signal(signal.SIGINT, self._interrupt)
        return kind is BrokenPipeError


def write_all(stream: BinaryIO, data: BytesLike) -> None:
    """Write all of ``data`` to a raw file, whose ``write`` may accept only a part."""
    written = stream.write(data) or 0
    while written < len(data):
        written += stream.write(memoryview(data)[written:]) or 0


def print_error(message: str) -> None:
    """Print an error, one line on standard error."""
    _print_line("error", message)


def print_warning(message: str) -> None:
    """Print a warning, one line on standard error."""
    _print_line("warning", message)


def _print_line(kind: str, message: str) -> None:
    from cffpy.views.plain_text import visible

    # errors in descriptions quote the source line, with a caret below it
    lines = "\n".join(map(visible, message.split("\n")))
    try:
        sys.stderr.write(f"cffpy: {kind}: {lines}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        return  # standard error is closed


def discard_output() -> None:
    """Redirect standard output to /dev/null, so that later flushes do not fail again."""
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)
    except (OSError, ValueError, AttributeError):
        return


def output_lost(problem: OSError, failure: int = EXIT_FAILURE) -> int:
    """Handle a failed write; return the exit code. A closed pipe is not an error."""
    discard_output()
    if isinstance(problem, BrokenPipeError):
        return EXIT_OK
    print_error(f"{problem.filename or 'standard output'}: {problem.strerror or problem}")
    return failure


def run_guarded(
    action: Callable[[], int | None], debug: bool = False, failure: int = EXIT_FAILURE
) -> int:
    """Run a command; report any exception as one line and return the exit code ``failure``."""
    from cffpy.errors import CffpyError

    try:
        code = action()
        sys.stdout.flush()
        return EXIT_OK if code is None else code
    except KeyboardInterrupt:
        discard_output()
        return EXIT_INTERRUPTED
    except OSError as problem:
        if debug and not isinstance(problem, BrokenPipeError):
            raise
        return output_lost(problem, failure)
    except CffpyError as problem:
        if debug:
            raise
        _flush_quietly()
        print_error(str(problem))
        return failure
    except MemoryError:
        if debug:
            raise
        _flush_quietly()
        print_error("out of memory (--limit bytes=N limits how much of a file is read)")
        return failure
    except Exception as problem:
        if debug:
            raise
        _flush_quietly()
        kind = type(problem).__name__
        print_error(f"internal error: {kind}: {problem} (CFFPY_DEBUG=1 shows a traceback)")
        return failure


def _flush_quietly() -> None:
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        discard_output()
