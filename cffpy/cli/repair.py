# SPDX-License-Identifier: MIT
"""``cffpy repair``: remove damage from a capture."""

from __future__ import annotations

import click

from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error, print_note
from cffpy.cli.output_file import capture_file, write_output
from cffpy.cli.parameters import Address, command_limits, limit_option, output_option
from cffpy.errors import CffpyError, ContainerError

_EPILOG = """\b
Examples:
  cffpy repair cut.rd.gz -o whole.rd.gz
  cffpy repair cut.rd.gz --address 0x1000a000 --size 412 -o whole.rd.gz
"""


@click.command(epilog=_EPILOG)
@click.argument("path", metavar="FILE")
@output_option("OUT.rd[.gz]", "Output file; compressed if its name ends in .gz.", required=True)
@click.option(
    "--address", type=Address(), metavar="A", help="Address of the missing command stream."
)
@click.option("--size", type=Address(), metavar="N", help="Its size in dwords.")
@limit_option
@click.help_option("-h", "--help")
def repair(path: str, output: str, address: int | None, size: int | None) -> int:
    """Remove damage from the sections of a capture; commands in them are not changed.

    A section that is cut off by the end of the file is dropped, and so are bytes between sections:
    the search for the next section continues byte by byte. (All other commands stop there, as
    cffdump does.) If no RD_CMDSTREAM_ADDR follows the last buffers, it is added: with --address, or
    as in the last earlier submit whose streams begin in these buffers. If there is none, --address
    is required: buffers do not show which of them was submitted. Without --size, the stream ends
    with the last packet. Standard error reports every change. FILE may be '-' for standard input,
    OUT.rd '-' for standard output.
    """
    if (address or 0) >> 64 or (size or 0) >> 32:
        raise click.UsageError("--address is limited to 64 bits, --size to 32")
    if size is not None and address is None:
        raise click.UsageError("--size needs --address")
    from cffpy.analysis.crash.opening import check_capture
    from cffpy.analysis.repair import repair as repair_capture
    from cffpy.container.open import open_capture

    try:
        content = check_capture(open_capture(path, command_limits()))
        repaired = repair_capture(content, address, size)
    except CffpyError as problem:
        # ContainerError names the file itself
        print_error(str(problem) if isinstance(problem, ContainerError) else f"{path}: {problem}")
        return EXIT_FAILURE
    write_output(output, capture_file(output, repaired.pieces, repaired.size), [path])
    for line in repaired.messages or ["nothing to repair"]:
        print_note(line)
    return EXIT_OK
