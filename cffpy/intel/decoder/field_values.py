# SPDX-License-Identifier: MIT
"""The fields of an instruction, struct or register with their values, those of structs included."""

from __future__ import annotations

from math import isfinite

from cffpy.frame.field import FieldValue
from cffpy.intel.decoder.text import field_text
from cffpy.intel.descriptions import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.intel.decoder.database import Database
    from cffpy.intel.decoder.groups import Field, Group

#: How deep structs may lie within structs; Mesa's do so once.
_MAX_DEPTH = 8


def field_texts(
    database: Database, group: Group, words: Sequence[int]
) -> Iterator[tuple[str, str]]:
    """Names and values of all fields, as aubinator prints them; those of structs as ``a.b``."""
    for one in field_values(database, group, words):
        yield one.name, one.text


def field_values(
    database: Database,
    group: Group,
    words: Sequence[int],
    prefix: str = "",
    start: int = 0,
    depth: int = 0,
) -> Iterator[FieldValue]:
    """All fields with their values; those of structs are called ``a.b``.

    Fields that only identify the instruction are left out, and those that must be zero or one.
    """
    header = words[0] if words else 0
    for field in group.fields(group.length_of(header), header):
        if field.is_opcode or field.kind in (rows.MBO, rows.MBZ) or field.name == "DWord Length":
            continue
        name = f"{prefix}{field.name}"
        if field.kind == rows.STRUCT:
            inner = database.struct(field.argument)
            if inner is not None and depth < _MAX_DEPTH:
                inside = words[field.dword : field.dword + inner.dwords]
                at = start + 32 * field.dword
                yield from field_values(database, inner, inside, f"{name}.", at, depth + 1)
            continue
        text, raw = field_text(database, field, words), field.value(words) >> field.left
        value = _value(field, raw, text)
        yield FieldValue(name, start + field.low, start + field.high, text, value, raw)


def _value(field: Field, raw: int, text: str) -> bool | int | float | str:
    """The value by the type of the field; of an address with the zeros below its lowest bit."""
    if field.kind == rows.BOOL:
        return bool(raw)
    if field.kind in (rows.FLOAT, rows.UFIXED, rows.SFIXED):
        number = float(text)
        return number if isfinite(number) else text
    if text.endswith(")"):  # a number with a name
        return text.partition(" (")[2].removesuffix(")")
    return raw << field.left
