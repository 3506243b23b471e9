# SPDX-License-Identifier: MIT
"""GPU memory as an AUB file builds it up: physical pages, GGTT, PPGTT, buffers of classic files.

``span`` is what decoding needs: bytes from an address on, as far as the memory there is mapped
without a gap. Addresses and sizes are in bytes. Facts: aub_mem.c of Mesa 25.0.7.
"""

from __future__ import annotations

from bisect import bisect_left
from struct import unpack_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from cffpy.row_readers import BytesLike

    class AddressSpace(Protocol):
        """Memory that commands refer to."""

        def span(self, ppgtt: bool, address: int, size: int) -> bytes:
            """Up to ``size`` bytes from ``address`` on; empty where it is unmapped."""

        def read(self, ppgtt: bool, address: int, size: int) -> tuple[bytes, int]:
            """As ``span``, maybe with bytes past the end; and how many bytes lie before it.

            The number is larger than ``size`` where that is not known.
            """

        def file_offset(self, ppgtt: bool, address: int) -> int | None:
            """Where in the file the byte at an address is; None where that is not known."""

        def store(self, address: int, data: bytes) -> None:
            """Write to an address of the PPGTT, as a command does; nothing where it is unmapped."""


PAGE = 4096
_ZEROS = bytes(PAGE)
_VPN_MASK = (1 << 36) - 1

#: Physical memory may be this large: a base, and this many times the file.
_BASE_MEMORY = 256 << 20
_MEMORY_FACTOR = 16


class MemoryExceeded(Exception):
    """A file writes to more pages than its size accounts for."""


class AubMemory:
    """The memory of an AUB file. ``root`` is the physical address of the page tables' root.

    ``is_classic``: a look-up in the PPGTT is one in the GGTT. ``forget`` drops what is remembered
    of the tables; it is called before each submission, since writes change them.
    """

    def __init__(self, file_size: int = 0) -> None:
        self.root = 0
        self.is_classic = False
        self._limit = (_BASE_MEMORY + _MEMORY_FACTOR * file_size) // PAGE
        self._physical: dict[int, bytearray | memoryview] = {}
        self._ggtt: dict[int, int] = {}
        self._local: list[tuple[int, int, memoryview]] = []  # start, end, data and what follows
        self._pages: dict[int, bytearray | memoryview | None] = {}
        self._tables: dict[int, BytesLike | None] = {}
        self._sorted_ggtt: list[int] | None = None
        self._ggtt_maps: list[tuple[int, int]] = []

    # --- writes ---------------------------------------------------------------------------------

    def write_local(self, address: int, data: memoryview, rest: memoryview) -> None:
        """A separate buffer; the latest that contains an address is found.

        ``rest``: the file from the data on, where ``read`` continues.
        """
        self._local.append((address, address + len(data), rest))

    def write_physical(self, address: int, data: memoryview) -> None:
        """Bytes at a physical address. Raises MemoryExceeded."""
        done, size = 0, len(data)
        if size == PAGE and not address & 0xFFF:  # nearly all
            self._physical[address >> 12] = data
            if len(self._physical) > self._limit:
                raise MemoryExceeded
            return
        while done < size:
            number, offset = (address + done) >> 12, (address + done) & 0xFFF
            part = data[done : done + PAGE - offset]
            self._write_page(number, offset, part)
            done += len(part)

    def _write_page(self, number: int, offset: int, part: memoryview) -> None:
        if len(part) == PAGE:
            self._physical[number] = part
        else:
            page = self._physical.get(number)
            if page is None or isinstance(page, memoryview):
                page = bytearray(_ZEROS if page is None else page)
                self._physical[number] = page
            page[offset : offset + len(part)] = part
        if len(self._physical) > self._limit:
            raise MemoryExceeded

    def write_ggtt_entries(self, address: int, data: memoryview) -> None:
        """Entries of the global table, from the one at ``address`` (8 bytes each) on."""
        page = address // 8
        for offset in range(0, len(data) // 8 * 8, 8):
            self._ggtt[page] = unpack_from("<Q", data, offset)[0]
            page += 1
        self._sorted_ggtt = None

    def write_ggtt(self, address: int, data: memoryview) -> bool:
        """Bytes at a global address, page by page; False where a page has no entry."""
        done, size, complete = 0, len(data), True
        while done < size:
            page, offset = (address + done) >> 12, (address + done) & 0xFFF
            part = data[done : done + PAGE - offset]
            entry = self._ggtt.get(page)
            if entry is None:
                complete = False
            else:
                self._write_page(entry >> 12, offset, part)
            done += len(part)
        return complete

    def forget(self) -> None:
        """Forget what is remembered of the tables, and of the global look-ups."""
        self._pages.clear()
        self._tables.clear()
        self._ggtt_maps.clear()

    def end_submission(self) -> None:
        """What the reference does after each execution: buffers of classic files are forgotten."""
        self.forget()
        self._local.clear()

    # --- look-ups -------------------------------------------------------------------------------

    def file_offset(self, ppgtt: bool, address: int) -> int | None:
        """None: what only prints commands does not ask. See ``LocatedMemory``."""
        return None

    def span(self, ppgtt: bool, address: int, size: int) -> bytes:
        """Up to ``size`` bytes from ``address`` on; empty where it is unmapped."""
        if self.is_classic or not ppgtt:
            return self._global_span(address, size)
        number, offset = address >> 12 & _VPN_MASK, address & 0xFFF
        page = self._page(number)
        if page is None:
            return b""
        if offset + size <= PAGE:
            return bytes(page[offset : offset + size])
        parts = [page[offset:]]
        left = size - (PAGE - offset)
        while left > 0:
            number += 1
            page = self._page(number & _VPN_MASK)
            if page is None:
                break
            parts.append(page[:left] if left < PAGE else page)
            left -= PAGE
        return b"".join(parts)

    def read(self, ppgtt: bool, address: int, size: int) -> tuple[bytes, int]:
        """As ``span``, in a classic file with what follows in the file.

        Also the number of bytes before the end of the buffer; larger than ``size`` where it is not
        known.
        """
        for start, end, data in reversed(self._local):
            if start <= address < end and (self.is_classic or not ppgtt):
                found = bytes(data[address - start : address - start + size])
                return found, end - address
        found = self.span(ppgtt, address, size)
        return found, len(found) if len(found) < size else size + 1

    def _page(self, number: int) -> bytearray | memoryview | None:
        """The page of the PPGTT with this number, or None."""
        try:
            return self._pages[number]
        except KeyError:
            pass
        table = self._leaf(number >> 9)
        page = None
        if table is not None:
            entry = unpack_from("<Q", table, 8 * (number & 0x1FF))[0]
            if entry & 1:
                page = self._physical.get(entry >> 12)
        self._pages[number] = page
        return page

    def store(self, address: int, data: bytes) -> None:
        """Write to the PPGTT until the end of the submission; pages that are unmapped stay so."""
        while data:
            number, offset = address >> 12 & _VPN_MASK, address & 0xFFF
            part = data[: PAGE - offset]
            page = self._page(number)
            if page is not None:
                copied = bytearray(page)
                copied[offset : offset + len(part)] = part
                self._pages[number] = copied
            address += len(part)
            data = data[len(part) :]

    def _leaf(self, index: int) -> BytesLike | None:
        """The table of the lowest level for these 512 pages, or None."""
        if index in self._tables:
            return self._tables[index]
        table: BytesLike | None = self._physical.get(self.root >> 12)
        for shift in (18, 9, 0):
            if table is None:
                break
            entry = unpack_from("<Q", table, 8 * (index >> shift & 0x1FF))[0]
            table = self._physical.get(entry >> 12) if entry & 1 else None
        self._tables[index] = table
        return table

    def _global_span(self, address: int, size: int) -> bytes:
        for start, end, data in reversed(self._local):
            if start <= address < end:
                return bytes(data[address - start : min(address + size, end) - start])
        found = self.global_mapping(address)
        if found is None:
            return b""
        size = min(size, found[1] - address)
        parts = []
        while size > 0:
            offset = address & 0xFFF
            count = min(PAGE - offset, size)
            entry = self._ggtt.get(address >> 12)
            page = None if entry is None else self._physical.get(entry >> 12)
            parts.append((_ZEROS if page is None else page)[offset : offset + count])
            address += count
            size -= count
        return b"".join(parts)

    def global_mapping(self, address: int) -> tuple[int, int] | None:
        """Start and end of the global mapping that a look-up of ``address`` finds, or None.

        A mapping begins at the page that was asked for first and continues while pages have
        entries; where the page itself has none, the gap before the next one belongs to it.
        """
        for start, end, _ in reversed(self._local):
            if start <= address < end:
                return start, end
        for start, end in reversed(self._ggtt_maps):
            if start <= address < end:
                return start, end
        if self._sorted_ggtt is None:
            self._sorted_ggtt = sorted(self._ggtt)
        pages = self._sorted_ggtt
        index = bisect_left(pages, address >> 12)
        if index == len(pages):
            return None
        last = index
        while last + 1 < len(pages) and pages[last + 1] == pages[last] + 1:
            last += 1
        found = (address & ~0xFFF, (pages[last] + 1) << 12)
        self._ggtt_maps.append(found)
        return found
