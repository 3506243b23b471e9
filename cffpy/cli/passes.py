# SPDX-License-Identifier: MIT
"""``cffpy passes``: the render passes of a capture, and the work between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.cli.analysis_options import (
    capture_options,
    find,
    not_there,
    submit_option,
    the_pass,
    write_csv,
    write_json,
)
from cffpy.cli.parameters import Integer
from cffpy.cli.text_options import text_options, write_lines

if TYPE_CHECKING:
    from cffpy.capture.gpu import Gpu

_EPILOG = """\b
Examples:
  cffpy passes capture.rd.gz
  cffpy passes --pass 3 capture.rd.gz         only pass 3
  cffpy passes --csv capture.rd.gz            a row for each pass
  cffpy passes --json capture.rd.gz | jq '.submits[].passes[] | [.pass, .mode]'
"""


@click.command(epilog=_EPILOG)
@click.option("--pass", "index", type=Integer(), metavar="N", help="Only this pass.")
@submit_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document (cffpy.passes/1).")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with a row for each pass.")
@text_options
@capture_options
def passes(
    path: str,
    gpu: Gpu | None,
    register_db: str | None,
    index: int | None,
    submit: int | None,
    as_json: bool,
    as_csv: bool,
) -> int:
    """Find the render passes of a capture, and the dispatches and copies between them.

    For each pass: mode, framebuffer, tiles, attachments with their loads, clears and stores, the
    program's draws and their numbers in the dump, LRZ, and the location in the capture. Values
    that the command stream does not contain are shown as unknown.

    FILE may be '-' for standard input. The exit code is 1 if the capture is damaged.
    """
    from cffpy.analysis.passes.model import SubmitPasses
    from cffpy.views import passes as text
    from cffpy.views import passes_document as view

    if as_json and as_csv:
        raise click.UsageError("--json and --csv cannot be used together")
    capture, code = find(path, gpu, register_db)
    shown = capture.model.submits
    if submit is not None:
        shown = [one for one in shown if one.number == submit]
        if not shown:
            numbers = ", ".join(str(one.number) for one in capture.model.submits) or "none"
            raise not_there(
                capture, f"submit {submit} has no passes; submits with passes: {numbers}"
            )
    if index is not None:
        one = the_pass(capture, index)
        if submit is not None and submit != one.submit:
            raise not_there(capture, f"pass {index} is in submit {one.submit}")
        shown = [SubmitPasses(one.submit, [one.model])]
    if as_json:
        write_json(view.SCHEMA, view.document(capture.model, shown), capture.truncated)
    elif as_csv:
        write_csv(view.CSV_COLUMNS, view.rows(shown))
    else:
        write_lines(text.lines(capture.model, shown), capture.truncated)
    return code
