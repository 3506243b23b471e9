# SPDX-License-Identifier: MIT
"""Every recorded instruction: its text, and the text back to its bits."""

from __future__ import annotations

import re
from functools import cache

import pytest

from cffpy.isa.encode import Assembler
from cffpy.isa.ir3 import Ir3Disassembler
from tests.isa.harvest import VECTORS

FILES = sorted((VECTORS / "ir3").glob("*.txt"))

HIDDEN_FIELDS = {
    # instruction (without what is in parentheses before it): bits that no template shows
    r"(nop|end|ret|emit|cut|chmask|chsh|flow_rev|shp[es]|pred[tfe]|kill)": 0x0000_0000_FFFF_FFFF,
    r"(br\w*|ball|bany|kill)": 0x0000_0700_0000_0000,
    r"(jump|call|getone|shps|bkt|getlast\.w\d+)": 0x0001_0700_0000_0000,
    r"movmsk\.w\d+": 0x0180_0000_0000_0000,
    r"stg(\.a)?\.\w+": 0x0000_0100_0000_0000,
    r"get(spid|wid|fiberid)\.\w+": 0x0000_0000_0000_01CE,
    r"(quad_shuffle|brcst)\.\w+(\.w\d+)?": 0x0008_0000_0000_0000,
}
"""Bits that the text does not tell, beside those of words with errors."""


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


def listed_as_unrecoverable(word, text):
    """Whether a word has bits that its text does not tell."""
    if text.startswith("no match") or "\t; " in text:
        return True
    instruction = re.sub(r"^(\(\w+\))*", "", text).split(" ")[0]
    hidden = [mask for name, mask in HIDDEN_FIELDS.items() if re.fullmatch(name, instruction)]
    return any(word & mask for mask in hidden)


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_text_back_to_bits(path):
    wrong = []
    for generation, word, text in rows(path):
        if text.startswith("no match"):
            continue
        again = assembler(generation).assemble(text)
        if again != word and not listed_as_unrecoverable(word, text):
            wrong.append((f"{word:016x}", f"{again:016x}", text))
        assert again == word & assembler(generation).visible(word) or "\t; " in text
    assert wrong == []
