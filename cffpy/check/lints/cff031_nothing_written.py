# SPDX-License-Identifier: MIT
"""CFF031: a draw writes nothing: no colour, depth or stencil."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_states import DrawStates
from cffpy.check.model import FROM_A3XX, Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class NothingWritten(Lint):
    """A draw writes nothing: no colour, depth or stencil."""

    id = "CFF031"
    name = "nothing-written"
    severity = "warning"
    generations = FROM_A3XX
    needs = (DrawStates,)
    summary = "a draw writes nothing: no colour, depth or stencil"
    why = "Such a draw has no effect that can be seen."
    advice = "Check write masks and targets, or leave the draw out."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Draws without writes, query, transform feedback or programs that write memory."""
        states = capture.facts(DrawStates)
        for found, draw in capture.draws():
            depth, state = draw.depth, states.of(draw)
            program = states.fragment_program(draw)
            if depth is None or state is None or program is None:
                continue
            writes = depth.writes_colour or depth.writes_depth or depth.writes_stencil
            raster = state.raster
            if writes or raster.feeds_back or raster.counts_samples or program.writes_memory:
                continue
            if any(stage not in ("VS", "FS") for stage, _ in draw.programs) or raster.discards:
                continue
            yield at_draw(found, draw, "no target is written", (found.index, draw.programs))
