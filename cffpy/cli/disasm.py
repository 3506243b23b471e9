# SPDX-License-Identifier: MIT
"""``cffpy disasm``: disassemble a shader binary, or all shaders of a capture."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from cffpy.cli.captures import decode
from cffpy.cli.forms import write_json, write_json_lines
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, PagedOutput, print_error, write_all
from cffpy.cli.parameters import command_limits, edition_option
from cffpy.cli.question import Question, asks
from cffpy.cli.text_options import given_text_options, write_lines
from cffpy.errors import CffpyError
from cffpy.frame.places import DrawRange, ShaderName, SubmitName
from cffpy.limits import hint
from cffpy.views.plain_text import Styled, headed_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.api.shaders import Shaders
    from cffpy.frame.shader import CapturedShader

_EPILOG = """\b
Examples:
  cffpy disasm 0003.fo3 --gpu 630
  cffpy disasm 0001.fo                        a2xx fragment program
  cffpy disasm --gpu a7xx --format hex words.txt
  cffpy disasm --all capture.rd.gz            all shaders of a capture
  cffpy disasm --all --list capture.rd.gz     only the table
  cffpy disasm --all --at p3:17 capture.rd.gz the shaders of a draw
  cffpy disasm --all --at sh4 capture.rd.gz   shader 4 of the table
  cffpy disasm --all --json capture.rd.gz | jq '.shaders[] | [.stage, .full_registers]'
  printf '%s' 03000000_00000000 | tr -d _ | cffpy disasm -
"""

_LINE_SCHEMA = "cffpy.disasm-all.line/1"

_DEFAULT_GENERATION = 6
_A2XX = 2

#: Ranges of draws shown for one shader in the text; JSON has all.
_SHOWN_RANGES = 24

_HEADINGS = ("shader", "stage", "address", "instructions", "bytes", "half", "full", "constlen")
_RIGHT = (3, 4, 5, 6, 7, 8)

_MAX_INPUT = 16 << 20
"""Bytes of a program or its text that are read unless --limit bytes says otherwise."""


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
@click.option(
    "--all", "of_capture", is_flag=True, help="FILE is a capture; disassemble all its shaders."
)
@click.option(
    "--list", "only_list", is_flag=True, help="With --all: print only the table of shaders."
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(("auto", "raw", "hex")),
    default="auto",
    help="Content of FILE: binary (raw), or hex words or a listing (hex). Default: auto.",
)
@click.option("--fragment", is_flag=True, help="a2xx: fragment program (implied by .fo).")
@asks(
    place=True,
    where=True,
    item="shader",
    json="cffpy.disasm-all/1",
    jsonl=_LINE_SCHEMA,
    edition=edition_option,
)
def disasm(question: Question, of_capture: bool, only_list: bool, kind: str, fragment: bool) -> int:
    """Disassemble a shader binary, such as those written by dump --dump-shaders.

    With --all, FILE is a capture. Each distinct shader is listed once, with stage, address, size,
    statistics, and the draws and dispatches that use it.

    FILE may be '-' for standard input.
    """
    if of_capture:
        if kind != "auto" or fragment:
            raise click.UsageError("--format and --fragment cannot be used with --all")
        return _disassemble_all(question, only_list)
    asked = question.place or question.query
    if only_list or question.form != "text" or asked is not None:
        raise click.UsageError("--list, --json, --jsonl, --at and --where need --all")
    path = question.path
    extension = os.path.splitext(path)[1]
    generation = _A2XX if extension in (".vo", ".fo") else _DEFAULT_GENERATION
    if question.gpu is not None:
        generation = question.gpu.generation
    try:
        data = _program(read_input(path), kind)
        text = _text(data, generation, fragment or extension == ".fo", question.register_db)
    except CffpyError as problem:
        print_error(f"{path}: {problem}")
        return EXIT_FAILURE
    with PagedOutput(given_text_options().pager is not False) as stream:
        write_all(stream, text.encode("latin-1"))
    return EXIT_OK


def _program(data: bytes, kind: str) -> bytes:
    """The program in a file. Raises CffpyError for a capture and for what is not hex text."""
    if kind == "auto" and _is_capture(data):
        raise CffpyError("this is a capture; use --all")
    from cffpy.isa.program import from_hex, looks_like_hex

    if kind == "hex" or (kind == "auto" and looks_like_hex(data)):
        return from_hex(data.decode("ascii", "replace"))
    return data


def _is_capture(data: bytes) -> bool:
    from cffpy.container.open import sniff_compression
    from cffpy.container.rd import looks_like_capture

    return sniff_compression(data) is not None or looks_like_capture(data)


def _text(data: bytes, generation: int, fragment: bool, register_db: str | None) -> str:
    from cffpy.capture.gpu import generation_of
    from cffpy.pm4.descriptions import Disassemblers

    disassemblers = Disassemblers(register_db)
    if generation_of(generation).instruction_set == "a2xx":
        return disassemblers.a2xx().disassemble(data, 0, fragment)
    return disassemblers.ir3(generation).disassemble(data, 0)


# -- the shaders of a capture ------------------------------------------------------------------


def _disassemble_all(question: Question, only_list: bool) -> int:
    """List the shaders of a capture; the exit code. Raises CffpyError."""
    capture = question.open()
    shaders, code = decode(capture, lambda opened: opened.shaders)
    scope = question.scope_or_none(capture)
    shown = shaders if scope is None else shaders.of(scope.uses)
    if question.form == "text":
        write_lines(_lines(shown, only_list), capture.truncated)
        return code
    from cffpy.views import model_documents as view

    document = shown.to_dict(listings=not only_list)
    if question.form == "json":
        write_json(view.SHADERS_SCHEMA, document, capture.truncated)
    else:
        write_json_lines(document["shaders"], question.path)
    return code


def _lines(shaders: Shaders, only_list: bool) -> Iterator[str]:
    rows = [*map(_row, shaders)]
    if rows:
        yield from headed_columns([(*_HEADINGS, "uses", "where"), *rows], _RIGHT)
    if only_list:
        return
    for shader in shaders:
        yield ""
        yield Styled(_header(shader))
        yield from shader.listing.removesuffix("\n").split("\n")


def _row(shader: CapturedShader) -> tuple[str, ...]:
    statistics = shader.statistics
    registers = ("-",) * 3
    if statistics is not None:
        registers = (str(statistics.half), str(statistics.full), str(statistics.constlen))
    return (
        str(ShaderName(shader.number)),
        shader.stage,
        f"{shader.gpuaddr:#x}",
        str(shader.instructions),
        str(len(shader.code)),
        *registers,
        str(shader.uses),
        _where(shader, 4),
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _header(shader: CapturedShader) -> str:
    from cffpy.capture.gpu import generation_name

    used = "used " + (
        _count(shader.uses, "time") if shader.stage == "CS" else f"by {_count(shader.uses, 'draw')}"
    )
    where = _where(shader, _SHOWN_RANGES)
    return (
        f"{ShaderName(shader.number)}: {shader.stage}, {generation_name(shader.generation)}, "
        f"at {shader.gpuaddr:#x}, "
        f"{_count(shader.instructions, 'instruction')}, {len(shader.code)} bytes, "
        f"{used}{f' ({where})' if where else ''}, "
        f"named by {shader.named_by.name} in the packet at {shader.named_by.packet:#x}"
    )


def _where(shader: CapturedShader, limit: int) -> str:
    """``s0: #0-5, #7; s1: #8``, cut after ``limit`` ranges of draws of the dump."""
    shown: list[str] = []
    cut = not shader.where_is_complete
    for submit, ranges in shader.where:
        if limit <= 0:
            cut = True
            break
        cut = cut or len(ranges) > limit
        draws = ", ".join(str(DrawRange(*pair)) for pair in ranges[:limit])
        shown.append(f"{SubmitName(submit)}{f': {draws}' if draws else ''}")
        limit -= max(1, len(ranges))
    return "; ".join(shown) + (" ..." if cut else "")
