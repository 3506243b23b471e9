# SPDX-License-Identifier: MIT
"""Visibilities: what visibility streams say of the passes of a capture.

Decoded streams may be large, so those of one pass at a time are kept. Actions and tiles are asked
about in the order of passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.visibility import VisibilityReader

if TYPE_CHECKING:
    from cffpy.analysis.visibility import PassVisibility
    from cffpy.frame.passes import Pass, Passes


class Visibilities:
    """The visibility of passes, one at a time."""

    def __init__(self, found: Passes) -> None:
        """``found``: all passes of the capture, which tell who shares a stream."""
        self._reader = VisibilityReader(found)
        self._last: PassVisibility | None = None

    def of(self, one: Pass) -> PassVisibility:
        """The visibility streams of a pass. Kept for the last pass only."""
        last = self._last
        if last is None or last.pass_ is not one:
            last = self._last = self._reader.read(one)
        return last
