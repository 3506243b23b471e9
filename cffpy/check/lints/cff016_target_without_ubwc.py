# SPDX-License-Identifier: MIT
"""CFF016: a target is not compressed, though its format and size allow UBWC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.compression import may_be_compressed
from cffpy.check.model import FROM_A6XX, Lint, Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture

#: Narrower images are never compressed.
_LEAST_WIDTH = 16

#: Passes with a single draw are the drivers' blits and mipmaps.
_FEW = 2


class TargetWithoutUbwc(Lint):
    """A target is not compressed, though its format and size allow UBWC."""

    id = "CFF016"
    name = "target-without-ubwc"
    severity = "warning"
    generations = FROM_A6XX
    summary = "a target is not compressed, though its format and size allow UBWC"
    why = "UBWC saves bandwidth of memory for each load, store and sample."
    advice = (
        "Create the image without storage or host access if possible, and with a list of formats "
        "that are compatible. TU_DEBUG=noubwc and FD_MESA_DEBUG=noubwc turn it off."
    )

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Attachments of passes, in memory, without flags."""
        for found in capture.render_passes():
            size = found.framebuffer or found.framebuffer_limit
            if size is None or size.width < _LEAST_WIDTH or len(found.draws) < _FEW:
                continue
            for target in found.attachments:
                if target.ubwc or not target.address or target.tiling == "TILE6_LINEAR":
                    continue
                if may_be_compressed(capture.found.gpu, target.format):
                    text = f"{target.name} ({target.format}) at {target.address:#x} has no UBWC"
                    yield Report(text, target.address, found.first, found)
