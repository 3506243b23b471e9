# SPDX-License-Identifier: MIT
"""DrawTextures: the textures of each draw and dispatch, and the buffers that they lie in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.bound_textures import BoundTextures
from cffpy.analysis.image_views import ImageView, view_of_texture
from cffpy.analysis.layout_check.images import ImageComparer, is_impossible
from cffpy.analysis.layout_check.model import Comparison
from cffpy.check.model import Facts
from cffpy.errors import UnsupportedGpu
from cffpy.image.devices import device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cffpy.analysis.bound_textures import Bound, BoundTexture
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.texture_descriptors import Texture
    from cffpy.analysis.walk import Walk
    from cffpy.check.model import CheckedCapture
    from cffpy.cp.sink import Payload
    from cffpy.frame.action import Action


#: Images that are compared, at most: many layouts are calculated for each.
_MAX_COMPARED = 1 << 10


class ComparedTexture(NamedTuple):
    """An image at its first draw, and the result of comparing it with the calculated layouts."""

    draw: Action
    bound: BoundTexture
    view: ImageView
    comparison: Comparison


class DrawTextures(Facts):
    """Records textures, and the rest of their buffers while the memory is available."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self._bound = BoundTextures(walk)
        #: Submit and address -> declared bytes from there to the end of its buffer; 0: no buffer.
        self._remaining: dict[tuple[int, int], int] = {}
        self._compared: list[ComparedTexture] | None = None

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

    def compared(self, capture: CheckedCapture) -> list[ComparedTexture]:
        """Images of the program's draws and dispatches, compared as ``cffpy layout check`` does.

        Each distinct one that is impossible or has slices and levels: what rules tell about. Empty
        where there are no layout facts of the GPU.
        """
        if self._compared is None:
            self._compared = list(self._compare(capture))
        return self._compared

    def _compare(self, capture: CheckedCapture) -> Iterator[ComparedTexture]:
        try:
            part = device(capture.found.gpu or "")
        except UnsupportedGpu:
            return
        uses: dict[Texture, tuple[Action, BoundTexture]] = {}
        for _, draw in capture.work():
            for bound, texture in self.images(draw):
                uses.setdefault(texture, (draw, bound))
        views = [view_of_texture(texture) for texture in uses]
        comparer = ImageComparer(part, [(view.width, view.height, view.depth) for view in views])
        left = _MAX_COMPARED
        for (draw, bound), view in zip(uses.values(), views, strict=True):
            if left and (is_impossible(view) or (view.is_3d and view.levels > 1)):
                left -= 1
                yield ComparedTexture(draw, bound, view, comparer.compare(view, is_exact=True))
