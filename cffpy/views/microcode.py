# SPDX-License-Identifier: MIT
"""Microcode as text for the assembler, in the form of Mesa's afuc-disasm, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.isa.afuc import ALIGNMENT, DWORD_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cffpy.isa.afuc import Section

SCHEMA = "cffpy.microcode/1"


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


def document(generation: int, version: int, sections: Iterable[Section]) -> dict[str, Any]:
    """The JSON document. Numbers of dwords count from the section's begin."""
    return {
        "generation": generation,
        "version": f"{version:#010x}",
        "sections": [_section(one) for one in sections],
    }


def _section(section: Section) -> dict[str, Any]:
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
                "word": f"{one.word:#010x}",
                "text": one.text,
                "comment": one.comment or None,
                "target": one.target,
                "data": one.is_data,
            }
            for one in section.instructions
        ],
        "rest": [f"{word:#010x}" for word in section.rest],
    }
