# SPDX-License-Identifier: MIT
"""CFF048: a draw has more indices than its packet says there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.model import Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class TooFewIndices(Lint):
    """A draw has more indices than its packet says there are."""

    id = "CFF048"
    name = "too-few-indices"
    severity = "error"
    summary = "a draw has more indices than its packet says there are (MAX_INDICES)"
    why = "The GPU reads no index behind that limit, and takes 0 instead: primitives collapse."
    advice = "Check the size of the index buffer that is bound, and the count of the draw."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Indexed draws whose first index and count exceed MAX_INDICES; up to a4xx, INDX_SIZE."""
        for found, draw in capture.draws():
            there = draw.indices_within
            if there is not None:
                first = draw.first_index or 0
                behind = f" from index {first} on" if first else ""
                text = f"{draw.vertices} indices{behind}, and there are {there}"
                yield at_draw(found, draw, text, (found.index, there))
