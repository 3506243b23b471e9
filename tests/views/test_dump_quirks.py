# SPDX-License-Identifier: MIT
"""Quirks of the reference, each with the responsible function."""

from __future__ import annotations

import pytest

from cffpy.container.damage import Damage
from cffpy.container.open import Content, open_bytes
from cffpy.container.section_types import SectionType
from cffpy.container.writer import NewSection, capture_bytes
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import DumpOptions
from tests.builders import COMMANDS


def test_fields_of_another_chips_modes_are_shown_until_a_mode_is_known(pm4, shown) -> None:
    # cffdump: rnndec_varmatch asks only for the current variant, so that without one BV, BR and
    # LPAC, of a mode that a6xx does not have, are there as the others are (mesa 25.0.7)
    first, unknown, known = (
        line.split(b"\n")[1]
        for line in shown(
            630, [*pm4.type7(0x47, 0xFA000000, 0), *pm4.type7(0x47, 0xFF800000, 0),
                  *pm4.type7(0x47, 0x3A000000, 0)]
        ).split(b"\t\topcode:")[1:]
    )  # fmt: skip
    assert first == (
        b"\t\t\t{ MODE = 0xf | PRED_BIT = 0 | BINNING | SYSMEM | BV | LPAC | REG0 = 0 }"
    )
    assert unknown.endswith(b"| BINNING | GMEM | SYSMEM | BV | BR | LPAC | REG0 = 0 | 0x1800000 }")
    assert known == b"\t\t\t{ MODE = RENDER_MODE | BINNING | SYSMEM }"


def test_a2xx_program_goes_on_behind_its_packet(pm4, shown) -> None:
    # cffdump: disasm_a2xx follows the program's addresses, whatever the packet's size: here the
    # instruction at address 1 begins with the dword that follows the packet (mesa 25.0.7)
    flow = [0x00001001, 0x00002000, 0x00000000]  # EXEC_END at 1, one instruction; NOP
    instruction = [0x000F8000, 0x00000000, 0xE2000000]
    text = shown(220, [*pm4.type3(0x2B, 0, 3, *flow), *instruction], dwords=6)
    assert text == (
        b"\t\topcode: CP_IM_LOAD_IMMEDIATE (2b) (6 dwords)\n"
        b"\t\tvertex shader, start=0000, size=0003\n"
        b"\t\t\t\t    1001 0000 2000            \tEXEC_END ADDR(0x1) CNT(0x1)\n"
        b"\t\t\t\t01: 000f8000 00000000 e2000000\t      ALU:\tMAXv\texport0 = R0, R0\n"
        b"\t\t\t\t    0000 0000 0000            \tNOP\n"
        b"00100000:\t\t0000: c0042b00 00000000 00000003 00001001 00002000 00000000\n"
    )


def test_inline_indices_whose_size_overflows(pm4, shown) -> None:
    # cffdump: cp_draw_indx_2 keeps the bytes of the indices in an int: 2^31 + 1 of two bytes each
    # are 2, which are no dword (mesa 25.0.7)
    text = shown(320, [*pm4.type3(0x36, 0, 0x84, 0x80000001, 0x00020001)])
    assert b"\t\tidxs:          1 2\n\t\tdraw[0] register values\n" in text


def test_address_of_bindless_state_wraps_around(pm4, shown) -> None:
    # cffdump: cp_load_state adds the offset to 64 bits (mesa 25.0.7)
    base = pm4.type4(0xBB20, 0xFFFFFFF0, 0xFFFFFFFF)
    constants = pm4.type7(0x32, 1 << 22 | 8 << 18 | 1 << 16 | 1 << 14, 0x80004, 0)
    text = shown(630, [*base, *constants], {0x200000: [1, 2, 3, 4]})
    assert b"0000000000200000:\t\t\t0000: 00000001 00000002 00000003 00000004\n" in text


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (None, b"test: t\ncmd: abcdef"),
        (Damage(0, "gzip stream: broken", reference_says_corrupt=True), b"test: t\ncorrupt file\n"),
    ],
)
def test_section_in_which_decompression_fails(damage: Damage | None, expected: bytes) -> None:
    # cffdump: parse_rd_section drops it; one that merely ends with the file is taken
    test = capture_bytes([NewSection(SectionType.TEST, b"t")])
    filler = bytes(65536 - len(test) - 8 - 8 - 6)  # six letters of the text come before 64 KiB
    sections = [
        NewSection(SectionType.TEST, b"t"),
        NewSection(SectionType.PROGRAM, filler),
        NewSection(SectionType.CMD, b"abcdef" + b"x" * 100),
    ]
    pieces: list[bytes] = []
    printer = Dump(DumpOptions(unit_test=True), pieces.append, lambda line: None)
    printer.begin("capture")
    printer.file(Content("capture", capture_bytes(sections)[:-50], "gzip", 1, damage))
    assert b"".join(pieces).startswith(expected)


def test_submit_that_calls_itself_once(pm4, shown) -> None:
    # cffdump: has_dumped, by which --once ends the recursion, does not know of a submit's own
    # stream: that runs once more, as an IB (mesa 25.0.7)
    call = pm4.type7(0x3F, COMMANDS, 0, 6)
    text = shown(630, [*call, *pm4.type4(0x8871, 1)], once=True)
    write, stream = b"write RB_DEPTH_CNTL (8871)\n", b"CP_INDIRECT_BUFFER (3f)"
    assert text.count(stream) == text.count(write) == 2
    assert b"\n\t\t\t" + write in text  # the IB's comes first
    assert text.index(b"\n\t\t\t" + write) < text.index(b"\n\t\t" + write)
    assert shown(630, [*call, *pm4.type4(0x8871, 1)]).count(write) == 1


def test_words_of_the_command_line_are_printed_byte_by_byte(make_capture) -> None:
    name, invalid = "caf\u00e9-\u65e5.rd", "caf\udce9"  # the latter is no UTF-8: b"caf\xe9"
    cmd = [NewSection(SectionType.CMD, name.encode() + b"\0")]
    pieces: list[bytes] = []
    options = DumpOptions(query=(name, invalid), exe=name[:4])
    printer = Dump(options, pieces.append, lambda line: None)
    printer.begin(name)
    printer.file(open_bytes(make_capture(630, [], before=cmd)))
    printer.begin(invalid)
    text = b"".join(pieces)
    assert text.startswith(
        b"Reading caf\xc3\xa9-\xe6\x97\xa5.rd...\n"
        b"querystr: caf\xc3\xa9-\xe6\x97\xa5.rd -> 0x0\nquerystr: caf\xe9 -> 0x0\n"
    )
    assert text.endswith(b"Reading caf\xe9...\n")


def test_processes_are_chosen_by_the_bytes_of_their_names(pm4, make_capture, dump_captures) -> None:
    cmd = [NewSection(SectionType.CMD, "caf\u00e9".encode())]
    data = make_capture(630, pm4.type7(0x10), before=cmd)
    assert b"CP_NOP" in dump_captures(data, exe="caf\u00e9")
    assert b"CP_NOP" not in dump_captures(data, exe="caf\u00e8")
