# SPDX-License-Identifier: MIT
"""CFF028: between two draws a cache is cleaned or invalidated twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.barriers import Barriers
from cffpy.check.model import FROM_A5XX, Lint, Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.facts.barriers import Step
    from cffpy.check.model import CheckedCapture
    from cffpy.frame.place import PacketLocation, Stream


class RedundantFlush(Lint):
    """Between two draws a cache is cleaned or invalidated twice, without work between."""

    id = "CFF028"
    name = "redundant-flush"
    severity = "info"
    generations = FROM_A5XX
    needs = (Barriers,)
    summary = "a cache is cleaned or invalidated twice between two draws"
    why = "The second event has nothing to do, but the draws on both sides of it do not overlap."
    advice = "Collect barriers and emit each event once."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Cache events of one name with nothing between that could fill the cache.

        An event with a timestamp is a fence, whose write is what it is for. Where a run of draws
        begins or ends, the GPU drains in any case; and who records an IB or a command stream does
        not know what runs before it.
        """
        seen: dict[str, Stream | None] = {}
        repeated: list[Step] = []
        before: Step | None = None
        for step in capture.facts(Barriers).steps:
            if step.kind in ("work", "unknown") or step.writes:
                seen.clear()
            if step.kind == "unknown":
                before = None
            elif step.action is not None:
                if _is_one_run(before, step):
                    yield from map(_report, repeated)
                before = step
                repeated.clear()
            elif step.kind == "cache" and step.is_certain and not step.writes:
                stream = _stream(step.place)
                if stream is not None and seen.get(step.name) is stream:
                    repeated.append(step)
                seen[step.name] = stream


def _report(step: Step) -> Report:
    text = f"{step.name} again, without work since the last"
    return Report(text, step.name, step.place, step.found)


def _is_one_run(one: Step | None, other: Step) -> bool:
    """Whether two actions are the program's, in one run of one pass of a command stream."""
    if one is None or one.action is None or other.action is None:
        return False
    if one.submit is not other.submit or one.found is not other.found:
        return False
    if one.action.number is None or other.action.number is None:
        return False
    one_run = one.action.tile_number, one.action.binning
    return one_run == (other.action.tile_number, other.action.binning)


def _stream(place: PacketLocation | None) -> Stream | None:
    """The execution of an IB, or the command stream, that a packet is in."""
    stream = None if place is None else place.stream
    while stream is not None and stream.kind == "block" and stream.caller is not None:
        stream = stream.caller.stream
    return stream
