# SPDX-License-Identifier: MIT
"""CFF047: the indices of a draw lie in no buffer, or behind the end of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.captured_memory import DeclaredMemory
from cffpy.check.model import Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report
    from cffpy.frame.action import Action


class NoIndexBuffer(Lint):
    """The indices of a draw lie in no buffer, or behind the end of theirs."""

    id = "CFF047"
    name = "no-index-buffer"
    severity = "error"
    needs = (DeclaredMemory,)
    summary = "the indices of a draw lie in no buffer, or behind the end of theirs"
    why = "The GPU faults, or draws with indices that are other data."
    advice = "Check INDX_BASE, and that the buffer is part of the submit."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Draws with INDX_BASE 0; in captures of all buffers, those whose indices are in none."""
        memory = capture.facts(DeclaredMemory)
        for found, draw in capture.draws():
            there = memory.indices(draw)
            text = None if there is None else _fault(draw, there)
            if text and (memory.is_full(draw) or text == _NULL):
                yield at_draw(found, draw, text, (found.index, text))


_NULL = "INDX_BASE is 0"


def _fault(draw: Action, there: int) -> str | None:
    """What is wrong with the indices of a draw. ``there``: bytes of the buffer from the first."""
    values, region = draw.values, draw.index_region
    if values is None or draw.vertices == 0:
        return None
    if not values.index_base:
        return _NULL
    if not there:
        return f"INDX_BASE {values.index_base:#x} lies in no buffer of the submit"
    if region is None:
        return None
    _, count, size = region
    if draw.indices_within is not None:  # CFF048: the GPU reads no more
        count = max(0, draw.indices_within - (draw.first_index or 0))
    if count * size <= there:
        return None
    return f"{count} indices have {count * size} bytes, of which the buffer has {there}"
