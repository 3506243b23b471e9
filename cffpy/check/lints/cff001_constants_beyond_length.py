# SPDX-License-Identifier: MIT
"""CFF001: constants are loaded beyond the length of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.constants import ConstantLoads
from cffpy.check.model import FROM_A6XX, Lint, Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture


class ConstantsBeyondLength(Lint):
    """Constants are loaded beyond the length of the program."""

    id = "CFF001"
    name = "constants-beyond-length"
    severity = "error"
    generations = FROM_A6XX
    needs = (ConstantLoads,)
    summary = "constants are loaded beyond the length of the program"
    why = (
        "The program sees CONSTLEN vectors of constants. What is loaded behind them is lost, or "
        "lands in the constants of another stage."
    )
    advice = "Load no more constants than HLSQ_xS_CNTL.CONSTLEN has, or make it larger."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Loads for a stage that the next draw or dispatch uses."""
        for load, length, action, found in capture.facts(ConstantLoads).beyond:
            text = f"{load.stage} constants {load.first} to {load.end - 1} with CONSTLEN {length}"
            cause = load.stage, load.first, load.end, length
            yield Report(text, cause, load.place, found, action)
