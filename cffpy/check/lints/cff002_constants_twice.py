# SPDX-License-Identifier: MIT
"""CFF002: constants are loaded twice before a draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.constants import ConstantLoads
from cffpy.check.model import FROM_A3XX, Lint, Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture


class ConstantsTwice(Lint):
    """Constants are loaded twice before a draw."""

    id = "CFF002"
    name = "constants-twice"
    severity = "warning"
    generations = FROM_A3XX
    needs = (ConstantLoads,)
    summary = "constants are loaded twice before a draw"
    why = "The first load is wasted: the second overwrites it before anything reads it."
    advice = "Load each constant once before the draw that uses it."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Loads that overlap, without a draw or dispatch between."""
        for first, second, found in capture.facts(ConstantLoads).twice:
            text = (
                f"{second.stage} constants {second.first} to {second.end - 1} replace"
                f" {first.first} to {first.end - 1}, which no draw has used"
            )
            cause = None if found is None else found.index, second.stage
            yield Report(text, cause, second.place, found)
