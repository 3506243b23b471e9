# SPDX-License-Identifier: MIT
"""``cffpy passes``: the render passes of a capture, and the work between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.cli.captures import refuse_for_intel
from cffpy.cli.forms import Result, Shown, shown_columns, write_shown
from cffpy.cli.question import EVERY_PLACE, Forms, Question, asks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cffpy.api.capture import Capture
    from cffpy.frame.passes import SubmitPasses

#: Of an object a line; with ``--cost``.
_LINE_SCHEMA, _COST_LINE_SCHEMA = "cffpy.passes.line/1", "cffpy.passes.cost.line/1"

_EPILOG = """\b
Examples:
  cffpy passes capture.rd.gz
  cffpy passes --at p3 capture.rd.gz          only pass 3
  cffpy passes --at '#62' capture.rd.gz       the pass of draw 62 of the dump
  cffpy passes --where 'pass.mode == sysmem' capture.rd.gz
  cffpy passes --cost capture.rd.gz           bytes moved by each pass
  cffpy passes --csv capture.rd.gz            a row for each pass
  cffpy passes one.rd.gz captures/            of several files and folders
  cffpy passes --json capture.rd.gz | jq '.submits[].passes[] | [.pass, .mode]'
"""


@click.command(epilog=_EPILOG)
@click.option("--cost", is_flag=True, help="Show the bytes that each pass loads, stores, resolves.")
@asks(
    "FILE...",
    places=EVERY_PLACE,
    where=True,
    columns=True,
    forms=Forms(
        item="pass",
        json="cffpy.passes/1",
        jsonl=f"{_LINE_SCHEMA}; with --cost: {_COST_LINE_SCHEMA}",
        csv=True,
        plot="a bar of draws for each render pass",
    ),
)
def passes(question: Question, cost: bool, plot: bool) -> int:
    """Find the render passes of a capture, and the dispatches and copies between them.

    For each pass: mode, framebuffer, tiles, attachments with their loads, clears and stores, the
    program's draws and their numbers in the dump, LRZ, and the location in the capture. Values
    that the command stream does not contain are shown as unknown.

    With --cost, the bytes of loads, stores, resolves and clears of each render pass, by formula,
    and the GMEM that a bin uses; the pass that moves most comes first.

    FILE may be '-' for standard input, or a folder: all captures in it and below. The exit code is
    1 if a capture is damaged, or one of several files cannot be read.
    """
    if cost and (question.form in ("csv", "plot") or question.columns is not None):
        raise click.UsageError("--cost cannot be used with --csv, --plot or --columns")
    if plot and question.columns is not None:
        raise click.UsageError("--plot cannot be used with --columns")

    def show(path: str) -> Shown:
        capture, code = question.find(path)
        refuse_for_intel(capture, ("--cost", cost))
        return _shown(capture, code, question, cost, plot)

    return write_shown(question.files, show, question.form)


def _shown(capture: Capture, code: int, question: Question, cost: bool, plot: bool) -> Shown:
    """The passes of a capture that are asked for."""
    from cffpy.frame.passes import Pass
    from cffpy.views import model_documents as view

    scope, query, columns = question.scope(capture), question.query, question.columns
    indices = {one.index for one in capture.model.passes if scope.has_pass(one.index)}
    shown = _only(capture.model.submits, indices) if scope.place else capture.model.submits
    if query is not None:
        passes = capture.passes.choose(query, [capture.passes[index] for index in indices])
        if columns is not None:
            named = [(str(one.index), found) for one, found in passes]
            return shown_columns("pass", named, columns, capture, code)
        shown = _only(shown, {one.index for one, _ in passes})
    if cost:
        return _costs(capture, shown, code)
    chosen = [one for submit in shown for one in submit.passes]
    result = Result(
        view.PASSES_SCHEMA,
        lambda: view.passes_document(capture.model, chosen),
        lambda: _bars(shown) if plot else _lines(capture, shown),
        lambda: view.csv_columns(Pass),
        lambda: view.csv_rows(chosen),
        lambda: view.documents(chosen),
    )
    return Shown(capture, code, result)


def _lines(capture: Capture, shown: Sequence[SubmitPasses]) -> Iterable[str]:
    from cffpy.views import passes as view

    if capture.intel is None:
        return view.lines(capture.model, shown)
    return view.lines(capture.model, shown, capture.intel.pass_lines)


def _bars(shown: Sequence[SubmitPasses]) -> Iterable[str]:
    from cffpy.views.plots import pass_lines

    return pass_lines(shown)


def _costs(capture: Capture, shown: Sequence[SubmitPasses], code: int) -> Shown:
    """The costs of the passes that are shown; shares are of the whole capture."""
    from cffpy.views import pass_cost as view

    indices = {part.index for one in shown for part in one.passes}
    whole = sum(one.memory_bytes for one in capture.costs)
    costs = [one for one in capture.costs if one.pass_.index in indices]
    result = Result(
        view.SCHEMA,
        lambda: view.document(costs, whole),
        lambda: view.lines(costs, whole),
        items=lambda: view.document(costs, whole)["passes"],
    )
    return Shown(capture, code, result)


def _only(submits: Sequence[SubmitPasses], indices: set[int]) -> list[SubmitPasses]:
    """The passes with these numbers; submits without any are left out."""
    from cffpy.frame.passes import SubmitPasses

    left = (
        SubmitPasses(one.number, [part for part in one.passes if part.index in indices])
        for one in submits
    )
    return [one for one in left if one.passes]
