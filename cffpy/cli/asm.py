# SPDX-License-Identifier: MIT
"""``cffpy asm``: assemble ir3 instructions into 64-bit words."""

from __future__ import annotations

import sys

import click

from cffpy.capture.gpu import generation_of
from cffpy.cli.disasm import read_input
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error
from cffpy.cli.parameters import edition_option
from cffpy.cli.question import Question, asks
from cffpy.errors import CffpyError

_EPILOG = """\b
Examples:
  cffpy asm --gpu 630 --expression "add.f r0.x, r0.y, (neg)c1.z"
  cffpy asm --gpu a7xx listing.txt
  cffpy disasm 0003.fo3 | sed 's/mul.f/add.f/' | cffpy asm --output-format raw - > patched.fo3
"""
_DEFAULT_GENERATION = 6


@click.command(epilog=_EPILOG)
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
@asks("", text=False, edition=edition_option)
def asm(question: Question, path: str | None, given: tuple[str, ...], form: str) -> int:
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
        sys.stdout.buffer.write(b"".join(word.to_bytes(8, "little") for word in words))
    else:
        sys.stdout.write("".join(f"{word:016x}\n" for word in words))
    return EXIT_OK


def _words(text: str, generation: int, register_db: str | None) -> list[int]:
    from cffpy.isa.encode import Assembler
    from cffpy.isa.ir3 import Ir3Disassembler
    from cffpy.isa.program import assemble_program
    from cffpy.pm4.descriptions import instruction_edition

    directory = instruction_edition(register_db, generation)
    disassembler = Ir3Disassembler(generation, directory)
    return assemble_program(text, Assembler(generation, directory), disassembler)
