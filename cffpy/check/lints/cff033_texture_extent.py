# SPDX-License-Identifier: MIT
"""CFF033: pitch or base of a texture does not fit its size and tiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.layout_check.images import is_impossible
from cffpy.check.facts.draw_textures import DrawTextures
from cffpy.check.model import FROM_A5XX, Lint, Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture


class TextureExtent(Lint):
    """Pitch or base of a texture does not fit its size and tiling."""

    id = "CFF033"
    name = "texture-extent"
    severity = "warning"
    generations = FROM_A5XX
    needs = (DrawTextures,)
    summary = "pitch or base of a texture does not fit its size and tiling"
    why = "Rows overlap, or the address is rounded: the image is sheared or shifted."
    advice = "Compare with cffpy layout image; cffpy layout check shows all textures."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Descriptors with a pitch below a row of texels, or a base or pitch off its alignment."""
        for one in capture.facts(DrawTextures).compared(capture):
            if one.comparison.answer == "differs" and is_impossible(one.view):
                differences = "; ".join(str(each) for each in one.comparison.differences)
                where = f"{one.bound.stage} texture at {one.view.address:#x}"
                text = f"{where}: {one.view}{differences and f': {differences}'}"
                yield Report(text, one.view.address, one.draw.place, None, one.draw)
