# SPDX-License-Identifier: MIT
"""``cffpy disasm``: disassemble a shader binary."""

from __future__ import annotations

import os
import sys

import click

from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, PagedOutput, print_error, write_all
from cffpy.cli.parameters import command_limits, edition_option
from cffpy.cli.question import Question, asks
from cffpy.cli.text_options import given_text_options
from cffpy.errors import CffpyError
from cffpy.limits import hint

_EPILOG = """\b
Examples:
  cffpy disasm 0003.fo3 --gpu 630
  cffpy disasm 0001.fo                        a2xx fragment program
  cffpy disasm --gpu a7xx --input-format hex words.txt
  printf '%s' 03000000_00000000 | tr -d _ | cffpy disasm -
"""

_DEFAULT_GENERATION = 6
_A2XX = 2

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
    "--input-format",
    "kind",
    type=click.Choice(("auto", "raw", "hex")),
    default="auto",
    help="Content of FILE: binary (raw), or hex words or a listing (hex). Default: auto.",
)
@click.option("--fragment", is_flag=True, help="a2xx: fragment program (implied by .fo).")
@asks(edition=edition_option)
def disasm(question: Question, kind: str, fragment: bool) -> int:
    """Disassemble a shader binary, such as those written by dump --dump-shaders.

    'cffpy shaders' disassembles those of a capture. FILE may be '-' for standard input.
    """
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
        raise CffpyError("this is a capture; cffpy shaders disassembles its shaders")
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
