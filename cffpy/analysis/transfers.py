# SPDX-License-Identifier: MIT
"""Transfer: what a copy, blit, fill, clear, load, store or resolve moves, from where to where.

Packets and registers say it; they are read in ``cffpy.analysis.passes.transfer_registers`` and
``cffpy.analysis.passes.pass_transfers``. Packets that copy memory are read here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.pm4.fields import Fields

if TYPE_CHECKING:
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Payload
    from cffpy.frame.geometry import Rectangle

#: Packets that copy memory without the 2D engine. Mesa counts and adds query results by them.
MEMORY_COPIES = ("CP_MEM_TO_MEM", "CP_MEMCPY")

#: CP_MEM_TO_MEM: the signs of up to three operands, and whether they have 64 bits; after this
#: dword, the addresses of the destination and of the operands.
SUM = Fields("CP_MEM_TO_MEM", "NEG_A", "NEG_B", "NEG_C", "DOUBLE")
SUM_ADDRESSES = Fields("CP_MEM_TO_MEM", "DST", "SRC_A", "SRC_B", "SRC_C", variant="ADDRESSES")
_COPY = Fields("CP_MEMCPY", "DWORDS", "SRC", "DST")


class TransferEnd(NamedTuple):
    """The source or the destination of a transfer: an image, or bytes, in memory or in GMEM.

    None: commands do not say it. Sizes in pixels, pitches in bytes.
    """

    #: GPU address in memory; None in GMEM.
    address: int | None = None
    #: Offset in GMEM in bytes; an address in GMEM where it is not known at which GMEM begins.
    gmem: int | None = None
    #: Names of the registers' enums.
    format: str | None = None
    tiling: str | None = None
    swap: str | None = None
    srgb: bool = False
    samples: int | None = None
    pitch: int | None = None
    layer_pitch: int | None = None
    ubwc: bool = False
    #: Of the UBWC flags: their address and pitch.
    flags: int | None = None
    flag_pitch: int | None = None
    #: Of the whole image, where the registers have it.
    width: int | None = None
    height: int | None = None
    #: What is read or written. Of a load or store by tiles, the limit that all tiles have.
    rectangle: Rectangle | None = None
    #: Of memory that is no image: its size in bytes.
    size: int | None = None
    #: An operand of CP_MEM_TO_MEM that is subtracted.
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


class Transfer(NamedTuple):
    """One thing that an action moves. An action without a source clears or fills.

    ``Action.role`` says what it is: "copy", "scale", "resolve", "fill", "clear", "load", "store".
    """

    source: TransferEnd | None
    destination: TransferEnd | None
    #: Dwords that a clear or fill writes, as registers hold them.
    value: tuple[int, ...] | None = None
    #: Samples are averaged, or one of them is taken.
    resolves: bool = False
    #: The attachment of the pass that it loads, clears or stores: "color 0", "depth+stencil".
    attachment: str | None = None
    #: Nothing outside of it is written: the scissor of the 2D engine, where it is on.
    limit: Rectangle | None = None
    #: A name of a6xx_rotation; None for a blit that does not rotate.
    rotation: str | None = None
    #: CP_MEM_TO_MEM: what is added to the source.
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


def blit_role(transfer: Transfer) -> str:
    """What a blit in memory does: "fill", "copy", "scale", "resolve"."""
    if transfer.source is None:
        return "fill"
    if transfer.resolves:
        return "resolve"
    return "scale" if transfer.scales else "copy"


def memory_copy(machine: Machine, name: str, payload: Payload) -> Transfer | None:
    """What one of MEMORY_COPIES copies; None where the packet is too short."""
    packets = machine.packets
    if name == "CP_MEMCPY":
        if payload.captured < packets[_COPY].dwords:
            return None
        dwords, *addresses = payload.read(packets[_COPY])
        read, written = (TransferEnd(address, size=4 * dwords) for address in addresses)
        return Transfer(read, written)
    count = (payload.captured - 1) // 2  # of addresses, of two dwords each
    if count < 2:
        return None
    *signs, is_double = payload.read(packets[SUM])
    destination, *operands = payload.read(packets[SUM_ADDRESSES], 1)
    size = 8 if is_double else 4
    source, *added = [
        TransferEnd(address, size=size, negated=bool(sign))
        for address, sign in zip(operands[: count - 1], signs, strict=False)
    ]
    return Transfer(source, TransferEnd(destination, size=size), added=tuple(added))
