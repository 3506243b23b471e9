# SPDX-License-Identifier: MIT
"""Shared by commands that analyse a capture: options, running the analysis, writing results."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cffpy.cli.output import (
    EXIT_FAILURE,
    EXIT_OK,
    PagedOutput,
    print_error,
    print_warning,
    write_all,
)
from cffpy.cli.parameters import IntegerRange, capture_edition_option, command_limits, limit_option
from cffpy.cli.progress import progress
from cffpy.cli.reading_ahead import read_ahead
from cffpy.errors import CaptureError, UnsupportedGpu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cffpy.api.capture import Capture
    from cffpy.capture.gpu import Gpu
    from cffpy.cli.reading_ahead import ReadingAhead
    from cffpy.frame.draw_names import DrawName, DrawRange
    from cffpy.frame.passes import Pass
    from cffpy.limits import Truncation

if TYPE_CHECKING:
    _DrawType = click.ParamType[DrawName]
    _RangeType = click.ParamType[DrawRange]
else:
    _DrawType = _RangeType = click.ParamType  # not generic before click 8.4

_Command = TypeVar("_Command", bound="Callable[..., Any]")
_Result = TypeVar("_Result")

#: Lines about damage or omissions printed for one capture.
SHOWN_PROBLEMS = 50


def parse_capture_gpu(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> Gpu | None:
    """The GPU for a number like 630 or a generation like a6xx."""
    if text is None:
        return None
    from cffpy.capture import gpu

    try:
        return gpu.parse_gpu(text)
    except UnsupportedGpu as problem:
        raise click.BadParameter(str(problem)) from None


class DrawNameType(_DrawType):
    """A draw by name: ``57`` or ``p0:8``, the same in all commands."""

    name = "draw"

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> DrawName:
        """The name; fails as click does."""
        from cffpy.frame.draw_names import DrawName, parse_draw_name

        if isinstance(value, DrawName):
            return value
        try:
            return parse_draw_name(str(value))
        except ValueError as problem:
            self.fail(str(problem), param, ctx)


DRAW_NAME = DrawNameType()


class DrawRangeType(_RangeType):
    """One or more draws: as DrawNameType, and ``5-58`` or ``p0:5-58``."""

    name = "draws"

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> DrawRange:
        """The range; fails as click does."""
        from cffpy.frame.draw_names import DrawRange, parse_draw_range

        if isinstance(value, DrawRange):
            return value
        try:
            return parse_draw_range(str(value))
        except ValueError as problem:
            self.fail(str(problem), param, ctx)


DRAW_RANGE = DrawRangeType()


def capture_options(
    command: _Command, edition: Callable[[_Command], _Command] = capture_edition_option
) -> _Command:
    """The argument FILE and the decoding options."""
    return click.argument("path", metavar="FILE")(decoding_options(command, edition))


def decoding_options(
    command: _Command, edition: Callable[[_Command], _Command] = capture_edition_option
) -> _Command:
    """The decoding options. ``edition``: of commands that need the name of an edition."""
    for decorate in (
        click.help_option("-h", "--help"),
        limit_option,
        edition,
        click.option(
            "--gpu",
            metavar="GPU",
            callback=parse_capture_gpu,
            help="Decode as this GPU (630) or generation (a6xx).",
        ),
    ):
        command = decorate(command)
    return command


def submit_option(command: _Command) -> _Command:
    """The option ``--submit N``; ``--frame`` and ``-F`` are its names in cffdump."""
    decorate = click.option(
        "--submit",
        "--frame",
        "-F",
        "submit",
        type=IntegerRange(min=0),
        metavar="N",
        help="Only this submit, by its number in 'cffpy info'.",
    )
    return decorate(command)


def open_for(
    path: str,
    gpu: Gpu | None = None,
    register_db: str | None = None,
    reading: ReadingAhead | None = None,
) -> Capture:
    """Open the capture of a command. ``reading``: it is read already. Raises CffpyError."""
    gc.disable()  # what an analysis finds lives as long as the command, and has no cycles
    limits = command_limits()
    reading = reading or read_ahead(path, limits)
    from cffpy.api import capture  # lazy: while the capture is read

    if reading is None:
        return capture.open(path, gpu=gpu, register_db=register_db, limits=limits)
    return capture.open_content(reading.take, gpu, register_db)


def decode(
    capture: Capture,
    analysis: Callable[[Capture], _Result],
    say: Callable[[str], None] = print_error,
) -> tuple[_Result, int]:
    """Ask a capture something; the result, and the exit code: 1 for a damaged or truncated one.

    Its problems are reported on standard error, those of its file and damage by ``say``. Raises
    CffpyError.
    """
    with progress(f"Reading {capture.name}", capture.content):
        result = analysis(capture)
    return result, report(capture, say)


def report(capture: Capture, say: Callable[[str], None] = print_error) -> int:
    """Report the problems of what was decoded so far; the exit code."""
    problems = capture.problems_so_far
    for problem in problems:
        if problem.kind == "warning":
            print_warning(problem.text)
    faults = [one for one in problems if one.kind == "damage" or one.offset is not None]
    print_problems(capture.name, [one.line for one in faults], say)
    cuts = [one for one in problems if one.kind == "truncated" and one.offset is None]
    print_problems(capture.name, [one.line for one in cuts], print_warning)
    return EXIT_FAILURE if faults or cuts else EXIT_OK


def find(path: str, gpu: Gpu | None, register_db: str | None) -> tuple[Capture, int]:
    """A capture whose passes and actions are decoded, and the exit code."""
    capture = open_for(path, gpu, register_db)
    return capture, decode(capture, lambda opened: opened.walk(registers=False))[1]


def print_problems(
    path: str, problems: Sequence[object], say: Callable[[str], None] = print_error
) -> None:
    """Report each problem of a file, up to SHOWN_PROBLEMS."""
    for problem in problems[:SHOWN_PROBLEMS]:
        say(f"{path}: {problem}")
    if len(problems) > SHOWN_PROBLEMS:
        say(f"{path}: more problems are not shown")


def the_pass(capture: Capture, index: int) -> Pass:
    """The pass with this number. Raises ``not_there`` if there is none."""
    passes = capture.passes
    if not 0 <= index < len(passes):
        there = f"0 to {len(passes) - 1}" if passes else "none"
        raise not_there(capture, f"there is no pass {index}; passes of this capture: {there}")
    return passes[index]


def not_there(capture: Capture, message: str) -> CaptureError:
    """The error for what a capture lacks, the same in all commands: exit code 1."""
    return CaptureError(f"{capture.name}: {message}")


def draw_not_there(capture: Capture, problem: CaptureError) -> CaptureError:
    """The error for a draw that was not found, as ``not_there``; reports problems of the capture.

    Where nothing can be decoded, ``problem`` itself.
    """
    if isinstance(problem, UnsupportedGpu):
        return problem
    report(capture)
    return not_there(capture, str(problem))


def write_json(schema: str, document: dict[str, Any], truncated: Sequence[Truncation] = ()) -> None:
    """Write one JSON document; its first member names the schema and version.

    ``truncated``: what limits left out. Without any, the document has no such member.
    """
    from cffpy.cli.json_text import json_pieces

    head: dict[str, Any] = {"schema": schema}
    if truncated:
        head["truncated"] = [cut.document() for cut in truncated]
    with PagedOutput(pager=False) as stream:
        for piece in json_pieces({**head, **document}):
            write_all(stream, piece.encode())
        write_all(stream, b"\n")


def check_one_form(**given: bool) -> None:
    """Raise UsageError for several forms of output. Names: as_json for ``--json``."""
    options = [f"--{name.removeprefix('as_')}" for name, chosen in given.items() if chosen]
    if len(options) > 1:
        raise click.UsageError(f"{options[0]} and {options[1]} cannot be used together")


def jsonl_option(what: str, schema: str) -> Callable[[_Command], _Command]:
    """The option ``--jsonl``. ``what`` an object is of; ``schema``: of each object."""
    text = f"Print an object for each {what} ({schema})."
    return click.option("--jsonl", "as_jsonl", is_flag=True, help=text)


def write_json_lines(objects: Iterable[dict[str, Any]], file: str | None = None) -> None:
    """Write a JSON object a line. ``file``: the first member of each, if it is given."""
    from cffpy.cli.json_text import json_text

    head = {} if file is None else {"file": file}
    waiting: list[str] = []
    length = 0
    with PagedOutput(pager=False) as stream:
        for one in objects:
            line = json_text({**head, **one}) + "\n"
            waiting.append(line)
            length += len(line)
            if length >= _CHARACTERS_AT_ONCE:
                write_all(stream, "".join(waiting).encode())
                waiting.clear()
                length = 0
        write_all(stream, "".join(waiting).encode())


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table: column names, then the rows. None is an empty cell.

    Control characters are shown as in all text.
    """
    import csv
    from io import StringIO

    from cffpy.views.plain_text import visible

    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([visible(name) for name in columns])
    with PagedOutput(pager=False) as stream:
        for row in rows:
            writer.writerow([visible(cell) if isinstance(cell, str) else cell for cell in row])
            if text.tell() >= _CHARACTERS_AT_ONCE:
                write_all(stream, text.getvalue().encode("utf-8", "backslashreplace"))
                text.seek(0)
                text.truncate()
        write_all(stream, text.getvalue().encode("utf-8", "backslashreplace"))


_CHARACTERS_AT_ONCE = 1 << 18
