# SPDX-License-Identifier: MIT
"""Images of a capture, and pictures of them: what ``cffpy.api.pictures`` makes.

numpy and Pillow are imported when a picture is made: the extra ``image``.
"""

from __future__ import annotations

from dataclasses import field
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from cffpy.errors import MissingLibrary
from cffpy.frame.facts import Address, described, model, stored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.formats import ImageFormat
    from cffpy.frame.passes import Pass

#: What an image of an action or pass is.
ImageKind = Literal["texture", "target", "source", "destination", "memory"]
#: Modules that make pictures -> the names of their packages.
LIBRARIES = {"numpy": "numpy", "PIL": "Pillow", "texture2ddecoder": "texture2ddecoder"}


#: Channels of a picture: L is grey.
Mode = Literal["L", "RGB", "RGBA"]


@model("picture", frozen=True, is_value=False)
class Picture:
    """A picture of 8 bits a channel.

    ``pixels``: rows from the top, ``len(mode)`` bytes a pixel.
    """

    width: int = stored("its width", "pixels")
    height: int = stored("its height", "pixels")
    mode: Mode = stored("its channels: L is grey")
    pixels: bytes = field(repr=False)
    low: float = stored("the value that is black")
    high: float = stored("the value that is white")
    notes: tuple[str, ...] = stored("what the picture does not show as it is, in words", default=())

    def png(self) -> bytes:
        """The file. Raises MissingLibrary without Pillow."""
        image = library("PIL.Image")
        stream = BytesIO()
        size = self.width, self.height
        image.frombytes(self.mode, size, self.pixels).save(stream, "PNG")
        return stream.getvalue()

    def scaled(self, width: int, height: int) -> Picture:
        """A smaller picture, of at most this size, with the same proportions."""
        if self.width <= width and self.height <= height:
            return self
        image = library("PIL.Image")
        factor = min(width / self.width, height / self.height)
        size = max(1, int(self.width * factor)), max(1, int(self.height * factor))
        small = image.frombytes(self.mode, (self.width, self.height), self.pixels).resize(size)
        return Picture(*size, self.mode, small.tobytes(), self.low, self.high, self.notes)

    def _repr_png_(self) -> bytes:
        return self.png()


def library(name: str) -> Any:  # noqa: ANN401 - a module
    """A library of the extra ``image``. Raises MissingLibrary."""
    try:
        return import_module(name)
    except ImportError:
        needed = LIBRARIES[name.partition(".")[0]]
        raise MissingLibrary.of("pictures need", needed, "image") from None


@described(
    "image_view",
    is_value=False,
    names={"min_layer": "min_layer_size"},
    address="GPU address of its first byte",
    format="format of the pixels, as in FMT6_8_8_8_8_UNORM",
    kind="1D, 2D, 3D, cube, buffer",
    width="width in texels",
    height="height in texels",
    depth="depth in texels",
    layers="layers of the array",
    levels="mip levels",
    samples="samples of a pixel",
    tile_mode="number of the tile mode: 0 linear, 3 TILE6_3",
    tile_all="narrow levels are tiled, too",
    pitch="size of a row in bytes",
    layer_pitch="bytes from one layer, or slice of a 3D image, to the next",
    min_layer="least size of a slice of a 3D image in bytes; 0 for others",
    ubwc="it is compressed",
    flags="GPU address of the UBWC flags",
    flag_pitch="size of a row of the UBWC flags in bytes",
    flag_layer_pitch="bytes from the UBWC flags of one layer to those of the next",
)
class ImageView(NamedTuple):
    """An image in memory as commands see it: a level, or several, and layers.

    None: the commands do not say it. ``form``: what is stored, None where that is not known.
    """

    address: Address
    format: str
    form: ImageFormat | None
    kind: str
    width: int
    height: int
    depth: int
    layers: int
    levels: int
    samples: int
    tile_mode: int | None
    tile_all: bool | None
    pitch: int
    layer_pitch: int | None
    min_layer: int
    ubwc: bool
    flags: Address | None = None
    flag_pitch: int | None = None
    flag_layer_pitch: int | None = None

    @property
    def is_3d(self) -> bool:
        """Whether it has slices instead of layers."""
        return self.kind == "3D"

    def __str__(self) -> str:
        parts = [f"{self.format} {self.width}x{self.height}"]
        if self.is_3d:
            parts[0] += f"x{self.depth}"
        elif self.layers > 1:
            parts.append(f"{self.layers} layers")
        if self.levels > 1:
            parts.append(f"{self.levels} levels")
        if self.samples > 1:
            parts.append(f"{self.samples} samples")
        if self.tile_mode is not None:
            parts.append("linear" if self.tile_mode == 0 else f"tile mode {self.tile_mode}")
        if self.ubwc:
            parts.append("UBWC")
        return f"{', '.join(parts)}, pitch {self.pitch}"


class CapturedImage(Protocol):
    """An image and its captured contents: ``cffpy.api.pictures.CapturedImage``."""

    view: ImageView

    def problem(self, level: int = 0, layer: int = 0, bank_swizzle: Any = None) -> str:  # noqa: ANN401
        """Why there is no picture, in a line; "" if there is."""

    def picture(
        self,
        level: int = 0,
        layer: int = 0,
        *,
        bank_swizzle: Any = None,  # noqa: ANN401
        **options: Any,  # noqa: ANN401
    ) -> Picture:
        """The picture. Raises PictureError, and MissingLibrary without the extra ``image``."""


class NamedImage(NamedTuple):
    """An image of a draw or copy. ``number``: among those of its kind.

    ``kind``: "texture", "target", "source", "destination", "memory".

    ``label``: stage or set, and slot; the name of an attachment; the format of a source or
    destination. ``image``: None where it is not known, ``problem`` says why.
    """

    kind: ImageKind
    number: int
    label: str
    image: CapturedImage | None
    problem: str

    def __str__(self) -> str:
        name = self.kind if self.kind == "memory" else f"{self.kind} {self.number}"
        return f"{name} ({self.label})" if self.label else name


class Pictures(Protocol):
    """Makes images of the memory of one submit: ``cffpy.api.pictures.Pictures``."""

    def attachment(self, one: Pass, name: str) -> CapturedImage:
        """The attachment of a pass with this name, as in "color 0". Raises PictureError."""

    def elements(self, domain: str | None, dwords: Sequence[int]) -> int | None:
        """The elements of a buffer texture; None for what is none."""

    def texture(self, kind: str, domain: str | None, dwords: Sequence[int]) -> CapturedImage:
        """The image that a descriptor of this kind and domain describes. Raises PictureError."""
