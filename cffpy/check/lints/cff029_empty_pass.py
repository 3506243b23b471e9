# SPDX-License-Identifier: MIT
"""CFF029: a pass loads or stores attachments, but draws and clears nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.model import FROM_A3XX, Lint, at_pass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class EmptyPass(Lint):
    """A pass loads or stores attachments, but draws and clears nothing."""

    id = "CFF029"
    name = "empty-pass"
    severity = "warning"
    generations = FROM_A3XX
    summary = "a pass loads or stores attachments, but draws and clears nothing"
    why = "Each attachment goes through GMEM and back without a change."
    advice = "Leave the pass out."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Render passes with loads or stores only."""
        for found in capture.render_passes():
            kinds = {
                operation.kind
                for run in found.runs
                for operation in run.operations
                if operation.action.execution.is_possible
            }
            drawn = any(run.draws for run in found.runs)
            is_whole = all(run.is_whole for run in found.runs)
            if kinds and kinds <= {"load", "store"} and not drawn and is_whole:
                yield at_pass(
                    found, f"only {' and '.join(sorted(kinds))} operations, no draw, no clear"
                )
