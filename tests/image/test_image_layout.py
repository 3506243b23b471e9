# SPDX-License-Identifier: MIT
"""Layouts: the documented example, formats by name, limits, and rules that hold for all images."""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cffpy.errors import CffpyError, UnsupportedGpu
from cffpy.formats import UnknownFormat, image_format
from cffpy.image.devices import device, devices
from cffpy.image.gmem import gallium_tiles, turnip_tiles
from cffpy.image.layout import (
    ImageRequest,
    LayoutError,
    image_layout,
    lrz_layout,
    vendor_flags_layout,
)
from cffpy.image.tiled import BLOCKS, BankSwizzle, TiledMemory, TilingError, tile, untile

NAMES = ("R8_UNORM", "R8G8_UNORM", "R8G8B8A8_UNORM", "R16G16B16A16_FLOAT", "Z16_UNORM", "DXT1_RGB")


def test_the_vendors_flags_of_the_a5xx_notes() -> None:
    """All 22 addresses and the array pitch of the notes' image: 100x2000 RG16F, 11 levels."""
    found = vendor_flags_layout(
        ImageRequest(image_format("RG16F"), 100, 2000, levels=11, ubwc=True)
    )
    assert found.layer_size == 0x191000
    assert [(level.ubwc_offset, level.offset) for level in found.levels] == [
        (0x0, 0x8000),
        (0x102000, 0x106000),
        (0x145000, 0x147000),
        (0x167000, 0x168000),
        (0x178000, 0x179000),
        (0x181000, 0x182000),
        (0x186000, 0x187000),
        (0x189000, 0x18A000),
        (0x18B000, 0x18C000),
        (0x18D000, 0x18E000),
        (0x18F000, 0x190000),
    ]


@pytest.mark.parametrize(
    ("name", "block", "components", "is_depth"),
    [
        ("R8G8B8A8_UNORM", (4, 1, 1), 4, False),
        ("rgba8", (4, 1, 1), 4, False),
        ("PIPE_FORMAT_R5G6B5_UNORM", (2, 1, 1), 3, False),
        ("R11G11B10_FLOAT", (4, 1, 1), 3, False),
        ("R9G9B9E5_FLOAT", (4, 1, 1), 3, False),
        ("R64G64B64A64_FLOAT", (32, 1, 1), 4, False),
        ("ASTC_12x10_SRGB", (16, 12, 10), 4, False),
        ("ETC2_RGB8A1", (8, 4, 4), 4, False),
        ("Z24_UNORM_S8_UINT", (4, 1, 1), 2, True),
        ("S8_UINT_Z24_UNORM", (4, 1, 1), 2, True),
        ("X8Z24_UNORM", (4, 1, 1), 2, True),
        ("X24S8_UINT", (4, 1, 1), 2, True),
        ("Z32_FLOAT", (4, 1, 1), 1, True),
        ("S8_UINT", (1, 1, 1), 1, True),
        ("R8G8_B8G8_UNORM", (4, 2, 1), 3, False),
        ("YUYV", (4, 2, 1), 3, False),
    ],
)
def test_formats(name: str, block: tuple[int, int, int], components: int, is_depth: bool) -> None:
    found = image_format(name)
    assert (found.block_bytes, found.block_width, found.block_height) == block
    assert (found.components, found.is_depth_stencil) == (components, is_depth)


@pytest.mark.parametrize("name", ["", "RGBA", "R8G8", "R7_UNORM", "Q8_UNORM", "ASTC_4", "R8_WHAT"])
def test_names_that_are_no_format(name: str) -> None:
    with pytest.raises(UnknownFormat, match="is not an image format"):
        image_format(name)


@pytest.mark.parametrize("name", ["650", "a650", "FD650", "X1-85", "a32", "A740"])
def test_parts_by_their_names(name: str) -> None:
    assert device(name).name in name.lower()


def test_a702_is_a_part_of_a6xx() -> None:
    found = device("FD702")
    assert (found.generation, found.vsc_pipes, found.tile_align) == (6, 16, (32, 16))
    assert found.swizzle == BankSwizzle(15, 6, 8)  # Mesa's defaults
    assert found.ccu_gmem == 124 * 1024


def test_unknown_part() -> None:
    with pytest.raises(UnsupportedGpu, match="999"):
        device("999")


@pytest.mark.parametrize("generation", [2, 4, 8])
def test_generations_without_a_known_layout(generation: int) -> None:
    with pytest.raises(LayoutError, match=f"a{generation}xx"):
        image_layout(ImageRequest(image_format("RGBA8"), 4, 4), generation, False)
    with pytest.raises(LayoutError, match=f"a{generation}xx"):
        lrz_layout(generation, 4, 4)


@st.composite
def requests(draw: st.DrawFn) -> ImageRequest:
    is_3d = draw(st.booleans())
    return ImageRequest(
        image_format(draw(st.sampled_from(NAMES))),
        draw(st.integers(1, 3000)),
        draw(st.integers(1, 3000)),
        depth=draw(st.integers(1, 40)) if is_3d else 1,
        levels=draw(st.integers(1, 12)),
        layers=1 if is_3d else draw(st.integers(1, 8)),
        is_3d=is_3d,
        tile_mode=draw(st.sampled_from([0, 3])),
        ubwc=draw(st.booleans()),
    )


@given(requests(), st.sampled_from(sorted(devices())))
def test_levels_lie_within_the_image_and_do_not_overlap(request: ImageRequest, name: str) -> None:
    part = devices()[name]
    try:
        found = image_layout(request, part.generation, part.has_linear_mip_fallback)
    except CffpyError:
        assert part.generation < 5
        return
    spans = []
    for number, level in enumerate(found.levels):
        count = max(1, request.depth >> number) if request.is_3d else request.layers
        for layer in range(count):
            start = found.layer_offset(number, layer)
            spans.append((start, start + level.size))
        if found.ubwc and level.ubwc_pitch and level.tile_mode:
            start = found.ubwc_layer_offset(number, 0)
            assert start + level.ubwc_pitch <= found.levels[0].offset or part.generation == 5
    spans.sort()
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    assert spans[-1][1] <= found.size


def test_large_images_do_not_wrap() -> None:
    """A layer has more than 4 GiB; only offsets and slices have 32 bits in the driver."""
    request = ImageRequest(image_format("RGBA32F"), 16384, 16368, levels=2, layers=3, tile_mode=0)
    found = image_layout(request, 6, False)
    assert found.levels[0].size == 16384 * 16 * 16368 < 1 << 32
    assert found.layer_size == found.levels[0].size * 5 // 4 > 1 << 32
    assert found.size == 3 * found.layer_size


@given(requests(), st.sampled_from(["530", "618", "650", "660", "740", "750"]))
def test_larger_images_take_no_less(request: ImageRequest, name: str) -> None:
    """More rows, columns or layers never make the image smaller, if the same levels are tiled.

    Not so of 3D images: where slices stop being halved depends on both sides.
    """
    assume(not request.is_3d)
    part = device(name)
    found = image_layout(request, part.generation, part.has_linear_mip_fallback)
    for member in ("width", "height", "layers"):
        larger = replace(request, **{member: getattr(request, member) + 64})
        other = image_layout(larger, part.generation, part.has_linear_mip_fallback)
        modes = [[level.tile_mode for level in one.levels] for one in (found, other)]
        if other.ubwc == found.ubwc and modes[0] == modes[1]:
            assert other.size >= found.size, member
    plain = image_layout(replace(request, ubwc=False), part.generation, False)
    sizes = [level.size for level in plain.levels]
    pitches = [level.pitch for level in plain.levels]
    assert pitches == sorted(pitches, reverse=True)
    # the last level has some rows more, which blits may read
    assert sizes[:-1] == sorted(sizes[:-1], reverse=True)


@given(
    st.integers(1, 8192),
    st.integers(1, 8192),
    st.sampled_from([1, 2, 4, 8]),
    st.integers(1, 4),
    st.sampled_from(["530", "618", "650", "740"]),
)
def test_lrz_covers_the_image(width: int, height: int, samples: int, layers: int, gpu: str) -> None:
    part = device(gpu)
    flags = part.has_lrz_fast_clear
    found = lrz_layout(part.generation, width, height, samples, layers, has_fast_clear=flags)
    if not found.total_size:
        assert -(-height // 8) * 4 * layers > 1 << 14
        return
    assert found.pitch * 8 >= width
    assert found.height * 8 >= height
    if part.generation > 5:
        assert found.layer_size == 2 * found.pitch * found.height
        assert found.total_size >= layers * found.layer_size + found.fast_clear_size
        assert bool(found.fast_clear_offset) == flags
    else:
        assert found.total_size == found.offset + 2 * found.pitch * found.height


@given(
    st.integers(1, 4096),
    st.integers(1, 4096),
    st.lists(st.sampled_from(["RGBA8", "RG16F", "R8", "RGBA16F"]), min_size=1, max_size=6),
    st.sampled_from([None, "D16", "D24S8", "D32S8"]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from(["530", "618", "650", "660", "740", "750"]),
)
def test_tiles_cover_the_framebuffer(
    width: int, height: int, colors: list[str], depth: str | None, samples: int, gpu: str
) -> None:
    """Whatever the driver: tiles cover it, pipes cover the tiles, attachments lie in GMEM."""
    part = device(gpu)
    forms = [image_format(name) for name in colors]
    last = None if depth is None else image_format(depth)
    every = forms if last is None else [*forms, last]
    tilings = []
    for make in (
        lambda: gallium_tiles(part, width, height, forms, last, samples),
        lambda: turnip_tiles(part, width, height, every, samples),
        lambda: turnip_tiles(part, width, height, every, samples, avoid_ccu=True),
        lambda: turnip_tiles(part, width, height, every, samples, force_binning=True),
        lambda: turnip_tiles(part, width, height, every, samples, layers=2),
    ):
        with suppress(LayoutError):
            tilings.append(make())
    for found in tilings:
        for axis, size in enumerate((width, height)):
            assert found.tile[axis] * found.count[axis] >= size
            assert found.pipe[axis] * found.pipe_count[axis] >= found.count[axis]
            most = part.tile_max[axis]
            assert most is None or found.tile[axis] <= most + part.tile_align[axis]
        assert found.pipe_count[0] * found.pipe_count[1] <= part.vsc_pipes
        ends = [
            place.offset + place.cpp * found.tile[0] * found.tile[1]
            for place in found.layout.places
        ]
        starts = [place.offset for place in found.layout.places]
        assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))
        assert part.usable_gmem is not None
        assert ends[-1] <= part.usable_gmem


@pytest.mark.parametrize(
    ("size", "pipe_count"),
    [((1440, 1440), (1, 1)), ((4800, 4800), (3, 1)), ((16384, 9600), (5, 3))],
)
def test_pipes_of_a_pass_whose_bins_may_be_merged(
    size: tuple[int, int], pipe_count: tuple[int, int]
) -> None:
    """They are as large as a mask of bins: 4 x 8; tiles stay as they are."""
    part, forms = device("740"), [image_format("RGBA8"), image_format("D24S8")]
    plain = turnip_tiles(part, *size, forms, avoid_ccu=True)
    found = turnip_tiles(part, *size, forms, avoid_ccu=True, merge_bins=True)
    assert (found.tile, found.count, found.layout) == (plain.tile, plain.count, plain.layout)
    assert found.pipe == (4, 8)
    assert found.pipe_count == pipe_count
    assert found.binning_possible
    few = part._replace(vsc_pipes=pipe_count[0] * pipe_count[1] - 1)
    assert not turnip_tiles(few, *size, forms, merge_bins=True).binning_possible
    with pytest.raises(LayoutError, match="a660 has no masks of bins"):
        turnip_tiles(device("660"), *size, forms, merge_bins=True)


@given(
    cpp=st.sampled_from(sorted(BLOCKS)),
    blocks=st.integers(1, 9),
    height=st.integers(1, 40),
    swizzle=st.builds(BankSwizzle, st.integers(13, 16), st.integers(0, 7), st.sampled_from([4, 8])),
    data=st.data(),
)
def test_tiling_is_undone(
    cpp: int, blocks: int, height: int, swizzle: BankSwizzle, data: st.DataObject
) -> None:
    width = data.draw(st.integers(1, BLOCKS[cpp][0] * blocks))
    memory = TiledMemory(cpp, BLOCKS[cpp][0] * cpp * (blocks + blocks % 2), swizzle)
    linear = data.draw(st.binary(min_size=width * height * cpp, max_size=width * height * cpp))
    size = 1 + max(memory.offset(x, y) + cpp for x in range(width) for y in range(height))
    tiled = tile(linear, width, height, memory, size)
    assert untile(tiled, width, height, memory) == linear
    x, y = width - 1, height - 1
    offset = memory.offset(x, y)
    assert tiled[offset : offset + cpp] == linear[-cpp:]
    assert memory.texel(offset + cpp - 1) == (x, y)


def test_memory_that_is_too_small() -> None:
    memory = TiledMemory(4, 256, BankSwizzle(15, 6, 4))
    with pytest.raises(TilingError, match="do not fit"):
        tile(bytes(64 * 64 * 4), 64, 64, memory, 4096)
    with pytest.raises(TilingError, match="do not fit"):
        untile(bytes(100), 64, 64, memory)
    with pytest.raises(TilingError, match="need"):
        tile(b"", 64, 64, memory, 1 << 16)


@pytest.mark.parametrize(("cpp", "pitch"), [(3, 256), (32, 1024), (4, 100), (4, 0)])
def test_memory_that_is_not_tiled_so(cpp: int, pitch: int) -> None:
    with pytest.raises(TilingError):
        TiledMemory(cpp, pitch, BankSwizzle(15, 6, 4))
