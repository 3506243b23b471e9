# SPDX-License-Identifier: MIT
"""Microcode: words, firmware files with sections and tables, the importer."""

from __future__ import annotations

import gzip
import struct
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cffpy
from cffpy.analysis.crash.context import CrashContext
from cffpy.analysis.crash.status import packet_table, sqe_states
from cffpy.api.microcode import MicrocodeNames
from cffpy.container.crash_dump import read_crash_dump
from cffpy.errors import IsaError, UsageError
from cffpy.isa.afuc import TABLE_ENTRIES, AfucAssembler, AfucDisassembler
from cffpy.isa.import_xml import import_files
from tests.golden.test_crash import FOLDER
from tests.golden.test_reference import CHECKOUT
from tests.selection import first_always

SAMPLE = CHECKOUT / "samples" / "microcode" / "a6xx.asm"


@cache
def names(generation: int) -> MicrocodeNames:
    return MicrocodeNames(generation)


@cache
def disassembler(generation: int) -> AfucDisassembler:
    return AfucDisassembler(generation, names(generation))


@cache
def assembler(generation: int) -> AfucAssembler:
    return AfucAssembler(generation, names(generation))


def check_word_comes_back(generation: int, word: int) -> None:
    """An instruction or data: its text alone makes the same word."""
    text = disassembler(generation).instruction(word).text
    assert assembler(generation).assemble(text, is_raw=True) == word.to_bytes(4, "little")


@pytest.mark.slow
@given(st.integers(0, (1 << 32) - 1), st.sampled_from((5, 6, 7)))
@settings(max_examples=300)
def test_any_word_comes_back(word: int, generation: int) -> None:
    check_word_comes_back(generation, word)


@pytest.mark.parametrize("generation", [5, 6, 7])
@pytest.mark.parametrize("low", [0, 0x1FFF, 0xFFFFFFF & ~0x1E0])
def test_all_opcodes_come_back(generation: int, low: int) -> None:
    for top in range(32):
        check_word_comes_back(generation, top << 27 | low & 0x7FFFFFF)
        check_word_comes_back(generation, 0x98000000 | top)


# -- texts: as Mesa's tools print these words ------------------------------------------------------

TEXTS = {
    (6, 0x88010830): "mov $01, 0x830",
    (6, 0x8A04DEAD): "mov $04, 0xdead << 16",
    (6, 0x8B1D00A0): "mov $addr, 0xa0 << 24",
    (6, 0x981F1806): "mov $03, $data",
    (6, 0x985FFA01): "(xmov1)add $data, $02, $data",
    (6, 0x9C1FFE06): "(rep)(xmov3)mov $data, $data",
    (6, 0xA8010027): "cwrite $01, [$00 + @REG_READ_ADDR]",
    (6, 0xA8020019): "cwrite $02, [$00 + @MEM_READ_ADDR+0x1]",
    (6, 0xAC5F4001): "(rep)cwrite $data, [$02 + 0x1]!",
    (6, 0xAC1F204A): "(rep)(sds2)cwrite $data, [$00 + @DRAW_STATE_SET_HDR]",
    (6, 0xB8028005): "sread $02, [$00 + %SP]",
    (6, 0xB8020101): "cread $02, [$00 + 0x101]",
    (6, 0xB0474004): "load $07, [$02 + 0x4]!",
    (6, 0x01000000): "nop",
    (6, 0x01000001): "[01000001]",
    (6, 0xD0000000): "ret",
    (6, 0xD2000000): "iret",
    (6, 0xD0000001): "[d0000001]",
    (6, 0xD8000000): "waitin",
    (5, 0x00000000): "nop",
    (5, 0xA8018010): "cwrite $01, [$00 + @REG_WRITE_ADDR]",
    (7, 0x70010830): "mov $01, 0x830",
    (7, 0x904308E6): "[904308e6]",
    (7, 0x90437026): "ubfx $03, $02, b6, b1",
    (7, 0x98091906): "(peek)mov $03, $09",
    (7, 0x701A0001): "mov $sp, 0x1",
    (7, 0xE4000005): "jumpa #5",
    (7, 0xDF70001B): "jump $lr",
    (7, 0xDF600000): "sret",
    (7, 0xDF600001): "[df600001]",
    (6, 0xE4000005): "[e4000005]",
    (6, 0xDF600000): "[df600000]",
}


@pytest.mark.parametrize(("generation", "word"), TEXTS)
def test_texts(generation: int, word: int) -> None:
    assert disassembler(generation).instruction(word).text == TEXTS[generation, word]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("MOV", None),
        ("mov  $01 ,2", "mov $01, 0x2"),
        ("mov $0A, 0x0002 << 0", "mov $0a, 0x2"),
        ("mov $01, @REG_WRITE", "mov $01, 0x25"),
        ("(rep) cwrite $data, [$02+1]!", "(rep)cwrite $data, [$02 + 0x1]!"),
        ("cwrite $01, [$00 + 0x24]", "cwrite $01, [$00 + @REG_WRITE_ADDR]"),
        ("mov $01, 0x10000", None),
        ("mov $20, 0x1", None),
        ("cwrite $01, [$00 + @NOTHING]", None),
        ("jump #nowhere", None),
        ("mov $01, #nowhere", None),
        ("(foo)nop", None),
        (".foo", None),
        (".align 0", None),
        ("or $01, $00, $02", "mov $01, $02"),
        ("(rep) or $data, $00, $memdata", "(rep)mov $data, $memdata"),
        ("or $01, $02, $00", "or $01, $02, $00"),
        ("mov $1a, $1B", "mov $sp, $lr"),
        ("load $02, [$1a + 0x4]!", "load $02, [$sp + 0x4]!"),
        ("jumpa 5", None),  # a7xx
        ("sret", None),
        ("bic $01, $02, $03", None),  # a7xx
    ],
)
def test_assembled_text(text: str, same: str | None) -> None:
    made = assembler(6)
    if same is None:
        with pytest.raises(IsaError) as caught:
            made.assemble(f"nop\n{text}", is_raw=True)
        assert caught.value.line == 2
    else:
        assert made.assemble(text, is_raw=True) == made.assemble(same, is_raw=True)


def test_a_routine_of_a7xx() -> None:
    """Calls and returns by $lr; a jump within the section."""
    text = (
        "; a7xx microcode\n[01730001]\n[#jumptbl]\nCP_NOP:\nbl #routine\nnop\njumpa #CP_NOP\nnop\n"
        "routine:\nsub $sp, $sp, 0x2\njump $lr\nnop\nsret\nnop\njumptbl:\n.jumptbl\n"
    )
    made = cffpy.assemble_microcode(text)
    found = cffpy.disassemble_microcode(made)
    shown = [one.text for one in found.sections[0].instructions[2:]]
    assert shown[:3] == ["bl #fxn6", "nop", "jumpa #l2"]
    assert shown[4:8] == ["sub $sp, $sp, 0x2", "jump $lr", "nop", "sret"]
    assert cffpy.assemble_microcode(found.text) == made


# -- firmware files --------------------------------------------------------------------------------


def test_sample_comes_back() -> None:
    made = cffpy.assemble_microcode(SAMPLE.read_text())
    found = cffpy.disassemble_microcode(made)
    assert (found.generation, found.version) == (6, 0x016EE000)
    assert [one.name for one in found.sections] == ["SQE"]
    assert cffpy.assemble_microcode(found.text) == made
    handlers = found.handlers()
    assert handlers["CP_NOP"] == 18
    assert handlers["UNKN3"] == handlers["CP_REG_TEST"]
    assert [one.text for one in found.sections[0].instructions[18:20]] == [
        "(rep)mov $00, $data",
        "waitin",
    ]
    assert "call #fxn" in found.text
    table = found.sections[0].table
    assert len(table) == TABLE_ENTRIES
    assert table[0x10] == 18


def test_sections_of_a7xx() -> None:
    part = (
        "[01730001]\n[#jumptbl]\nCP_NOP:\nwaitin\nmov $01, $data\n.align 32\njumptbl:\n.jumptbl\n"
    )
    text = f"; a7xx microcode\n{part}.section BV\n{part}.section LPAC\n{part}[0100beef]\n"
    made = cffpy.assemble_microcode(text)
    assert len(made) == 4 * (1 + 3 * (8 + TABLE_ENTRIES) + 1)
    found = cffpy.disassemble_microcode(made, "a7xx")
    assert [(one.name, one.start) for one in found.sections] == [
        ("SQE", 0),
        ("BV", 136),
        ("LPAC", 272),
    ]
    assert found.sections[2].rest == (0x0100BEEF,)
    assert found.text.count(".align 32\njumptbl:\n.jumptbl\n") == 2
    assert cffpy.assemble_microcode(found.text) == made


# -- packet tables: as Mesa's assembler makes them -------------------------------------------------

#: Names of packets, their opcodes, and the generation that they are of (src/freedreno/registers).
PACKETS = [
    ("CP_NOP", 0x10, None),
    ("IN_SUBBLK_PREFETCH", 0x1F, 2),
    ("CP_COND_INDIRECT_BUFFER_PFE", 0x3A, 5),
    ("CP_PREEMPT_TOKEN", 0x1E, 5),
    ("CP_WAIT_MEM_GTE", 0x14, 6),
    ("CP_EVENT_WRITE", 0x46, 6),
    ("CP_EVENT_WRITE7", 0x46, 7),
    ("CP_THREAD_CONTROL", 0x17, 7),
    ("PKT4", 0x04, None),
    ("IN_PREEMPT", 0x0F, 6),
    ("UNKN15", 15, None),
    ("UNKN0", 0, None),
    ("UNKN70", 70, None),
    ("UNKN127", 127, None),
]


@pytest.mark.parametrize("generation", [5, 6, 7])
@pytest.mark.parametrize(("name", "opcode", "of"), PACKETS)
def test_packet_labels(name: str, opcode: int, of: int | None, generation: int) -> None:
    """A handler is one by any generation's name of the packet, or by its number."""
    text = f"nop\nnop\nnop\n{name}:\nwaitin\n.jumptbl\n"
    words = struct.unpack("<132I", assembler(generation).assemble(text, is_raw=True))
    assert {n: place for n, place in enumerate(words[4:]) if place} == {opcode: 3}


@pytest.mark.parametrize("generation", [5, 6, 7])
def test_a_table_of_numbers_has_all_packets(generation: int) -> None:
    text = "nop\n" + "".join(f"UNKN{n}:\n" for n in range(128)) + "waitin\n.jumptbl\n"
    words = struct.unpack("<130I", assembler(generation).assemble(text, is_raw=True))
    assert words[2:] == (1,) * 128


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("CP_NOTHING", "no packet of this name"),
        ("UNKN128", "numbered 0 to 127"),
        ("UNKN16", "packet 16 has a handler already: CP_NOP"),
    ],
)
def test_labels_that_would_be_lost(label: str, message: str) -> None:
    text = f"CP_NOP:\nnop\n{label}:\nnop\n.jumptbl\n"
    with pytest.raises(IsaError, match=message) as caught:
        assembler(6).assemble(text, is_raw=True, name="a.asm")
    assert str(caught.value).startswith("a.asm:3: label ")


def test_two_names_of_a_handler() -> None:
    made = assembler(6).assemble("nop\nCP_NOP: UNKN16:\nnop\n.jumptbl\n", is_raw=True)
    assert struct.unpack("<130I", made)[2 + 16] == 1


# -- texts as Mesa's assembler reads them ----------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "dwords"),
    [
        ("nop\n.align 32\nnop", 9),  # bytes
        ("nop\n.align 4\nnop", 2),
        (".align 32\nnop", 1),
        ("nop\n.section BV\nnop", 9),  # a section begins at a multiple of 32 bytes
        (".section BV nop", 1),
    ],
)
def test_alignment(text: str, dwords: int) -> None:
    made = assembler(7).assemble(text, is_raw=True)
    assert len(made) == 4 * dwords
    assert set(struct.unpack(f"<{dwords}I", made)) == {0x01000000}


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("nop nop", "nop\nnop"),
        ("mov $01,\n\t0x2 ; a comment\n<< 3", "mov $01, 0x2 << 3"),
        ("a: b: nop jump #a nop", "a:\nb:\nnop\njump #a\nnop"),
        ("(rep)\n(sds2) cwrite $data,[$00+@DRAW_STATE_SET_HDR]", None),
        ("[01000001][01000002]", "[01000001]\n[01000002]"),
        ("cwrite $01, [ $00 + @MEM_READ_ADDR + 1 ] !", "cwrite $01, [$00 + 0x1d]!"),
        ("[#a] a: nop", "[#a]\na:\nnop"),
        ("a: nop preemptleave #a", "a:\nnop\nbl #a"),
    ],
)
def test_lines_mean_nothing(text: str, same: str | None) -> None:
    wanted = same or "(rep)(sds2)cwrite $data, [$00 + @DRAW_STATE_SET_HDR]"
    assert assembler(7).assemble(text, is_raw=True) == assembler(7).assemble(wanted, is_raw=True)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("nop\nmov $01, 010", 2),
        ("nop\n\nmov $01,\n", 3),
        ("nop\n.align", 2),
        ("nop\n.align 6", 2),
        ("nop\n.section", 2),
        ("nop\n.jumptbl\n.jumptbl", 3),
        ("nop\n(rep)\n", 2),
        ("a:\nnop\na:\nnop", 3),
        ("nop\nb3:\nnop", 2),
        ('nop\nmov $01, "2"', 2),
        ("nop\nsetsecure $02, #a\nnop\na:\nnop", 2),  # it skips two instructions
        ("nop\n(xmov1)add $01, $02, 0x3", 2),
        ("nop\nadd $01 $02 $03", 2),
    ],
)
def test_errors_name_file_and_line(text: str, line: int) -> None:
    with pytest.raises(IsaError) as caught:
        assembler(7).assemble(text, is_raw=True, name="a.asm")
    assert (caught.value.file, caught.value.line) == ("a.asm", line)
    assert str(caught.value).startswith(f"a.asm:{line}: ")


def test_command_names_file_and_line(run_cffpy, tmp_path: Path) -> None:
    path = tmp_path / "a.asm"
    path.write_text("; a6xx microcode\nnop\nCP_NOTHING:\nnop\n")
    result = run_cffpy("afuc", "asm", str(path), "-o", str(tmp_path / "a.fw"))
    assert result.returncode == 1
    assert f"{path}:3: label CP_NOTHING: no packet of this name".encode() in result.stderr
    assert not (tmp_path / "a.fw").exists()


def test_the_first_dword_names_the_gpu() -> None:
    """As in Mesa's assembler; a heading and --gpu say it, too. a750 has other control registers."""
    body = "[{}]\n[#jumptbl]\ncwrite $01, [$00 + @{}]\njumptbl:\n.jumptbl\n"
    a6xx = body.format("016ee001", "REG_READ_ADDR")
    assert cffpy.assemble_microcode(f"; of [01730001]\n{a6xx}") == cffpy.assemble_microcode(
        f"; a6xx microcode\n{a6xx}"
    )
    a750 = body.format("01520001", "REG_READ_ADDR")
    made = cffpy.assemble_microcode(a750)
    assert made != cffpy.assemble_microcode(a750, "730")
    found = cffpy.disassemble_microcode(made)
    assert found.sections[0].instructions[2].text == "cwrite $01, [$00 + @REG_READ_ADDR]"
    assert cffpy.assemble_microcode(found.text) == made
    with pytest.raises(UsageError):
        cffpy.assemble_microcode("; of [016ee001]\nnop\n")


@pytest.mark.parametrize("generation", first_always([5, 6, 7]))
@given(data=st.binary(max_size=1200))
def test_any_file_comes_back(generation: int, data: bytes) -> None:
    """Any dwords become text, and the text the same bytes."""
    whole = bytes(4) + data[: len(data) // 4 * 4]
    if len(whole) < 12:
        return
    found = cffpy.disassemble_microcode(whole, f"a{generation}xx")
    assert cffpy.assemble_microcode(found.text) == whole
    raw = cffpy.disassemble_microcode(whole, f"a{generation}xx", is_raw=True)
    assert cffpy.assemble_microcode(raw.text, is_raw=True) == whole


def test_a_table_that_does_not_fit_is_none() -> None:
    words = [0, 0x01730001, 0x01000004, 0xD8000000, 0x70010830, *[5] * TABLE_ENTRIES]
    found = cffpy.disassemble_microcode(struct.pack(f"<{len(words)}I", *words))
    assert not found.sections[0].table
    assert len(found.sections[0].instructions) == len(words) - 1


def test_which_gpu() -> None:
    data = struct.pack("<4I", 0, 0x00000001, 0, 0)
    with pytest.raises(UsageError):
        cffpy.disassemble_microcode(data)
    assert cffpy.disassemble_microcode(data, name="fw/a530_pm4.fw").generation == 5
    assert cffpy.disassemble_microcode(data, "a7xx").generation == 7
    with pytest.raises(IsaError):
        cffpy.disassemble_microcode(data, "a4xx")
    with pytest.raises(IsaError):
        cffpy.disassemble_microcode(b"\1" * 40, "a6xx")
    with pytest.raises(UsageError):
        cffpy.assemble_microcode("nop\n")


def test_control_registers_of_a750() -> None:
    words = struct.pack("<I", 0xA8010000 | 0x10)
    texts = {
        cffpy.disassemble_microcode(words, gpu, is_raw=True).sections[0].instructions[0].text
        for gpu in ("730", "750")
    }
    assert len(texts) == 2


# -- crash dumps -----------------------------------------------------------------------------------


def test_microcode_of_a_recorded_dump() -> None:
    """The SQE's instruction cache and packet table of a real dump."""
    path = FOLDER / "crash.devcore.gz"
    if not path.exists():
        pytest.skip("no recorded dumps (CFFPY_SHARED)")
    dump = read_crash_dump(gzip.decompress(path.read_bytes()))
    block = next(one for one in dump.indexed if one.name == "CP_UCODE_DBG_DATA")
    assert block.block is not None
    cache_words = block.block.contents()[: 4 * 0x400]
    found = cffpy.disassemble_microcode(cache_words, "a630", is_raw=True)
    instructions = found.sections[0].instructions
    assert [one.text for one in instructions[:4]] == [
        "waitin",
        "mov $01, $data",
        "mov $04, $data",
        "and $03, $04, 0x3f",
    ]
    assert sum(one.is_data for one in instructions) < 40
    assert cffpy.assemble_microcode(found.text, is_raw=True) == cache_words
    context = CrashContext(dump)
    assert len(packet_table(context)) == TABLE_ENTRIES
    (state,) = sqe_states(context)
    assert state.handler == (0xC3, ())


# -- the importer ----------------------------------------------------------------------------------

_XML = """<?xml version="1.0" encoding="UTF-8"?>
<isa>
<bitset name="#instruction" size="32"/>
<bitset name="cread" extends="#instruction">
  <display>{NAME} [{CONTROLREG}]</display>
  <gen min="6"/>
  <field name="CONTROLREG" low="0" high="11" type="custom"/>
  <pattern low="12" high="30">0000000000000000000</pattern>
  <pattern pos="31">1</pattern>
</bitset>
<bitset name="nop" extends="#instruction">
  <display>nop</display>
  <gen max="5"/>
  <pattern low="0" high="31">00000000000000000000000000000000</pattern>
</bitset>
</isa>
"""


@pytest.mark.parametrize("name", ["afuc.xml", "qrisc.xml"])
def test_importer(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(_XML)
    text = import_files([str(tmp_path / name)])["afuc.isa"]
    assert (
        'bitset cread extends "#instruction" gen 600.. {\n    display "{NAME} [@0x{CONTROLREG}]"'
        in text
    )
    assert "0..11 CONTROLREG : hex" in text
    assert 'bitset nop extends "#instruction" gen ..599 {' in text
