# SPDX-License-Identifier: MIT
"""``cffpy draws``: the draws, dispatches and blits of a capture, one per line."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from cffpy.cli.analysis_options import decode, jsonl_option, not_there, open_for, the_pass
from cffpy.cli.filter_options import filter_options, find_asking, query_of, shown_columns
from cffpy.cli.intel_dispatch import or_intel
from cffpy.cli.many_files import Forms, Shown, files_options, write_shown
from cffpy.cli.output import print_warning
from cffpy.cli.parameters import Integer
from cffpy.cli.text_options import text_options
from cffpy.views.plain_text import headed_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cffpy.api.capture import Capture
    from cffpy.api.selection import Found
    from cffpy.capture.gpu import Gpu
    from cffpy.frame.action import Action
    from cffpy.query.filters import Filter

_EPILOG = """\b
Examples:
  cffpy draws capture.rd.gz                   each draw of the program once
  cffpy draws --all capture.rd.gz             each execution of each draw, blits too
  cffpy draws --pass 3 --csv capture.rd.gz
  cffpy draws --pass 3 --tile 5 --visible capture.rd.gz
  cffpy draws --where 'RB_DEPTH_CNTL.ZFUNC == FUNC_LESS' --columns draw.vertices capture.rd.gz
  cffpy draws --inherited capture.rd.gz       values from earlier submits
  cffpy draws --csv captures/                 of all captures in a folder
"""


@click.command(epilog=_EPILOG)
@click.option("--pass", "index", type=Integer(), metavar="N", help="Only this pass.")
@click.option("--all", "everything", is_flag=True, help="Every execution, also blits and clears.")
@click.option("--tile", type=Integer(), metavar="N", help="The executions of draws in this tile.")
@click.option("--visible", is_flag=True, help="Only what the visibility stream draws in its tile.")
@click.option(
    "--inherited",
    is_flag=True,
    help="List registers instead: those whose values at a submit's first draw or dispatch were"
    " written in an earlier submit.",
)
@filter_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document (cffpy.draws/1).")
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
    tile: int | None,
    visible: bool,
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
    those that are skipped by a condition, because the dump counts them. Packets that copy memory
    (CP_MEM_TO_MEM, CP_MEMCPY) are listed then, too, but not with --where.

    Copies, blits, fills, clears, loads and stores have a source and a destination: address or
    offset in GMEM, format, tiling, pitch, rectangle.

    Numbers of an indirect draw are what packets of its submit have stored, else what was captured
    before the submit ran: a program of the submit may have stored others.

    A draw is emitted in a tile if the stream calls it there, visible if the visibility stream says
    that it draws, executed if the conditions hold that it is under. --tile, --visible and filters
    that name draw.tile, draw.visible or a property of tiles list executions of the program's draws.

    FILE may be '-' for standard input, or a folder: all captures in it and below. The exit code is
    1 if a capture is damaged, or one of several files cannot be read.
    """
    forms = Forms(as_json, as_jsonl, as_csv)
    forms.check()
    if inherited:
        of_draws = everything, index is not None, tile is not None, visible, where, columns
        if as_csv or as_jsonl or any(of_draws):
            raise click.UsageError("--inherited can only be combined with --json")
        return write_shown(files, partial(_inherited, gpu, register_db), forms)
    query = query_of(where, columns)
    of_executions = tile is not None or visible or (query is not None and query.is_of_executions)
    wanted = _Wanted(index, everything, of_executions, tile, visible)

    def show(path: str) -> Shown:
        at_draws = not everything and not of_executions
        capture, code = find_asking(path, gpu, register_db, query, at_draws)
        return _shown(capture, code, wanted, query, columns)

    return write_shown(files, show, forms)


class _Wanted(NamedTuple):
    """The actions to list. ``executions``: each one of the program's draws."""

    pass_index: int | None
    everything: bool
    executions: bool
    tile: int | None
    visible: bool


def _shown(
    capture: Capture,
    code: int,
    wanted: _Wanted,
    query: Filter | None,
    columns: str | None,
) -> Shown:
    """The draws of a capture."""
    from cffpy.frame.action import Action
    from cffpy.frame.faces import facts_documents
    from cffpy.views import draws as view
    from cffpy.views.model_documents import csv_columns, csv_rows

    shown = _chosen(capture, wanted)
    if wanted.everything and query is None and not wanted.executions:
        shown = _with_copies(capture, shown, wanted.pass_index)
    if query is not None:
        chosen = _matching(capture, shown, query, wanted)
        if columns is not None:
            named = [(one.name or "", found) for one, found in chosen]
            return shown_columns("draw", named, columns, capture, code)
        shown = [one for one, _ in chosen]

    def items() -> Iterable[dict[str, Any]]:
        return facts_documents(shown)

    def lines() -> Iterable[str]:
        table = view.table(shown)
        return headed_columns(table, view.RIGHT) if table else ()

    return Shown(
        capture,
        code,
        view.SCHEMA,
        lambda: {"draws": items()},
        lines,
        csv_columns(Action),
        lambda: csv_rows(shown),
        items,
    )


def _chosen(capture: Capture, wanted: _Wanted) -> Sequence[Action]:
    index, everything = wanted.pass_index, wanted.everything
    if wanted.executions:
        return _executions(capture, wanted)
    if index is None:
        return capture.actions if everything else capture.draws
    chosen = the_pass(capture, index)
    if everything:
        return [action for action in capture.actions if action.pass_ is chosen]
    return chosen.draws


def _with_copies(capture: Capture, shown: Sequence[Action], index: int | None) -> Sequence[Action]:
    """With the packets that copy memory. Filters cannot ask them: their registers are not known."""
    copies = [
        one for one in capture.transfers if one.kind == "copy" and index in (None, one.pass_index)
    ]
    return sorted([*shown, *copies], key=lambda one: one.order) if copies else shown


def _executions(capture: Capture, wanted: _Wanted) -> Sequence[Action]:
    """The executions in a pass and tile, or in all. Raises ``not_there`` for an unknown tile."""
    index, tile = wanted.pass_index, wanted.tile
    found = list(capture.actions if index is None else the_pass(capture, index).actions)
    if not wanted.everything:
        found = [action for action in found if action.number is not None]
    if tile is not None:
        found = [action for action in found if action.tile_number == tile]
        if not found:
            where = "no pass has" if index is None else f"pass {index} does not have"
            raise not_there(capture, f"{where} draws in a tile {tile}")
    return _visible(capture, found) if wanted.visible else found


def _visible(capture: Capture, found: Sequence[Action]) -> Sequence[Action]:
    """Those that visibility streams draw; says of how many that is not known."""
    in_runs = [action for action in found if not action.binning]
    visible = [(action, action.visible) for action in in_runs]
    unknown = sum(answer is None for _, answer in visible)
    if unknown:
        print_warning(
            f"{capture.name}: {unknown:,} executions are not listed: it is not known whether they"
            " are visible, because their visibility streams were not captured"
        )
    return [action for action, answer in visible if answer]


def _matching(
    capture: Capture, shown: Sequence[Action], query: Filter, wanted: _Wanted
) -> Sequence[tuple[Action, Found]]:

    if wanted.everything or wanted.executions:
        return capture.actions.choose(query, shown)
    return capture.draws.choose(query, shown)


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
