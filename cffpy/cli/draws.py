# SPDX-License-Identifier: MIT
"""``cffpy draws``: the draws, dispatches and blits of a capture, one per line."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from cffpy.cli.analysis_options import decode, jsonl_option, open_for, the_pass
from cffpy.cli.filter_options import filter_options, find_asking, query_of, shown_columns
from cffpy.cli.intel_dispatch import or_intel
from cffpy.cli.many_files import Forms, Shown, files_options, write_shown
from cffpy.cli.parameters import Integer
from cffpy.cli.text_options import text_options
from cffpy.views.plain_text import headed_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cffpy.api.capture import Capture
    from cffpy.api.passes import Action
    from cffpy.api.selection import Found
    from cffpy.capture.gpu import Gpu
    from cffpy.query.filters import Filter

_EPILOG = """\b
Examples:
  cffpy draws capture.rd.gz                   each draw of the program once
  cffpy draws --all capture.rd.gz             each execution of each draw, blits too
  cffpy draws --pass 3 --csv capture.rd.gz
  cffpy draws --where 'RB_DEPTH_CNTL.ZFUNC == FUNC_LESS' --columns draw.vertices capture.rd.gz
  cffpy draws --inherited capture.rd.gz       values from earlier submits
  cffpy draws --csv captures/                 of all captures in a folder
"""


@click.command(epilog=_EPILOG)
@click.option("--pass", "index", type=Integer(), metavar="N", help="Only this pass.")
@click.option("--all", "everything", is_flag=True, help="Every execution, also blits and clears.")
@click.option(
    "--inherited",
    is_flag=True,
    help="List registers instead: those whose values at a submit's first draw or dispatch were"
    " written in an earlier submit.",
)
@filter_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document (cffpy.draws/2).")
@jsonl_option("draw", "cffpy.draws.line/1")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@text_options
@files_options
@or_intel("files", "index", "everything", "as_json", "as_csv")
def draws(
    files: tuple[str, ...],
    gpu: Gpu | None,
    register_db: str | None,
    index: int | None,
    everything: bool,
    inherited: bool,
    where: str | None,
    columns: str | None,
    as_json: bool,
    as_jsonl: bool,
    as_csv: bool,
) -> int:
    """List the program's draws and dispatches with pass, size, shaders, targets and location.

    Each draw has two names, which all commands take: 'dump' is its number in cffpy dump, which
    counts each execution (in every tile) and each blit; 'draw' is its number among the program's
    draws of its pass, as in p0:8. With --all every execution is listed, with its tile, and also
    those that are skipped by a condition, because the dump counts them.

    FILE may be '-' for standard input, or a folder: all captures in it and below. The exit code is
    1 if a capture is damaged, or one of several files cannot be read.
    """
    forms = Forms(as_json, as_jsonl, as_csv)
    forms.check()
    if inherited:
        if any((as_csv, as_jsonl, everything, index is not None, where, columns)):
            raise click.UsageError("--inherited can only be combined with --json")
        return write_shown(files, partial(_inherited, gpu, register_db), forms)
    query = query_of(where, columns)

    def show(path: str) -> Shown:
        capture, code = find_asking(path, gpu, register_db, query, at_draws=not everything)
        return _shown(capture, code, (index, everything), query, columns)

    return write_shown(files, show, forms)


def _shown(
    capture: Capture,
    code: int,
    of: tuple[int | None, bool],
    query: Filter | None,
    columns: str | None,
) -> Shown:
    """The draws of a capture. ``of``: the options --pass and --all."""
    from cffpy.views import draws as view

    index, everything = of
    shown = _chosen(capture, everything, index)
    if query is not None:
        chosen = _matching(capture, shown, query, everything)
        if columns is not None:
            named = [(one.name or "", found) for one, found in chosen]
            return shown_columns("draw", named, columns, capture, code)
        shown = [one for one, _ in chosen]

    def items() -> Iterable[dict[str, Any]]:
        return (action.to_dict() for action in shown)

    def lines() -> Iterable[str]:
        cells = [view.cells(action.model) for action in shown]
        return headed_columns([view.HEADINGS, *cells], view.RIGHT) if cells else ()

    return Shown(
        capture,
        code,
        view.SCHEMA,
        lambda: {"draws": items()},
        lines,
        view.CSV_COLUMNS,
        lambda: view.rows(action.model for action in shown),
        items,
    )


def _chosen(capture: Capture, everything: bool, index: int | None) -> Sequence[Action]:
    if index is None:
        return capture.actions if everything else capture.draws
    chosen = the_pass(capture, index)
    if everything:
        return [action for action in capture.actions if action.pass_ is chosen]
    return chosen.draws


def _matching(
    capture: Capture, shown: Sequence[Action], query: Filter, everything: bool
) -> Sequence[tuple[Action, Found]]:
    from cffpy.api.passes import Draw

    if everything:
        return capture.actions.choose(query, shown)
    return capture.draws.choose(query, [one for one in shown if isinstance(one, Draw)])


def _inherited(gpu: Gpu | None, register_db: str | None, path: str) -> Shown:
    from cffpy.views import state as view

    capture = open_for(path, gpu, register_db)
    found, code = decode(capture, lambda opened: opened.inherited)
    return Shown(
        capture,
        code,
        view.INHERITED_SCHEMA,
        lambda: view.inherited_document(found),
        lambda: view.inherited_lines(found),
    )
