# SPDX-License-Identifier: MIT
"""Text of loaded state, descriptors, a2xx constants, and what follows certain registers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

TEX_3, TEX_4 = 0x30, 0x30
LOAD_GEOM, LOAD_FRAG, LOAD_6 = 0x32, 0x34, 0x36
ONE, TWO = 0x3F800000, 0x40000000


def load_state_6(pm4, opcode, block, kind, units, source=0, address=0, values=()):
    word = units << 22 | block << 18 | source << 16 | kind << 14
    return pm4.type7(opcode, word, address & 0xFFFFFFFF, address >> 32, *values)


def load_state_4(pm4, block, kind, units, source=0, address=0, values=(), wide=False):
    words = [units << 22 | block << 18 | source << 16, address & ~3 | kind]
    if wide:
        return pm4.type7(0x30, *words, address >> 32, *values)
    return pm4.type3(0x30, *words, *values)


# --- constants -----------------------------------------------------------------------------------


def test_constants_are_floats_and_hex(pm4, shown) -> None:
    values = [ONE, TWO, 0, 0x80000000]
    text = shown(630, load_state_6(pm4, LOAD_GEOM, 8, 1, 1, values=values))
    assert (
        b"0000000000100010:\t\t\t1.000000 2.000000 0.000000 -0.000000\n"
        b"0000000000100010:\t\t\t0000: 3f800000 40000000 00000000 80000000\n"
    ) in text
    assert b"\t\t\t{ DST_OFF = 0 | STATE_TYPE = ST6_CONSTANTS | STATE_SRC = SS6_DIRECT" in text


def test_constants_of_a3xx_are_pairs(pm4, shown) -> None:
    text = shown(320, pm4.type3(0x30, 1 << 22 | 4 << 19, 1, ONE, TWO, ONE, TWO))
    assert b"0010000c:\t\t\t1.000000 2.000000\n0010000c:\t\t\t0000: 3f800000 40000000\n" in text


@pytest.mark.parametrize("source", [2])
def test_constants_in_memory(pm4, shown, source: int) -> None:
    packet = load_state_6(pm4, LOAD_FRAG, 12, 1, 1, source, 0x200000)
    text = shown(630, packet, {0x200000: [ONE, TWO]})
    assert (
        b"0000000000200000:\t\t\t1.000000 2.000000\n"
        b"0000000000200000:\t\t\t0000: 3f800000 40000000\n"
    ) in text, "as far as the buffer goes"
    missing = shown(630, packet)
    assert b"\t\t\t{ EXT_SRC_ADDR_HI = 0 }\n0000000000100000:\t\t0000:" in missing


def test_an_address_of_zero_means_the_packet(pm4, shown) -> None:
    packet = load_state_6(pm4, LOAD_FRAG, 12, 1, 1, 2, 0, values=[ONE] * 4)
    assert b"0000000000100010:\t\t\t1.000000 1.000000" in shown(630, packet)


def test_constants_of_a_bindless_base(pm4, shown) -> None:
    base = pm4.type4(0xBB20, 0x111111, 0, 0x200003, 0)
    packet = load_state_6(pm4, LOAD_FRAG, 12, 1, 1, 1, 1 << 28 | 2)
    text = shown(630, base + packet, {0x200000: [5, 6, ONE, TWO, ONE, TWO]})
    assert b"0000000000200008:\t\t\t1.000000 2.000000 1.000000 2.000000\n" in text


# --- samplers, textures, buffers -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("gpu", "dwords", "packet"),
    [
        (320, 2, lambda pm4, values: pm4.type3(0x30, 2 << 22 | 2 << 19, 0, *values)),
        (430, 2, lambda pm4, values: load_state_4(pm4, 4, 0, 2, values=values)),
        (540, 4, lambda pm4, values: load_state_4(pm4, 4, 0, 2, values=values, wide=True)),
        (630, 4, lambda pm4, values: load_state_6(pm4, LOAD_FRAG, 4, 0, 2, values=values)),
        (740, 4, lambda pm4, values: load_state_6(pm4, LOAD_FRAG, 4, 0, 2, values=values)),
    ],
)
def test_samplers(pm4, shown, gpu: int, dwords: int, packet) -> None:
    values = [number + 1 for number in range(2 * dwords)]
    text = shown(gpu, packet(pm4, values))
    listed = [" ".join(f"{value:08x}" for value in part)
              for part in (values[:dwords], values[dwords:])]  # fmt: skip
    ends = [line for line in text.decode().split("\n") if ":\t\t\t0000: " in line]
    assert [line.partition("0000: ")[2] for line in (ends[0][10:], ends[1][10:])] == listed
    assert text.count(b"\t\t\t\t{ ") >= 2
    assert text.index(b"\t\t\t\t{ ") < text.index(listed[0].encode())


def test_a_list_of_16_ends_at_the_first_zero(pm4, shown) -> None:
    values = [1, 0, 0, 0] + [0] * 60
    sixteen = shown(630, load_state_6(pm4, LOAD_FRAG, 4, 0, 16, values=values))
    assert sixteen.count(b":\t\t\t0000:") == 1
    fifteen = shown(630, load_state_6(pm4, LOAD_FRAG, 4, 0, 15, values=values[:60]))
    assert fifteen.count(b":\t\t\t0000:") == 15


def test_a_sampler_behind_the_buffer_s_end_is_not_printed(pm4, shown) -> None:
    packet = load_state_6(pm4, LOAD_FRAG, 4, 0, 3, 2, 0x200000)
    text = shown(630, packet, {0x200000: [1, 2, 3, 4, 5, 6]})
    rows = [line for line in text.split(b"\n") if line.startswith(b"00000000002")]
    assert rows == [
        b"0000000000200000:\t\t\t0000: 00000001 00000002 00000003 00000004",
        b"0000000000200010:\t\t\t0000: 00000005 00000006",
    ]


@pytest.mark.parametrize(("gpu", "dword"), [(630, 4), (740, 4), (830, 0)])
def test_texture_contents(pm4, shown, gpu: int, dword: int) -> None:
    descriptor = [0] * 16
    descriptor[dword] = 0x300004
    packet = load_state_6(pm4, LOAD_FRAG, 4, 1, 1, values=descriptor)
    plain = shown(gpu, packet, {0x300000: [1, 2, 3]})
    assert b"0000000000300004" not in plain
    text = shown(gpu, packet, {0x300000: [1, 2, 3]}, textures=True)
    assert b"0000000000300004:\t0000: 00000002 00000003\n0000000000100010:\t\t\t0000:" in text
    assert b"0000000000300004" not in shown(
        gpu, packet, {0x300000: [1, 2, 3]}, textures=True, summary=True
    )


@pytest.mark.parametrize("gpu", [540, 630, 740])
def test_ubo_addresses(pm4, shown, gpu: int) -> None:
    values = [0x200000, 1 << 17]
    if gpu == 540:
        packet = load_state_4(pm4, 6, 2, 1, values=values, wide=True)
    else:
        packet = load_state_6(pm4, LOAD_GEOM, 8, 2, 1, values=values)
    text = shown(gpu, packet)
    assert text.count(b"\t\t\t\t{ ") >= 1
    assert b"0000000000100010:\t\t\t0000: 00200000 00020000\n" in text


def test_pairs_without_a_meaning_are_hex(pm4, shown) -> None:
    text = shown(630, load_state_6(pm4, LOAD_6, 6, 0, 3, values=[1, 2, 3, 4]))
    assert b"0000000000100010:\t\t\t0000: 00000001 00000002 00000003\n" in text
    pairs = shown(630, load_state_6(pm4, LOAD_6, 7, 1, 2, values=[1, 2, 3, 4]))
    assert b"0000000000100010:\t\t\t0000: 00000001 00000002 00000003 00000004\n" in pairs


@pytest.mark.parametrize("block", [1, 3, 5])
def test_a3xx_state_type_3_is_the_next_block_s_type_0(pm4, shown, block: int) -> None:
    def text(block: int, kind: int) -> bytes:
        lines = shown(320, pm4.type3(0x30, 1 << 22 | block << 19, kind, *range(1, 9)))
        return lines.partition(b"EXT_SRC_ADDR")[2].rpartition(b"00100000:")[0]

    assert text(block, 3) == text(block + 1, 0)


def test_bindless_sets(pm4, shown) -> None:
    draw = pm4.type7(0x38, 4 | 2 << 6, 1, 3)
    base = pm4.type4(0xAB10, 0x200003, 0, 0x300003, 0)
    descriptors = [0] * 16 + [0x1234] + [0] * 15
    buffers = {0x200000: descriptors, 0x300000: descriptors}
    text = shown(630, base + draw, buffers, bindless=True)
    assert b"bindless" not in shown(630, base + draw, buffers)
    start = text.index(b"\t\tdraw[0] bindless descriptors\n\t\t\tset[0]:\n\t\t\tUBO[0]:\n")
    assert text.index(b"\t\t\tUBO[1]:\n", start) < text.index(b"\t\t\tset[1]:\n")
    assert text.count(b"\t\t\tUBO[1]:\n") == 1, "set 1 is read at the base register + 4"
    order = [b"UBO[1]:", b"STORAGE/TEXEL/IMAGE[1]:", b"SAMPLER[1]:"]
    assert sorted(order, key=text.index) == order
    assert text.count(b"set[") == 5


# --- what follows registers ----------------------------------------------------------------------


def test_memory_behind_addresses(pm4, shown) -> None:
    a6xx = shown(630, pm4.type4(0xA8A8, 0x200004, 0), {0x200000: [1, 2]})
    assert (
        b"\t\t\tSP_VS_TEX_CONST: 0x200004\t\tbase=200000, offset=4, size=8\n"
        b"0000000000200004:\t\t\t\t0000: 00000002\n"
    ) in a6xx
    a4xx = shown(430, pm4.type0(0x22E3, 0x200004), {0x200000: [1, 2]})
    assert b"00200004:\t\t\t\t0000: 00000002\n" in a4xx
    assert b"00200004" not in shown(430, pm4.type0(0x22E3, 0x200004), {0x200000: [1]}, summary=True)


def test_shader_files(pm4, shown, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = [0, 0x03000000, 7, 8]
    draw = pm4.type7(0x38, 4 | 2 << 6, 1, 3)
    commands = pm4.type4(0xA983, 0x200008, 0) + draw
    shown(630, commands, {0x200000: program}, dump_shaders=True)
    code = b"".join(value.to_bytes(4, "little") for value in program)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0000.fo3", "0001.fo3"]
    assert (tmp_path / "0000.fo3").read_bytes() == code, "from address & ~0xf to the buffer's end"
    shown(630, commands, {0x200000: program})
    assert len(list(tmp_path.iterdir())) == 2


def test_shader_files_are_not_written_through_links(
    pm4, shown, tmp_path: Path, monkeypatch
) -> None:
    """Their names can be guessed, and others may write to the working directory."""
    monkeypatch.chdir(tmp_path)
    other = tmp_path / "other"
    other.write_bytes(b"before")
    Path("0000.fo3").symlink_to(other)
    os.link(other, "0001.fo3")
    commands = pm4.type4(0xA983, 0x200008, 0) + pm4.type7(0x38, 4 | 2 << 6, 1, 3)
    shown(630, commands, {0x200000: [0, 0x03000000]}, dump_shaders=True)
    assert other.read_bytes() == b"before"
    files = [path for path in tmp_path.iterdir() if path.suffix == ".fo3"]
    assert sorted(path.name for path in files) == ["0000.fo3", "0001.fo3"]
    assert not any(path.is_symlink() or path.samefile(other) for path in files)
    assert {path.read_bytes() for path in files} == {bytes(7) + b"\3"}


def test_a5xx_descriptors_are_shown_in_summaries_only(pm4, shown) -> None:
    commands = [
        *pm4.type4(0xE700, 2),
        *pm4.type4(0xE722, 0x200000, 0),
        *pm4.type7(0x38, 4 | 2 << 6, 1, 3),
    ]
    text = shown(540, commands, {0x200000: [1, 2, 3, 4, 5, 6, 7, 8]})
    before, _, summary = text.partition(b"register values\n")
    assert b"00000000200000:" not in before
    assert b"0000000000200000:\t\t\t\t0000: 00000001 00000002 00000003 00000004\n" in summary
    assert b"0000000000200010:\t\t\t\t0000: 00000005 00000006 00000007 00000008\n" in summary


def test_the_a5xx_latch_is_one_for_all_registers(pm4, shown) -> None:
    """A high half that is written alone is combined with the low half that was printed last."""
    draw = pm4.type7(0x38, 4 | 2 << 6, 1, 3)
    commands = [
        *pm4.type4(0xE700, 1),
        *pm4.type4(0xE722, 0x200000, 0),
        *pm4.type4(0xE72A, 0x300000, 0),
        *draw,
        *pm4.type4(0xE723, 0),
        *draw,
    ]
    text = shown(540, commands, {0x200000: [1, 2, 3, 4], 0x300000: [5, 6, 7, 8]})
    second = text[text.index(b"draw[1] register values") :]
    assert b"0000000000300000:\t\t\t\t0000: 00000005 00000006 00000007 00000008\n" in second
    assert b"0000000000200000:" not in second


# --- a2xx ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"summary": True}])
def test_a2xx_constants_are_always_printed(pm4, shown, options) -> None:
    commands = [
        *pm4.type3(0x2D, 0, ONE, TWO),
        *pm4.type3(0x2D, 2 << 16 | 0x10, 1),
        *pm4.type3(0x2D, 3 << 16 | 0x20, 1),
    ]
    text = shown(220, commands, **options)
    assert b"00100008:\t\t\t1.000000 2.000000\n" in text
    assert b"\t\tset bool const 0010\n" in text
    assert b"\t\tset loop const 0020\n" in text


def test_a2xx_texture_constant(pm4, shown) -> None:
    words = [
        2 << 22 | 1 << 10 | 2 << 13 | 0 << 16,
        0x300000 | 0x246,
        63 | 31 << 13,
        1 << 19 | 2 << 21 | (0 | 1 << 3 | 2 << 6 | 5 << 9) << 1,
        0,
        0x400000 | 0x123,
    ]
    text = shown(220, pm4.type3(0x2D, 1 << 16 | 0x06, *words), summary=True)
    assert (
        b"\t\tset texture const 0006\n"
        b"\t\t\tclamp x/y/z: mirror/clamp-last-texel/wrap\n"
        b"\t\t\tfilter min/mag: bicubic/bilinear\n"
        b"\t\t\tswizzle: xyz1\n"
        b"\t\t\taddr=00300000 (flags=246), size=64x32, pitch=64, format=FMT_8_8_8_8\n"
        b"\t\t\tmipaddr=00400000 (flags=123)\n"
    ) in text


def test_a2xx_vertex_buffers(pm4, shown) -> None:
    pairs = [0x200006, 8, 0x500000, 0x200003, 300]
    text = shown(220, pm4.type3(0x2D, 1 << 16 | 0x78, *pairs), {0x200000: [ONE, TWO, 5]})
    assert (
        b"\t\tset shader const 0078\n"
        b"\t\t\taddr=00200000, size=8, format=FMT_8_8_8_8\n"
        b"00200000:\t\t\t0000: 3f800000 40000000\n"
        b"00200000:\t\t\t1.000000 2.000000\n"
        b"\t\t\taddr=00200000, size=300, format=FMT_1_5_5_5\n"
        b"00200000:\t\t\t0000: 3f800000 40000000 00000005\n"
        b"\t\t\t\t\t...\n"
        b"00200000:\t\t\t1.000000 2.000000 0.000000\n"
        b"\t\t\t\t\t...\n"
    ) in text


def test_a2xx_registers_by_constant(pm4, shown) -> None:
    text = shown(220, pm4.type3(0x2D, 4 << 16 | 0x104, 0xF))
    assert b"\t\t\tRB_COLOR_MASK: { WRITE_RED | WRITE_GREEN | WRITE_BLUE | WRITE_ALPHA }\n" in text
    assert b"RB_COLOR_MASK" not in shown(220, pm4.type3(0x2D, 4 << 16 | 0x104, 0xF), summary=True)


def test_a2xx_sum_of_a_register(pm4, shown) -> None:
    commands = pm4.type0(0x0578, 0xFFFFFFFF)
    commands += pm4.type3(0x2D, 0x80000000 | 4 << 16 | 0x104, 0x578, 0x10)
    for summary in (False, True):
        text = shown(220, commands, summary=summary)
        assert b"\t\tRB_COLOR_MASK = 00000010 + CP_SCRATCH_REG0 (ffffffff)\n" in text
        assert (b"\t\t\tRB_COLOR_MASK: { WRITE_RED" in text) is not summary


def test_a2xx_program_heading(pm4, shown) -> None:
    for kind, stage in ((0, b"vertex"), (1, b"fragment"), (2, b"<unknown>")):
        text = shown(220, pm4.type3(0x2B, kind, 0x12 << 16 | 3, 0, 0, 0), summary=True)
        assert b"\t\t" + stage + b" shader, start=0012, size=0003\n" in text


# --- a5xx packets that point at commands ---------------------------------------------------------


def test_set_render_mode(pm4, shown) -> None:
    inner = pm4.type7(0x10)
    packet = pm4.type7(0x6C, 1, 0x300000, 0, 0, 3, 1, 0x200000, 0)
    text = shown(540, packet, {0x200000: inner, 0x300000: [9]})
    assert (
        b"0000000000300000:\t\t\t\t0000: 00000009\n"
        b"\t\taddr: 0x0000000000200000\n\t\tlen:  0x1\n"
        b"\t\t\t\topcode: CP_NOP (10) (1 dwords)\n"
        b"0000000000200000:\t\t\t\t0000: 70108000\n"
        b"0000000000200000:\t\t\t0000: 70108000\n"
    ) in text
    assert b"CP_NOP" not in shown(540, pm4.type7(0x6C, 1, 0x200000, 0, 0, 3), {0x200000: inner})


@pytest.mark.parametrize("short", [True, False])
def test_compute_checkpoint(pm4, shown, short: bool) -> None:
    tail = [1, 0x200000, 0] if short else [99, 0x200000, 0, 1]
    text = shown(540, pm4.type7(0x6E, 0, 0, 0, 0, *tail), {0x200000: pm4.type7(0x10)})
    assert (
        b"\t\taddr: 0x0000000000200000\n\t\tlen:  0x1\n\t\t\t\topcode: CP_NOP (10) (1 dwords)\n"
    ) in text


def test_a_negative_count_of_a5xx_descriptors(pm4, shown) -> None:
    draw = pm4.type7(0x38, 4 | 2 << 6, 1, 3)
    commands = pm4.type4(0xE700, 0x80000001) + pm4.type4(0xE722, 0x200000, 0) + draw
    text = shown(540, commands, {0x200000: [1, 2, 3, 4]})
    assert b"0000000000200000:" not in text
