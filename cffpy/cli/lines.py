# SPDX-License-Identifier: MIT
"""``cffpy lines``: one line for each register write, packet field, draw and instruction."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

import click

from cffpy.cli.captures import refuse_for_intel, report
from cffpy.cli.forms import Forms, LineStream, named_error
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error, print_warning
from cffpy.cli.progress import progress
from cffpy.cli.question import EVERY_PLACE, Question, asks
from cffpy.container.kinds import captures_in
from cffpy.container.open import one_by_one
from cffpy.errors import CffpyError
from cffpy.tables.lines import COLUMNS, KINDS, LineOptions, UniqueLines

_SCHEMA = "cffpy.lines/1"

#: Columns that are numbers in objects.
_NUMBERS = frozenset(("count", "submit", "level", "pass", "draw"))

_WithPass = TypedDict("_WithPass", {"pass": Annotated[int | None, "pass of the next draw"]})


class Line(_WithPass):
    """A line: cffpy lines --jsonl."""

    count: NotRequired[Annotated[int, "with --unique: how many lines have this name and value"]]
    file: Annotated[str, "the capture"]
    submit: Annotated[int | None, "number of the submit"]
    level: Annotated[int | None, "nesting of IBs"]
    gpuaddr: Annotated[str, "GPU address of the packet in hexadecimal"]
    pipe: Annotated[
        Literal["", "BR", "BV", "both", "unknown"],
        "the pipe of the CP that executes the packet; empty where the stream does not say it",
    ]
    draw: Annotated[int | None, "number of the next draw in the dump"]
    packet: Annotated[str, "name of the packet"]
    name: Annotated[str, "register, dword of the packet, or kind of the draw"]
    raw: Annotated[str, "value in hexadecimal"]
    decoded: Annotated[str, "value as text"]


_EPILOG = """\b
Examples:
  cffpy lines capture.rd.gz | grep RB_DEPTH_CNTL
  cffpy lines --only registers --unique capture.rd.gz    values that registers ever had
  cffpy lines --at p3:17 capture.rd.gz                   what draw 17 of pass 3 reads
  cffpy lines --changed --where 'pass.mode == gmem' capture.rd.gz
  cffpy lines --only draws captures/ | cut -f 1,6,11
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(KINDS),
    help="Only this kind; may be given several times.",
)
@click.option("--changed", is_flag=True, help="Of register writes, those that change a value.")
@click.option("--unique", is_flag=True, help="Each value once: with a count and its first place.")
@click.option("--header", is_flag=True, help="Begin with the names of the columns.")
@asks(
    "FILE...",
    places=EVERY_PLACE,
    where=True,
    forms=Forms(item="line", jsonl=_SCHEMA),
    text=False,
)
def lines(
    question: Question, only: tuple[str, ...], changed: bool, unique: bool, header: bool
) -> int:
    """Print one line for each register write, described dword of a packet, draw and instruction.

    The columns are separated by tabs: file, submit, IB level, GPU address of the packet, pipe of
    the CP that executes it (a7xx), pass and draw (the next one, by its number in the dump), packet,
    register or field, raw value, decoded value. Nothing is printed twice. Commands are followed as
    the GPU executes them.

    FILE may be '-' for standard input, or a folder: all captures in it and below. The exit code is
    1 if a file is damaged or cannot be read.
    """
    columns = ("count", *COLUMNS) if unique else COLUMNS
    values = UniqueLines()
    code = EXIT_OK
    stream = LineStream(question, columns, _NUMBERS)
    shown = None if unique else stream.output  # counts are printed in the end
    with stream as write:
        if header and question.form == "text":
            write("\t".join(columns) + "\n")
        emit = values.add if unique else write
        for path in one_by_one(captures_in(question.files)):
            try:
                capture = question.open(path)
                refuse_for_intel(capture, ("--changed", changed))
                with progress(f"Reading {path}", capture._source.content, output=shown), capture:
                    scope = question.scope_or_none(capture)
                    draws = None if scope is None else scope.dump_draws
                    capture._source.write_lines(LineOptions(only or KINDS, changed, draws), emit)
                    code = max(code, report(capture))
            except CffpyError as problem:
                print_error(named_error(path, str(problem)))
                code = EXIT_FAILURE
        if unique:
            for line in values.lines():
                write(line)
    if values.is_full:
        print_warning("too many distinct values: the last ones are left out")
        code = EXIT_FAILURE
    return code
