# SPDX-License-Identifier: MIT
"""Buffers of error states and devcoredumps, by address."""

from __future__ import annotations


class Section:
    """A buffer: its kind ("batch buffer"), its ring ("rcs0"), GPU address and bytes.

    ``start`` and ``end``: the part of ``data`` that is decoded and found by address. ``data`` is a
    bytearray once commands have written to it.
    """

    __slots__ = ("address", "data", "end", "kind", "ring", "start")

    def __init__(self, kind: str, ring: str, address: int, data: bytes | bytearray = b"") -> None:
        self.kind = kind
        self.ring = ring
        self.address = address
        self.data = data
        self.start = 0
        self.end = len(data)


class SectionMemory:
    """Memory made of sections; the first one that contains an address is found.

    ``only_ppgtt``: look-ups in the global table fail, as in Xe devcoredumps.
    """

    def __init__(self, sections: list[Section], only_ppgtt: bool = False) -> None:
        self._sections = sections
        self._only_ppgtt = only_ppgtt

    def find(self, address: int) -> Section | None:
        """The first section with this address."""
        for section in self._sections:
            if section.address <= address < section.address + section.end - section.start:
                return section
        return None

    def file_offset(self, ppgtt: bool, address: int) -> None:
        """None: the file has the sections encoded."""

    def span(self, ppgtt: bool, address: int, size: int) -> bytes:
        """Up to ``size`` bytes from ``address`` on; empty where it is in no section."""
        if self._only_ppgtt and not ppgtt:
            return b""
        section = self.find(address)
        if section is None:
            return b""
        offset = address - section.address
        return bytes(section.data[offset : min(offset + size, section.end - section.start)])

    def store(self, address: int, data: bytes) -> None:
        """Write to the section with this address, as far as it goes."""
        section = self.find(address)
        if section is not None:
            offset = address - section.address
            data = data[: section.end - section.start - offset]
            if isinstance(section.data, bytes):
                section.data = bytearray(section.data)  # once: a batch may store without end
            section.data[offset : offset + len(data)] = data

    def read(self, ppgtt: bool, address: int, size: int) -> tuple[bytes, int]:
        """As ``span``; also the number of bytes before the section's end."""
        section = self.find(address)
        if section is None or (self._only_ppgtt and not ppgtt):
            return b"", 0
        offset = address - section.address
        end = section.end - section.start - offset
        return bytes(section.data[offset : offset + size]), end
