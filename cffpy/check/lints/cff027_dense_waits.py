# SPDX-License-Identifier: MIT
"""CFF027: the GPU is idle more often than it draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.barriers import Barriers
from cffpy.check.model import Lint, Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.facts.barriers import Step
    from cffpy.check.model import CheckedCapture

#: Passes with fewer executions of draws always have more waits, at their begin and end.
_FEW = 8


class DenseWaits(Lint):
    """The GPU is idle more often than it draws."""

    id = "CFF027"
    name = "dense-waits"
    severity = "warning"
    needs = (Barriers,)
    summary = "the GPU is idle more often than it draws"
    why = "CP_WAIT_FOR_IDLE lets all work finish before the next begins, so that nothing overlaps."
    advice = "Remove waits that no data depends on. TU_DEBUG=syncdraw adds one for each draw."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Passes with more waits than draws; waits in a row."""
        before: Step | None = None
        waits: dict[int, list[Step]] = {}
        for step in capture.facts(Barriers).steps:
            if step.kind == "wait":
                if step.found is not None:
                    waits.setdefault(step.found.index, []).append(step)
                if before is not None and before.kind == "wait" and before.found is step.found:
                    text = "two waits for idle without any work between"
                    yield Report(text, "twice", step.place, step.found, severity="info")
            before = step
        for one in capture.render_passes():
            found = waits.get(one.index, [])
            executed = sum(len(run.draws) for run in one.runs)
            if executed > _FEW and len(found) > executed:
                text = f"{len(found)} waits for idle with {executed} executions of draws"
                yield Report(text, "dense", found[0].place, one)
