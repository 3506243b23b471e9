# SPDX-License-Identifier: MIT
"""``cffpy dump``: the options of Mesa's cffdump, its output and its exit codes."""

from __future__ import annotations

import gc
import os
import sys

from cffpy.cli.dump_options import UsageProblem, edition_directory, limits_of, parse
from cffpy.cli.output import (
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
from cffpy.cli.reading_ahead import read_ahead
from cffpy.container.open import one_by_one, open_capture
from cffpy.errors import ContainerError
from cffpy.views.cffdump.options import QUERY_ALL, DumpOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from cffpy.cli.reading_ahead import ReadingAhead
    from cffpy.container.open import Content
    from cffpy.limits import Limits
    from cffpy.views.cffdump.dump import Dump

_USAGE = "Usage: cffpy dump [OPTIONS] FILE...\nTry 'cffpy dump --help' for help.\n\nError: {}\n"


def run(arguments: list[str], show_help: Callable[[], int], owns_process: bool = False) -> int:
    """Dump the files that the command line names; the exit code. ``show_help`` is for --help.

    ``owns_process``: nothing else runs in this process, so that it may fork.
    """
    try:
        settings, files = parse(arguments)
        if settings.get("help"):
            return show_help()
        if not files:
            raise UsageProblem("Missing argument 'FILE...'.")
        limits = limits_of(settings.pop("limits", []))
        return _dump(settings, _captures(files), limits, owns_process)
    except UsageProblem as problem:
        sys.stdout.flush()
        print_on_standard_error(_USAGE.format(problem))
        return EXIT_USAGE


def _captures(paths: list[str]) -> list[str]:
    """The paths, with the captures of a folder in its place. Raises UsageProblem without any."""
    if not any(map(os.path.isdir, paths)):
        return paths
    from cffpy.container.kinds import captures_in  # lazy: it needs re

    try:
        return captures_in(paths, with_intel=False)
    except ContainerError as problem:
        raise UsageProblem(str(problem)) from None


def _dump(settings: dict[str, Any], files: list[str], limits: Limits, owns_process: bool) -> int:
    register_db, gpu = settings.pop("register_db", None), settings.pop("gpu", None)
    annotates, pager = settings.pop("annotate", False), settings.pop("pager", None)
    settings.pop("verbose", None)
    reading = _read_ahead(files[0], limits, annotates)
    settings["color"] = use_colour(settings.get("color"))
    if settings.get("draw") == -1:  # the reference's value for: every draw
        del settings["draw"]
    names_edition = bool(register_db or os.environ.get("CFFPY_EDITION"))
    options = DumpOptions(**settings, query_renamed=names_edition)
    _check_script(options, annotates)
    register_db = edition_directory(register_db)
    if pager is None:
        pager = _uses_pager(options)
    # Nearly all objects live until the end; garbage collection would take a third of the time.
    gc.disable()
    failed = False
    output = PagedOutput(pager)
    with output as stream:
        given = options, lambda data: write_all(stream, data), print_warning, register_db, gpu
        opened: dict[str, Content] = {}
        if annotates:
            from cffpy.views.cffdump.annotate import AnnotatedDump

            dump: Dump = AnnotatedDump(_find_prefix(files, options, limits, opened), *given)
        else:
            dump = _dump_class(options)(*given)
            dump.may_share = _is_alone(owns_process, files, pager)
        for name in one_by_one(files):
            dump.begin(name)
            failed = not _dump_file(dump, name, limits, opened, reading, output)
            reading = None
            for query in dump.unknown_queries if options.query else ():
                _report_unknown(query, dump.machine.database.chip, register_db)
    if failed:
        raise UsageProblem("the last file could not be opened.")
    if (options.query_mode != QUERY_ALL or options.query_compare) and not options.query:
        raise UsageProblem("query options are only valid with --query.")
    dump.finish()
    return EXIT_OK


def _check_script(options: DumpOptions, annotates: bool) -> None:
    if options.script is not None and annotates:
        raise UsageProblem("--annotate and --script exclude each other.")


def _uses_pager(options: DumpOptions) -> bool:
    """Whether there is a pager by default. A script prints past it."""
    return is_terminal(sys.stdout) and not options.query and options.script is None


def _is_alone(owns_process: bool, files: list[str], pager: bool) -> bool:
    """Whether a dump may fork: nothing else is printed, and nobody waits for its first page."""
    return owns_process and len(files) == 1 and not pager


def _read_ahead(name: str, limits: Limits, annotates: bool) -> ReadingAhead | None:
    """A capture that is read from now on. Annotations read it themselves."""
    return None if annotates else read_ahead(name, limits)


def _dump_class(options: DumpOptions) -> type[Dump]:
    """What dumps with these options; a script needs more imports."""
    if options.script is None:
        from cffpy.views.cffdump.dump import Dump  # lazy: while the capture is read

        return Dump
    from cffpy.views.cffdump.script import ScriptedDump

    return ScriptedDump


def _dump_file(
    dump: Dump,
    name: str,
    limits: Limits,
    opened: dict[str, Content],
    reading: ReadingAhead | None,
    output: PagedOutput,
) -> bool:
    """Dump a file, which may be ``opened`` or read already; whether it could be opened."""
    try:
        content = opened.pop(name, None) or _open(name, limits, reading)
    except ContainerError as problem:
        print_error(str(problem))
        return False
    if not content.is_readable:
        for damage in content.faults:
            print_error(f"{name}: {damage}")
        return False
    with progress(f"Reading {name}", content, output=output):
        dump.file(content)
    return True


def _open(name: str, limits: Limits, reading: ReadingAhead | None = None) -> Content:
    """Open a capture, or the capture that a crash dump holds. ``reading``: it is being read."""
    content = reading.take() if reading else open_capture(name, limits)
    if content.may_be_crash_dump:
        from cffpy.analysis.crash.opening import as_capture

        content = as_capture(content)
    return content


def _report_unknown(query: str, chip: str, register_db: str | None) -> None:
    """Say on standard error that no register has this name, and which names are near."""
    from cffpy.regdb import store
    from cffpy.regdb.catalog import Catalog
    from cffpy.regdb.lookup import no_such_register

    print_warning(no_such_register(Catalog(store.load(register_db, chip)), query))


def _find_prefix(
    files: list[str], options: DumpOptions, limits: Limits, opened: dict[str, Content]
) -> str:
    """The prefix of annotations for a dump of these files.

    ``opened`` receives captures to reuse: those that cannot be read twice (pipes), and a single
    capture. With several files, only one capture at a time should be in memory.
    """
    from cffpy.views.cffdump.annotate import choose_prefix

    def texts() -> Iterator[bytes | memoryview]:
        yield os.fsencode("\n".join([*files, *options.query]))
        for name in dict.fromkeys(files):
            try:
                content = _open(name, limits)
            except ContainerError:
                continue  # reported when the file is dumped
            if len(files) == 1 or not os.path.isfile(name):
                opened[name] = content
            yield content.data
            del content  # before the next is opened

    return choose_prefix(texts())
