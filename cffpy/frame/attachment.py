# SPDX-License-Identifier: MIT
"""Attachments: the buffers that draws render to."""

from __future__ import annotations

from cffpy.frame.facts import Address, model, stored
from cffpy.frame.model_object import ModelObject

#: Colour buffers of a draw, at most.
MAX_COLOURS = 8

#: Names of attachments.
TARGET_NAMES = (*(f"color {number}" for number in range(MAX_COLOURS)), "depth", "stencil")

#: How names of enums of the register database end: of formats, tile modes, orders of components.
FORMATS = ("_format", "_fmt", "formatx", "_ifmt")
TILE_MODES = ("tile_mode",)
COMPONENT_ORDERS = ("color_swap",)
#: Tile modes of generations that have a flag.
TILINGS = ("linear", "tiled")

#: How the names of formats of packed depth and stencil end, of all generations.
_PACKED = "24_8"


@model("surface", frozen=True)
class SurfaceSize:
    """The size of an image, and its memory beside that of its pixels, as a surface state says."""

    width: int = stored("width of the first level", "pixels")
    height: int = stored("height of the first level", "pixels")
    depth: int = stored("layers, or the depth of a 3D image")
    levels: int = stored("levels of detail")
    first_layer: int = stored("the layer that counts as the first one")
    aux: str | None = stored(
        "how it is compressed or cleared beside its pixels, as AUX_CCS_E; None without that"
    )
    aux_address: Address | None = stored("GPU address of that memory; None without it")
    state: Address | None = stored(
        "GPU address of the surface state; None where an instruction has the size"
    )


@model("attachment", frozen=True, is_value=False)
class Attachment(ModelObject):
    """A buffer that draws render to. None: the stream does not have it."""

    name: str = stored("color 0, ..., depth or stencil", words=TARGET_NAMES)
    address: Address | None = stored(
        "GPU address in memory; from a2xx to a4xx None while the copy of a tile is in GMEM"
    )
    format: str | None = stored("format of the pixels", words=("S8_UINT",), enums=FORMATS)
    tiling: str | None = stored("tile mode", default=None, words=TILINGS, enums=TILE_MODES)
    pitch: int | None = stored("size of a row", "bytes", default=None)
    gmem: Address | None = stored("offset in GMEM", "bytes", default=None)
    ubwc: bool = stored("it is compressed", default=False)
    flags: Address | None = stored("GPU address of the UBWC flags", default=None)
    samples: int | None = stored("samples of a pixel", default=None)
    write_mask: int | None = stored(
        "bits of the components that draws write: 1 red, 2 green, 4 blue, 8 alpha; None where that "
        "is unknown",
        default=None,
    )
    layer_pitch: int | None = stored("from one layer or view to the next", "bytes", default=None)
    swap: str | None = stored(
        "COLOR_SWAP, the order of the components: WZYX is RGBA, the usual one, WXYZ is BGRA; None "
        "for depth and stencil",
        default=None,
        enums=COMPONENT_ORDERS,
    )
    srgb: bool | None = stored(
        "linear colours are written as sRGB; None for depth and stencil, and for a2xx, which "
        "cannot",
        default=None,
    )

    surface: SurfaceSize | None = stored(
        "its size, where it is an image of an Intel GPU; None for others, whose passes have a"
        " framebuffer",
        default=None,
    )

    @property
    def packs_stencil(self) -> bool:
        """Whether it is a depth buffer that holds stencil, too: of all formats 24_8 alone."""
        return self.name == "depth" and (self.format or "").endswith(_PACKED)
