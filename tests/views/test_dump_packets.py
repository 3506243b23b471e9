# SPDX-License-Identifier: MIT
"""Text of packets and registers: each printed form in a separate stream, byte for byte."""

from __future__ import annotations

import pytest

HEX = b"0000000000100000:"  # the address of the stream, on 64-bit GPUs


# --- streams -------------------------------------------------------------------------------------


def test_everything_around_a_submit(pm4, make_capture, dump_captures) -> None:
    rule = b"#" * 60 + b"\n"
    assert dump_captures(make_capture(630, pm4.type7(0x10))) == (
        b"gpu_id: 630\n" + rule + b"cmdstream[0]: 1 dwords\n"
        b"\t\topcode: CP_NOP (10) (1 dwords)\n" + HEX + b"\t\t0000: 70108000\n" + rule +
        b"vertices: 0\n"
    )  # fmt: skip


def test_type4(pm4, shown) -> None:
    assert shown(630, pm4.type4(0x8871, 1)) == (
        b"\t\twrite RB_DEPTH_CNTL (8871)\n"
        b"\t\t\tRB_DEPTH_CNTL: { Z_TEST_ENABLE | ZFUNC = FUNC_NEVER }\n" + HEX +
        b"\t\t0000: 48887101 00000001\n"
    )  # fmt: skip


def test_type4_of_no_registers(pm4, shown) -> None:
    assert shown(630, pm4.type4(0x8871)) == (
        b"\t\twrite RB_DEPTH_CNTL (8871)\n" + HEX + b"\t\t0000: 48887180\n"
    )


def test_type0_is_taken_on_every_generation(shown) -> None:
    assert shown(630, [0, 5]) == (
        b"\t\twrite 0 (0000)\n\t\t\t0: 00000005\n" + HEX + b"\t\t0000: 00000000 00000005\n"
    )


def test_32_bit_addresses(pm4, shown) -> None:
    assert shown(220, pm4.type0(0x0E1E, 2)) == (
        b"\t\twrite TP0_CHICKEN (0e1e)\n\t\t\tTP0_CHICKEN: 0x2\n"
        b"00100000:\t\t0000: 00000e1e 00000002\n"
    )


def test_type7_is_taken_on_old_generations(pm4, shown) -> None:
    assert shown(320, pm4.type7(0x10)) == (
        b"\t\topcode: CP_NOP (10) (1 dwords)\n00100000:\t\t0000: 70108000\n"
    )


def test_type2(shown) -> None:
    assert shown(630, [0x80000000]) == b"\t\tnop\n"
    assert shown(630, [0x80000000], summary=True) == b""


def test_an_opcode_without_a_name(pm4, shown) -> None:
    assert shown(630, pm4.type7(0x7C, 7)) == (
        b"\t\topcode: (null) (7c) (2 dwords)\n" + HEX + b"\t\t0000: 707c0001 00000007\n"
    )


def test_a_bad_header_resyncs_at_the_next_type4_or_type7(pm4, shown) -> None:
    assert shown(630, [0xFFFFFFFF, 0xC0001000, *pm4.type7(0x10)], summary=True) == (
        b"bad type! ffffffff\n"
        b"\t\topcode: CP_NOP (10) (1 dwords)\n0000000000100008:\t\t0000: 70108000\n"
    )


def test_a_bad_header_without_a_next_packet_ends_the_stream(shown) -> None:
    assert shown(630, [0xFFFFFFFF, 1, 2]) == b"bad type! ffffffff\n"


def test_a_bad_header_ends_the_stream_before_a5xx(pm4, shown) -> None:
    assert shown(320, [0x50000000, *pm4.type3(0x10, 0)]) == b"bad type! 50000000\n"


@pytest.mark.parametrize("options", [{"query": ("0x1",)}, {"draw": 5}])
def test_bad_headers_are_always_told(make_capture, dump_captures, options) -> None:
    text = dump_captures(make_capture(630, [0xFFFFFFFF]), **options)
    assert text.replace(b"querystr: 0x1 -> 0x1\n", b"") == b"bad type! ffffffff\n"


def test_a_packet_behind_the_stream_s_end(pm4, shown) -> None:
    assert shown(630, pm4.type7(0x10, 1, 2), dwords=1) == (
        b"\t\topcode: CP_NOP (10) (3 dwords)\n" + HEX + b"\t\t0000: 70100002 00000001 00000002\n"
        b"**** this ain't right!! dwords_left=-2\n"
    )


def test_a_stream_ends_with_its_buffer(pm4, shown) -> None:
    assert shown(630, pm4.type7(0x10), dwords=9) == (
        b"\t\topcode: CP_NOP (10) (1 dwords)\n" + HEX + b"\t\t0000: 70108000\n"
    )


def test_a_stream_in_no_buffer(pm4, make_capture, dump_captures) -> None:
    from cffpy.container.writer import capture_bytes, command_stream_section, gpu_id_section

    data = capture_bytes([gpu_id_section(630), command_stream_section(0x500000, 4)])
    assert b"cmdstream[0]: 4 dwords\nNULL cmd buffer!\n####" in dump_captures(data)


@pytest.mark.parametrize(
    ("gpu", "lines"),
    [
        (630, b"\t\tibaddr:0000000000200000\n\t\tibsize:00000001\n"),
        (430, b"\t\tibaddr:00200000\n\t\tibsize:00000001\n"),
    ],
)
def test_indirect_buffers_are_one_level_deeper(pm4, shown, gpu: int, lines: bytes) -> None:
    if gpu == 630:
        commands, inner = pm4.type7(0x3F, 0x200000, 0, 1), pm4.type7(0x10)
    else:
        commands, inner = pm4.type3(0x3F, 0x200000, 1), pm4.type7(0x10)
    text = shown(gpu, commands, {0x200000: inner})
    digits = 16 if gpu == 630 else 8
    nop = f"\t\t\topcode: CP_NOP (10) (1 dwords)\n{0x200000:0{digits}x}:\t\t\t0000: 70108000\n"
    assert lines + nop.encode() in text
    once = shown(gpu, commands + commands, {0x200000: inner}, once=True)
    assert once.count(b"CP_NOP") == 1
    assert once.count(b"ibaddr:") == 2
    assert shown(gpu, commands + commands, {0x200000: inner}).count(b"CP_NOP") == 2


def test_start_bin(pm4, shown) -> None:
    block = pm4.type7(0x10, 0)
    text = shown(630, pm4.type7(0x50, 2, 0x200000, 0, 2, 0), {0x200000: block + block})
    assert (
        b"\t\tbin 0\n"
        b"\t\t\topcode: CP_NOP (10) (2 dwords)\n0000000000200000:\t\t\t0000: 70100001 00000000\n"
        b"\t\tbin 1\n"
        b"\t\t\topcode: CP_NOP (10) (2 dwords)\n0000000000200008:\t\t\t0000: 70100001 00000000\n"
    ) in text


def test_fixed_stride_draw_table(pm4, shown) -> None:
    block = pm4.type7(0x10)
    packet = pm4.type7(0x7F, 0x200000, 0, 1 << 20, 2)
    text = shown(740, packet, {0x200000: block + block})
    assert b"\t\tdraw 0\n\t\t\topcode: CP_NOP" in text
    assert b"\t\tdraw 1\n\t\t\topcode: CP_NOP" in text
    assert b"draw 0\n" not in shown(740, packet, {0x200000: block + block}, summary=True)


# --- registers -----------------------------------------------------------------------------------


def test_64_bit_registers_are_one_line_and_tell_their_buffer(pm4, shown) -> None:
    assert shown(630, pm4.type4(0x8825, 0x200010, 0), {0x200000: [0] * 8}) == (
        b"\t\twrite RB_MRT[0].BASE (8825)\n"
        b"\t\t\tRB_MRT[0].BASE: 0x200010\t\tbase=200000, offset=16, size=32\n" + HEX +
        b"\t\t0000: 40882502 00200010 00000000\n"
    )  # fmt: skip


def test_a_lone_low_half_prints_nothing(pm4, shown) -> None:
    assert shown(630, pm4.type4(0x8825, 0x200010)) == (
        b"\t\twrite RB_MRT[0].BASE (8825)\n" + HEX + b"\t\t0000: 40882501 00200010\n"
    )


def test_a_lone_high_half(pm4, shown) -> None:
    assert shown(630, pm4.type4(0x8826, 1)) == (
        b"\t\twrite RB_MRT[0].BASE_HI (8826)\n"
        b"WARNING: 64b discontinuity (no _LO dword for 8826)\n"
        b"\t\t\tRB_MRT[0].BASE_HI: 0x1\n" + HEX + b"\t\t0000: 40882601 00000001\n"
    )


def test_a_low_half_followed_by_another_register_loses_that_one(pm4, shown) -> None:
    bunch = pm4.type7(0x5C, 0x8825, 0x10, 0x8871, 1, 0x8114, 1)
    text = shown(630, bunch)
    assert (
        b"WARNING: 64b discontinuity (8871, expected 8826)\n\t\t\tRB_MRT[0].BASE: 0x10\n"
        b"\t\t\tGRAS_SU_DEPTH_CNTL: { Z_TEST_ENABLE }\n"
    ) in text
    assert b"RB_DEPTH_CNTL: {" not in text


def test_register_bunches_are_shown_in_summaries_too(
    pm4, shown, make_capture, dump_captures
) -> None:
    bunch = pm4.type7(0x5C, 0x8871, 1)
    for summary in (False, True):
        text = shown(630, bunch, summary=summary)
        assert b"\t\t\tRB_DEPTH_CNTL: { Z_TEST_ENABLE | ZFUNC = FUNC_NEVER }\n" in text
    assert dump_captures(make_capture(630, bunch), query=("1",)) == b"querystr: 1 -> 0x1\n"


def test_the_second_kind_of_bunch_drops_two_dwords(pm4, shown) -> None:
    text = shown(740, pm4.type7(0x5D, 0x8871, 1, 0x8114, 1))
    assert b"RB_DEPTH_CNTL: {" not in text
    assert b"\t\t\tGRAS_SU_DEPTH_CNTL: { Z_TEST_ENABLE }\n" in text


def test_unknown_registers_and_holes(pm4, shown) -> None:
    assert b"\t\twrite 0x7ffe0 (7ffe0)\n\t\t\t0x7ffe0: 00000003\n" in shown(
        630, pm4.type4(0x7FFE0, 3)
    )


def test_halves_of_a5xx_addresses_use_what_was_written_last(pm4, shown) -> None:
    commands = pm4.type4(0xE155, 0x200010, 0) + pm4.type4(0xE155, 8, 1)
    text = shown(540, commands, {0x200000: [0] * 8, 0x1_0000_0000: [0] * 4})
    assert [line.strip(b"\t") for line in text.split(b"\n") if b"RB_MRT[0].BASE_" in line] == [
        b"write RB_MRT[0].BASE_LO (e155)",
        b"RB_MRT[0].BASE_LO: 0x200010\t\tbase=200000, offset=16, size=32",
        b"RB_MRT[0].BASE_HI: 0\t\tbase=200000, offset=16, size=32",
        b"write RB_MRT[0].BASE_LO (e155)",
        b"RB_MRT[0].BASE_LO: 0x8",
        b"RB_MRT[0].BASE_HI: 0x1\t\tbase=100000000, offset=8, size=16",
    ]


def test_read_modify_write(pm4, shown) -> None:
    commands = pm4.type4(0x8871, 0xFF) + pm4.type7(0x21, 0x8871, 0x0F, 0x100)
    assert b"\t\trmw (RB_DEPTH_CNTL & 0x0000000f) | 0x00000100)\n" in shown(630, commands)
    assert b"rmw" not in shown(630, commands, summary=True)


def test_writes_after_a_draw_need_a_wait(pm4, shown) -> None:
    draw = pm4.type3(0x22, 0, 4 | 2 << 6, 3)
    write = pm4.type0(0x0E1E, 2) + pm4.type0(0x2000, 1)
    rmw = pm4.type3(0x21, 0x0E1E, 1, 2)
    wait = pm4.type3(0x26, 0)
    text = shown(220, draw + write + rmw + wait + write + rmw)
    assert text.count(b"NEEDS WFI: TP0_CHICKEN (e1e)\n") == 1
    assert text.count(b"\nNEEDS WFI: rmw (TP0_CHICKEN & 0x00000001) | 0x00000002)\n") == 1
    assert b"(2000)\nNEEDS" not in text


def test_a_missing_wait_is_told_before_each_register(
    pm4, shown, make_capture, dump_captures
) -> None:
    draw = pm4.type3(0x22, 0, 4 | 2 << 6, 3)
    write = pm4.type0(0x057D, 7, 8)
    first, second = b"NEEDS WFI: CP_SCRATCH_REG5 (57d)\n", b"NEEDS WFI: CP_SCRATCH_REG6 (57e)\n"
    for commands in (write, write + write):  # seen for the first time, and again
        text = shown(320, draw + commands)
        head = b"\t\twrite CP_SCRATCH_REG5 (057d)\n"
        assert text.count(head + first) == len(commands) / len(write)
        assert text.count(second + b"\t\t\tCP_SCRATCH_REG6: 8\n\t\t\t:") == text.count(head)
        assert shown(320, draw + commands, summary=True).count(first + second) == text.count(head)
    one = pm4.type0(0x057D, 7)
    text = shown(320, draw + one + one)
    assert text.count(head + first + b"\t\t\tCP_SCRATCH_REG5: 7\n\t\t\t:0,7,0,0\n") == 2
    asked = make_capture(320, draw + one + one)
    assert b"NEEDS" not in dump_captures(asked, query=("CP_SCRATCH_REG5",))


def test_scratch_registers(pm4, shown) -> None:
    text = shown(320, pm4.type0(0x057C, 7, 8, 9, 10))
    assert b"CP_SCRATCH_REG4: 7\n\t\t\t:7,0,0,0\n" in text
    assert b"CP_SCRATCH_REG7: 10\n\t\t\t:7,8,9,10\n" in text


# --- packets with their own text --------------------------------------------------------------


def text_dwords(text: bytes) -> list[int]:
    padded = text.ljust((len(text) + 4) // 4 * 4, b"\0")
    return [int.from_bytes(padded[at : at + 4], "little") for at in range(0, len(padded), 4)]


def test_markers(pm4, shown) -> None:
    begin, message, end = 0x4245474E, 0x4D455347, 0x454E4400
    commands = [
        *pm4.type7(0x10, begin, *text_dwords(b"outer")),
        *pm4.type7(0x10, begin, *text_dwords(b"in\xffner")),
        *pm4.type7(0x10, message, *text_dwords(b"hello")),
        *pm4.type7(0x10, end, *text_dwords(b"inner")),
        *pm4.type7(0x10, end),
    ]
    text = shown(630, commands)
    markers = [line for line in text.split(b"\n") if line[:1] in b"#<>" and line]
    assert markers[:4] == [b">>> #1: outer", b">>> #2: inner", b"### hello", b"<<< #2: inner"]
    assert b"<<< #1: 0000000000100" in text, "no text, no newline"
    assert b"###" not in shown(630, commands, summary=True)


def test_a_nop_without_payload_looks_at_what_follows(pm4, shown) -> None:
    text = shown(630, [*pm4.type7(0x10), 0x4D455347])
    assert text.startswith(b"\t\topcode: CP_NOP (10) (1 dwords)\n### 0000000000100000:\t\t0000:")


def test_memory_write_of_data(pm4, shown) -> None:
    text = shown(630, pm4.type7(0x3D, 0x200000, 1, 5, 6))
    assert b"\t\tgpuaddr:0000000100200000\n000000000010000c:\t\t\t0000: 00000005 00000006\n" in text


def test_memory_write_of_commands_runs_them(pm4, shown) -> None:
    inner = pm4.type4(0x8871, 1)
    text = shown(630, pm4.type7(0x3D, 0x200000, 0, *inner))
    assert (
        b"\t\tgpuaddr:0000000000200000\n"
        b"000000000010000c:\t\t\t0000: 48887101 00000001\n"
        b"\t\t\t\twrite RB_DEPTH_CNTL (8871)\n"
        b"\t\t\t\t\tRB_DEPTH_CNTL: { Z_TEST_ENABLE | ZFUNC = FUNC_NEVER }\n"
        b"000000000010000c:\t\t\t\t0000: 48887101 00000001\n"
    ) in text


def test_memory_write_before_a5xx_is_floats(pm4, shown) -> None:
    text = shown(320, pm4.type3(0x3D, 0x200000, 0x3F800000, 0xFFC00000))
    assert b"\t\tgpuaddr:00200000\n00100008:\t\t\t1.000000     -nan\n" in text


def test_register_to_memory(pm4, shown) -> None:
    packet = pm4.type7(0x3E, 0x8871 | 2 << 19, 0x200000, 0)
    assert (
        b"\t\tbase register: RB_DEPTH_CNTL\n\t\tgpuaddr:0000000000200000\n"
        b"0000000000200000:\t\t\t0000: 00000007 00000008\n"
    ) in shown(630, packet, {0x200000: [7, 8, 9]})


def test_register_to_memory_reads_64_bits_everywhere(pm4, shown) -> None:
    text = shown(320, [*pm4.type3(0x3E, 0x0E00, 0x200000), 0x80000000])
    assert b"\t\tgpuaddr:8000000000200000\n" in text


def test_event(pm4, shown) -> None:
    assert b"\t\tevent CACHE_FLUSH_TS\n" in shown(630, pm4.type7(0x46, 4, 0, 0, 0))
    assert b"\t\tevent (null)\n" in shown(630, pm4.type7(0x46, 0xFE))


def test_packet_fields(pm4, shown) -> None:
    wide, bits = 0x1_0020_0000, 5 | 1 << 4
    text = shown(630, pm4.type7(0x46, bits, wide & 0xFFFFFFFF, wide >> 32, 7))
    assert text.startswith(
        b"\t\topcode: CP_EVENT_WRITE (46) (5 dwords)\n"
        b"\t\t\t{ EVENT = ZPASS_DONE }\n"
        b"\t\t\t{ ADDR_0_LO = 0x200000 }\n"
        b"\t\t\t{ ADDR_0_HI = 0x1 }\n"
        b"\t\t\t{ 3 = 0x7 }\n"
        b"\t\tevent ZPASS_DONE\n"
    )


# --- hex and floats ------------------------------------------------------------------------------


def rows(text: bytes) -> list[bytes]:
    return [line for line in text.split(b"\n") if line[:2] == b"00" or line == b"*"]


def test_rows_of_zeros_are_one_star_but_not_the_first(pm4, shown) -> None:
    values = [0] * 16 + [0] * 8 + [1] + [0] * 7 + [0] * 4
    text = shown(630, pm4.type7(0x3E, 0x8871 | len(values) << 19, 0x200000, 0), {0x200000: values})
    zero = b" 00000000"
    assert rows(text)[:4] == [
        b"0000000000200000:\t\t\t0000:" + zero * 8,
        b"*",
        b"0000000000200060:\t\t\t0060: 00000001" + zero * 7,
        b"*",
    ]


def test_rows_end_with_the_buffer(pm4, shown) -> None:
    text = shown(630, pm4.type7(0x3E, 0x8871 | 64 << 19, 0x200004, 0), {0x200000: [1, 2, 3]})
    assert rows(text)[0] == b"0000000000200004:\t\t\t0000: 00000002 00000003"


def test_an_unaligned_address(pm4, shown) -> None:
    text = shown(630, pm4.type7(0x3E, 0x8871 | 1 << 19, 0x200001, 0), {0x200000: bytes(range(9))})
    assert rows(text)[0] == b"0000000000200001:\t\t\t0000: 04030201"


# --- colour --------------------------------------------------------------------------------------


def test_colours(pm4, shown) -> None:
    text = shown(630, pm4.type4(0x8871, 0x80000001) + pm4.type7(0x10), color=True)
    assert text.startswith(
        b"\t\twrite \x1b[0;32mRB_DEPTH_CNTL\x1b[0m (8871)\n"
        b"\t\t\t\x1b[0;32mRB_DEPTH_CNTL\x1b[0m: { \x1b[0;36mZ_TEST_ENABLE\x1b[0m"
        b" | \x1b[0;32mZFUNC\x1b[0m = \x1b[0;35mFUNC_NEVER\x1b[0m"
    )
    assert b" | \x1b[0;1;31m0x80000000\x1b[0m }\n" in text
    assert b"\t\topcode: \x1b[0;1;35mCP_NOP\x1b[0m (10) (1 dwords)\n" in text
    assert b"[\x1b[0;33m0x1\x1b[0m]." in shown(630, pm4.type4(0x8828, 0), color=True)
