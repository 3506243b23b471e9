# SPDX-License-Identifier: MIT
"""CFF032: a program samples a texture that has no memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_textures import DrawTextures
from cffpy.check.model import FROM_A5XX, Lint, at_draw
from cffpy.image.formats import UnknownFormat, hardware_format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.texture_descriptors import Texture
    from cffpy.check.model import CheckedCapture, Report


class UnmappedTexture(Lint):
    """A program samples a texture that has no memory."""

    id = "CFF032"
    name = "unmapped-texture"
    severity = "error"
    generations = FROM_A5XX
    needs = (DrawTextures,)
    summary = "a program samples a texture that has no memory"
    why = (
        "A descriptor with base 0 faults, or gives zeros. One that is larger than its buffer "
        "reads what lies behind."
    )
    advice = "Bind an image to each slot that the program uses, and check its size."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Descriptors of used slots with base 0, or whose layers exceed the buffer."""
        facts = capture.facts(DrawTextures)
        for found, draw in capture.work():
            for bound, texture in facts.images(draw):
                slot = f"slot {bound.slot}"
                if bound.set is not None:
                    slot = f"set {bound.set} {slot}"
                if not texture.address:
                    # all zero where the program binds nothing: Vulkan's nullDescriptor
                    is_null = not texture.width and not texture.height
                    what = "is null: its base and size are 0" if is_null else "has base 0"
                    text = f"{bound.stage} texture {slot} {what}"
                    cause = bound.stage, bound.set, bound.slot, is_null
                    report = at_draw(found, draw, text, cause)
                    yield report._replace(severity="info") if is_null else report
                    continue
                there = facts.remaining(draw, texture.address)
                needed = _least_size(texture)
                if there and texture.kind in ("2D", "cube") and needed > there:
                    where = f"{bound.stage} texture {slot} at {texture.address:#x}"
                    text = f"{where} needs {needed} bytes, of which the buffer has {there}"
                    yield at_draw(found, draw, text, texture.address)._replace(severity="info")


def _least_size(texture: Texture) -> int:
    """Bytes of the first level of all layers: the view may be of an inner level."""
    try:
        rows = -(-texture.height // hardware_format(texture.format).block_height)
    except UnknownFormat:
        return 0
    return texture.array_pitch * (max(1, texture.depth) - 1) + texture.pitch * rows
