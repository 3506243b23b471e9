# SPDX-License-Identifier: MIT
"""Vertex data of a2xx, whose programs fetch their vertices by constants."""

from __future__ import annotations

from pathlib import Path

import pytest

import cffpy
from cffpy.analysis.inputs.facts import Facts, InputFact
from cffpy.analysis.inputs.vertex_buffers import FetchedBuffers, VertexBuffer
from cffpy.container.writer import dwords_bytes
from cffpy.isa.a2xx import A2xxDisassembler
from tests.selection import first_always

SAMPLE = Path(__file__).resolve().parents[3] / "samples/a220-triangle.pm4"

#: A program that fetches 32 bytes a vertex: 16 of each by constants 60 and 61.
PROGRAM = (
    *(0, 0x15, 0x72003, 0x1000, 0xC2000000, 0x21005, 0x1000, 0xC4000000, 0x1006, 0x2000, 0),
    *(0x19481000, 0x262688, 0x20, 0x13480000, 0x40262688, 0x1020, 0xF803E, 0, 0xC2010100),
    *(0xF8000, 0, 0xC2000000),
)
#: An address with the kind of the constant, and a size in bytes with flags.
CONSTANTS = (0x10002003, 0x1002, 0x10002013, 0x1002)
FIRST = "    CP_SET_CONSTANT INDEX=0x102 TYPE=4\n    + VGT_INDX_OFFSET = 0x{:x}\n"


def packet(name: str, dwords: tuple[int, ...], first: int) -> str:
    return f"    {name} " + " ".join(f"[{n}]={value:#x}" for n, value in enumerate(dwords, first))


def triangle(data: list[int], first: int) -> cffpy.Capture:
    """The sample with a program, its constants, and the vertices from ``first`` on."""
    load = packet("CP_IM_LOAD_IMMEDIATE", PROGRAM, 0)
    constants = packet("CP_SET_CONSTANT INDEX=0x78 TYPE=1", CONSTANTS, 1)
    before, draw = "    // Three automatic", "stream main short"
    text = SAMPLE.read_text("utf-8")
    text = text.replace(before, f"{load}\n{constants}\n{FIRST.format(first)}{before}")
    dwords = " ".join(f"{value:08x}" for value in data)
    vertices = f"buffer vertices 0x10002000 short {{\n  data corners {{\n    {dwords}\n  }}\n}}\n"
    return cffpy.open(cffpy.compile(text.replace(draw, f"{vertices}\n{draw}")))


@pytest.mark.parametrize(
    ("first", "changed", "differs"),
    first_always(
        [(0, 0, True), (0, 23, True), (0, 28, False), (2, 0, False), (2, 16, True), (2, 39, True)],
        names=3,
    ),
)
def test_vertices_of_a_draw(first: int, changed: int, differs: bool) -> None:
    data = list(range(64))
    good = triangle(data, first)
    assert [
        (one.slot, one.address, one.first_byte, len(one.data or b""))
        for one in good.draws[0].vertex_buffers
    ] == [(60, 0x10002000, 32 * first, 96), (61, 0x10002010, 32 * first, 96)]
    data[changed] = 77
    assert cffpy.diff(good, triangle(data, first)).differs is differs


def test_fetches_of_a_program_are_found_once() -> None:
    asked = []

    def disassembler() -> A2xxDisassembler:
        asked.append(1)
        return A2xxDisassembler()

    program = InputFact(b"digest", memoryview(dwords_bytes(list(PROGRAM[2:]))))
    finder = FetchedBuffers(disassembler)
    for address in (0x1000, 0x2000):
        data = memoryview(dwords_bytes([address | 3, 0x42]))
        loads = Facts({("constants", 1 << 16 | 120): InputFact(b"", data)})
        assert finder.of(program, loads) == (VertexBuffer(60, address, 0x40, 32, False),)
        assert FetchedBuffers(A2xxDisassembler).of(program, loads) == finder.of(program, loads)
    assert len(asked) == 1
    assert finder.of(None, Facts({})) == finder.of(InputFact(None), Facts({})) == ()
