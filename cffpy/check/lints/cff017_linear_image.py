# SPDX-License-Identifier: MIT
"""CFF017: a linear image is rendered to, or sampled by many draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_textures import DrawTextures
from cffpy.check.model import FROM_A5XX, Lint, Report
from cffpy.image.formats import UnknownFormat, hardware_format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.texture_descriptors import Texture
    from cffpy.check.model import CheckedCapture
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass

#: Narrower images are always linear; fewer draws do not matter.
_WIDTH, _FEW = 16, 5


class LinearImage(Lint):
    """A linear image is rendered to, or sampled by many draws."""

    id = "CFF017"
    name = "linear-image"
    severity = "info"
    generations = FROM_A5XX
    needs = (DrawTextures,)
    summary = "a linear image is rendered to, or sampled by many draws"
    why = (
        "Tiled memory keeps neighbours in two dimensions together; linear rows cost more cache "
        "lines."
    )
    advice = "Use optimal tiling, and copy from linear images once."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Targets in linear memory, and linear textures of many draws."""
        for found in capture.render_passes():
            if len(found.draws) > 1:  # drivers draw blits and mipmaps one by one
                yield from _targets(found)
        yield from _textures(capture)


def _targets(found: Pass) -> Iterator[Report]:
    size = found.framebuffer or found.framebuffer_limit
    if size is None or size.width < _WIDTH or size.height < 2:
        return
    for target in found.attachments:
        is_linear = target.tiling in ("TILE6_LINEAR", "TILE5_LINEAR", "linear")
        if is_linear and target.address and target.name.startswith("color"):
            text = f"{target.name} ({target.format}) at {target.address:#x} is linear"
            yield Report(text, target.address, found.first, found)


def _textures(capture: CheckedCapture) -> Iterator[Report]:
    facts = capture.facts(DrawTextures)
    uses: dict[Texture, list[tuple[Pass, Action]]] = {}
    for found, draw in capture.draws():
        for _, texture in facts.images(draw):
            if not texture.tile_mode and texture.width >= _WIDTH and texture.height > 1:
                uses.setdefault(texture, []).append((found, draw))
    for texture, draws in uses.items():
        if len(draws) > _FEW and _can_be_tiled(texture.format):
            found, draw = draws[0]
            name = f"the texture at {texture.address:#x} ({texture.format})"
            text = f"{name} is linear; {len(draws)} draws sample it"
            yield Report(text, texture.address, draw.place, found, draw)


def _can_be_tiled(name: str) -> bool:
    """Only texels whose bytes are a power of two can be tiled."""
    try:
        size = hardware_format(name).block_bytes
    except UnknownFormat:
        return False
    return size & (size - 1) == 0
