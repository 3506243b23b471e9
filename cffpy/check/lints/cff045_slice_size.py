# SPDX-License-Identifier: MIT
"""CFF045: the least slice size of a 3D texture is not what its layout has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_textures import DrawTextures, first_uses
from cffpy.check.model import FROM_A6XX, Lint, Report
from cffpy.errors import CffpyError
from cffpy.image.devices import device
from cffpy.image.hardware_formats import hardware_format
from cffpy.image.layout import ImageRequest, image_layout

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
        "--3d shows it."
    )

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """3D textures with all levels whose MIN_LAYERSZ differs from the layout."""
        for draw, bound, texture in first_uses(capture):
            if texture.kind != "3D" or texture.levels < 2:
                continue
            try:
                part = device(capture.found.gpu or "")
                request = ImageRequest(
                    hardware_format(texture.format),
                    texture.width,
                    texture.height,
                    texture.depth,
                    texture.levels,
                    is_3d=True,
                    tile_mode=texture.tile_mode,
                    tile_all=texture.tile_all,
                )
                layout = image_layout(request, part.generation, part.has_linear_mip_fallback)
            except CffpyError:
                continue
            least = layout.levels[-1].size
            if texture.min_layer not in (least, layout.min_layer_size):
                where = f"{bound.stage} texture at {texture.address:#x}"
                text = (
                    f"{where}: MIN_LAYERSZ {texture.min_layer},"
                    f" its smallest level has slices of {least}"
                )
                yield Report(text, texture.address, draw.place, None, draw)
