# SPDX-License-Identifier: MIT
"""Where the reference's own mappings lie, for instructions that it remembers by pointer.

aubinator maps each buffer that it looks up and unmaps all of them after a submission; with
accumulate it keeps pointers to instructions, and prints what lies there later (mesa 25.0.7). That
depends on the order of its mappings alone: Linux gives each the highest gap that is large enough.
"""

from __future__ import annotations

from cffpy.intel.container.memory import PAGE, AubMemory

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
        """Unmap a range."""
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
        """Unmap all buffers."""
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
        found = super().global_mapping(address)
        if found is not None and len(self._ggtt_maps) > known:
            self._add(found[0], found[1] - found[0], ppgtt=False)
        return found

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
