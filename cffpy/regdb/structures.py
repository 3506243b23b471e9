# SPDX-License-Identifier: MIT
"""Fields of packets and of structures in memory, by name.

Their dwords have no names that mean anything, so a field belongs to the whole. An address is one
field of 64 bits, or two of 32: ``X_LO`` (or ``X``) and ``X_HI``. A name may be written in either
form, regardless of the descriptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cffpy.regdb import rows

#: Highest bit of a field of 64 bits, less its lowest.
_WIDE = 63


class StructureField(NamedTuple):
    """A field: its name, its lowest and highest bit, counted from the first dword on, its type."""

    name: str
    bits: tuple[int, int]
    type_row: rows.TypeRow


def structure_fields(elements: Sequence[rows.ElementRow]) -> list[StructureField]:
    """The fields of a domain's elements; of an array, the fields of its first entry.

    Where two elements begin at one dword, the first counts, unless it has a condition.
    """
    fields: list[StructureField] = []
    covered: set[int] = set()
    for offset, row, is_certain in _registers(elements, 0, True):
        if offset in covered:
            continue
        if is_certain:
            covered.update(range(offset, offset + row[6]))
        kind = row[7]
        described = kind[7] if kind[0] in rows.BITSETS else [(row[1], None, kind)]
        fields += [
            StructureField(name, (32 * offset + field[2], 32 * offset + field[3]), field)
            for name, _condition, field in described
            if name and not name.isdigit()
        ]
    return fields


def _registers(
    elements: Sequence[rows.ElementRow], base: int, is_certain: bool
) -> Iterator[tuple[int, rows.ElementRow, bool]]:
    """Offset, row, and whether it exists in all variants, of each register."""
    for row in elements:
        certain = is_certain and row[2] is None
        start = base + (row[3] if isinstance(row[3], int) else row[3][0])
        if row[0] == rows.REGISTER:
            yield start, row, certain
        else:
            yield from _registers(row[-1], start, certain)


def field_names(elements: Sequence[rows.ElementRow]) -> frozenset[str]:
    """Names of the fields, and names by which addresses or their halves are known."""
    fields = structure_fields(elements)
    names = {field.name for field in fields}
    wide = (field.name for field in fields if field.bits[1] - field.bits[0] == _WIDE)
    halves = (half for name in wide for half in names_of_halves(name))
    bases = (name.removesuffix("_HI") for name in names if name.endswith("_HI"))
    return frozenset((*names, *halves, *bases))


def names_of_halves(name: str) -> tuple[str, str]:
    """The names by which the halves of a field of 64 bits are known."""
    return f"{name}_LO", f"{name}_HI"


def base_of_halves(low: str) -> str:
    """The name of an address whose lower half is the field ``low``."""
    return low.removesuffix("_LO")
