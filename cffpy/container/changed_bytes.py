# SPDX-License-Identifier: MIT
"""Bytes with changes: only changed pages are copied, so a capture is in memory once."""

from __future__ import annotations

from collections.abc import Iterator

from cffpy.row_readers import BytesLike

_PAGE = 4096


class ChangedBytes:
    """``data`` and what was written over it. The length stays as it is."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        #: Number of a page -> its bytes after the changes.
        self._pages: dict[int, bytearray] = {}

    def read(self, offset: int, size: int) -> bytes:
        """``size`` bytes at ``offset`` after the changes so far; fewer at the end."""
        pieces = []
        end = min(offset + size, len(self._data))
        while offset < end:
            number, start = divmod(offset, _PAGE)
            count = min(end - offset, _PAGE - start)
            page = self._pages.get(number)
            pieces.append(
                bytes(self._data[offset : offset + count])
                if page is None
                else bytes(page[start : start + count])
            )
            offset += count
        return b"".join(pieces)

    def write(self, offset: int, new: bytes) -> None:
        """Replace the bytes at ``offset``; what lies beyond the end is left out."""
        new = new[: max(0, len(self._data) - offset)]
        done = 0
        while done < len(new):
            number, start = divmod(offset + done, _PAGE)
            count = min(len(new) - done, _PAGE - start)
            page = self._pages.get(number)
            if page is None:
                first = number * _PAGE
                page = self._pages[number] = bytearray(self._data[first : first + _PAGE])
            page[start : start + count] = new[done : done + count]
            done += count

    def pieces(self) -> Iterator[BytesLike]:
        """All bytes, in order: unchanged ones as views of ``data``."""
        done = 0
        for number, page in sorted(self._pages.items()):
            yield self._data[done : number * _PAGE]
            yield page
            done = number * _PAGE + len(page)
        yield self._data[done:]
