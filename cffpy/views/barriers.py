# SPDX-License-Identifier: MIT
"""Barriers: lines of text, and a JSON document."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, TypedDict

from cffpy.document_types import Facts, Of
from cffpy.frame.faces import facts_document
from cffpy.views.plain_text import Styled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.frame.barrier import Barrier, Guards, Hazard

SCHEMA = "cffpy.passes.barriers/1"

_GUARDS: tuple[tuple[Guards, str], ...] = (
    ("hazards", "for hazards"),
    ("cache mode", "for another mode of the colour cache"),
    ("outside", "for what is outside of the submit"),
    ("nothing", "for nothing"),
    ("unknown", "unknown"),
)


def lines(barriers: Sequence[Barrier]) -> Iterator[str]:
    """How many there are of each kind; then each with its hazards."""
    counts = Counter(barrier.guards for barrier in barriers)
    kinds = ", ".join(f"{counts[kind]} {text}" for kind, text in _GUARDS if counts[kind])
    number = len(barriers)
    yield f"{number} barrier{'' if number == 1 else 's'}{': ' if kinds else ''}{kinds}"
    for barrier in barriers:
        yield Styled(f"barrier {barrier.number}{_where(barrier)}: {', '.join(barrier.packets)}")
        yield f"  at {barrier.place}"
        yield f"  {_does(barrier)}"
        if barrier.guards != "hazards":
            yield f"  {_reason(barrier)}"
            continue
        yield f"  {_vulkan(barrier)}"
        yield from (f"  {_hazard(hazard)}" for hazard in barrier.hazards)


def _where(barrier: Barrier) -> str:
    parts = [] if barrier.pass_ is None else [f"p{barrier.pass_}"]
    if barrier.times != 1:
        parts.append(f"{barrier.times} times")
    if barrier.conditional:
        parts.append("conditional")
    return f" ({', '.join(parts)})" if parts else ""


def _does(barrier: Barrier) -> str:
    parts = [
        f"{verb} {', '.join(names)}"
        for verb, names in (
            ("cleans", barrier.cleans),
            ("invalidates", barrier.invalidates),
            ("waits for", barrier.waits),
        )
        if names
    ]
    return "; ".join(parts)


def _reason(barrier: Barrier) -> str:
    if barrier.guards == "unknown":
        return f"not known what it guards: {barrier.unknown}"
    return {
        "cache mode": "the colour cache gets another place in GMEM",
        "outside": "for what is before or behind its submit",
        "nothing": "guards nothing: no access before it meets one behind it",
    }[barrier.guards]


def _vulkan(barrier: Barrier) -> str:
    sides = (
        (barrier.source_stages, barrier.source_accesses),
        (barrier.destination_stages, barrier.destination_accesses),
    )
    return " -> ".join(f"{' | '.join(stages)} ({' | '.join(kinds)})" for stages, kinds in sides)


def _hazard(hazard: Hazard) -> str:
    size = "" if hazard.size is None else f", {hazard.size:,} bytes"
    may = "" if hazard.sure else ", may be"
    parts = ", ".join(hazard.parts)
    accesses = f"{_side(hazard.first.what, hazard.first.action)}, then"
    accesses += f" {_side(hazard.second.what, hazard.second.action)}"
    return f"{hazard.kind} at {hazard.address:#x}{size}{may}: {accesses} ({parts})"


def _side(what: str, action: str | None) -> str:
    return what if action is None else f"{what} of {action}"


class BarriersDocument(TypedDict):
    """The barriers of a capture: cffpy passes --barriers --json."""

    barriers: Annotated[list[Facts], "the barriers", Of("cffpy.frame.barrier:Barrier")]


def document(barriers: Sequence[Barrier]) -> BarriersDocument:
    """The barriers in order."""
    return {"barriers": [facts_document(barrier) for barrier in barriers]}
