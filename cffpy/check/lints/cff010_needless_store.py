# SPDX-License-Identifier: MIT
"""CFF010: a colour buffer is stored, then cleared before anything reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_textures import DrawTextures
from cffpy.check.facts.stores import unread_stores
from cffpy.check.model import FROM_A3XX, Lint, at_pass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class NeedlessStore(Lint):
    """A colour buffer is stored, then cleared before anything reads it."""

    id = "CFF010"
    name = "needless-store"
    severity = "warning"
    generations = FROM_A3XX
    needs = (DrawTextures,)
    summary = "a colour buffer is stored, then cleared before anything reads it"
    why = "The store writes the whole attachment to memory for nothing."
    advice = "Use the store operation DONT_CARE."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Colour buffers whose next use is a clear."""
        for found, name, address, later in unread_stores(capture):
            if name.startswith("color"):
                text = (
                    f"{name} at {address:#x} is stored; its next use is the clear of pass {later}"
                )
                yield at_pass(found, text, address)
