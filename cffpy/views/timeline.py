# SPDX-License-Identifier: MIT
"""The timeline of captures as trace events, which ui.perfetto.dev opens: JSON of Chrome's format.

A capture is up to two processes of the trace. *Order* has a span for each submit, pass, tile (or
binning run) and action, in the order of execution: an action takes one unit, which is no time.
*Time* has those passes and tiles whose timestamps were captured, in nanoseconds since the first.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.frame.passes import Tile
from cffpy.frame.places import name_of
from cffpy.frame.timing import nanoseconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass, Passes, PassRun
    from cffpy.frame.timing import TimeSpan

#: The rows of a process, by their number in the trace.
_ROWS = {1: "submits", 2: "passes", 3: "tiles", 4: "actions"}

#: What the file says of its times.
NOTE = (
    "Processes named 'order' show the order of execution: an action is one unit long, which is no "
    "time. Processes named 'time' show timestamps that the GPU wrote."
)

#: Trace events have microseconds.
_MICROSECOND = 1000


class _Row(NamedTuple):
    """A row of a process: spans go there."""

    process: int
    row: int

    def span(
        self, name: str, begin: float, length: float, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        """A complete event. ``begin``, ``length``: in microseconds, or in units of the order."""
        return {
            "name": name,
            "cat": _ROWS[self.row],
            "ph": "X",
            "ts": begin,
            "dur": length,
            "pid": self.process,
            "tid": self.row,
            "args": arguments,
        }


def lines(captures: Iterable[tuple[str, Passes]]) -> Iterator[str]:
    """The lines of the file. ``captures``: names and passes, with their answers."""
    head = json.dumps({"displayTimeUnit": "ns", "otherData": {"note": NOTE}})
    yield f'{head[:-1]}, "traceEvents": ['
    separator = ""
    for number, (name, passes) in enumerate(captures):
        for event in _events(name, passes, 2 * number + 1):
            yield separator + json.dumps(event)
            separator = ","
    yield "]}"


def _events(name: str, passes: Passes, process: int) -> Iterator[dict[str, Any]]:
    yield from _heads(process, f"{name}: order")
    yield from _spans_in_order(passes, process)
    timed = _timed(passes)
    if timed:
        yield from _heads(process + 1, f"{name}: time")
        yield from _spans_in_time(timed, process + 1)


def _heads(process: int, name: str) -> Iterator[dict[str, Any]]:
    """The names of a process and its rows."""
    head = {"ph": "M", "pid": process, "tid": 0}
    yield {**head, "name": "process_name", "args": {"name": name}}
    for row, rows_name in _ROWS.items():
        row_head = {"ph": "M", "pid": process, "tid": row}
        yield {**row_head, "name": "thread_name", "args": {"name": rows_name}}
        yield {**row_head, "name": "thread_sort_index", "args": {"sort_index": row}}


def _executed(actions: Iterable[Action]) -> list[Action]:
    return [action for action in actions if action.execution.is_possible]


def _spans_in_order(passes: Passes, process: int) -> Iterator[dict[str, Any]]:
    submits: dict[int, list[int]] = {}
    for action in passes.actions:
        if action.execution.is_possible:
            orders = submits.setdefault(action.submit, [action.order, action.order])
            orders[1] = action.order
    for number, (first, last) in submits.items():
        yield _Row(process, 1).span(f"s{number}", first, last - first + 1, {"submit": number})
    for pass_ in passes.passes:
        yield from _pass_in_order(pass_, process)
    for action in passes.actions:
        if action.execution.is_possible:
            yield _Row(process, 4).span(
                _action_name(action), action.order, 1, _action_arguments(action)
            )


def _pass_in_order(pass_: Pass, process: int) -> Iterator[dict[str, Any]]:
    runs = [(run, orders) for run in pass_.runs if (orders := _orders(run))]
    if not runs:
        return
    first = min(orders[0] for _, orders in runs)
    last = max(orders[1] for _, orders in runs)
    row = _Row(process, 2)
    yield row.span(_pass_name(pass_), first, last - first + 1, _pass_arguments(pass_))
    for run, (begin, end) in runs:
        if run is not pass_.direct:
            name, arguments = _run_name(pass_, run)
            yield _Row(process, 3).span(name, begin, end - begin + 1, arguments)


def _orders(run: PassRun) -> tuple[int, int] | None:
    """The first and the last action of a run, by their order."""
    actions = _executed((*run.draws, *(each.action for each in run.operations)))
    orders = [action.order for action in actions]
    return (min(orders), max(orders)) if orders else None


def _pass_name(pass_: Pass) -> str:
    size = "" if pass_.framebuffer is None else f" {pass_.framebuffer}"
    return f"p{pass_.index} {pass_.mode or pass_.kind}{size}"


def _pass_arguments(pass_: Pass) -> dict[str, Any]:
    return {"pass": pass_.index, "kind": pass_.kind, "draws": len(pass_.draws)}


def _run_name(pass_: Pass, run: PassRun) -> tuple[str, dict[str, Any]]:
    if not isinstance(run, Tile):
        return f"p{pass_.index} binning", {"pass": pass_.index}
    rectangle = None if run.rectangle is None else str(run.rectangle)
    arguments = {"pass": pass_.index, "tile": run.number, "rectangle": rectangle}
    return f"p{pass_.index}:t{run.number}", arguments


def _action_name(action: Action) -> str:
    name = name_of(action)
    what = f"{action.role} {action.primitive or action.packet}".strip()
    return what if name is None else f"{name} {what}"


def _action_arguments(action: Action) -> dict[str, Any]:
    arguments = {
        "packet": action.packet,
        "gpuaddr": f"{action.place.gpuaddr:#x}",
        "vertices": action.vertices,
        "instances": action.instances,
        "executed": action.executed,
    }
    return {name: value for name, value in arguments.items() if value is not None}


def _timed(passes: Passes) -> list[tuple[int, str, TimeSpan, dict[str, Any]]]:
    """Row, name, span and arguments of what has captured timestamps."""
    timed = []
    for pass_ in passes.passes:
        span = pass_.time
        if span is not None and span.ticks is not None:
            timed.append((2, _pass_name(pass_), span, _pass_arguments(pass_)))
        for tile in pass_.tiles:
            span = tile.time
            if span is not None and span.ticks is not None:
                name, arguments = _run_name(pass_, tile)
                timed.append((3, name, span, arguments))
    return timed


def _spans_in_time(
    timed: list[tuple[int, str, TimeSpan, dict[str, Any]]], process: int
) -> Iterator[dict[str, Any]]:
    start = min(span.begin.ticks or 0 for _, _, span, _ in timed)
    for row, name, span, arguments in timed:
        begin = nanoseconds((span.begin.ticks or 0) - start) / _MICROSECOND
        length = (span.duration or 0) / _MICROSECOND
        yield _Row(process, row).span(
            name, begin, length, {**arguments, "nanoseconds": span.duration, "ticks": span.ticks}
        )
