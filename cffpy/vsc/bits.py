# SPDX-License-Identifier: MIT
"""The bits of a stream: packets out of bytes and into bytes, and which bit belongs to which bin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.errors import VisibilityStreamError

if TYPE_CHECKING:
    from collections.abc import Iterable

#: What VSC_SIZE of CP_SET_BIN_DATA5 can hold. VSC_N and VSC_STATE have room for 32 bins.
MAX_BINS = 63


def check_bin_count(bin_count: int) -> None:
    """Raise ValueError unless a pipe can have ``bin_count`` bins."""
    if not 1 <= bin_count <= MAX_BINS:
        raise ValueError(f"a VSC pipe has 1 to {MAX_BINS} bins, not {bin_count}")


def slot_bit(slot: int) -> int:
    """The bitfield in which only the bin of this slot is set."""
    return 1 << slot


def slots(bins: int, bin_count: int) -> tuple[int, ...]:
    """The slots of the bins that are set, ascending."""
    return tuple([slot for slot in range(bin_count) if bins & slot_bit(slot)])


def as_written(bins: int, bin_count: int) -> str:
    """The bits of a bitfield in the order of the stream, without the bit before them."""
    return f"{bins:0{bin_count}b}"


def count_per_slot(counts: Iterable[tuple[int, int]], bin_count: int) -> list[int]:
    """The sum for each slot of the counts whose bitfield has its bin; pairs of (bins, count)."""
    sums: dict[int, int] = {}
    for bins, count in counts:
        sums[bins] = sums.get(bins, 0) + count
    return [
        sum([count for bins, count in sums.items() if bins & slot_bit(slot)])
        for slot in range(bin_count)
    ]


#: Longest number that is read or written. Numbers of primitives, draws and dwords all fit.
NUMBER_BITS = 32

_END_ZEROS = 17
_END_BITS = _END_ZEROS + 1  # after the bitfield
_DWORD = 32
_FLUSH_AT = 2048  # bits the writer gathers: short integers stay cheap


class PacketReader:
    """Reads packets one by one, each in constant time.

    ``position``: bit offset of the next packet; after an error, of the packet that is wrong.
    ``size``: of the data, in bytes.
    """

    def __init__(self, data: bytes | memoryview, bin_count: int, has_instances: bool) -> None:
        """``has_instances``: a draw stream, which has instance bits and an end packet."""
        check_bin_count(bin_count)
        self.bin_count = bin_count
        self.position = 0
        self._data = bytes(data)
        self.size = len(self._data)
        self._written = len(self._data.rstrip(b"\0"))  # bytes; all after them are zero
        self._has_instances = has_instances
        longest = 1 + bin_count + 1 + 2 * NUMBER_BITS - 1 + 1
        self._window_bytes = (7 + longest + 7) // 8

    def packet(self) -> tuple[int, int, int] | None:
        """Bins, instance bit (0 where there is none) and number; None for the end packet.

        Raises VisibilityStreamError; the position is then still that of the packet.
        """
        start = self.position
        first = start >> 3
        chunk = self._data[first : first + self._window_bytes]
        have = 8 * len(chunk) - (start & 7)
        if have <= 0:
            raise VisibilityStreamError("the stream ends without an end packet", start)
        window = int.from_bytes(chunk, "big") & ((1 << have) - 1)
        left = have - 1  # bits after those that were taken
        bins = instance = 0
        if window >> left:
            left -= self.bin_count
            if left < 0:
                raise self._cut()
            bins = window >> left & ((1 << self.bin_count) - 1)
            if not bins:
                self._end(window, left)
                self.position = start + have - (left - _END_BITS)
                return None
        if self._has_instances:
            left -= 1
            if left < 0:
                raise self._cut()
            instance = window >> left & 1
        rest = window & ((1 << left) - 1)
        zeros = left - rest.bit_length()
        if zeros >= NUMBER_BITS:
            raise VisibilityStreamError(
                f"a number with more than {NUMBER_BITS - 1} leading zeros", start
            )
        left -= 2 * zeros + 1
        if left < 1:
            raise self._cut()
        number = rest >> left
        left -= 1
        if (window >> left).bit_count() & 1:
            raise VisibilityStreamError("wrong checksum of a packet", start)
        self.position = start + have - left
        return bins, instance, number

    def only_zeros_follow(self) -> bool:
        """Whether no bit from here on is set: padding, and no packet, each of which has a 1."""
        if self.position >> 3 >= self._written:
            return True
        last = self._data[self._written - 1]
        zeros = (last & -last).bit_length() - 1
        return self.position >= 8 * self._written - zeros

    def only_zeros_to_dword(self) -> bool:
        """Whether no bit from here to the end of the dword is set."""
        bits = -self.position % _DWORD
        first = self.position >> 3
        chunk = self._data[first : (self.position + bits) >> 3]
        return not int.from_bytes(chunk, "big") & (
            (1 << (8 * len(chunk))) - 1 >> (self.position & 7)
        )

    def _end(self, window: int, left: int) -> None:
        """Check what follows an empty bitfield that is marked as not empty."""
        if not self._has_instances:
            raise VisibilityStreamError("an end packet in a primitive stream", self.position)
        if left < _END_BITS:
            raise self._cut()
        if window >> (left - _END_BITS) & ((1 << _END_BITS) - 1) != 1:
            raise VisibilityStreamError(
                f"an end packet that is not a 1, {self.bin_count + _END_ZEROS} zeros and a 1",
                self.position,
            )

    def _cut(self) -> VisibilityStreamError:
        return VisibilityStreamError("the stream ends inside a packet", self.position)


class PacketWriter:
    """Writes packets one after the other into the bytes of a stream."""

    def __init__(self, bin_count: int) -> None:
        check_bin_count(bin_count)
        self.bin_count = bin_count
        self._bytes = bytearray()
        self._bits = 0  # not yet in _bytes: their value and their number
        self._count = 0

    def packet(self, bins: int, number: int, instance: int | None = None) -> None:
        """Add a packet, with an instance bit unless that is None. Raises ValueError."""
        if bins >> self.bin_count:
            raise ValueError(f"bins {bins:#x} do not fit {self.bin_count} bins")
        if not 0 < number < 1 << NUMBER_BITS:
            raise ValueError(f"the format has no number {number}: 1 to {(1 << NUMBER_BITS) - 1}")
        value, count = (1 << self.bin_count | bins, 1 + self.bin_count) if bins else (0, 1)
        if instance is not None:
            value, count = value << 1 | instance, count + 1
        length = 2 * number.bit_length() - 1
        value, count = value << length | number, count + length
        self._append(value << 1 | value.bit_count() & 1, count + 1)

    def end_packet(self) -> None:
        """Add the end packet of a draw stream."""
        zeros = self.bin_count + _END_ZEROS
        self._append(1 << (zeros + 1) | 1, zeros + 2)

    def finish(self) -> bytes:
        """All packets, with zeros to the end of the dword."""
        self._append(0, -(8 * len(self._bytes) + self._count) % _DWORD)
        self._flush()
        return bytes(self._bytes)

    def _append(self, value: int, count: int) -> None:
        self._bits = self._bits << count | value
        self._count += count
        if self._count >= _FLUSH_AT:
            self._flush()

    def _flush(self) -> None:
        """Move whole bytes to ``_bytes``."""
        rest = self._count & 7
        self._bytes += (self._bits >> rest).to_bytes(self._count >> 3, "big")
        self._bits &= (1 << rest) - 1
        self._count = rest


def dwords(bits: int) -> int:
    """The size in dwords of a stream of ``bits`` bits, as it is reported."""
    return (bits + _DWORD - 1) // _DWORD
