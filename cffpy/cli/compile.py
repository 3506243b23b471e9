# SPDX-License-Identifier: MIT
"""``cffpy compile``: build a capture from text of the packet assembly language."""

from __future__ import annotations

import sys

import click

from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error
from cffpy.cli.output_file import capture_file, write_output
from cffpy.cli.parameters import command_limits, edition_option, limit_option
from cffpy.cli.progress import progress
from cffpy.errors import CffpyError

_EPILOG = """\b
Examples:
  cffpy compile samples/a630-triangle.pm4 -o triangle.rd
  cffpy compile edited.pm4 -o edited.rd.gz && cffpy dump edited.rd.gz
  cffpy compile --check edited.pm4
"""


@click.command(name="compile", epilog=_EPILOG)
@click.argument("path", metavar="IN.pm4")
@click.option(
    "-o", "--output", metavar="OUT.rd[.gz]", help="Output file; compressed if its name ends in .gz."
)
@click.option("--check", is_flag=True, help="Check the text without writing anything.")
@edition_option
@limit_option
@click.help_option("-h", "--help")
def compile_command(path: str, output: str | None, check: bool, register_db: str | None) -> int:
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
                data = assemble(sys.stdin.buffer, "standard input", register_db, most)
        else:
            with open(path, "rb") as stream, progress(f"Compiling {path}"):
                data = assemble(stream, path, register_db, most)
    except CffpyError as problem:
        print_error(str(problem))
        return EXIT_FAILURE
    except OSError as problem:
        print_error(f"{path}: {problem.strerror or problem}")
        return EXIT_FAILURE
    if output is not None:
        write_output(output, capture_file(output, [data], len(data)), [path])
    return EXIT_OK
