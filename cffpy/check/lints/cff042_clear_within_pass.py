# SPDX-License-Identifier: MIT
"""CFF042: depth is cleared in a pass after draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.lrz import lrz_of_passes
from cffpy.check.model import FROM_A6XX, Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class ClearWithinPass(Lint):
    """Depth is cleared in a pass after draws."""

    id = "CFF042"
    name = "clear-within-pass"
    severity = "warning"
    generations = FROM_A6XX
    summary = "depth is cleared in a pass after draws"
    why = "LRZ is not valid from there on: turnip turns it off for the rest of the pass."
    advice = "Clear depth by the load operation of a new pass."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Draws at which LRZ is lost by a clear."""
        for one in lrz_of_passes(capture.found):
            why = one.lost_why
            if why is not None and one.lost_by is not None and why.key == "depth cleared":
                draw = one.pass_.draws[one.lost_by]
                text = "depth is cleared before this draw; LRZ is off from here on"
                yield at_draw(one.pass_, draw, text, one.pass_.index)
