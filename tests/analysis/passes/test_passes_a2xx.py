# SPDX-License-Identifier: MIT
"""Passes of a2xx: GMEM or memory, tiles, copies, fast clears, a20x's visibility."""

from __future__ import annotations

import struct

import pytest

from cffpy.frame.geometry import Rectangle, Size
from tests.analysis.passes.batches import RECTANGLES, TRIANGLES, Batch, find, operations, passes

COLOUR, DEPTH = 0x700000, 0x800000
DEPTH_BASE = 0x4000
STREAM, OTHER_STREAM = 0x500000, 0x510000

#: Format COLORX_8_8_8_8.
RGBA = 5


def begin(gpu: int = 220) -> Batch:
    """What each batch begins with."""
    return Batch(gpu).packet("CP_SET_SHADER_BASES", 0).set("RB_MODECONTROL", EDRAM_MODE=4)


def surface(batch: Batch, pitch: int, colour: int, samples: int = 0) -> Batch:
    batch.set("RB_SURFACE_INFO", SURFACE_PITCH=pitch, MSAA_SAMPLES=samples)
    return batch.set("RB_COLOR_INFO", FORMAT=RGBA, BASE=colour)


def scissor(batch: Batch, width: int, height: int) -> Batch:
    batch.set("PA_SC_SCREEN_SCISSOR_TL", 0)
    return batch.set("PA_SC_SCREEN_SCISSOR_BR", X=width, Y=height)


def program(batch: Batch) -> Batch:
    """The program's commands: a clear and two draws."""
    ib = batch.ib().set("RB_COLOR_MASK", 15).set("CLEAR_COLOR", 0x12345678)
    ib.set("RB_DEPTHCONTROL", Z_ENABLE=1, Z_WRITE_ENABLE=1).draw(RECTANGLES)
    return ib.draw().draw(vertices=6)


def stores(batch: Batch) -> Batch:
    """The IB that stores both buffers of a framebuffer of 64 x 32."""
    ib = batch.ib().set("PA_SC_WINDOW_SCISSOR_BR", X=64, Y=32)
    half = int.from_bytes(struct.pack("<f", 16.0), "little")
    ib.set("PA_CL_VPORT_YOFFSET", half).set("RB_MODECONTROL", EDRAM_MODE="EDRAM_COPY")
    for base, address in ((DEPTH_BASE, DEPTH), (0, COLOUR)):
        ib.set("RB_COLOR_INFO", FORMAT=RGBA, BASE=base).set("RB_COPY_DEST_BASE", address)
        ib.set("RB_COPY_DEST_PITCH", 64 >> 5).set("RB_COPY_DEST_INFO", FORMAT=RGBA, LINEAR=1)
        ib.draw(RECTANGLES)
    return ib.set("RB_MODECONTROL", EDRAM_MODE=4)


def gmem(batch: Batch) -> Batch:
    surface(batch, 32, 0)
    return batch.set("RB_DEPTH_INFO", DEPTH_FORMAT="DEPTHX_24_8", DEPTH_BASE=DEPTH_BASE)


def tile(batch: Batch, left: int, draws: Batch, stored: Batch, loads: bool = False) -> Batch:
    batch.set("RB_COLOR_INFO", FORMAT=RGBA, BASE=0)
    scissor(batch, 32, 32)
    if loads:
        batch.set("RB_COLOR_INFO", FORMAT=RGBA, BASE=DEPTH_BASE)
        batch.packet("CP_SET_CONSTANT", 1 << 16, 0, DEPTH | 6, 0, 0, 0, 0).draw(RECTANGLES)
        batch.set("RB_COLOR_INFO", FORMAT=RGBA, BASE=0)
    batch.set("RB_COPY_DEST_OFFSET", X=left, Y=0)
    return batch.call(draws).call(stored)


def test_sysmem() -> None:
    batch = scissor(surface(begin(), 64, COLOUR), 64, 32)
    (found,) = passes(batch.call(program(batch)))
    assert (found.kind, found.mode, found.framebuffer) == ("render", "sysmem", Size(64, 32))
    assert len(found.draws) == 2
    assert [(one.name, one.address, one.gmem, one.pitch) for one in found.attachments] == [
        ("color 0", COLOUR, None, 256),
        # written, but the driver does not say where it is
        ("depth", None, None, None),
    ]
    assert operations(found) == [("clear", "color 0+depth")]
    assert found.samples == 1


@pytest.mark.parametrize("loads", [False, True])
def test_gmem(loads: bool) -> None:
    batch = gmem(begin())
    draws, stored = program(batch), stores(batch)
    tile(batch, 32, draws, stored, loads)
    (found,) = passes(tile(batch, 0, draws, stored, loads))
    assert (found.mode, found.hardware_binning) == ("gmem", False)
    assert (found.framebuffer, found.bin_size, found.grid) == (
        Size(64, 32),
        Size(32, 32),
        Size(2, 1),
    )
    assert [one.rectangle for one in found.tiles] == [
        Rectangle(32, 0, 64, 32),
        Rectangle(0, 0, 32, 32),
    ]
    assert operations(found) == [
        *([("load", "depth+stencil")] if loads else []),
        ("clear", "color 0+depth"),
        ("store", "depth+stencil"),
        ("store", "color 0"),
    ]
    if loads:
        assert found.tiles[1].operations[0].address == DEPTH
    clear, store = found.tiles[0].operations[-3:-1]
    assert clear.clear_value == (0x12345678,)
    assert (store.address, store.gmem, store.pitch, store.tiling) == (
        DEPTH,
        DEPTH_BASE,
        256,
        "linear",
    )
    assert len(found.draws) == 2
    assert [draw.number for draw in found.tiles[1].draws] == [0, 1]
    assert [(one.name, one.address, one.gmem) for one in found.attachments] == [
        ("color 0", COLOUR, 0),
        ("depth", DEPTH, DEPTH_BASE),
    ]


def test_the_colour_of_a_clear_is_a_constant_on_a20x() -> None:
    """Where CLEAR_COLOR was never written."""
    batch = gmem(begin(200))
    draws = batch.ib().set("RB_COLOR_MASK", 15).set("RB_DEPTHCONTROL", 0)
    draws.packet("CP_SET_CONSTANT", 0x480, 1, 2, 3, 4).draw(RECTANGLES)
    draws.set("RB_COLOR_MASK", 0).draw(RECTANGLES)
    (found,) = passes(tile(batch, 0, draws, stores(batch)))
    clears = [one for one in found.tiles[0].operations if one.kind == "clear"]
    assert [(one.attachment, one.clear_value) for one in clears] == [
        ("color 0", (1, 2, 3, 4)),
        (None, None),
    ]


def with_dummy(batch: Batch, draw: list[int]) -> Batch:
    """a20x: a triangle of no size before each draw."""
    batch.packet("CP_WAIT_REG_EQ", 0x5D0, 0, 0x1000, 1)
    batch.packet("CP_DRAW_INDX_BIN", 0, TRIANGLES | 3 << 14 | 3 << 16, 0, 3, 0x600000, 6)
    batch.words += draw
    return batch


def test_binning_of_a20x() -> None:
    batch = gmem(begin(200))
    binning, draws, stored = batch.ib(), batch.ib(), stores(batch)
    for _ in range(2):
        with_dummy(binning, batch.ib().draw().words)
        draws.set("RB_COLOR_MASK", 15)
        visible = (0, TRIANGLES | 3 << 14 | 3 << 16, 0, 3, 0x600000, 6)
        with_dummy(draws, batch.ib().packet("CP_DRAW_INDX_BIN", *visible).words)
    batch.call(binning)
    for left, column, stream in ((32, 2, STREAM), (0, 1, STREAM), (64, 1, OTHER_STREAM)):
        batch.set("VGT_CURRENT_BIN_ID_MIN", COLUMN=column, ROW=1)
        batch.packet("CP_SET_DRAW_INIT_FLAGS", stream)
        tile(batch, left, draws, stored)
    finder = find(batch)
    (found,) = finder.found.passes
    assert found.hardware_binning
    assert found.binning is not None
    for run in (found.binning, *found.tiles):
        assert [draw.role for draw in run.draws] == ["workaround", ""] * 2
        assert [draw.number for draw in run.draws] == [None, 0, None, 1]
    assert {draw.dump_draw for draw in found.tiles[0].draws} == {None}
    assert [(one.pipe, one.slot, one.pipe_tiles) for one in found.tiles] == [
        (0, 1, 2),
        (0, 0, 2),
        (1, 0, 1),
    ]
    assert [(pipe.x, pipe.width) for pipe in found.pipes] == [(0, 2), (2, 1)]


@pytest.mark.parametrize(
    ("as_colour", "as_depth", "cleared"),
    [
        (0, DEPTH_BASE, "color 0+depth+stencil"),
        (0, 0x2000, "color 0"),
        (DEPTH_BASE, 0x6000, "depth+stencil"),
    ],
)
def test_fast_clear(as_colour: int, as_depth: int, cleared: str) -> None:
    """Of a20x: it covers buffers as if they were a multisampled one."""
    batch = gmem(begin(200))
    clear = surface(batch.ib(), 32, as_colour, samples=2)
    clear.set("RB_DEPTH_INFO", DEPTH_BASE=as_depth).set("PA_SC_SCREEN_SCISSOR_BR", X=32, Y=8)
    gmem(clear.draw(RECTANGLES)).draw()
    (found,) = passes(tile(batch, 0, clear, stores(batch)))
    assert (found.tiles[0].operations[0].how, operations(found)[0]) == (
        "fast clear",
        ("clear", cleared),
    )
    assert found.tiles[0].rectangle == Rectangle(0, 0, 32, 32)
    assert found.samples == 1


def test_a_batch_that_sets_no_surface_is_a_pass_of_its_own() -> None:
    first = scissor(surface(begin(), 64, COLOUR), 64, 32)
    first.call(program(first))
    second = begin()
    second.call(program(second))
    found = passes(first, second)
    assert [len(one.draws) for one in found] == [2, 2]
    assert (found[1].mode, found[1].framebuffer) == (None, None)
    assert found[1].unknown


def test_an_ib_without_tiles_is_no_binning_run() -> None:
    batch = gmem(begin())
    (found,) = passes(batch.call(program(batch)))
    assert (found.hardware_binning, found.binning, found.mode) == (False, None, None)
    assert found.direct is not None
    assert found.unknown


def test_hostile() -> None:
    """Tiles and copies without a pass, draws without registers."""
    batch = Batch(220).set("RB_COPY_DEST_OFFSET", 0).draw(RECTANGLES).draw()
    batch.set("RB_MODECONTROL", EDRAM_MODE="EDRAM_COPY").draw(RECTANGLES)
    batch.set("RB_SURFACE_INFO", 0).draw(RECTANGLES)
    scissor(batch, 0, 0).set("RB_COPY_DEST_OFFSET", 0).set("RB_MODECONTROL", 0)
    batch.draw(RECTANGLES).call(batch.ib().draw(RECTANGLES)).packet("CP_SET_CONSTANT", 1 << 16)
    finder = find(batch)
    assert {action.pass_index is not None for action in finder.actions} == {True}
