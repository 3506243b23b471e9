# SPDX-License-Identifier: MIT
"""``cffpy asm``, ``disasm``, ``afuc``: instructions of shaders and of microcode, and their text."""

from __future__ import annotations

import os
import sys

import click

from cffpy.capture.gpu import generation_of
from cffpy.cli.forms import Forms, Result, write_output, write_page, write_result
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error
from cffpy.cli.parameters import command_limits, edition_option, output_option
from cffpy.cli.question import Question, asks
from cffpy.errors import CffpyError, IsaError, UsageError
from cffpy.limits import hint

_DISASM_EPILOG = """\b
Examples:
  cffpy disasm 0003.fo3 --gpu 630
  cffpy disasm 0001.fo                        a2xx fragment program
  cffpy disasm --gpu a7xx --input-format hex words.txt
  printf '%s' 03000000_00000000 | tr -d _ | cffpy disasm -
"""

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


@click.command(epilog=_DISASM_EPILOG)
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
    write_page(text.encode("latin-1"))
    return EXIT_OK


def _program(data: bytes, kind: str) -> bytes:
    """The program in a file. Raises CffpyError for a capture and for what is not hex text."""
    if kind == "auto" and _is_capture(data):
        raise CffpyError("this is a capture; cffpy shaders disassembles its shaders")
    from cffpy.isa.encode import from_hex, looks_like_hex

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


_ASM_EPILOG = """\b
Examples:
  cffpy asm --gpu 630 --expression "add.f r0.x, r0.y, (neg)c1.z"
  cffpy asm --gpu a7xx listing.txt
  cffpy disasm 0003.fo3 | sed 's/mul.f/add.f/' | cffpy asm --output-format raw - -o patched.fo3
"""
_DEFAULT_GENERATION = 6


@click.command(epilog=_ASM_EPILOG)
@click.argument("path", metavar="[FILE]", required=False)
@click.option(
    "--expression",
    "given",
    metavar="TEXT",
    multiple=True,
    help="Assemble this instruction instead of FILE.",
)
@click.option(
    "--output-format",
    "form",
    type=click.Choice(("hex", "raw")),
    default="hex",
    help="One word of 16 hex digits per line, or binary. Default: hex.",
)
@output_option("OUT", "Output file. Default: standard output.", default="-")
@asks("", text=False, edition=edition_option)
def asm(
    question: Question, path: str | None, given: tuple[str, ...], form: str, output: str
) -> int:
    """Assemble ir3 instructions, one per line, or a listing of cffpy disasm or dump.

    The GPU is an a6xx without --gpu. FILE may be '-' for standard input. In a listing, a line whose
    text still matches its hex columns keeps their exact bits, so only edited lines change. Fields
    that the text does not express get the value that Mesa's assembler gives them, usually 0. The
    result is disassembled again: a text that differs is an error. 'raw 0x...' is the word itself.
    'name:' labels the next instruction; '//' starts a comment.
    """
    if (path is None) == (not given):
        raise click.UsageError("give either FILE or --expression")
    gpu = question.gpu
    generation = _DEFAULT_GENERATION if gpu is None else gpu.generation
    if generation_of(generation).instruction_set != "ir3":
        raise click.UsageError("a2xx has no ir3 instructions")
    try:
        text = "\n".join(given) if path is None else read_input(path).decode("utf-8", "replace")
        words = _words(text, generation, question.register_db)
    except CffpyError as problem:
        print_error(f"{path or '--expression'}: {problem}")
        return EXIT_FAILURE
    if form == "raw":
        data = b"".join(word.to_bytes(8, "little") for word in words)
    else:
        data = "".join(f"{word:016x}\n" for word in words).encode()
    write_output(output, [data], [] if path is None else [path])
    return EXIT_OK


def _words(text: str, generation: int, register_db: str | None) -> list[int]:
    from cffpy.isa.encode import Assembler, assemble_program
    from cffpy.isa.ir3 import Ir3Disassembler
    from cffpy.pm4.descriptions import instruction_edition

    directory = instruction_edition(register_db, generation)
    disassembler = Ir3Disassembler(generation, directory)
    return assemble_program(text, Assembler(generation, directory), disassembler)


_AFUC_EPILOG = """\b
Examples:
  cffpy afuc disasm a630_sqe.fw > sqe.asm
  cffpy afuc asm sqe.asm -o a630_sqe.fw
"""
_AFUC_DISASM_EPILOG = """\b
Examples:
  cffpy afuc disasm a630_sqe.fw > sqe.asm
  cffpy afuc disasm --gpu a7xx --json gen70900_sqe.fw | jq '.sections[].name'
  cffpy afuc disasm --raw --gpu a6xx words.bin
"""
_AFUC_ASM_EPILOG = """\b
Examples:
  cffpy afuc asm sqe.asm -o a630_sqe.fw
  cffpy afuc asm --gpu 730 edited.asm -o gen70000_sqe.fw
"""

_raw = click.option(
    "--raw", "is_raw", is_flag=True, help="The file is dwords alone, without header and table."
)


@click.group(epilog=_AFUC_EPILOG)
@click.help_option("-h", "--help")
def afuc() -> None:
    """Disassemble and assemble the microcode of the command processor (SQE, a5xx to a7xx).

    The text is that of Mesa's afuc tools.
    """


@afuc.command("disasm", epilog=_AFUC_DISASM_EPILOG)
@click.argument("path", metavar="FILE")
@_raw
@asks("", forms=Forms(json="cffpy.microcode/1"), edition=edition_option)
def afuc_disasm(question: Question, path: str, is_raw: bool) -> int:
    """Disassemble a firmware file, such as a630_sqe.fw.

    Each processor of the firmware (SQE, BV, LPAC) is a section: its instructions, with the names of
    packets where their handlers begin, and its packet table. What is not an instruction is shown as
    data in brackets. 'cffpy afuc asm' makes the same file of the text.

    FILE may be '-' for standard input. Without --gpu, the generation is taken from the firmware's
    id, else from the file's name.
    """
    from cffpy.api.microcode import disassemble_microcode
    from cffpy.views import microcode as view

    try:
        data = read_input(path)
        microcode = disassemble_microcode(
            data, question.gpu, name=path, is_raw=is_raw, register_db=question.register_db
        )
    except UsageError as problem:
        raise click.UsageError(str(problem)) from None
    except CffpyError as problem:
        print_error(f"{path}: {problem}")
        return EXIT_FAILURE
    return write_result(Result(view.SCHEMA, microcode.to_dict, microcode.lines), question)


@afuc.command("asm", epilog=_AFUC_ASM_EPILOG)
@click.argument("path", metavar="FILE")
@_raw
@output_option("OUT.fw", "Output file.", required=True)
@asks("", text=False, edition=edition_option)
def afuc_asm(question: Question, path: str, output: str, is_raw: bool) -> int:
    """Assemble microcode to a firmware file.

    FILE is a text as 'cffpy afuc disasm' prints it: one instruction a line, 'name:' for a label,
    ';' before a comment. A label with a packet's name, or with 'UNKN' and its number, is that
    packet's handler, and '.jumptbl' the packet table. Each instruction is disassembled again: a
    text that differs is an error.

    FILE may be '-' for standard input, OUT.fw '-' for standard output. Without --gpu, a first line
    like '; a6xx microcode' names the generation, else the firmware's id in the first dword does.
    """
    from cffpy.api.microcode import assemble_microcode

    try:
        text = read_input(path).decode("utf-8", "replace")
        data = assemble_microcode(
            text, question.gpu, name=path, is_raw=is_raw, register_db=question.register_db
        )
    except UsageError as problem:
        raise click.UsageError(str(problem)) from None
    except IsaError as problem:
        print_error(str(problem))
        return EXIT_FAILURE
    except CffpyError as problem:
        print_error(f"{path}: {problem}")
        return EXIT_FAILURE
    write_output(output, [data], [path])
    return EXIT_OK
