# SPDX-License-Identifier: MIT
"""CFF034: a draw samples the image that it renders to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.facts.draw_textures import DrawTextures
from cffpy.check.model import FROM_A5XX, Lint, at_draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture, Report


class TargetInTexture(Lint):
    """A draw samples the image that it renders to."""

    id = "CFF034"
    name = "target-in-texture"
    severity = "warning"
    generations = FROM_A5XX
    needs = (DrawTextures,)
    summary = "a draw samples the image that it renders to"
    why = (
        "Without a feedback loop, what is read depends on the order in which caches and GMEM are "
        "written."
    )
    advice = "Copy the image first, use an input attachment, or declare a feedback loop."

    def check(self, capture: CheckedCapture) -> Iterator[Report]:
        """Draws with a texture at the address of a target that they write."""
        facts = capture.facts(DrawTextures)
        for found, draw in capture.draws():
            written = {
                target.address: target.name
                for target in draw.targets
                if target.address and target.write_mask
            }
            for bound, texture in facts.images(draw):
                name = written.get(texture.address)
                if name is not None:
                    text = f"{bound.stage} texture at {texture.address:#x} is {name}"
                    yield at_draw(found, draw, text, (found.index, texture.address))
