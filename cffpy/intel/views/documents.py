# SPDX-License-Identifier: MIT
"""The types of the JSON documents on descriptions of Intel GPUs; their schemas are made of them."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict


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
