# SPDX-License-Identifier: MIT
"""Draw streams: for each draw of a pass the bins it covers, and the size of its primitive stream.

A packet with bins is one instance of one draw; its number is the size of the instance's primitive
stream. A packet without bins skips what covers none: see ``cffpy.vsc.pipe`` for what that
means draw by draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.errors import VisibilityStreamError
from cffpy.vsc.bits import PacketReader, PacketWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class DrawPacket(NamedTuple):
    """One packet other than the end packet.

    ``more_instances``: the instance bit. With bins: 1 if further instances of the draw follow.
    Without: 1 if ``number`` instances are skipped and the draw continues; 0 if all remaining
    instances of the draw are skipped, and ``number`` - 1 draws after it.
    ``number``: with bins the size of the primitive stream in dwords.
    ``offset``: where the packet starts, in bits from the start of the stream.
    """

    bins: int
    more_instances: int
    number: int
    offset: int = 0


def open_stream(data: bytes | memoryview, bin_count: int) -> PacketReader:
    """A reader for ``packets``: its position is then where the stream's end packet ends."""
    return PacketReader(data, bin_count, has_instances=True)


def packets(reader: PacketReader, whole: bool = True) -> Iterator[DrawPacket]:
    """The packets up to the end packet; see ``decode``."""
    if not reader.position and reader.only_zeros_follow():
        raise VisibilityStreamError("nothing but zeros: the stream was not written", 0)
    while True:
        offset = reader.position
        packet = reader.packet()
        if packet is None:
            break
        yield DrawPacket(*packet, offset)
    if not (reader.only_zeros_follow() if whole else reader.only_zeros_to_dword()):
        raise VisibilityStreamError("set bits after the end packet", reader.position)


def decode(data: bytes | memoryview, bin_count: int, whole: bool = True) -> Iterator[DrawPacket]:
    """The packets of a stream up to its end packet, which is checked but not yielded.

    ``whole``: ``data`` is as long as the VSC reported the stream to be, so nothing but zeros may
    follow the end packet. Otherwise only the rest of its dword has to be zero, and what an
    older, longer stream has left after it is ignored.

    Raises VisibilityStreamError at the first packet that is wrong, after those before it: as
    packets are not aligned, nothing after it can be trusted.
    """
    return packets(open_stream(data, bin_count), whole)


def encode(stream: Iterable[DrawPacket], bin_count: int) -> bytes:
    """A stream of these packets (offsets do not matter), with end packet and padding to a dword.

    Raises ValueError for what no packet can hold.
    """
    writer = PacketWriter(bin_count)
    for packet in stream:
        writer.packet(packet.bins, packet.number, packet.more_instances)
    writer.end_packet()
    return writer.finish()


def pack(draws: Iterable[Sequence[tuple[int, int]]]) -> Iterator[DrawPacket]:
    """The packets for draws, as the VSC makes them.

    A draw is a sequence of instances, at least one: their bins, and the size of their primitive
    stream in dwords, which matters only where there are bins. Empty draws are joined into one
    packet, as long as all but the first have one instance.
    """
    skipped = 0  # draws that the packet without bins, not yet given, skips
    for draw in draws:
        if not draw:
            raise ValueError("a draw without instances has no place in a draw stream")
        visible = len(draw)
        while visible and not draw[visible - 1][0]:
            visible -= 1
        if skipped and (visible or len(draw) > 1):
            yield DrawPacket(0, 0, skipped)
            skipped = 0
        empty = 0  # instances before one with bins
        for instance, (bins, size) in enumerate(draw[:visible], 1):
            if not bins:
                empty += 1
                continue
            if empty:
                yield DrawPacket(0, 1, empty)
                empty = 0
            yield DrawPacket(bins, int(instance < len(draw)), size)
        skipped += visible < len(draw)
    if skipped:
        yield DrawPacket(0, 0, skipped)
