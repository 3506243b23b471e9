# SPDX-License-Identifier: MIT
"""Messages about errors in a text: location, cause, and the correct form."""

from __future__ import annotations

import io
import time

import pytest

from cffpy.errors import AssemblyError
from cffpy.pm4asm.assemble import assemble
from tests.pm4asm.round import bytes_of
from tests.selection import first_always

A6XX = "gpu a6xx\nbuffer b 0x1000 {\n"

#: Text, line, column, a part of the message.
WRONG = [
    ("RB_MRT[0].CONTROLL = 5", 3, 3, "RB_MRT[0].CONTROLL, did you mean RB_MRT[0].CONTROL?"),
    ("RB_MRT[9].CONTROL = 5", 3, 3, "no register is called RB_MRT[9].CONTROL"),
    ("RB_MRT[0].CONTROL = { ROP=5 }", 3, 25, "has no field ROP, did you mean ROP_CODE?"),
    ("RB_MRT[0].CONTROL = { ROP_CODE=ROP_CLEA }", 3, 34, "did you mean ROP_CLEAR?"),
    ("RB_MRT[0].CONTROL = { ROP_CODE=16 }", 3, 34, "ROP_CODE: 16 does not fit into 4 bits"),
    ("RB_MRT[0].CONTROL = { BLEND, BLEND }", 3, 32, "BLEND is given twice"),
    ("RB_MRT[0].CONTROL = { COMPONENT_ENABLE }", 3, 25, "COMPONENT_ENABLE needs a value"),
    ("RB_MRT[0].CONTROL = 0x1_", 3, 23, "expected one of"),
    ("RB_MRT[0].CONTROL = 0x123456789", 3, 23, "does not fit into 32 bits"),
    ("RB_MRT[0].PITCH = 65", 3, 21, "is not a multiple of 0x40"),
    ("RB_MRT[0].PITCH = -64", 3, 21, "does not fit"),
    ("RB_MRT[0].PITCH = 6.5", 3, 21, "6.5 is not a whole number"),
    ("GRAS_SU_CNTL = { LINEHALFWIDTH=0.3 }", 3, 34, "0.3 is not a multiple of 0.25"),
    ("GRAS_SU_CNTL = { LINEHALFWIDTH=64.0 }", 3, 34, "64.0 does not fit into 8 bits"),
    ("GRAS_CL_VPORT[0].XSCALE = 1e999", 3, 29, "1e999 does not fit"),
    ("RB_MRT[0].CONTROL = 1\n  + RB_MRT[0].PITCH = 64", 4, 3, "0x8823 does not follow"),
    ("RB_MRT[0].CONTROL = 1\n  + 00000001", 4, 3, "a register and its value are expected"),
    ("CP_SET_MARKER MODE=RM6_BIN_VISIBILTY", 3, 22, "did you mean RM6_BIN_VISIBILITY?"),
    ("CP_SET_MARKR MODE=1", 3, 3, "did you mean CP_SET_MARKER?"),
    ("CP_SET_MARKER MODDE=1", 3, 17, "CP_SET_MARKER has no field MODDE, did you mean MODE?"),
    ("CP_SET_MARKER MODE=", 3, 22, "expected one of"),
    ("CP_SET_MARKER [400]=1", 3, 17, "has no field [400]"),
    ("CP_NOP FIELD=1", 3, 10, "CP_NOP has no field FIELD"),
    ("packet 0x80", 3, 10, "is not an opcode: the largest is 0x7f"),
    ("CP_NOP\n  + A6XX_TEX_SMP", 4, 5, "no structure A6XX_TEX_SMP, did you mean A6XX_TEX_SAMP?"),
    ("A6XX_TEX_SAMP\n  + 00000000", 4, 3, "+ belongs to packets"),
    ("00000001\n  + 00000000", 3, 3, "+ belongs to packets"),
    ("fill 0x1 * 4\n  + 00000000", 4, 3, "+ belongs to packets"),
    ("CP_INDIRECT_BUFFER IB_BASE=draws IB_SIZE=1\n}", 3, 30, "no label draws"),
    ("CP_INDIRECT_BUFFER IB_BASE=c IB_SIZE=1\n}", 3, 30, "no label c"),
    ("CP_INDIRECT_BUFFER IB_BASE=b IB_SIZE=sizeof(bb)\n}", 3, 40, "no label bb, did you mean b?"),
    ("CP_REG_TO_MEM REG=reg(RB_CNTLL) DEST=0", 3, 21, "no register is called RB_CNTLL"),
    ("fill 0x1 * 10\n  at 0x1010", 4, 6, "overlap: 0x1010 is 24 bytes before 0x1028"),
    ("fill 0x1 * 10\n  commands c at 0x1010 {", 4, 17, "overlap"),
    ("bytes 00\n  commands c {", 4, 3, "cannot begin at 0x1001"),
    ("commands b {", 3, 12, "label b is already defined"),
    ("data c {\ndata d {\ndata e {\ndata f {", 6, 1, "nested more than 4 deep"),
    ("gpu_id 630", 3, 3, "a section cannot be inside a block: } is missing"),
    ("shader s {\n nop\n mumble r0.x\n }", 5, 2, "not an instruction of generation 6"),
    # text that no word gives again: the offset has seven bits
    (
        "shader s {\n stib.b.untyped.1d.u32.4.imm.base0 r2.y, r5.z+128, 4\n }",
        4,
        2,
        "not an instruction of generation 6",
    ),
    ("shader s {\n l1:\n nop\n l1:\n }", 6, 2, "label l1 is already defined"),
    ("shader s {\n nop", 4, 2, "the text ends, but a block is open"),
    ("}\n}", 4, 1, "no block is open"),
    ("}\nbuffer b 0x2000 {", 4, 8, "label b is already defined"),
    ("}\nbuffer c 0x2000 size 4 {\n fill 0x0 * 2\n}", 6, 1, "8 bytes, 4 more than the section"),
    ("}\nbuffer c 0x100000000 short {", 4, 1, "is not a 32-bit address"),
    ("}\nbuffer c 0x1 size 1 size 2 {", 4, 21, "size is given twice"),
    ("}\nstream 0x1000", 4, 1, "how many dwords?"),
    ("}\nstream b1", 4, 8, "no label b1, did you mean b?"),
    ("}\nsection RD_PARM {", 4, 9, "did you mean RD_PARAM?"),
    ("}\nat 0x1000", 4, 1, "an address belongs into a buffer"),
    ("}\n00000000", 4, 1, "this belongs in a block"),
    ("}\nRB_CCU_CNTL = 0x0", 4, 1, "this belongs in a block"),
    ("}\npm4 2", 4, 5, "this is version 1 of the language"),
    ("}\ngpu a99", 4, 5, "'a99' is neither a GPU"),
    ("}\n+ 00000000", 4, 1, "+ belongs to packets"),
    ('}\ncmd "abc', 4, 5, ""),
    ('}\ncmd "a\\qc"', 4, 5, ""),
    ("}\nsize 4", 4, 6, "expected one of"),
    ("}\n{", 4, 1, "expected one of"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), first_always(WRONG, 11, names=4))
def test_wrong(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(AssemblyError) as raised:
        bytes_of(f"{A6XX}  {text}\n")
    problem = raised.value
    assert str(problem).startswith(f"test.pm4:{line}:{column}: ")
    assert (problem.line, problem.column) == (line, column)
    assert message in str(problem)


def test_the_line_is_shown() -> None:
    with pytest.raises(AssemblyError) as raised:
        bytes_of(f"{A6XX}   CP_SET_MARKER MODE=RM6  // comment\n")
    assert str(raised.value).splitlines()[1:] == [
        "CP_SET_MARKER MODE=RM6",
        "                   ^",
    ]


def test_what_was_expected() -> None:
    with pytest.raises(AssemblyError) as raised:
        bytes_of("buffer b {")
    assert "expected one of: NUMBER" in str(raised.value)


def test_names_need_a_gpu() -> None:
    with pytest.raises(AssemblyError, match="2:1: say first which GPU"):
        bytes_of("buffer b 0x1000 {\nRB_CCU_CNTL = 0x0\n}")


def test_ir3_starts_with_a3xx() -> None:
    with pytest.raises(AssemblyError, match="ir3 starts with a3xx"):
        bytes_of("gpu a2xx\nbuffer b 0x1000 {\nshader s {\nnop\n}\n}")


def test_a_wrong_line_behind_one_that_waits_for_a_label() -> None:
    """A value that a label gives is checked once the label's place is known."""
    text = f"{A6XX}CP_INDIRECT_BUFFER IB_BASE=c IB_SIZE=1\nCP_SET_DRAW_STATE\n + COUNT=lo(c)\n}}\n"
    with pytest.raises(AssemblyError, match="5:10: COUNT: 131072 does not fit into 16 bits"):
        bytes_of(f"{text}buffer c 0x20000 {{\n}}\n")


@pytest.mark.parametrize(
    "text",
    first_always(
        [
            "{" * 100_000,
            "buffer b 0x0 {\n" * 100_000,
            "RB_MRT[0].CONTROL = " + "{" * 100_000,
            "RB_MRT[0].CONTROL = { " + "BLEND, " * 30_000,
            "CP_NOP " + "A=1 " * 10_000,
            "00000000 " * 20_000,
            "x" * 100_000_000,
            '"' * 200_000,
            'cmd "' + "\\" * 200_000,
            "((((" * 50_000,
            "\n" * 100_000 + "}",
            "\0\xff",
        ]
    ),
    ids=lambda text: f"{text[:12]!r} {len(text)}",
)
def test_hostile_texts(text: str) -> None:
    start = time.process_time()
    with pytest.raises(AssemblyError):
        bytes_of(text)
    assert time.process_time() - start < 30


def test_no_utf8() -> None:
    with pytest.raises(AssemblyError, match="2:3: not UTF-8"):
        assemble(io.BytesIO(b"pm4 1\nab\xff"), "test.pm4")


@pytest.mark.parametrize(
    "text",
    [
        "buffer b 0x0 size 0xfffffff0 {\n}",
        "section 1 {\nfill 0x0 * 999999999\n}",
        "section 1 {\nat 0xffffffffffff\n}",
        "marker * 999999999",
    ],
)
def test_captures_that_are_too_large(text: str) -> None:
    with pytest.raises(AssemblyError, match="more than 1000 bytes"):
        bytes_of(text, limit=1000)
