# SPDX-License-Identifier: MIT
"""``cffpy draws``: a line for each draw, dispatch and blit of a capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.cli.analysis_options import (
    analyse,
    capture_options,
    find,
    the_pass,
    write_csv,
    write_json,
    write_lines,
)
from cffpy.cli.table import columns

if TYPE_CHECKING:
    from cffpy.analysis.actions import Action
    from cffpy.capture.gpu import Gpu

_EPILOG = """\b
Examples:
  cffpy draws capture.rd.gz                   every execution
  cffpy draws --program capture.rd.gz         the program's draws, each once
  cffpy draws --pass 3 --csv capture.rd.gz
  cffpy draws --inherited capture.rd.gz       registers that survive into a submit
"""


@click.command(epilog=_EPILOG)
@click.option("--pass", "index", type=int, metavar="N", help="Only those of this pass.")
@click.option("--program", is_flag=True, help="The program's draws and dispatches, each once.")
@click.option(
    "--inherited",
    is_flag=True,
    help="Instead: registers whose values of earlier submits are in force at a submit's first"
    " draw or dispatch.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document (cffpy.draws/1).")
@click.option("--csv", "as_csv", is_flag=True, help="A table for other programs.")
@capture_options
def draws(
    path: str,
    gpu: Gpu | None,
    register_db: str | None,
    index: int | None,
    program: bool,
    inherited: bool,
    as_json: bool,
    as_csv: bool,
) -> int:
    """List draws, dispatches and blits, with pass, tile, size, shaders, targets and place.

    A draw has two numbers: 'dump' is its number in cffpy dump, where every tile and blit counts;
    'draw' is its number among the program's draws of its pass. What a condition keeps from being
    executed is listed too, since the dump counts it.

    FILE may be '-' for standard input. Exit code 1: the capture is damaged.
    """
    from cffpy.views import draws as view

    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other")
    if inherited:
        if as_csv or program or index is not None:
            raise click.UsageError("--inherited goes with --json only")
        return _inherited(path, gpu, register_db, as_json)
    finder, code = find(path, gpu, register_db)
    shown: list[Action] = finder.actions
    if program:
        shown = [draw for one in finder.found.passes for draw in one.program_draws]
    if index is not None:
        the_pass(finder, index)
        shown = [action for action in shown if action.pass_index == index]
    if as_json:
        write_json(view.SCHEMA, view.document(shown))
    elif as_csv:
        write_csv(view.CSV_COLUMNS, view.rows(shown))
    else:
        table = [view.HEADINGS, *map(view.cells, shown)]
        write_lines(columns(table, view.RIGHT))
    return code


def _inherited(path: str, gpu: Gpu | None, register_db: str | None, as_json: bool) -> int:
    from cffpy.analysis.provenance import inherited_registers
    from cffpy.views import state as view

    found, code = analyse(inherited_registers, path, gpu, register_db)
    if as_json:
        write_json(view.INHERITED_SCHEMA, view.inherited_document(found))
    else:
        write_lines(view.inherited_lines(found))
    return code
