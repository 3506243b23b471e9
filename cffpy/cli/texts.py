# SPDX-License-Identifier: MIT
"""``cffpy decompile`` and ``cffpy compile``: captures as text of the packet assembly language."""

from __future__ import annotations

import sys

import click

from cffpy.cli.captures import print_problems
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error, print_warning
from cffpy.cli.output_file import capture_file, write_output
from cffpy.cli.parameters import command_limits, edition_option, output_option
from cffpy.cli.progress import progress
from cffpy.cli.question import Places, Question, asks
from cffpy.errors import CffpyError
from cffpy.frame.places import SubmitName

_DECOMPILE_EPILOG = """\b
Examples:
  cffpy decompile capture.rd.gz -o capture.pm4
  cffpy decompile --submit 3 capture.rd.gz | less
  cffpy decompile capture.rd | sed 's/CULL_BACK, //' | cffpy compile - -o changed.rd
"""
_COMPILE_EPILOG = """\b
Examples:
  cffpy compile triangle.pm4 -o triangle.rd
  cffpy compile edited.pm4 -o edited.rd.gz && cffpy dump edited.rd.gz
  cffpy compile --check edited.pm4
"""


@click.command(name="decompile", epilog=_DECOMPILE_EPILOG)
@click.argument("path", metavar="FILE")
@output_option("OUT.pm4", "Output file. Default: standard output.", default="-")
@asks("", places=Places((SubmitName,)), text=False, gpu=None, edition=edition_option)
def decompile_command(question: Question, path: str, output: str) -> int:
    """Write a capture as text: packets, registers and programs by name, everything else as data.

    'cffpy compile' turns the text back into the same decompressed bytes. FILE may be '-' for
    standard input, OUT.pm4 '-' for standard output. The
    exit code is 1 if the capture is damaged; the text then contains what could be read.
    """
    from cffpy.analysis.crash.opening import check_capture
    from cffpy.container.damage import Damage
    from cffpy.container.open import open_capture
    from cffpy.pm4asm.decompile import decompile

    place = question.place
    number = place.number if isinstance(place, SubmitName) else None
    damage: list[Damage] = []
    try:
        content = check_capture(open_capture(path, command_limits()))
        pieces = decompile(content, damage, print_warning, question.register_db, number)
        with progress(f"Reading {path}", content):
            write_output(output, (piece.encode() for piece in pieces), [path])
    except CffpyError as problem:
        print_problems(path, damage)
        print_error(str(problem))
        return EXIT_FAILURE
    print_problems(path, damage)
    return EXIT_FAILURE if damage or content.truncated else EXIT_OK


@click.command(name="compile", epilog=_COMPILE_EPILOG)
@click.argument("path", metavar="IN.pm4")
@click.option("--check", is_flag=True, help="Check the text without writing anything.")
@output_option("OUT.rd[.gz]", "Output file; compressed if its name ends in .gz.")
@asks("", text=False, gpu=None, edition=edition_option)
def compile_command(question: Question, path: str, output: str | None, check: bool) -> int:
    """Build a capture from text of the packet assembly language.

    IN.pm4 may be '-' for standard input, OUT.rd '-' for standard output. Nothing is written if the
    text has errors. The language is that of 'cffpy decompile'.
    """
    if (output is None) != check:
        raise click.UsageError("give either -o OUT.rd or --check")
    from cffpy.pm4asm.assemble import assemble

    try:
        if path == "-" and sys.stdin is None:
            raise CffpyError("standard input is closed")
        most = command_limits().stored_bytes
        if path == "-":
            with progress("Compiling standard input"):
                data = assemble(sys.stdin.buffer, "standard input", question.register_db, most)
        else:
            with open(path, "rb") as stream, progress(f"Compiling {path}"):
                data = assemble(stream, path, question.register_db, most)
    except CffpyError as problem:
        print_error(str(problem))
        return EXIT_FAILURE
    except OSError as problem:
        print_error(f"{path}: {problem.strerror or problem}")
        return EXIT_FAILURE
    if output is not None:
        write_output(output, capture_file(output, [data], len(data)), [path])
    return EXIT_OK
