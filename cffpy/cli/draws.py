# SPDX-License-Identifier: MIT
"""``cffpy draws``: the draws, dispatches and blits of a capture, one per line."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import click

from cffpy.cli.captures import decode, refuse_for_intel
from cffpy.cli.forms import Forms, Result, Shown, listing, shown_columns, write_shown
from cffpy.cli.output import print_warning
from cffpy.cli.question import EVERY_PLACE, Question, asks
from cffpy.views.plain_text import headed_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cffpy.api.capture import Capture
    from cffpy.api.places import Scope
    from cffpy.frame.action import Action
    from cffpy.frame.objects import Found
    from cffpy.query.filters import Filter

#: Of an object a line; with ``--stream-out``.
_LINE_SCHEMA, _STREAM_OUT_LINE_SCHEMA = "cffpy.draws.line/1", "cffpy.draws.stream-out.line/1"

_EPILOG = """\b
Examples:
  cffpy draws capture.rd.gz                   each draw of the program once
  cffpy draws --all capture.rd.gz             each execution of each draw, blits too
  cffpy draws --at p3 --csv capture.rd.gz
  cffpy draws --at p3:t5 --visible capture.rd.gz
  cffpy draws --where 'RB_DEPTH_CNTL.ZFUNC == FUNC_LESS' --columns draw.vertices capture.rd.gz
  cffpy draws --inherited capture.rd.gz       values from earlier submits
  cffpy draws --stream-out capture.rd.gz      what transform feedback writes where
  cffpy draws --csv captures/                 of all captures in a folder
"""


@click.command(epilog=_EPILOG)
@click.option("--all", "everything", is_flag=True, help="Every execution, also blits and clears.")
@click.option("--visible", is_flag=True, help="Only what the visibility stream draws in its tile.")
@click.option("--bindings", is_flag=True, help="With --json or --jsonl: what each draw has bound.")
@click.option(
    "--inherited",
    is_flag=True,
    help="List registers instead: those whose values at a submit's first draw or dispatch were"
    " written in an earlier submit.",
)
@click.option("--stream-out", is_flag=True, help="Show stream-out: outputs, buffers, offsets.")
@asks(
    "FILE...",
    places=EVERY_PLACE,
    where=True,
    columns=True,
    forms=Forms(
        item="draw",
        json="cffpy.draws/1",
        jsonl=f"{_LINE_SCHEMA}; with --stream-out: {_STREAM_OUT_LINE_SCHEMA}",
        csv=True,
    ),
)
def draws(
    question: Question,
    everything: bool,
    visible: bool,
    bindings: bool,
    inherited: bool,
    stream_out: bool,
) -> int:
    """List the program's draws and dispatches with pass, size, shaders, targets and location.

    Each draw has two names, which all commands take: 'dump' is its number in cffpy dump, which
    counts each execution (in every tile) and each blit, as in #57; 'draw' is its number among the
    program's draws of its pass, as in p0:8. With --all every execution is listed, with its tile,
    and also those that are skipped by a condition, because the dump counts them. Packets that copy
    memory (CP_MEM_TO_MEM, CP_MEMCPY) are listed then, too, but not with --where.

    Copies, blits, fills, clears, loads and stores have a source and a destination: address or
    offset in GMEM, format, tiling, pitch, rectangle.

    Numbers of an indirect draw are what packets of its submit have stored, else what was captured
    before the submit ran: a program of the submit may have stored others.

    A draw is emitted in a tile if the stream calls it there, visible if the visibility stream says
    that it draws, executed if the conditions hold that it is under. A tile or a draw of the dump
    as the place, --visible, and filters that name draw.tile, draw.visible or a property of tiles,
    list executions of the program's draws.

    --bindings adds the descriptors, vertex and index buffers, uniform data and constants of each
    draw of the program: where they are bound, whether they are enabled and used, and their fields.
    What an execution in one tile has bound is that of the draw.

    --stream-out lists the draws that write their vertices to buffers (transform feedback) instead:
    which outputs go where, in which runs of the pass, the buffers, where offsets are loaded from
    and flushed to.

    FILE may be '-' for standard input, or a folder: all captures in it and below. The exit code is
    1 if a capture is damaged, or one of several files cannot be read.
    """
    query = question.query
    if bindings and (question.form not in ("json", "jsonl") or question.columns is not None):
        raise click.UsageError("--bindings needs --json or --jsonl, and no --columns")
    if inherited:
        others = everything, visible, bindings, stream_out, question.place, query
        if question.form in ("csv", "jsonl") or any(others):
            raise click.UsageError("--inherited can only be combined with --json")
        return write_shown(question, partial(_inherited, question))

    if stream_out:
        if (
            question.form == "csv"
            or question.columns is not None
            or any((everything, visible, bindings))
        ):
            raise click.UsageError(
                "--stream-out can only be combined with --json, --jsonl, places and --where"
            )
        return write_shown(question, partial(_stream_out, question))

    def show(path: str) -> Shown:
        of_executions = visible or (query is not None and query.is_of_executions)
        at_draws = question.place is None and not everything and not of_executions
        capture, code = question.find(path, at_draws)
        refuse_for_intel(capture, ("--visible", visible))
        scope = question.scope(capture)
        executions = of_executions or scope.is_of_executions
        wanted = _Wanted(scope, everything, executions, visible, bindings)
        return _shown(capture, code, wanted, question)

    return write_shown(question, show)


class _Wanted(NamedTuple):
    """The actions to list. ``executions``: each one of the program's draws.

    ``bindings``: with what each draw of the program has bound.
    """

    scope: Scope
    everything: bool
    executions: bool
    visible: bool
    bindings: bool


def _shown(capture: Capture, code: int, wanted: _Wanted, question: Question) -> Shown:
    """The draws of a capture."""
    from cffpy.frame.action import Action
    from cffpy.views import draws as view
    from cffpy.views.model_documents import csv_columns, csv_rows, documents

    query, columns = question.query, question.columns
    shown = _chosen(capture, wanted)
    if wanted.everything and query is None and not wanted.executions:
        shown = _with_copies(capture, shown, wanted.scope)
    if query is not None:
        chosen = _matching(capture, shown, query, wanted)
        if columns is not None:
            named = [(action.name or "", values) for action, values in chosen]
            return shown_columns("draw", named, columns, capture, code)
        shown = [action for action, _ in chosen]

    large = _large if wanted.bindings else None

    def lines() -> Iterable[str]:
        table = view.table(shown)
        return headed_columns(table, view.RIGHT) if table else ()

    result = Result(
        view.SCHEMA,
        lambda: {"draws": documents(shown, large)},
        lines,
        lambda: csv_columns(Action),
        lambda: csv_rows(shown),
        lambda: documents(shown, large),
    )
    return Shown(capture, code, result)


def _large(action: Action) -> tuple[str, ...]:
    return ("bindings",) if action.is_counted else ()


def _chosen(capture: Capture, wanted: _Wanted) -> Sequence[Action]:
    scope = wanted.scope
    if not wanted.executions:
        actions = capture.actions if wanted.everything else capture.draws
        return [action for action in actions if scope.has_action(action)]
    shown = [action for action in capture.actions if scope.has_action(action)]
    if not wanted.everything and not scope.is_of_single_actions:
        shown = [action for action in shown if action.number is not None]
    return _visible(capture, shown) if wanted.visible else shown


def _with_copies(capture: Capture, shown: Sequence[Action], scope: Scope) -> Sequence[Action]:
    """With the packets that copy memory. Filters cannot ask them: their registers are not known."""
    copies = [
        action for action in capture.transfers if action.kind == "copy" and scope.has_action(action)
    ]
    return sorted([*shown, *copies], key=lambda action: action.order) if copies else shown


def _visible(capture: Capture, actions: Sequence[Action]) -> Sequence[Action]:
    """Those that visibility streams draw; says of how many that is not known."""
    in_runs = [action for action in actions if not action.binning]
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
        return capture.actions._choose(query, shown)
    return capture.draws._choose(query, shown)


def _stream_out(question: Question, path: str) -> Shown:
    from cffpy.views import stream_out as view

    capture, code = question.find(path, at_draws=question.place is None)
    refuse_for_intel(capture, ("--stream-out", True))
    scope, query, shown = question.scope(capture), question.query, capture.stream_out
    draws = [one.action for one in shown if scope.has_action(one.action)]
    if query is not None:
        draws = [draw for draw, _ in capture.draws._choose(query, draws)]
    orders = {draw.order for draw in draws}
    shown = [one for one in shown if one.action.order in orders]
    return Shown(capture, code, listing(view, shown))


def _inherited(question: Question, path: str) -> Shown:
    from cffpy.views import state as view

    capture = question.open(path)
    refuse_for_intel(capture, ("--inherited", True))
    inherited, code = decode(capture, lambda opened: opened.inherited)
    result = Result(
        view.INHERITED_SCHEMA,
        lambda: view.inherited_document(inherited),
        lambda: view.inherited_lines(inherited),
    )
    return Shown(capture, code, result)
