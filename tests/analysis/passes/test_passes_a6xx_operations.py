# SPDX-License-Identifier: MIT
"""Passes of a6xx and a7xx: what lies between them, ways to load and store, areas, LRZ buffers."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import pytest

from cffpy.frame.geometry import Rectangle, Size
from cffpy.frame.passes import Passes, SubmitPasses
from cffpy.views.passes import lines as pass_lines
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
from tests.analysis.passes.streams import Streams

GMEM = 0x100000


def fill(s: Streams, address: int) -> list[int]:
    return [
        *s.reg("RB_2D_BLIT_CNTL", SOLID_COLOR=1),
        *s.raw("RB_2D_SRC_SOLID_C0", 5, 6, 7, 8),
        *s.address("RB_2D_DST", address),
        *s.packet("CP_BLIT", 3),
    ]


def copy(s: Streams, source: int, address: int, samples: int = 0) -> list[int]:
    return [
        *s.raw("RB_2D_BLIT_CNTL", 0),
        *s.reg("SP_PS_2D_SRC_INFO", SAMPLES=samples),
        *s.reg("RB_2D_DST_INFO", SAMPLES=0),
        *s.address("SP_PS_2D_SRC", source),
        *s.address("RB_2D_DST", address),
        *s.packet("CP_BLIT", 3),
    ]


def quad(s: Streams, *, textures: bool) -> list[int]:
    name = "SP_FS_CONFIG" if s.database.register_offset("SP_FS_CONFIG") else "SP_PS_CONFIG"
    config = s.reg(name, NTEX=1) if textures else s.raw(name, 0)
    return [*config, *s.draw(2, "DI_PT_RECTLIST")]


def corners(s: Streams, *values: float, first: int = 0) -> list[int]:
    """Constants of a vertex shader from ``first`` on, in the packet."""
    direct_constants = first | 1 << 14 | 8 << 18 | len(values) // 4 << 22
    dwords = struct.unpack(f"<{len(values)}I", struct.pack(f"<{len(values)}f", *values))
    return s.packet("CP_LOAD_STATE6_GEOM", direct_constants, 0, 0, *dwords)


# --- between passes ------------------------------------------------------------------------------


@BOTH
def test_what_follows_the_last_tile_is_not_its_own(gpu: int) -> None:
    s = Streams(gpu)
    walk = tile(s, 0, 0, 100, 90, s.ib(targets(s), s.draw()), move(s, "STORE", 0, COLOUR))
    code = [walk, between(s), fill(s, OTHER), quad(s, textures=True), walk]
    first, group, second = s.find(*code).found.passes
    assert [one.kind for one in (first, group, second)] == ["render", "transfer", "render"]
    assert told(first.tiles[0].operations) == [("store", "color 0", "BLIT event", True)]
    assert len(group.draws) == 2


@BOTH
def test_what_copies_between_passes_do(gpu: int) -> None:
    s = Streams(gpu)

    def source(width: int) -> list[int]:
        sides = zip(("TL_X", "BR_X", "TL_Y", "BR_Y"), (0, width - 1, 0, 15), strict=True)
        return [word for side, at in sides for word in s.raw(f"GRAS_2D_SRC_{side}", at << 8)]

    code = [
        s.scissor("GRAS_2D_DST", 0, 0, 32, 16),
        source(32),
        fill(s, OTHER),
        copy(s, COLOUR, OTHER),
        [*source(16), *copy(s, COLOUR, OTHER)],
        copy(s, COLOUR, OTHER, samples=2),
        quad(s, textures=True),
        quad(s, textures=False),
        s.draw(),
        move(s, "CLEAR", 0),
    ]
    group = only(s.find(*code).found.passes)
    roles = [action.role for action in group.draws]
    assert roles == ["fill", "copy", "scale", "resolve", "copy", "fill", "", "fill"]


@BOTH
def test_a_sysmem_pass_that_calls_nothing_ends(gpu: int) -> None:
    s = Streams(gpu)
    skip = s.packet("CP_SKIP_IB2_ENABLE_GLOBAL", 0)
    code = [
        s.marker("RM6_DIRECT_RENDER"),
        skip,
        s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, 300, 200),
        skip,
        fill(s, OTHER),
        sysmem(s, s.draw()),
    ]
    first, group, second = s.find(*code).found.passes
    assert (first.mode, first.framebuffer, first.actions) == ("sysmem", Size(300, 200), [])
    assert group.kind == "transfer"
    assert len(second.draws) == 1


def test_without_a_framebuffer_the_scissor_is_one_pixel() -> None:
    s = Streams(630)
    scissor = s.scissor("GRAS_SC_WINDOW_SCISSOR", 0, 0, 1, 1)
    skip = s.packet("CP_SKIP_IB2_ENABLE_GLOBAL", 0)
    empty = only(s.find(s.marker("RM6_DIRECT_RENDER"), skip, scissor, skip).found.passes)
    assert empty.framebuffer is None
    assert empty.unknown
    drawn = only(s.find(sysmem(s, s.draw(), width=1, height=1)).found.passes)
    assert drawn.framebuffer == Size(1, 1), "the last level of a texture"


# --- stores, loads and clears --------------------------------------------------------------------


def to_memory(s: Streams, address: int) -> list[int]:
    """The buffers are in memory from here on, the first colour buffer at ``address``."""
    if s.gpu < 700:
        code = s.reg("RB_BIN_CONTROL", BUFFERS_LOCATION="BUFFERS_IN_SYSMEM")
    else:
        code = [*s.raw("RB_BIN_CONTROL", 0), *s.raw("RB_UNKNOWN_8812", 0x3FF)]
    return [
        *code,
        *s.reg("RB_FS_OUTPUT_CNTL1", MRT=1),
        *s.address("RB_MRT[0].BASE", address),
        *s.reg("RB_MRT[0].BUF_INFO", COLOR_FORMAT="FMT6_32_FLOAT"),
    ]


def saved(s: Streams, body: Sequence[int]) -> list[int]:
    """turnip keeps RB_BIN_CONTROL, and what a7xx has besides, while it draws to memory."""
    names = ["RB_BIN_CONTROL"] + (["RB_UNKNOWN_8812"] if s.gpu >= 700 else [])
    words = [s.offset(name) | number << 20 for number, name in enumerate(names)]
    before = [dword for word in words for dword in s.packet("CP_REG_TO_SCRATCH", word)]
    after = [dword for word in words for dword in s.packet("CP_SCRATCH_TO_REG", word)]
    return [*before, *body, *after]


@BOTH
@pytest.mark.parametrize("in_store_ib", [True, False])
def test_stores_by_rectangles(gpu: int, in_store_ib: bool) -> None:
    s = Streams(gpu)
    store = saved(s, [*to_memory(s, DEPTH), *quad(s, textures=True)])
    draws = s.ib(targets(s), s.draw(), [] if in_store_ib else store)
    bin_control = [*bins(s, 128, 96), *(s.raw("RB_UNKNOWN_8812", 0) if gpu >= 700 else [])]
    code = [bin_control]
    for x in (0, 128):
        code.append(tile(s, x, 0, 128, 96, draws, store if in_store_ib else ()))
    found = only(s.find(*code).found.passes)
    assert (found.bin_size, len(found.tiles)) == (Size(128, 96), 2)
    for one in found.tiles:
        assert told(one.operations) == [("store", "depth", "rectangle draw", True)]
        assert one.operations[0].address == DEPTH
    assert len(found.draws) == 1


@BOTH
def test_a_bin_size_that_is_not_written_again_stays(gpu: int) -> None:
    """turnip sets it once for all tiles."""
    s = Streams(gpu)
    draws = s.ib(targets(s), s.draw(), saved(s, [*to_memory(s, DEPTH), *quad(s, textures=True)]))
    code = list(bins(s, 128, 96))
    for x in (0, 128, 256):
        code += [
            *s.marker("RM6_BIN_RENDER_START"),
            *s.scissor("GRAS_SC_WINDOW_SCISSOR", x, 0, 128, 96),
            *s.point("RB_WINDOW_OFFSET", x, 0),
            *draws,
        ]
    found = only(s.find(code).found.passes)
    assert (len(found.tiles), found.bin_size, found.grid) == (3, Size(128, 96), Size(3, 1))


@BOTH
def test_loads_by_rectangles_are_named_by_gmem(gpu: int) -> None:
    """Attachments loaded this way are bound as the first colour buffer."""
    s = Streams(gpu)
    as_colour = [
        *s.reg("RB_FS_OUTPUT_CNTL1", MRT=1),
        *s.address("RB_MRT[0].BASE", 0),
        *s.reg("RB_MRT[0].BASE_GMEM", value=GMEM_DEPTH),
    ]
    draws = s.ib(as_colour, quad(s, textures=True), targets(s), s.draw())
    (run,) = only(s.find(tile(s, 0, 0, 100, 90, draws)).found.passes).tiles
    assert told(run.operations) == [("load", "depth", "rectangle draw", True)]
    assert run.operations[0].gmem == GMEM_DEPTH


@BOTH
def test_rectangles_clear_what_they_write(gpu: int) -> None:
    s = Streams(gpu)
    only_second = [
        *s.reg("RB_MRT[0].CONTROL", COMPONENT_ENABLE=0),
        *s.reg("RB_MRT[1].CONTROL", COMPONENT_ENABLE=15),
        *s.raw("RB_DEPTH_CNTL", 0),
        *s.raw("RB_STENCIL_CONTROL", 0),
    ]
    clear = quad(s, textures=False)
    packed = [
        *s.raw("RB_MRT[1].CONTROL", 0),
        *s.reg("RB_STENCIL_CONTROL", STENCIL_ENABLE=1),
        *s.reg("RB_DEPTH_BUFFER_INFO", DEPTH_FORMAT="DEPTH6_24_8"),
    ]
    body = [targets(s, 2), only_second, clear, packed, clear, targets(s, 2), s.draw()]
    found = only(s.find(tile(s, 0, 0, 100, 90, s.ib(*body))).found.passes)
    names = [operation.attachment for operation in found.tiles[0].operations]
    assert names == ["color 1", "stencil"]


@BOTH
def test_what_is_cleared_as_colour_is_named_by_address(gpu: int) -> None:
    """turnip clears multisampled depth so, in memory."""
    s = Streams(gpu)
    clear = [
        *s.reg("RB_FS_OUTPUT_CNTL1", MRT=1),
        *s.raw("RB_DEPTH_CNTL", 0),
        *s.raw("RB_STENCIL_CONTROL", 0),
        *s.reg("RB_MRT[0].CONTROL", COMPONENT_ENABLE=15),
        *s.address("RB_MRT[0].BASE", DEPTH),
        *quad(s, textures=False),
    ]
    found = only(
        s.find(sysmem(s, clear, targets(s), quad(s, textures=False), s.draw())).found.passes
    )
    assert found.direct is not None
    assert [operation.attachment for operation in found.direct.operations] == [
        "depth",
        "color 0+depth",
    ]
    unknown = [*clear, *s.address("RB_MRT[0].BASE", OTHER), *s.draw(2, "DI_PT_RECTLIST")]
    found = only(s.find(sysmem(s, unknown, targets(s), s.draw())).found.passes)
    assert found.direct is not None
    names = [operation.attachment for operation in found.direct.operations]
    assert names == ["depth", "color 0"], "as the registers have it"


@BOTH
def test_resolves_by_cp_blit_are_named_by_gmem(gpu: int) -> None:
    """GMEM begins at 0 or at 1 MB."""
    s = Streams(gpu)
    draws = s.ib(targets(s, 2, samples=2), s.draw())
    for begin in (0, GMEM):
        stores = copy(s, begin + 0x8000, OTHER, samples=2)
        (run,) = only(s.find(tile(s, 0, 0, 100, 90, draws, stores)).found.passes).tiles
        assert told(run.operations) == [("store", "color 1", "CP_BLIT", True)]
        assert run.operations[0].resolves
    far = [*targets(s, 2), *s.reg("RB_DEPTH_BUFFER_BASE_GMEM", value=GMEM)]
    draws = s.ib(far, s.draw())
    (run,) = only(s.find(tile(s, 0, 0, 100, 90, draws, copy(s, GMEM, OTHER))).found.passes).tiles
    assert run.operations[0].attachment is None, "colour at 1 MB, or depth at 0"


@BOTH
def test_samples_of_gmem_tell_resolves(gpu: int) -> None:
    """Of a pass without draws, the samples of draws are an older pass's."""
    s = Streams(gpu)
    old = s.reg("RB_DEST_MSAA_CNTL", SAMPLES=2)
    stores = [*s.reg("RB_BLIT_GMEM_MSAA_CNTL", SAMPLES=0), *move(s, "STORE", 0, COLOUR)]
    found = only(s.find(old, tile(s, 0, 0, 100, 90, [], stores)).found.passes)
    assert (found.samples, found.tiles[0].operations[0].resolves) == (1, False)


@BOTH
def test_attachments_of_a_pass_without_draws(gpu: int) -> None:
    """Those that are bound, and stored: registers of others may be older."""
    s = Streams(gpu)
    clears = s.ib(move(s, "CLEAR", 0), move(s, "CLEAR", GMEM_DEPTH, depth=True))
    bound = [*targets(s, 3), *s.reg("RB_FS_OUTPUT_CNTL1", MRT=0)]
    walk = tile(s, 0, 0, 100, 90, clears, move(s, "STORE", 0, COLOUR))
    found = only(s.find(bound, walk).found.passes)
    assert [(one.name, one.address) for one in found.attachments] == [("color 0", COLOUR)]
    names = [operation.attachment for operation in found.tiles[0].operations]
    assert names == ["color 0", "depth", "color 0"]
    direct = [*s.marker("RM6_DIRECT_RENDER"), *bound, *fill(s, COLOUR + 0x10000), *fill(s, OTHER)]
    found = only(s.find(direct).found.passes)
    assert [one.name for one in found.attachments] == ["color 1"]
    assert found.layers == 1
    assert found.direct is not None
    assert [one.attachment for one in found.direct.operations] == ["color 1", None]


@BOTH
@pytest.mark.parametrize(
    ("components", "name"), [(15, "depth+stencil"), (7, "depth"), (8, "stencil")]
)
def test_packed_depth_and_stencil_cleared_as_colour(gpu: int, components: int, name: str) -> None:
    s = Streams(gpu)
    packed = [*targets(s), *s.reg("RB_DEPTH_BUFFER_INFO", DEPTH_FORMAT="DEPTH6_24_8")]
    clear = [
        *s.reg("RB_BLIT_INFO", TYPE="BLIT_EVENT_CLEAR", CLEAR_MASK=components),
        *s.reg("RB_BLIT_BASE_GMEM", value=GMEM_DEPTH),
        *s.event("BLIT"),
    ]
    found = only(s.find(tile(s, 0, 0, 100, 90, s.ib(packed, clear, s.draw()))).found.passes)
    assert told(found.tiles[0].operations) == [("clear", name, "BLIT event", True)]
    lines = "\n".join(
        pass_lines(Passes(6, None, [SubmitPasses(0, [found])]), [SubmitPasses(0, [found])])
    )
    assert "clear by BLIT event" in lines.partition("    depth, ")[2].partition("\n    draws")[0]


@BOTH
def test_attachments_that_no_draw_writes(gpu: int) -> None:
    """Bound, cleared and stored all the same."""
    s = Streams(gpu)
    second = COLOUR + 0x10000
    body = [targets(s, 2), fill(s, second), s.reg("RB_FS_OUTPUT_CNTL1", MRT=1), s.draw()]
    found = only(s.find(sysmem(s, *body)).found.passes)
    assert [one.name for one in found.attachments] == ["color 0", "color 1", "depth"]
    assert found.direct is not None
    assert told(found.direct.operations) == [("clear", "color 1", "CP_BLIT", True)]
    stores = [*move(s, "STORE", 0, COLOUR), *move(s, "STORE", 0x8000, second)]
    draws = s.ib(targets(s, 2), s.reg("RB_FS_OUTPUT_CNTL1", MRT=1), s.draw())
    found = only(s.find(tile(s, 0, 0, 100, 90, draws, stores)).found.passes)
    assert [one.name for one in found.attachments] == ["color 0", "color 1", "depth"]
    resolve = copy(s, COLOUR, second, samples=2)
    body = [targets(s, 2), s.reg("RB_FS_OUTPUT_CNTL1", MRT=1), s.draw(), resolve]
    found = only(s.find(sysmem(s, *body)).found.passes)
    assert [one.name for one in found.attachments] == ["color 0", "depth"], "resolved to"


# --- areas and layers ----------------------------------------------------------------------------


def blit_scissor(s: Streams, left: int, top: int, right: int, bottom: int) -> list[int]:
    return s.scissor("RB_BLIT_SCISSOR", left, top, right - left, bottom - top)


@BOTH
def test_clears_tell_the_render_area_exactly(gpu: int) -> None:
    s = Streams(gpu)
    clear = [*blit_scissor(s, 10, 6, 83, 71), *move(s, "CLEAR", 0)]
    part = [*blit_scissor(s, 20, 20, 30, 30), *move(s, "CLEAR", 0)]
    store = [*blit_scissor(s, 0, 4, 96, 72), *move(s, "STORE", 0, COLOUR)]

    def area(*body: list[int]) -> tuple[Rectangle | None, bool]:
        walk = tile(s, 0, 0, 128, 96, s.ib(targets(s), *body, s.draw()), store)
        found = only(s.find(walk).found.passes)
        return found.render_area, found.render_area_rounded

    exact, rounded = Rectangle(10, 6, 83, 71), Rectangle(0, 4, 96, 72)
    assert area(clear) == (exact, False)
    assert area(clear, part) == (exact, False)
    assert area() == (rounded, True)
    assert area(part) == (rounded, True), "a clear of a part tells nothing"


@BOTH
def test_stores_by_cp_blit_tell_the_render_area_exactly(gpu: int) -> None:
    s = Streams(gpu)
    store = [*s.scissor("GRAS_2D_DST", 10, 6, 173, 65), *copy(s, GMEM, COLOUR)]
    draws = s.ib(targets(s), s.draw())
    code: list[int] = []
    for x in (0, 128):
        limit = [*s.point("GRAS_2D_RESOLVE_CNTL_1", x, 0)]
        limit += s.point("GRAS_2D_RESOLVE_CNTL_2", x + 127, 95)
        code += tile(s, x, 0, 128, 96, draws, [*limit, *store])
    found = only(s.find(code).found.passes)
    assert (found.render_area, found.render_area_rounded) == (Rectangle(10, 6, 183, 71), False)


@BOTH
def test_clears_and_resolves_in_memory_tell_the_render_area(gpu: int) -> None:
    s = Streams(gpu)
    clear = [*s.scissor("GRAS_2D_DST", 10, 6, 173, 65), *fill(s, COLOUR)]
    found = only(s.find(sysmem(s, clear, targets(s), s.draw())).found.passes)
    assert (found.render_area, found.render_area_rounded) == (Rectangle(10, 6, 183, 71), False)
    resolve = [*s.scissor("GRAS_2D_DST", 10, 6, 173, 65), *copy(s, COLOUR, OTHER, samples=2)]
    found = only(s.find(sysmem(s, targets(s), s.draw(), resolve)).found.passes)
    assert found.render_area == Rectangle(10, 6, 183, 71)
    beyond = [*s.scissor("GRAS_2D_DST", 10, 6, 400, 65), *fill(s, COLOUR)]
    found = only(s.find(sysmem(s, beyond, targets(s), s.draw())).found.passes)
    assert found.render_area is None, "beyond the framebuffer"
    other = [*s.scissor("GRAS_2D_DST", 10, 6, 40, 65), *fill(s, OTHER)]
    found = only(s.find(sysmem(s, other, targets(s), s.draw())).found.passes)
    assert found.render_area is None, "of what is not an attachment"


@BOTH
def test_tiles_at_the_largest_viewport_tell_nothing(gpu: int) -> None:
    """turnip's last tile of a framebuffer of 16,300 pixels."""
    s = Streams(gpu)
    draws = s.ib(targets(s), s.draw())
    code = [tile(s, x, 0, min(480, 16384 - x), 96, draws, bin_width=480) for x in (15840, 16320)]
    found = only(s.find(*code).found.passes)
    assert found.framebuffer is None


@BOTH
def test_layers_and_views(gpu: int) -> None:
    s = Streams(gpu)
    layered = sysmem(s, s.raw("GRAS_MAX_LAYER_INDEX", 3), s.draw())
    assert only(s.find(layered).found.passes).layers == 4
    plain = sysmem(s, s.raw("GRAS_MAX_LAYER_INDEX", 0), s.draw())
    assert only(s.find(plain).found.passes).layers == 1
    views = [*s.raw("GRAS_MAX_LAYER_INDEX", 1), *s.reg("PC_MULTIVIEW_CNTL", ENABLE=1, VIEWS=2)]
    found = only(s.find(sysmem(s, views, s.draw())).found.passes)
    assert (found.layers, found.views) == (1, 2)


@BOTH
def test_operations_of_layers_are_named(gpu: int) -> None:
    s = Streams(gpu)
    pitch = 0x4000
    body = [
        targets(s),
        s.reg("RB_MRT[0].ARRAY_PITCH", value=pitch),
        s.raw("GRAS_MAX_LAYER_INDEX", 1),
        move(s, "CLEAR", 0x1000),
        s.draw(),
    ]
    stores = [*move(s, "STORE", 0, COLOUR), *move(s, "STORE", 0x1000, COLOUR + pitch)]
    found = only(s.find(tile(s, 0, 0, 100, 90, s.ib(*body), stores)).found.passes)
    assert [one.attachment for one in found.tiles[0].operations] == ["color 0"] * 3
    assert found.layers == 2


# --- LRZ -----------------------------------------------------------------------------------------


@BOTH
def test_lrz_that_is_filled_before_the_pass_was_cleared(gpu: int) -> None:
    s = Streams(gpu)
    bind = s.address("GRAS_LRZ_BUFFER_BASE", OTHER)
    on = s.reg("GRAS_LRZ_CNTL", ENABLE=1)
    passes = s.find(bind, fill(s, OTHER), sysmem(s, on, s.draw()), sysmem(s, on, s.draw()))
    _, first, second = [one.lrz for one in passes.found.passes]
    assert first is not None
    assert (first.address, first.cleared, first.used) == (OTHER, True, True)
    assert second is not None
    assert (second.address, second.cleared) == (OTHER, False)


@BOTH
def test_lrz_that_is_bound_behind_the_marker(gpu: int) -> None:
    """As gallium binds it; an older pass's is bound until then."""
    s = Streams(gpu)
    old = s.address("GRAS_LRZ_BUFFER_BASE", DEPTH)
    new = s.address("GRAS_LRZ_BUFFER_BASE", OTHER)
    found = only(s.find(old, fill(s, OTHER)[:-2], sysmem(s, new, s.draw())).found.passes)
    assert found.lrz is not None
    assert (found.lrz.address, found.lrz.cleared) == (OTHER, False)
    none = s.address("GRAS_LRZ_BUFFER_BASE", 0)
    assert only(s.find(old, sysmem(s, none, s.draw())).found.passes).lrz is None


# --- corners of rectangles -----------------------------------------------------------------------


@BOTH
def test_corners_of_a_fill(gpu: int) -> None:
    s = Streams(gpu)
    plain = [*s.reg("GRAS_CL_CNTL", VP_XFORM_DISABLE=1), *s.raw("VFD_CONTROL_0", 0)]
    setup = [*targets(s, depth=False), *plain]
    found = corners(s, 5, 6, 0, 0, 133, 102, 0, 0)
    # what only looks like a packet with constants, in the data of another packet
    false = s.packet("CP_NOP", *corners(s, 1, 1, 1, 1, 2, 2, 2, 2))
    z = corners(s, 9, 9, 9, 9, first=2)
    fill = quad(s, textures=False)

    def area(*code: list[int]) -> Rectangle | None:
        (draw,) = only(s.find(between(s), setup, *code).found.passes).draws
        (moved,) = draw.transfers
        assert moved.destination is not None
        assert (draw.role, moved.destination.address) == ("fill", COLOUR)
        return moved.destination.rectangle

    assert area(found, fill) == area(found, z, false, fill) == Rectangle(5, 6, 133, 102)
    assert area(corners(s, 133, 6, 0, 0, 5, 101.5, 0, 0), fill) == Rectangle(5, 6, 133, 102)
    # the draw is another one, or its corners are not known
    assert area(found, s.raw("VFD_CONTROL_0", 1), fill) is None
    assert area(found, s.raw("GRAS_CL_CNTL", 0), fill) is None
    assert area(corners(s, 5, 6, 0, 0), fill) is None
    assert area(corners(s, math.nan, 6, 0, 0, 1, 1, 0, 0), fill) is None
    assert area(corners(s, 1e30, 6, 0, 0, 1, 1, 0, 0), fill) is None
    assert area(fill) is None
