# SPDX-License-Identifier: MIT
"""CFF036: a vertex attribute is fetched from no buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_states import DrawStates
from cffpy.check.model import FROM_A5XX, Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class AttributeWithoutBuffer(Lint):
    """A vertex attribute is fetched from no buffer."""

    id = "CFF036"
    name = "attribute-without-buffer"
    severity = "error"
    generations = FROM_A5XX
    needs = (DrawStates,)
    summary = "a vertex attribute is fetched from no buffer"
    why = "The fetch unit reads address 0: zeros, or a fault."
    advice = "Bind a vertex buffer for each attribute that the program uses."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Fetches with address 0 that a decode entry of the program uses."""
        states = capture.facts(DrawStates)
        for found, draw in capture.draws():
            state = states.of(draw)
            for fetch in () if state is None else state.fetches:
                if not fetch.address and fetch.end:
                    # written so where the program binds nothing: Vulkan's nullDescriptor
                    what = "is null: address and size are 0" if fetch.is_null else "has address 0"
                    text = f"vertex buffer {fetch.number} {what}"
                    cause = found.index, fetch.number, fetch.is_null
                    report = at_draw(found, draw, text, cause)
                    yield report._replace(severity="info") if fetch.is_null else report
