# SPDX-License-Identifier: MIT
"""``cffpy lrz``: which draws use low-resolution depth, and why the others do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.cli.captures import decode
from cffpy.cli.forms import Result, Shown, write_shown
from cffpy.cli.question import EVERY_PLACE, Forms, Question, asks

if TYPE_CHECKING:
    from cffpy.analysis.lrz import PassLrz
    from cffpy.api.capture import Capture

_EPILOG = """\b
Examples:
  cffpy lrz capture.rd.gz
  cffpy lrz --at p3 capture.rd.gz         only pass 3
  cffpy lrz --where 'draw.vertices > 1000' capture.rd.gz
  cffpy lrz --json capture.rd.gz | jq '.passes[] | [.pass, .lost_by]'
"""


@click.command(epilog=_EPILOG)
@asks(
    "FILE...",
    places=EVERY_PLACE,
    where=True,
    forms=Forms(item="pass", json="cffpy.lrz/1", jsonl="cffpy.lrz.line/1"),
)
def lrz(question: Question) -> int:
    """Show for each draw of each pass whether it tests and writes LRZ, and why not (a5xx to a7xx).

    LRZ, low-resolution depth, rejects whole blocks of pixels before the fragment program runs.
    Some states turn it off for a draw, others for the rest of the pass: the draw that lost it is
    named, with the number of later draws that would have used it. Reasons are derived from the
    state at the draw by the rules of Mesa's drivers; "not known" where no rule applies.

    FILE may be '-' for standard input, or a folder: all captures in it and below. The exit code is
    1 if a capture is damaged, or one of several files cannot be read.
    """
    return write_shown(question.files, lambda path: _shown(question, path), question.form)


def _shown(question: Question, path: str) -> Shown:
    from cffpy.frame.faces import facts_documents
    from cffpy.views import lrz as view

    capture = question.open(path)
    passes, code = decode(capture, lambda opened: opened.lrz)
    shown = _chosen(capture, question, passes)
    result = Result(
        view.SCHEMA,
        lambda: view.document(capture.model, shown),
        lambda: view.lines(shown),
        items=lambda: facts_documents(shown),
    )
    return Shown(capture, code, result)


def _chosen(capture: Capture, question: Question, passes: list[PassLrz]) -> list[PassLrz]:
    """The draws that are asked for, and the passes of them."""
    scope = question.scope(capture, with_filter=True)
    if scope.is_whole:
        return passes
    chosen = [one for one in passes if scope.has_pass(one.pass_.index)]
    if scope.is_of_draws:
        chosen = [one.of_draws(scope.has_action) for one in chosen]
    return [one for one in chosen if one.draws]
