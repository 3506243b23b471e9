# SPDX-License-Identifier: MIT
"""``cffpy repair``: a damaged capture to one that is whole, as far as it goes."""

from __future__ import annotations

import sys

import click

from cffpy.cli.limit_option import limit_option
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error
from cffpy.cli.output_file import capture_file, write_output
from cffpy.errors import CffpyError, ContainerError

_EPILOG = """\b
Examples:
  cffpy repair cut.rd.gz -o whole.rd.gz
  cffpy repair cut.rd.gz --address 0x1000a000 --size 412 -o whole.rd.gz
"""


def _number(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """A number, also with 0x in front."""
    if text is None:
        return None
    try:
        number = int(text, 0)
    except ValueError:
        number = -1
    if number < 0:
        raise click.BadParameter(f"{text!r} is no number")
    return number


@click.command(epilog=_EPILOG)
@click.argument("path", metavar="FILE")
@click.option(
    "-o", "--output", required=True, metavar="OUT.rd[.gz]", help="Compressed if it ends in .gz."
)
@click.option("--address", callback=_number, metavar="A", help="Where the missing stream begins.")
@click.option("--size", callback=_number, metavar="N", help="How long it is, in dwords.")
@limit_option
@click.help_option("-h", "--help")
def repair(path: str, output: str, address: int | None, size: int | None) -> int:
    """Make a damaged capture whole: its sections, not the commands in them.

    A section that the file's end cuts is dropped, and so are bytes that are no section. Where the
    last buffers have no RD_CMDSTREAM_ADDR, one is added: at --address, or at the address of an
    earlier submit's stream, or at the only buffer of commands that no other one calls. Standard
    error says what was done. FILE may be '-' for standard input, OUT.rd '-' for standard output.
    """
    if (address or 0) >> 64 or (size or 0) >> 32:
        raise click.UsageError("--address has 64 bits at most, --size 32")
    if size is not None and address is None:
        raise click.UsageError("--size belongs to --address")
    from cffpy.analysis.repair import repair as repair_capture
    from cffpy.container.open import open_capture

    try:
        repaired = repair_capture(open_capture(path), address, size)
    except CffpyError as problem:
        # that of a file names it
        print_error(str(problem) if isinstance(problem, ContainerError) else f"{path}: {problem}")
        return EXIT_FAILURE
    write_output(output, [capture_file(output, repaired.data)], [path])
    for line in repaired.messages or ["nothing to repair"]:
        print(f"cffpy: {line}", file=sys.stderr)
    return EXIT_OK
