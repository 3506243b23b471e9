# SPDX-License-Identifier: MIT
"""CFF049: LRZ tests in another direction than the depth test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_states import DrawStates
from cffpy.check.model import FROM_A5XX, Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.depth_state import DepthState
    from cffpy.check.model import CheckedCapture, Report

#: Depth functions that pass fragments on both sides of what the buffer holds.
_BOTH = ("FUNC_ALWAYS", "FUNC_NOTEQUAL")


class LrzDirection(Lint):
    """LRZ tests in another direction than the depth test."""

    id = "CFF049"
    name = "lrz-direction"
    severity = "error"
    generations = FROM_A5XX
    needs = (DrawStates,)
    summary = "LRZ tests in another direction than the depth test"
    why = "LRZ rejects blocks whose fragments the depth test would pass: parts are missing."
    advice = (
        "Set GREATER and DIR of GRAS_LRZ_CNTL by the depth function, and turn LRZ off where it is "
        "ALWAYS or NOTEQUAL."
    )

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Draws that test depth and LRZ, with GREATER or DIR against ZFUNC."""
        states = capture.facts(DrawStates)
        for found, draw in capture.draws():
            state = draw.depth
            if state is None or not state.lrz_enabled or not state.tests_depth:
                continue
            if not states.is_complete(draw):
                continue  # one of the registers may be older
            used = _against(state)
            if used is not None:
                func = (state.depth_func or "").removeprefix("FUNC_")
                text = f"the depth function is {func}, and LRZ tests for {used}"
                yield at_draw(found, draw, text, (found.index, state.depth_func, used))


def _against(state: DepthState) -> str | None:
    """The direction of LRZ that contradicts the depth function; None where none does."""
    for used in (state.lrz_test, state.lrz_direction):
        if used is None:
            continue
        if state.direction is not None and state.direction != used:
            return used
        if state.depth_func in _BOTH and state.lrz_direction is not None:
            return used
    return None
