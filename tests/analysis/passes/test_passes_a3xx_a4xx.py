# SPDX-License-Identifier: MIT
"""Passes of a3xx and a4xx: modes, tiles, rectangles that load, clear and store."""

from __future__ import annotations

import pytest

from cffpy.frame.geometry import Rectangle, Size
from tests.analysis.passes.batches import RECTANGLES, Batch, find, operations, passes

SET_BIN = 0x4C
COLOUR, DEPTH = 0x700000, 0x800000
DEPTH_BASE = 0x4000
STREAM, SIZES = 0x500000, 0x510000

GPUS = pytest.mark.parametrize("gpu", [330, 430])


def begin(gpu: int) -> Batch:
    """What each pass begins with."""
    return Batch(gpu).set("RB_FRAME_BUFFER_DIMENSION", WIDTH=64, HEIGHT=32)


def mode(batch: Batch, which: str) -> Batch:
    """sysmem, gmem, load, store or binning."""
    if batch.generation == 3:
        names = {"binning": "RB_TILING_PASS", "store": "RB_RESOLVE_PASS"}
        name = names.get(which, "RB_RENDERING_PASS")
        return batch.set("RB_MODE_CONTROL", RENDER_MODE=name, GMEM_BYPASS=int(which == "sysmem"))
    batch.set("PC_BINNING_COMMAND", BINNING_ENABLE=int(which == "binning"))
    batch.set("RB_RENDER_CONTROL", DISABLE_COLOR_PIPE=int(which == "store"))
    size = 0 if which == "sysmem" else 32
    is_gmem = int(which in ("gmem", "store"))
    return batch.set("RB_MODE_CONTROL", WIDTH=size, HEIGHT=size, ENABLE_GMEM=is_gmem)


def colour(batch: Batch, base: int, format_number: int = 8) -> Batch:
    batch.set("RB_MRT[0].BUF_INFO", COLOR_FORMAT=format_number, COLOR_BUF_PITCH=256)
    if batch.generation == 3:
        return batch.set("RB_MRT[0].BUF_BASE", COLOR_BUF_BASE=base)
    return batch.set("RB_MRT[0].BASE", base)


def depth(batch: Batch, base: int) -> Batch:
    name = "DEPTHX_24_8" if batch.generation == 3 else "DEPTH4_24_8"
    batch.set("RB_DEPTH_INFO", DEPTH_FORMAT=name, DEPTH_BASE=base)
    return batch.set("RB_DEPTH_PITCH", 256 >> 3)


def program(batch: Batch) -> Batch:
    """The program's commands: a clear and two draws."""
    ib = batch.ib().set("RB_MRT[0].CONTROL", COMPONENT_ENABLE=15)
    ib.set("RB_STENCIL_CONTROL", STENCIL_ENABLE=1)
    ib.set("RB_DEPTH_CONTROL", Z_TEST_ENABLE=1, Z_WRITE_ENABLE=1).draw(RECTANGLES, 2)
    return ib.draw().draw(vertices=6)


def textures(batch: Batch, *addresses: int) -> Batch:
    """Textures of the driver's draws, in packets."""
    if batch.generation == 4:
        for state in (0, 1):  # samplers, and textures
            dwords = [0, 0] if state == 0 else [0, 0, 0, 0, 0x1F, 0, 0, 0]
            values = []
            for address in addresses:
                values += [word | (address if word == 0x1F else 0) for word in dwords]
            head = 4 << 18 | len(addresses) << 22
            batch.packet("CP_LOAD_STATE4", head, state, *values)
        return batch
    descriptors: list[int] = []
    table: list[int] = []
    for number, address in enumerate(addresses):
        descriptors += [0, 0, 256 << 12 | 14 * number, 0]
        table += [address, *[0] * 13]
    units = len(addresses)
    batch.packet("CP_LOAD_STATE", 16 | 2 << 19 | units << 22, 1, *descriptors)
    return batch.packet("CP_LOAD_STATE", 16 * 14 | 3 << 19 | 14 * units << 22, 1, *table)


def tile(batch: Batch, left: int, right: int, draws: Batch, slot: int | None) -> Batch:
    """A tile with a load of depth, and stores of both."""
    depth(mode(batch, "load"), 0).set("RB_DEPTH_CONTROL", 0)
    textures(colour(batch, DEPTH_BASE), DEPTH).draw(RECTANGLES, 2)
    mode(batch, "gmem")
    size, number = (2, slot) if slot is not None else (0, 0)
    batch.set("PC_VSTREAM_CONTROL", SIZE=size, N=number)
    if slot is not None:
        batch.packet("CP_SET_BIN_DATA", STREAM, SIZES)
    batch.packet(SET_BIN, 0, left, right - 1 | 31 << 16)
    depth(colour(batch, 0), DEPTH_BASE)
    batch.set("RB_WINDOW_OFFSET" if batch.generation == 3 else "RB_BIN_OFFSET", X=left, Y=0)
    batch.call(draws)
    mode(batch, "store")
    for which, base, address in (
        ("RB_COPY_DEPTH_STENCIL", DEPTH_BASE, DEPTH),
        ("RB_COPY_RESOLVE", 0, COLOUR),
    ):
        batch.set("RB_COPY_CONTROL", MODE=which, GMEM_BASE=base)
        batch.set("RB_COPY_DEST_BASE", BASE=address).set("RB_COPY_DEST_PITCH", 256 >> 5)
        batch.set("RB_COPY_DEST_INFO", FORMAT=8).draw(RECTANGLES, 2)
    return mode(batch, "gmem")


def pipes(batch: Batch) -> Batch:
    for number in range(8):
        name = "VSC_PIPE[{}].CONFIG" if batch.generation == 3 else "VSC_PIPE_CONFIG[{}].REG"
        batch.set(name.format(number), X=0, Y=0, W=2 * (number == 0), H=1)
    return batch.set("VSC_BIN_SIZE", WIDTH=32, HEIGHT=32)


def gmem(gpu: int, with_binning: bool) -> Batch:
    batch = pipes(begin(gpu))
    draws = program(batch)
    if with_binning:
        batch.set("RB_FRAME_BUFFER_DIMENSION", WIDTH=64, HEIGHT=32)
        mode(batch, "binning").call(program(batch))
    tile(batch, 32, 64, draws, 1 if with_binning else None)
    return tile(batch, 0, 32, draws, 0 if with_binning else None)


@GPUS
def test_sysmem(gpu: int) -> None:
    batch = depth(colour(mode(begin(gpu), "sysmem"), COLOUR), DEPTH)
    (found,) = passes(batch.call(program(batch)))
    assert (found.kind, found.mode, found.framebuffer) == ("render", "sysmem", Size(64, 32))
    assert [draw.vertices for draw in found.draws] == [3, 6]
    assert operations(found) == [("clear", "color 0+depth+stencil")]
    assert [(one.name, one.address, one.gmem) for one in found.attachments] == [
        ("color 0", COLOUR, None),
        ("depth", DEPTH, None),
    ]


@GPUS
def test_depth_buffer_of_an_older_pass(gpu: int) -> None:
    """gallium does not name the depth buffer in sysmem: that it is written is all there is."""
    batch = depth(Batch(gpu), DEPTH).set("RB_FRAME_BUFFER_DIMENSION", WIDTH=64, HEIGHT=32)
    mode(colour(batch, COLOUR), "sysmem")
    (found,) = passes(batch.call(program(batch)))
    assert operations(found) == [("clear", "color 0+depth+stencil")]
    _, second = found.attachments
    assert (second.name, second.address, second.format) == ("depth", None, None)


@GPUS
@pytest.mark.parametrize("with_binning", [False, True])
def test_gmem(gpu: int, with_binning: bool) -> None:
    (found,) = passes(gmem(gpu, with_binning))
    assert (found.mode, found.hardware_binning) == ("gmem", with_binning)
    assert found.framebuffer == Size(64, 32)
    assert (found.bin_size, found.grid) == (Size(32, 32), Size(2, 1))
    assert [one.rectangle for one in found.tiles] == [
        Rectangle(32, 0, 64, 32),
        Rectangle(0, 0, 32, 32),
    ]
    assert [one.window_offset for one in found.tiles] == [(32, 0), (0, 0)]
    expected = [(0, 1), (0, 0)] if with_binning else [(None, None)] * 2
    assert [(one.pipe, one.slot) for one in found.tiles] == expected
    assert [pipe.width for pipe in found.pipes] == [2]
    assert len(found.draws) == 2
    assert [draw.number for draw in found.tiles[1].draws] == [0, 1]
    assert operations(found) == [
        ("load", "depth+stencil"),
        ("clear", "color 0+depth+stencil"),
        ("store", "depth+stencil"),
        ("store", "color 0"),
    ]
    load, _, store, _ = found.tiles[0].operations
    assert (load.gmem, load.address) == (DEPTH_BASE, DEPTH)
    assert (store.address, store.gmem, store.pitch) == (DEPTH, DEPTH_BASE, 256)
    assert [(one.name, one.address, one.gmem, one.pitch) for one in found.attachments] == [
        ("color 0", COLOUR, 0, 256),
        ("depth", DEPTH, DEPTH_BASE, 256),
    ]
    if with_binning:
        assert found.binning is not None
        # of the clear in the binning run nothing is cleared; its draws have separate packets
        assert [draw.role for draw in found.binning.draws] == ["clear", "", ""]
        assert [draw.number for draw in found.binning.draws] == [None, 0, 1]
        assert found.binning.operations == []
        assert found.tiles[0].streams == (STREAM, SIZES, None)


@GPUS
def test_the_colour_of_a_clear_is_the_first_constant(gpu: int) -> None:
    batch = depth(colour(mode(begin(gpu), "sysmem"), COLOUR), DEPTH)
    ib = batch.ib().set("RB_MRT[0].CONTROL", COMPONENT_ENABLE=15)
    ib.set("RB_DEPTH_CONTROL", 0).set("RB_STENCIL_CONTROL", 0)

    def constants(offset: int, *values: int) -> None:
        if gpu == 330:
            ib.packet("CP_LOAD_STATE", offset | 6 << 19 | 2 << 22, 1, *values)
        else:
            ib.packet("CP_LOAD_STATE4", offset | 12 << 18 | 1 << 22, 1, *values)

    constants(0, 1, 2, 3, 4)
    constants(2, 5, 6, 7, 8)
    ib.draw(RECTANGLES, 2).set("RB_MRT[0].CONTROL", COMPONENT_ENABLE=0)
    ib.set("RB_DEPTH_CONTROL", Z_WRITE_ENABLE=1).draw(RECTANGLES, 2).draw()
    (found,) = passes(batch.call(ib))
    assert found.direct is not None
    assert [(one.attachment, one.clear_value) for one in found.direct.operations] == [
        ("color 0", (1, 2, 3, 4)),
        ("depth", None),
    ]


def loaded(batch: Batch) -> list[tuple[str | None, int | None, int | None]]:
    """What the one load of a tile loads, which is all that the pass binds."""
    mode(batch, "gmem").packet(SET_BIN, 0, 0, 31 | 31 << 16)
    if batch.generation == 3:
        batch.set("RB_MODE_CONTROL", RENDER_MODE="RB_RENDERING_PASS", MRT=3)
    batch.call(batch.ib().draw())
    (found,) = passes(batch)
    (run,) = found.tiles
    assert len({operation.action.order for operation in run.operations}) == 1
    assert [action.order for action in found.actions] == [0, 1]
    return [(one.attachment, one.gmem, one.address) for one in run.operations]


@GPUS
def test_one_rectangle_loads_all_colour_buffers(gpu: int) -> None:
    batch = mode(pipes(begin(gpu)), "load").set("RB_DEPTH_CONTROL", 0)
    for number, base in ((0, 0), (2, 0x8000)):
        batch.set(f"RB_MRT[{number}].BUF_INFO", COLOR_FORMAT=8, COLOR_BUF_PITCH=256)
        if gpu == 330:
            batch.set(f"RB_MRT[{number}].BUF_BASE", COLOR_BUF_BASE=base)
        else:
            batch.set(f"RB_MRT[{number}].BASE", base)
    textures(batch, COLOUR, 0, DEPTH).draw(RECTANGLES, 2)
    assert loaded(batch) == [("color 0", 0, COLOUR), ("color 2", 0x8000, DEPTH)]


@GPUS
@pytest.mark.parametrize("separate", [False, True])
def test_depth_as_float_is_loaded_as_depth(gpu: int, separate: bool) -> None:
    """Separate stencil, bound as colour and as the first texture."""
    batch = mode(pipes(begin(gpu)), "load").set("RB_DEPTH_CONTROL", Z_WRITE_ENABLE=1)
    stencil, memory = 0x8000, 0x900000
    depth(colour(batch, stencil if separate else DEPTH_BASE), DEPTH_BASE)
    name = "DEPTHX_32" if gpu == 330 else "DEPTH4_32"
    batch.set("RB_DEPTH_INFO", DEPTH_FORMAT=name, DEPTH_BASE=DEPTH_BASE)
    addresses = (memory, DEPTH) if separate else (DEPTH,)
    textures(batch, *addresses).draw(RECTANGLES, 2)
    colour(batch, 0)
    if separate:
        extra = {"SEPARATE_STENCIL": 1} if gpu == 430 else {}
        batch.set("RB_STENCIL_INFO", STENCIL_BASE=stencil, **extra)
        batch.set("RB_STENCIL_PITCH", 64 >> 3)
    expected = [("stencil", stencil, memory)] if separate else []
    assert loaded(batch) == [*expected, ("depth", DEPTH_BASE, DEPTH)]


@GPUS
def test_a_load_of_unknown_textures(gpu: int) -> None:
    batch = mode(pipes(begin(gpu)), "load").set("RB_DEPTH_CONTROL", 0)
    assert loaded(batch.draw(RECTANGLES, 2)) == [(None, None, None)]


@GPUS
def test_a_store_of_several_samples_resolves(gpu: int) -> None:
    batch = mode(pipes(begin(gpu)), "gmem").packet(SET_BIN, 0, 0, 31 | 31 << 16)
    mode(colour(batch, 0).call(program(batch)), "store")
    batch.set("RB_COPY_CONTROL", MSAA_RESOLVE="MSAA_FOUR", MODE="RB_COPY_RESOLVE")
    (found,) = passes(batch.draw(RECTANGLES, 2))
    assert [one.resolves for one in found.tiles[0].operations] == [False, True]


@GPUS
def test_a_framebuffer_set_for_each_tile(gpu: int) -> None:
    """As old drivers do: one pass, until a tile comes again."""
    batch = pipes(Batch(gpu))
    draws = program(batch)
    for left in (0, 32, 0, 32):
        batch.set("RB_FRAME_BUFFER_DIMENSION", WIDTH=64, HEIGHT=32)
        mode(batch, "gmem").packet(SET_BIN, 0, left, left + 31 | 31 << 16)
        batch.set("RB_WINDOW_OFFSET" if gpu == 330 else "RB_BIN_OFFSET", X=left, Y=0)
        colour(batch, 0).call(draws)
    found = passes(batch)
    assert [len(one.tiles) for one in found] == [2, 2]
    assert {one.grid for one in found} == {Size(2, 1)}


@GPUS
def test_another_framebuffer_is_another_pass(gpu: int) -> None:
    batch = gmem(gpu, with_binning=False)
    batch.set("RB_FRAME_BUFFER_DIMENSION", WIDTH=32, HEIGHT=32)
    tile(batch, 0, 32, program(batch), None)
    assert [one.framebuffer for one in passes(batch)] == [Size(64, 32), Size(32, 32)]


@GPUS
def test_workarounds_before_the_binning_run(gpu: int) -> None:
    batch = begin(gpu)
    mode(batch, "store").draw(RECTANGLES, 2).draw(vertices=0)
    mode(batch, "binning").call(program(batch))
    (found,) = passes(tile(batch, 0, 64, program(batch), 0))
    assert found.binning is not None
    assert [draw.role for draw in found.binning.draws[:2]] == ["workaround", "workaround"]
    assert len(found.draws) == 2


def test_a_batch_of_dispatches_is_no_pass() -> None:
    compute = mode(begin(430), "sysmem")
    compute.call(compute.ib().packet("CP_EXEC_CS", 0, 4, 2, 1))
    empty = mode(Batch(430).set("RB_FRAME_BUFFER_DIMENSION", 0), "sysmem")
    found = passes(compute, empty)
    assert [(one.kind, one.mode) for one in found] == [("compute", None), ("render", "sysmem")]
    assert [one.index for one in found] == [0, 1]
    assert found[1].framebuffer is None


@GPUS
def test_separate_stencil(gpu: int) -> None:
    batch = depth(colour(mode(begin(gpu), "sysmem"), COLOUR), DEPTH)
    extra = {"SEPARATE_STENCIL": 1} if gpu == 430 else {}
    batch.set("RB_STENCIL_INFO", STENCIL_BASE=0x900000, **extra)
    batch.set("RB_STENCIL_PITCH", 64 >> 3)
    (found,) = passes(batch.call(program(batch)))
    assert [one.name for one in found.attachments] == ["color 0", "depth", "stencil"]


@GPUS
def test_hostile(gpu: int) -> None:
    """Tiles without a pass, draws without registers, a pass without anything."""
    batch = Batch(gpu).packet(SET_BIN, 0, 0, 0).packet("CP_SET_BIN_DATA", 0, 0)
    batch.draw(RECTANGLES, 2).draw().draw(vertices=0)
    batch.call(batch.ib().draw(RECTANGLES, 2))
    batch.set("RB_FRAME_BUFFER_DIMENSION", 0).packet(SET_BIN).packet(SET_BIN)
    batch.draw(RECTANGLES, 2)
    finder = find(batch)
    assert {action.pass_index is not None for action in finder.actions} == {True}
    unknown = finder.found.passes[0]
    assert unknown.mode is None
    assert unknown.unknown


def test_rectangles_outside_passes_are_a_group() -> None:
    (found,) = passes(Batch(330).set("RB_MODE_CONTROL", 0).draw(RECTANGLES, 2))
    assert found.kind == "transfer"


@GPUS
def test_an_unused_depth_buffer_at_the_same_place_in_gmem(gpu: int) -> None:
    """Registers of a buffer that is not used place it at 0: the store is of the colour buffer."""
    batch = depth(colour(mode(pipes(begin(gpu)), "gmem"), 0), 0).packet(
        SET_BIN, 0, 0, 31 | 31 << 16
    )
    ib = batch.ib().set("RB_MRT[0].CONTROL", COMPONENT_ENABLE=15).set("RB_DEPTH_CONTROL", 0)
    mode(batch.call(ib.draw()), "store")
    batch.set("RB_COPY_CONTROL", MODE="RB_COPY_RESOLVE", GMEM_BASE=0)
    batch.set("RB_COPY_DEST_BASE", BASE=COLOUR).set("RB_COPY_DEST_PITCH", 256 >> 5)
    batch.set("RB_COPY_DEST_INFO", FORMAT=8).draw(RECTANGLES, 2)
    (found,) = passes(mode(batch, "gmem"))
    assert operations(found) == [("store", "color 0")]
    assert found.attachments[0].address == COLOUR
