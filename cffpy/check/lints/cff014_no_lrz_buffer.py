# SPDX-License-Identifier: MIT
"""CFF014: a pass with a depth test has no LRZ buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.model import FROM_A6XX, Lint, at_pass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report

#: Passes with at most this many draws gain nothing.
_FEW = 5


class NoLrzBuffer(Lint):
    """A pass with a depth test has no LRZ buffer."""

    id = "CFF014"
    name = "no-lrz-buffer"
    severity = "info"
    generations = FROM_A6XX
    summary = "a pass with a depth test has no LRZ buffer"
    why = "Without LRZ, hidden blocks are shaded unless draws come front to back."
    advice = (
        "Use a depth format that has LRZ, and clear depth at the start of the pass. "
        "TU_DEBUG=nolrz and FD_MESA_DEBUG=nolrz turn it off."
    )

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Passes with more than a few draws that test depth with a direction."""
        for found in capture.render_passes():
            tested = [
                draw
                for draw in found.draws
                if draw.depth and draw.depth.tests_depth and draw.depth.direction
            ]
            bound = any(draw.depth and draw.depth.lrz_buffer for draw in tested)
            if len(tested) > _FEW and not bound and (found.lrz is None or not found.lrz.address):
                yield at_pass(found, f"{len(tested)} draws test depth without an LRZ buffer")
