# SPDX-License-Identifier: MIT
"""GPU memory as an AUB file builds it up: physical pages, GGTT, PPGTT, buffers of classic files.

``span`` is what decoding needs: bytes from an address on, as far as the memory there is mapped
without a gap. Addresses and sizes are in bytes. Facts: aub_mem.c of Mesa 25.0.7.

Two kinds know more: ``LocatedMemory`` which bytes of the file an address has, and ``HostMemory``
where the mappings of the reference lie. aubinator maps each buffer that it looks up and unmaps all
of them after a submission; with accumulate it keeps pointers to instructions, and prints what lies
there later. That depends on the order of its mappings alone: Linux gives each the highest gap that
is large enough.
"""

from __future__ import annotations

from bisect import bisect_left
from struct import unpack_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
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
                content = bytes(data[address - start : address - start + size])
                return content, end - address
        content = self.span(ppgtt, address, size)
        return content, len(content) if len(content) < size else size + 1

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
        mapping = self.global_mapping(address)
        if mapping is None:
            return b""
        size = min(size, mapping[1] - address)
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
        mapping = (address & ~0xFFF, (pages[last] + 1) << 12)
        self._ggtt_maps.append(mapping)
        return mapping


#: Writes to parts of one page that are kept; of a page with more of them nothing is known.
_MAX_PARTS = 64


class LocatedMemory(AubMemory):
    """AubMemory with ``file_offset``. What commands write is not in the file: it is passed over.

    ``data_offset``: set by the owner; tells where in the file the data of the current write begin.
    """

    data_offset: Callable[[], int]

    def __init__(self, file_size: int = 0) -> None:
        super().__init__(file_size)
        #: Number of a physical page -> offset in the file, of a page that one write filled.
        self._whole: dict[int, int] = {}
        #: The same of other pages: start and end in the page, offset in the file; the last counts.
        self._parts: dict[int, list[tuple[int, int, int]]] = {}
        #: Start and end of a buffer of a classic file, and its offset.
        self._local_offsets: list[tuple[int, int, int]] = []

    # --- writes ---------------------------------------------------------------------------------

    def write_local(self, address: int, data: memoryview, rest: memoryview) -> None:
        """As ``AubMemory`` does; the offsets in the file are kept, too."""
        super().write_local(address, data, rest)
        self._local_offsets.append((address, address + len(data), self.data_offset()))

    def write_physical(self, address: int, data: memoryview) -> None:
        """As ``AubMemory`` does; the offsets in the file are kept, too."""
        super().write_physical(address, data)
        offset, done = self.data_offset(), 0
        while done < len(data):
            number, place = (address + done) >> 12, (address + done) & 0xFFF
            size = min(PAGE - place, len(data) - done)
            self._locate(number, place, size, offset + done)
            done += size

    def write_ggtt(self, address: int, data: memoryview) -> bool:
        """As ``AubMemory`` does; the offsets in the file are kept, too."""
        offset, done = self.data_offset(), 0
        while done < len(data):
            place = (address + done) & 0xFFF
            size = min(PAGE - place, len(data) - done)
            entry = self._ggtt.get((address + done) >> 12)
            if entry is not None:
                self._locate(entry >> 12, place, size, offset + done)
            done += size
        return super().write_ggtt(address, data)

    def _locate(self, number: int, place: int, size: int, offset: int) -> None:
        """Note that bytes of a page are at an offset in the file."""
        if size == PAGE:
            self._whole[number] = offset
            self._parts.pop(number, None)
            return
        parts = self._parts.setdefault(number, [])
        if len(parts) < _MAX_PARTS:
            parts.append((place, place + size, offset))
        else:
            parts.append((0, PAGE, -1))

    def end_submission(self) -> None:
        """As ``AubMemory`` does; local buffers and their offsets in the file end here."""
        super().end_submission()
        self._local_offsets.clear()

    # --- look-ups -------------------------------------------------------------------------------

    def file_offset(self, ppgtt: bool, address: int) -> int | None:
        """Where in the file the byte at an address is; None where no write has it."""
        if self.is_classic or not ppgtt:
            for start, end, offset in reversed(self._local_offsets):
                if start <= address < end:
                    return offset + address - start
            entry = self._ggtt.get(address >> 12)
            return None if entry is None else self._offset_in(entry >> 12, address & 0xFFF)
        table = self._leaf(address >> 21 & ((1 << 27) - 1))
        if table is None:
            return None
        entry = unpack_from("<Q", table, 8 * (address >> 12 & 0x1FF))[0]
        return self._offset_in(entry >> 12, address & 0xFFF) if entry & 1 else None

    def _offset_in(self, number: int, place: int) -> int | None:
        for start, end, offset in reversed(self._parts.get(number, ())):
            if start <= place < end:
                return None if offset < 0 else offset + place - start
        whole = self._whole.get(number)
        return None if whole is None else whole + place


#: Pages of one mapping that are counted; hostile tables map one page everywhere.
_MAX_PAGES = 1 << 18


class _Gaps:
    """Addresses of mappings: counted downwards from 0, gaps are filled from the highest on."""

    def __init__(self) -> None:
        self._bottom = 0
        #: Start and end of the gaps, the highest first.
        self._gaps: list[tuple[int, int]] = []

    def take(self, size: int) -> int:
        """The start of a new mapping."""
        for index, (start, end) in enumerate(self._gaps):
            if end - start >= size:
                if end - start == size:
                    del self._gaps[index]
                else:
                    self._gaps[index] = (start, end - size)
                return end - size
        self._bottom -= size
        return self._bottom

    def give_back(self, start: int, end: int) -> None:
        """Take back host addresses from ``start`` to ``end``; what lies beside them is joined."""
        joined = []
        for gap in self._gaps:
            if gap[1] == start or gap[0] == end:
                start, end = min(start, gap[0]), max(end, gap[1])
            else:
                joined.append(gap)
        if start == self._bottom:
            self._bottom = end
        else:
            joined.append((start, end))
        self._gaps = sorted(joined, reverse=True)


class HostMemory(AubMemory):
    """AubMemory that also knows where the reference has its mappings."""

    def __init__(self, file_size: int = 0) -> None:
        super().__init__(file_size)
        self._gaps = _Gaps()
        #: Host address of a mapping -> its end, whether it is of the PPGTT, GPU address.
        self._mappings: dict[int, tuple[int, bool, int]] = {}
        #: Host address -> physical page number.
        self._host_pages: dict[int, int] = {}

    def write_physical(self, address: int, data: memoryview) -> None:
        """As of AubMemory; new pages are mapped."""
        if len(data) == PAGE and not address & 0xFFF:
            self._map_physical(address >> 12)
        super().write_physical(address, data)

    def _write_page(self, number: int, offset: int, part: memoryview) -> None:
        self._map_physical(number)
        super()._write_page(number, offset, part)

    def _map_physical(self, number: int) -> None:
        if number not in self._physical:
            self._host_pages[self._gaps.take(PAGE)] = number

    def end_submission(self) -> None:
        """Forget the pages of the submission; host addresses are free again."""
        super().end_submission()
        for start, (end, _, _) in self._mappings.items():
            self._gaps.give_back(start, end)
        self._mappings.clear()

    def span(self, ppgtt: bool, address: int, size: int) -> bytes:
        """As of AubMemory; the buffer is mapped."""
        if ppgtt and not self.is_classic:
            self._map(address)
        return super().span(ppgtt, address, size)

    def global_mapping(self, address: int) -> tuple[int, int] | None:
        """As of AubMemory; the mapping is made."""
        known = len(self._ggtt_maps)
        mapping = super().global_mapping(address)
        if mapping is not None and len(self._ggtt_maps) > known:
            self._add(mapping[0], mapping[1] - mapping[0], ppgtt=False)
        return mapping

    def _map(self, address: int) -> None:
        """Map what a look-up in the PPGTT finds, unless it is part of a mapping."""
        if self._host_of(address, ppgtt=True) is not None:
            return
        first = address // PAGE
        count = 0
        while count < _MAX_PAGES and self._page(first + count) is not None:
            count += 1
        if count:
            self._add(first * PAGE, count * PAGE, ppgtt=True)

    def _add(self, address: int, size: int, ppgtt: bool) -> None:
        start = self._gaps.take(size)
        self._mappings[start] = (start + size, ppgtt, address)

    def _host_of(self, address: int, ppgtt: bool) -> int | None:
        for start, (end, is_ppgtt, first) in self._mappings.items():
            if is_ppgtt == ppgtt and first <= address < first + end - start:
                return start + address - first
        return None

    def pointer(self, ppgtt: bool, address: int) -> int | None:
        """The host address of a GPU address that was looked up; None in a classic file."""
        return None if self.is_classic else self._host_of(address, ppgtt)

    def at_pointer(self, pointer: int, size: int) -> bytes | None:
        """Up to ``size`` bytes at a host address now; None where nothing is mapped."""
        for start, (end, ppgtt, address) in self._mappings.items():
            if start <= pointer < end:
                return super().span(ppgtt, address + pointer - start, min(size, end - pointer))
        page = self._host_pages.get(pointer & -PAGE)
        if page is None:
            return None
        offset = pointer & PAGE - 1
        return bytes(self._physical[page][offset : offset + size])
