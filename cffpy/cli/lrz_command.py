# SPDX-License-Identifier: MIT
"""``cffpy lrz``: which draws use low-resolution depth, and why the others do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.cli.analysis_options import (
    capture_options,
    check_one_form,
    decode,
    jsonl_option,
    open_for,
    the_pass,
    write_json,
    write_json_lines,
)
from cffpy.cli.parameters import Integer
from cffpy.cli.text_options import text_options, write_lines

if TYPE_CHECKING:
    from cffpy.capture.gpu import Gpu

_EPILOG = """\b
Examples:
  cffpy lrz capture.rd.gz
  cffpy lrz --pass 3 capture.rd.gz        only pass 3
  cffpy lrz --json capture.rd.gz | jq '.passes[] | [.pass, .lost_by_draw]'
"""


@click.command(epilog=_EPILOG)
@click.option("--pass", "index", type=Integer(), metavar="N", help="Only this pass.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document (cffpy.lrz/2).")
@jsonl_option("pass", "cffpy.lrz.line/2")
@text_options
@capture_options
def lrz(
    path: str,
    gpu: Gpu | None,
    register_db: str | None,
    index: int | None,
    as_json: bool,
    as_jsonl: bool,
) -> int:
    """Show for each draw of each pass whether it tests and writes LRZ, and why not (a5xx to a7xx).

    LRZ, low-resolution depth, rejects whole blocks of pixels before the fragment program runs.
    Some states turn it off for a draw, others for the rest of the pass: the draw that lost it is
    named, with the number of later draws that would have used it. Reasons are derived from the
    state at the draw by the rules of Mesa's drivers; "not known" where no rule applies.

    FILE may be '-' for standard input. The exit code is 1 if the capture is damaged.
    """
    from cffpy.views import lrz as view

    check_one_form(as_json=as_json, as_jsonl=as_jsonl)
    capture = open_for(path, gpu, register_db)
    shown, code = decode(capture, lambda opened: opened.lrz)
    if index is not None:
        the_pass(capture, index)
        shown = [one for one in shown if one.found.index == index]
    if as_json:
        write_json(view.SCHEMA, view.document(capture.model, shown), capture.truncated)
    elif as_jsonl:
        write_json_lines(map(view.pass_document, shown), path)
    else:
        write_lines(view.lines(shown), capture.truncated)
    return code
