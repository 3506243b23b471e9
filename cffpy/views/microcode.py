# SPDX-License-Identifier: MIT
"""Microcode as text for the assembler, in the form of Mesa's afuc-disasm, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from cffpy.document_types import Hex
from cffpy.isa.afuc import ALIGNMENT, DWORD_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cffpy.isa.afuc import Section

SCHEMA = "cffpy.microcode/1"


_Dword = Annotated[int, "number of a dword of the section"]


class PacketHandler(TypedDict):
    """What executes a packet."""

    opcode: Annotated[int, "opcode of the packet"]
    handler: _Dword


class MicrocodeLabel(TypedDict):
    """A label of a listing, and where it stands."""

    name: Annotated[str, "its name"]
    place: _Dword


class MicrocodeInstruction(TypedDict):
    """An instruction, or data."""

    word: Annotated[Hex, "the dword"]
    text: Annotated[str, "the instruction as text"]
    comment: Annotated[str | None, "what the text does not say"]
    target: Annotated[int | None, "number of the dword that it jumps to"]
    data: Annotated[bool, "it is data, no instruction"]


class MicrocodeSection(TypedDict):
    """The code of a processor."""

    name: Annotated[str, "its name"]
    start: Annotated[int, "where it begins in the file, in dwords"]
    packets: Annotated[list[PacketHandler], "the table of jumps"]
    labels: Annotated[list[MicrocodeLabel], "the labels"]
    instructions: Annotated[list[MicrocodeInstruction], "the instructions"]
    rest: Annotated[list[Hex], "dwords behind the table of jumps"]


class MicrocodeDocument(TypedDict):
    """Microcode of the command processor: cffpy afuc disasm --json."""

    generation: Annotated[int, "generation of the GPU: 7 for a7xx"]
    version: Annotated[Hex, "version of the firmware"]
    sections: Annotated[list[MicrocodeSection], "the sections"]


def lines(
    generation: int, version: int, sections: Sequence[Section], is_raw: bool = False
) -> Iterator[str]:
    """The text. ``is_raw``: there is no version."""
    yield f"; a{generation}xx microcode"
    if not is_raw:
        yield f"; Version: {version:08x}"
    yield ""
    for number, section in enumerate(sections):
        if number:
            yield ""
            yield f".section {section.name}"
            yield from (";", f"; {section.name} microcode:", ";")
        is_last = section is sections[-1]
        is_aligned = not is_last and not len(section.instructions) * DWORD_BYTES % ALIGNMENT
        for line in section.lines():
            if is_aligned and line == "jumptbl:":
                yield f".align {ALIGNMENT}"
            yield line


def document(generation: int, version: int, sections: Iterable[Section]) -> MicrocodeDocument:
    """The JSON document. Numbers of dwords count from the section's begin."""
    return {
        "generation": generation,
        "version": f"{version:#010x}",
        "sections": [_section(section) for section in sections],
    }


def _section(section: Section) -> MicrocodeSection:
    return {
        "name": section.name,
        "start": section.start,
        "packets": [
            {"opcode": opcode, "handler": place} for opcode, place in enumerate(section.table)
        ],
        "labels": [
            {"name": name, "place": place}
            for place, names in sorted(section.labels.items())
            for name in names
        ],
        "instructions": [
            {
                "word": f"{instruction.word:#010x}",
                "text": instruction.text,
                "comment": instruction.comment or None,
                "target": instruction.target,
                "data": instruction.is_data,
            }
            for instruction in section.instructions
        ],
        "rest": [f"{word:#010x}" for word in section.rest],
    }
