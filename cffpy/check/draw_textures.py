# SPDX-License-Identifier: MIT
"""DrawTextures: the textures of each draw and dispatch, and the buffers that they lie in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.bound_textures import BoundTextures
from cffpy.check.model import Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cffpy.analysis.bound_textures import Bound, BoundTexture
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.texture_descriptors import Texture
    from cffpy.analysis.walk import Walk
    from cffpy.cp.sink import Payload
    from cffpy.frame.action import Action


class DrawTextures(Facts):
    """Records textures, and the rest of their buffers while the memory is available."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self._bound = BoundTextures(walk)
        #: Submit and address -> declared bytes from there to the end of its buffer; 0: no buffer.
        self._remaining: dict[tuple[int, int], int] = {}

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Packets that load descriptors."""
        return self._bound.packet_handlers()

    def action(self, action: Action) -> None:
        """Take the textures of a draw or dispatch."""
        self._bound.action(action)
        submit = action.place.submit.submit
        for bound in self._bound.of(action)[0]:
            if bound.texture is not None:
                key = submit, bound.texture.address
                if key not in self._remaining:
                    image = self.walk.machine.image
                    self._remaining[key] = image.remaining(bound.texture.address)

    def of(self, action: Action) -> Bound:
        """The textures and storage of an action, and whether they are all that it may read."""
        return self._bound.of(action)

    def remaining(self, action: Action, address: int) -> int:
        """Declared bytes from an address of a texture to the end of its buffer; 0: no buffer."""
        return self._remaining.get((action.place.submit.submit, address), 0)

    def images(self, action: Action) -> Iterator[tuple[BoundTexture, Texture]]:
        """The textures of an action that are images and whose descriptors were captured.

        Without storage images.
        """
        for bound in self._bound.of(action)[0]:
            texture = bound.texture
            if bound.kind == "texture" and texture is not None and texture.kind != "buffer":
                yield bound, texture
