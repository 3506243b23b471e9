# SPDX-License-Identifier: MIT
"""Looks up instructions, structs and registers in the descriptions by name; the JSON documents."""

from __future__ import annotations

from typing import Annotated, NamedTuple, NotRequired, TypedDict

from cffpy.intel.decoder.groups import Database
from cffpy.intel.descriptions import rows, store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from cffpy.intel.decoder.groups import Group

_KINDS = {number: name for name, number in rows.BUILTIN.items()}
#: Hits that one search returns.
_MAX_HITS = 1 << 12


class Hit(NamedTuple):
    """A name that contains the text: what it names, and where it is ("3DSTATE_PS")."""

    kind: str
    name: str
    where: str


def databases(verx10: int | None, directory: str | None) -> list[Database]:
    """The descriptions of one generation, or of all, oldest first."""
    wanted = store.generations(directory).values() if verx10 is None else [verx10]
    return [Database(one, directory) for one in wanted]


def generation_name(database: Database) -> str:
    """``gfx9``, ``gfx12.5``: as --gpu takes it."""
    return f"gfx{database.verx10 / 10:g}"


def explain(found: Sequence[Database], name: str) -> list[dict[str, Any]]:
    """A document for each definition of this name; equal ones of several generations are one.

    ``name`` may also be the offset of a register, as 0x2358.
    """
    documents: list[dict[str, Any]] = []
    for database in found:
        for group in _named(database, name):
            document = _document(group)
            generations = [generation_name(database)]
            for other in documents:
                if {**other, "generations": None} == {**document, "generations": None}:
                    other["generations"] += generations
                    break
            else:
                documents.append({**document, "generations": generations})
    return documents


def search(found: Sequence[Database], text: str) -> dict[Hit, list[str]]:
    """Names of instructions, structs, registers, fields and values that contain a text."""
    hits: dict[Hit, list[str]] = {}
    wanted = text.lower()
    for database in found:
        name = generation_name(database)
        for hit in _hits(database, wanted):
            if hit not in hits and len(hits) >= _MAX_HITS:
                continue
            generations = hits.setdefault(hit, [])
            if name not in generations:
                generations.append(name)
    return hits


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


def _document(group: Group) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": group.kind, "name": group.name, "length": group.length}
    if group.kind == "instruction":
        found["opcode"] = f"{group.code:#010x}"
        found["mask"] = f"{group.mask:#010x}"
        found["engines"] = [name for name, bit in rows.ENGINE_BITS.items() if group.engines & bit]
    if group.kind == "register":
        found["offset"] = group.offset
    found["fields"] = list(_fields(group.members, 0, ""))
    return found


def _fields(members: tuple[Any, ...], base: int, indices: str) -> Iterator[dict[str, Any]]:
    """The fields of a group; those of a repeat once, with the number of items."""
    for row in members:
        if row[0] is None:
            _, start, count, size, inside = row
            items = f"[{count or '...'} x {size} bits]"
            yield from _fields(inside, base + start, indices + items)
            continue
        name, low, high, kind, argument, values, _ = row
        yield {
            "name": name + indices,
            "low": base + low,
            "high": base + high,
            "type": _type(kind, argument),
            "values": [{"number": number, "name": text} for number, text in values],
        }


def _type(kind: int, argument: object) -> str:
    if kind == rows.STRUCT:
        return str(argument)
    if kind in (rows.UFIXED, rows.SFIXED) and isinstance(argument, tuple):
        return f"{'u' if kind == rows.UFIXED else 's'}{argument[0]}.{argument[1]}"
    return "enum" if kind == rows.ENUM else _KINDS.get(kind, "uint")


def _hits(database: Database, wanted: str) -> Iterator[Hit]:
    for group in _groups(database):
        if wanted in group.name.lower():
            yield Hit(group.kind, group.name, "")
        for field in _fields(group.members, 0, ""):
            if wanted in field["name"].lower():
                yield Hit("field", field["name"], group.name)
            for value in field["values"]:
                if wanted in value["name"].lower():
                    yield Hit("value", value["name"], f"{group.name}: {field['name']}")


class HitDocument(TypedDict):
    """A name that contains the text."""

    kind: Annotated[str, "what it names"]
    name: Annotated[str, "the name"]
    where: Annotated[str, "the instruction, struct or register that has it"]
    generations: Annotated[list[str], "generations that have it, as gfx9"]


class DbSearchDocument(TypedDict):
    """Names in the descriptions of Intel GPUs: cffpy db search --gpu --json."""

    text: Annotated[str, "what was searched for"]
    found: Annotated[list[HitDocument], "the names"]


class NamedNumber(TypedDict):
    """A value of a field that has a name."""

    number: Annotated[int, "the value"]
    name: Annotated[str, "its name"]


class GroupFieldDocument(TypedDict):
    """A field of an instruction, struct or register."""

    name: Annotated[str, "its name"]
    low: Annotated[int, "its lowest bit"]
    high: Annotated[int, "its highest bit"]
    type: Annotated[str, "its type, or the struct that it holds"]
    values: Annotated[list[NamedNumber], "its values with names"]


class GroupDocument(TypedDict):
    """An instruction, a struct or a register."""

    kind: Annotated[str, "instruction, struct, enum or register"]
    name: Annotated[str, "its name"]
    length: Annotated[int | None, "its dwords; null where they vary"]
    opcode: NotRequired[Annotated[str, "bits of an instruction's first dword"]]
    mask: NotRequired[Annotated[str, "which bits of it these are"]]
    engines: NotRequired[Annotated[list[str], "the engines that have it"]]
    offset: NotRequired[Annotated[int | None, "offset of a register in bytes"]]
    fields: Annotated[list[GroupFieldDocument], "its fields"]
    generations: Annotated[list[str], "generations that have it, as gfx9"]


class DbShowDocument(TypedDict):
    """An instruction, struct or register of Intel GPUs: cffpy db show --gpu --json."""

    name: Annotated[str, "the name"]
    found: Annotated[list[GroupDocument], "what has this name"]
