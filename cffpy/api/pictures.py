# SPDX-License-Identifier: MIT
"""CapturedImage: a texture, an attachment, or any memory, and the picture of its contents."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from cffpy.analysis.image_views import attachment_views, view_of_end, view_of_texture
from cffpy.analysis.surfaces import surface_of
from cffpy.analysis.texture_descriptors import is_of_texture, read_texel_order, read_texture
from cffpy.errors import CffpyError
from cffpy.frame.pictures import NamedImage, Picture
from cffpy.image.picture import PictureOptions, check_contents, make_picture, parse_swizzle
from cffpy.image.texels import PictureError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from cffpy.capture.gpu import Gpu
    from cffpy.cp.machine import Machine
    from cffpy.frame.action import Action
    from cffpy.frame.attachment import Attachment, TransferEnd
    from cffpy.frame.passes import Pass
    from cffpy.frame.pictures import ImageKind, ImageView
    from cffpy.frame.submit import Memory
    from cffpy.image.tiled import BankSwizzle, Surface


class CapturedImage:
    """An image and its captured contents, from before its submit ran.

    ``view``: address, format, size, pitch and tiling, taken from the commands.
    """

    __slots__ = ("_gpu", "_memory", "_order", "view")

    def __init__(
        self, view: ImageView, gpu: Gpu | None, memory: Memory, order: Mapping[str, Any]
    ) -> None:
        self.view = view
        self._gpu = gpu
        self._memory = memory
        #: Options of PictureOptions that assign channels.
        self._order = order

    def problem(
        self, level: int = 0, layer: int = 0, bank_swizzle: BankSwizzle | None = None
    ) -> str:
        """Why there is no picture, in a line: unknown texels, or no contents; "" if there is."""
        try:
            surface, data = self._contents(level, layer, bank_swizzle)
            check_contents(surface, data, self._order.get("swap", "WZYX"))
        except CffpyError as problem:
            return str(problem)
        return ""

    def picture(
        self,
        level: int = 0,
        layer: int = 0,
        *,
        bank_swizzle: BankSwizzle | None = None,
        **options: Any,  # noqa: ANN401 - those of PictureOptions
    ) -> Picture:
        """The picture. ``level``: of the view. ``layer``: also face of a cube, or slice.

        ``bank_swizzle``: of the memory controller, instead of the usual one of the GPU.
        ``options``: see PictureOptions. Raises PictureError where texels cannot be read, were not
        captured, or are all zero; MissingLibrary without the extra ``image``.
        """
        surface, data = self._contents(level, layer, bank_swizzle)
        return make_picture(surface, data, PictureOptions(**{**self._order, **options}))

    def _contents(
        self, level: int, layer: int, bank_swizzle: BankSwizzle | None
    ) -> tuple[Surface, bytes]:
        surface = surface_of(self.view, self._gpu, level, layer, bank_swizzle)
        there = self._memory.captured(surface.address, surface.byte_size())
        return surface, self._memory.read(surface.address, there) or b""

    def __repr__(self) -> str:
        return f"<CapturedImage at {self.view.address:#x}: {self.view}>"


def named_image(
    kind: ImageKind, number: int, label: str, image: Callable[[], CapturedImage]
) -> NamedImage:
    """With the image that a function returns, or the PictureError that it raises."""
    try:
        return NamedImage(kind, number, label, image(), "")
    except PictureError as problem:
        return NamedImage(kind, number, label, None, str(problem))


def named_images(
    kind: ImageKind, named: Iterable[tuple[str, Callable[[], CapturedImage]]]
) -> list[NamedImage]:
    """The images of a kind, by their labels."""
    return [named_image(kind, number, *one) for number, one in enumerate(named)]


def images_of_action(pictures: Pictures, action: Action) -> list[NamedImage]:
    """Textures and targets of a draw of the program; sources, then destinations of transfers."""
    images: list[NamedImage] = []
    one = action.pass_
    if one is not None and action.is_counted:
        textures = (
            (texture.label, partial(getattr, texture, "image")) for texture in action.textures
        )
        images += named_images("texture", textures)
        images += images_of_pass(pictures, one, action.targets)
    for kind in ("source", "destination"):
        ends = (getattr(moved, kind) for moved in action.transfers)
        known = dict.fromkeys(end for end in ends if end is not None)
        images += named_images(
            kind, ((end.format or "", partial(pictures.end, end)) for end in known)
        )
    return images


def images_of_pass(
    pictures: Pictures, pass_: Pass, targets: Iterable[Attachment]
) -> list[NamedImage]:
    """Images of the attachments of a pass, each with its name."""
    named = ((target.name, partial(pictures.attachment, pass_, target.name)) for target in targets)
    return named_images("target", named)


class Pictures:
    """Makes images of the memory of one submit."""

    def __init__(self, machine: Callable[[], Machine], memory: Memory) -> None:
        """``machine``: a function that returns the one that has run the commands."""
        self._machine = machine
        self._memory = memory

    def elements(self, domain: str | None, dwords: Sequence[int]) -> int | None:
        """The elements of a buffer texture; None for what is none."""
        machine = self._machine()
        texture = read_texture(machine, dwords) if is_of_texture(machine, domain) else None
        return texture.width if texture is not None and texture.kind == "buffer" else None

    def texture(self, kind: str, domain: str | None, dwords: Sequence[int]) -> CapturedImage:
        """The image that a descriptor of this kind and domain describes. Raises PictureError."""
        machine = self._machine()
        texture = read_texture(machine, dwords) if is_of_texture(machine, domain) else None
        order = read_texel_order(machine, dwords)
        if texture is None or order is None:
            chip = f"a{machine.gpu.generation}xx"
            raise PictureError(f"images of {kind} descriptors of {chip} are not known")
        if texture.kind == "buffer":
            raise PictureError("the descriptor is of a buffer, not of an image")
        how = {"swap": order.swap, "swizzle": parse_swizzle(order.swizzle)}
        return CapturedImage(view_of_texture(texture), machine.gpu, self._memory, how)

    def end(self, end: TransferEnd) -> CapturedImage:
        """The image at one end of a copy, fill, load or store. Raises PictureError."""
        view = view_of_end(end)
        if view is None:
            if end.gmem is not None:
                raise PictureError("it is in GMEM, which is not captured")
            raise PictureError("its address, format or size is not known")
        how = {"swap": end.swap or "WZYX"}
        return CapturedImage(view, self._machine().gpu, self._memory, how)

    def attachment(self, pass_: Pass, name: str) -> CapturedImage:
        """The attachment of a pass with this name, as in "color 0". Raises PictureError."""
        for target, view in attachment_views(pass_):
            if target.name == name:
                how = {"swap": target.swap or "WZYX"}
                return CapturedImage(view, self._machine().gpu, self._memory, how)
        if pass_.kind != "render":
            raise PictureError(
                f"pass {pass_.index} has no framebuffer: the size of {name} is not known"
            )
        if any(target.name == name for target in pass_.attachments):
            raise PictureError(f"memory or size of {name} of pass {pass_.index} is not known")
        names = ", ".join(target.name for target in pass_.attachments) or "none"
        raise PictureError(f"pass {pass_.index} has no attachment {name}; it has: {names}")
