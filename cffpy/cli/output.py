# SPDX-License-Identifier: MIT
"""Where output goes: colour, pager, big raw output, errors, exit codes.

Data goes to standard output, everything else to standard error. subprocess is imported only when
needed.
"""

from __future__ import annotations

import io
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import IO, Any, BinaryIO

    from cffpy.cli.pager import Pager
    from cffpy.row_readers import BytesLike

EXIT_OK = 0
EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


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


def pager_command() -> str | None:
    """The pager as a shell command: CFFPY_PAGER, PAGER, else less; None for no pager."""
    for name in ("CFFPY_PAGER", "PAGER"):
        chosen = os.environ.get(name)
        if chosen is not None:
            return None if chosen.strip() in ("", "cat") else chosen
    from shutil import which

    return "less" if which("less") else None


def _do_nothing() -> None:
    """Nothing is on the terminal."""


class PagedOutput:
    """A context manager: an unbuffered binary file for big output.

    With ``pager``, and if standard output is a terminal, the file is the input of a pager;
    otherwise, or if the pager cannot be started, it is standard output. Quitting the pager is not
    an error: the next write raises BrokenPipeError inside the block, and the block ends silently.
    """

    def __init__(self, pager: bool = True) -> None:
        self._command = pager_command() if pager and is_terminal(sys.stdout) else None
        self._pager: Pager | None = None
        self._stream: BinaryIO
        #: Called before the terminal gets the first data, from a pager or directly.
        self.before_data: Callable[[], object] = _do_nothing

    @property
    def is_shown(self) -> bool:
        """Whether the terminal has got data."""
        return self._pager is not None and self._pager.has_data

    def __enter__(self) -> BinaryIO:
        sys.stdout.flush()
        try:
            self._stream = open(sys.stdout.fileno(), "wb", buffering=0, closefd=False)
        except io.UnsupportedOperation:  # a replacement that is not a file, as in tests
            self._stream = sys.stdout.buffer
        if self._command is None and not is_terminal(sys.stdout):
            return self._stream
        from cffpy.cli.pager import Pager

        self._pager = Pager(
            self._command, lambda data: write_all(self._stream, data), lambda: self.before_data()
        )
        return self._pager  # type: ignore[return-value]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if self._pager is not None:
            self._pager.close()
        if self._stream is sys.stdout.buffer:
            self._stream.flush()
        else:
            self._stream.close()
        return self._pager is not None and kind is BrokenPipeError


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


def print_note(message: str) -> None:
    """Print what was done, one line on standard error."""
    _print_line("", message)


def _print_line(kind: str, message: str) -> None:
    """A name of a file in the message may have line breaks: they are escaped."""
    from cffpy.views.plain_text import visible

    lines = message.rsplit("\n", 2)
    # errors in descriptions quote the source line, with a caret below it
    if len(lines) < 3 or lines[2].strip() != "^":
        lines = [message]
    start = f"cffpy: {kind}: " if kind else "cffpy: "
    print_on_standard_error(start + "\n".join(map(visible, lines)) + "\n")


def print_on_standard_error(text: str) -> None:
    """Print text on standard error, control characters escaped. Failure to print is ignored."""
    from cffpy.views.plain_text import visible

    try:
        sys.stderr.write("\n".join(map(visible, text.split("\n"))))
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        _discard(sys.stderr)


def discard_output() -> None:
    """Redirect standard output to /dev/null, so that later flushes do not fail again."""
    _discard(sys.stdout)


def _discard(stream: IO[Any]) -> None:
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
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
    try:
        code = action()
        sys.stdout.flush()
        return EXIT_OK if code is None else code
    except KeyboardInterrupt:
        discard_output()
        return EXIT_INTERRUPTED
    except BrokenPipeError as problem:
        return output_lost(problem)
    except Exception as problem:
        if debug:
            raise
        return _failed(problem, failure)


def _failed(problem: Exception, failure: int) -> int:
    """Report the exception that ended a command; returns the exit code."""
    from cffpy.errors import CffpyError

    if isinstance(problem, OSError):
        return output_lost(problem, failure)
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        discard_output()
    if isinstance(problem, CffpyError):
        print_error(str(problem))
    elif isinstance(problem, MemoryError):
        print_error("out of memory (--limit bytes=N limits how much of a file is read)")
    else:
        kind = type(problem).__name__
        print_error(f"internal error: {kind}: {problem} (CFFPY_DEBUG=1 shows a traceback)")
    return failure
