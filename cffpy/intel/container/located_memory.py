# SPDX-License-Identifier: MIT
"""The memory of an AUB file that also knows which bytes of the file an address has."""

from __future__ import annotations

from struct import unpack_from

from cffpy.intel.container.memory import PAGE, AubMemory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

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
        """As of AubMemory."""
        super().write_local(address, data, rest)
        self._local_offsets.append((address, address + len(data), self.data_offset()))

    def write_physical(self, address: int, data: memoryview) -> None:
        """As of AubMemory."""
        super().write_physical(address, data)
        offset, done = self.data_offset(), 0
        while done < len(data):
            number, place = (address + done) >> 12, (address + done) & 0xFFF
            size = min(PAGE - place, len(data) - done)
            self._locate(number, place, size, offset + done)
            done += size

    def write_ggtt(self, address: int, data: memoryview) -> bool:
        """As of AubMemory."""
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
        """As of AubMemory."""
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
