# SPDX-License-Identifier: MIT
"""``cffpy decompile``: a capture as a text of the packet assembly language."""

from __future__ import annotations

import click

from cffpy.cli.analysis_options import print_problems, submit_option
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error, print_warning
from cffpy.cli.output_file import write_output
from cffpy.cli.parameters import command_limits, edition_option, limit_option
from cffpy.cli.progress import progress
from cffpy.errors import CffpyError

_EPILOG = """\b
Examples:
  cffpy decompile capture.rd.gz -o capture.pm4
  cffpy decompile --submit 3 capture.rd.gz | less
  cffpy decompile capture.rd | sed 's/CULL_BACK, //' | cffpy compile - -o changed.rd
"""


@click.command(name="decompile", epilog=_EPILOG)
@click.argument("path", metavar="FILE")
@click.option(
    "-o", "--output", default="-", metavar="OUT.pm4", help="Output file. Default: standard output."
)
@submit_option
@edition_option
@limit_option
@click.help_option("-h", "--help")
def decompile_command(path: str, output: str, submit: int | None, register_db: str | None) -> int:
    """Write a capture as text: packets, registers and programs by name, everything else as data.

    'cffpy compile' turns the text back into the same decompressed bytes. FILE may be '-' for
    standard input, OUT.pm4 '-' for standard output. The
    exit code is 1 if the capture is damaged; the text then contains what could be read.
    """
    from cffpy.analysis.crash.opening import check_capture
    from cffpy.container.damage import Damage
    from cffpy.container.open import open_capture
    from cffpy.pm4asm.decompile import decompile

    damage: list[Damage] = []
    try:
        content = check_capture(open_capture(path, command_limits()))
        pieces = decompile(content, damage, print_warning, register_db, submit)
        with progress(f"Reading {path}", content):
            write_output(output, (piece.encode() for piece in pieces), [path])
    except CffpyError as problem:
        print_problems(path, damage)
        print_error(str(problem))
        return EXIT_FAILURE
    print_problems(path, damage)
    return EXIT_FAILURE if damage or content.truncated else EXIT_OK
