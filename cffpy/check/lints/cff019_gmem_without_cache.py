# SPDX-License-Identifier: MIT
"""CFF019: attachments avoid the part of GMEM that the colour cache uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.layout_check.tilings import avoids_cache
from cffpy.check.model import FROM_A6XX, Lint, at_pass
from cffpy.errors import UnsupportedGpu
from cffpy.image.devices import device

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class GmemWithoutCache(Lint):
    """Attachments avoid the part of GMEM that the colour cache uses."""

    id = "CFF019"
    name = "gmem-without-cache"
    severity = "info"
    generations = FROM_A6XX
    summary = "attachments avoid the part of GMEM that the colour cache uses"
    why = (
        "turnip leaves the cache its part of GMEM where a store or resolve is not aligned, or not"
        " possible by the BLIT event: tiles are smaller."
    )
    advice = (
        "Align the render area to 16 x 4 pixels, and resolve between formats that the event can "
        "handle."
    )

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """GMEM passes whose tiles and GMEM offsets are those of the smaller layout only."""
        try:
            part = device(capture.found.gpu or "")
        except UnsupportedGpu:
            return
        for found in capture.render_passes():
            if found.mode == "gmem" and avoids_cache(part, found):
                text = "the tiles are those of the GMEM layout that avoids the cache"
                yield at_pass(found, text)
