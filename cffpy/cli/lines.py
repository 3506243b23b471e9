# SPDX-License-Identifier: MIT
"""``cffpy lines``: one line for each register write, packet field, draw and instruction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from cffpy.cli.analysis_options import decoding_options, open_for, report
from cffpy.cli.many_files import named_error
from cffpy.cli.output import (
    EXIT_FAILURE,
    EXIT_OK,
    PagedOutput,
    print_error,
    print_warning,
    write_all,
)
from cffpy.cli.progress import progress
from cffpy.container.folder import captures_in
from cffpy.container.open import one_by_one
from cffpy.errors import CffpyError, IntelFileError
from cffpy.tables.lines import COLUMNS, KINDS, UniqueLines

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from cffpy.capture.gpu import Gpu

_SCHEMA = "cffpy.lines/1"

_EPILOG = """\b
Examples:
  cffpy lines capture.rd.gz | grep RB_DEPTH_CNTL
  cffpy lines --only registers --unique capture.rd.gz    values that registers ever had
  cffpy lines --changed --where 'pass.mode == gmem' capture.rd.gz
  cffpy lines --only draws captures/ | cut -f 1,5,10
"""


@click.command(epilog=_EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(KINDS),
    help="Only lines of these; may be given several times.",
)
@click.option("--changed", is_flag=True, help="Of register writes, those that change a value.")
@click.option("--where", metavar="EXPR", help="Only lines of draws for which this holds.")
@click.option("--unique", is_flag=True, help="Each value once: with a count and its first place.")
@click.option("--header", is_flag=True, help="Begin with the names of the columns.")
@click.option("--jsonl", "as_jsonl", is_flag=True, help=f"Print an object a line ({_SCHEMA}).")
@decoding_options
def lines(
    files: tuple[str, ...],
    only: tuple[str, ...],
    changed: bool,
    where: str | None,
    unique: bool,
    header: bool,
    as_jsonl: bool,
    gpu: Gpu | None,
    register_db: str | None,
) -> int:
    """Print one line for each register write, described dword of a packet, draw and instruction.

    The columns are separated by tabs: file, submit, IB level, GPU address of the packet, pass and
    draw (the next one, by its number in the dump), packet, register or field, raw value, decoded
    value. Nothing is printed twice. Commands are followed as the GPU executes them.

    FILE may be '-' for standard input, or a folder: all captures in it and below. The exit code is
    1 if a file is damaged or cannot be read.
    """
    columns = ("count", *COLUMNS) if unique else COLUMNS
    values = UniqueLines()
    code = EXIT_OK
    output = PagedOutput(pager=False)
    shown = None if unique else output  # counts are printed in the end
    with output as stream:
        write = _json_writer(stream, columns) if as_jsonl else _writer(stream)
        if header and not as_jsonl:
            write("\t".join(columns) + "\n")
        emit = values.add if unique else write
        for path in one_by_one(captures_in(files)):
            try:
                capture = open_for(path, gpu, register_db)
                with progress(f"Reading {path}", capture.content, output=shown), capture:
                    capture.write_lines(emit, only, changed=changed, where=where)
                    code = max(code, report(capture))
            except IntelFileError as found:
                from cffpy.cli.intel_commands import write_intel_lines

                _check_intel(path, {"--where": where, "--changed": changed, "--gpu": gpu})
                kinds = only or KINDS
                code = max(code, write_intel_lines(found.content, path, kinds, emit, register_db))
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


def _check_intel(path: str, options: dict[str, object]) -> None:
    """Raise UsageError for an option that is given and means nothing for Intel captures."""
    for name, value in options.items():
        if value:
            raise click.UsageError(f"{name} does not apply to Intel captures ({path})")


def _writer(stream: BinaryIO) -> Callable[[str], None]:
    return lambda text: write_all(stream, text.encode("utf-8", "backslashreplace"))


def _json_writer(stream: BinaryIO, columns: tuple[str, ...]) -> Callable[[str], None]:
    """Writes lines as objects; numbers of submits, levels, passes and draws are numbers."""
    numbers = {"count", "submit", "level", "pass", "draw"}

    def write(text: str) -> None:
        rows = []
        for line in text.splitlines():
            row: dict[str, object] = {}
            for name, value in zip(columns, line.split("\t"), strict=True):
                row[name] = (int(value) if value else None) if name in numbers else value
            rows.append(json.dumps(row) + "\n")
        write_all(stream, "".join(rows).encode())

    return write
