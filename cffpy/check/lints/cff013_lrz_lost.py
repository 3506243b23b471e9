# SPDX-License-Identifier: MIT
"""CFF013: a draw turns LRZ off for the rest of the pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.lrz import lrz_of_passes
from cffpy.check.facts.draw_states import DrawStates
from cffpy.check.model import FROM_A5XX, Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class LrzLost(Lint):
    """A draw turns LRZ off for the rest of the pass."""

    id = "CFF013"
    name = "lrz-lost"
    severity = "warning"
    generations = FROM_A5XX
    needs = (DrawStates,)
    summary = "a draw turns LRZ off for the rest of the pass"
    why = "Later draws of the pass are not tested against LRZ, whatever their state is."
    advice = "Draw it last, or in a separate pass; cffpy lrz --json has advice for each reason."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """The draw that lost LRZ, where later draws would use it."""
        programs = capture.facts(DrawStates).fragment_program
        for one in lrz_of_passes(capture.found, programs):
            why = one.lost_why
            if why is None or one.lost_by is None or not one.paying or why.key == "depth cleared":
                continue
            draw = one.pass_.draws[one.lost_by]
            text = f"LRZ is lost: {why.text}; {len(one.paying)} later draws would use it"
            yield at_draw(one.pass_, draw, text, one.pass_.index)
