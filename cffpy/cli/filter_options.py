# SPDX-License-Identifier: MIT
"""The options ``--where`` and ``--columns`` of commands that list draws, passes or tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from cffpy.cli.analysis_options import decode, open_for
from cffpy.cli.many_files import Shown
from cffpy.views.plain_text import headed_columns, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cffpy.api.capture import Capture
    from cffpy.api.selection import Found
    from cffpy.capture.gpu import Gpu
    from cffpy.query.filters import Filter

_Command = TypeVar("_Command", bound="Callable[..., Any]")

#: The document of ``--columns --json``.
_SCHEMA = "cffpy.columns/1"
#: Of ``--columns --jsonl``.
_LINE_SCHEMA = "cffpy.columns.line/1"


def filter_options(command: _Command) -> _Command:
    """Give a command ``--where`` and ``--columns``."""
    for name, metavar, text in (
        (
            "--columns",
            "A,B,C",
            f"Show the values of these names instead ({_SCHEMA}, {_LINE_SCHEMA}).",
        ),
        ("--where", "EXPR", "Only those for which this holds, as in 'cffpy find --help'."),
    ):
        command = click.option(name, metavar=metavar, help=text)(command)
    return command


def find_asking(
    path: str, gpu: Gpu | None, register_db: str | None, query: Filter | None, at_draws: bool
) -> tuple[Capture, int]:
    """As ``find`` of analysis_options, with the registers that the filter reads, in one walk."""

    def analysis(opened: Capture) -> None:
        if query is None:
            opened.walk(registers=False)
        else:
            opened.ask(query, at_draws)

    capture = open_for(path, gpu, register_db)
    return capture, decode(capture, analysis)[1]


def query_of(where: str | None, columns: str | None) -> Filter | None:
    """The filter of the options; None where neither is given. Raises FilterError."""
    if where is None and columns is None:
        return None
    from cffpy.query.filters import Filter

    return Filter(where, columns)


def shown_columns(
    what: str, chosen: Sequence[tuple[str, Found]], names: str, capture: Capture, code: int
) -> Shown:
    """A table of the columns ``names``; ``what``: the heading of the first column."""
    headings = [what, *(name.strip() for name in names.split(","))]

    def items() -> Iterator[dict[str, Any]]:
        for label, found in chosen:
            yield {what: label, "values": {one.name: one.value for one in found.columns}}

    def rows() -> Iterator[Sequence[str]]:
        return ((name, *(one.text for one in f.columns)) for name, f in chosen)

    def lines() -> Iterator[str]:
        table = [headings]
        table += [[name, *(visible(one.text) for one in f.columns)] for name, f in chosen]
        return iter(headed_columns(table))

    return Shown(
        capture,
        code,
        _SCHEMA,
        lambda: {"columns": headings, "rows": items()},
        lines,
        headings,
        rows,
        items,
    )
