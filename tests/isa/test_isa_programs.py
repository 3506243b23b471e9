# SPDX-License-Identifier: MIT
"""Whole listings: recorded ones, and the rules of the listing one by one."""

from __future__ import annotations

import random
import struct
import time

import pytest

from cffpy.isa.a2xx import A2xxDisassembler
from cffpy.isa.encode import Assembler, assemble_program, from_hex
from cffpy.isa.ir3 import Ir3Disassembler
from tests.isa.harvest import VECTORS, listings, old_programs
from tests.selection import first_always

PROGRAMS = sorted((VECTORS / "ir3" / "programs").glob("*.txt"))
OLD_PROGRAMS = sorted((VECTORS / "a2xx").glob("*.txt"))

NOP = 0
END = 0x0300000000000000
CHSH = 0x0500000000000000
JUMP = 0x0100000000000000
CALL = 0x0180000000000000
MOV = 0x200CC00000000001  # mov.u32u32 r0.x, r0.y
BARY = 0x4730000200002000
BAD = 0x0000000100000000  # a nop with a bit that nothing explains


def pack(*words):
    return struct.pack(f"<{len(words)}Q", *words)


def lines(*words, generation=6, level=0):
    return Ir3Disassembler(generation).disassemble(pack(*words), level).split("\n")[:-1]


def text_of(line):
    return line.partition("] ")[2]


@pytest.mark.parametrize("path", first_always(PROGRAMS, 13), ids=lambda path: path.stem)
def test_recorded_listing(path):
    text = path.read_text()
    level = len(text) - len(text.lstrip("\t"))
    generation = int(path.stem[1])
    assert Ir3Disassembler(generation).disassemble(from_hex(text), level) == text


@pytest.mark.parametrize("path", first_always(PROGRAMS), ids=lambda path: path.stem)
def test_listing_assembles_to_its_words(path):
    text = path.read_text()
    generation = int(path.stem[1])
    words = assemble_program(text, Assembler(generation), Ir3Disassembler(generation))
    assert pack(*words) == from_hex(text)


@pytest.mark.parametrize("path", OLD_PROGRAMS, ids=lambda path: path.stem)
def test_recorded_a2xx_listing(path):
    head, _, text = path.read_text().partition("\n")
    kind, level, data = head.split()
    found = A2xxDisassembler().disassemble(bytes.fromhex(data), int(level), kind == "fragment")
    assert found == text


@pytest.mark.slow
def test_every_recorded_listing(shared):
    disassemblers = {generation: Ir3Disassembler(generation) for generation in range(3, 8)}
    count = 0
    for listing in listings(shared):
        found = disassemblers[listing.generation].disassemble(listing.data, listing.level)
        assert found == listing.text, listing.source
        count += 1
    a2xx = A2xxDisassembler()
    for program in old_programs(shared):
        assert a2xx.disassemble(program.data, program.level, program.fragment) == program.text
        count += 1
    assert count > 1000


def test_no_instruction_at_all():
    assert lines() == [
        "Stats:",
        "- shaderdb: 0 instr, 0 nops, 0 non-nops, 0 mov, 0 cov",
        "- shaderdb: 0 last-baryf, 0 half, 0 full, 0 constlen",
        "- shaderdb: " + ", ".join(f"0 cat{n}" for n in range(8)),
        "- shaderdb: 0 sstall, 0 (ss), 0 (sy)",
    ]


def test_a_tail_of_less_than_an_instruction_is_ignored():
    whole = Ir3Disassembler(6).disassemble(pack(END), 2)
    assert Ir3Disassembler(6).disassemble(pack(END) + b"\1\2\3\4\5\6\7", 2) == whole


def test_end_and_four_nops_stop_the_listing():
    assert len(lines(END, NOP, NOP, NOP, NOP, NOP, NOP)) == 5 + 5


def test_nops_before_the_end_do_not_count():
    assert len(lines(NOP, NOP, NOP, END, NOP, NOP, NOP, NOP, NOP)) == 3 + 5 + 5


def test_another_instruction_starts_the_count_over():
    assert len(lines(END, NOP, NOP, NOP, BARY, NOP, NOP, NOP, NOP, NOP)) == 9 + 5


def test_a_mov_shows_no_name_and_so_does_not():
    assert len(lines(END, NOP, NOP, NOP, MOV, NOP, NOP)) == 6 + 5


def test_chsh_stops_at_once():
    assert len(lines(CHSH, NOP, NOP)) == 1 + 5


def test_six_bad_instructions_in_a_row_stop_the_listing():
    assert len(lines(*[BAD] * 9)) == 6 + 5
    assert len(lines(*[BAD] * 5, NOP, *[BAD] * 9)) == 5 + 1 + 6 + 5


def test_errors_stand_behind_the_text():
    assert text_of(lines(BAD)[0]) == "nop\t; dontcare bits in nop: 0000000100000000"


@pytest.mark.parametrize(("opcode", "name"), [(1, "ldl"), (2, "ldp"), (10, "ldlw")])
def test_a_conflict_is_reported_at_the_next_match(opcode, name):
    both = 6 << 61 | opcode << 54 | 2 << 52 | 1 << 23 | 6 << 20 | 6 << 14 | 1
    shown = lines(both, NOP, NOP)
    assert text_of(shown[0]) == f"no match: {both:016x}"
    assert text_of(shown[1]) == f"nop\t; bitset conflict: {name} vs ldib.b"
    assert text_of(shown[2]) == "nop"
    assert "no match" not in lines(both, generation=5)[0]


def test_labels_come_from_all_data_even_behind_the_end():
    shown = lines(NOP, END, NOP, NOP, NOP, NOP, JUMP | 0xFFFFFFFA)
    assert [text_of(line) for line in shown[:3]] == ["l0:", "nop", "end"]
    assert "jump" not in "".join(shown)


@pytest.mark.slow
def test_labels_of_programs_that_share_buffers():
    """Results of a search for one program are reused for others, in any order."""
    rng = random.Random(7)
    words = [
        NOP,
        NOP,
        END,
        MOV,
        BAD,
        CALL | 2,
        *(JUMP | (offset & 0xFFFFFFFF) for offset in (-3, 1, 4)),
    ]
    buffers = [[rng.choice(words) for _ in range(40)] for _ in range(5)]
    buffers += [[NOP] * 10, [*buffers[0], *buffers[1]], []]
    disassembler = Ir3Disassembler(6)
    for _ in range(200):
        buffer = rng.choice(buffers)
        data = pack(*buffer[rng.randint(0, len(buffer)) :])
        assert disassembler.disassemble(data, 0) == Ir3Disassembler(6).disassemble(data, 0)


def test_a_target_outside_shows_its_offset():
    assert text_of(lines(JUMP | 0xFFFFFFFF)[0]) == "jump #-1"
    assert text_of(lines(JUMP | 1)[0]) == "jump #1"
    assert [text_of(line) for line in lines(JUMP | 1, NOP)[:3]] == ["jump #l1", "l1:", "nop"]


def test_level_is_tabs_up_to_nine():
    assert lines(NOP, level=9)[0].startswith("\t" * 9 + ":0:")
    assert lines(NOP, level=10)[0].startswith("x:0:")


def test_columns_widen_and_count_repeats():
    shown = lines(NOP | 5 << 40, NOP, generation=7)
    assert shown[0].startswith(":0:0000:0000[00000500x_00000000x] (rpt5)nop")
    assert shown[1].startswith(":0:0001:0006[")
    many = lines(*[0x4010000000000000] * 10001)
    assert many[10000].startswith(":2:10000:10000[")


def test_an_operand_left_open_counts_for_the_next():
    # (r) of an immediate has no register to repeat; the next instruction's register gets it
    immediate = 0x4010090028010000 | 1 << 51  # (rpt1)add.f r0.x, (r)r0.x, (r)(0.5)
    first, second = lines(immediate, generation=6), lines(immediate, 0x4010000000000000)
    assert "(r)(0.5)" in first[0]
    assert first[-3] == second[-3]


EDITION = """
    bitset "#instruction" size 64 { display "{NAME} #{TARGET}" }
    bitset "call" extends "#instruction" {
        0..31 TARGET : branch call
        pattern 32..63 00000000000000000000000000000001
    }
    bitset jump extends "#instruction" {
        0..31 TARGET : absbranch
        pattern 32..63 00000000000000000000000000000010
    }
    bitset nop extends "#instruction" {
        display "{REPEAT}{NAME}{REPEAT:align=12}"
        0..31 REPEAT : uoffset
        pattern 32..63 00000000000000000000000000000000
    }
"""


def test_another_edition_with_calls_absolute_targets_and_columns(tmp_path):
    (tmp_path / "isa").mkdir()
    (tmp_path / "isa" / "ir3.isa").write_text(EDITION)
    disassembler = Ir3Disassembler(6, str(tmp_path))
    shown = disassembler.disassemble(pack(2 << 32 | 2, 1 << 32 | 1, 7, 1 << 32 | 9), 0)
    texts = [text_of(line) for line in shown.split("\n")[:7]]
    assert texts == ["jump #l2", "call #fxn2", "", "fxn2:", "l2:", "+7nop       +7", "call #9"]
    # a label with a column is padding, and the statistics ignore it: 7 cycles, not 14
    assert shown.split("\n")[6].startswith(":0:0003:0010[")


def test_call_target_at_the_start_has_no_empty_line(tmp_path):
    (tmp_path / "isa").mkdir()
    (tmp_path / "isa" / "ir3.isa").write_text(EDITION)
    shown = Ir3Disassembler(6, str(tmp_path)).disassemble(pack(1 << 32), 1).split("\n")
    assert [text_of(line) for line in shown[:2]] == ["fxn0:", "call #fxn0"]


@pytest.mark.parametrize("generation", range(3, 9))
def test_noise_neither_crashes_nor_hangs(generation):
    noise = random.Random(generation).randbytes(1 << 16)
    text = Ir3Disassembler(generation).disassemble(noise, 3)
    assert text.endswith("(sy)\n")


@pytest.mark.perf
@pytest.mark.parametrize("generation", range(3, 9))
def test_a_megabyte_of_noise_takes_no_longer_than_it_is_long(generation):
    noise = random.Random(generation).randbytes(1 << 20)
    disassembler = Ir3Disassembler(generation)
    start = time.perf_counter()
    disassembler.disassemble(noise, 3)
    taken = time.perf_counter() - start
    start = time.perf_counter()
    for _ in range(10):
        sum(struct.unpack("<131072Q", noise))
    assert taken < 200 * (time.perf_counter() - start)


@pytest.mark.perf
def test_valid_noise_of_a_megabyte_is_linear():
    """Distinct words that all match: the worst case, about 40 times the cost of a small one."""
    generator = random.Random(1)

    def program(count):
        return pack(
            *(0x4010000000000000 | generator.getrandbits(8) << 32 | n << 0 for n in range(count))
        )

    def seconds(data):
        disassembler = Ir3Disassembler(6)
        start = time.perf_counter()
        disassembler.disassemble(data, 1)
        return time.perf_counter() - start

    small, large = program(1 << 12), program(1 << 17)
    seconds(small)
    assert seconds(large) < 32 * 5 * seconds(small)


@pytest.mark.slow
@pytest.mark.parametrize("fragment", [False, True])
def test_a2xx_noise(fragment):
    disassembler = A2xxDisassembler()
    for seed in range(200):
        text = disassembler.disassemble(random.Random(seed).randbytes(seed * 16), 3, fragment)
        assert text == "" or text.endswith("\n")


def test_a2xx_program_without_exec_prints_nothing():
    assert A2xxDisassembler().disassemble(bytes(96), 3, False) == ""
