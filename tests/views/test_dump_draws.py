# SPDX-License-Identifier: MIT
"""Text of draws: parameters, register summaries, draw-state groups, queries, what survives."""

from __future__ import annotations

import re

import pytest

from cffpy.container.open import open_bytes
from cffpy.container.writer import (
    NewSection,
    buffer_sections,
    capture_bytes,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from cffpy.limits import Limits
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import DumpOptions

DRAW_32 = 0x22
DRAW_64 = 0x38
LESS = 1 | 1 << 2  # RB_DEPTH_CNTL: test, FUNC_LESS


def draw_64(pm4, indices: int = 3) -> list[int]:
    return pm4.type7(DRAW_64, 4 | 2 << 6, 1, indices)


def lines_with(text: bytes, part: bytes) -> list[bytes]:
    return [line for line in text.split(b"\n") if part in line]


# --- direct draws --------------------------------------------------------------------------------


def test_draw_indx_offset(pm4, shown) -> None:
    commands = pm4.type4(0x8871, LESS) + draw_64(pm4)
    assert shown(630, commands, summary=True) == (
        b"\t\topcode: CP_DRAW_INDX_OFFSET (38) (4 dwords)\n"
        b"\t\t\t{ PRIM_TYPE = DI_PT_TRILIST | SOURCE_SELECT = DI_SRC_SEL_AUTO_INDEX"
        b" | VIS_CULL = IGNORE_VISIBILITY | INDEX_SIZE = INDEX4_SIZE_8_BIT"
        b" | PATCH_TYPE = TESS_QUADS }\n"
        b"\t\t\t{ NUM_INSTANCES = 1 }\n"
        b"\t\t\t{ NUM_INDICES = 3 }\n"
        b"\t\tmode: (null)\n"
        b"\t\tskip_ib2: g=0, l=0\n"
        b"\t\tdraw[0] register values\n"
        b"!+\t00000005\t\tRB_DEPTH_CNTL: { Z_TEST_ENABLE | ZFUNC = FUNC_LESS }\n"
        b"0000000000100008:\t\t0000: 70388003 00000084 00000001 00000003\n"
    )


def test_a_draw_without_indices_has_no_summary_and_is_not_counted(pm4, shown) -> None:
    write = pm4.type4(0x8871, LESS)
    text = shown(630, write + draw_64(pm4, 0) + draw_64(pm4), summary=True)
    assert lines_with(text, b"register values") == [b"\t\tdraw[0] register values"]
    assert lines_with(text, b"RB_DEPTH_CNTL")[0].startswith(b"!+\t")


@pytest.mark.parametrize(
    ("size_bits", "contents", "size", "listed", "rows"),
    [
        (0, b"\x01\0\x02\0\x03\0\x04\0", 6, b" 1 2 3", b"00020001"),
        (1 << 11, b"\x01\0\0\0\xff\xff\xff\xff", 8, b" 1 4294967295", b"00000001 ffffffff"),
        (1 << 13, b"\x01\x02\x03\xff", 4, b" 1 2 3 255", b"ff030201"),
        (1 << 13 | 1 << 11, b"\x01\x02\x03\x04", 4, b"", b"04030201"),
    ],
)
def test_index_buffers(pm4, shown, size_bits, contents, size, listed, rows) -> None:
    packet = pm4.type3(DRAW_32, 0, 4 | size_bits, 3, 0x200000, size)
    assert (
        b"\t\tdraw:          0\n"
        b"\t\tprim_type:     DI_PT_TRILIST (4)\n"
        b"\t\tsource_select: DI_SRC_SEL_DMA (0)\n"
        b"\t\tnum_indices:   3\n"
        b"\t\tgpuaddr:       00200000\n"
        b"\t\tidx_size:      %d\n"
        b"\t\tidxs:         %s\n"
        b"00200000:\t\t\t0000: %s\n"
        b"\t\tdraw[0] register values\n" % (size, listed, rows)
    ) in shown(320, packet, {0x200000: contents})


def test_index_buffers_that_are_no_whole_dwords(pm4, shown) -> None:
    packet = pm4.type3(DRAW_32, 0, 4, 3, 0x200000, 6)
    assert b"\t\tidxs:          1 2 3\n" in shown(320, packet, {0x200000: b"\x01\0\x02\0\x03\0"})


def test_index_lists_end_with_their_buffer(pm4, shown) -> None:
    packet = pm4.type3(DRAW_32, 0, 4, 3, 0x200000, 600)
    assert b"\t\tidxs:          1 2\n0020" in shown(320, packet, {0x200000: b"\x01\0\x02\0"})


def test_indices_in_the_packet(pm4, shown) -> None:
    packet = pm4.type3(0x36, 0, 4 | 3 << 6, 3, 0x00020001, 0x3)
    text = shown(320, packet)
    assert b"\t\tidxs:          1 2 3\n00100010:\t\t\t0000: 00020001\n\t\tdraw[0]" in text


def test_draws_are_counted_in_each_stream(pm4, shown) -> None:
    draw = pm4.type3(DRAW_32, 0, 4 | 2 << 6, 3)
    text = shown(320, draw + pm4.type3(0x3F, 0x200000, len(draw)) + draw, {0x200000: draw})
    assert [line.strip() for line in lines_with(text, b"draw: ")] == [
        b"draw:          0",
        b"draw:          0",
        b"draw:          1",
    ]
    assert lines_with(text, b"register values")[2] == b"\t\tdraw[2] register values"


def test_a20x_reads_the_next_header_as_number_of_indices(pm4, shown) -> None:
    commands = pm4.type3(DRAW_32, 0, 4) + pm4.type3(0x10, 0)
    assert b"\t\tnum_indices:   -1073737728\n\t\tdraw[0] register values\n" in shown(201, commands)


# --- indirect draws, dispatches, blits -----------------------------------------------------------


def test_indirect_draw_shows_its_parameters(pm4, shown) -> None:
    text = shown(630, pm4.type7(0x28, 4, 0x200000, 0), {0x200000: [3, 1, 0, 0]})
    assert (
        b"\t\tskip_ib2: g=0, l=0\n"
        b"0000000000200000:\t\t\t0000: 00000003 00000001 00000000 00000000\n"
        b"\t\tdraw[0] register values\n"
    ) in text


@pytest.mark.parametrize(
    ("count", "expected"),
    [(2, 2), (9, 5), (0, 5), (0x10001, 5)],
)
def test_indirect_count_is_trusted_within_reason(pm4, shown, count: int, expected: int) -> None:
    packet = pm4.type7(0x2A, 4, 6, 5, 0x300000, 0, 0x200000, 0, 16)
    text = shown(630, packet, {0x200000: [count], 0x300000: [7] * 4})
    assert lines_with(text, b"indirect count")[0] == b"\t\tindirect count: %d" % count
    assert len(re.findall(rb"\t\tdraw \d+:\n", text)) == expected
    assert text.count(b"0000000000300000:\t\t\t0000: 00000007") == 1


def test_an_unknown_indirect_count_means_a_few(pm4, shown) -> None:
    text = shown(630, pm4.type7(0x2A, 4, 6, 0xFFFFFFFF, 0x300000, 0, 0x200000, 0, 16))
    assert b"indirect count" not in text
    assert len(re.findall(rb"\t\tdraw \d+:\n", text)) == 0x100


def test_any_number_of_indirect_draws(pm4, make_capture) -> None:
    packet = pm4.type7(0x2A, 4, 2, 0xFFFFFFFF, 0x300000, 0, 16)
    pieces: list[bytes] = []
    complaints: list[str] = []
    dump = Dump(DumpOptions(unit_test=True), pieces.append, complaints.append)
    dump.begin("")
    data = make_capture(630, packet, {0x300000: [7] * 4})
    dump.file(open_bytes(data, limits=Limits(elements=3)))
    assert len(re.findall(rb"\t\tdraw \d+:\n", b"".join(pieces))) == 3
    assert complaints == [
        "the packet at 0x100000 has 4294967295 indirect draws: 3 are shown "
        "(--limit elements=N or CFFPY_MAX_ELEMENTS sets the limit)"
    ]


@pytest.mark.parametrize(("gpu", "opcode"), [(630, 0x33), (540, 0x33), (430, 0x33)])
def test_dispatches_have_no_mode(pm4, shown, gpu: int, opcode: int) -> None:
    packet = pm4.type7(opcode, 0, 1, 1, 1)
    text = shown(gpu, packet)
    assert b"mode:" not in text
    assert b"\t\tdraw[0] register values\n" in text


def test_indirect_dispatch(pm4, shown) -> None:
    packet = pm4.type7(0x41, 0, 0x200000, 0, 0)
    for summary, line in ((False, b"\t\taddr: 0000000000200000\n"), (True, b"")):
        text = shown(630, packet, {0x200000: [1, 2, 3]}, summary=summary)
        assert line + b"0000000000200000:\t\t\t0000: 00000001 00000002 00000003\n" in text
        assert (b"addr: " in text) is not summary


def test_resolve_events_are_draws_on_a6xx_only(pm4, shown) -> None:
    packet = pm4.type7(0x46, 0x1E)
    assert (
        b"\t\tevent BLIT\n\t\tmode: (null)\n\t\tskip_ib2: g=0, l=0\n\t\tdraw[0] register values\n"
    ) in shown(630, packet)
    assert b"register values" not in shown(540, packet)


def test_modes_threads_and_skip_flags(pm4, shown) -> None:
    commands = [
        *pm4.type7(0x65, 1),
        *pm4.type7(0x17, 1),
        *pm4.type7(0x1D, 1),
        *pm4.type7(0x23, 7),
        *draw_64(pm4),
        *pm4.type7(0x17, 3),
        *pm4.type7(0x65, 0xB),
        *draw_64(pm4),
    ]
    text = shown(740, commands)
    assert b"\t\tmode: RM6_DIRECT_RENDER:CP_SET_THREAD_BR\n\t\tskip_ib2: g=1, l=1\n" in text
    assert lines_with(text, b"mode: ")[1].startswith(b"\t\tmode: ")


def test_a_marker_without_a_name_is_its_number(pm4, shown) -> None:
    text = shown(740, pm4.type7(0x65, 0xF) + draw_64(pm4))
    assert b"\t\tmode: 0xf\n" in text


# --- summaries -----------------------------------------------------------------------------------


def summaries(text: bytes) -> list[list[bytes]]:
    """The lines of each register summary."""
    found: list[list[bytes]] = []
    for line in text.split(b"\n"):
        if line.endswith(b" register values"):
            found.append([])
        elif found and line[2:3] == b"\t" and line[:1] in b" !":
            found[-1].append(line)
    return found


def test_marks_of_changed_and_written(pm4, shown) -> None:
    draw = draw_64(pm4)
    depth, other = pm4.type4(0x8871, LESS), pm4.type4(0x8114, 1)
    commands = depth + other + draw + depth + draw + draw + pm4.type4(0x8871, 0) + draw
    line = b"\t00000005\t\tRB_DEPTH_CNTL: { Z_TEST_ENABLE | ZFUNC = FUNC_LESS }"
    su = b"\t00000001\t\tGRAS_SU_DEPTH_CNTL: { Z_TEST_ENABLE }"
    zero = b"\t00000000\t\tRB_DEPTH_CNTL: { ZFUNC = FUNC_NEVER }"
    assert summaries(shown(630, commands, summary=True)) == [
        [b"!+" + su, b"!+" + line],
        [b" +" + line],
        [],
        [b"!+" + zero],
    ]
    assert summaries(shown(630, commands, summary=True, allregs=True)) == [
        [b"!+" + su, b"!+" + line],
        [b"  " + su, b" +" + line],
        [b"  " + su, b"  " + line],
        [b"  " + su, b"!+" + zero],
    ]


def test_halves_that_were_not_rewritten_are_missing_in_summaries(pm4, shown) -> None:
    draw = draw_64(pm4)
    commands = pm4.type4(0x8825, 0x10, 1) + draw + pm4.type4(0x8825, 0x20) + draw
    commands += pm4.type4(0x8871, LESS) + draw
    text = shown(630, commands, summary=True)
    assert summaries(text) == [
        [b"!+\t100000010\t\tRB_MRT[0].BASE: 0x100000010"],
        [],
        [b"!+\t00000005\t\tRB_DEPTH_CNTL: { Z_TEST_ENABLE | ZFUNC = FUNC_LESS }"],
    ]


def test_a_warning_in_a_summary_takes_the_marks_along(pm4, shown) -> None:
    draw = draw_64(pm4)
    commands = pm4.type4(0x8825, 0x10, 1) + pm4.type4(0x8871, 1) + draw
    commands += pm4.type4(0x8825, 0x10) + pm4.type4(0x8871, LESS) + draw
    text = shown(630, commands, summary=True)
    assert text.count(b"WARNING: 64b discontinuity (8871, expected 8826)\n") == 1
    assert summaries(text)[1] == [b"!+\t00000010\t\tRB_MRT[0].BASE: 0x10"]


def test_a_summary_never_reaches_the_last_register(pm4, shown) -> None:
    commands = pm4.type0(0x7FFE, 1, 2) + pm4.type3(DRAW_32, 0, 4 | 2 << 6, 3)
    assert summaries(shown(320, commands, summary=True)) == [[b"!+\t00000001\t\t0x7ffe: 00000001"]]


def test_one_draw_only(pm4, make_capture, dump_captures) -> None:
    draw = draw_64(pm4)
    commands = pm4.type4(0x8871, LESS) + draw + pm4.type4(0x8114, 1) + draw + pm4.type7(0x10)
    text = dump_captures(make_capture(630, commands), draw=1)
    assert text.startswith(b"\t\twrite GRAS_SU_DEPTH_CNTL (8114)\n")
    assert b"gpu_id" not in text
    assert b"draw[1] register values" in text
    assert b"RB_DEPTH_CNTL" not in text
    assert b"CP_NOP" not in text
    assert b"####" not in text


# --- draw-state groups ---------------------------------------------------------------------------


def group(count: int, address: int, number: int = 0, mask: int = 7, flags: int = 0) -> list[int]:
    return [count | flags << 16 | mask << 20 | number << 24, address, 0]


def test_a_group_is_loaded_at_the_next_draw_and_then_gone(pm4, shown) -> None:
    state = pm4.type4(0x8871, LESS)
    commands = pm4.type7(0x43, *group(2, 0x200000, 3)) + draw_64(pm4) + draw_64(pm4)
    text = shown(630, commands, {0x200000: state})
    assert text.count(b"group_id") == 1
    assert (
        b"\t\tgroup_id: 3\n"
        b"\t\tcount: 2\n"
        b"\t\taddr: 0000000000200000\n"
        b"\t\tflags: 0\n"
        b"\t\tenable_mask: 0x7\n"
        b"0000000000200000:\t\t\t0000: 48887101 00000005\n"
        b"\t\t\t\twrite RB_DEPTH_CNTL (8871)\n"
        b"\t\t\t\t\tRB_DEPTH_CNTL: { Z_TEST_ENABLE | ZFUNC = FUNC_LESS }\n"
        b"0000000000200000:\t\t\t\t0000: 48887101 00000005\n"
        b"\t\topcode: CP_DRAW_INDX_OFFSET (38)"
    ) in text


def test_a_group_of_another_mode_is_skipped(pm4, shown) -> None:
    commands = pm4.type7(0x65, 1) + pm4.type7(0x43, *group(2, 0x200000, mask=1)) + draw_64(pm4)
    text = shown(630, commands, {0x200000: pm4.type4(0x8871, LESS)})
    assert b"\t\tenable_mask: 0x1\n\t\t\tskipped!\n\n\t\topcode: CP_DRAW_INDX_OFFSET" in text
    assert b"RB_DEPTH_CNTL" not in text


def test_a_group_that_was_not_captured_has_only_its_lines(pm4, shown) -> None:
    text = shown(630, pm4.type7(0x43, *group(2, 0x500000)) + draw_64(pm4))
    assert b"\t\tenable_mask: 0x7\n\t\topcode: CP_DRAW_INDX_OFFSET" in text


def test_an_empty_group_prints_nothing(pm4, shown) -> None:
    assert b"group_id" not in shown(630, pm4.type7(0x43, *group(0, 0x200000)) + draw_64(pm4))


def test_groups_before_a5xx_have_two_dwords_and_no_mask(pm4, shown) -> None:
    state = pm4.type0(0x2104, 1)
    commands = pm4.type3(0x43, len(state) | 5 << 24, 0x200000) + pm4.type3(DRAW_64, 4, 1, 3)
    text = shown(430, commands, {0x200000: state})
    assert b"\t\tgroup_id: 5\n\t\tcount: 2\n\t\taddr: 0000000000200000\n\t\tflags: 0\n002" in text


# --- queries -------------------------------------------------------------------------------------


def queried(make_capture, dump_captures, commands, gpu=630, **options) -> bytes:
    return dump_captures(make_capture(gpu, commands), **options)


def test_a_query_line(pm4, make_capture, dump_captures) -> None:
    commands = [
        *pm4.type4(0x80F0, 2 << 16 | 1, 4 << 16 | 3),
        *pm4.type4(0x8871, LESS),
        *draw_64(pm4),
        *draw_64(pm4, 6),
    ]
    text = queried(make_capture, dump_captures, commands, query=("RB_DEPTH_CNTL", "0x8114", "x"))
    fields = b"RB_DEPTH_CNTL: { Z_TEST_ENABLE | ZFUNC = FUNC_LESS }\n"
    assert text == (
        b"querystr: RB_DEPTH_CNTL -> 0x8871\n"
        b"querystr: 0x8114 -> 0x8114\n"
        b"querystr: x -> 0x0\n"
        b"   0: DI_PT_TRILIST(1,2-3,4):3:(null):\t00000005!+\t" + fields +
        b"   1: DI_PT_TRILIST(1,2-3,4):6:(null):\t00000005  \t" + fields
    )  # fmt: skip


def test_two_registers_are_followed_by_an_empty_line(pm4, make_capture, dump_captures) -> None:
    commands = pm4.type4(0x8871, LESS) + pm4.type4(0x8114, 1) + draw_64(pm4)
    text = queried(make_capture, dump_captures, commands, query=("0x8871", "0x8114"))
    assert text.endswith(b"GRAS_SU_DEPTH_CNTL: { Z_TEST_ENABLE }\n\n")


def test_written_and_delta(pm4, make_capture, dump_captures) -> None:
    write = pm4.type4(0x8871, LESS)
    commands = write + draw_64(pm4) + draw_64(pm4) + write + draw_64(pm4)
    commands += pm4.type4(0x8871, 1) + draw_64(pm4)
    for mode, shown_draws in ((0, [0, 1, 2, 3]), (1, [0, 2, 3]), (2, [0, 3])):
        text = queried(make_capture, dump_captures, commands, query=("0x8871",), query_mode=mode)
        numbers = [int(line[:4]) for line in lines_with(text, b"DI_PT")]
        assert numbers == shown_draws, mode


def test_a_64_bit_register_in_a_query(pm4, make_capture, dump_captures) -> None:
    commands = pm4.type4(0x8825, 0x10, 1) + draw_64(pm4)
    text = queried(make_capture, dump_captures, commands, query=("RB_MRT[0].BASE",))
    assert text.endswith(b":(null):\t100000010!+\tRB_MRT[0].BASE: 0x100000010\n")


def test_old_generations_have_no_mode_in_a_query(pm4, make_capture, dump_captures) -> None:
    commands = [
        *pm4.type3(0x4C, 0, 2 << 16 | 1, 4 << 16 | 3),
        *pm4.type0(0x0E1E, 2),
        *pm4.type3(DRAW_32, 0, 4 | 2 << 6, 3),
    ]
    text = queried(make_capture, dump_captures, commands, 220, query=("TP0_CHICKEN",))
    assert text.endswith(b"\n   0: DI_PT_TRILIST(1,2-3,4):3:\t00000002!+\tTP0_CHICKEN: 0x2\n")


@pytest.mark.parametrize(
    ("asked", "shown_as"),
    [
        ("010", b"0x8"),
        ("12abc", b"0xc"),
        ("0x", b"0x0"),
        ("rb_depth_cntl", b"0x0"),
        ("RB_MRT[1].CONTROL", b"0x8828"),
        ("RB_MRT[0x1].CONTROL", b"0x8828"),
        ("RB_MRT[8].CONTROL", b"0x0"),
        pytest.param(
            "RB_MRT[01].CONTROL",
            b"0x8828",
        ),
        pytest.param(
            "RB_MRT[-1].CONTROL",
            b"0x0",
        ),
    ],
)
def test_what_a_query_may_be_called(make_capture, dump_captures, asked, shown_as) -> None:
    text = dump_captures(make_capture(630, [0x80000000]), query=(asked,))
    assert text == b"querystr: %s -> %s\n" % (asked.encode(), shown_as)


def test_comparing_binning_with_draw_values(pm4, make_capture, dump_captures) -> None:
    commands = [
        *pm4.type7(0x43, *group(2, 0x200000, 1, mask=1), *group(2, 0x300000, 2, mask=6)),
        *draw_64(pm4),
    ]
    buffers = {0x200000: pm4.type4(0x8871, 1), 0x300000: pm4.type4(0x8871, LESS)}
    text = dump_captures(
        make_capture(630, commands, buffers), query=("0x8871",), query_compare=True
    )
    value = b"RB_DEPTH_CNTL: { Z_TEST_ENABLE | ZFUNC = FUNC_"
    assert text == (
        b"querystr: 0x8871 -> 0x8871\n"
        b"   0: DI_PT_TRILIST(0,0-0,0):3:BINNING:\t00000001!+\t" + value + b"NEVER }\n"
        b"   0: DI_PT_TRILIST(0,0-0,0):3:DRAW:\t00000005!+\t" + value + b"LESS }\n"
        b"\n"
    )


# --- what survives what --------------------------------------------------------------------------


def test_values_groups_and_modes_survive_files_marks_do_not(
    pm4, make_capture, dump_captures
) -> None:
    first = make_capture(
        630,
        pm4.type4(0x8871, LESS) + draw_64(pm4) + pm4.type7(0x65, 1)
        + pm4.type7(0x43, *group(1, 0x200000, 4)),
    )  # fmt: skip
    second = make_capture(630, draw_64(pm4), {0x200000: pm4.type7(0x10)})
    text = dump_captures(first, second, summary=True, allregs=True)
    later = text[text.rindex(b"gpu_id") :]
    assert b"\t\tgroup_id: 4\n" in later
    assert b"\t\tmode: RM6_DIRECT_RENDER\n" in later
    assert b"draw[0] register values\n0000" in later, "no register counts as written"


def test_an_old_gpu_id_wins_over_a_new_chip_id(make_capture, dump_captures) -> None:
    from cffpy.container.writer import capture_bytes, chip_id_section

    text = dump_captures(
        make_capture(630, []), capture_bytes([chip_id_section(0x07030001)]), query=("VPC_PS_CNTL",)
    )
    assert text.count(b"querystr:") == 3, "once a file and once a GPU, but no GPU before the first"
    assert len(set(lines_with(text, b"querystr"))) == 1, "all of a6xx"


def test_a_chip_id_of_zero(dump_captures) -> None:
    from cffpy.container.writer import capture_bytes, chip_id_section, gpu_id_section

    text = dump_captures(capture_bytes([chip_id_section(0), gpu_id_section(630)]))
    assert text == b"chip_id: 0x0\ngpu_id: 630\n"


def test_a_gpu_id_of_zero_is_passed_over(dump_captures) -> None:
    from cffpy.container.writer import capture_bytes, chip_id_section, gpu_id_section

    sections = [gpu_id_section(0), chip_id_section(0x06030001), gpu_id_section(540)]
    assert dump_captures(capture_bytes(sections)) == b"chip_id: 0x6030001\n"


# --- processes and ranges ------------------------------------------------------------------------


def processes(pm4, names: list[bytes]) -> bytes:
    sections = [gpu_id_section(630)]
    for name in names:
        sections.append(NewSection(2, name))
        sections += buffer_sections(0x100000, dwords_bytes(pm4.type7(0x10)))
        sections.append(command_stream_section(0x100000, 1))
    return capture_bytes(sections)


@pytest.mark.parametrize(
    ("options", "decoded"),
    [
        ({}, ["tri/1", "Yes"]),
        ({"show_compositor": True}, ["tri/1", "Xorg", "chrome", "fdperf", "surfaceflinger", "Yes"]),
        ({"exe": "chr"}, ["chrome"]),
        ({"exe": ""}, ["tri/1", "Xorg", "chrome", "fdperf", "surfaceflinger", "Yes"]),
        ({"start": 1, "end": 2}, []),
        ({"start": 5}, ["Yes"]),
        ({"start": 1, "end": 2, "show_compositor": True}, ["Xorg", "chrome"]),
    ],
)
def test_which_submits_are_decoded(pm4, dump_captures, options, decoded) -> None:
    names = ["tri/1", "Xorg", "chrome", "fdperf", "surfaceflinger", "Yes"]
    text = dump_captures(processes(pm4, [name.encode() for name in names]), **options)
    found, current = [], ""
    for line in text.decode().split("\n"):
        if line.startswith("cmd: "):
            current = line[5:]
        elif "CP_NOP" in line:
            found.append(current)
    assert found == decoded
    first, last = options.get("start", 0), options.get("end", 5)
    assert text.count(b"cmdstream[") == last - first + 1
    assert text.count(b"vertices: 0\n") == last - first + 1


# --- sizes that are negative for the reference ---------------------------------------------------


def test_a_submit_of_negative_length(pm4, shown) -> None:
    text = shown(630, pm4.type7(0x10), dwords=0x80000001)
    assert text == b"**** this ain't right!! dwords_left=-2147483647\n"


def test_an_indirect_buffer_of_negative_length(pm4, shown) -> None:
    text = shown(630, pm4.type7(0x3F, 0x200000, 0, 0xFFFFFFFF), {0x200000: pm4.type7(0x10)})
    assert b"\t\tibsize:ffffffff\n**** this ain't right!! dwords_left=-1\n" in text


def test_data_of_negative_length_is_all_that_follows(pm4, shown) -> None:
    mem_write, inner = pm4.type7(0x3D, 0x200000), pm4.type7(0x10, 5)
    text = shown(630, [*mem_write, *pm4.type7(0x10, *inner)])
    assert (
        b"000000000010000c:\t\t\t0000: 70100001 00000005\n**** this ain't right!! dwords_left=-1\n"
    ) in text


def test_addresses_in_a_buffer_at_address_0(pm4, shown) -> None:
    text = shown(630, pm4.type4(0x8825, 0x10, 0), {0: [0] * 16})
    assert b"RB_MRT[0].BASE: 0x10\t\tbase=0, offset=16, size=0\n" in text
