# SPDX-License-Identifier: MIT
"""Rows of the tables ``registers`` and ``fields`` of captures of Intel GPUs.

State is set by instructions: the last one of each name stands where other GPUs have registers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.frame.faces import row
from cffpy.intel.analysis.survey import pass_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.intel.analysis.draw_state import StateSpans

    Row = tuple[Any, ...]


def registers(name: str, spans: StateSpans) -> Iterator[Row]:
    """A row for each value; ``name``: the capture."""
    database = spans.database
    if database is None:
        return
    for held, first, last in spans:
        offset = None if held.offset is None else held.offset // 4
        text = held.text(database)
        command = held.command
        pass_ = pass_of(spans.survey.passes, command)
        index = None if pass_ is None else pass_.index
        place = command.address, command.submit, index, None
        yield name, held.name, offset, first, last, held.value, text, *place


def fields(name: str, spans: StateSpans) -> Iterator[Row]:
    """A row for each field of each value."""
    database = spans.database
    if database is None:
        return
    for held, first, last in spans:
        for field in held.fields(database):
            yield (name, held.name, first, last, *row(field))
