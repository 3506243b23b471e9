# SPDX-License-Identifier: MIT
"""Primitive streams: for each primitive of one instance of a draw, the bins it covers.

A primitive stream has no end marker. If the number of primitives is known, it ends with the last
of them. Otherwise it ends where only zeros follow: the padding to the next dword has no bit
set, and every packet has one, the first bit of its number. A packet may begin with zeros, but
never consists of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.errors import VisibilityStreamError
from cffpy.vsc.bits import PacketReader, PacketWriter, count_per_slot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class PrimitiveRun(NamedTuple):
    """``primitives`` consecutive primitives that cover the same bins.

    ``offset``: where the packet starts, in bits from the start of the stream.
    """

    bins: int
    primitives: int
    offset: int = 0


def open_stream(data: bytes | memoryview, bin_count: int) -> PacketReader:
    """A reader for ``runs``: its position is then where the stream's last packet ends."""
    return PacketReader(data, bin_count, has_instances=False)


def runs(reader: PacketReader, primitive_count: int | None = None) -> Iterator[PrimitiveRun]:
    """The runs of a stream; see ``decode``."""
    if not reader.position and reader.size and reader.only_zeros_follow():
        raise VisibilityStreamError("nothing but zeros: the stream was not written", 0)
    primitives = 0
    while not reader.only_zeros_follow():
        offset = reader.position
        if primitives == primitive_count:
            raise VisibilityStreamError(f"set bits after the {primitives} primitives", offset)
        packet = reader.packet()
        assert packet is not None  # only draw streams have an end packet
        bins, _, count = packet
        primitives += count
        if primitive_count is not None and primitives > primitive_count:
            reader.position = offset
            raise VisibilityStreamError(
                f"a run of {count} primitives, but only {primitive_count - primitives + count}"
                f" of {primitive_count} are left",
                offset,
            )
        yield PrimitiveRun(bins, count, offset)
    if primitive_count is not None and primitives < primitive_count:
        raise VisibilityStreamError(
            f"the stream ends after {primitives} of {primitive_count} primitives", reader.position
        )


def decode(
    data: bytes | memoryview, bin_count: int, primitive_count: int | None = None
) -> Iterator[PrimitiveRun]:
    """The runs of a stream.

    ``data``: the stream's dwords, from its start to its size, as a draw stream gives them.
    ``primitive_count``: of the draw (of one instance), if known; the runs must add up to it.

    Raises VisibilityStreamError at the first packet that is wrong, after those before it.
    """
    return runs(open_stream(data, bin_count), primitive_count)


def encode(stream: Iterable[PrimitiveRun], bin_count: int) -> bytes:
    """A stream of these runs (offsets do not matter), with padding to a dword.

    Raises ValueError for what no packet can hold.
    """
    writer = PacketWriter(bin_count)
    for run in stream:
        writer.packet(run.bins, run.primitives)
    return writer.finish()


def primitives_per_bin(stream: Iterable[PrimitiveRun], bin_count: int) -> list[int]:
    """How many primitives cover each bin, by slot."""
    return count_per_slot(((run.bins, run.primitives) for run in stream), bin_count)
