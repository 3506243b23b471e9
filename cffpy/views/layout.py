# SPDX-License-Identifier: MIT
"""Layouts of images, LRZ buffers and tiles as lines of text, JSON documents, and a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.image.layout import LINEAR
from cffpy.image.vectors import image_values, lrz_values
from cffpy.views.svg import FAINT, INK, PAPER, Svg

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.image.devices import Device
    from cffpy.image.gmem import Tiling
    from cffpy.image.layout import ImageLayout, ImageRequest
    from cffpy.image.lrz import LrzLayout

#: Schemas of the documents.
IMAGE_SCHEMA = "cffpy.layout.image/1"
LRZ_SCHEMA = "cffpy.layout.lrz/1"
TILES_SCHEMA = "cffpy.layout.tiles/1"
TEXELS_SCHEMA = "cffpy.layout.texels/1"

#: The longer side of a drawing, in pixels.
_DRAWING = 800


def image_lines(request: ImageRequest, layout: ImageLayout, part: Device) -> Iterator[str]:
    """The layout of an image: a line of facts, then a line a level. Sizes in bytes, in hex."""
    asked = f"{request.format.name} {request.width}x{request.height}"
    if request.is_3d:
        asked += f"x{request.depth}"
    aligned = f", base aligned to {layout.base_align}" if layout.base_align else ""
    yield (
        f"{asked} on a{part.name}: size {layout.size:#x}, cpp {layout.cpp}"
        f", {'UBWC' if layout.ubwc else 'no UBWC'}"
        f", pitch aligned to {1 << layout.pitch_align}{aligned}"
    )
    if layout.layer_first:
        yield f"layers {request.layers}, {layout.layer_size:#x} apart"
    if layout.ubwc_layer_size:
        yield f"UBWC flags: {layout.ubwc_layer_size:#x} a layer"
    yield f"{'level':>5} {'size':>11} {'offset':>10} {'pitch':>7} {'bytes':>10} {'mode':7} flags"
    for number, level in enumerate(layout.levels):
        width = max(1, request.width >> number)
        height = max(1, request.height >> number)
        mode = "linear" if level.tile_mode == LINEAR else f"tile {level.tile_mode}"
        has_flags = layout.ubwc and level.tile_mode != LINEAR
        flags = f"{level.ubwc_offset:#x}, pitch {level.ubwc_pitch}" if has_flags else "-"
        yield (
            f"{number:5} {f'{width}x{height}':>11} {level.offset:#10x} {level.pitch:7}"
            f" {level.size:#10x} {mode:7} {flags}"
        )


def image_document(request: ImageRequest, layout: ImageLayout, part: Device) -> dict[str, Any]:
    """The layout of an image as JSON (IMAGE_SCHEMA)."""
    return {
        "gpu": part.name,
        "format": request.format.name,
        "width": request.width,
        "height": request.height,
        "depth": request.depth,
        "levels": request.levels,
        "layers": request.layers,
        "samples": request.samples,
        "result": {
            **image_values(layout),
            "tile_all": layout.tile_all,
            "min_layer_size": layout.min_layer_size,
        },
    }


def lrz_lines(layout: LrzLayout, part: Device, size: tuple[int, int]) -> Iterator[str]:
    """The layout of an LRZ buffer."""
    yield f"LRZ of {size[0]}x{size[1]} on a{part.name}: {layout.total_size:#x} bytes"
    if not layout.total_size:
        yield "too many rows for the hardware: no LRZ"
    yield f"data at {layout.offset:#x}: pitch {layout.pitch} texels, {layout.height} rows"
    if layout.layer_size:
        yield f"a layer has {layout.layer_size:#x} bytes"
    if layout.fast_clear_offset:
        flags = f"{layout.fast_clear_size} bytes of flags" if layout.fast_clear_size else "no flags"
        yield f"fast clear at {layout.fast_clear_offset:#x}: {flags}, and the direction"


def lrz_document(
    layout: LrzLayout, part: Device, size: tuple[int, int], samples: int, layers: int
) -> dict[str, Any]:
    """The layout of an LRZ buffer as JSON (LRZ_SCHEMA)."""
    return {
        "gpu": part.name,
        "width": size[0],
        "height": size[1],
        "samples": samples,
        "layers": layers,
        "result": {"offset": layout.offset, **lrz_values(layout)},
    }


def tiling_lines(tiling: Tiling, part: Device, size: tuple[int, int]) -> Iterator[str]:
    """The tiles of a framebuffer, and its attachments in GMEM."""
    yield (
        f"{size[0]}x{size[1]} on a{part.name}: {tiling.count[0]}x{tiling.count[1]} tiles"
        f" of {tiling.tile[0]}x{tiling.tile[1]}"
    )
    yield (
        f"VSC pipes: {tiling.pipe_count[0]}x{tiling.pipe_count[1]},"
        f" each {tiling.pipe[0]}x{tiling.pipe[1]} tiles"
    )
    if not tiling.binning_possible:
        yield "binning: not possible, a pipe would have more than 32 tiles"
    else:
        yield f"binning: {'yes' if tiling.binning else 'possible, not used by default'}"
    for place in tiling.layout.places:
        yield f"GMEM {place.offset:#8x}: {place.name}, {place.cpp} bytes a pixel"


def tiling_document(tiling: Tiling, part: Device, size: tuple[int, int]) -> dict[str, Any]:
    """The tiles of a framebuffer as JSON (TILES_SCHEMA)."""
    return {
        "gpu": part.name,
        "width": size[0],
        "height": size[1],
        "tile0": list(tiling.tile),
        "tile_count": list(tiling.count),
        "pipe0": list(tiling.pipe),
        "pipe_count": list(tiling.pipe_count),
        "binning": tiling.binning,
        "binning_possible": tiling.binning_possible,
        "gmem": [
            {"attachment": place.name, "cpp": place.cpp, "offset": place.offset}
            for place in tiling.layout.places
        ],
    }


def tiling_svg(tiling: Tiling, part: Device, size: tuple[int, int]) -> Iterator[str]:
    """The grid of tiles, with pipes outlined."""
    scale = _DRAWING / max(size)
    width, height = size[0] * scale, size[1] * scale
    drawing = Svg(width + 2, height + 2, f"tiles of {size[0]}x{size[1]} on a{part.name}")
    drawing.rectangle(1, 1, width, height, fill=PAPER, stroke=INK)
    for row in range(tiling.count[1]):
        for column in range(tiling.count[0]):
            left, top = column * tiling.tile[0], row * tiling.tile[1]
            wide = min(tiling.tile[0], size[0] - left) * scale
            high = min(tiling.tile[1], size[1] - top) * scale
            hint = f"tile {column},{row}: from {left},{top}"
            drawing.rectangle(
                1 + left * scale, 1 + top * scale, wide, high, stroke=FAINT, hint=hint
            )
    step = tiling.tile[0] * tiling.pipe[0], tiling.tile[1] * tiling.pipe[1]
    for top in range(0, size[1], step[1]):
        for left in range(0, size[0], step[0]):
            wide, high = min(step[0], size[0] - left), min(step[1], size[1] - top)
            drawing.rectangle(
                1 + left * scale, 1 + top * scale, wide * scale, high * scale, stroke=INK
            )
    return drawing.lines()
