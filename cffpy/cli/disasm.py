# SPDX-License-Identifier: MIT
"""``cffpy disasm``: disassemble a shader binary, or all shaders of a capture."""

from __future__ import annotations

import os
import sys

import click

from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, PagedOutput, print_error, write_all
from cffpy.cli.parameters import command_limits, edition_option, limit_option
from cffpy.cli.text_options import given_text_options, text_options
from cffpy.errors import CffpyError, UnsupportedGpu
from cffpy.limits import hint

_EPILOG = """\b
Examples:
  cffpy disasm 0003.fo3 --gpu 630
  cffpy disasm 0001.fo                        a2xx fragment program
  cffpy disasm --gpu a7xx --format hex words.txt
  cffpy disasm --all capture.rd.gz            all shaders of a capture
  cffpy disasm --all --list capture.rd.gz     only the table
  cffpy disasm --all --json capture.rd.gz | jq '.shaders[] | [.stage, .stats.full]'
  printf '%s' 03000000_00000000 | tr -d _ | cffpy disasm -
"""

_LINE_SCHEMA = "cffpy.disasm-all.line/1"

_DEFAULT_GENERATION = 6
_A2XX = 2

_MAX_INPUT = 16 << 20
"""Bytes of a program or its text that are read unless --limit bytes says otherwise."""


def parse_generation(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> int | None:
    """The generation (2 to 8) for a GPU number like 630 or a generation like a6xx or 6."""
    if text is None:
        return None
    from cffpy.capture.gpu import parse_gpu

    try:
        return parse_gpu(text).generation
    except UnsupportedGpu as problem:
        raise click.BadParameter(str(problem)) from None


def read_input(path: str) -> bytes:
    """All bytes of a file, or of standard input for ``-``.

    Raises CffpyError if it cannot be read or has more bytes than the command's limit.
    """
    most = command_limits().bytes or _MAX_INPUT
    try:
        if path == "-":
            data = sys.stdin.buffer.read(most + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(most + 1)
    except OSError as problem:
        raise CffpyError(str(problem.strerror)) from None
    if len(data) > most:
        raise CffpyError(f"more than {most} bytes {hint('bytes')}")
    return data


@click.command(epilog=_EPILOG)
@click.argument("path", metavar="FILE")
@click.option(
    "--all", "of_capture", is_flag=True, help="FILE is a capture; disassemble all its shaders."
)
@click.option(
    "--list", "only_list", is_flag=True, help="With --all: print only the table of shaders."
)
@click.option("--json", "as_json", is_flag=True, help="With --all: print one JSON document.")
@click.option(
    "--jsonl",
    "as_jsonl",
    is_flag=True,
    help=f"With --all: print an object for each shader ({_LINE_SCHEMA}).",
)
@click.option(
    "--gpu",
    "generation",
    metavar="GPU",
    callback=parse_generation,
    help="GPU (630) or generation (a6xx). Default: that of the capture; a2xx for .vo and .fo files;"
    " otherwise a6xx.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("auto", "raw", "hex")),
    default="auto",
    help="Content of FILE: binary (raw), or hex words or a listing (hex). Default: auto.",
)
@click.option("--fragment", is_flag=True, help="a2xx: fragment program (implied by .fo).")
@edition_option
@text_options
@limit_option
@click.help_option("-h", "--help")
def disasm(
    path: str,
    of_capture: bool,
    only_list: bool,
    as_json: bool,
    as_jsonl: bool,
    generation: int | None,
    form: str,
    fragment: bool,
    register_db: str | None,
) -> int:
    """Disassemble a shader binary, such as those written by dump --dump-shaders.

    With --all, FILE is a capture. Each distinct shader is listed once, with stage, address, size,
    statistics, and the draws and dispatches that use it.

    FILE may be '-' for standard input.
    """
    if of_capture:
        if form != "auto" or fragment:
            raise click.UsageError("--format and --fragment cannot be used with --all")
        from cffpy.cli.analysis_options import check_one_form

        check_one_form(as_json=as_json, as_jsonl=as_jsonl)
        shown_as = "json" if as_json else "jsonl" if as_jsonl else ""
        return _run_all(path, generation, register_db, shown_as, only_list)
    if only_list or as_json or as_jsonl:
        raise click.UsageError("--list, --json and --jsonl need --all")
    extension = os.path.splitext(path)[1]
    if generation is None:
        generation = _A2XX if extension in (".vo", ".fo") else _DEFAULT_GENERATION
    try:
        data = _program(read_input(path), form)
        text = _text(data, generation, fragment or extension == ".fo", register_db)
    except CffpyError as problem:
        print_error(f"{path}: {problem}")
        return EXIT_FAILURE
    with PagedOutput(given_text_options().pager is not False) as stream:
        write_all(stream, text.encode("latin-1"))
    return EXIT_OK


def _run_all(
    path: str, generation: int | None, directory: str | None, form: str, only_list: bool
) -> int:
    from cffpy.cli.disasm_all import run

    return run(path, generation, directory, form, only_list)


def _program(data: bytes, form: str) -> bytes:
    """The program in a file. Raises CffpyError for a capture and for what is not hex text."""
    if form == "auto" and _is_capture(data):
        raise CffpyError("this is a capture; use --all")
    from cffpy.isa.program import from_hex, looks_like_hex

    if form == "hex" or (form == "auto" and looks_like_hex(data)):
        return from_hex(data.decode("ascii", "replace"))
    return data


def _is_capture(data: bytes) -> bool:
    from cffpy.container.open import sniff_compression
    from cffpy.container.rd import looks_like_capture

    return sniff_compression(data) is not None or looks_like_capture(data)


def _text(data: bytes, generation: int, fragment: bool, register_db: str | None) -> str:
    from cffpy.capture.generations import generation_of
    from cffpy.pm4.instruction_sets import Disassemblers

    disassemblers = Disassemblers(register_db)
    if generation_of(generation).instruction_set == "a2xx":
        return disassemblers.a2xx().disassemble(data, 0, fragment)
    return disassemblers.ir3(generation).disassemble(data, 0)
