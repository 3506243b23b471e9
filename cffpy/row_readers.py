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
    #: Dword, shift and mask of a value.
    Field = tuple[int, int, int]
    Read = Callable[..., tuple[int, ...]]

BytesLike = bytes | bytearray | memoryview


class DwordReader:
    """Reads the values of rows from a sequence of dwords: ``reader.read(dwords, index)``.

    ``dwords``: how many there must be from ``index`` on; ``read`` does not check that.
    """

    __slots__ = ("dwords", "read")

    def __init__(self, rows: Sequence[Row | None]) -> None:
        """None in place of a row: a value that is always 0."""
        self.dwords = max((1 if row is None else dwords_of(row) for row in rows), default=0)
        self.read = _reader_of([("", 0, 0, 0) if row is None else row for row in rows])


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


# A function with its numbers in variables takes half the time of a loop over fields. ``w`` are the
# dwords, ``i`` is the index of the structure in them.


def _reader_of(rows: Sequence[Row]) -> Read:
    """What reads the values of rows: a function of their number, or several in a row."""
    fields = [(dword, shift, (1 << width) - 1) for _, dword, shift, width in rows]
    is_wide = [shift + width > 32 for _, _, shift, width in rows]
    if any(is_wide[-1:]):
        return _with_wide(_reader_of(rows[:-1]), fields[-1])
    count = min((*is_wide[::-1], True).index(True), len(_READERS) - 1)
    first = len(rows) - count
    read = _READERS[count](*fields[first:])
    return _joined(_reader_of(rows[:first]), read) if first else read


def _joined(first: Read, rest: Read) -> Read:
    return lambda w, i=0: first(w, i) + rest(w, i)


def _with_wide(first: Read, a: Field) -> Read:
    """The values of ``first``, and one that continues in the next dword."""
    d, s, m = a
    return lambda w, i=0: (*first(w, i), (w[i + d] | w[i + d + 1] << 32) >> s & m)


def _reader_of_0() -> Read:
    return lambda w, i=0: ()


def _reader_of_1(a: Field) -> Read:
    d, s, m = a
    return lambda w, i=0: (w[i + d] >> s & m,)


def _reader_of_2(a: Field, b: Field) -> Read:
    (d, s, m), (d1, s1, m1) = a, b
    return lambda w, i=0: (w[i + d] >> s & m, w[i + d1] >> s1 & m1)


def _reader_of_3(a: Field, b: Field, c: Field) -> Read:
    (d, s, m), (d1, s1, m1), (d2, s2, m2) = a, b, c
    return lambda w, i=0: (w[i + d] >> s & m, w[i + d1] >> s1 & m1, w[i + d2] >> s2 & m2)


def _reader_of_4(a: Field, b: Field, c: Field, e: Field) -> Read:
    (d, s, m), (d1, s1, m1), (d2, s2, m2), (d3, s3, m3) = a, b, c, e
    return lambda w, i=0: (
        w[i + d] >> s & m,
        w[i + d1] >> s1 & m1,
        w[i + d2] >> s2 & m2,
        w[i + d3] >> s3 & m3,
    )


def _reader_of_5(a: Field, b: Field, c: Field, e: Field, f: Field) -> Read:
    (d, s, m), (d1, s1, m1), (d2, s2, m2), (d3, s3, m3), (d4, s4, m4) = a, b, c, e, f
    return lambda w, i=0: (
        w[i + d] >> s & m,
        w[i + d1] >> s1 & m1,
        w[i + d2] >> s2 & m2,
        w[i + d3] >> s3 & m3,
        w[i + d4] >> s4 & m4,
    )


_READERS: tuple[Callable[..., Read], ...] = (
    _reader_of_0,
    _reader_of_1,
    _reader_of_2,
    _reader_of_3,
    _reader_of_4,
    _reader_of_5,
)


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
