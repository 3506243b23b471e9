# SPDX-License-Identifier: MIT
"""CFF043: blending or the stencil test is on, but has no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.model import FROM_A3XX, Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class IdleState(Lint):
    """Blending or the stencil test is on, but has no effect."""

    id = "CFF043"
    name = "idle-state"
    severity = "info"
    generations = FROM_A3XX
    summary = "blending or the stencil test is on, but has no effect"
    why = (
        "Blending reads the target, and both may turn LRZ writes off, though the result is the "
        "same."
    )
    advice = "Turn off blending with factors ONE and ZERO, and a stencil test with ALWAYS and KEEP."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Draws whose blending gives the source, or whose stencil test never rejects or writes."""
        for found, draw in capture.draws():
            depth = draw.depth
            if depth is None:
                continue
            if depth.idle_blends:
                numbers = ", ".join(map(str, depth.idle_blends))
                text = f"blending of color {numbers} with factors ONE and ZERO"
                yield at_draw(found, draw, text, (found.index, "blend", depth.idle_blends))
            if depth.tests_stencil and not depth.stencil_has_effect:
                text = "the stencil test is ALWAYS and writes nothing"
                yield at_draw(found, draw, text, (found.index, "stencil"))
