# SPDX-License-Identifier: MIT
"""``cffpy disasm``: a shader binary as the reference lists it."""

from __future__ import annotations

import os
import re
import sys

import click

from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error
from cffpy.errors import CffpyError

_EPILOG = """\b
Examples:
  cffpy disasm 0003.fo3 --gpu 630
  cffpy disasm 0001.fo                        an a2xx fragment program, by its name
  cffpy disasm --gpu a7xx --format hex words.txt
  printf '%s' 03000000_00000000 | tr -d _ | cffpy disasm -
"""

_GPU_NUMBER = re.compile(r"a?([2-8])\d{2}", re.IGNORECASE)
_GPU_GENERATION = re.compile(r"a?([2-8])(?:xx)?", re.IGNORECASE)
_DEFAULT_GENERATION = 6
_A2XX = 2


def parse_generation(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> int | None:
    """The generation (2 ... 8) of a GPU number like 630 or a generation like a6xx or 6."""
    if text is None:
        return None
    found = _GPU_NUMBER.fullmatch(text) or _GPU_GENERATION.fullmatch(text)
    if found is None:
        raise click.BadParameter(f"'{text}' is neither a GPU like 630 nor a generation like a6xx")
    return int(found[1])


def read_input(path: str) -> bytes:
    """All bytes of a file, or of standard input for ``-``."""
    if path == "-":
        return sys.stdin.buffer.read()
    with open(path, "rb") as file:
        return file.read()


@click.command(epilog=_EPILOG)
@click.argument("path", metavar="FILE")
@click.option(
    "--gpu",
    "generation",
    metavar="GPU",
    callback=parse_generation,
    help="GPU like 630, or generation like a6xx (default: a2xx for .vo and .fo, else a6xx).",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("auto", "raw", "hex")),
    default="auto",
    help="What FILE holds: the program itself, or hex words or a listing. Default: auto.",
)
@click.option("--fragment", is_flag=True, help="a2xx: a fragment program (.fo says so itself).")
@click.help_option("-h", "--help")
def disasm(path: str, generation: int | None, form: str, fragment: bool) -> int:
    """Disassemble a shader binary, such as those that --dump-shaders writes.

    FILE may be '-' for standard input.
    """
    extension = os.path.splitext(path)[1]
    if generation is None:
        generation = _A2XX if extension in (".vo", ".fo") else _DEFAULT_GENERATION
    try:
        data = read_input(path)
        from cffpy.isa.program import from_hex, looks_like_hex

        if form == "hex" or (form == "auto" and looks_like_hex(data)):
            data = from_hex(data.decode("ascii", "replace"))
        text = _text(data, generation, fragment or extension == ".fo")
    except OSError as problem:
        print_error(f"{path}: {problem.strerror}")
        return EXIT_FAILURE
    except CffpyError as problem:
        print_error(f"{path}: {problem}")
        return EXIT_FAILURE
    sys.stdout.buffer.write(text.encode("latin-1"))
    return EXIT_OK


def _text(data: bytes, generation: int, fragment: bool) -> str:
    if generation == _A2XX:
        from cffpy.isa.a2xx import A2xxDisassembler

        return A2xxDisassembler().disassemble(data, 0, fragment)
    from cffpy.isa.ir3 import Ir3Disassembler

    return Ir3Disassembler(generation).disassemble(data, 0)
