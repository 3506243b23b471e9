# SPDX-License-Identifier: MIT
"""Surfaces of a view: which memory a level and a layer of an image take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.layout_check.comparison import ImageComparer
from cffpy.capture.gpu import GENERATIONS
from cffpy.errors import UnsupportedGpu
from cffpy.formats import hardware_format
from cffpy.frame.pictures import ImageView
from cffpy.image.devices import device_of
from cffpy.image.layout import LINEAR, TILE_3, ImageRequest, image_layout, minify
from cffpy.image.texels import PictureError
from cffpy.image.tiled import Surface

if TYPE_CHECKING:
    from cffpy.capture.gpu import Gpu
    from cffpy.image.devices import Device
    from cffpy.image.layout import ImageLayout
    from cffpy.image.tiled import BankSwizzle


def _unknown_format(name: str) -> str:
    if "PLANE" in name:
        known = "the memory of a plane can be shown by its address (--at)"
        return f"images with planes ({name}) are not shown; {known}"
    return f"the format {name} is not known"


def surface_of(
    view: ImageView,
    gpu: Gpu | None,
    level: int = 0,
    layer: int = 0,
    swizzle: BankSwizzle | None = None,
) -> Surface:
    """The surface of a level, counted from that of the view, and of a layer, face or slice.

    ``swizzle``: of the memory controller, instead of the usual one of the GPU. Raises PictureError
    where there is no such level or layer, or where its place is not known.
    """
    if view.form is None:
        raise PictureError(_unknown_format(view.format))
    depth = minify(view.depth, level) if view.is_3d else view.layers
    what = "slice" if view.is_3d else "layer"
    if not 0 <= level < view.levels:
        raise PictureError(f"there is no level {level}: the view has {view.levels}")
    if not 0 <= layer < depth:
        raise PictureError(f"there is no {what} {layer}: the level has {depth}")
    part = _part(gpu)
    generation = 0 if gpu is None else gpu.generation
    address, pitch, tile_mode = view.address, view.pitch, _tile_mode(view, generation)
    if level or (layer and not view.layer_pitch):
        address, pitch, tile_mode = _of_layout(view, part, level, layer)
    elif layer and view.layer_pitch:
        address += layer * view.layer_pitch
    return Surface(
        address,
        view.form,
        minify(view.width, level),
        minify(view.height, level),
        pitch,
        tile_mode,
        view.samples,
        view.ubwc and tile_mode != LINEAR,
        swizzle or (None if part is None else part.swizzle),
        generation,
    )


def view_at(
    gpu: Gpu | None,
    address: int,
    form: str,
    size: tuple[int, int],
    pitch: int | None = None,
    tile_mode: int = LINEAR,
) -> ImageView:
    """Memory that a user describes: ``form`` is a name as in RGBA8, or a hardware's.

    ``pitch``: None for that of a new image of the GPU. Raises CffpyError for an unknown format, or
    where the pitch is not known.
    """
    format_ = hardware_format(form)
    width, height = size
    if pitch is None:
        part = _part(gpu)
        if part is None:
            raise PictureError("the pitch has to be given: no layouts are known for the GPU")
        request = ImageRequest(format_, width, height, tile_mode=tile_mode)
        layout = image_layout(request, part.generation, part.has_linear_mip_fallback)
        pitch = layout.levels[0].pitch
    return ImageView(
        address,
        format_.name,
        format_,
        "2D",
        width,
        height,
        depth=1,
        layers=1,
        levels=1,
        samples=1,
        tile_mode=tile_mode,
        tile_all=None,
        pitch=pitch,
        layer_pitch=None,
        min_layer=0,
        ubwc=False,
    )


def _part(gpu: Gpu | None) -> Device | None:
    """The facts of a GPU; None where there are none."""
    try:
        return None if gpu is None else device_of(gpu)
    except UnsupportedGpu:
        return None


def _tile_mode(view: ImageView, generation: int) -> int:
    if view.tile_mode is not None:
        return view.tile_mode
    facts = GENERATIONS.get(generation)
    is_depth = view.form is not None and view.form.is_depth_stencil
    if is_depth and facts is not None and facts.tiles_depth:
        return TILE_3
    raise PictureError("the commands do not say how the image is tiled")


def _of_layout(
    view: ImageView, part: Device | None, level: int, layer: int
) -> tuple[int, int, int]:
    """Address, pitch and tile mode by the calculated layout of the image."""
    placed: tuple[ImageLayout, int] | None = None
    if part is not None:
        own = view.width, view.height, view.depth
        placed = ImageComparer(part, [own]).find(view)
    if placed is None:
        raise PictureError("the layout of the image is not known: only level 0 can be shown")
    layout, first = placed
    level_layout = layout.levels[first + level]
    distance = layout.layer_offset(first + level, layer) - layout.layer_offset(first, 0)
    return view.address + distance, level_layout.pitch, level_layout.tile_mode
