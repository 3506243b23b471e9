# SPDX-License-Identifier: MIT
"""CFF035: a draw reads vertices behind the end of a buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_states import DrawStates
from cffpy.check.model import FROM_A5XX, Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class VertexBufferTooSmall(Lint):
    """A draw reads vertices behind the end of a buffer."""

    id = "CFF035"
    name = "vertex-buffer-too-small"
    severity = "error"
    generations = FROM_A5XX
    needs = (DrawStates,)
    summary = "a draw reads vertices behind the end of a buffer"
    why = "Fetches beyond SIZE return zeros, or fault: vertices collapse."
    advice = "Check the number of vertices, the stride and the size that is bound."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Draws without indices, whose largest element is known."""
        states = capture.facts(DrawStates)
        for found, draw in capture.draws():
            state = states.of(draw)
            if state is None or draw.indexed or draw.indirect or not draw.vertices:
                continue
            for fetch in state.fetches:
                elements = (draw.instances or 1) if fetch.instanced else draw.vertices
                needed = fetch.stride * (elements - 1) + fetch.end
                if fetch.address and not fetch.instanced and fetch.size < needed:
                    text = (
                        f"vertex buffer {fetch.number} has {fetch.size} bytes;"
                        f" {elements} vertices with stride {fetch.stride} need {needed}"
                    )
                    yield at_draw(found, draw, text, (found.index, fetch.number, fetch.address))
