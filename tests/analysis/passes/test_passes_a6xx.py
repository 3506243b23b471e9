# SPDX-License-Identifier: MIT
"""Passes of a6xx and a7xx in small streams, built as turnip and freedreno build theirs."""

from __future__ import annotations

import pytest

from cffpy.frame.geometry import Rectangle, Size
from cffpy.frame.places import DrawRange
from tests.analysis.passes.marked import (
    BOTH,
    COLOUR,
    DEPTH,
    GMEM_DEPTH,
    OTHER,
    between,
    bins,
    move,
    only,
    sysmem,
    targets,
    tile,
    told,
)
from tests.analysis.passes.streams import Streams, find

# --- modes, tiles, sizes -------------------------------------------------------------------------


@BOTH
def test_sysmem(gpu: int) -> None:
    s = Streams(gpu)
    found = only(s.find(sysmem(s, s.draw(), s.draw(6))).found.passes)
    assert (found.kind, found.mode, found.hardware_binning) == ("render", "sysmem", False)
    assert found.framebuffer == Size(300, 200)
    assert (found.tiles, found.bin_size, found.grid, found.binning) == ([], None, None, None)
    assert [draw.vertices for draw in found.draws] == [3, 6]
    colour, depth = found.attachments
    assert (colour.name, colour.address, colour.format) == ("color 0", COLOUR, "FMT6_8_8_8_8_UNORM")
    assert (colour.tiling, colour.pitch, colour.samples) == ("TILE6_3", 1024, 1)
    assert (depth.name, depth.address, depth.format) == ("depth", DEPTH, "DEPTH6_32")
    assert not any(one.ubwc for one in found.attachments)
    assert (found.first.gpuaddr, found.last.stream.kind) == (0x100000, "IB")


def grid(s: Streams, width: int, height: int, clipped: bool, stores: bool = False) -> list[int]:
    """The tiles of a pass of 128 x 96 without binning."""
    draws = s.ib(targets(s, pitch=2048), s.draw(), s.draw(6))
    code = []
    for y in range(0, height, 96):
        for x in range(0, width, 128):
            right = min(128, width - x) if clipped else 128
            bottom = min(96, height - y) if clipped else 96
            store = [
                *s.scissor("RB_BLIT_SCISSOR", 0, 0, width, height),
                *move(s, "STORE", 0, COLOUR),
            ]
            code += tile(s, x, y, right, bottom, draws, store if stores else ())
    return code


@BOTH
def test_tiles_that_are_clipped_tell_the_framebuffer(gpu: int) -> None:
    s = Streams(gpu)
    found = only(s.find(grid(s, 300, 200, clipped=True)).found.passes)
    assert (found.mode, found.hardware_binning, found.pipes) == ("gmem", False, [])
    assert (found.framebuffer, found.framebuffer_limit) == (Size(300, 200), None)
    assert (found.bin_size, found.grid, len(found.tiles)) == (Size(128, 96), Size(3, 3), 9)
    assert [one.window_offset for one in found.tiles][:4] == [(0, 0), (128, 0), (256, 0), (0, 96)]
    assert found.tiles[8].rectangle == Rectangle(256, 192, 300, 200)
    assert [one.number for one in found.tiles] == list(range(9))
    assert [len(one.draws) for one in found.tiles] == [2] * 9
    assert len(found.draws) == 2
    assert [draw.number for one in found.tiles for draw in one.draws] == [0, 1] * 9
    assert [draw.tile_number for draw in found.tiles[7].draws] == [7, 7]
    assert not found.unknown


@BOTH
def test_tiles_that_are_not_clipped_leave_it_unknown(gpu: int) -> None:
    s = Streams(gpu)
    found = only(s.find(grid(s, 300, 200, clipped=False)).found.passes)
    assert (found.framebuffer, found.framebuffer_limit) == (None, Size(384, 288))
    assert found.unknown == ["framebuffer size: tiles are not clipped to it"]
    assert found.render_area is None
    stored = only(s.find(grid(s, 300, 200, clipped=False, stores=True)).found.passes)
    assert stored.framebuffer is None
    assert stored.render_area == Rectangle(0, 0, 300, 200)
    assert stored.render_area_rounded


@BOTH
@pytest.mark.parametrize(
    ("kind", "rows", "size", "limit"),
    [
        ("CLEAR", 96, Size(64, 96), None),
        ("CLEAR", 100, None, Size(64, 96)),
        ("CLEAR", 80, None, Size(128, 96)),  # less than what is cleared: of another buffer
        ("STORE", 96, None, Size(64, 96)),  # stores are rounded outwards
    ],
)
def test_no_framebuffer_is_larger_than_its_attachments(
    gpu: int, kind: str, rows: int, size: Size | None, limit: Size | None
) -> None:
    """Tiles that are not clipped, and attachments of 64 pixels a row."""
    s = Streams(gpu)
    height = 90 if rows == 100 else 96
    bound = [*targets(s, depth=False, pitch=256), *s.reg("RB_MRT[0].ARRAY_PITCH", value=256 * rows)]
    moved = [*s.scissor("RB_BLIT_SCISSOR", 0, 0, 64, height), *move(s, kind, 0, COLOUR)]
    found = only(s.find(tile(s, 0, 0, 128, 96, s.ib(bound, moved, s.draw()))).found.passes)
    assert (found.framebuffer, found.framebuffer_limit) == (size, limit)
    assert bool(found.unknown) is (size is None)


@BOTH
@pytest.mark.parametrize("area", [128, 112])
def test_a_framebuffer_of_whole_bins(gpu: int, area: int) -> None:
    """gallium clips tiles, and binds buffers in their own commands; turnip does neither.

    What is loaded and stored is rounded outwards, and may be less than the framebuffer.
    """
    s = Streams(gpu)
    store = [*s.scissor("RB_BLIT_SCISSOR", 0, 0, area, 96), *move(s, "STORE", 0, COLOUR)]
    gallium = tile(s, 0, 0, 128, 96, s.ib(s.draw()), store, before=targets(s))
    found = only(s.find(gallium).found.passes)
    assert (found.framebuffer, found.framebuffer_limit) == (Size(128, 96), None)
    assert found.render_area == Rectangle(0, 0, area, 96)
    assert not found.unknown
    turnip = tile(s, 0, 0, 128, 96, s.ib(targets(s), s.draw()), store)
    found = only(s.find(turnip).found.passes)
    assert (found.framebuffer, found.framebuffer_limit) == (None, Size(128, 96))


@BOTH
def test_a_draw_that_a_tile_executes_twice_is_two_draws(gpu: int) -> None:
    s = Streams(gpu)
    body = s.ib(s.draw())
    draws = s.ib(targets(s), s.draw(6), body, body)
    finder = s.find(tile(s, 0, 0, 128, 96, draws), tile(s, 128, 0, 128, 96, draws))
    found = only(finder.found.passes)
    assert [draw.vertices for draw in found.draws] == [6, 3, 3]
    assert [action.number for action in finder.actions] == [0, 1, 2] * 2


def binned(s: Streams, offsets: bool) -> list[int]:
    """A pass of 2 x 1 tiles in two pipes; bin data as turnip has it, or as freedreno has it."""
    draws = s.ib(targets(s), s.draw())
    head = [
        *s.marker("RM6_BIN_VISIBILITY"),
        *s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, 400, 90),
        *bins(s, 256, 96, "BINNING_PASS"),
        *s.reg("VSC_BIN_COUNT", NX=2, NY=1),
        *s.reg("VSC_PIPE_CONFIG[0].REG", X=0, Y=0, W=1, H=1),
        *s.reg("VSC_PIPE_CONFIG[1].REG", X=1, Y=0, W=1, H=1),
        *s.raw("VSC_PIPE_CONFIG[2].REG", *[0] * 30),
        *s.raw("VSC_DRAW_STRM_PITCH", 0x440),
        *s.raw("VSC_DRAW_STRM_LIMIT", 0x400),
        *s.raw("VSC_PRIM_STRM_PITCH", 0x1040),
        *s.raw("VSC_PRIM_STRM_LIMIT", 0x1000),
        *s.address("VSC_DRAW_STRM_SIZE_ADDRESS", 0x2_0000_0000),
        *s.address("VSC_DRAW_STRM_ADDRESS", 0x2_0001_0000),
        *s.address("VSC_PRIM_STRM_ADDRESS", 0x2_0002_0000),
        *draws,
    ]
    code = head
    for number in range(2):
        word = 1 << 16 | 0 << 22
        if offsets:
            where = (0x440 * number, 4 * number, 0x1040 * number)
            data = s.packet("CP_SET_BIN_DATA5_OFFSET", word, *where)
        else:
            parts = [0x2_0001_0000 + 0x440 * number, 0x2_0000_0000 + 4 * number]
            parts.append(0x2_0002_0000 + 0x1040 * number)
            pairs = [half for part in parts for half in (part & 0xFFFFFFFF, part >> 32)]
            data = s.packet("CP_SET_BIN_DATA5", word, *pairs)
        before = [*s.packet("CP_SET_VISIBILITY_OVERRIDE", 0), *data]
        code += tile(s, 256 * number, 0, 256, 96, draws, before=before, bin_width=256)
    return code


@BOTH
@pytest.mark.parametrize("offsets", [False, True])
def test_hardware_binning(gpu: int, offsets: bool) -> None:
    s = Streams(gpu)
    finder = s.find(binned(s, offsets))
    found = only(finder.found.passes)
    assert (found.mode, found.hardware_binning) == ("gmem", True)
    assert (found.framebuffer, found.grid) == (Size(400, 90), Size(2, 1))
    assert [(pipe.number, pipe.x, pipe.width) for pipe in found.pipes] == [(0, 0, 1), (1, 1, 1)]
    streams = found.visibility_streams
    assert streams is not None
    assert (streams.draw_pitch, streams.primitive_limit) == (0x440, 0x1000)
    assert [(one.pipe, one.slot, one.pipe_tiles) for one in found.tiles] == [(0, 0, 1), (1, 0, 1)]
    assert found.tiles[1].streams == (0x2_0001_0440, 0x2_0000_0004, 0x2_0002_1040)
    assert [one.visibility_override for one in found.tiles] == [False, False]
    assert found.binning is not None
    assert len(found.draws) == 1
    executions = [(a.binning, a.tile_number, a.number, a.dump_draw) for a in finder.actions]
    assert executions == [(True, None, 0, 0), (False, 0, 0, 1), (False, 1, 0, 2)]


def test_stream_bases_by_pseudo_registers() -> None:
    s = Streams(740)
    pseudo = []
    for name, address in (
        ("DRAW_STRM_ADDRESS", 0x3_0000_0000),
        ("DRAW_STRM_SIZE_ADDRESS", 0x3_0001_0000),
        ("PRIM_STRM_ADDRESS", 0x3_0002_0000),
    ):
        number = s.database.enum_value("pseudo_reg", name)
        assert number is not None
        pseudo += [number, address & 0xFFFFFFFF, address >> 32]
    code = [*s.packet("CP_SET_PSEUDO_REG", *pseudo), *binned(s, offsets=True)]
    found = only(s.find(code).found.passes)
    assert found.tiles[1].streams == (0x3_0000_0440, 0x3_0001_0004, 0x3_0002_1040)


# --- where passes begin and end ------------------------------------------------------------------


@BOTH
def test_two_passes_in_one_stream(gpu: int) -> None:
    s = Streams(gpu)
    one, two = grid(s, 256, 96, clipped=True), grid(s, 128, 192, clipped=True)
    separate = s.find(one, between(s), two, between(s), sysmem(s, s.draw()), sysmem(s, s.draw()))
    modes = [(found.mode, found.grid) for found in separate.found.passes]
    assert modes == [("gmem", Size(2, 1)), ("gmem", Size(1, 2)), ("sysmem", None), ("sysmem", None)]
    joined = s.find(one, two)
    assert [len(found.tiles) for found in joined.found.passes] == [2, 2], "an offset comes again"
    assert [found.tiles[0].number for found in joined.found.passes] == [0, 0]
    counts = [action.pass_index for action in joined.actions]
    assert counts == [0] * 4 + [1] * 4
    twice = s.find(binned(s, offsets=True), binned(s, offsets=True))
    assert [len(found.tiles) for found in twice.found.passes] == [2, 2]


@BOTH
def test_a_pass_over_two_streams(gpu: int) -> None:
    s = Streams(gpu)
    walk = grid(s, 256, 96, clipped=True)
    middle = len(walk) // 2
    found = find(s.capture([[walk[:middle]], [walk[middle:]]])).found
    (one,) = found.passes
    assert (one.streams, len(one.tiles), one.submit) == ([0, 1], 2, 0)
    assert (one.first.number, one.last.number) == (0, 1)
    apart = find(s.capture([[walk[:middle]]], [[walk[middle:]]])).found
    assert [len(one.tiles) for one in apart.passes] == [1, 1], "no pass continues in another submit"
    assert [(submit.number, len(submit.passes)) for submit in apart.submits] == [(0, 1), (1, 1)]


@BOTH
def test_groups_between_passes(gpu: int) -> None:
    s = Streams(gpu)
    blit = s.packet("CP_BLIT", 3)
    finder = s.find(
        blit * 2,
        s.marker("RM6_COMPUTE"),
        s.packet("CP_EXEC_CS", 0, 1, 2, 3) * 3,
        sysmem(s, s.draw()),
        blit,
        s.draw(2, "DI_PT_RECTLIST"),
        grid(s, 128, 96, clipped=True),
        between(s),
        s.marker("RM6_BLIT2DSCALE"),
        blit,
    )
    assert [(one.kind, len(one.draws)) for one in finder.found.passes] == [
        ("transfer", 2),
        ("compute", 3),
        ("render", 1),
        ("transfer", 2),
        ("render", 2),
        ("transfer", 1),
    ]
    assert [action.dump_draw for action in finder.actions] == list(range(len(finder.actions)))
    indices = [action.pass_index for action in finder.actions]
    assert indices == sorted(indices)  # type: ignore[type-var]


# --- loads, clears, stores -----------------------------------------------------------------------


def blit_clear(s: Streams, address: int) -> list[int]:
    return [
        *s.reg("RB_2D_BLIT_CNTL", SOLID_COLOR=1),
        *s.raw("RB_2D_SRC_SOLID_C0", 5, 6, 7, 8),
        *s.address("RB_2D_DST", address),
        *s.packet("CP_BLIT", 3),
    ]


def blit_copy(s: Streams, source: int, address: int) -> list[int]:
    return [
        *s.raw("RB_2D_BLIT_CNTL", 0),
        *s.address("SP_PS_2D_SRC", source),
        *s.address("RB_2D_DST", address),
        *s.packet("CP_BLIT", 3),
    ]


@BOTH
def test_operations_by_mode(gpu: int) -> None:
    """turnip has both ways in one IB, each for its mode."""
    s = Streams(gpu)
    body = s.ib(
        targets(s),
        s.only("gmem", commands=move(s, "LOAD", 0, COLOUR)),
        s.only("gmem", commands=move(s, "CLEAR", GMEM_DEPTH, depth=True)),
        s.only("sysmem", commands=blit_clear(s, DEPTH)),
        s.draw(),
        s.only("sysmem", commands=blit_copy(s, COLOUR, OTHER)),
    )
    stores = [*move(s, "STORE", 0, COLOUR), *blit_copy(s, 0x100000 + GMEM_DEPTH, DEPTH)]
    gmem = only(s.find(tile(s, 0, 0, 100, 90, body, stores)).found.passes)
    (run,) = gmem.tiles
    operations = [
        ("load", "color 0", "BLIT event", True),
        ("clear", "depth", "BLIT event", True),
        ("store", "color 0", "BLIT event", True),
        ("store", "depth", "CP_BLIT", True),
    ]
    done = [one for one in run.operations if one.action.execution.is_possible]
    assert told(done) == operations
    assert len(run.operations) == 6, "those that are skipped are there, too"
    assert done[0].address == COLOUR
    assert done[1].clear_value == (1, 2, 3, 4)
    assert done[1].address is None
    # the offset of the attachment, as its clear has it
    assert (done[3].gmem, done[3].source) == (GMEM_DEPTH, 0x100000 + GMEM_DEPTH)
    assert done[1].gmem == GMEM_DEPTH
    assert [one.action.role for one in done] == ["load", "clear", "store", "store"]
    direct = [
        *s.marker("RM6_DIRECT_RENDER"),
        *s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, 100, 90),
        *body,
    ]
    found = only(s.find(direct).found.passes)
    assert found.direct is not None
    done = [one for one in found.direct.operations if one.action.execution.is_possible]
    assert told(done) == [
        ("clear", "depth", "CP_BLIT", True),
        ("store", "color 0", "CP_BLIT", True),
    ]
    assert [one.action.role for one in done] == ["clear", "store"]
    assert done[0].clear_value == (5, 6, 7, 8)
    assert (done[1].source, done[1].address) == (COLOUR, OTHER)
    assert len(found.draws) == 1


@BOTH
def test_conditional_loads_are_known_without_binning_only(gpu: int) -> None:
    s = Streams(gpu)
    load = [
        *s.test("VSC_STATE[0].REG", 0),
        *s.when(0, s.ib(move(s, "LOAD", 0, COLOUR))),
    ]
    body = s.ib(targets(s), s.draw())
    walk = tile(s, 0, 0, 128, 96, body, before=load)
    (known,) = only(s.find(s.raw("VSC_STATE[0].REG", 0xFFFFFFFF), walk).found.passes).tiles
    assert told(known.operations) == [("load", "color 0", "BLIT event", True)]
    (unset,) = only(s.find(s.raw("VSC_STATE[0].REG", 0xFFFFFFFE), walk).found.passes).tiles
    assert [one.action.execution.value for one in unset.operations] == [False]
    binning = [
        *s.raw("VSC_STATE[0].REG", 0xFFFFFFFF),
        *s.marker("RM6_BIN_VISIBILITY"),
        *s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, 128, 96),
        *bins(s, 128, 96, "BINNING_PASS"),
        *body,
    ]
    (unknown,) = only(s.find(binning, walk).found.passes).tiles
    assert told(unknown.operations) == [("load", "color 0", "BLIT event", None)]
    assert unknown.operations[0].action.condition == "predicate 0 of CP_REG_TEST"


@BOTH
def test_rectangles(gpu: int) -> None:
    s = Streams(gpu)
    quad = s.draw(2, "DI_PT_RECTLIST")
    textures = "SP_FS_CONFIG" if s.database.register_offset("SP_FS_CONFIG") else "SP_PS_CONFIG"
    body = s.ib(
        targets(s, depth=False),
        s.raw(textures, 0),
        quad,
        s.reg(textures, NTEX=1),
        quad,
        s.draw(),
    )
    found = only(s.find(tile(s, 0, 0, 100, 90, body, quad)).found.passes)
    (run,) = found.tiles
    assert told(run.operations) == [
        ("clear", "color 0", "rectangle draw", True),
        ("load", "color 0", "rectangle draw", True),
        ("store", "color 0", "rectangle draw", True),
    ]
    assert len(found.draws) == 1, "rectangles are the driver's"


@BOTH
def test_resolves_and_layers(gpu: int) -> None:
    s = Streams(gpu)
    stores = [*move(s, "STORE", 0, OTHER), *move(s, "STORE", 0, OTHER + 0x1000, samples=2)]
    code = tile(s, 0, 0, 100, 90, s.ib(targets(s, samples=2), s.draw()), stores)
    found = only(s.find(code).found.passes)
    assert (found.samples, found.layers) == (4, 2)
    assert [one.resolves for one in found.tiles[0].operations] == [True, False]
    single = tile(s, 0, 0, 100, 90, s.ib(targets(s), s.draw()), move(s, "STORE", 0, COLOUR))
    found = only(s.find(single).found.passes)
    assert (found.samples, found.layers) == (1, 1)
    assert [one.resolves for one in found.tiles[0].operations] == [False]


def test_an_event_whose_registers_are_older_than_the_stream() -> None:
    s = Streams(630)
    code = tile(s, 0, 0, 100, 90, s.ib(targets(s), s.draw()), s.event("BLIT"))
    (run,) = only(s.find(code).found.passes).tiles
    assert told(run.operations) == [("unknown", None, "BLIT event", True)]


@BOTH
def test_ubwc(gpu: int) -> None:
    s = Streams(gpu)
    # from a7xx on, an address stands there also where nothing is compressed
    flags = [
        *s.address("RB_MRT_FLAG_BUFFER[0].ADDR", 0x3_0000_0000),
        *s.address("RB_MRT_FLAG_BUFFER[1].ADDR", 0 if gpu < 700 else 0x4_0000_0000),
    ]
    if gpu < 700:
        flags += s.reg("RB_RENDER_CNTL", FLAG_MRTS=1)
    else:
        flags += s.reg("RB_MRT[0].BUF_INFO", LOSSLESSCOMPEN=1)
    found = only(s.find(sysmem(s, targets(s, colours=2), flags, s.draw())).found.passes)
    assert [(one.name, one.ubwc, one.flags) for one in found.attachments] == [
        ("color 0", True, 0x3_0000_0000),
        ("color 1", False, None),
        ("depth", False, None),
    ]


# --- LRZ -----------------------------------------------------------------------------------------


@BOTH
def test_lrz_off_at_draws(gpu: int) -> None:
    s = Streams(gpu)
    on, off = s.reg("GRAS_LRZ_CNTL", ENABLE=1, LRZ_WRITE=1), s.raw("GRAS_LRZ_CNTL", 0)
    clear = [
        *s.address("GRAS_LRZ_BUFFER_BASE", OTHER),
        *s.raw("GRAS_LRZ_DEPTH_VIEW", 0),
        *s.event("LRZ_CLEAR"),
    ]
    draws = [on, s.draw(), s.draw(), off, s.draw(), on, s.draw()]
    finder = s.find(clear, sysmem(s, *draws), sysmem(s, s.draw()), sysmem(s, off, s.draw()))
    first, second, third = [one.lrz for one in finder.found.passes]
    assert first is not None
    assert (first.address, first.cleared, first.used) == (OTHER, True, True)
    assert first.off_draws == (DrawRange(2, 2, 0),)  # not draw 3, which has it on again
    assert second is not None
    assert (second.cleared, second.used, second.off_draws) == (False, True, ())
    assert third is not None
    assert (third.used, third.off_draws) == (False, ())
    states = [action.depth for action in finder.actions if action.kind == "draw"]
    enabled = [state.lrz_enabled for state in states if state]
    assert enabled == [True, True, False, True, True, False]


@BOTH
def test_lrz_switched_off_by_an_impossible_view(gpu: int) -> None:
    s = Streams(gpu)
    clear = [*s.raw("GRAS_LRZ_DEPTH_VIEW", 0xFFFFFFFF), *s.event("LRZ_CLEAR")]
    enabled = s.reg("GRAS_LRZ_CNTL", ENABLE=1, LRZ_WRITE=1)
    found = only(s.find(clear, sysmem(s, enabled, s.draw())).found.passes)
    assert found.lrz is not None
    assert (found.lrz.disabled, found.lrz.cleared, found.lrz.used) == (True, False, False)


def test_a_clear_between_draws_is_not_the_passs_beginning() -> None:
    s = Streams(630)
    clear = [*s.address("GRAS_LRZ_BUFFER_BASE", OTHER), *s.event("LRZ_CLEAR")]
    finder = s.find(sysmem(s, s.draw(), clear, s.draw()), sysmem(s, s.draw()))
    assert [one.lrz and one.lrz.cleared for one in finder.found.passes] == [None, True]


# --- what the stream does not hold ---------------------------------------------------------------


def test_unknown_stays_unknown() -> None:
    s = Streams(630)
    found = only(s.find(s.marker("RM6_DIRECT_RENDER"), s.ib(s.draw())).found.passes)
    assert (found.framebuffer, found.samples, found.attachments) == (None, None, [])
    assert (found.render_area, found.views, found.layers, found.lrz) == (None, None, None, None)
    code = [s.marker("RM6_BIN_RENDER_START"), s.ib(s.draw())]
    found = only(s.find(*code).found.passes)
    assert (found.bin_size, found.grid, found.framebuffer, found.framebuffer_limit) == (None,) * 4
    assert (found.tiles[0].rectangle, found.tiles[0].pipe, found.tiles[0].slot) == (None,) * 3


def test_debug_markers_around_a_pass() -> None:
    s = Streams(630)
    begin = s.packet("CP_NOP", 0x4245474E, int.from_bytes(b"main", "little"))
    end = s.packet("CP_NOP", 0x454E4400)
    found = s.find(begin, sysmem(s, s.draw()), end, sysmem(s, s.draw())).found
    assert [one.markers for one in found.passes] == [("main",), ()]
