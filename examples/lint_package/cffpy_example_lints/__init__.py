# SPDX-License-Identifier: MIT
"""A lint of another package: submits with more render passes than a limit."""

from __future__ import annotations

from collections.abc import Iterator

from cffpy.check.model import CheckedCapture, Lint, Report


class ManyPasses(Lint):
    """A submit with many render passes."""

    id = "EXA001"
    name = "many-passes"
    severity = "info"
    summary = "a submit has many render passes"
    why = "Each pass loads and stores its attachments."
    advice = "Merge passes that render to the same attachments."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Submits with more than a hundred render passes, at the first pass beyond that."""
        counts: dict[int, int] = {}
        for found in capture.render_passes():
            counts[found.submit] = counts.get(found.submit, 0) + 1
            if counts[found.submit] == _MOST + 1:
                text = f"submit {found.submit} has more than {_MOST} render passes"
                yield Report(text, found.submit, found.first, found)


_MOST = 100
