# SPDX-License-Identifier: MIT
"""The fields of an instruction or struct as values: names, numbers and texts."""

from __future__ import annotations

from cffpy.intel.decoder.text import value_text
from cffpy.intel.descriptions import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.intel.decoder.database import Database
    from cffpy.intel.decoder.groups import Field, Group

#: How deep structs may lie within structs; Mesa's do so once.
_MAX_DEPTH = 8


def field_texts(
    database: Database, group: Group, words: Sequence[int], depth: int = 0
) -> Iterator[tuple[str, str]]:
    """Names and values of all fields, as aubinator prints them; those of structs as ``a.b``.

    Fields that only identify the instruction are left out, and those that must be zero or one.
    """
    header = words[0] if words else 0
    for field in group.fields(group.length_of(header), header):
        if field.is_opcode or field.kind in (rows.MBO, rows.MBZ) or field.name == "DWord Length":
            continue
        if field.kind == rows.STRUCT:
            inner = database.struct(field.argument)
            if inner is not None and depth < _MAX_DEPTH:
                inside = words[field.dword : field.dword + inner.dwords]
                for name, text in field_texts(database, inner, inside, depth + 1):
                    yield f"{field.name}.{name}", text
            continue
        yield field.name, field_text(database, field, words)


def field_text(database: Database, field: Field, words: Sequence[int]) -> str:
    """The value of a field, as aubinator prints it."""
    word = words[field.dword] if field.dword < len(words) else 0
    if field.is_wide and field.dword + 1 < len(words):
        word |= words[field.dword + 1] << 32
    return value_text(field, database, colour=False)(word).replace("%%", "%")
