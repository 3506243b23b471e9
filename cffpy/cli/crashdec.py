# SPDX-License-Identifier: MIT
"""``cffpy crashdec``: the options of Mesa's crashdec and its output."""

from __future__ import annotations

import gc
import sys

from cffpy.c_numbers import whole_number
from cffpy.cli.dump_options import (
    EDITION_OPTION,
    Option,
    UsageProblem,
    edition_directory,
    limits_of,
    parse,
)
from cffpy.cli.output import (
    EXIT_FAILURE,
    EXIT_OK,
    EXIT_USAGE,
    PagedOutput,
    is_terminal,
    print_error,
    print_on_standard_error,
    print_warning,
    use_colour,
    write_all,
)
from cffpy.cli.progress import progress
from cffpy.container.open import open_capture
from cffpy.errors import ContainerError
from cffpy.limits import HELP as LIMIT_HELP
from cffpy.views.crashdec.dump import CrashDump
from cffpy.views.crashdec.options import CrashdecOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cffpy.limits import Limits


def _dwords(text: str) -> int:
    try:
        number = whole_number(text)
    except ValueError:
        number = -1
    if number < 0:
        raise UsageProblem(f"{text!r} is not a number of dwords.")
    return number


OPTIONS = (
    Option("annotate", "Add lines that mark passes, tiles, draws, and where the CP is."),
    Option("allregs", "At draws, print all registers written so far.", short="a"),
    Option("color", "Use colour (default: on a terminal).", short="c"),
    Option("no-color", "Do not use colour.", names=("color",), value=False),
    Option("pager", "Use a pager (default: on a terminal)."),
    Option("no-pager", "Do not use a pager.", names=("pager",), value=False),
    Option("file", "Read this file, as the argument FILE.", short="f", metavar="FILE"),
    Option(
        "look-back",
        "Print the ring from N dwords before its read pointer on (default: that of the edition).",
        short="l",
        metavar="N",
        convert=_dwords,
    ),
    Option("markers", "Print the payload of CP_NOP packets as strings.", short="m"),
    Option("summary", "Print registers at draws, not at each write.", short="s"),
    Option("verbose", "Print all data as hex, and decode the whole ring.", short="v"),
    EDITION_OPTION,
    Option("limit", LIMIT_HELP, metavar="NAME=N", repeats=True, names=("limits",)),
    Option("help", "Show this message and exit.", short="h"),
)

#: Options that crashdec does not have: its abbreviations keep their meaning.
_ADDED = frozenset(("annotate", "edition", "limit", "look-back", "no-color", "no-pager", "pager"))

_USAGE = (
    "Usage: cffpy crashdec [OPTIONS] [FILE]\nTry 'cffpy crashdec --help' for help.\n\nError: {}\n"
)


def run(arguments: list[str], show_help: Callable[[], int]) -> int:
    """Print the dump that the command line names; the exit code. ``show_help`` is for --help."""
    try:
        settings, files = parse(arguments, OPTIONS, _ADDED)
        if settings.pop("help", False):
            return show_help()
        files = [name for name in (settings.pop("file", None), *files) if name is not None]
        if len(files) > 1:
            raise UsageProblem("only one FILE can be decoded at a time.")
        return _print(settings, files[0] if files else "-", limits_of(settings.pop("limits", [])))
    except UsageProblem as problem:
        sys.stdout.flush()
        print_on_standard_error(_USAGE.format(problem))
        return EXIT_USAGE


def _print(settings: dict[str, Any], name: str, limits: Limits) -> int:
    register_db, pager = settings.pop("register_db", None), settings.pop("pager", None)
    annotates = settings.pop("annotate", False)
    settings["color"] = use_colour(settings.get("color"))
    register_db = edition_directory(register_db)
    try:
        content = open_capture(name, limits)
    except ContainerError as problem:
        print_error(str(problem))
        return EXIT_FAILURE
    if b"\0" in bytes(memoryview(content.data)[:4]):  # a devcoredump is text
        from cffpy.container.kinds import kind_of

        print_error(f"{content.name}: not a devcoredump, but {kind_of(content.data)}")
        return EXIT_FAILURE
    # Nearly all objects live until the end; garbage collection would take a third of the time.
    gc.disable()
    output = PagedOutput(is_terminal(sys.stdout) if pager is None else pager)
    with output as stream:
        options = CrashdecOptions(**settings)
        given = options, lambda data: write_all(stream, data), print_warning, register_db
        if annotates:
            from cffpy.views.crashdec.annotate import AnnotatedCrashDump

            dump: CrashDump = AnnotatedCrashDump(content, *given)
        else:
            dump = CrashDump(*given)
        with progress(f"Reading {name}", content, output=output):
            dump.file(content)
    for damage in content.faults:
        print_error(f"{content.name}: {damage}")
    return EXIT_FAILURE if dump.is_damaged or content.faults else EXIT_OK
