# SPDX-License-Identifier: MIT
"""``cffpy passes``: the render passes of a capture, and the work between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.cli.analysis_options import jsonl_option, not_there, submit_option, the_pass
from cffpy.cli.filter_options import filter_options, find_asking, query_of, shown_columns
from cffpy.cli.intel_dispatch import or_intel
from cffpy.cli.many_files import Forms, Shown, files_options, write_shown
from cffpy.cli.parameters import Integer
from cffpy.cli.text_options import text_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cffpy.api.capture import Capture
    from cffpy.capture.gpu import Gpu
    from cffpy.frame.passes import SubmitPasses
    from cffpy.query.filters import Filter

#: Of an object a line; with ``--cost``.
_LINE_SCHEMA, _COST_LINE_SCHEMA = "cffpy.passes.line/1", "cffpy.passes.cost.line/1"

_EPILOG = """\b
Examples:
  cffpy passes capture.rd.gz
  cffpy passes --pass 3 capture.rd.gz         only pass 3
  cffpy passes --where 'pass.mode == sysmem' capture.rd.gz
  cffpy passes --cost capture.rd.gz           bytes moved by each pass
  cffpy passes --csv capture.rd.gz            a row for each pass
  cffpy passes one.rd.gz captures/            of several files and folders
  cffpy passes --json capture.rd.gz | jq '.submits[].passes[] | [.pass, .mode]'
"""


@click.command(epilog=_EPILOG)
@click.option("--pass", "index", type=Integer(), metavar="N", help="Only this pass.")
@submit_option
@filter_options
@click.option("--cost", is_flag=True, help="Show the bytes that each pass loads, stores, resolves.")
@click.option("--plot", is_flag=True, help="Draw a bar for each render pass: its draws.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document (cffpy.passes/1).")
@jsonl_option("pass", f"{_LINE_SCHEMA}; with --cost: {_COST_LINE_SCHEMA}")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with a row for each pass.")
@text_options
@files_options
@or_intel("files", "index", "submit", "as_json")
def passes(
    files: tuple[str, ...],
    gpu: Gpu | None,
    register_db: str | None,
    index: int | None,
    submit: int | None,
    where: str | None,
    columns: str | None,
    cost: bool,
    plot: bool,
    as_json: bool,
    as_jsonl: bool,
    as_csv: bool,
) -> int:
    """Find the render passes of a capture, and the dispatches and copies between them.

    For each pass: mode, framebuffer, tiles, attachments with their loads, clears and stores, the
    program's draws and their numbers in the dump, LRZ, and the location in the capture. Values
    that the command stream does not contain are shown as unknown.

    With --cost, the bytes of loads, stores, resolves and clears of each render pass, by formula,
    and the GMEM that a bin uses; the pass that moves most comes first.

    FILE may be '-' for standard input, or a folder: all captures in it and below. The exit code is
    1 if a capture is damaged, or one of several files cannot be read.
    """
    forms = Forms(as_json, as_jsonl, as_csv)
    _check_forms(cost, plot, columns, forms)
    query = query_of(where, columns)

    def show(path: str) -> Shown:
        capture, code = find_asking(path, gpu, register_db, query, at_draws=True)
        chosen = _chosen(capture, submit, index)
        return _shown(capture, code, chosen, (query, columns), cost, plot)

    return write_shown(files, show, forms)


def _shown(
    capture: Capture,
    code: int,
    shown: Sequence[SubmitPasses],
    asked: tuple[Filter | None, str | None],
    cost: bool,
    plot: bool,
) -> Shown:
    """Of some passes of a capture those that match. ``asked``: the filter and the columns."""
    from cffpy.frame.faces import facts_document
    from cffpy.frame.passes import Pass
    from cffpy.views import model_documents as view
    from cffpy.views import passes as text

    query, columns = asked
    if query is not None:
        indices = {one.index for part in shown for one in part.passes}
        passes = capture.passes.choose(query, [capture.passes[index] for index in indices])
        if columns is not None:
            named = [(str(one.index), found) for one, found in passes]
            return shown_columns("pass", named, columns, capture, code)
        shown = _only(shown, {one.index for one, _ in passes})
    if cost:
        return _costs(capture, shown, code)
    chosen = [one for submit in shown for one in submit.passes]
    return Shown(
        capture,
        code,
        view.PASSES_SCHEMA,
        lambda: view.passes_document(capture.model, chosen),
        lambda: _bars(shown) if plot else text.lines(capture.model, shown),
        view.csv_columns(Pass),
        lambda: view.csv_rows(chosen),
        lambda: map(facts_document, chosen),
    )


def _bars(shown: Sequence[SubmitPasses]) -> Iterable[str]:
    from cffpy.views.plots import pass_lines

    return pass_lines(shown)


def _check_forms(cost: bool, plot: bool, columns: str | None, forms: Forms) -> None:
    """Raise UsageError for forms of output that exclude each other."""
    forms.check()
    if cost and (forms.as_csv or columns is not None):
        raise click.UsageError("--cost cannot be used with --csv or --columns")
    if plot and (cost or any(forms) or columns is not None):
        message = "--plot cannot be used with --cost, --json, --jsonl, --csv or --columns"
        raise click.UsageError(message)


def _costs(capture: Capture, shown: Sequence[SubmitPasses], code: int) -> Shown:
    """The costs of the passes that are shown; shares are of the whole capture."""
    from cffpy.views import pass_cost as view

    indices = {part.index for one in shown for part in one.passes}
    whole = sum(one.memory_bytes for one in capture.costs)
    costs = [one for one in capture.costs if one.found.index in indices]
    return Shown(
        capture,
        code,
        view.SCHEMA,
        lambda: view.document(costs, whole),
        lambda: view.lines(costs, whole),
        items=lambda: view.document(costs, whole)["passes"],
    )


def _chosen(capture: Capture, submit: int | None, index: int | None) -> list[SubmitPasses]:
    """The passes of ``--submit`` and ``--pass``. Raises ``not_there``."""
    from cffpy.frame.passes import SubmitPasses

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
            raise click.UsageError(f"pass {index} is in submit {one.submit}")
        shown = [SubmitPasses(one.submit, [one])]
    return shown


def _only(submits: Sequence[SubmitPasses], indices: set[int]) -> list[SubmitPasses]:
    """The passes with these numbers; submits without any are left out."""
    from cffpy.frame.passes import SubmitPasses

    left = (
        SubmitPasses(one.number, [part for part in one.passes if part.index in indices])
        for one in submits
    )
    return [one for one in left if one.passes]
