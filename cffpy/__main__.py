# SPDX-License-Identifier: MIT
"""Entry point of ``cffpy`` and ``python -m cffpy``: dispatch with as few imports as possible.

``--version`` alone is answered before anything is imported. Errors are reported as one line and an
exit code; ``--debug`` or CFFPY_DEBUG=1 shows a traceback instead.
"""

from __future__ import annotations

import gc
import os
import sys

from cffpy._version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


#: Commands that fill memory with what they decode.
_LEAVES_AT_ONCE = frozenset(
    (
        "dump",
        "crashdec",
        "aubinator",
        "aubinator-error-decode",
        "passes",
        "draws",
        "state",
        "tiles",
        "vsc",
        "diff",
    )
)


#: Objects after which Python searches for cycles of them. Imports make objects that are all kept:
#: with the default, 700, the search takes 5 of the 75 ms in which ``passes`` starts.
_OBJECTS = 30_000


def main() -> None:
    """Run the command line and leave with its exit code."""
    _open_closed_streams()
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        code = _print_version()
    else:
        import warnings

        warnings.showwarning = _show_warning
        gc.set_threshold(_OBJECTS)
        code = run(arguments, owns_process=True)
    if arguments[:1] and arguments[0] in _LEAVES_AT_ONCE:
        _leave(code)
    sys.exit(code)


def _leave(code: int) -> None:
    """Exit at once: tearing the interpreter down would free a decoder's objects one by one."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        code = code or 1
    os._exit(code)


def _open_closed_streams() -> None:
    """Open /dev/null for standard streams that the caller closed (``2>&-``).

    Python sets them to None, and the first file opened would become standard output. Messages are
    discarded; standard output is opened for reading, so that a command that writes data fails.
    """
    for name, mode, flags in (
        ("stdin", "r", os.O_RDONLY),
        ("stdout", "w", os.O_RDONLY),
        ("stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.open(os.devnull, flags), mode))  # noqa: SIM115 - to the end


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning of cffpy as its other messages, without the line of code it comes from."""
    from cffpy.cli.output import print_warning

    print_warning(str(message))


def _print_version() -> int:
    try:
        sys.stdout.write(f"cffpy {__version__}\n")
        sys.stdout.flush()
    except OSError as problem:
        from cffpy.cli.output import output_lost

        return output_lost(problem)
    return 0


def run(arguments: list[str], owns_process: bool = False) -> int:
    """Run the command line and return the exit code. Errors are reported as one line.

    ``owns_process``: nothing else runs in this process.
    """
    from cffpy.cli.output import run_guarded

    debug = os.environ.get("CFFPY_DEBUG", "") not in ("", "0") or arguments[:1] == ["--debug"]

    def action() -> int:
        if arguments[:1] == ["dump"]:  # without click, which costs as much as a small capture
            gc.disable()  # as cffpy.cli.dump does, but before its many imports
            from cffpy.cli.dump import run as dump

            return dump(arguments[1:], _show_help_of_dump, owns_process)
        if arguments[:1] == ["crashdec"]:
            gc.disable()
            from cffpy.cli.crashdec import run as crashdec

            return crashdec(arguments[1:], _show_help_of_crashdec)
        if arguments[:1] == ["aubinator"]:
            gc.disable()
            from cffpy.cli.aubinator import run as aubinator

            return aubinator(arguments[1:], _show_help_of_aubinator)
        if arguments[:1] == ["aubinator-error-decode"]:
            gc.disable()
            from cffpy.cli.aubinator import run_error_decode

            return run_error_decode(arguments[1:], _show_help_of_error_decode)
        from cffpy.cli.main import run

        return run(arguments)

    words = [argument for argument in arguments if not argument.startswith("-")]
    compares = words[:1] == ["diff"] or words[:2] == ["db", "diff"]  # 1: there are differences
    return run_guarded(action, debug, 2 if compares else 1)


def _show_help_of_dump() -> int:
    from cffpy.cli.getopt_commands import dump

    return dump.show_help()


def _show_help_of_crashdec() -> int:
    from cffpy.cli.getopt_commands import crashdec

    return crashdec.show_help()


def _show_help_of_aubinator() -> int:
    from cffpy.cli.getopt_commands import aubinator

    return aubinator.show_help()


def _show_help_of_error_decode() -> int:
    from cffpy.cli.getopt_commands import aubinator_error_decode

    return aubinator_error_decode.show_help()


if __name__ == "__main__":
    main()
