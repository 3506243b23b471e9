# SPDX-License-Identifier: MIT
"""``cffpy vsc``: visibility streams, of a capture or of bytes given as hex."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.cli.analysis_options import decoding_options
from cffpy.cli.parameters import Integer, IntegerRange
from cffpy.cli.text_options import text_options
from cffpy.vsc.bits import MAX_BINS

if TYPE_CHECKING:
    from cffpy.capture.gpu import Gpu

_EPILOG = """\b
Examples:
  cffpy vsc capture.rd.gz                           all binned passes
  cffpy vsc --pass 3 --svg heat.svg capture.rd.gz   one pass as a heat map
  cffpy vsc --json capture.rd.gz | jq '.passes[].pipes[] | [.pipe, .state]'
  cffpy vsc --hex 'f9 62 80 00' --bins 4            a primitive stream
  cffpy vsc --hex 'f9 62 80 00' --bins 4 --primitive-count 10
  cffpy vsc --hex '9d45800002000000' --bins 4 --draws
  xxd -p stream.bin | cffpy vsc --hex - --bins 12 --json
"""


@click.command(epilog=_EPILOG)
@click.argument("path", metavar="[FILE]", required=False)
@click.option("--hex", "digits", metavar="HEX", help="Decode these bytes ('-': standard input).")
@click.option(
    "--bins",
    "bin_count",
    metavar="N",
    type=IntegerRange(1, MAX_BINS),
    help="With --hex: number of bins of the VSC pipe (VSC_SIZE of CP_SET_BIN_DATA5).",
)
@click.option(
    "--primitives/--draws",
    "of_primitives",
    default=None,
    help="With --hex: kind of stream. Default: primitives.",
)
@click.option(
    "--primitive-count",
    metavar="N",
    type=IntegerRange(0),
    help="With --hex: number of primitives of the draw, to check the stream against.",
)
@click.option("--pass", "index", type=Integer(), metavar="N", help="With FILE: only this pass.")
@click.option(
    "--svg", metavar="OUT", help="With FILE: draw a heat map of a pass to OUT ('-': stdout)."
)
@click.option(
    "--plot", is_flag=True, default=None, help="With FILE: draw heat maps with characters."
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON document (cffpy.vsc/1 for FILE; with --pass it lists visible draws).",
)
@text_options
@decoding_options
def vsc(
    path: str | None,
    gpu: Gpu | None,
    register_db: str | None,
    digits: str | None,
    bin_count: int | None,
    of_primitives: bool | None,
    primitive_count: int | None,
    index: int | None,
    svg: str | None,
    plot: bool | None,
    as_json: bool,
) -> int:
    """Decode visibility streams of a6xx and a7xx: which bins draws and primitives cover.

    With FILE, a capture, the output lists for each pass with hardware binning and each VSC pipe
    the addresses and sizes of the streams. If they were captured and written, it also lists the
    draws and primitives visible in each bin. Streams are compared with the draws of the binning
    pass; '!' marks contradictions. Earlier generations use other formats, which are not decoded.

    A bin is given by its slot in the pipe (VSC_N of CP_SET_BIN_DATA5). Which bit of a bitfield is
    slot 0 is not documented; cffpy assumes the last one. 'bitfield' has the bits in stream order.

    Errors in a stream are reported with their bit offset, after what could be decoded, and set the
    exit code to 1.
    """
    if digits is None:
        if path is None:
            raise click.UsageError("give FILE, or --hex HEX --bins N")
        reason = "--bins, --primitives, --draws, --primitive-count need --hex"
        _refuse(reason, bin_count, of_primitives, primitive_count)
        if as_json:
            _refuse("--json, --svg and --plot cannot be used together", svg, plot)
        if plot:
            _refuse("--json, --svg and --plot cannot be used together", svg)
        from cffpy.cli import vsc_capture

        return vsc_capture.show(path, gpu, register_db, index, as_json, svg, bool(plot))
    _refuse("--hex and FILE cannot be used together", path)
    reason = "--pass, --svg, --plot, --gpu and --register-db need FILE"
    _refuse(reason, index, svg, plot, gpu, register_db)
    if bin_count is None:
        raise click.UsageError("--hex needs --bins N")
    from cffpy.cli import vsc_hex

    if of_primitives is not False:
        return vsc_hex.show_primitives(digits, bin_count, primitive_count, as_json)
    _refuse("--primitive-count cannot be used with --draws", primitive_count)
    return vsc_hex.show_draws(digits, bin_count, as_json)


def _refuse(reason: str, *values: object) -> None:
    """Raise a usage error if any of these options was given."""
    if any(value is not None for value in values):
        raise click.UsageError(reason)
