# SPDX-License-Identifier: MIT
"""Passes as the vendor's driver marks them (a6xx): the sample, and each fact alone.

| fact | test |
| --- | --- |
| two RM6_DIRECT_RENDER in front of a pass begin none | passes_of_the_sample |
| the LRZ clear in front of a marker is the pass's | lrz_of_the_sample, a_marker_without_effect |
| an IB of default registers sets nothing of the pass | a_marker_without_effect |
| an IB after the marker sets the target up | passes_of_the_sample, where_markers_stand |
| a tile is read at its first executed action | a_tile_is_read_at_its_first_executed_action |
| each clear comes twice, one is executed | clears_of_the_sample |
| clear values: the dwords that the format needs | clears_of_the_sample |
| the pattern of a flags fill is not a clear value | clears_of_the_sample, cost_of_the_sample |
| RM6_BLIT2DSCALE changes no condition, ends no pass | blits_in_a_pass, a_blit_under_a_condition |
| groups have masks for the modes | memory_of_a_gmem_pass |
| framebuffer: the window scissor of the binning run | passes_of_the_sample, tiles_of_the_sample |
| tile n uses pipe n; CP_SET_BIN_DATA5_OFFSET | tiles_of_the_sample, streams_are_used |
| all tiles after a binning run are one pass | tiles_of_one_binning_run |
| ... up to the next binning run | a_binning_run_begins_a_pass |
| RM6_BIN_RENDER_END is after the last tile | passes_end_behind_their_last_tile |
| without binning: one tile, as large as the framebuffer | passes_of_the_sample |
| attachments of a gmem pass: its stores and loads | memory_of_a_gmem_pass |
| stencil of its own follows depth | stencil_of_its_own |
| layers only from evidence | layers_need_evidence |

Facts: a frame of the vendor's driver on an a640.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cffpy.analysis.pass_cost import costs_of_passes
from cffpy.analysis.passes.finder import PassFinder
from cffpy.frame.geometry import Rectangle, Size
from cffpy.frame.passes import FLAGS_FILL
from tests.analysis.passes import marked
from tests.analysis.passes.marked import COLOUR, OTHER, bins, move, only, sysmem, targets, told
from tests.analysis.passes.streams import Dwords, Streams, executed, find, walk
from tests.golden.runner import built_sample

COLOURS = (0x1_0100_0000, 0x1_0120_0000, 0x1_0140_0000)
DEPTHS = (0x1_0110_0000, None, 0x1_0180_0000)
FLAGS = 0x40000


@pytest.fixture(scope="module")
def frame(samples: Path) -> PassFinder:
    return find(built_sample(samples.parent, "a640-vendor-frame").read_bytes())


@pytest.mark.slow
def test_passes_of_the_sample(frame: PassFinder) -> None:
    """Two markers in front of each pass are none."""
    passes = frame.found.passes
    assert [(p.index, p.mode, p.hardware_binning, len(p.draws)) for p in passes] == [
        (0, "sysmem", False, 4),
        (1, "gmem", False, 1),
        (2, "gmem", True, 3),
    ]
    assert [p.framebuffer for p in passes] == [Size(256, 256), Size(256, 256), Size(700, 600)]
    assert [(p.bin_size, p.grid, len(p.tiles)) for p in passes] == [
        (None, None, 0),
        (Size(256, 256), Size(1, 1), 1),
        (Size(288, 368), Size(3, 2), 6),
    ]
    assert [p.layers for p in passes] == [None, 1, 1], "GRAS_MAX_LAYER_INDEX is 1 in all"
    assert all(not p.unknown for p in passes)


@pytest.mark.slow
def test_tiles_of_the_sample(frame: PassFinder) -> None:
    binned = frame.found.passes[2]
    assert [tile.window_offset for tile in binned.tiles] == [
        (x, y) for y in (0, 368) for x in (0, 288, 576)
    ]
    assert [(tile.pipe, tile.slot, tile.pipe_tiles) for tile in binned.tiles] == [
        (number, 0, 1) for number in range(6)
    ]
    assert binned.tiles[5].rectangle == Rectangle(576, 368, 700, 600), "cut by the framebuffer"
    assert [tile.streams for tile in binned.tiles] == [
        (0x1_0028_0000 + 0x1040 * n, 0x1_0029_0000 + 4 * n, 0x1_0020_0000 + 0x4040 * n)
        for n in range(6)
    ]
    assert {tile.visibility for tile in binned.tiles} == {"streams"}


def test_attachments_of_the_sample(frame: PassFinder) -> None:
    """In gmem mode they lie where stores go, whatever the base registers hold."""
    for number, one in enumerate(frame.found.passes):
        wanted = [("color 0", COLOURS[number]), ("depth", DEPTHS[number])]
        assert [(a.name, a.address) for a in one.attachments] == [
            place for place in wanted if place[1]
        ]
        for draw in one.draws:
            assert [(a.name, a.address) for a in draw.targets] == [
                place for place in wanted if place[1]
            ]
    colour, depth = frame.found.passes[2].attachments
    assert (colour.ubwc, colour.flags, colour.pitch) == (False, None, 2816)
    (single,) = frame.found.passes[1].attachments
    assert (single.ubwc, single.flags, single.pitch) == (True, COLOURS[1] + FLAGS, 1024)
    assert depth.pitch == 2816


def test_clears_of_the_sample(frame: PassFinder) -> None:
    """Each once: by event in gmem mode, as a fill of flags in sysmem mode."""
    direct, single, binned = frame.found.passes
    assert direct.direct is not None
    fills = [one for one in direct.direct.operations if one.action.execution.is_possible]
    assert [(one.kind, one.attachment, one.how, one.clear_value) for one in fills] == [
        ("clear", "color 0", FLAGS_FILL, None),
        ("clear", "depth", FLAGS_FILL, None),
    ]
    assert [one.address for one in fills] == [COLOURS[0] + FLAGS, 0x1_0110_0000 + FLAGS]
    assert direct.render_area is None, "the rectangle of a fill is in units of flags"
    clears = [one for one in single.tiles[0].operations if one.kind == "clear"]
    by_event = [one for one in clears if one.action.execution.is_possible]
    assert [(one.attachment, one.clear_value) for one in by_event] == [("color 0", (0xFF000000,))]
    for tile in binned.tiles:
        found = [one for one in tile.operations if one.action.execution.is_possible]
        assert [(one.kind, one.attachment, one.clear_value) for one in found] == [
            ("clear", "color 0", (0xFF000000,)),
            ("clear", "depth", (0x3F800000,)),
            ("store", "color 0", None),
            ("store", "depth", None),
        ]


def test_lrz_of_the_sample(frame: PassFinder) -> None:
    passes = frame.found.passes
    assert [one.lrz and (one.lrz.address, one.lrz.cleared, one.lrz.used) for one in passes] == [
        (0x1_0030_0000, True, True),
        (0x1_0030_0000, True, False),
        (0x1_0030_0000, True, True),
    ]
    clears = [action for action in frame.actions if action.kind == "lrz clear"]
    assert [action.clears_lrz_of for action in clears] == [0, 1, 2]


def test_cost_of_the_sample(frame: PassFinder) -> None:
    direct, single, binned = costs_of_passes(frame.found)
    assert direct.total("clear") == 2 * 64 * 16 * 4, "flags, not pixels"
    assert single.total("store") == 256 * 256 * 4
    assert binned.total("store") == 2 * 700 * 600 * 4


# --- each fact alone -----------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["sysmem", "gmem"])
def test_blits_in_a_pass_change_no_condition(mode: str) -> None:
    s = Streams(640)
    marker = {"sysmem": "RM6_DIRECT_RENDER", "gmem": "RM6_BIN_RENDER_START"}[mode]
    found = walk(
        s.capture(
            [
                [
                    s.marker(marker),
                    s.only(mode, commands=s.marker("RM6_BLIT2DSCALE")),
                    s.only("gmem", commands=s.draw()),
                    s.only("sysmem", commands=s.draw()),
                ]
            ]
        )
    )
    assert executed(found) == [(0, mode == "gmem"), (1, mode == "sysmem")]


def test_a_blit_under_a_condition_ends_no_pass() -> None:
    s = Streams(640)
    blit = s.only("sysmem", commands=[*s.marker("RM6_BLIT2DSCALE"), *s.packet("CP_BLIT", 3)])
    found = only(s.find(s.marker("RM6_DIRECT_RENDER"), blit, s.ib(s.draw())).found.passes)
    assert len(found.draws) == 1


def test_what_compute_does_to_conditions_is_not_known() -> None:
    s = Streams(640)
    parts = [s.marker("RM6_DIRECT_RENDER"), s.marker("RM6_COMPUTE")]
    found = walk(s.capture([[*parts, s.only("gmem", commands=s.draw())]]))
    assert executed(found) == [(0, None)]


def test_a_marker_without_effect_is_no_pass() -> None:
    s = Streams(640)
    marker = s.marker("RM6_DIRECT_RENDER")
    defaults = s.ib(s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, 16384, 16384))
    clear = [*s.address("GRAS_LRZ_BUFFER_BASE", OTHER), *s.event("LRZ_CLEAR")]
    skipped = s.only("gmem", commands=s.draw())
    finder = s.find(marker, skipped, marker, s.ib(clear), defaults, marker, s.ib(s.draw()))
    found = only(finder.found.passes)
    assert found.index == 0
    assert found.lrz is not None
    assert found.lrz.cleared
    assert [action.pass_index for action in finder.actions if action.kind == "draw"] == [None, 0]


def test_passes_that_are_kept_though_nothing_is_drawn() -> None:
    """gallium's empty batches; those with an attachment; those whose commands are missing."""
    s = Streams(640)
    marker, skip = s.marker("RM6_DIRECT_RENDER"), s.packet("CP_SKIP_IB2_ENABLE_GLOBAL", 0)
    for parts in (
        [marker, skip, skip],
        [marker, s.address("RB_MRT[0].BASE", COLOUR)],
        [marker, s.call(0x7000_0000, 4)],
    ):
        assert only(s.find(*parts).found.passes).mode == "sysmem"
    unbound = s.address("RB_MRT[0].BASE", 0)
    assert not s.find(marker, unbound).found.passes


def vendor_tile(
    s: Streams, *commands: Dwords, x: int = 0, width: int = 100, bin_width: int = 128
) -> Dwords:
    """A tile that an IB after the marker sets up; the bin size follows in the stream."""
    set_up = [
        *s.scissor("GRAS_SC_WINDOW_SCISSOR", x, 0, width, 60),
        *s.point("RB_WINDOW_OFFSET", x, 0),
    ]
    return [
        *s.marker("RM6_BIN_RENDER_START"),
        *s.ib(set_up),
        *bins(s, bin_width, 96),
        *[word for command in commands for word in s.ib(command)],
        *s.marker("RM6_BIN_RESOLVE"),
    ]


def test_a_tile_is_read_at_its_first_executed_action() -> None:
    s = Streams(640)
    skipped = s.only("sysmem", commands=s.draw())
    found = only(
        s.find(
            vendor_tile(s, skipped, s.draw(), width=128),
            vendor_tile(s, skipped, s.draw(), x=128, width=70),
        ).found.passes
    )
    assert [tile.window_scissor for tile in found.tiles] == [
        Rectangle(0, 0, 128, 60),
        Rectangle(128, 0, 198, 60),
    ]
    assert (found.framebuffer, found.bin_size) == (Size(198, 60), Size(128, 96))


@pytest.mark.parametrize("mask", [0b111, 0b100])
def test_memory_of_a_gmem_pass(mask: int) -> None:
    """By stores and loads; without them it is unknown. Group 26 is in sysmem mode only."""
    s = Streams(640)
    stale = s.group(26, targets(s, depth=False), mask=mask)
    before = [*s.marker("RM6_DIRECT_RENDER"), *s.ib(targets(s, depth=False), s.draw())]
    stored = vendor_tile(s, [*stale, *s.draw()], move(s, "STORE", 0, OTHER))
    loaded = vendor_tile(s, move(s, "LOAD", 0, OTHER), [*stale, *s.draw()])
    neither = vendor_tile(s, [*stale, *s.draw()])
    for tile, address in ((stored, OTHER), (loaded, OTHER), (neither, None)):
        _, found = s.find(before, tile).found.passes
        (colour,) = found.attachments
        assert (colour.address, colour.gmem) == (address, 0)
        (draw,) = found.draws
        assert draw.targets == (colour,)


def test_a_buffer_that_only_an_event_names() -> None:
    """Where the registers of targets were never written, BUFFER_ID names a store's buffer."""
    s = Streams(640)
    store = move(s, "STORE", 0x8000, OTHER)
    numbered = s.reg("RB_BLIT_INFO", TYPE="BLIT_EVENT_STORE", BUFFER_ID=2)
    store = [*store[:-2], *numbered, *s.event("BLIT")]
    found = only(s.find(vendor_tile(s, s.draw(), store)).found.passes)
    assert [(a.name, a.address, a.gmem) for a in found.attachments] == [("color 2", OTHER, 0x8000)]
    assert told(found.tiles[0].operations) == [("store", "color 2", "BLIT event", True)]


def test_layers_need_evidence() -> None:
    s = Streams(640)
    last = s.raw("GRAS_MAX_LAYER_INDEX", 1)
    writes = s.reg("GRAS_VS_LAYER_CNTL", WRITES_LAYER=1)
    assert only(s.find(vendor_tile(s, [*last, *s.draw()])).found.passes).layers is None
    found = only(s.find(vendor_tile(s, [*last, *writes, *s.draw()])).found.passes)
    assert found.layers == 2


def test_one_layer_is_stored() -> None:
    """Also where a stage may write the layer, and where the target is set up in the stream."""
    s = Streams(640)
    last = [*s.raw("GRAS_MAX_LAYER_INDEX", 1), *s.reg("GRAS_VS_LAYER_CNTL", WRITES_LAYER=1)]
    store = move(s, "STORE", 0, COLOUR)
    body = [*targets(s), *last, *s.draw()]
    for code in (vendor_tile(s, body, store), marked.tile(s, 0, 0, 64, 64, s.ib(body), store)):
        assert only(s.find(code).found.passes).layers == 1


def test_flags_leave_room_for_one_layer() -> None:
    """In sysmem nothing is stored: the flags of the first layer lie behind its pixels."""
    s = Streams(640)
    buffers = [
        *targets(s),
        *s.reg("RB_MRT[0].ARRAY_PITCH", value=FLAGS),
        *s.reg("RB_RENDER_CNTL", FLAG_MRTS=1),
    ]
    last = [*s.raw("GRAS_MAX_LAYER_INDEX", 1), *s.reg("GRAS_VS_LAYER_CNTL", WRITES_LAYER=1)]
    for room, layers in ((FLAGS, 1), (2 * FLAGS, 2)):
        flags = s.address("RB_MRT_FLAG_BUFFER[0].ADDR", COLOUR + room)
        found = only(s.find(sysmem(s, buffers, flags, last, s.draw())).found.passes)
        assert found.layers == layers


def binned(s: Streams, *tiles: Dwords) -> Dwords:
    """A binning run, then tiles."""
    set_up = s.ib(s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, 256, 60))
    run = [*s.marker("RM6_BIN_VISIBILITY"), *set_up, *bins(s, 128, 96, "BINNING_PASS")]
    return [*run, *s.ib(s.draw()), *[word for tile in tiles for word in tile]]


def test_tiles_of_one_binning_run() -> None:
    """An LRZ_FLUSH between them, which ends passes of Mesa's drivers, ends none here."""
    s = Streams(640)
    tiles = [vendor_tile(s, s.draw(), x=128 * n, width=128) for n in range(2)]
    found = only(s.find(binned(s, tiles[0], s.event("LRZ_FLUSH"), tiles[1])).found.passes)
    assert (found.mode, found.hardware_binning, len(found.tiles)) == ("gmem", True, 2)
    assert found.framebuffer == Size(256, 60)
    assert [len(tile.draws) for tile in found.tiles] == [1, 1]


def test_a_binning_run_begins_a_pass() -> None:
    s = Streams(640)
    one, other = (binned(s, vendor_tile(s, s.draw(), width=128)) for _ in range(2))
    passes = s.find(one, other).found.passes
    assert [(p.hardware_binning, len(p.tiles)) for p in passes] == [(True, 1)] * 2


@pytest.mark.parametrize("with_binning", [False, True])
def test_passes_end_behind_their_last_tile(with_binning: bool) -> None:
    """What the driver copies after RM6_BIN_RENDER_END is not part of the pass."""
    s = Streams(640)
    tile = vendor_tile(s, s.draw(), width=128)
    found = binned(s, tile) if with_binning else tile
    end = s.marker("RM6_BIN_RENDER_END")
    copy = [*s.marker("RM6_BLIT2DSCALE"), *s.packet("CP_BLIT", 3)]
    passes = s.find(found, end, copy, found, end).found.passes
    assert [(one.kind, len(one.tiles)) for one in passes] == [
        ("render", 1),
        ("transfer", 0),
        ("render", 1),
    ]


@pytest.mark.parametrize("place", ["stream", "beside", "around"])
@pytest.mark.parametrize("gpu", [618, 640, 660, 740])
def test_where_markers_stand(gpu: int, place: str) -> None:
    """In the stream, in IBs beside those that set tiles up, or all within an IB."""
    s = Streams(gpu)
    stale = [*s.marker("RM6_DIRECT_RENDER"), *s.ib(targets(s, depth=False), s.draw())]
    parts = []
    for number in range(2):
        x = 128 * number
        set_up = s.scissor("GRAS_SC_WINDOW_SCISSOR", x, 0, 100, 60)
        set_up += s.point("RB_WINDOW_OFFSET", x, 0)
        start = s.marker("RM6_BIN_RENDER_START")
        resolve = s.marker("RM6_BIN_RESOLVE")
        if place == "beside":
            start, resolve = s.ib(start), s.ib(resolve)
        parts += [start, s.ib(set_up), bins(s, 128, 96), s.ib(s.draw())]
        parts += [resolve, s.ib(move(s, "STORE", 0, OTHER))]
    commands = [word for part in parts for word in part]
    if gpu >= 700:
        commands = [*s.packet("CP_THREAD_CONTROL", 1 | 1 << 31), *commands]
    _, found = s.find(stale, s.ib(commands) if place == "around" else commands).found.passes
    assert [tile.window_scissor for tile in found.tiles] == [
        Rectangle(0, 0, 100, 60),
        Rectangle(128, 0, 228, 60),
    ]
    (colour,) = found.attachments
    assert colour.address == OTHER, "the base register is the other pass's"


def test_stencil_of_its_own() -> None:
    """S8 beside depth: both are cleared and stored, each by an event of its own."""
    s = Streams(640)
    state = [
        *targets(s, colours=0),
        *s.reg("RB_STENCIL_INFO", SEPARATE_STENCIL=1),
        *s.address("RB_STENCIL_BUFFER_BASE", COLOUR),
        *s.reg("RB_STENCIL_BUFFER_BASE_GMEM", value=0x60000),
        *s.reg("RB_STENCIL_CONTROL", STENCIL_ENABLE=1),
    ]

    def operation(kind: str, buffer: int, gmem: int, memory: int) -> Dwords:
        numbered = s.reg("RB_BLIT_INFO", TYPE=f"BLIT_EVENT_{kind}", BUFFER_ID=buffer, DEPTH=1)
        return [*move(s, kind, gmem, memory)[:-2], *numbered, *s.event("BLIT")]

    clears = [operation("CLEAR", 8, 0x40000, 0), operation("CLEAR", 9, 0x60000, 0)]
    stores = [operation("STORE", 8, 0x40000, OTHER), operation("STORE", 9, 0x60000, OTHER + 0x8000)]
    found = only(s.find(vendor_tile(s, *clears, [*state, *s.draw()], *stores)).found.passes)
    assert told(found.tiles[0].operations) == [
        ("clear", "depth", "BLIT event", True),
        ("clear", "stencil", "BLIT event", True),
        ("store", "depth", "BLIT event", True),
        ("store", "stencil", "BLIT event", True),
    ]
    assert {a.name: a.address for a in found.attachments} == {
        "depth": OTHER,
        "stencil": OTHER + 0x8000,
    }


def test_streams_are_used_where_no_override_is_sent() -> None:
    s = Streams(640)
    data = s.packet("CP_SET_BIN_DATA5_OFFSET", 1 << 16, 0, 0, 0)
    binning = [*s.marker("RM6_BIN_VISIBILITY"), *s.ib(s.draw())]
    for override, wanted in (([], False), (s.packet("CP_SET_VISIBILITY_OVERRIDE", 1), True)):
        finder = s.find(override, binning, vendor_tile(s, [*data, *s.draw()]))
        (tile,) = only(finder.found.passes).tiles
        assert tile.visibility_override is wanted
