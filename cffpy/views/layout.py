# SPDX-License-Identifier: MIT
"""Layouts of images, LRZ buffers and tiles: documents, lines of text, and a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.frame.facts import model, stored
from cffpy.frame.geometry import Size
from cffpy.image.gmem import GmemLayout, Tiling
from cffpy.image.layout import LINEAR, ImageLayout, ImageRequest, LrzLayout, minify
from cffpy.views.svg import FAINT, INK, NEUTRAL, PALETTE, PAPER, Svg

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cffpy.image.devices import Device

#: Schemas of the documents.
IMAGE_SCHEMA = "cffpy.layout.image/1"
LRZ_SCHEMA = "cffpy.layout.lrz/1"
TILES_SCHEMA = "cffpy.layout.tiles/1"
TEXELS_SCHEMA = "cffpy.layout.texels/1"

_GPU = "name of the GPU, as in 650"


@model("image_layout_answer", is_value=False)
class ImageLayoutDocument:
    """The layout of an image: cffpy layout image --json."""

    gpu: str = stored(_GPU)
    image: ImageRequest = stored("the image")
    layout: ImageLayout = stored("its layout")
    lrz: LrzLayout | None = stored("the LRZ buffer of a depth image")


@model("lrz_layout_answer", is_value=False)
class LrzLayoutDocument:
    """The layout of an LRZ buffer: cffpy layout lrz --json."""

    gpu: str = stored(_GPU)
    width: int = stored("width", "pixels")
    height: int = stored("height", "pixels")
    samples: int = stored("samples of a pixel")
    layers: int = stored("layers of the array")
    lrz: LrzLayout = stored("its layout")


@model("driver_layout", frozen=True, is_value=False)
class DriverLayout:
    """A way in which a driver may use GMEM, by its name."""

    name: str = stored("its name in the driver: FULL, AVOID_CCU, Gallium")
    used: bool = stored("the tiles are of this layout")
    layout: GmemLayout = stored("the layout")


@model("tiles_layout_answer", is_value=False)
class TilesLayoutDocument:
    """The tiles of a framebuffer: cffpy layout tiles --json."""

    gpu: str = stored(_GPU)
    framebuffer: Size = stored("its size", "pixels")
    tiles: Tiling = stored("the tiles")
    gmem_layouts: list[DriverLayout] = stored("the ways in which the driver may use GMEM")


@model("texel", frozen=True, is_value=False)
class Texel:
    """Where a texel is."""

    x: int = stored("column")
    y: int = stored("row")
    offset: int = stored("where it begins in memory", "bytes")


@model("texels", frozen=True, is_value=False)
class TexelsDocument:
    """Offsets of texels in tiled memory: cffpy layout tile --json."""

    gpu: str = stored(_GPU)
    format: str = stored("format of the pixels")
    pitch: int = stored("size of a row", "bytes")
    cpp: int = stored("size of a pixel", "bytes")
    texels: list[Texel] = stored("the texels")


#: The longer side of a drawing, in pixels.
_DRAWING = 800
#: Of the drawing of an image: height of a row, width of its label, height of the title.
_ROW, _LABEL, _TITLE = 22, 260, 26


def image_lines(
    request: ImageRequest, layout: ImageLayout, part: Device, lrz: LrzLayout | None = None
) -> Iterator[str]:
    """The layout of an image: a line of facts, then a line a level. Sizes in bytes, in hex.

    ``lrz``: the LRZ buffer of a depth image.
    """
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
    else:
        yield "slices of a level follow each other, as many bytes apart as one has"
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
    if lrz is not None:
        yield from lrz_lines(lrz, part, (request.width, request.height))


def image_svg(request: ImageRequest, layout: ImageLayout, part: Device) -> Iterator[str]:
    """Memory from left to right: the flags and the pixels of each level, a row each.

    Of an array the first layer is drawn, of a 3D image all slices of a level.
    """
    spans = []
    for number, level in enumerate(layout.levels):
        size = f"{minify(request.width, number)}x{minify(request.height, number)}"
        if layout.ubwc_layer_size and level.tile_mode != LINEAR:
            following = [
                below.ubwc_offset for below in layout.levels[number + 1 :] if below.ubwc_offset
            ]
            end = following[0] if following else layout.ubwc_layer_size
            if layout.ubwc_layer_size == layout.layer_size:  # the flags precede each level
                end = level.offset
            spans.append((f"level {number}: flags", level.ubwc_offset, end, PALETTE[1]))
        slices = 1 if layout.layer_first else minify(request.depth, number)
        end = level.offset + level.size * slices
        spans.append((f"level {number}: {size}", level.offset, end, PALETTE[0]))
    last = max(end for _, _, end, _ in spans)
    scale = _DRAWING / max(1, last)
    title = f"{request.format.name} {request.width}x{request.height} on a{part.name}"
    drawing = Svg(_LABEL + _DRAWING + 10, _TITLE + _ROW * len(spans) + 4, title)
    drawing.text(4, 17, f"{title}: {layout.size:#x} bytes, a layer of {last:#x}", 13)
    for row, (name, start, end, colour) in enumerate(spans):
        top = _TITLE + _ROW * row
        hint = f"{name}: {start:#x} to {end:#x}"
        drawing.text(4, top + 15, f"{name} at {start:#x}, {end - start:#x} bytes", 11)
        drawing.rectangle(_LABEL, top + 3, _DRAWING, _ROW - 6, fill=NEUTRAL, stroke=FAINT)
        width = max(1.0, (end - start) * scale)
        drawing.rectangle(
            _LABEL + start * scale, top + 3, width, _ROW - 6, fill=colour, stroke=INK, hint=hint
        )
    return drawing.lines()


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


def tiling_lines(
    tiling: Tiling, part: Device, size: tuple[int, int], layouts: Mapping[str, GmemLayout]
) -> Iterator[str]:
    """The tiles of a framebuffer, and its attachments in GMEM.

    ``layouts``: the driver's GMEM layouts by name; the tiles are those of one of them.
    """
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
    for name, layout in layouts.items():
        used = " (these tiles)" if layout == tiling.layout else ""
        fits = "" if layout.pixels else ": does not fit"
        yield f"GMEM layout {name}{used}{fits}"
        for place in layout.places if layout.pixels else ():
            yield f"  {place.offset:#8x}: {place.name}, {place.cpp} bytes a pixel"


def driver_layouts(tiling: Tiling, layouts: Mapping[str, GmemLayout]) -> list[DriverLayout]:
    """The driver's GMEM layouts by name; the tiles are those of one of them."""
    return [DriverLayout(name, layout == tiling.layout, layout) for name, layout in layouts.items()]


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
