# SPDX-License-Identifier: MIT
"""Passes of a5xx: modes, tiles, BLIT events, LRZ, groups, streams that go on in the next."""

from __future__ import annotations

from struct import pack

import pytest

from cffpy.frame.geometry import Rectangle, Size
from cffpy.frame.places import DrawRange
from tests.analysis.passes.batches import RECTANGLES, Batch, find, operations, passes

BYPASS, BINNING, GMEM, BLIT2D, END2D = 1, 2, 3, 5, 8
BLIT = 30
COLOUR, DEPTH, LRZ = 0x700000, 0x800000, 0x900000
DEPTH_BASE = 0x4000
STREAM, SIZES = 0x500000, 0x510000


def begin() -> Batch:
    """What each batch begins with."""
    return Batch(530).packet("CP_SET_RENDER_MODE", BYPASS, 0, 0, 0, 0)


def scissor(batch: Batch, left: int, top: int, right: int, bottom: int) -> Batch:
    batch.set("GRAS_SC_WINDOW_SCISSOR_TL", X=left, Y=top)
    return batch.set("GRAS_SC_WINDOW_SCISSOR_BR", X=right - 1, Y=bottom - 1)


def targets(batch: Batch, colour: int, depth: int) -> Batch:
    batch.set("RB_MRT[0].BUF_INFO", COLOR_FORMAT="RB5_R8G8B8A8_UNORM")
    batch.set("RB_MRT[0].PITCH", 256 >> 6).set("RB_MRT[0].BASE_LO", colour)
    batch.set("RB_DEPTH_BUFFER_INFO", DEPTH_FORMAT="DEPTH5_24_8")
    batch.set("RB_DEPTH_BUFFER_PITCH", 256 >> 6).set("RB_DEPTH_BUFFER_BASE_LO", depth)
    return batch.set("RB_DEST_MSAA_CNTL", SAMPLES="MSAA_ONE")


def program(batch: Batch) -> Batch:
    """The program's commands: two draws."""
    ib = batch.ib().set("RB_FS_OUTPUT_CNTL", MRT=1)
    ib.set("RB_MRT[0].CONTROL", COMPONENT_ENABLE=15).set("RB_DEPTH_CNTL", Z_WRITE_ENABLE=1)
    ib.set("GRAS_LRZ_CNTL", ENABLE=1, LRZ_WRITE=1).draw()
    return ib.set("GRAS_LRZ_CNTL", 0).draw(vertices=6)


def sysmem(batch: Batch) -> Batch:
    scissor(batch.set("RB_CNTL", BYPASS=1), 0, 0, 64, 32)
    batch.packet("CP_SET_VISIBILITY_OVERRIDE", 1)
    return targets(batch, COLOUR, DEPTH)


def clears(batch: Batch) -> Batch:
    ib = batch.ib()
    ib.set("RB_BLIT_CNTL", BUF="BLIT_MRT0").set("RB_CLEAR_CNTL", FAST_CLEAR=1, MASK=15)
    for number in range(4):
        ib.set(f"RB_CLEAR_COLOR_DW{number}", number)
    ib.packet("CP_EVENT_WRITE", BLIT)
    ib.set("RB_BLIT_CNTL", BUF="BLIT_ZS").set("RB_CLEAR_CNTL", FAST_CLEAR=1, MASK=3)
    ib.packet("CP_EVENT_WRITE", BLIT).set("RB_CLEAR_CNTL", 0)
    return ib


def tile(batch: Batch, left: int, right: int, draws: Batch, slot: int | None = None) -> Batch:
    """A tile with a load of depth, and stores of both."""
    scissor(batch, left, 0, right, 32)
    batch.packet("CP_SET_VISIBILITY_OVERRIDE", int(slot is None))
    if slot is not None:
        batch.packet("CP_SET_BIN_DATA5", 2 << 16 | slot << 22, STREAM, 0, SIZES, 0)
    batch.set("RB_WINDOW_OFFSET", X=left, Y=0)
    targets(batch, DEPTH, 0).set("RB_CNTL", WIDTH=32, HEIGHT=32, BYPASS=1)
    batch.set("RB_BLIT_DST_LO", DEPTH_BASE).set("RB_BLIT_CNTL", BUF="BLIT_MRT0")
    batch.packet("CP_EVENT_WRITE", BLIT)
    targets(batch, 0, DEPTH_BASE).set("RB_CNTL", WIDTH=32, HEIGHT=32).call(draws)
    for buffer, address in (("BLIT_ZS", DEPTH), ("BLIT_MRT0", COLOUR)):
        batch.set("RB_BLIT_DST_LO", address).set("RB_BLIT_DST_PITCH", 256 >> 6)
        batch.set("RB_RESOLVE_CNTL_3", TILED=1).set("RB_BLIT_CNTL", BUF=buffer)
        batch.packet("CP_EVENT_WRITE", BLIT)
    return batch


def gmem(batch: Batch, with_binning: bool) -> Batch:
    draws = program(batch)
    draws.words[:0] = clears(batch).words
    batch.set("RB_CNTL", WIDTH=32, HEIGHT=32)
    if with_binning:
        batch.packet("CP_SET_RENDER_MODE", BINNING, 0, 0, 8, 0)
        scissor(batch, 0, 0, 64, 32)
        for number in range(16):
            batch.set(f"VSC_PIPE_CONFIG[{number}].REG", X=0, Y=0, W=2 * (number == 0), H=1)
        batch.set("VSC_SIZE_ADDRESS_LO", SIZES).set("RB_RENDER_CNTL", BINNING_PASS=1)
        batch.call(program(batch)).set("RB_RENDER_CNTL", 0)
    batch.packet("CP_SET_RENDER_MODE", GMEM, 0, 0, 16, 0)
    tile(batch, 32, 64, draws, 1 if with_binning else None)
    return tile(batch, 0, 32, draws, 0 if with_binning else None)


def test_sysmem() -> None:
    batch = sysmem(begin())
    (found,) = passes(batch.call(program(batch)))
    assert (found.kind, found.mode, found.framebuffer) == ("render", "sysmem", Size(64, 32))
    assert [draw.vertices for draw in found.draws] == [3, 6]
    assert [(one.name, one.address, one.gmem) for one in found.attachments] == [
        ("color 0", COLOUR, None),
        ("depth", DEPTH, None),
    ]
    assert found.attachments[0].pitch == 256
    assert (found.samples, found.tiles, found.hardware_binning) == (1, [], False)


@pytest.mark.parametrize("with_binning", [False, True])
def test_gmem(with_binning: bool) -> None:
    (found,) = passes(gmem(begin(), with_binning))
    assert (found.mode, found.hardware_binning) == ("gmem", with_binning)
    assert (found.framebuffer, found.bin_size, found.grid) == (
        Size(64, 32),
        Size(32, 32),
        Size(2, 1),
    )
    assert [one.rectangle for one in found.tiles] == [
        Rectangle(32, 0, 64, 32),
        Rectangle(0, 0, 32, 32),
    ]
    assert [one.window_offset for one in found.tiles] == [(32, 0), (0, 0)]
    expected = [(0, 1), (0, 0)] if with_binning else [(None, None)] * 2
    assert [(one.pipe, one.slot) for one in found.tiles] == expected
    assert {one.visibility_override for one in found.tiles} == {not with_binning}
    assert len(found.draws) == 2
    assert [draw.number for draw in found.tiles[1].draws] == [0, 1]
    assert operations(found) == [
        ("load", "depth+stencil"),
        ("clear", "color 0"),
        ("clear", "depth+stencil"),
        ("store", "depth+stencil"),
        ("store", "color 0"),
    ]
    load, clear, _, store, _ = found.tiles[0].operations
    assert (load.address, load.gmem, load.how) == (DEPTH, DEPTH_BASE, "BLIT event")
    assert clear.clear_value == (0, 1, 2, 3)
    assert (store.address, store.tiling, store.pitch) == (DEPTH, "tiled", 256)
    assert [(one.name, one.address, one.gmem, one.pitch) for one in found.attachments] == [
        ("color 0", COLOUR, 0, 256),
        ("depth", DEPTH, DEPTH_BASE, 256),
    ]
    if with_binning:
        assert found.binning is not None
        assert [draw.number for draw in found.binning.draws] == [0, 1]
        assert all(draw.binning for draw in found.binning.draws)
        assert found.tiles[0].streams == (STREAM, SIZES, None)
        assert (len(found.pipes), found.pipes[0].width) == (1, 2)


def test_loads_of_what_no_draw_writes() -> None:
    """All buffers are loaded; the draws have depth alone."""
    batch = begin().set("RB_CNTL", WIDTH=32, HEIGHT=32)
    batch.packet("CP_SET_RENDER_MODE", GMEM, 0, 0, 16, 0)
    scissor(batch, 0, 0, 32, 32).set("RB_WINDOW_OFFSET", 0)
    second, second_base = 0x980000, 0x8000

    def colours(first: int, other: int) -> None:
        targets(batch, first, DEPTH_BASE)
        batch.set("RB_MRT[1].BUF_INFO", COLOR_FORMAT="RB5_R8G8B8A8_UNORM")
        batch.set("RB_MRT[1].PITCH", 512 >> 6).set("RB_MRT[1].BASE_LO", other)

    colours(COLOUR, second)
    batch.set("RB_CNTL", WIDTH=32, HEIGHT=32, BYPASS=1)
    for buffer, base in (("BLIT_MRT0", 0), ("BLIT_MRT1", second_base)):
        batch.set("RB_BLIT_DST_LO", base).set("RB_BLIT_CNTL", BUF=buffer)
        batch.packet("CP_EVENT_WRITE", BLIT)
    targets(batch, DEPTH, DEPTH_BASE).set("RB_BLIT_DST_LO", DEPTH_BASE)
    batch.set("RB_BLIT_CNTL", BUF="BLIT_MRT0").packet("CP_EVENT_WRITE", BLIT)
    colours(0, second_base)
    ib = batch.ib().set("RB_FS_OUTPUT_CNTL", MRT=0).set("RB_DEPTH_CNTL", Z_WRITE_ENABLE=1).draw()
    (found,) = passes(batch.set("RB_CNTL", WIDTH=32, HEIGHT=32).call(ib))
    loads = found.tiles[0].operations
    assert [(one.kind, one.attachment, one.address) for one in loads] == [
        ("load", "color 0", COLOUR),
        ("load", "color 1", second),
        ("load", "depth+stencil", DEPTH),
    ]
    assert loads[1].pitch == 512


def as_float(value: float) -> int:
    return int.from_bytes(pack("<f", value), "little")


@pytest.mark.parametrize("clears_first", [False, True])
def test_tiles_that_cover_a_part_only(clears_first: bool) -> None:
    """gallium renders only the tiles within the program's scissors; a clear covers all of them."""
    batch = begin().set("RB_CNTL", WIDTH=32, HEIGHT=32)
    batch.packet("CP_SET_RENDER_MODE", GMEM, 0, 0, 16, 0)
    ib = clears(batch) if clears_first else batch.ib()
    ib.set("RB_FS_OUTPUT_CNTL", MRT=1)
    for name, value in (("X", 64.0), ("Y", 16.0)):
        ib.set(f"GRAS_CL_VPORT_{name}OFFSET_0", as_float(value))
        ib.set(f"GRAS_CL_VPORT_{name}SCALE_0", as_float(-value))
    tile(batch, 0, 32, ib.draw())
    (found,) = passes(tile(batch, 32, 64, ib))
    assert found.render_area == Rectangle(0, 0, 64, 32)
    assert found.framebuffer == (Size(64, 32) if clears_first else None)
    assert bool(found.unknown) != clears_first


def test_framebuffer_is_unknown_where_tiles_begin_within_it() -> None:
    batch = begin().set("RB_CNTL", WIDTH=32, HEIGHT=32)
    batch.packet("CP_SET_RENDER_MODE", GMEM, 0, 0, 16, 0)
    tile(batch, 32, 64, program(batch))
    (found,) = passes(tile(batch, 64, 80, program(batch)))
    assert found.framebuffer is None
    assert found.render_area == Rectangle(32, 0, 80, 32)
    assert found.grid == Size(2, 1)
    assert found.unknown


def test_multisampled_store_resolves() -> None:
    batch = begin().set("RB_CNTL", WIDTH=32, HEIGHT=32)
    batch.packet("CP_SET_RENDER_MODE", GMEM, 0, 0, 16, 0)
    scissor(batch, 0, 0, 32, 32).set("RB_WINDOW_OFFSET", 0)
    targets(batch, 0, DEPTH_BASE).set("RB_DEST_MSAA_CNTL", SAMPLES="MSAA_FOUR")
    batch.call(program(batch)).set("RB_CLEAR_CNTL", MSAA_RESOLVE=1)
    (found,) = passes(batch.set("RB_BLIT_CNTL", BUF="BLIT_MRT0").packet("CP_EVENT_WRITE", BLIT))
    assert found.samples == 4
    assert found.tiles[0].operations[0].resolves


def test_lrz_is_cleared_before_the_pass_and_lost_at_a_draw() -> None:
    batch = begin()
    clear = batch.ib().set("RB_MRT[0].BASE_LO", LRZ).set("RB_CLEAR_CNTL", FAST_CLEAR=1, MASK=15)
    clear.packet("CP_EVENT_WRITE", BLIT).set("RB_CLEAR_CNTL", 0)
    batch.call(clear).set("GRAS_LRZ_BUFFER_BASE_LO", LRZ)
    (found,) = passes(gmem(batch, with_binning=False))
    assert found.lrz is not None
    assert (found.lrz.address, found.lrz.cleared) == (LRZ, True)
    assert (found.lrz.used, found.lrz.off_draws) == (True, (DrawRange(1, 1, 0),))
    assert found.tiles[0].draws[0].role == "clear"
    assert found.tiles[0].draws[0].pass_index == 0


def test_rectangle_of_the_blitter_clears() -> None:
    batch = sysmem(begin())
    ib = batch.ib().set("RB_FS_OUTPUT_CNTL", MRT=1).set("RB_MRT[0].CONTROL", COMPONENT_ENABLE=15)
    ib.set("RB_DEPTH_CNTL", 0).set("RB_STENCIL_CONTROL", 0).draw(RECTANGLES, 2)
    (found,) = passes(batch.call(ib).call(program(batch)))
    assert operations(found) == [("clear", "color 0")]
    assert len(found.draws) == 2


def test_groups_between_passes() -> None:
    blit = begin()
    commands = blit.ib().packet("CP_SET_RENDER_MODE", BLIT2D).packet("CP_BLIT", 1, 0, 0, 0, 0)
    blit.call(commands.packet("CP_SET_RENDER_MODE", END2D))
    compute = begin()
    compute.call(compute.ib().packet("CP_EXEC_CS", 0, 4, 2, 1))
    render = sysmem(begin())
    render.call(program(render))
    found = passes(blit, compute, render)
    assert [one.kind for one in found] == ["transfer", "compute", "render"]
    assert found[1].draws[0].groups == (4, 2, 1)
    assert [one.index for one in found] == [0, 1, 2]


def test_a_long_batch_goes_on_in_the_next_stream() -> None:
    first, second = begin().set("RB_CNTL", WIDTH=32, HEIGHT=32), Batch(530)
    draws = program(first)
    first.packet("CP_SET_RENDER_MODE", GMEM, 0, 0, 16, 0)
    tile(first, 32, 64, draws)
    tile(second, 0, 32, draws)
    (found,) = passes(first, second)
    assert len(found.tiles) == 2
    assert found.streams == [0, 1]


def test_a_pass_without_a_framebuffer_and_without_commands() -> None:
    batch = scissor(begin().set("RB_CNTL", BYPASS=1), 0, 0, 0x8000, 0x8000)
    (found,) = passes(batch)
    assert (found.kind, found.mode, found.framebuffer) == ("render", "sysmem", None)


def test_hostile() -> None:
    """Tiles without a pass, draws and events without registers."""
    batch = Batch(530)
    scissor(batch, 0, 0, 32, 32).packet("CP_EVENT_WRITE", BLIT).draw().draw(RECTANGLES, 2)
    batch.packet("CP_SET_RENDER_MODE", GMEM).packet("CP_SET_RENDER_MODE", GMEM)
    batch.packet("CP_SET_RENDER_MODE", BINNING).packet("CP_SET_BIN_DATA5", 0)
    batch.packet("CP_EXEC_CS", 0, 1, 1, 1).packet("CP_BLIT", 0)
    finder = find(batch)
    assert {action.pass_index is not None for action in finder.actions} == {True}
    unknown = finder.found.passes[0]
    assert (unknown.mode, unknown.framebuffer) == (None, None)
    assert unknown.unknown
