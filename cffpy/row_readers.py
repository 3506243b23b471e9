# SPDX-License-Identifier: MIT
"""Fast readers of binary structures, made of rows.

A row says where a value is: ``(name, dword, shift, width)``. The dword counts from the structure's
start, shift and width are in bits; a value of more than 32 bits continues in the next dword. Rows
are derived from construct Structs (cffpy.struct_rows) when descriptions are compiled, and stored.
So decoding imports no construct, which costs 20 ms and reads a hundred times slower than this.
"""

from __future__ import annotations

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Row = tuple[str, int, int, int]
    Rows = tuple[Row, ...]

BytesLike = bytes | bytearray | memoryview


class DwordReader:
    """Reads the values of rows from a sequence of dwords: ``reader.read(dwords, index)``.

    ``dwords``: how many there must be from ``index`` on; ``read`` does not check that.
    """

    __slots__ = ("_plan", "dwords", "read")

    def __init__(self, rows: Sequence[Row | None]) -> None:
        """None in place of a row: a value that is always 0."""
        self.dwords = max((1 if row is None else dwords_of(row) for row in rows), default=0)
        #: Dword, shift, mask, and whether the value continues in the next dword.
        self._plan = [
            (0, 0, 0, False)
            if row is None
            else (row[1], row[2], (1 << row[3]) - 1, row[2] + row[3] > 32)
            for row in rows
        ]
        self.read: Callable[..., tuple[int, ...]] = self._read
        if len(self._plan) == 1 and not self._plan[0][3]:
            self.read = _make_single_reader(*self._plan[0][:3])

    def _read(self, dwords: Sequence[int], start: int = 0) -> tuple[int, ...]:
        return tuple(
            [
                (dwords[start + dword] | dwords[start + dword + 1] << 32) >> shift & mask
                if is_wide
                else dwords[start + dword] >> shift & mask
                for dword, shift, mask, is_wide in self._plan
            ]
        )


def dwords_of(row: Row) -> int:
    """Dwords from the start of the structure to the end of the value."""
    _, dword, shift, width = row
    return dword + (shift + width + 31) // 32


def find_row(rows: Rows, name: str) -> Row | None:
    """The row of a field, by name or by ``dword.name``; of a pair's low half where that is all."""
    first, dots, last = name.partition("..")
    if dots:
        return _range(find_row(rows, first), find_row(rows, last), name)
    for wanted in (name, f"{name}_LO"):
        for row in rows:
            if row[0] == wanted or row[0].endswith(f".{wanted}"):
                return row
    return None


def _range(first: Row | None, last: Row | None, name: str) -> Row | None:
    """The bits from one field to another of the same dword."""
    if first is None or last is None:
        return None
    _, dword, low, _ = first
    return name, dword, low, last[2] + last[3] - low


def _make_single_reader(dword: int, shift: int, mask: int) -> Callable[..., tuple[int, ...]]:
    def read(dwords: Sequence[int], start: int = 0) -> tuple[int, ...]:
        return (dwords[start + dword] >> shift & mask,)

    return read


def make_packer(rows: Sequence[Row], **constants: int) -> Callable[..., int]:
    """``pack(value, ...)``: the number that holds the values of the rows, in their order.

    ``constants``: fields that always have this value; they are not among the arguments. Values
    are not checked: the caller keeps them in range.
    """
    shifts = [row[1] * 32 + row[2] for row in rows if row[0] not in constants]
    fixed = 0
    for row in rows:
        fixed |= constants.get(row[0], 0) << row[1] * 32 + row[2]

    def pack(*values: int) -> int:
        word = fixed
        for value, shift in zip(values, shifts, strict=True):
            word |= value << shift
        return word

    return pack


def byte_struct(rows: Rows) -> struct.Struct:
    """The ``struct.Struct`` of rows without bit fields: for ``unpack_from`` and ``pack``."""
    return struct.Struct("<" + "".join(["I" if row[3] == 32 else "Q" for row in rows]))
