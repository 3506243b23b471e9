# SPDX-License-Identifier: MIT
"""CFF007: a draw has no vertices or no instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.model import Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class EmptyDraw(Lint):
    """A draw has no vertices or no instances."""

    id = "CFF007"
    name = "empty-draw"
    severity = "warning"
    summary = "a draw has no vertices or no instances"
    why = "The packet and the state before it cost time, and nothing is drawn."
    advice = "Leave the draw out, or find out why its count is 0."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Draws whose numbers are in the packet, or in captured memory."""
        for found, draw in capture.draws():
            for number, name in ((draw.vertices, "vertices"), (draw.instances, "instances")):
                if number == 0:
                    what = "indices" if draw.indexed and name == "vertices" else name
                    yield at_draw(found, draw, f"{draw.packet} with 0 {what}", (found.index, name))
                    break
