# SPDX-License-Identifier: MIT
"""CFF045: the least slice size of a 3D texture is not what its layout has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.layout_check.images import SLICE_SIZE
from cffpy.check.facts.draw_textures import DrawTextures
from cffpy.check.model import FROM_A6XX, Lint, Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture


class SliceSize(Lint):
    """The least slice size of a 3D texture is not what its layout has."""

    id = "CFF045"
    name = "slice-size"
    severity = "warning"
    generations = FROM_A6XX
    needs = (DrawTextures,)
    summary = "the least slice size of a 3D texture is not what its layout has"
    why = (
        "Levels with small slices are padded to this size: with another, slices of narrow levels "
        "are read from wrong places."
    )
    advice = (
        "Set MIN_LAYERSZ to the size of the first slice that is not halved; cffpy layout image "
        "with a size like 64x64x16 shows it."
    )

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """3D textures with several levels whose MIN_LAYERSZ differs from the layout."""
        for one in capture.facts(DrawTextures).compared(capture):
            for difference in one.comparison.differences:
                if difference.what == SLICE_SIZE:
                    text = f"{one.bound.stage} texture at {one.view.address:#x}: {difference}"
                    yield Report(text, one.view.address, one.draw.place, None, one.draw)
