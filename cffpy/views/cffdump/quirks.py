# SPDX-License-Identifier: MIT
"""Quirks of the reference's register database (rnn) that change text; each names its function.

All other decoding of values is in cffpy.regdb.decode, to which these functions are passed.
"""

from __future__ import annotations

import struct

from cffpy.regdb.decode import Palette
from cffpy.regdb.rows import BITSET, NAMED_INLINE_BITSET, FieldRow, TypeRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cffpy.editions.record import Edition

#: cffdump: envy_def_colors (mesa 25.0.7)
COLOURS = Palette(
    opcode="\x1b[0;1;35m",
    name="\x1b[0;32m",
    flag="\x1b[0;36m",
    enum="\x1b[0;35m",
    number="\x1b[0;33m",
    unknown="\x1b[0;1;31m",
    reset="\x1b[0m",
)
PLAIN = Palette()

#: cffdump: the array ``levels`` (mesa 25.0.7): tabs up to level 8, then the letter x.
LEVELS = (*("\t" * (level + 1) for level in range(9)), *("x" * 24))


def fields_of(edition: Edition) -> Callable[[TypeRow], Sequence[FieldRow]]:
    """How the reference of an edition takes the fields of a bitset."""
    return swapped_fields if edition.keeps_radix else reference_fields


def reference_fields(type_row: TypeRow) -> Sequence[FieldRow]:
    """A bitset's fields in the order, and with the radix, that the reference has them."""
    fields = swapped_fields(type_row)
    if type_row[0] != NAMED_INLINE_BITSET:
        return fields
    # cffdump: copytypeinfo loses the radix of the fields it copies (mesa 25.0.7)
    return [(name, when, (*row[:5], 0, *row[6:])) for name, when, row in fields]


def swapped_fields(type_row: TypeRow) -> Sequence[FieldRow]:
    """A bitset's fields in the order that the reference has them."""
    kind = type_row[0]
    fields: list[FieldRow] = list(type_row[7])
    if kind == BITSET:
        return fields
    # cffdump: preptypeinfo swaps a field that selects a variant with the first field before it
    # that does not (mesa 25.0.7)
    for position, (_, _, row) in enumerate(fields):
        if not row[6]:
            continue
        for earlier in range(position):
            if not fields[earlier][2][6]:
                swapped = fields[earlier], fields[position]
                fields[position], fields[earlier] = swapped
                break
    return fields


def reference_half(bits: int) -> float:
    """cffdump: float16i (mesa 25.0.7) shifts denormals by one bit too few when their leading bit

    is at an odd position: these come out as half their value.
    """
    value: float = struct.unpack("<e", struct.pack("<H", bits))[0]
    fraction = bits & 0x3FF
    if not bits & 0x7C00 and fraction.bit_length() % 2 == 0:
        return value / 2
    return value
