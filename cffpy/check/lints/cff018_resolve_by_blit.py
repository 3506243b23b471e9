# SPDX-License-Identifier: MIT
"""CFF018: samples are resolved by the 2D engine instead of the BLIT event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.model import FROM_A6XX, Lint, at_pass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class ResolveByBlit(Lint):
    """Samples are resolved by the 2D engine instead of the BLIT event."""

    id = "CFF018"
    name = "resolve-by-blit"
    severity = "info"
    generations = FROM_A6XX
    summary = "samples are resolved by the 2D engine instead of the BLIT event"
    why = (
        "A CP_BLIT or a draw at the end of a tile is slower than a store by the BLIT event, and "
        "needs the colour cache."
    )
    advice = (
        "Formats with components of more than 10 bits, snorm formats and R8G8 cannot be resolved "
        "by the event; use another format if that is possible."
    )

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """CP_BLITs and rectangle draws that resolve, or that store from GMEM."""
        for found in capture.render_passes():
            for run in found.runs:
                for operation in run.operations:
                    from_gmem = operation.kind == "store" and operation.gmem is not None
                    by_event = operation.how == "BLIT event"
                    is_possible = operation.action.execution.is_possible
                    if by_event or not is_possible or not (operation.resolves or from_gmem):
                        continue
                    name = operation.attachment or "an attachment"
                    does = "resolved" if operation.resolves else "stored"
                    of = operation.format or "format unknown"
                    text = f"{name} is {does} by {operation.how}, {of}"
                    yield at_pass(found, text, (name, does))
