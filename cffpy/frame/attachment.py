# SPDX-License-Identifier: MIT
"""Attachments, the buffers that draws render to; transfers, which move pixels.

A transfer belongs to a copy, blit, fill, clear, load, store or resolve. Packets and registers name
its ends; ``cffpy.analysis.passes`` and ``cffpy.analysis.action_reader`` read them. None: commands
do not say it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from cffpy.formats import gallium_formats, vulkan_formats
from cffpy.frame.facts import Address, described, fact, model, stored
from cffpy.frame.geometry import Rectangle
from cffpy.frame.objects import ModelObject

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


def is_tiled(tiling: str | None) -> bool:
    """Whether a tile mode is not linear."""
    return tiling is not None and not tiling.upper().endswith("LINEAR")


def names_of_vulkan(gallium: tuple[str, ...]) -> tuple[str, ...]:
    """The formats of Vulkan that have these Gallium names, in the same order."""
    return tuple(name for form in gallium for name in vulkan_formats(form))


@model("surface", frozen=True)
class SurfaceSize:
    """The size of an image, and its memory beside the pixels, as a surface state says."""

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

    @fact()
    def gallium_formats(self) -> tuple[str, ...]:
        """The formats by Gallium's names, without PIPE_FORMAT_: all for which a driver writes these
        registers, the usual one first. Those of tiled images do not tell the order of components.
        Empty where the format is not known.
        """
        return gallium_formats(
            self.format,
            self.swap,
            srgb=bool(self.srgb),
            tiled=is_tiled(self.tiling),
            is_colour=self.name.startswith("color"),
        )

    @fact()
    def vulkan_formats(self) -> tuple[str, ...]:
        """The same formats by Vulkan's names; those that Vulkan does not have are left out."""
        return names_of_vulkan(self.gallium_formats)

    @property
    def packs_stencil(self) -> bool:
        """Whether it is a depth buffer that holds stencil, too: of all formats 24_8 alone."""
        return self.name == "depth" and (self.format or "").endswith(_PACKED)


#: What a driver does with an action; "" for a draw or dispatch of the program. "fast clear": only
#: what is kept beside an image is written, and "generation": a draw that writes the commands of
#: other draws; of Intel. "workaround": a draw of the driver that draws nothing.
Role = Literal[
    "",
    "clear",
    "copy",
    "fast clear",
    "fill",
    "generation",
    "load",
    "resolve",
    "scale",
    "store",
    "unknown",
    "workaround",
]


@described(
    "end",
    enums={"format": FORMATS, "tiling": TILE_MODES, "swap": COMPONENT_ORDERS},
    words={"format": ("S8_UINT",), "tiling": TILINGS},
    address="GPU address in memory; None in GMEM",
    gmem="offset in GMEM in bytes; an address in GMEM where it is not known at which GMEM begins",
    format="format of the pixels",
    tiling="tile mode",
    swap="COLOR_SWAP, the order of the components",
    srgb="colours are read or written as sRGB",
    samples="samples of a pixel",
    pitch="size of a row in bytes",
    layer_pitch="from one layer to the next in bytes",
    ubwc="it is compressed",
    flags="GPU address of the UBWC flags",
    flag_pitch="size of a row of the UBWC flags in bytes",
    width="width of the whole image in pixels, where the registers have it",
    height="height of the whole image in pixels",
    rectangle="the pixels that are read or written; of a load or store by tiles, the limit that "
    "all tiles have",
    size="size in bytes of memory that is no image",
    negated="an operand of CP_MEM_TO_MEM that is subtracted",
)
class TransferEnd(NamedTuple):
    """The source or the destination of a transfer: an image, or bytes, in memory or in GMEM."""

    address: Address | None = None
    gmem: Address | None = None
    format: str | None = None
    tiling: str | None = None
    swap: str | None = None
    srgb: bool = False
    samples: int | None = None
    pitch: int | None = None
    layer_pitch: int | None = None
    ubwc: bool = False
    flags: Address | None = None
    flag_pitch: int | None = None
    width: int | None = None
    height: int | None = None
    rectangle: Rectangle | None = None
    size: int | None = None
    negated: bool = False

    @fact()
    def gallium_formats(self) -> tuple[str, ...]:
        """The formats by Gallium's names: see ``Attachment.gallium_formats``."""
        return gallium_formats(self.format, self.swap, srgb=self.srgb, tiled=is_tiled(self.tiling))

    @fact()
    def vulkan_formats(self) -> tuple[str, ...]:
        """The same formats by Vulkan's names; those that Vulkan does not have are left out."""
        return names_of_vulkan(self.gallium_formats)

    @property
    def place(self) -> str:
        """The address, or the offset in GMEM, as text."""
        if self.address is not None:
            return f"{self.address:#x}"
        return "unknown address" if self.gmem is None else f"GMEM {self.gmem:#x}"

    def __str__(self) -> str:
        words = [f"-{self.place}" if self.negated else self.place, self.format, self.tiling]
        if self.samples is not None and self.samples > 1:
            words.append(f"{self.samples} samples")
        if self.ubwc:
            words.append("UBWC")
        if self.pitch is not None:
            words.append(f"pitch {self.pitch}")
        if self.rectangle is not None:
            words.append(str(self.rectangle))
        if self.size is not None:
            words.append(f"{self.size} B")
        return " ".join(filter(None, words))


@described(
    "transfer",
    is_value=False,
    source="what it reads; None for a clear or fill",
    destination="what it writes",
    value="dwords that a clear or fill writes, as registers hold them",
    resolves="samples are averaged, or one of them is taken",
    attachment="the attachment of the pass that it loads, clears or stores: color 0, depth+stencil",
    limit="nothing outside of it is written: the scissor of the 2D engine, where it is on",
    rotation="how a blit rotates or mirrors; None for one that does not",
    added="what CP_MEM_TO_MEM adds to the source",
)
class Transfer(NamedTuple):
    """One thing that an action moves. An action without a source clears or fills.

    ``Action.role`` says what it is: "copy", "scale", "resolve", "fill", "clear", "load", "store".
    """

    source: TransferEnd | None
    destination: TransferEnd | None
    value: tuple[Address, ...] | None = None
    resolves: bool = False
    attachment: str | None = None
    limit: Rectangle | None = None
    rotation: str | None = None
    added: tuple[TransferEnd, ...] = ()

    @property
    def scales(self) -> bool:
        """Whether what is read and what is written differ in size."""
        ends = [side and side.rectangle for side in (self.source, self.destination)]
        sizes = {end.size for end in ends if end is not None}
        return len(sizes) > 1

    def on_attachment(self, name: str | None) -> Transfer:
        """The same of the attachment with this name."""
        return self._replace(attachment=name)

    @property
    def source_text(self) -> str:
        """The source, and what is added to it; of a fill, its value."""
        if self.source is not None:
            return " ".join([str(self.source), *map(_signed, self.added)])
        return "" if self.value is None else f"value {value_text(self.value)}"

    @property
    def destination_text(self) -> str:
        """The destination, and the attachment that it is."""
        words = ["" if self.destination is None else str(self.destination)]
        if self.attachment is not None:
            words.insert(0, self.attachment)
        return " ".join(filter(None, words))


def value_text(value: tuple[int, ...]) -> str:
    """The dwords of a value in hexadecimal."""
    return " ".join(f"{dword:08x}" for dword in value)


def _signed(added: TransferEnd) -> str:
    return str(added) if added.negated else f"+{added}"
