# SPDX-License-Identifier: MIT
"""What the pipes BR and BV wait for, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.frame.execution import PipeWait

#: Waits of a pass that are listed as text.
_SHOWN = 64


def summary_lines(waits: Sequence[PipeWait]) -> Iterator[str]:
    """How often each pipe waits for the other one; then the waits at which a pipe may hang."""
    counts = [(pipe, [one for one in waits if one.pipe == pipe]) for pipe in ("BR", "BV")]
    parts = [f"{pipe} {len(found)}" for pipe, found in counts if found]
    yield f"waits of the pipes for each other: {', '.join(parts)}"
    for one in [one for one in waits if one.state in ("never", "race")][:_SHOWN]:
        yield f"  {wait_text(one)}"


def wait_lines(waits: Sequence[PipeWait]) -> Iterator[str]:
    """Each wait and its signal."""
    for one in waits[:_SHOWN]:
        yield wait_text(one)
    if len(waits) > _SHOWN:
        yield f"{len(waits) - _SHOWN:,} more waits of the pipes"


def wait_text(one: PipeWait) -> str:
    """A wait and its signal in one line."""
    head = f"{one.pipe} waits for {one.wanted}, {one.place}"
    if one.state == "race":
        return f"{head}: {_race_text(one)}"
    if one.signal is not None:
        return f"{head}: by {one.signal.pipe}, {one.signal.place}"
    reasons = {
        "held before": "holds before",
        "never": "nobody signals it",
        "unknown": "not known who signals it",
    }
    return f"{head}: {reasons[one.state]}"


def _race_text(one: PipeWait) -> str:
    """In which order it holds, and in which it does not."""
    signal, overwritten = one.signal, one.overwritten
    held = "holds before" if signal is None else f"by {signal.pipe}, {signal.place}"
    if overwritten is None:
        return f"{held}; in another order it never holds"
    return f"{held}, unless {overwritten.pipe}, {overwritten.place}, writes over it first"
