# SPDX-License-Identifier: MIT
"""``cffpy repair``: remove damage from a capture."""

from __future__ import annotations

import click

from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error, print_note
from cffpy.cli.output_file import capture_file, write_output
from cffpy.cli.parameters import Address, command_limits, output_option
from cffpy.cli.question import Question, asks
from cffpy.errors import CffpyError, ContainerError

_EPILOG = """\b
Examples:
  cffpy repair cut.rd.gz -o whole.rd.gz
  cffpy repair cut.rd.gz --address 0x1000a000 --dwords 412 -o whole.rd.gz
"""


@click.command(epilog=_EPILOG)
@click.argument("path", metavar="FILE")
@click.option(
    "--address", type=Address(), metavar="A", help="Address of the missing command stream."
)
@click.option("--dwords", type=Address(), metavar="N", help="Its size in dwords.")
@output_option("OUT.rd[.gz]", "Output file; compressed if its name ends in .gz.", required=True)
@asks("", text=False, gpu=None, edition=None)
def repair(
    _question: Question, path: str, output: str, address: int | None, dwords: int | None
) -> int:
    """Remove damage from the sections of a capture; commands in them are not changed.

    A section that is cut off by the end of the file is dropped, and so are bytes between sections:
    the search for the next section continues byte by byte. (All other commands stop there, as
    cffdump does.) If no RD_CMDSTREAM_ADDR follows the last buffers, it is added: with --address, or
    as in the last earlier submit whose streams begin in these buffers. If there is none, --address
    is required: buffers do not show which of them was submitted. Without --dwords, the stream ends
    with the last packet. Standard error reports every change. FILE may be '-' for standard input,
    OUT.rd '-' for standard output.
    """
    if (address or 0) >> 64 or (dwords or 0) >> 32:
        raise click.UsageError("--address is limited to 64 bits, --dwords to 32")
    if dwords is not None and address is None:
        raise click.UsageError("--dwords needs --address")
    from cffpy.analysis.crash.opening import check_capture
    from cffpy.analysis.repair import repair as repair_capture
    from cffpy.container.open import open_capture

    try:
        content = check_capture(open_capture(path, command_limits()))
        repaired = repair_capture(content, address, dwords)
    except CffpyError as problem:
        # ContainerError names the file itself
        print_error(str(problem) if isinstance(problem, ContainerError) else f"{path}: {problem}")
        return EXIT_FAILURE
    write_output(output, capture_file(output, repaired.pieces, repaired.size), [path])
    for line in repaired.messages or ["nothing to repair"]:
        print_note(line)
    return EXIT_OK
