# SPDX-License-Identifier: MIT
"""``cffpy state``: the registers at a draw and the packets that wrote them."""

from __future__ import annotations

import os
from itertools import chain, takewhile
from typing import TYPE_CHECKING, NamedTuple

import click

from cffpy.cli import completion
from cffpy.cli.captures import decode, not_there, report
from cffpy.cli.forms import Forms, Result, Shown, write_shown
from cffpy.cli.output import print_warning
from cffpy.cli.progress import progress
from cffpy.cli.question import EVERY_PLACE, Question, asks
from cffpy.errors import CaptureError, UnknownName
from cffpy.frame.places import DrawName, parse_draw_name
from cffpy.views import state as view

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.api.capture import Capture
    from cffpy.api.places import Scope
    from cffpy.frame.action import Action
    from cffpy.frame.register_state import RegisterState, StateValue
    from cffpy.frame.register_write import Origin

_EPILOG = """\b
Examples:
  cffpy state --at p3:17 capture.rd.gz                     draw 17 of pass 3
  cffpy state --at '#120' capture.rd.gz                    draw 120 of the dump
  cffpy state --at p3:17 capture.rd.gz RB_DEPTH_CNTL 'RB_MRT*'
  cffpy state --at p3:17 --origin 'earlier submit' capture.rd.gz
  cffpy state --at p3:5-9 capture.rd.gz RB_DEPTH_CNTL      draws 5 to 9
  cffpy state --at p3:0 --stale capture.rd.gz              what nobody wrote for the draw
  cffpy state --at 0x10002018 capture.rd.gz                the draw at, or after, this packet
  cffpy state --where 'draw.vertices > 9000' capture.rd.gz RB_DEPTH_CNTL
"""

_ORIGINS = ("this pass", "before the pass", "earlier submit")


@click.command(epilog=_EPILOG)
@click.option("--origin", type=click.Choice(_ORIGINS), help="Only values from there.")
@click.option("--reads", is_flag=True, help="Only what the draw reads, as far as it is known.")
@click.option(
    "--stale",
    is_flag=True,
    help="Only what the draw reads and another pass has set, an earlier submit, or nobody.",
)
@click.argument(
    "arguments",
    nargs=-1,
    required=True,
    metavar="FILE... [REG]...",
    shell_complete=completion.files_or_registers,
)
@asks(
    "",
    places=EVERY_PLACE,
    where=True,
    forms=Forms(
        item="register",
        json="cffpy.state/1, of several draws cffpy.states/1",
        jsonl="cffpy.state.line/1",
        csv=True,
    ),
)
def state(
    question: Question,
    arguments: tuple[str, ...],
    origin: Origin | None,
    reads: bool,
    stale: bool,
) -> int:
    """Show the register values at a draw, dispatch or blit, and the packet that wrote each of them.

    The packet is given by command stream, IBs, draw state group, GPU address and offset in the
    decompressed file, together with whether the value was written in this pass, before it, or in
    an earlier submit. Registers that the GPU loads from memory are unknown; their packet is shown.
    Blocks that a condition skips write nothing here, although the dump decodes them.

    --at, --draw or --where is needed. A pass, a submit, a shader or a range means each of its
    draws. Of a packet that is no draw, the first draw that follows it is shown.

    REG selects registers: a name, a pattern like 'RB_MRT*', or an offset like 0x8820. FILE may be
    '-' for standard input, or a folder: all captures in it and below. Arguments after the first
    one are files as long as they exist. For one draw, commands that follow its pass are not
    decoded. The exit code is 1 if a file, or the commands before, are damaged, or one of several
    files cannot be read or has no such draw.
    """
    if question.place is None and question.query is None:
        raise click.UsageError("a place is needed: --at p3:17, --at '#62', or --where")
    files = arguments[:1] + tuple(takewhile(os.path.exists, arguments[1:]))
    chosen = _Chosen(arguments[len(files) :], origin, question.register_db, reads, stale)

    def show(path: str) -> Shown:
        capture = question.open(path)
        if isinstance(question.place, DrawName) and question.query is None:
            if stale:
                capture.walk()  # what comes after a write says which pass it is for
            return _shown(capture, question.place, chosen)
        return _shown_each(question, capture, chosen)

    return write_shown(question.of_files(*files), show)


class _Chosen(NamedTuple):
    """Which registers are shown: the arguments REG, and --origin, --reads, --stale."""

    names: tuple[str, ...]
    origin: Origin | None
    directory: str | None
    reads: bool
    stale: bool

    @property
    def is_all(self) -> bool:
        """Whether no argument selects any."""
        return not (self.names or self.origin or self.reads or self.stale)

    def values(self, state: RegisterState) -> list[StateValue]:
        """The values that are asked for. Raises UsageError for a name that the GPU has not."""
        try:
            values = state._chosen(self.names, self.origin, self.directory)
        except UnknownName as problem:
            raise click.UsageError(str(problem)) from None
        for name in values.missing:
            print_warning(f"no register {name} was written before this draw")
        if not (self.reads or self.stale):
            return values.values
        read = state.stale if self.stale else state.reads
        if not self.names and self.origin is None:
            return read
        named = {value.register.number for value in values.values}
        return [value for value in read if value.register.number in named]


def _shown(capture: Capture, name: DrawName, chosen: _Chosen) -> Shown:
    """The registers at one draw."""
    try:
        with progress(f"Reading {capture.name}", capture._source.content):
            state = capture.state(str(name))
    except CaptureError as problem:
        raise not_there(capture, problem) from None
    code = report(capture)
    values = chosen.values(state)
    result = Result(
        view.SCHEMA,
        lambda: state.document(values),
        lambda: view.lines(state, values, chosen.is_all),
        view.columns,
        lambda: view.rows(values),
        lambda: view.items(values),
    )
    return Shown(capture, code, result)


def _actions(capture: Capture, scope: Scope) -> Sequence[Action]:
    """The draws of a place, or executions where it names them. Raises ``not_there``."""
    if scope.is_of_executions:
        shown: Sequence[Action] = [
            action
            for action in capture.actions
            if scope.has_action(action) and capture._source.has_state(action)
        ]
    else:
        shown = [action for action in capture.draws if scope.has_action(action)]
    if not shown and scope.place is not None:
        raise not_there(capture, f"no draw is executed in {scope.place}")
    return shown


def _shown_each(question: Question, capture: Capture, chosen: _Chosen) -> Shown:
    """The registers at each draw of a place, and for which a filter holds."""
    code = decode(capture, lambda opened: opened.walk())[1]
    draws = _actions(capture, question.scope(capture, with_filter=True))
    if len(draws) == 1 and question.query is None:
        return _shown(capture, parse_draw_name(draws[0].name or ""), chosen)

    def states() -> Iterator[tuple[RegisterState, list[StateValue]]]:
        for state in capture.states(draws):
            yield state, chosen.values(state)

    def lines() -> Iterator[str]:
        for number, (state, values) in enumerate(states()):
            yield from ("",) if number else ()
            yield from view.lines(state, values, chosen.is_all)

    result = Result(
        view.STATES_SCHEMA,
        lambda: {"states": (state.document(values) for state, values in states())},
        lines,
        view.columns,
        lambda: chain.from_iterable(view.rows(values) for _, values in states()),
        lambda: chain.from_iterable(view.items(values) for _, values in states()),
    )
    return Shown(capture, code, result)
