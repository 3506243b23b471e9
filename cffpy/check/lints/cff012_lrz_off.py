# SPDX-License-Identifier: MIT
"""CFF012: a draw with a depth test does not use LRZ, though the pass has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.lrz import lrz_of_passes
from cffpy.check.facts.draw_states import DrawStates
from cffpy.check.model import FROM_A5XX, Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class LrzOff(Lint):
    """A draw with a depth test does not use LRZ, though the pass has it."""

    id = "CFF012"
    name = "lrz-off"
    severity = "warning"
    generations = FROM_A5XX
    needs = (DrawStates,)
    summary = "a draw with a depth test does not use LRZ, though the pass has it"
    why = (
        "LRZ rejects hidden blocks before the fragment program runs. This draw shades what other "
        "draws hide."
    )
    advice = "See the reason; cffpy lrz shows all draws of the pass."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Draws that are off by their own state, in passes that use LRZ or clear it."""
        programs = capture.facts(DrawStates).fragment_program
        for one in lrz_of_passes(capture.found, programs):
            if not one.tested and not (one.pass_.lrz is not None and one.pass_.lrz.cleared):
                continue
            for draw in one.draws:
                state = draw.action.depth
                if draw.use != "off" or state is None or state.direction is None:
                    continue
                why = draw.reasons[0]
                if state.tests_depth and why.key != "lost" and not why.loses:
                    text = f"LRZ is off: {why.text}"
                    yield at_draw(one.pass_, draw.action, text, (one.pass_.index, why.key))
