# SPDX-License-Identifier: MIT
"""Fragment density maps: scales and offsets out of patched commands, and what does not fit."""

from __future__ import annotations

from math import inf, nan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.analysis.queries import find_passes
from cffpy.container.open import Content, open_capture
from cffpy.container.writer import dwords_bytes
from cffpy.frame.density import Density, ViewDensity, number_text, scale_between
from cffpy.frame.geometry import Point, Rectangle
from cffpy.frame.passes import Pass
from tests.tile_streams import BIN_SCALE_ENABLE, NewTile, Stream, View


def the_pass(data: bytes) -> Pass:
    before = bytes(data)
    finder, damage = find_passes(Content("-", memoryview(data), "none", 0, None), pytest.fail)
    assert data == before
    assert not damage
    assert not finder.found.problems
    (found,) = finder.found.passes
    return found


def densities(data: bytes) -> list[Density]:
    found = [tile.density for tile in the_pass(data).tiles]
    return [density for density in found if density is not None]


def views(data: bytes) -> list[list[ViewDensity]]:
    return [density.views for density in densities(data)]


TILES = [
    NewTile((0, 0), [View((1 / 2, 1 / 4))]),
    NewTile((256, 0), [View((1, 1))]),
    NewTile((256, 256), [View((1 / 4, 1))]),
    NewTile((0, 256), [View((1 / 2, 1 / 2))]),
]


@pytest.mark.parametrize("has_binning", [True, False])
def test_scales_and_offsets(has_binning: bool) -> None:
    found = densities(Stream(TILES, has_binning=has_binning).build())
    assert [density.problems for density in found] == [[]] * 4
    where = "binning run" if has_binning else "memory at the submit"
    assert {density.unscaled_from for density in found} == {where}
    assert [density.writes for density in found] == [3] * 4
    (one,), (two,), (three,), (four,) = [density.views for density in found]
    assert one.scale == (1 / 2, 1 / 4)
    assert one.offset == (0, 0)
    assert two.scale == (1, 1)
    assert two.offset == (0, 0)
    assert three.scale == (1 / 4, 1)
    assert three.offset == (256 - 64, 0)
    assert four.offset == (0, 128)
    for view in (one, two, three, four):
        assert view.scale_from == "viewport"
        assert view.is_start_stored
        assert view.expected_offset == view.offset
        assert view.fits is True
    assert one.scissor == Rectangle(0, 0, 128, 64)


def test_memory_that_an_earlier_run_has_patched() -> None:
    """Without a binning run nothing holds the program's viewport; stores tell the scales."""
    stream = Stream(TILES, has_binning=False, ran_before=TILES[3])
    found = densities(stream.build())
    assert {density.unscaled_from for density in found} == {"stores"}
    assert [density.problems for density in found] == [[]] * 4
    assert [density.views[0].scale for density in found] == [
        (1 / 2, 1 / 4),
        (1, 1),
        (1 / 4, 1),
        (1 / 2, 1 / 2),
    ]
    assert all(density.views[0].fits for density in found)
    wrong = [*TILES, NewTile((512, 0), [View((1 / 2, 1 / 2), mistake=(5, 0))])]
    stream = Stream(wrong, has_binning=False, ran_before=TILES[3], framebuffer=(768, 512))
    *others, last = densities(stream.build())
    assert last.problems == ["viewport 0: unscaled by the store, unlike other tiles'"]
    assert not any(density.problems for density in others)


def test_draws_and_stores_see_what_was_patched() -> None:
    found = the_pass(Stream(TILES).build())
    (store,) = found.tiles[2].operations
    assert store.scissor == Rectangle(256, 256, 512, 512)
    assert store.source_rectangle == Rectangle(256, 256, 256 + 64, 512)
    assert store.kind == "store"


def test_views_have_scales_of_their_own() -> None:
    tiles = [NewTile((256, 256), [View((1 / 2, 1 / 2)), View((1 / 4, 1))])]
    (density,) = densities(Stream(tiles, views=2).build())
    assert density.is_per_view
    assert not density.problems
    assert [view.scale for view in density.views] == [(1 / 2, 1 / 2), (1 / 4, 1)]
    assert [view.offset for view in density.views] == [(128, 128), (192, 0)]


def test_bins_that_are_shifted_for_each_view() -> None:
    """b_s = b_cs - b_o but in the first column and row; the binning run is shifted back."""
    shift = (32, 64)
    tiles = [
        NewTile((0, 0), [View((1 / 2, 1 / 2), (0, 0))]),
        NewTile((256, 0), [View((1 / 2, 1 / 2), (224, 0))]),
        NewTile((256, 256), [View((1 / 4, 1), (224, 192))]),
    ]
    for moved in (shift, (0, 0)):  # without that, offsets are relative to the framebuffer
        found = densities(Stream(tiles, shift=moved).build())
        last = found[2].views[0]
        assert last.bin_start == (224, 192)
        assert last.scale == (1 / 4, 1)
        assert last.offset == (256 - 224 / 4, 256 - 192)
        assert [density.views[0].fits for density in found] == [True] * 3
        assert not any(density.problems for density in found if moved != (0, 0))


def test_an_offset_that_does_not_fit() -> None:
    tiles = [NewTile((256, 0), [View((1 / 2, 1 / 2), mistake=(3, 0))])]
    (density,) = densities(Stream(tiles).build())
    assert density.views[0].fits is False
    assert density.problems[0] == "viewport 0: x offset 131, but b_cs - s * b_s = 128"


def test_a_start_that_is_no_multiple_of_a_fragment() -> None:
    tiles = [NewTile((256, 0), [View((1 / 4, 1 / 2), (254, 0))])]
    (density,) = densities(Stream(tiles).build())
    assert "viewport 0: x offset 192.5 is not an integer" in density.problems


def test_a_scale_that_is_none() -> None:
    tiles = [NewTile((256, 0), [View((3 / 4, 1))])]
    (density,) = densities(Stream(tiles).build())
    assert "viewport 0: x scale 0.75 is no 1/n" in density.problems


def test_draws_that_are_not_patched() -> None:
    (density,) = densities(Stream([NewTile((256, 0))], bare_draws=2).build())
    assert density.problems == ["2 draws use a viewport that is not patched"]


def test_without_patches_there_is_no_density() -> None:
    assert densities(Stream(TILES, is_patched=False).build()) == []


@pytest.mark.parametrize("number", [nan, inf])
def test_viewports_that_are_no_numbers(number: float) -> None:
    tiles = [NewTile((256, 0), [View((1 / 2, 1 / 2), mistake=(number, 0))])]
    (density,) = densities(Stream(tiles).build())
    assert "viewport 0 is not finite" in density.problems
    assert density.views[0].scale == (1 / 2, 1 / 2)
    assert density.views[0].scale_from == "store"


def test_merged_bins() -> None:
    """a7xx: slots 2 and 3, by a mask from VSC_N on; a6xx has no such mask."""
    word = 4 << 16 | 2 << 22 | 0b11
    tiles = [NewTile((0, 0)), NewTile((256, 0), bin_word=word)]
    found = the_pass(Stream(tiles).build())
    assert [tile.merged_slots for tile in found.tiles] == [(), (2, 3)]
    assert found.tiles[1].slot == 2
    assert the_pass(Stream(tiles).build(gpu=630)).tiles[1].merged_slots == ()


@pytest.mark.parametrize("has_binning", [True, False])
def test_offsets_that_the_gpu_adds(has_binning: bool) -> None:
    """a7xx: the viewport has the scale, GRAS_BIN_FOVEAT the offset; the window scissor is open."""
    stream = Stream(TILES, has_binning=has_binning, moved_by_gpu=True)
    found = the_pass(stream.build())
    for tile, new in zip(found.tiles, TILES, strict=True):
        assert tile.density is not None
        assert tile.density.problems == []
        (view,) = tile.density.views
        x, y = new.offset
        assert view.scale == new.views[0].scale
        assert view.offset == view.expected_offset
        assert view.fits is True
        assert tile.rectangle == Rectangle(x, y, x + 256, y + 256)


@pytest.mark.parametrize("is_of_a7xx", [False, True])
def test_offsets_that_an_a8xx_adds(samples: Path, is_of_a7xx: bool) -> None:
    """By a register for each view; a driver that has only the registers of a7xx writes these."""
    content = (samples / "a830-scaled-bins.rd").read_bytes()
    if is_of_a7xx:
        arrays = 0x8220, 0x8950, 0x8228, 0x8960
        views = [(array + view, 0 if view else 48) for view in range(6) for array in arrays]
        of_views = [dword for pair in views for dword in pair]
        axes = [(0x8009, 48 // 4), (0x800A, 0), (0x800B, 0), (0x800C, 0)] * 6  # as many pairs
        of_axes = [dword for pair in axes for dword in pair]
        old, new = dwords_bytes(of_views), dwords_bytes(of_axes)
        assert content.count(old) == 1
        content = content.replace(old, new)
    found = the_pass(content)
    assert [tile.rectangle for tile in found.tiles] == [
        Rectangle(0, 0, 96, 64),
        Rectangle(96, 0, 192, 64),
    ]
    first, second = (tile.density for tile in found.tiles)
    assert first is not None
    assert second is not None
    assert first.moved == ()
    assert second.moved == (Point(48, 0), *[Point(0, 0)] * 5)
    assert second.problems == []
    assert [(view.scale, view.fits) for view in second.views] == [((1 / 2, 1 / 2), True)]


def test_an_offset_of_the_gpu_that_does_not_fit() -> None:
    tiles = [NewTile((256, 0), [View((1 / 2, 1 / 2), mistake=(4, 0))])]
    (density,) = densities(Stream(tiles, moved_by_gpu=True).build())
    assert density.problems[0] == "viewport 0: x offset 132, but b_cs - s * b_s = 128"


def test_views_that_the_gpu_moves_apart() -> None:
    tiles = [NewTile((256, 256), [View((1 / 2, 1 / 2)), View((1 / 4, 1))])]
    (density,) = densities(Stream(tiles, views=2, moved_by_gpu=True).build())
    assert not density.problems
    assert [view.offset for view in density.views] == [(128, 128), (192, 0)]


def lrz_of(view: ViewDensity) -> tuple[object, ...]:
    return view.gpu_scale, view.lrz_offset, view.expected_lrz_offset, view.lrz_usable, view.lrz_fits


def test_what_the_gpu_does_for_lrz() -> None:
    """The GPU adds o behind LRZ, where it scales bins; without that no scaled tile has LRZ."""
    tiles = [NewTile((0, 0)), NewTile((256, 0), [View((1 / 2, 1 / 2))])]
    (whole,), (half,) = views(Stream(tiles, moved_by_gpu=True).build())
    assert lrz_of(whole) == ((1, 1), (0, 0), (0, 0), True, True)
    assert lrz_of(half) == ((1 / 2, 1 / 2), (128, 0), (128, 0), True, True)
    (whole,), (half,) = views(Stream(tiles).build())
    assert lrz_of(whole) == (None, None, (0, 0), True, None)
    assert lrz_of(half) == (None, None, (128, 0), False, None)
    assert half.shift == (0, 0)


def test_an_offset_that_lrz_cannot_have() -> None:
    """It is a multiple of 8 pixels: of 200 pixels, a quarter leaves 150."""
    tiles = [NewTile((200, 0), [View((1 / 4, 1))])]
    ((view,),) = views(Stream(tiles, bins=(224, 256), moved_by_gpu=True).build())
    assert view.expected_lrz_offset == (150, 0)
    assert view.lrz_usable is False


def test_bins_that_are_shifted_leave_the_first_column_without_lrz() -> None:
    half = (1 / 2, 1 / 2)
    tiles = [
        NewTile((0, 0), [View(half, start=(0, 0))]),
        NewTile((256, 0), [View(half, start=(192, 0))]),
    ]
    (first,), (second,) = views(Stream(tiles, shift=(64, 0), moved_by_gpu=True).build())
    assert first.shift == second.shift == (64, 0)
    assert (first.expected_lrz_offset, first.lrz_usable) == ((-32, 0), False)
    assert (second.expected_lrz_offset, second.lrz_usable) == ((128, 0), True)


def test_a_scale_of_the_gpu_that_is_not_that_of_the_viewport() -> None:
    stream = Stream([NewTile((256, 0), [View((1 / 2, 1 / 2))])], moved_by_gpu=True)
    data = stream.build()
    old, new = (dwords_bytes([BIN_SCALE_ENABLE | scale << 8]) for scale in (0b0101, 0b0110))
    assert data.count(old) == 1
    (density,) = densities(data.replace(old, new))
    assert density.gpu_scales[:2] == ((1 / 4, 1 / 2), (1, 1))
    assert density.problems == ["viewport 0: the GPU scales by 1/4 x 1/2, not by 1/2 x 1/2"]
    assert density.views[0].lrz_fits is False


@pytest.mark.parametrize("has_layers", [False, True])
def test_layers_have_scales_as_views_have(has_layers: bool) -> None:
    tiles = [NewTile((256, 256), [View((1 / 2, 1 / 2)), View((1 / 4, 1), mistake=(4, 0))])]
    stream = Stream(tiles, views=2, has_layers=has_layers, moved_by_gpu=True)
    (density,) = densities(stream.build())
    assert (density.is_per_view, density.is_per_layer) == (True, has_layers)
    assert [view.gpu_scale for view in density.views] == [(1 / 2, 1 / 2), (1 / 4, 1)]
    assert [view.lrz_offset for view in density.views] == [(128, 128), (192, 0)]
    name = "layer" if has_layers else "view"
    assert density.problems[0] == f"{name} 1: x offset 196, but b_cs - s * b_s = 192"


def test_merged_bins_that_are_scaled() -> None:
    """Bins 1 and 3, of 256x512 pixels, in one tile, half as large."""
    word = 4 << 16 | 1 << 22 | 0b101
    tiles = [NewTile((0, 0)), NewTile((256, 0), [View((1 / 2, 1 / 2))], bin_word=word, height=512)]
    found = the_pass(Stream(tiles, moved_by_gpu=True).build())
    density = found.tiles[1].density
    assert density is not None
    assert density.problems == []
    assert density.views[0].fits is True
    assert found.tiles[1].rectangle == Rectangle(256, 0, 512, 512)


@pytest.mark.slow
@given(
    scale=st.tuples(*[st.sampled_from([1, 2, 4, 8])] * 2),
    column=st.integers(0, 7),
    row=st.integers(0, 7),
    size=st.tuples(st.integers(1, 2048), st.integers(1, 2048)),
)
def test_any_sound_tile_fits(
    scale: tuple[int, int], column: int, row: int, size: tuple[int, int]
) -> None:
    factors = (1 / scale[0], 1 / scale[1])
    bins = (96, 80)
    framebuffer = (max(size[0], column * 96 + 8), max(size[1], row * 80 + 8))
    tile = NewTile((column * 96, row * 80), [View(factors)])
    (density,) = densities(Stream([tile], bins, framebuffer).build())
    (view,) = density.views
    assert view.scale == factors
    assert view.fits is True
    assert density.problems == []


def test_scales() -> None:
    assert scale_between(0, 1) is None
    assert scale_between(1, -1) is None
    assert scale_between(-1, -3.0000001) == 1 / 3
    assert number_text(1 / 3) == "1/3"
    assert number_text(480.0) == "480"
    assert number_text(-0.5) == "-0.5"
    assert number_text(1e30) == "1e+30"


def test_the_capture(shared: Path) -> None:
    """What the program asked for is not known; that all of it fits together is."""
    path = shared / "captures" / "a740-vk-fdm.rd.gz"
    finder, _ = find_passes(open_capture(str(path)), pytest.fail)
    (found,) = finder.found.passes
    assert len(found.tiles) == 6
    half = {tile.number for tile in found.tiles if _scale(tile.density) == (1 / 2, 1 / 2)}
    full = {tile.number for tile in found.tiles if _scale(tile.density) == (1, 1)}
    assert half | full == set(range(6))
    assert half
    assert full
    for tile in found.tiles:
        assert tile.density is not None
        assert tile.density.problems == []
        assert tile.density.unpatched_draws == 0
        assert tile.density.views[0].fits is True
        assert tile.density.views[0].is_start_stored


def test_the_capture_of_a_newer_driver(shared: Path) -> None:
    """Bins are merged, and the GPU moves those that are scaled: all of it fits together."""
    path = shared / "m26/captures" / "m26-a740-vk-fdm.rd.gz"
    finder, _ = find_passes(open_capture(str(path)), pytest.fail)
    found = finder.found.passes[1]
    assert [tile.merged_slots for tile in found.tiles] == [(), (2, 5), (), (0, 3)]
    assert [_scale(tile.density) for tile in found.tiles] == [(1, 1), (1 / 2, 1 / 2)] * 2
    for tile in found.tiles:
        assert tile.density is not None
        assert tile.density.problems == []
        assert tile.density.views[0].fits is True


def _scale(density: Density | None) -> tuple[float, float] | None:
    return None if density is None else density.views[0].scale
