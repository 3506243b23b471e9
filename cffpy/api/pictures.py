# SPDX-License-Identifier: MIT
"""Pictures of textures, attachments and plain memory, as captured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.analysis.image_views import attachment_views, view_of_texture
from cffpy.analysis.surfaces import surface_of
from cffpy.analysis.texture_descriptors import read_texel_order, read_texture
from cffpy.image.picture import Picture, PictureOptions, make_picture, parse_swizzle
from cffpy.image.texel_formats import PictureError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cffpy.analysis.attachments import Attachment
    from cffpy.analysis.image_views import ImageView
    from cffpy.analysis.passes.model import Pass
    from cffpy.api.memory import Memory
    from cffpy.capture.gpu import Gpu
    from cffpy.cp.machine import Machine
    from cffpy.image.surface import Surface
    from cffpy.image.tiled import BankSwizzle


class Pictures:
    """Makes pictures of what the memory of one submit holds: as captured, before its commands."""

    def __init__(self, machine: Callable[[], Machine], memory: Memory) -> None:
        """``machine``: a function that returns the one that has run the commands."""
        self._machine = machine
        self._memory = memory

    @property
    def gpu(self) -> Gpu:
        """The GPU of the capture."""
        return self._machine().gpu

    def of_surface(self, surface: Surface, options: PictureOptions) -> Picture:
        """The picture of a surface. Raises PictureError, MissingLibrary."""
        there = self._memory.captured(surface.address, surface.byte_size())
        return make_picture(surface, self._memory.read(surface.address, there) or b"", options)

    def view_of_texture(self, kind: str, dwords: Sequence[int]) -> ImageView:
        """What a descriptor of this kind describes. Raises PictureError."""
        texture = read_texture(self._machine(), dwords) if kind == "texture" else None
        if texture is None:
            chip = f"a{self.gpu.generation}xx"
            raise PictureError(f"images of {kind} descriptors of {chip} are not known")
        if texture.kind == "buffer":
            raise PictureError("the descriptor is of a buffer, not of an image")
        return view_of_texture(texture)

    def of_texture(
        self,
        kind: str,
        dwords: Sequence[int],
        level: int = 0,
        layer: int = 0,
        *,
        bank_swizzle: BankSwizzle | None = None,
        **options: Any,  # noqa: ANN401 - those of PictureOptions
    ) -> Picture:
        """See ``Descriptor.picture``."""
        view = self.view_of_texture(kind, dwords)
        order = read_texel_order(self._machine(), dwords)
        if order is not None:
            options = {"swap": order.swap, "swizzle": parse_swizzle(order.swizzle), **options}
        surface = surface_of(view, self.gpu, level, layer, bank_swizzle)
        return self.of_surface(surface, PictureOptions(**options))

    def of_attachment(
        self,
        one: Pass,
        name: str,
        layer: int = 0,
        *,
        bank_swizzle: BankSwizzle | None = None,
        **options: Any,  # noqa: ANN401 - those of PictureOptions
    ) -> Picture:
        """See ``Pass.picture``."""
        target, view = self.view_of_attachment(one, name)
        surface = surface_of(view, self.gpu, 0, layer, bank_swizzle)
        return self.of_surface(
            surface, PictureOptions(**{"swap": target.swap or "WZYX", **options})
        )

    def view_of_attachment(self, one: Pass, name: str) -> tuple[Attachment, ImageView]:
        """The attachment of a pass with this name, as in "color 0". Raises PictureError."""
        for target, view in attachment_views(one):
            if target.name == name:
                return target, view
        if any(target.name == name for target in one.attachments):
            raise PictureError(f"memory or size of {name} of pass {one.index} is not known")
        names = ", ".join(target.name for target in one.attachments) or "none"
        raise PictureError(f"pass {one.index} has no attachment {name}; it has: {names}")
