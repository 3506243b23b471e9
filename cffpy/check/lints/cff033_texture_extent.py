# SPDX-License-Identifier: MIT
"""CFF033: pitch or base of a texture does not fit its size and tiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_textures import DrawTextures, first_uses
from cffpy.check.model import FROM_A5XX, Lint, Report
from cffpy.image.formats import UnknownFormat
from cffpy.image.hardware_formats import hardware_format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture

#: Rows of tiled images are a multiple of these texels; every base is a multiple of these bytes.
_TEXELS, _ALIGNMENT = 64, 64


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
        for draw, bound, texture in first_uses(capture):
            try:
                form = hardware_format(texture.format)
            except UnknownFormat:
                continue
            cpp = form.block_bytes * texture.samples
            row = -(-texture.width // form.block_width) * cpp
            where = f"{bound.stage} texture at {texture.address:#x}, {texture.width} wide:"
            if texture.pitch < row:
                text = f"{where} pitch {texture.pitch}, a row has {row} bytes"
                yield Report(text, texture.address, draw.place, None, draw)
            elif texture.tile_mode and texture.pitch % (_TEXELS * cpp):
                text = f"{where} pitch {texture.pitch} is no multiple of {_TEXELS * cpp}"
                yield Report(text, texture.address, draw.place, None, draw)
            elif texture.address % _ALIGNMENT:
                text = f"{where} base is no multiple of {_ALIGNMENT}"
                yield Report(text, texture.address, draw.place, None, draw)
