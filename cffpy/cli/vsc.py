# SPDX-License-Identifier: MIT
"""``cffpy vsc``: visibility streams, of a capture's passes or of bytes that are given by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.cli.analysis_options import decoding_options
from cffpy.vsc.bins import MAX_BINS

if TYPE_CHECKING:
    from cffpy.capture.gpu import Gpu

_EPILOG = """\b
Examples:
  cffpy vsc capture.rd.gz                           all passes with hardware binning
  cffpy vsc --pass 3 --svg heat.svg capture.rd.gz   one of them as a heat map
  cffpy vsc --json capture.rd.gz | jq '.passes[].pipes[] | [.pipe, .state]'
  cffpy vsc --hex 'f9 62 80 00' --bins 4            a primitive stream
  cffpy vsc --hex 'f9 62 80 00' --bins 4 --primitive-count 10
  cffpy vsc --hex '9d45800002000000' --bins 4 --draws
  xxd -p stream.bin | cffpy vsc --hex - --bins 12 --json
"""


@click.command(epilog=_EPILOG)
@click.argument("path", metavar="[FILE]", required=False)
@click.option("--hex", "digits", metavar="HEX", help="The bytes of a stream; '-': standard input.")
@click.option(
    "--bins",
    "bin_count",
    metavar="N",
    type=click.IntRange(1, MAX_BINS),
    help="With --hex: bins of the VSC pipe (VSC_SIZE of CP_SET_BIN_DATA5).",
)
@click.option(
    "--primitives/--draws",
    "of_primitives",
    default=None,
    help="With --hex: which kind of stream it is. Default: primitives.",
)
@click.option(
    "--primitive-count",
    metavar="N",
    type=click.IntRange(0),
    help="With --hex: primitives that the draw has; the stream must have as many.",
)
@click.option("--pass", "index", type=int, metavar="N", help="With FILE: only this pass.")
@click.option(
    "--svg", metavar="OUT", help="With FILE: draw a heat map of a pass into OUT; '-' is stdout."
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="One JSON document (with FILE cffpy.vsc/1; with --pass also each draw that is visible).",
)
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
    as_json: bool,
) -> int:
    """Decode visibility streams of a6xx and a7xx: which bins draws and primitives cover.

    With FILE, a capture: for each pass with hardware binning and each VSC pipe where its streams
    are, their sizes against the limits, and, where they were captured and written, the draws and
    primitives that are visible in each bin. Streams are compared with the draws of the binning
    run; '!' marks what does not agree. The streams of earlier generations have other formats and
    are not decoded.

    A bin is shown by its slot in the pipe (VSC_N of CP_SET_BIN_DATA5). Which bit of a bitfield is
    slot 0 is not documented; it is taken to be the last one. 'bitfield' has the bits in the order
    of the stream.

    What is wrong with a stream is said with the bit where it is, after what could be decoded, and
    makes the exit code 1.
    """
    if digits is None:
        if path is None:
            raise click.UsageError("give --hex HEX --bins N, or FILE")
        if not (bin_count is None and of_primitives is None and primitive_count is None):
            raise click.UsageError("--bins, --primitives, --draws, --primitive-count need --hex")
        if as_json and svg is not None:
            raise click.UsageError("--json and --svg exclude each other")
        from cffpy.cli import vsc_capture

        return vsc_capture.show(path, gpu, register_db, index, as_json, svg)
    if path is not None:
        raise click.UsageError("give either --hex or FILE")
    if not (index is None and svg is None and gpu is None and register_db is None):
        raise click.UsageError("--pass, --svg, --gpu and --register-db need FILE")
    if bin_count is None:
        raise click.UsageError("--hex needs --bins N: nothing in a stream tells it")
    from cffpy.cli import vsc_hex

    if of_primitives is not False:
        return vsc_hex.show_primitives(digits, bin_count, primitive_count, as_json)
    if primitive_count is not None:
        raise click.UsageError("--primitive-count is for a primitive stream, not --draws")
    return vsc_hex.show_draws(digits, bin_count, as_json)
