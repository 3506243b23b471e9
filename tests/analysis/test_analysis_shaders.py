# SPDX-License-Identifier: MIT
"""Shaders of a capture: which are listed, where they are used; compared with what dump prints."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from cffpy.analysis import shaders as module
from cffpy.analysis.shaders import ShaderCollector, collect_shaders
from cffpy.capture.gpu import guess
from cffpy.container.open import open_bytes, open_capture
from cffpy.container.writer import (
    buffer_sections,
    capture_bytes,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from cffpy.errors import CffpyError, UnsupportedGpu
from cffpy.frame.shader import CapturedShader
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import DumpOptions
from tests.builders import capture, type0, type3, type4, type7
from tests.isa.harvest import _A2XX_LINE, _A2XX_START, _LINE, VECTORS

SP_VS_OBJ_START, SP_FS_OBJ_START, SP_GS_OBJ_START, SP_CS_OBJ_START = 0xA81C, 0xA983, 0xA88D, 0xA9B4
SP_GS_CONFIG = 0xA894
ENABLED = 1 << 8
DRAW_INDX_OFFSET, EXEC_CS, BLIT, LOAD_FRAG, BUNCH = 0x38, 0x33, 0x2C, 0x34, 0x5C
CODE, OTHER = 0x200000, 0x300000
ENTRY = 0x100000

NOP, END = 0, 0x0300000000000000
MOV, MUL = 0x200CC00000000001, 0x4070000000010002

DRAW = type7(DRAW_INDX_OFFSET, 4, 1, 3)
DISPATCH = type7(EXEC_CS, 0, 1, 1, 1)


def program(*words: int) -> bytes:
    """A program that ends like those of drivers, with more data after it."""
    whole = (*words, END, NOP, NOP, NOP, NOP, MUL, MUL)
    return struct.pack(f"<{len(whole)}Q", *whole)


def named(register: int, address: int) -> list[int]:
    return type4(register, address & 0xFFFFFFFF, address >> 32)


def collect(data: bytes, gpu: int | None = None) -> ShaderCollector:
    collector, _damage = collect_shaders(
        open_bytes(data), lambda line: None, None, None if gpu is None else guess(gpu)
    )
    return collector


def collected(gpu: int, commands: list[int], **buffers: bytes) -> list[CapturedShader]:
    places = {"code": CODE, "other": OTHER}
    contents = {places[name]: content for name, content in buffers.items()}
    return collect(capture(gpu, commands, contents)).shaders


def summary(shaders: Sequence[CapturedShader]) -> list[tuple[str, int, int, object]]:
    return [(one.stage, one.gpuaddr, one._program.instructions, one.where) for one in shaders]


# --- what is listed ------------------------------------------------------------------------------


def test_size_and_statistics() -> None:
    (shader,) = collected(630, named(SP_VS_OBJ_START, CODE) + DRAW, code=program(MOV, MOV))
    program_ = shader._program
    assert (program_.instructions, len(program_.code)) == (7, 56)
    assert program_.statistics is not None
    assert (program_.statistics.instr, program_.statistics.mov) == (7, 2)
    assert program_.statistics.text("") in program_.text
    assert program_.text.count("\n") == 7 + 5
    assert (shader.named_by.name, shader.named_by.packet) == ("SP_VS_OBJ_START", ENTRY)


def test_the_same_program_twice_is_one_shader_a_stage() -> None:
    commands = [
        *named(SP_VS_OBJ_START, CODE),
        *named(SP_FS_OBJ_START, OTHER),
        *DRAW,
        *named(SP_VS_OBJ_START, OTHER),
        *DRAW,
    ]
    found = collected(630, commands, code=program(MOV), other=program(MOV) + program(MUL))
    assert summary(found) == [("VS", CODE, 6, [(0, [[0, 1]])]), ("FS", OTHER, 6, [(0, [[0, 1]])])]


@pytest.mark.parametrize(
    ("gpu", "commands"),
    [
        (320, type0(0x22D5, CODE)),
        (430, type0(0x22E1, CODE)),
        (540, type4(0xE5AC, CODE, 0)),
        (630, type4(SP_VS_OBJ_START, CODE, 0)),
        (740, type4(SP_VS_OBJ_START, CODE, 0)),
    ],
)
def test_registers_of_each_generation(gpu: int, commands: list[int]) -> None:
    (shader,) = collected(gpu, commands, code=program(MOV))
    assert (shader.stage, shader.generation, shader.gpuaddr) == ("VS", gpu // 100, CODE)
    assert (shader.uses, shader.where) == (0, [])


def test_low_bits_are_no_part_of_the_address() -> None:
    (shader,) = collected(630, named(SP_VS_OBJ_START, CODE + 15), code=program(MOV))
    assert shader.gpuaddr == CODE


def test_registers_by_other_packets() -> None:
    commands = type7(BUNCH, SP_FS_OBJ_START, CODE, SP_FS_OBJ_START + 1, 0)
    (shader,) = collected(630, commands, code=program(MOV))
    assert (shader.stage, shader.named_by.packet) == ("FS", ENTRY)


def test_loaded_directly_and_from_memory() -> None:
    load = 1 << 22 | 12 << 18
    code = list(struct.unpack("<32I", (program(MUL) + bytes(128))[:128]))
    direct = type7(LOAD_FRAG, load, 0, 0, *code)
    indirect = type7(LOAD_FRAG, load | 2 << 16, CODE, 0)
    found = collected(630, direct + DRAW + indirect + DRAW, code=program(MOV) + bytes(128))
    assert summary(found) == [
        ("FS", ENTRY + 16, 6, [(0, [[0, 0]])]),
        ("FS", CODE, 6, [(0, [[1, 1]])]),
    ]
    assert found[0].named_by.name == "CP_LOAD_STATE6_FRAG"


def test_less_loaded_than_lies_there_is_used_together() -> None:
    load = 4 << 22 | 6 << 19  # 16 instructions
    code = struct.pack("<22Q", *[MOV] * 16, END, NOP, NOP, NOP, NOP, MUL)
    packet = type3(0x30, load | 4 << 16, CODE)
    commands = type0(0x22E3, CODE) + packet + type3(0x22, 0, 4, 3)
    found = collected(320, commands, code=code)
    assert summary(found) == [
        ("FS", CODE, 21, [(0, [[0, 0]])]),
        ("FS", CODE, 16, [(0, [[0, 0]])]),
    ]


@pytest.mark.parametrize("loads_first", [False, True])
def test_a_load_that_leaves_out_only_nops_is_of_the_same_program(loads_first: bool) -> None:
    """Drivers load whole blocks; the nops behind the end need not lie in the last of them."""
    load = 4 << 22 | 6 << 19  # 16 instructions
    code = struct.pack("<22Q", *[MOV] * 15, END, NOP, NOP, NOP, NOP, MUL, MUL)
    packets = [type0(0x22E3, CODE), type3(0x30, load | 4 << 16, CODE)]
    first, second = reversed(packets) if loads_first else packets
    found = collected(320, first + second + type3(0x22, 0, 4, 3), code=code)
    assert summary(found) == [("FS", CODE, 20, [(0, [[0, 0]])])]
    assert found[0].named_by.name == ("CP_LOAD_STATE" if loads_first else "SP_FS_OBJ_START_REG")
    assert found[0].uses == 1


def test_what_was_not_captured_is_no_shader() -> None:
    commands = named(SP_VS_OBJ_START, 0x900000) + DRAW + named(SP_FS_OBJ_START, 0) + DRAW
    assert collected(630, commands) == []


def test_a2xx() -> None:
    head, _, text = (VECTORS / "a2xx" / "02-fragment.txt").read_text().partition("\n")
    code = bytes.fromhex(head.split()[2])
    words = struct.unpack(f"<{len(code) // 4}I", code)
    load = type3(0x2B, 1, len(words), *words)
    found = collected(220, load + load + type3(0x22, 0, 4, 3))
    (shader,) = found
    assert (shader.stage, shader.gpuaddr, shader.uses) == ("FS", ENTRY + 12, 1)
    assert shader._program.text.replace("\t", "") == text.replace("\t", "")
    assert shader._program.statistics is None
    assert code.startswith(shader._program.code)


# --- where they are used -------------------------------------------------------------------------


def test_draws_and_dispatches_use_their_own_stages() -> None:
    commands = [
        *named(SP_VS_OBJ_START, CODE),
        *named(SP_CS_OBJ_START, OTHER),
        *DRAW,
        *DISPATCH,
        *type7(BLIT, 3),
        *DRAW,
        *type7(DRAW_INDX_OFFSET, 4, 1, 0),  # without indices: not counted
    ]
    found = collected(630, commands, code=program(MOV), other=program(MUL))
    assert summary(found) == [
        ("VS", CODE, 6, [(0, [[0, 0], [3, 3]])]),
        ("CS", OTHER, 6, [(0, [[1, 1]])]),
    ]
    assert [shader.uses for shader in found] == [2, 1]


def test_a_disabled_stage_uses_nothing() -> None:
    commands = [
        *named(SP_GS_OBJ_START, CODE),
        *DRAW,  # nothing told that it is off
        *type4(SP_GS_CONFIG, 0),
        *DRAW,
        *type4(SP_GS_CONFIG, ENABLED),
        *DRAW,
    ]
    (shader,) = collected(630, commands, code=program(MOV))
    assert shader.where == [(0, [[0, 0], [2, 2]])]


def test_an_address_of_nothing_unbinds() -> None:
    commands = named(SP_VS_OBJ_START, CODE) + DRAW + named(SP_VS_OBJ_START, 0) + DRAW
    (shader,) = collected(630, commands, code=program(MOV))
    assert shader.where == [(0, [[0, 0]])]


def test_draws_without_number_count() -> None:
    (shader,) = collected(
        220,
        type3(0x2B, 0, 12, *struct.unpack("<12I", old_program())) + type3(0x34, 0, 4, 3) * 3,
    )
    assert (shader.uses, shader.where) == (3, [(0, [])])


def old_program() -> bytes:
    head = (VECTORS / "a2xx" / "02-fragment.txt").read_text().partition("\n")[0]
    return bytes.fromhex(head.split()[2])[:48].ljust(48, b"\0")


def submits(*streams: tuple[list[int], bytes]) -> bytes:
    """A capture of streams, each with different code at the same address."""
    sections = [gpu_id_section(630)]
    for commands, code in streams:
        sections += buffer_sections(ENTRY, dwords_bytes(commands))
        sections += buffer_sections(CODE, code)
        sections.append(command_stream_section(ENTRY, len(commands)))
    return capture_bytes(sections)


def test_each_submit_has_memory_of_its_own() -> None:
    name = named(SP_VS_OBJ_START, CODE)
    data = submits((name + DRAW, program(MOV)), (DRAW, program(MUL)), (name + DRAW, program(MUL)))
    assert summary(collect(data).shaders) == [
        ("VS", CODE, 6, [(0, [[0, 0]])]),
        ("VS", CODE, 6, [(2, [[2, 2]])]),
    ]


def test_other_gpu_than_the_file_says() -> None:
    data = capture(630, type4(0xE5AC, CODE, 0), {CODE: program(MOV)})
    assert collect(data).shaders == []
    (shader,) = collect(data, 540).shaders
    assert shader.generation == 5


def test_no_gpu() -> None:
    data = capture(630, DRAW)[12:]
    with pytest.raises(UnsupportedGpu):
        collect(data)


# --- limits --------------------------------------------------------------------------------------


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[int] = []
    for number in range(20):
        commands += named(SP_VS_OBJ_START, CODE + 128 * number) + DRAW
    codes = b"".join(program(MOV + number).ljust(128, b"\0") for number in range(20))
    data = capture(630, commands + named(SP_VS_OBJ_START, CODE) + DRAW, {CODE: codes})
    whole = collect(data)
    assert (len(whole.shaders), whole.left_out) == (20, 0)
    assert whole.shaders[0].where == [(0, [[0, 0], [20, 20]])]
    monkeypatch.setattr(module, "_MAX_PLACES", 3)
    assert summary(collect(data).shaders) == summary(whole.shaders)
    monkeypatch.setattr(module, "_MAX_RANGES", 20)
    cut = collect(data).shaders[0]
    assert (cut.uses, cut.where, cut.where_is_complete) == (2, [(0, [[0, 0]])], False)
    monkeypatch.setattr(module, "_MAX_BYTES", 5000)
    few = collect(data)
    assert 0 < len(few.shaders) < 20
    assert few.left_out >= 20 - len(few.shaders)


@pytest.mark.parametrize("gpu", [220, 320, 430, 540, 630, 740])
def test_noise(gpu: int, shared: Path) -> None:
    rng = random.Random(gpu)
    path = next((shared / "captures").glob(f"a{gpu // 100}*-gl-*tri*.rd.gz"), None)
    path = path or next((shared / "captures").glob(f"a{gpu // 100}*.rd.gz"))
    whole = bytes(open_capture(str(path)).data)
    for _ in range(10):
        data = bytearray(whole)
        for _ in range(rng.randrange(1, 200)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            found = collect(bytes(data[: rng.randrange(len(data))]))
        except CffpyError:
            continue
        for shader in found.shaders:
            assert shader.uses >= 1
            assert shader._program.instructions >= 0


# --- the same as in the dump ---------------------------------------------------------------------


def listings_of_dump(path: Path) -> set[tuple[str, str]]:
    """(kind of an a2xx program, listing without tabs): each that is printed."""
    pieces: list[bytes] = []
    printer = Dump(DumpOptions(), pieces.append, lambda line: None)
    printer.begin("x")
    printer.file(open_capture(str(path)))
    lines = b"".join(pieces).decode("latin-1").split("\n")
    found = set()
    place = 0
    while place < len(lines):
        start = _A2XX_START.match(lines[place])
        pattern, first = (_A2XX_LINE, place + 1) if start else (_LINE, place)
        end = first
        while pattern.match(lines[end]):
            end += 1
        if start is None and end > first and lines[end].endswith("Stats:"):
            end += 5
        elif start is None:
            place = max(end, place + 1)
            continue
        found.add((start[2] if start else "", without_tabs("\n".join(lines[first:end]) + "\n")))
        place = end
    return found


def without_tabs(text: str) -> str:
    return "".join(line.lstrip("\t") for line in text.splitlines(keepends=True))


def without_last_nops(listing: str) -> tuple[str, ...]:
    """The instructions, without words of zeros behind them."""
    lines = listing.partition("Stats:")[0].splitlines()
    while lines and "[00000000x_00000000x]" in lines[-1]:
        lines.pop()
    return tuple(lines)


@pytest.mark.parametrize(
    "name",
    [
        "a201-gl-scene60",
        "a220-gl-cube",
        "a330-gl-scene60-nobin",
        "a430-gl-compute",
        "a430-gl-cube-gmem",
        "a540-gl-indirect",
        "a630-gl-blit-msaa",
        "a618-vk-cube-gmem-forcebin",
        pytest.param("BIG-a730-vk-scene1000-unsorted-sysmem-2frames", marks=pytest.mark.slow),
        pytest.param("glxgears-a420", marks=pytest.mark.slow),
        pytest.param("fd-clouds", marks=pytest.mark.slow),
    ],
)
def test_every_listing_of_the_dump_once_and_nothing_else(name: str, shared: Path) -> None:
    path = shared / "captures" / f"{name}.rd.gz"
    collector, damage = collect_shaders(open_capture(str(path)), lambda line: None)
    assert [one for one in damage if "were not captured" not in str(one)] == []
    kinds = {"VS": "vertex", "FS": "fragment"} if collector.shaders[0].generation == 2 else {}
    listed = [
        (shader.stage, kinds.get(shader.stage, ""), without_tabs(shader._program.text))
        for shader in collector.shaders
    ]
    assert len(set(listed)) == len(listed)
    found = {(kind, text) for _stage, kind, text in listed}
    dumped = listings_of_dump(path)
    assert found <= dumped
    assert {(kind, without_last_nops(text)) for kind, text in found} == {
        (kind, without_last_nops(text)) for kind, text in dumped
    }
    assert all(shader.uses for shader in collector.shaders)
