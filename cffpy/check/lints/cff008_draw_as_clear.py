# SPDX-License-Identifier: MIT
"""CFF008: a draw that covers the whole target looks like a clear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.coverage import Coverage
from cffpy.check.facts.draw_states import DrawStates
from cffpy.check.model import FROM_A5XX, Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.fragment_programs import ProgramFacts
    from cffpy.check.facts.draw_states import Corners
    from cffpy.check.model import CheckedCapture, Report
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass

#: A single draw of a pass is a driver's blit.
_LEAST_DRAWS = 2


class DrawAsClear(Lint):
    """A draw that covers the whole target looks like a clear."""

    id = "CFF008"
    name = "draw-as-clear"
    severity = "info"
    generations = FROM_A5XX
    needs = (DrawStates, Coverage)
    summary = "a draw that covers the whole target looks like a clear"
    why = (
        "A clear by the load operation, or by a clear command, is faster than a draw and keeps "
        "LRZ and compression."
    )
    advice = "Clear the target instead of drawing over it."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """The first draw of a pass, if it writes constant values to every pixel.

        Scissors say where a draw may write; what it covers, captured vertices say.
        """
        states, coverage = capture.facts(DrawStates), capture.facts(Coverage)
        for found in capture.render_passes():
            draws, size = found.draws, found.framebuffer
            if len(draws) < _LEAST_DRAWS or size is None:
                continue
            first = draws[0]
            state = states.of(first)
            if state is None or not _covers(found, state.raster.clipped):
                continue
            if not _is_constant(first, states.fragment_program(first)):
                continue
            if coverage.covers(first, size.width, size.height):
                text = (
                    f"the first draw has {first.vertices} vertices and covers {found.framebuffer}"
                )
                yield at_draw(found, first, text, found.index)


def _is_constant(draw: Action, program: ProgramFacts | None) -> bool:
    """Whether a draw writes the same to all its pixels, regardless of their contents."""
    depth = draw.depth
    if depth is None or program is None or depth.destination_read or depth.tests_stencil:
        return False
    if depth.tests_depth and depth.depth_func != "FUNC_ALWAYS":
        return False
    return not program.fetches and not program.has_inputs and not program.kills


def _covers(found: Pass, corners: Corners | None) -> bool:
    """Whether scissors leave the whole framebuffer."""
    size = found.framebuffer
    return size is not None and corners == (0, 0, size.width - 1, size.height - 1)
