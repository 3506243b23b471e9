# SPDX-License-Identifier: MIT
"""Entry point of ``cffpy`` and ``python -m cffpy``: the shortest way to what was asked for.

``--version`` alone is answered before anything is imported; errors end as one line and an exit
code, and as a traceback only with ``--debug`` or CFFPY_DEBUG=1.
"""

from __future__ import annotations

import os
import sys

from cffpy._version import __version__


def main() -> None:
    """Run the command line and leave with its exit code."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        _print_version()
        return
    code = run(arguments)
    if arguments[:1] == ["dump"]:
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


def _print_version() -> None:
    try:
        sys.stdout.write(f"cffpy {__version__}\n")
        sys.stdout.flush()
    except OSError:
        from cffpy.cli.output import discard_output

        discard_output()


def run(arguments: list[str]) -> int:
    """Run the command line; the exit code. Whatever goes wrong is one line by then."""
    from cffpy.cli.output import run_guarded

    debug = os.environ.get("CFFPY_DEBUG", "") not in ("", "0") or arguments[:1] == ["--debug"]

    def action() -> int:
        if arguments[:1] == ["dump"]:  # without click, which costs as much as a small capture
            from cffpy.cli.dump import run as dump

            return dump(arguments[1:])
        from cffpy.cli.main import run

        return run(arguments)

    return run_guarded(action, debug)


if __name__ == "__main__":
    main()
