# SPDX-License-Identifier: MIT
"""Every recorded instruction: its text, and the text back to its bits.

``assembler/ir3.txt`` are words and texts that Mesa's own test of its assembler has
(ir3/tests/disasm.c; generated ones included). Those of later versions than 25.0.7 are left out
where that version has another text for the word or none: movs, up0.x, (nopN) of bary.f and flat.b,
alias with bit 54 clear, dp4acc without (nopN).
"""

from __future__ import annotations

import re
from functools import cache

import pytest

from cffpy.errors import IsaError
from cffpy.isa.encode import Assembler
from cffpy.isa.ir3 import Ir3Disassembler
from tests.isa.harvest import VECTORS
from tests.selection import first_always

FILES = sorted((VECTORS / "ir3").glob("*.txt"))

ASSEMBLER = VECTORS / "assembler" / "ir3.txt"

HIDDEN_FIELDS = {
    # instruction (without what is in parentheses before it): bits that no template shows
    r"(nop|end|ret|emit|cut|chmask|chsh|flow_rev|shp[es]|pred[tfe]|kill)": 0x0000_0000_FFFF_FFFF,
    r"(br\w*|ball|bany|kill)": 0x0000_0700_0000_0000,
    r"(jump|call|getone|shps|bkt|getlast\.w\d+)": 0x0001_0700_0000_0000,
    r"movmsk\.w\d+": 0x0180_0000_0000_0000,
    r"get(spid|wid|fiberid)\.\w+": 0x0000_0000_0000_01CE,
    r"(quad_shuffle|brcst)\.\w+(\.w\d+)?": 0x0008_0000_0000_0000,
}
"""Bits that the text does not show, except those of words with errors."""


def rows(path):
    """(generation, word, text) of a file of vectors."""
    for line in path.read_text().splitlines():
        generation, word, text = line.split(" | ", 2)
        yield int(generation), int(word, 16), text


@cache
def disassembler(generation):
    return Ir3Disassembler(generation)


@cache
def assembler(generation):
    return Assembler(generation)


def shown(generation, word):
    text, errors = disassembler(generation).instruction(word)
    return text + ("\t; " + ", ".join(errors) if errors else "")


def test_every_generation_has_vectors():
    assert [path.name for path in FILES] == [f"a{n}xx.txt" for n in range(3, 8)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_text_of_each_word(path):
    wrong = [
        (f"{word:016x}", text, shown(generation, word))
        for generation, word, text in rows(path)
        if shown(generation, word) != text
    ]
    assert wrong == []


@pytest.mark.parametrize("generation", first_always([4, 5, 6, 7]))
def test_words_of_the_assemblers_test_come_back_exactly(generation):
    found = [row for row in rows(ASSEMBLER) if row[0] == generation]
    assert found
    for _generation, word, text in found:
        assert assembler(generation).assemble(text) == word, text
        if not text.startswith("raw "):
            assert disassembler(generation).instruction(word) == (text, ())


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("raw 0x12", 0x12),
        ("raw 0xFFFFFFFFFFFFFFFF", 0xFFFFFFFFFFFFFFFF),
        ("no match: 0123456789abcdef", 0x0123456789ABCDEF),
    ],
)
def test_words_that_no_instruction_is(text, word):
    assert assembler(6).assemble(text) == word


@pytest.mark.parametrize(
    "text",
    [
        "raw 0x",
        "raw 0x10000000000000000",
        "stib.b.untyped.1d.u32.4.imm.base0 r2.y, r5.z+128, 4",  # seven bits of offset
        "mov.s16s16 hr1.y, -32769",
        "jump #-2147483649",
        "jump #2147483648",
        "mova a1.x, hr0.x",
        "brcst.active.w3 (u32)(x)r0.z, r0.y",
    ],
)
def test_text_that_no_word_gives_is_an_error(text):
    with pytest.raises(IsaError):
        assembler(6).assemble(text)


def test_a_text_gives_the_same_word_again_and_a_target_another():
    known = Assembler(6)
    assert known.assemble("jump #l5", 3) & 0xFFFFFFFF == 2
    assert known.assemble("jump #l5", 4) & 0xFFFFFFFF == 1
    assert known.assemble("nop\t; dontcare bits in nop: 0000000100000000") == 0
    assert known.assemble("nop") == 0


def hidden_bits(text):
    """Bits that the text does not show."""
    instruction = re.sub(r"^(\(\w+\))*", "", text).split(" ")[0]
    hidden = 0
    for name, mask in HIDDEN_FIELDS.items():
        if re.fullmatch(name, instruction):
            hidden |= mask
    return hidden


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_text_back_to_bits(path):
    wrong = []
    for generation, word, text in rows(path):
        again = assembler(generation).assemble(text)
        assert disassembler(generation).instruction(again) in (
            (text, ()),
            (text.partition("\t; ")[0], ()),
        )
        if (again ^ word) & ~hidden_bits(text) and "\t; " not in text:
            wrong.append((f"{word:016x}", f"{again:016x}", text))
    assert wrong == []
