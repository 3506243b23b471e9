# SPDX-License-Identifier: MIT
"""CFF035: a draw reads vertices behind the end of a buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_states import DrawStates
from cffpy.check.facts.last_vertices import LastVertices
from cffpy.check.model import FROM_A5XX, Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.facts.last_vertices import LastVertices
from cffpy.check.model import CheckedCapture, Report


class VertexBufferTooSmall(Lint):
    """A draw reads vertices behind the end of a buffer."""

    id = "CFF035"
    name = "vertex-buffer-too-small"
    severity = "error"
    generations = FROM_A5XX
    needs = (DrawStates, LastVertices)
    summary = "a draw reads vertices behind the end of a buffer"
    why = "Fetches beyond SIZE return zeros, or fault: vertices collapse."
    advice = "Check the number of vertices, the stride and the size that is bound."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Draws whose last vertex is known; indices are read where they were captured."""
        states, last_vertices = capture.facts(DrawStates), capture.facts(LastVertices)
        for found, draw in capture.draws():
            state, last = states.of(draw), last_vertices.of(draw)
            if state is None or last is None or last < 0:
                continue
            what = f"vertex {last}" if draw.indexed else f"{last + 1} vertices"
            for fetch in state.fetches:
                needed = fetch.stride * last + fetch.end
                if fetch.address and not fetch.instanced and fetch.size < needed:
                    text = (
                        f"vertex buffer {fetch.number} has {fetch.size} bytes;"
                        f" {what} with stride {fetch.stride} need"
                        f"{'s' if draw.indexed else ''} {needed}"
                    )
                    yield at_draw(found, draw, text, (found.index, fetch.number, fetch.address))
