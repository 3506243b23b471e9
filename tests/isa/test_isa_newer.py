# SPDX-License-Identifier: MIT
"""Instructions and statistics of edition mesa-25.3, where they differ from those of 25.0."""

from __future__ import annotations

import re
import struct

import pytest

from cffpy.editions.folders import resolve_edition
from cffpy.isa.encode import Assembler
from cffpy.isa.ir3 import Ir3Disassembler
from tests.isa.test_isa_vectors import FILES, rows
from tests.selection import first_always

NEWER = resolve_edition("mesa-25.3")

END = 0x03000000_00000000
MOV_R1X_R40X = 0x200CC004_000000A0

DONTCARE = "\t; dontcare bits in {}: {:016x}"

#: Generation, word, text of 25.0, text of 25.3. The first three are recorded with both.
TEXTS = [
    (
        6,
        0xC0D60907_01800018,
        "stg.a.u32 g[r1.x+(r1.w)<<2], r3.x, 1",
        "stg.a.u32 g[r1.x+(r1.w<<2)], r3.x, 1",
    ),
    (
        7,
        0xE4450009_00000002,
        "alias.tex.b32.0 r2.y, r0.z",
        "alias.tex.b32.0 r2.y, r0.z" + DONTCARE.format("alias", 1 << 54),
    ),
    (7, 0xE4050009_00000002, "no match: e405000900000002", "alias.tex.b32.0 r2.y, r0.z"),
    (6, 0x00000001_00000000, "nop" + DONTCARE.format("nop", 1 << 32), "(eolm)nop"),
]


def shown(edition: str | None, generation: int, word: int) -> str:
    text, errors = Ir3Disassembler(generation, edition).instruction(word)
    return text + ("\t; " + ", ".join(errors) if errors else "")


def listed(edition: str | None, *words: int) -> str:
    return Ir3Disassembler(7, edition).disassemble(struct.pack(f"<{len(words)}Q", *words), 0)


def footprint(edition: str | None, *words: int) -> int:
    found = re.search(r", (\d+) full,", listed(edition, *words))
    assert found is not None
    return int(found[1])


@pytest.mark.parametrize(("generation", "word", "old", "new"), TEXTS)
def test_texts_of_both_editions(generation: int, word: int, old: str, new: str) -> None:
    assert (shown(None, generation, word), shown(NEWER, generation, word)) == (old, new)


@pytest.mark.slow
@pytest.mark.parametrize("path", first_always(FILES[3:]), ids=lambda path: path.stem)
def test_words_of_captures_come_back_from_their_text(path) -> None:
    """The assembler of an edition reads what its disassembler prints."""
    words = list(rows(path))[::20]
    disassembler, assembler = (one(words[0][0], NEWER) for one in (Ir3Disassembler, Assembler))
    for _generation, word, _text in words:
        text, errors = disassembler.instruction(word)
        if errors or text.startswith("no match"):
            continue
        again = assembler.assemble(text)
        assert disassembler.instruction(again) == (text, ())


ALIAS_R40X = 0xE40500A0_00000001
TEXTURE = 0xA1489F11_C021401B


def test_registers_that_an_alias_defines_are_not_counted() -> None:
    words = (ALIAS_R40X, TEXTURE, END)
    assert "alias.tex.b32.0 r40.x, r0.y" in listed(NEWER, *words)
    assert footprint(NEWER, *words) < 40


def test_an_alias_ends_with_the_next_texture_instruction() -> None:
    assert footprint(NEWER, ALIAS_R40X, TEXTURE, MOV_R1X_R40X, END) == 40
    assert footprint(NEWER, ALIAS_R40X, MOV_R1X_R40X, TEXTURE, END) < 40


def test_25_0_counts_them() -> None:
    # that edition knows an alias by another bit
    words = (ALIAS_R40X | 1 << 54, TEXTURE, END)
    assert "alias.tex.b32.0 r40.x, r0.y" in listed(None, *words)
    assert footprint(None, *words) == 40
