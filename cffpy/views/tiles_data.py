# SPDX-License-Identifier: MIT
"""The tiles of a pass for other programs: as a document for JSON, as rows for CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.analysis.passes.density import number_text
from cffpy.views.passes_document import hexadecimal, place_document, size_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cffpy.analysis.passes.density import Density
    from cffpy.analysis.passes.geometry import Rectangle
    from cffpy.analysis.passes.model import Operation, Pass, Passes
    from cffpy.analysis.passes.tiles import TileFacts

SCHEMA = "cffpy.tiles/3"

CSV_COLUMNS = (
    "pass",
    "tile",
    "column",
    "row",
    "left",
    "top",
    "width",
    "height",
    "window_x",
    "window_y",
    "pipe",
    "slot",
    "pipe_tiles",
    "merged_slots",
    "visibility",
    "emitted",
    "visible",
    "executed",
    "primitives",
    "conditional_draws",
    "loads",
    "clears",
    "stores",
    "scale_x",
    "scale_y",
    "offset_x",
    "offset_y",
    "bin_start_x",
    "bin_start_y",
    "density_problems",
    "stream",
    "gpuaddr",
    "file_offset",
)


def document(passes: Passes, found: Pass, facts: Sequence[TileFacts]) -> dict[str, Any]:
    """Addresses are hex strings, sizes pixels; what is not in the stream is null."""
    return {
        "gpu": passes.gpu,
        "generation": passes.generation or None,
        "pass": found.index,
        "submit": found.submit,
        "hardware_binning": found.hardware_binning,
        "framebuffer": size_document(found.framebuffer),
        "framebuffer_limit": size_document(found.framebuffer_limit),
        "bin_size": size_document(found.bin_size),
        "grid": size_document(found.grid),
        "program_draws": len(found.program_draws),
        "pipes": [
            {"pipe": pipe.number, "x": pipe.x, "y": pipe.y, "w": pipe.width, "h": pipe.height}
            for pipe in found.pipes
        ],
        "tiles": list(tile_documents(facts)),
        "unknown": found.unknown,
    }


def tile_documents(facts: Iterable[TileFacts]) -> Iterator[dict[str, Any]]:
    """The object of each tile."""
    return map(_tile_document, facts)


def _tile_document(one: TileFacts) -> dict[str, Any]:
    tile = one.tile
    return {
        "tile": tile.number,
        "bins": [list(place) for place in one.bins],
        "column": one.column,
        "row": one.row,
        "rectangle": _rectangle_document(one.rectangle),
        "window_scissor": _rectangle_document(tile.rectangle),
        "window_offset": tile.window_offset,
        "pipe": tile.pipe,
        "slot": tile.slot,
        "pipe_tiles": tile.pipe_tiles,
        "merged_slots": tile.merged_slots,
        "visibility": one.visibility,
        "visibility_override": tile.visibility_override,
        "streams": None
        if tile.streams is None
        else dict(zip(("draw", "size", "primitive"), map(hexadecimal, tile.streams), strict=True)),
        "emitted": one.emitted,
        "visible": one.visible,
        "executed": one.executed,
        "primitives": one.primitives,
        "conditional_draws": one.conditional_draws,
        "condition": one.condition,
        "operations": [_operation_document(operation) for operation in one.operations],
        "density": None if tile.density is None else _density_document(tile.density),
        "place": place_document(tile.place),
    }


def _rectangle_document(rectangle: Rectangle | None) -> dict[str, int] | None:
    if rectangle is None:
        return None
    size = rectangle.size
    return {
        "x": rectangle.left,
        "y": rectangle.top,
        "width": size.width,
        "height": size.height,
    }


def _operation_document(operation: Operation) -> dict[str, Any]:
    return {
        "kind": operation.kind,
        "attachment": operation.attachment,
        "how": operation.how,
        "resolves": operation.resolves,
        "address": hexadecimal(operation.address),
        "gmem": hexadecimal(operation.gmem),
        "format": operation.format,
        "rectangle": _rectangle_document(operation.scissor),
        "source_rectangle": _rectangle_document(operation.source_rectangle),
        "executed": operation.action.executed.value,
        "condition": operation.action.condition,
        "dump_draw": operation.action.number,
    }


def _density_document(density: Density) -> dict[str, Any]:
    return {
        "writes": density.writes,
        "dwords": density.dwords,
        "unscaled_from": density.unscaled_from,
        "per_view": density.is_per_view,
        "unpatched_draws": density.unpatched_draws,
        "views": [
            {
                "view": view.number,
                "scale": view.scale,
                "scale_from": view.scale_from,
                "offset": view.offset,
                "expected_offset": view.expected_offset,
                "bin_start": view.bin_start,
                "bin_start_from": "store" if view.is_start_stored else "window offset",
                "fits": view.fits,
                "viewport": None
                if view.viewport is None
                else {
                    "x_offset": view.viewport.x_offset,
                    "x_scale": view.viewport.x_scale,
                    "y_offset": view.viewport.y_offset,
                    "y_scale": view.viewport.y_scale,
                },
                "scissor": _rectangle_document(view.scissor),
            }
            for view in density.views
        ],
        "problems": density.problems,
    }


def rows(found: Pass, facts: Iterable[TileFacts]) -> Iterator[tuple[object, ...]]:
    """A row for each tile, as CSV_COLUMNS has it; values of several views have ; between them."""
    for one in facts:
        tile = one.tile
        yield (
            found.index,
            tile.number,
            one.column,
            one.row,
            *_rectangle_cells(one.rectangle),
            *(tile.window_offset or (None, None)),
            tile.pipe,
            tile.slot,
            tile.pipe_tiles,
            " ".join(map(str, tile.merged_slots)) or None,
            one.visibility,
            one.emitted,
            one.visible,
            one.executed,
            one.primitives,
            one.conditional_draws,
            *(
                " ".join(operation.attachment or "?" for operation in one.of_kind(*kinds))
                for kinds in (("load",), ("clear",), ("store", "copy", "unknown"))
            ),
            *_density_cells(tile.density),
            tile.place.submit.number,
            hexadecimal(tile.place.gpuaddr),
            hexadecimal(tile.place.file_offset),
        )


def _rectangle_cells(rectangle: Rectangle | None) -> tuple[int | None, ...]:
    if rectangle is None:
        return (None,) * 4
    return rectangle.left, rectangle.top, rectangle.size.width, rectangle.size.height


def _density_cells(density: Density | None) -> tuple[str | None, ...]:
    if density is None:
        return (None,) * 7
    return (
        *_of_views([view.scale for view in density.views]),
        *_of_views([view.offset for view in density.views]),
        *_of_views([view.bin_start for view in density.views]),
        "; ".join(density.problems),
    )


def _of_views(pairs: list[Any]) -> tuple[str | None, str | None]:
    if not pairs:
        return None, None
    x = ";".join("" if pair is None else number_text(pair[0]) for pair in pairs)
    y = ";".join("" if pair is None else number_text(pair[1]) for pair in pairs)
    return x, y
