# SPDX-License-Identifier: MIT
"""CFF038: an IB is called that was not captured completely."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.captured_memory import MissingCommands
from cffpy.check.model import Lint, Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture


class CommandsNotCaptured(Lint):
    """An IB is called that was not captured completely."""

    id = "CFF038"
    name = "commands-not-captured"
    severity = "error"
    needs = (MissingCommands,)
    summary = "an IB is called that the capture does not hold whole"
    why = (
        "What the GPU executes there is unknown; state and draws after it may be wrong in all "
        "results."
    )
    advice = "Record the capture again with all buffers."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Calls of addresses in no captured buffer, or of more dwords than it has."""
        for address, asked, captured, place, found in capture.facts(MissingCommands).calls:
            what = f"{captured} of its {asked} dwords were captured" if captured else "not captured"
            text = f"the IB at {address:#x}: {what}"
            yield Report(text, address, place, found)
