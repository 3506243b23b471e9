# SPDX-License-Identifier: MIT
"""CFF050: a pipe waits for something that nobody signals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.model import FROM_A7XX, Lint, Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture


class WaitWithoutSignal(Lint):
    """A pipe waits for something that nobody signals."""

    id = "CFF050"
    name = "wait-without-signal"
    severity = "error"
    generations = FROM_A7XX
    summary = "a pipe, BR or BV, waits for something that nobody signals"
    why = (
        "The pipes run on their own up to a wait. Without a signal that the other pipe reaches "
        "first, the GPU hangs there."
    )
    advice = (
        "Have the other pipe write the value or time stamp, or count, before it waits itself; look "
        "at what CP_THREAD_CONTROL says about the packet that signals."
    )

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Waits that are executed and never signalled, though no commands are missing."""
        passes = {one.index: one for one in capture.passes}
        for wait in capture.found.waits:
            if wait.state == "never" and not capture.is_of_other_gpu(wait.place.submit):
                found = None if wait.pass_index is None else passes.get(wait.pass_index)
                text = f"{wait.pipe} waits for {wait.wanted}, and nobody signals it before"
                yield Report(text, (wait.pipe, wait.wanted), wait.place, found)
