# SPDX-License-Identifier: MIT
"""CFF030: the scissors or the viewport leave no pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_states import DrawStates
from cffpy.check.model import Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class EmptyScissor(Lint):
    """The scissors or the viewport leave no pixels."""

    id = "CFF030"
    name = "empty-scissor"
    severity = "warning"
    needs = (DrawStates,)
    summary = "the scissors or the viewport leave no pixels"
    why = "Vertices are processed, and no pixel can be written."
    advice = "Check the viewport and scissor of the draw; leave it out if that is intended."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Draws with rasterisation whose rectangles do not meet."""
        states = capture.facts(DrawStates)
        for found, draw in capture.draws():
            state = states.of(draw)
            if state is None or state.raster.discards or state.raster.feeds_back:
                continue
            corners, scale = state.raster.clipped, state.raster.scale
            if scale is not None and 0.0 in scale:
                text = f"the viewport is {2 * abs(scale[0]):g}x{2 * abs(scale[1]):g} pixels large"
                yield at_draw(found, draw, text, (found.index, "viewport"))
            elif corners is not None and (corners[0] > corners[2] or corners[1] > corners[3]):
                left, top, right, bottom = corners
                text = f"the scissors leave nothing: {left},{top} to {right},{bottom}"
                yield at_draw(found, draw, text, (found.index, "scissor"))
