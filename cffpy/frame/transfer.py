# SPDX-License-Identifier: MIT
"""Transfer: what a copy, blit, fill, clear, load, store or resolve moves, from where to where.

Packets and registers say it; they are read in ``cffpy.analysis.passes`` and
``cffpy.analysis.memory_copies``. None: commands do not say it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from cffpy.frame.attachment import COMPONENT_ORDERS, FORMATS, TILE_MODES, TILINGS
from cffpy.frame.facts import Address, described
from cffpy.frame.geometry import Rectangle

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
        ends = [one and one.rectangle for one in (self.source, self.destination)]
        sizes = {one.size for one in ends if one is not None}
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
