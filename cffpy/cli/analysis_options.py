# SPDX-License-Identifier: MIT
"""What the commands that analyse a capture share: options, the analysis, writing results."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cffpy.cli.limit_option import limit_option
from cffpy.cli.output import (
    EXIT_FAILURE,
    EXIT_OK,
    PagedOutput,
    print_error,
    print_warning,
    write_all,
)
from cffpy.cli.progress import progress
from cffpy.errors import CaptureError, UnsupportedGpu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.passes.model import Pass
    from cffpy.capture.gpu import Gpu
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content

_Command = TypeVar("_Command", bound="Callable[..., Any]")
_Result = TypeVar("_Result")

#: Lines about damage, or about what was left out, that are printed of a capture.
SHOWN_PROBLEMS = 50


def parse_capture_gpu(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> Gpu | None:
    """The GPU to decode for, of a number like 630 or a generation like a6xx."""
    if text is None:
        return None
    from cffpy.capture.gpu import LAST_GENERATION, parse_gpu

    try:
        gpu = parse_gpu(text)
    except UnsupportedGpu as problem:
        raise click.BadParameter(str(problem)) from None
    if gpu.generation > LAST_GENERATION:
        raise click.BadParameter(f"captures of {gpu.chip.lower()} cannot be decoded")
    return gpu


def capture_options(command: _Command) -> _Command:
    """The argument FILE, and the options of how it is decoded."""
    return click.argument("path", metavar="FILE")(decoding_options(command))


def decoding_options(command: _Command) -> _Command:
    """The options of how a capture is decoded."""
    for decorate in (
        click.help_option("-h", "--help"),
        limit_option,
        click.option(
            "--register-db", metavar="DIR", help="Another edition of the register database."
        ),
        click.option(
            "--gpu",
            metavar="GPU",
            callback=parse_capture_gpu,
            help="Decode as this GPU: 630, or any of a6xx.",
        ),
    ):
        command = decorate(command)
    return command


def edition(register_db: str | None) -> str | None:
    """The directory of another edition. Raises RegisterDbError where there is none."""
    if register_db is None:
        return None
    from cffpy.regdb.store import resolve_edition

    return resolve_edition(register_db)


def analyse(
    analysis: Callable[..., tuple[_Result, list[Damage]]],
    path: str,
    gpu: Gpu | None,
    register_db: str | None,
    content: Content | None = None,
) -> tuple[_Result, int]:
    """What an analysis finds, and the exit code: 1 where the capture is damaged.

    The damage is told on standard error. Raises CffpyError. ``content``: the file, if it is open.
    """
    from cffpy.container.open import open_capture

    directory = edition(register_db)
    if content is None:
        content = open_capture(path)
    with progress(f"Reading {path}", content):
        found, damage = analysis(content, print_warning, directory, gpu)
    print_problems(path, damage, print_error)
    return found, EXIT_FAILURE if damage else EXIT_OK


def find(
    path: str, gpu: Gpu | None, register_db: str | None, content: Content | None = None
) -> tuple[PassFinder, int]:
    """The passes of a capture, as ``analyse``; what limits left out is told, too."""
    from cffpy.analysis.passes.finder import find_passes

    finder, code = analyse(find_passes, path, gpu, register_db, content)
    print_problems(path, finder.found.left_out, print_warning)
    return finder, code


def print_problems(
    path: str, problems: Sequence[object], say: Callable[[str], None] = print_error
) -> None:
    """Say each problem of a file; of very many the first, and that there are more."""
    for problem in problems[:SHOWN_PROBLEMS]:
        say(f"{path}: {problem}")
    if len(problems) > SHOWN_PROBLEMS:
        say(f"{path}: there is more like this")


def the_pass(finder: PassFinder, index: int) -> Pass:
    """The pass of a number. Raises as ``not_there`` where there is none."""
    passes = finder.found.passes
    if not 0 <= index < len(passes):
        there = f"0 to {len(passes) - 1}" if passes else "none"
        raise not_there(finder, f"there is no pass {index}; passes of this capture: {there}")
    return passes[index]


def not_there(finder: PassFinder, message: str) -> Exception:
    """The error where a capture lacks what is asked for: wrong usage, unless damage may be why."""
    return CaptureError(message) if finder.found.damage else click.UsageError(message)


def write_lines(lines: Iterable[str]) -> None:
    """Lines of text to standard output, by a pager on a terminal."""
    with PagedOutput() as stream:
        chunk: list[str] = []
        for line in lines:
            chunk.append(line)
            if len(chunk) >= _LINES_AT_ONCE:
                write_all(stream, _encoded(chunk))
                chunk.clear()
        write_all(stream, _encoded(chunk))


_LINES_AT_ONCE = 4096


def _encoded(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


def write_json(schema: str, document: dict[str, Any]) -> None:
    """One JSON document whose first member names its schema and version."""
    import json

    json.dump({"schema": schema, **document}, sys.stdout, indent=2)
    sys.stdout.write("\n")


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table: a line of column names, then the rows; None is an empty cell."""
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
