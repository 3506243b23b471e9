# SPDX-License-Identifier: MIT
"""CFF028: a cache is cleaned or invalidated twice without work between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.barriers import Barriers
from cffpy.check.model import FROM_A5XX, Lint, Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.capture.load import CommandStream
    from cffpy.check.model import CheckedCapture


class RedundantFlush(Lint):
    """A cache is cleaned or invalidated twice without work between."""

    id = "CFF028"
    name = "redundant-flush"
    severity = "info"
    generations = FROM_A5XX
    needs = (Barriers,)
    summary = "a cache is cleaned or invalidated twice without work between"
    why = "The second event has nothing to do, but may wait for the first."
    advice = "Collect barriers and emit each event once. TU_DEBUG=flushall adds them to each draw."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Cache events of one name with nothing between that could fill the cache.

        An event with a timestamp is a fence, whose write is what it is for; a driver records each
        command stream without knowing what runs before.
        """
        seen: set[str] = set()
        stream: CommandStream | None = None
        for step in capture.facts(Barriers).steps:
            if step.submit is not stream:
                stream = step.submit
                seen.clear()
            if step.kind in ("work", "unknown") or step.writes:
                seen.clear()
            elif step.kind == "cache" and step.is_certain:
                if step.name in seen:
                    text = f"{step.name} again, without work since the last"
                    yield Report(text, step.name, step.place, step.found)
                seen.add(step.name)
