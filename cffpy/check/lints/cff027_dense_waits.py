# SPDX-License-Identifier: MIT
"""CFF027: most draws of a pass wait until the GPU is idle."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from cffpy.check.facts.barriers import Barriers
from cffpy.check.model import FROM_A6XX, Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.facts.barriers import Step
    from cffpy.check.model import CheckedCapture, Report
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass

#: Fewer waits in a pass are not worth a finding.
_FEW = 5


class DenseWaits(Lint):
    """Most draws of a pass wait until the GPU is idle.

    What costs is a wait between two draws that could overlap: it is counted where nothing but
    waits and cache events lies between two draws of one run. A wait that follows a wait, or that
    stands between passes, tiles or around a query, has nothing to drain or has a reason. Up to
    a5xx Mesa's drivers wait before every draw.
    """

    id = "CFF027"
    name = "dense-waits"
    severity = "warning"
    generations = FROM_A6XX
    needs = (Barriers,)
    summary = "most draws of a pass wait until the GPU is idle"
    why = "CP_WAIT_FOR_IDLE lets a draw finish before the next begins, so that nothing overlaps."
    advice = "Remove waits that no data depends on. TU_DEBUG=syncdraw adds one for each draw."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Passes in which more than half of the draws that follow another one wait for it."""
        steps = capture.facts(Barriers).steps
        at = {step.action.order: place for place, step in enumerate(steps) if step.action}
        for found in capture.render_passes():
            pairs, waiting = 0, []
            for run in found.runs:
                draws = [draw for draw in run.draws if draw.order in at]
                for before, draw in pairwise(draws):
                    pairs += 1
                    if _waits(steps[at[before.order] + 1 : at[draw.order]]):
                        waiting.append(draw)
            if len(waiting) > max(_FEW, pairs // 2):
                yield _report(found, waiting[0], len(waiting), pairs)


def _waits(between: list[Step]) -> bool:
    """Whether the GPU becomes idle between two draws for nothing but the second of them."""
    kinds = {step.kind for step in between}
    return "wait" in kinds and kinds <= {"wait", "cache"}


def _report(found: Pass, draw: Action, waits: int, pairs: int) -> Report:
    text = f"{waits} of {pairs} draws that follow a draw wait until the GPU is idle"
    return at_draw(found, draw, text, found.index)
