# SPDX-License-Identifier: MIT
"""CFF011: depth or stencil is stored, then cleared before anything reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_textures import DrawTextures
from cffpy.check.facts.stores import unread_stores
from cffpy.check.model import FROM_A3XX, Lint, at_pass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class DepthStored(Lint):
    """Depth or stencil is stored, then cleared before anything reads it."""

    id = "CFF011"
    name = "depth-stored"
    severity = "warning"
    generations = FROM_A3XX
    needs = (DrawTextures,)
    summary = "depth or stencil is stored, then cleared before anything reads it"
    why = "Depth is seldom needed after its pass. The store writes it to memory for nothing."
    advice = "Use the store operation DONT_CARE for depth and stencil."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Depth and stencil buffers whose next use is a clear."""
        for found, name, address, later in unread_stores(capture):
            if not name.startswith("color"):
                text = (
                    f"{name} at {address:#x} is stored; its next use is the clear of pass {later}"
                )
                yield at_pass(found, text, address)
