# SPDX-License-Identifier: MIT
"""Unscaled viewports where no binning run tells them, and memory holds scaled ones.

A command buffer that ran before this submit is left as it was patched for its last tile. Its
viewports contradict the stores of the tiles then; what the program set follows from the stores.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from cffpy.analysis.passes.density import PIXELS, Density, Pair, Viewport, scale_between

if TYPE_CHECKING:
    from cffpy.analysis.passes.density import ViewportPatch
    from cffpy.analysis.passes.model import Operation, Tile

#: Viewports are the same if they are at this resolution, in parts of a pixel.
_PARTS = 4

_Key = tuple[int, ...]


def tile_stores(tile: Tile, views: int) -> list[tuple[int, Operation]]:
    """The blits that store the tile from GMEM, each with the position of its view.

    They come attachment by attachment, view by view; [] where they are no such number.
    """
    stores = [operation for operation in tile.operations if _stores_scaled(operation)]
    if len(stores) % views:
        return []
    return [(position % views, operation) for position, operation in enumerate(stores)]


def _stores_scaled(operation: Operation) -> bool:
    return (
        operation.how == "CP_BLIT"
        and operation.gmem is not None
        and operation.source_rectangle is not None
        and operation.scissor is not None
        and operation.action.executed.is_possible
    )


def restore_unscaled(tiles: list[tuple[Tile, Density]], views: int) -> None:
    """Replace unscaled viewports out of memory where any contradicts a store.

    ``views``: of the pass.
    """
    found = [one for one in tiles if one[1].unscaled_from == "memory at the submit"]
    if not any(_contradicts(tile, density, views) for tile, density in found):
        return
    keys: Counter[tuple[int, _Key]] = Counter()
    for tile, density in found:
        density.unscaled_from = "stores"
        density.viewports = [
            replace(patch, unscaled=_unscaled(tile, density, patch, views))
            for patch in density.viewports
        ]
        density.scissors = [replace(patch, unscaled=None) for patch in density.scissors]
        keys.update({_key(patch) for patch in density.viewports})
    for _, density in found:
        for patch in density.viewports:
            if patch.unscaled is not None and keys[_key(patch)] * 2 < len(found):
                density.flag(f"viewport {patch.number}: unscaled by the store, unlike other tiles'")


def _transform(tile: Tile, density: Density, number: int, views: int) -> tuple[Pair, Pair] | None:
    """S and o of a viewport as a store has them."""
    for position, store in tile_stores(tile, views if density.is_per_view else 1):
        if density.is_per_view and position != number:
            continue
        source, destination = store.source_rectangle, store.scissor
        assert source is not None
        assert destination is not None
        x = scale_between(source.size.width, destination.size.width)
        y = scale_between(source.size.height, destination.size.height)
        if x is None or y is None:
            continue
        return (x, y), (source.left - x * destination.left, source.top - y * destination.top)
    return None


def _contradicts(tile: Tile, density: Density, views: int) -> bool:
    for patch in density.viewports:
        transform = _transform(tile, density, patch.number, views)
        scale, offset = patch.scale, patch.offset
        if transform is None or scale is None or offset is None:
            continue
        if scale != transform[0] or any(
            abs(one - other) > PIXELS for one, other in zip(offset, transform[1], strict=True)
        ):
            return True
    return False


def _unscaled(tile: Tile, density: Density, patch: ViewportPatch, views: int) -> Viewport | None:
    transform = _transform(tile, density, patch.number, views)
    if transform is None:
        return None
    (x, y), (x_moved, y_moved) = transform
    patched = patch.patched
    return Viewport(
        (patched.x_offset - x_moved) / x,
        patched.x_scale / x,
        (patched.y_offset - y_moved) / y,
        patched.y_scale / y,
    )


def _key(patch: ViewportPatch) -> tuple[int, _Key]:
    viewport = patch.unscaled
    if viewport is None:
        return patch.number, ()
    numbers = viewport.x_offset, viewport.x_scale, viewport.y_offset, viewport.y_scale
    return patch.number, tuple(round(value * _PARTS) for value in numbers)
