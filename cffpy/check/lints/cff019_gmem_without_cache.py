# SPDX-License-Identifier: MIT
"""CFF019: attachments avoid the part of GMEM that the colour cache uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.model import FROM_A6XX, Lint, at_pass
from cffpy.errors import UnsupportedGpu
from cffpy.image.devices import Device, device
from cffpy.image.formats import UnknownFormat
from cffpy.image.gmem import gallium_gmem, turnip_gmem
from cffpy.image.hardware_formats import hardware_format
from cffpy.image.layout import LayoutError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.passes.model import Pass
    from cffpy.check.model import CheckedCapture, Report
    from cffpy.image.formats import ImageFormat
    from cffpy.image.gmem import GmemLayout

#: One attachment is at offset 0 in both layouts.
_LEAST = 2


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
        """GMEM passes whose offsets fit the smaller layout only."""
        try:
            part = device(capture.found.gpu or "")
        except UnsupportedGpu:
            return
        for found in capture.render_passes():
            if found.mode == "gmem" and _avoids_cache(part, found):
                text = "the GMEM offsets are those of the layout that avoids the cache"
                yield at_pass(found, text)


def _avoids_cache(part: Device, found: Pass) -> bool:
    targets = [target for target in found.attachments if target.gmem is not None]
    if len(targets) < _LEAST:
        return False
    offsets = {target.gmem for target in targets}
    samples = found.samples or 1
    try:
        formats = [hardware_format(target.format or "") for target in targets]
        whole, smaller = (
            _offsets(turnip_gmem(part, formats, samples, avoid_ccu=avoids))
            for avoids in (False, True)
        )
    except (UnknownFormat, LayoutError):
        return False
    return offsets == smaller != whole and offsets != _of_gallium(part, found, formats)


def _of_gallium(part: Device, found: Pass, formats: list[ImageFormat]) -> set[int]:
    """Where the Gallium driver, which always uses all of GMEM, has the attachments of a pass.

    With some sizes of tiles these are the offsets of turnip's smaller layout, too.
    """
    if found.bin_size is None:
        return set()
    colors = [form for form in formats if not form.is_depth_stencil]
    depth = next((form for form in formats if form.is_depth_stencil), None)
    tile = found.bin_size.width, found.bin_size.height
    return _offsets(gallium_gmem(part, tile, colors, depth, found.samples or 1))


def _offsets(layout: GmemLayout) -> set[int]:
    return {place.offset for place in layout.places}
