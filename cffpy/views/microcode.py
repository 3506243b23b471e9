# SPDX-License-Identifier: MIT
"""Microcode as text for the assembler, in the form of Mesa's afuc-disasm, and its document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.frame.facts import model, stored
from cffpy.isa.afuc import ALIGNMENT, DWORD_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cffpy.isa.afuc import Section

SCHEMA = "cffpy.microcode/1"


@model("packet_handler", frozen=True, is_value=False)
class PacketHandler:
    """What executes a packet."""

    opcode: int = stored("opcode of the packet")
    handler: int = stored("number of a dword of the section")


@model("microcode_label", frozen=True, is_value=False)
class MicrocodeLabel:
    """A label."""

    name: str = stored("its name")
    place: int = stored("number of a dword of the section")


@model("microcode_instruction", frozen=True, is_value=False)
class MicrocodeInstruction:
    """An instruction, or data."""

    word: str = stored("the dword, in 8 hexadecimal digits after 0x")
    text: str = stored("the instruction as text")
    comment: str | None = stored("what the text does not say")
    target: int | None = stored("number of the dword that it jumps to")
    is_data: bool = stored("it is data, no instruction", name="data")


@model("microcode_section", frozen=True, is_value=False)
class MicrocodeSection:
    """The code of a processor."""

    name: str = stored("its name")
    start: int = stored("where it begins in the file", "dwords")
    packets: list[PacketHandler] = stored("the table of jumps")
    labels: list[MicrocodeLabel] = stored("the labels")
    instructions: list[MicrocodeInstruction] = stored("the instructions")
    rest: list[str] = stored("dwords behind the table of jumps, in hexadecimal")


@model("microcode", frozen=True, is_value=False)
class MicrocodeDocument:
    """Microcode of the command processor: cffpy afuc disasm --json."""

    generation: int = stored("generation of the GPU: 7 for a7xx")
    version: str = stored("version of the firmware, in hexadecimal")
    sections: list[MicrocodeSection] = stored("the sections")


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
    """The microcode of a generation. Numbers of dwords count from the section's begin."""
    return MicrocodeDocument(generation, f"{version:#010x}", list(map(_section, sections)))


def _section(section: Section) -> MicrocodeSection:
    return MicrocodeSection(
        section.name,
        section.start,
        [PacketHandler(opcode, place) for opcode, place in enumerate(section.table)],
        [
            MicrocodeLabel(name, place)
            for place, names in sorted(section.labels.items())
            for name in names
        ],
        [
            MicrocodeInstruction(
                f"{instruction.word:#010x}",
                instruction.text,
                instruction.comment or None,
                instruction.target,
                instruction.is_data,
            )
            for instruction in section.instructions
        ],
        [f"{word:#010x}" for word in section.rest],
    )
