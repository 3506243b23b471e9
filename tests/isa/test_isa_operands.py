# SPDX-License-Identifier: MIT
"""Operands of instructions as values, beside the text that a reader can check them with."""

from __future__ import annotations

import struct

import pytest

from cffpy.isa.ir3 import Ir3Disassembler
from cffpy.isa.operands import Descriptor, OperandReader
from cffpy.isa.store import load
from tests.isa.harvest import VECTORS
from tests.selection import first_always

ROWS = [line.split(" | ") for line in (VECTORS / "operands" / "ir3.txt").read_text().splitlines()]
"""generation | word | text | registers read | registers written | descriptors; ``-`` is none."""


def registers_text(registers):
    """``r4*3 hc2`` for components 4 to 6 of r, and half component 2 of c; ``?`` is unknown."""
    texts = []
    for item in registers:
        first = "?" if item.first is None else item.first
        count = "" if item.count == 1 else f"*{'?' if item.count is None else item.count}"
        texts.append(f"{'h' if item.is_half else ''}{item.file}{first}{count}")
    return " ".join(texts) or "-"


def descriptor_text(item):
    """``texture 1:2`` for descriptor 2 of bindless set 1, ``texture 2`` without sets."""
    index = "?" if item.index is None else item.index
    base = "?" if item.base is None else item.base
    return f"{item.kind} {base}:{index}" if item.is_bindless else f"{item.kind} {index}"


@pytest.mark.parametrize("row", first_always(ROWS, 21), ids=lambda row: f"a{row[0]}xx-{row[1]}")
def test_operands(row):
    generation, word, text, reads, writes, descriptors = row
    disassembler = Ir3Disassembler(int(generation))
    assert disassembler.instruction(int(word, 16)) == (text, ())
    operands = disassembler.operands(int(word, 16))
    assert registers_text(operands.reads) == reads
    assert registers_text(operands.writes) == writes
    assert ", ".join(map(descriptor_text, operands.descriptors)) == descriptors.replace("-", "")


def test_descriptors_of_a_program():
    words = [int(row[1], 16) for row in ROWS if row[0] == "6"]
    disassembler = Ir3Disassembler(6)
    found = disassembler.descriptors(struct.pack(f"<{len(words)}Q", *words))
    expected = {text for row in ROWS if row[0] == "6" for text in row[5].split(", ")} - {"-"}
    assert {descriptor_text(item) for item in found} == expected


def test_a_word_without_a_match_uses_nothing():
    operands = Ir3Disassembler(6).operands(0xFFFFFFFF_FFFFFFFF)
    assert (operands.name, operands.reads, operands.writes) == ("", (), ())


def test_descriptors_are_values():
    one, other = (Descriptor("ubo", True, 4, index) for index in (0, None))
    assert one != other
    assert len({one, other, Descriptor("ubo", True, 4, 0)}) == 2


@pytest.mark.parametrize("generation", first_always(range(3, 8)))
def test_operands_of_all_recorded_instructions(generation):
    """Each recorded instruction has operands; those in the memo equal those decoded again."""
    disassembler = Ir3Disassembler(generation)
    reader = OperandReader(load("ir3", generation * 100))
    for line in (VECTORS / "ir3" / f"a{generation}xx.txt").read_text().splitlines()[::5]:
        _generation, word, text = line.split(" | ", 2)
        operands = disassembler.operands(int(word, 16))
        assert (operands.name == "") == text.startswith("no match")
        assert disassembler.operands(int(word, 16)) is operands
        assert reader.read(int(word, 16)) == operands
