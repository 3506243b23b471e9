# SPDX-License-Identifier: MIT
"""KnownMemory: the dwords in memory whose value the command stream itself has decided.

A capture holds memory as it was before the submit ran. What a dword holds when a packet reads it
is known only where an earlier packet of the same submit has stored a known value, and nothing on
the GPU may have stored another one since. Dwords that the GPU has stored are remembered, too: what
the capture has of them is out of date.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cffpy.cp.machine import Machine
    from cffpy.frame.places import PacketLocation

#: Dwords that are remembered of a submit; more are treated as unknown.
_MAX_DWORDS = 1 << 16

#: The range of no addresses: the lowest, the highest.
_NO_ADDRESSES = 1 << 64, -1

#: Packets that a value is said to come from, at most.
MAX_PACKETS = 8

#: Structures in memory that are looked at one by one.
_MAX_STRUCTURES = 256

_MASK = 0xFFFFFFFF


class Known(NamedTuple):
    """A known dword. ``packets``: those that it comes from, the first eight in execution."""

    value: int
    packets: tuple[PacketLocation, ...] = ()


#: Values, each with the number of the action before which it was stored.
Entries = list[tuple[Known, int]]


def joined(*values: Known) -> tuple[PacketLocation, ...]:
    """The packets that a result of these values comes from, each once."""
    packets = dict.fromkeys(packet for value in values for packet in value.packets)
    return tuple(packets)[:MAX_PACKETS]


class KnownMemory:
    """The known dwords of the current submit, and the dwords that the GPU has stored."""

    def __init__(self, machine: Machine, writes_image: bool = True) -> None:
        """``writes_image``: known values are written to the machine's memory image, too."""
        self._machine = machine
        self._writes_image = writes_image
        #: Address -> value, and the number of the action before which it was stored. None: the GPU
        #: has stored something.
        self._dwords: dict[int, tuple[Known, int] | None] = {}
        #: The lowest and the highest of the addresses.
        self._least, self._most = _NO_ADDRESSES

    def __bool__(self) -> bool:
        """Whether anything is remembered."""
        return bool(self._dwords)

    def clear(self) -> None:
        """A submit begins: its memory was captured anew."""
        self._dwords.clear()
        self._least, self._most = _NO_ADDRESSES

    def read(self, address: int) -> tuple[Known, int] | None:
        """The dword at an address, and the action before which it was stored; None: unknown."""
        return self._dwords.get(address)

    def is_unknown(self, address: int) -> bool:
        """Whether the GPU has stored the dword at an address since it was captured."""
        return self._dwords.get(address, True) is None

    def entries(self, address: int, dwords: int, stride: int, count: int) -> Entries | None:
        """What was stored in ``count`` structures of ``dwords`` dwords, ``stride`` bytes apart.

        None where the GPU has stored one of the dwords, or where there are too many to look at and
        something may have been stored among them.
        """
        if count > _MAX_STRUCTURES:
            end = address + stride * count
            is_outside = not self._dwords or end <= self._least or address > self._most
            return [] if is_outside else None
        found: Entries = []
        for number in range(count):
            first = address + stride * number
            for at in range(first, first + 4 * dwords, 4):
                if at in self._dwords:
                    entry = self._dwords[at]
                    if entry is None:
                        return None
                    found.append(entry)
        return found

    def write(self, address: int, values: Sequence[Known | None], order: int) -> None:
        """Store dwords; None where only the GPU knows the value.

        ``order``: the number of actions before. Known values are written to the memory image, so
        that commands and parameters are read as they are then.
        """
        if address & 3:
            self.forget(address & ~3, 4 * len(values) + 4)
            return
        for at, known in zip(range(address, address + 4 * len(values), 4), values, strict=True):
            if at not in self._dwords and len(self._dwords) >= _MAX_DWORDS:
                continue
            self._remember(at, None if known is None else (known, order))
            if known is not None and self._writes_image:
                self._store(at, known.value)

    def forget(self, address: int, size: int) -> None:
        """The GPU may store anything in these ``size`` bytes."""
        end = address + size
        if size > 4 * len(self._dwords) + 256:
            touched: Iterable[int] = [at for at in self._dwords if address <= at < end]
        else:
            touched = range(address & ~3, end, 4)
        for at in touched:
            if at in self._dwords or len(self._dwords) < _MAX_DWORDS:
                self._remember(at, None)

    def _remember(self, address: int, entry: tuple[Known, int] | None) -> None:
        self._dwords[address] = entry
        self._least = min(self._least, address)
        self._most = max(self._most, address)

    def forget_from(self, address: int) -> None:
        """The GPU stores something that begins at an address, of a size that is not known."""
        size = self._machine.image.remaining(address)
        if size and self._dwords:
            self.forget(address, size)

    def _store(self, address: int, value: int) -> None:
        image = self._machine.image
        place = image.place(address)
        if place is not None and place[1] < place[0].count and place[0].data[place[1]] != value:
            image.write(address, (value & _MASK).to_bytes(4, "little"))
