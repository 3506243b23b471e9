# SPDX-License-Identifier: MIT
"""Visibilities: what visibility streams say of the passes of a capture, and the facts of tiles.

Decoded streams may be large, so those of one pass at a time are kept. Actions and tiles are asked
about in the order of passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.passes.tiles import is_visible, tile_facts
from cffpy.analysis.visibility import VisibilityReader

if TYPE_CHECKING:
    from cffpy.analysis.actions import Action
    from cffpy.analysis.passes.model import Pass, Passes
    from cffpy.analysis.passes.tiles import TileFacts
    from cffpy.analysis.visibility_model import PassVisibility


class Visibilities:
    """The visibility of passes, one at a time.

    Filters ask it through ``query.resources.Visibilities``, the interface through Action and Pass.
    """

    def __init__(self, found: Passes) -> None:
        """``found``: all passes of the capture, which tell who shares a stream."""
        self._reader = VisibilityReader(found)
        self._last: PassVisibility | None = None
        self._facts: list[TileFacts] | None = None

    def of(self, one: Pass) -> PassVisibility:
        """The visibility streams of a pass. Kept for the last pass only."""
        last = self._last
        if last is None or last.one is not one:
            last, self._facts = self._reader.read(one), None
            self._last = last
        return last

    def is_visible(self, found: Pass, draw: Action) -> bool | None:
        """Whether an execution of one of a pass's draws is visible; None: unknown."""
        return is_visible(found, draw, self.of(found).tiles)

    def tile_facts(self, found: Pass) -> list[TileFacts]:
        """The facts of the tiles of a pass, by their numbers.

        Kept for the last pass only; the list is shared.
        """
        visibility = self.of(found)
        if self._facts is None:
            self._facts = tile_facts(found, visibility.tiles)
        return self._facts
