# SPDX-License-Identifier: MIT
"""Works out and checks how tiles are scaled: patched viewports, scissors and stores together."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

from cffpy.analysis.passes.density import (
    PIXELS,
    Density,
    Pair,
    ViewDensity,
    number_text,
    pair_text,
    point_text,
    scale_between,
)
from cffpy.analysis.passes.density_unscaled import restore_unscaled, tile_stores
from cffpy.analysis.passes.model import Operation, Pass, Rectangle, Tile

if TYPE_CHECKING:
    from collections.abc import Iterable


def settle(found: Pass) -> None:
    """Work out the scales and offsets of a pass's tiles, and check them."""
    tiles = [(tile, tile.density) for tile in found.tiles if tile.density is not None]
    views = range(found.views or 1)
    for _, density in tiles:
        numbers = {patch.number for patch in density.viewports}
        density.is_per_view = len(views) > 1 and numbers.issuperset(views)
    restore_unscaled(tiles, len(views))
    for tile, density in tiles:
        numbers = {patch.number for patch in density.viewports} or {0}
        _measure(tile, density, views if density.is_per_view else sorted(numbers))
    for number in sorted({view.number for _, density in tiles for view in density.views}):
        _check_offsets(
            [
                (tile, density, view)
                for tile, density in tiles
                for view in density.views
                if view.number == number
            ]
        )


# -- one tile -------------------------------------------------------------------------------------


def _measure(tile: Tile, density: Density, numbers: Iterable[int]) -> None:
    if density.unpatched_draws:
        density.flag(f"{density.unpatched_draws} draws use a viewport that is not patched")
    for number in numbers:
        view = ViewDensity(number)
        density.views.append(view)
        _measure_viewport(density, view)
        scissors = [patch.patched for patch in density.scissors if patch.number == number]
        view.scissor = scissors[0] if scissors else None
    count = len(density.views) if density.is_per_view else 1
    for position, operation in tile_stores(tile, count):
        for view in density.views:
            if not density.is_per_view or view.number == position:
                _measure_store(tile, density, view, operation)


def _measure_viewport(density: Density, view: ViewDensity) -> None:
    for patch in density.viewports:
        if patch.number != view.number:
            continue
        if view.viewport is None:
            view.viewport = patch.patched
        scale, offset = patch.scale, patch.offset
        if scale is None or offset is None:
            continue
        if view.scale is None:
            view.scale, view.offset, view.scale_from = scale, offset, "viewport"
        elif scale != view.scale or not _near(offset, view.offset):
            density.flag(f"{_name(density, view)}: viewports are not patched alike")
    if view.scale is None:
        return
    for axis, factor in zip("xy", view.scale, strict=True):
        if factor > 1 or factor != 1 / round(1 / factor):
            density.flag(f"{_name(density, view)}: {axis} scale {number_text(factor)} is no 1/n")


def _measure_store(tile: Tile, density: Density, view: ViewDensity, store: Operation) -> None:
    """What a blit from GMEM says: it takes the tile as scaled to where the tile starts."""
    source, destination = store.source_rectangle, store.scissor
    assert source is not None
    assert destination is not None
    name = f"{_name(density, view)}: store of {store.attachment or 'an attachment'}"
    start = (destination.left, destination.top)
    if _is_empty(destination):
        density.flag(f"{name} to an empty rectangle")
        return
    if view.bin_start is None:
        view.bin_start, view.is_start_stored = start, True
    elif view.bin_start != start:
        density.flag(f"{name} to {point_text(start)}, others to {point_text(view.bin_start)}")
    if tile.window_offset is not None and (source.left, source.top) != tile.window_offset:
        density.flag(
            f"{name} from {source.left},{source.top}, "
            f"not from the window offset {point_text(tile.window_offset)}"
        )
    if view.scale is None:
        x = scale_between(source.size.width, destination.size.width)
        y = scale_between(source.size.height, destination.size.height)
        if x is not None and y is not None:
            view.scale, view.scale_from = (x, y), "store"
        return
    scaled = (
        floor(destination.size.width * view.scale[0] + PIXELS),
        floor(destination.size.height * view.scale[1] + PIXELS),
    )
    if scaled != (source.size.width, source.size.height):
        density.flag(
            f"{name} reads {source.size} for {destination.size}, "
            f"{view.scale_from} scale {pair_text(view.scale)}"
        )


# -- all tiles of a view --------------------------------------------------------------------------

_Measured = list[tuple[Tile, Density, ViewDensity]]


def _check_offsets(measured: _Measured) -> None:
    """Compare offsets with b_cs - s * b_s.

    Where bins are shifted by b_o = b_cs - b_s (all but the first column or row), the binning run's
    viewport may be shifted by it as well; then o is relative to that.
    """
    for tile, _, view in measured:
        if view.bin_start is None:
            view.bin_start = tile.window_offset
    shift = _shift(measured)
    if shift != (0, 0):
        plain = sum(_fits(tile, view, (0, 0)) for tile, _, view in measured)
        if sum(_fits(tile, view, shift) for tile, _, view in measured) < plain:
            shift = (0, 0)
    for tile, density, view in measured:
        if view.offset is not None and view.scale is not None:
            view.offset = (
                view.offset[0] + view.scale[0] * shift[0],
                view.offset[1] + view.scale[1] * shift[1],
            )
        expected = view.expected_offset = _expected(tile, view)
        if expected is not None and view.offset is not None:
            view.fits = _check_offset(density, view, view.offset, expected)
        if shift == (0, 0):
            _check_scissors(tile, density, view)


def _check_offset(density: Density, view: ViewDensity, offset: Pair, expected: Pair) -> bool:
    fits = True
    for axis, patched, wanted in zip("xy", offset, expected, strict=True):
        name = f"{_name(density, view)}: {axis} offset {number_text(patched)}"
        if abs(patched - wanted) > PIXELS:
            density.flag(f"{name}, but b_cs - s * b_s = {number_text(wanted)}")
        elif abs(patched - round(patched)) > PIXELS:
            density.flag(f"{name} is no integer")
        else:
            continue
        fits = False
    return fits


def _shift(measured: _Measured) -> tuple[int, int]:
    shifts = [
        (tile.window_offset[0] - view.bin_start[0], tile.window_offset[1] - view.bin_start[1])
        for tile, _, view in measured
        if tile.window_offset is not None and view.bin_start is not None
    ]
    if not shifts:
        return 0, 0
    return max(x for x, _ in shifts), max(y for _, y in shifts)


def _expected(tile: Tile, view: ViewDensity) -> Pair | None:
    if tile.window_offset is None or view.bin_start is None or view.scale is None:
        return None
    return (
        tile.window_offset[0] - view.scale[0] * view.bin_start[0],
        tile.window_offset[1] - view.scale[1] * view.bin_start[1],
    )


def _fits(tile: Tile, view: ViewDensity, shift: tuple[int, int]) -> bool:
    expected, scale, offset = _expected(tile, view), view.scale, view.offset
    if expected is None or scale is None or offset is None:
        return False
    shifted = offset[0] + scale[0] * shift[0], offset[1] + scale[1] * shift[1]
    return _near(expected, shifted)


def _check_scissors(tile: Tile, density: Density, view: ViewDensity) -> None:
    """A patched scissor is the program's, scaled, cut to the tile as scaled."""
    scale, offset = view.scale, view.offset
    if scale is None or offset is None or tile.window_offset is None or tile.rectangle is None:
        return
    size = tile.rectangle.size
    left, top = tile.window_offset
    tile_scaled = Rectangle(
        left, top, left + floor(size.width * scale[0]), top + floor(size.height * scale[1])
    )
    for patch in density.scissors:
        if patch.number != view.number or patch.unscaled is None:
            continue
        wanted = _intersection(_transformed(patch.unscaled, scale, offset), tile_scaled)
        # where nothing is scaled, the window scissor does the cutting
        effective = _intersection(patch.patched, tile.rectangle)
        is_empty, should_be_empty = _is_empty(effective), _is_empty(wanted)
        if (effective != wanted or is_empty) and not (is_empty and should_be_empty):
            density.flag(
                f"{_name(density, view)}: scissor {patch.patched}, "
                f"expected {'none' if should_be_empty else wanted}"
            )


# -- arithmetic ------------------------------------------------------------------------------------


def _is_empty(rectangle: Rectangle) -> bool:
    return not rectangle.size.width or not rectangle.size.height


def _transformed(rectangle: Rectangle, scale: Pair, offset: Pair) -> Rectangle:
    return Rectangle(
        floor(rectangle.left * scale[0] + PIXELS) + round(offset[0]),
        floor(rectangle.top * scale[1] + PIXELS) + round(offset[1]),
        floor(rectangle.right * scale[0] + PIXELS) + round(offset[0]),
        floor(rectangle.bottom * scale[1] + PIXELS) + round(offset[1]),
    )


def _intersection(one: Rectangle, other: Rectangle) -> Rectangle:
    return Rectangle(
        max(one.left, other.left),
        max(one.top, other.top),
        min(one.right, other.right),
        min(one.bottom, other.bottom),
    )


def _near(one: Pair, other: Pair | None) -> bool:
    return other is not None and all(abs(a - b) <= PIXELS for a, b in zip(one, other, strict=True))


def _name(density: Density, view: ViewDensity) -> str:
    return f"{'view' if density.is_per_view else 'viewport'} {view.number}"
