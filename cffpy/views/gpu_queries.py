# SPDX-License-Identifier: MIT
"""The queries of a capture: lines of text, and a JSON document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, TypedDict

from cffpy.document_types import Facts, Of
from cffpy.frame.faces import facts_documents
from cffpy.views.plain_text import Styled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.frame.gpu_query import GpuQuery, QueryCounter

SCHEMA = "cffpy.passes.queries/1"

#: Copies and predicates of a query that text shows; JSON has all.
_SHOWN = 8


class QueriesDocument(TypedDict):
    """The queries of the driver in a capture: cffpy passes --queries --json."""

    queries: Annotated[Iterable[Facts], "the queries", Of("cffpy.frame.gpu_query:GpuQuery")]


def document(queries: Iterable[GpuQuery]) -> QueriesDocument:
    """The queries in the order of their begin."""
    return {"queries": facts_documents(queries)}


def lines(queries: Iterable[GpuQuery]) -> Iterator[str]:
    """The queries, with counters, copies and predicates."""
    is_empty = True
    for query in queries:
        is_empty = False
        yield from _query_lines(query)
    if is_empty:
        yield "no queries"


def _query_lines(query: GpuQuery) -> Iterator[str]:
    yield Styled(f"query {query.number}: {query.kind}, {_counted_text(query)}, {_runs_text(query)}")
    if query.asked_by == "autotuner":
        yield "  of the driver's autotuner"
    elif query.asked_by is None:
        yield "  no packet marks its result as available"
    if not query.certain:
        yield "  begin and end follow each other; nothing says that they belong together"
    if query.pairing == "packet":
        yield f"  at {query.begin}"
    else:
        yield f"  from {query.begin}"
        yield f"  to {query.end}"
    for counter in query.counters:
        yield f"  {_counter_text(counter, query)}"
    if query.available is not None:
        yield f"  marked as available at {query.available:#x}"
    copies = [
        f"copied from {copy.source:#x} to {copy.destination:#x}, {copy.size} bytes:"
        f" {copy.place}{'' if copy.condition is None else f' ({copy.condition})'}"
        for copy in query.copies
    ]
    decided = [
        f"{predicate.packet} decides by {predicate.address:#x}: {predicate.place}"
        for predicate in query.predicates
    ]
    for texts in (copies, decided):
        yield from (f"  {text}" for text in texts[:_SHOWN])
        if len(texts) > _SHOWN:
            yield f"  ... and {len(texts) - _SHOWN} more"


def _counted_text(query: GpuQuery) -> str:
    if query.kind == "timestamp":
        return "one time"
    if not query.draws_known:
        return "unknown draws"
    draws = ", ".join(map(str, query.draws)) or "none"
    return f"draws {draws}"


def _runs_text(query: GpuQuery) -> str:
    text: str = query.runs
    if query.tiles:
        text = text.replace("each tile", f"each of {query.tiles} tiles")
    return text if query.tiles or query.times < 2 else f"{text}: {query.times}"


def _counter_text(counter: QueryCounter, query: GpuQuery) -> str:
    name = counter.name
    what = counter.statistic or counter.countable
    if what is not None:
        name = f"{name} ({what})"
    places = [
        f"{word} {address:#x}"
        for word, address in (
            ("begin", counter.begin_address),
            ("end", counter.end_address),
            ("result", counter.result_address),
        )
        if address is not None
    ]
    value = "not captured"
    if counter.value is not None:
        value = f"{counter.value:,}, as captured with submit {query.captured_with}"
    return f"{name}: {', '.join(places)}: {value}"
