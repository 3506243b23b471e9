# SPDX-License-Identifier: MIT
"""Looks up instructions, structs and registers in the descriptions by name; the JSON documents."""

from __future__ import annotations

from dataclasses import replace

from cffpy.frame.description import (
    DescribedField,
    DescribedGroup,
    DescribedName,
    DescribedType,
    DescribedValue,
    Description,
    add_description,
)
from cffpy.intel.decoder.groups import Database
from cffpy.intel.descriptions import rows, store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from cffpy.intel.decoder.groups import Group

_FORMS = {
    **{number: name for name, number in rows.BUILTIN.items()},
    rows.UFIXED: "ufixed",
    rows.SFIXED: "fixed",
    rows.STRUCT: "struct",
    rows.ENUM: "enum",
}
#: Names that one search returns.
_MAX_NAMES = 1 << 12

#: Kind, name, where, number: see ``DescribedName``.
_Name = tuple[str, str, str, int | None]


def databases(verx10: int | None, directory: str | None) -> list[Database]:
    """The descriptions of one generation, or of all, oldest first."""
    wanted = store.generations(directory).values() if verx10 is None else [verx10]
    return [Database(generation, directory) for generation in wanted]


def generation_name(database: Database) -> str:
    """``gfx9``, ``gfx12.5``: as --gpu takes it."""
    return f"gfx{database.verx10 / 10:g}"


def explain(of: Sequence[Database], name: str) -> list[Description]:
    """Each definition of this name, once for all generations in which it is the same.

    ``name`` may also be the offset of a register, as 0x2358.
    """
    definitions: list[Description] = []
    for database in of:
        for group in _named(database, name):
            add_description(definitions, _description(group), generation_name(database))
    return definitions


def search(of: Sequence[Database], text: str) -> list[DescribedName]:
    """Names of instructions, structs, registers, fields and values that contain a text."""
    generations: dict[_Name, list[str]] = {}
    wanted = text.lower()
    for database in of:
        for known in dict.fromkeys(_names(database, wanted)):
            if known in generations or len(generations) < _MAX_NAMES:
                generations.setdefault(known, []).append(generation_name(database))
    return [DescribedName(*known, names) for known, names in generations.items()]


def _groups(database: Database) -> Iterator[Group]:
    yield from database.instructions
    for name in database.struct_names:
        struct = database.struct(name)
        if struct is not None:
            yield struct
    for name in database.register_names:
        register = database.register(name)
        if register is not None:
            yield register


def _named(database: Database, name: str) -> Iterator[Group]:
    folded = name.lower()
    if folded.startswith("0x"):
        try:
            register = database.register_at(int(folded, 16))
        except ValueError:
            register = None
        if register is not None:
            yield register
        return
    for group in _groups(database):
        if group.name.lower() == folded:
            yield group


def _description(group: Group) -> DescribedGroup:
    fields = list(_fields(group.members, 0, ""))
    description = DescribedGroup(group.kind, group.name, group.length, fields, [])
    if group.kind == "instruction":
        engines = [name for name, bit in rows.ENGINE_BITS.items() if group.engines & bit]
        return replace(description, opcode=group.code, mask=group.mask, engines=engines)
    return replace(description, offset=group.offset) if group.kind == "register" else description


def _fields(members: tuple[Any, ...], base: int, indices: str) -> Iterator[DescribedField]:
    """The fields of a group; those of a repeat once, with the number of items."""
    for row in members:
        if row[0] is None:
            _, start, count, size, inside = row
            items = f"[{count or '...'} x {size} bits]"
            yield from _fields(inside, base + start, indices + items)
            continue
        name, low, high, kind, argument, values, _ = row
        named = [DescribedValue(text, number) for number, text in values] or None
        form = DescribedType(
            _type_name(kind, argument), _FORMS[kind], base + low, base + high, values=named
        )
        yield DescribedField(name + indices, None, form)


def _type_name(kind: int, argument: object) -> str:
    if kind == rows.STRUCT:
        return str(argument)
    if kind in (rows.UFIXED, rows.SFIXED) and isinstance(argument, tuple):
        return f"{'u' if kind == rows.UFIXED else 's'}{argument[0]}.{argument[1]}"
    return _FORMS.get(kind, "uint")


def _names(database: Database, wanted: str) -> Iterator[_Name]:
    """The names that have a text, which is in lower case."""
    for group in _groups(database):
        if wanted in group.name.lower():
            number = group.code if group.kind == "instruction" else group.offset
            yield group.kind, group.name, "", number
        for field in _fields(group.members, 0, ""):
            if wanted in field.name.lower():
                yield "field", field.name, group.name, field.type.low
            for value in field.type.values or ():
                if wanted in value.name.lower():
                    yield "value", value.name, f"{group.name}: {field.name}", value.number
