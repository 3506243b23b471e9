# SPDX-License-Identifier: MIT
"""Stream-out: the program of the VPC, buffers, offsets, the draws that write."""

from __future__ import annotations

from pathlib import Path

import pytest

import cffpy
from cffpy.frame.stream_out import StreamOut
from tests.analysis.passes.marked import tile
from tests.analysis.passes.streams import Dwords, Streams

BUFFER, FLUSHED, COUNTER = 0x100010000, 0x100002580, 0x100002500
MEMORY = bytes(range(256)) * 4


def pair(address: int) -> tuple[int, int]:
    return address & 0xFFFFFFFF, address >> 32


def component(buffer: int, offset: int, is_written: bool = True) -> int:
    return buffer | offset // 4 << 2 | is_written << 11


def program(s: Streams, *components: int, start: int = 0) -> Dwords:
    """Write the program of the VPC from dword ``start`` on: two components in each."""
    both = zip(components[::2], [*components[1::2], 0], strict=False)
    head = s.reg("VPC_SO_CNTL", ADDR=start, RESET=not start) if s.gpu >= 600 else []
    if s.gpu < 600:
        head = s.raw("VPC_SO_CNTL", 1 << 16)
    code = [dword for a, b in both for dword in s.raw("VPC_SO_PROG", a | b << 12)]
    return [*head, *code]


def outputs(s: Streams) -> Dwords:
    """r2.xyzw at locations 0 to 3, r0.w and r1.x at 4 and 5."""
    return [
        *s.raw("SP_VS_OUT[0].REG", 8 | 0xF << 8 | 3 << 16 | 0x3 << 24),
        *s.reg("SP_VS_VPC_DST[0].REG", OUTLOC0=0, OUTLOC1=4),
    ]


def buffer(s: Streams, number: int, address: int, size: int, stride: int) -> Dwords:
    name = f"VPC_SO[{number}]"
    if s.gpu < 600:
        where = s.raw(f"{name}.BUFFER_BASE_LO", *pair(address), size, stride // 4)
        return [*where, *s.raw(f"{name}.BUFFER_OFFSET", 0)]
    return [
        *s.address(f"{name}.BUFFER_BASE", address),
        *s.reg(f"{name}.BUFFER_SIZE", value=size),
        *s.reg(f"{name}.BUFFER_STRIDE", value=stride),
        *s.reg(f"{name}.BUFFER_OFFSET", value=0),
    ]


def streams(s: Streams, mask: int = 1, *bound: int) -> Dwords:
    """``bound``: of each buffer its stream, from 1 on; 0 for none."""
    if s.gpu < 600:
        return s.reg("VPC_SO_BUF_CNTL", BUF0=1, ENABLE=mask)
    fields = {f"BUF{number}_STREAM": stream for number, stream in enumerate(bound)}
    return s.reg("VPC_SO_STREAM_CNTL", STREAM_ENABLE=mask, **fields)


def switched(s: Streams, is_off: bool) -> Dwords:
    if s.gpu < 600:
        return s.reg("VPC_SO_OVERRIDE", SO_DISABLE=int(is_off))
    return s.reg("VPC_SO_DISABLE", DISABLE=int(is_off))


def head(s: Streams) -> Dwords:
    scissor = s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, 64, 64)
    if s.gpu < 600:
        return [*s.packet("CP_SET_RENDER_MODE", 1, 0, 0, 0, 0), *scissor]
    return [*s.marker("RM6_DIRECT_RENDER"), *scissor]


def drawn(data: bytes) -> list[StreamOut]:
    with cffpy.open(data) as capture:
        found = list(capture.stream_out)
        assert not capture.problems
        for one in found:
            assert one.action.stream_out == one.writes
        return found


GPUS = pytest.mark.parametrize("gpu", [530, 630, 740])


@GPUS
def test_a_program(gpu: int) -> None:
    """Padding, and components that are not side by side in the buffer, begin another output."""
    s = Streams(gpu)
    s.buffers[BUFFER] = MEMORY
    parts = [component(0, 4), component(0, 8), component(0, 0, False), component(0, 12)]
    code = [
        *head(s), *outputs(s), *program(s, *parts, component(0, 20), component(0, 24)),
        *streams(s, 1, 1), *switched(s, False), *buffer(s, 0, BUFFER, 512, 32), *s.draw(),
        *switched(s, True), *s.draw(), *streams(s, 0), *s.draw(),
    ]  # fmt: skip
    first, second = drawn(s.capture([[code]]))
    assert [str(one) for one in first.outputs] == [
        "0-1 (VS r2.x) to buffer 0 +4",
        "3 (VS r2.w) to buffer 0 +12",
        "4-5 (VS r0.w) to buffer 0 +20",
    ]
    assert (first.draw, first.unit, first.runs, first.streams) == (
        "p0:0",
        "VPC",
        ("sysmem",),
        (0,),
    )
    (written,) = first.buffers
    assert (
        written.address,
        written.size,
        written.stride,
        written.stream,
        written.buffer_offset,
    ) == (
        BUFFER,
        512,
        32,
        0,
        0,
    )
    assert (written.captured, written.captured_with, written.data) == (512, 0, MEMORY[:512])
    assert (second.draw, second.writes, second.buffers) == ("p0:1", False, [])


@pytest.mark.parametrize("gpu", [630, 740])
def test_streams(gpu: int) -> None:
    s = Streams(gpu)
    code = [
        *head(s),
        *outputs(s),
        *program(s, component(0, 0), component(0, 4)),
        *program(s, component(2, 8), start=64),
        *streams(s, 3, 1, 0, 2),
        *switched(s, False),
        *buffer(s, 0, BUFFER, 512, 8),
        *buffer(s, 2, BUFFER + 0x1000, 256, 12),
        *s.draw(),
    ]
    (found,) = drawn(s.capture([[code]]))
    assert found.streams == (0, 1)
    assert [(one.stream, one.location, one.buffer, one.buffer_offset) for one in found.outputs] == [
        (0, 0, 0, 0),
        (1, 0, 2, 8),
    ]
    assert [(one.number, one.stream) for one in found.buffers] == [(0, 0), (2, 1)]
    assert [one.captured for one in found.buffers] == [0, 0]


@GPUS
def test_offsets_are_flushed_and_loaded(gpu: int) -> None:
    """A draw begins where memory says; the event after it stores where it has come to."""
    s = Streams(gpu)
    offset = s.offset("VPC_SO[0].BUFFER_OFFSET")
    base = "VPC_SO[0].FLUSH_BASE" if gpu >= 600 else "VPC_SO[0].FLUSH_BASE_LO"
    flush = [*s.raw(base, *pair(FLUSHED)), *s.event("FLUSH_SO_0")]
    scratch = s.offset("CP_SCRATCH[0].REG") or s.offset("CP_SCRATCH_REG[0]") or 0x883
    moved = [
        *s.packet("CP_MEM_TO_REG", scratch | 1 << 19, *pair(FLUSHED)),
        *s.packet("CP_REG_TO_MEM", scratch | 1 << 18, *pair(COUNTER)),
    ]
    code = [
        *head(s), *outputs(s), *program(s, component(0, 0)), *streams(s, 1, 1), *switched(s, False),
        *buffer(s, 0, BUFFER, 512, 4), *s.draw(), *flush, *moved,
        *s.packet("CP_MEM_TO_REG", offset | 1 << 19, *pair(FLUSHED)), *s.draw(), *flush,
    ]  # fmt: skip
    first, second = (one.buffers[0] for one in drawn(s.capture([[code]])))
    assert (first.buffer_offset, first.loaded_from, first.flushed_to) == (0, None, FLUSHED)
    assert (second.buffer_offset, second.loaded_from, second.flushed_to) == (None, FLUSHED, FLUSHED)
    assert first.flushed_by is not None
    assert second.flushed_by is not None
    assert first.flushed_by.gpuaddr < second.flushed_by.gpuaddr


@pytest.mark.parametrize("gpu", [630, 740])
def test_a_draw_writes_where_it_is_switched_on(gpu: int) -> None:
    """Gallium writes in the binning run, and switches it off for the tiles."""
    s = Streams(gpu)
    setup = [
        *outputs(s),
        *program(s, component(0, 0)),
        *streams(s, 1, 1),
        *buffer(s, 0, BUFFER, 512, 4),
    ]
    draws = s.ib(setup, s.draw(), s.draw())
    tiles = [*tile(s, 0, 0, 64, 64, draws), *tile(s, 64, 0, 64, 64, draws)]
    off = drawn(s.capture([[switched(s, True), tiles]]))
    assert [(one.runs, one.writes) for one in off] == [((), False)] * 2
    on = drawn(s.capture([[switched(s, False), tiles]]))
    assert [(one.draw, one.runs) for one in on] == [("p0:0", ("tiles",)), ("p0:1", ("tiles",))]


A430 = """pm4 1
gpu_id 430
buffer commands 0x10001000 size 4096 {{
  commands main {{
    SP_VS_OBJ_START = vs
    CP_DRAW_INDX_OFFSET PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX \
NUM_INSTANCES=1 NUM_INDICES=3
  }}
}}
buffer programs 0x10002000 size 4096 {{
  shader vs at 0x10002000 {{
    {}
    end
    nop
  }}
}}
stream main
"""


@pytest.mark.parametrize("is_storing", [True, False])
def test_vertex_programs_that_store(is_storing: bool) -> None:
    """Up to a4xx the vertex program writes, by its own stores."""
    instruction = "stg.f32 g[r0.x], r1.x, 4" if is_storing else "mov.f32f32 r1.x, r0.x"
    found = drawn(cffpy.compile(A430.format(instruction).encode()))
    assert [(one.unit, one.runs, one.outputs) for one in found] == [
        ("program", ("sysmem",), [])
    ] * is_storing


def test_filters_know_it(samples: Path) -> None:
    with cffpy.open(samples / "a650-queries.rd") as capture:
        assert [draw.name for draw in capture.draws.where("draw.stream_out")] == ["p0:0"]
        first = capture.stream_out[0].buffers[0]
        assert first.captured_with == 1
        assert first.data[:4] == bytes.fromhex("000080bf")
        assert (first.loaded_from, first.copied_to) == (COUNTER, COUNTER)


@pytest.mark.slow
def test_shared_captures(shared: Path) -> None:
    """Two draws of 300 and 60 vertices with transform feedback; the second pass only reads it."""
    with cffpy.open(shared / "captures/a740-vk-xfb.rd.gz") as capture:
        vulkan = list(capture.stream_out)
        assert [(one.draw, one.action.vertices) for one in vulkan] == [("p0:0", 300), ("p0:1", 60)]
    assert {one.runs for one in vulkan} == {("sysmem",)}
    assert [str(one) for one in vulkan[0].outputs] == [
        "0-2 (VS r3.y) to buffer 0 +0",
        "4-7 (VS r0.z) to buffer 0 +16",
    ]
    assert vulkan[0].buffers[0].loaded_from == vulkan[0].buffers[0].copied_to == 0x1001F8000
    with cffpy.open(shared / "captures/a630-gl-xfb-queries.rd.gz") as capture:
        gallium = list(capture.stream_out)
    assert [(one.draw, one.runs) for one in gallium] == [
        ("p1:0", ("binning run",)),
        ("p1:1", ("binning run",)),
    ]
    first, second = (one.buffers[0] for one in gallium)
    assert (first.buffer_offset, second.buffer_offset, second.loaded_from) == (
        0,
        None,
        first.flushed_to,
    )
