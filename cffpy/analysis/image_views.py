# SPDX-License-Identifier: MIT
"""ImageView: an image in memory as a texture descriptor or the registers of an attachment say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.formats import UnknownFormat, hardware_format
from cffpy.frame.pictures import ImageView
from cffpy.image.layout import LINEAR, TILE_2, TILE_3

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.texture_descriptors import Texture
    from cffpy.formats import ImageFormat
    from cffpy.frame.attachment import Attachment, TransferEnd
    from cffpy.frame.geometry import Size
    from cffpy.frame.passes import Pass

_FACES = 6

#: Names of tile modes in registers -> their numbers.
_TILE_MODES = {
    "linear": LINEAR,
    "LINEAR": LINEAR,
    "TILE_4X4": 1,
    "TILE_32X32": 2,
    "TILE_4X2": 3,
    "TILE4_LINEAR": LINEAR,
    "TILE4_2": TILE_2,
    "TILE4_3": TILE_3,
    "TILE5_LINEAR": LINEAR,
    "TILE5_2": TILE_2,
    "TILE5_3": TILE_3,
    "TILE6_LINEAR": LINEAR,
    "TILE6_2": TILE_2,
    "TILE6_3": TILE_3,
}


def stored_format(name: str | None) -> ImageFormat | None:
    """The format of a hardware's name; None where it is not known."""
    try:
        return hardware_format(name or "")
    except UnknownFormat:
        return None


def view_of_texture(texture: Texture) -> ImageView:
    """What a texture descriptor describes."""
    layers = texture.depth * (_FACES if texture.kind == "cube" else 1)
    is_3d = texture.kind == "3D"
    flags = texture.flags if texture.ubwc else None
    return ImageView(
        texture.address,
        texture.format,
        stored_format(texture.format),
        texture.kind,
        texture.width,
        texture.height,
        max(1, texture.depth) if is_3d else 1,
        1 if is_3d else max(1, layers),
        texture.levels,
        texture.samples,
        texture.tile_mode,
        texture.tile_all,
        texture.pitch,
        texture.array_pitch,
        texture.min_layer if is_3d else 0,
        texture.ubwc,
        flags,
        texture.flag_pitch if flags is not None else None,
        texture.flag_array_pitch if flags is not None else None,
    )


def view_of_end(end: TransferEnd) -> ImageView | None:
    """What a copy, fill, load or store reads or writes. None where it is not an image in memory.

    Where no register has the size of the image, it ends with the rectangle.
    """
    width, height = _extent(end)
    if not end.address or end.format is None or width <= 0 or height <= 0:
        return None
    form = stored_format(end.format)
    pitch = end.pitch or 0
    if not pitch and height == 1 and form is not None:  # drivers copy row by row
        pitch = -(-width // form.block_width) * form.block_bytes
    return ImageView(
        end.address,
        end.format,
        form,
        "2D",
        width,
        height,
        1,
        1,
        1,
        end.samples or 1,
        _TILE_MODES.get(end.tiling or ""),
        None,
        pitch,
        end.layer_pitch,
        0,
        end.ubwc,
        end.flags if end.ubwc else None,
        end.flag_pitch if end.ubwc else None,
    )


def _extent(end: TransferEnd) -> tuple[int, int]:
    """Width and height: those in registers, else up to the end of the rectangle; 0 if unknown."""
    area = end.rectangle
    right, bottom = (0, 0) if area is None else (area.right, area.bottom)
    return end.width or right, end.height or bottom


def attachment_views(pass_: Pass) -> Iterator[tuple[Attachment, ImageView]]:
    """The attachments of a pass whose memory is known. Their images may be larger."""
    size = pass_.framebuffer or pass_.framebuffer_limit
    if pass_.kind != "render" or size is None or not size.width or not size.height:
        return
    for target in pass_.attachments:
        view = _view_of_attachment(target, size, max(1, pass_.layers or 1))
        if view is not None:
            yield target, view if pass_.framebuffer is not None else _within_limit(view, pass_)


def _view_of_attachment(target: Attachment, size: Size, layers: int) -> ImageView | None:
    """What registers say of an attachment. None where its memory is not known."""
    if not target.address or not target.pitch:
        return None
    return ImageView(
        target.address,
        target.format or "unknown format",
        stored_format(target.format),
        "2D",
        size.width,
        size.height,
        1,
        layers,
        1,
        target.samples or 1,
        _TILE_MODES.get(target.tiling or ""),
        None,
        target.pitch,
        target.layer_pitch,
        0,
        target.ubwc,
        target.flags if target.ubwc else None,
    )


def _within_limit(view: ImageView, pass_: Pass) -> ImageView:
    """The view with the size that its pitches tell, where the tiles may be larger than it.

    The last column and row of tiles have some pixels of it.
    """
    limit, tile = pass_.framebuffer_limit, pass_.bin_size
    if limit is None or tile is None or view.form is None:
        return view
    width = min(limit.width, view.pitch // (view.form.block_bytes * view.samples))
    height = limit.height
    if view.layer_pitch:
        height = min(height, view.layer_pitch // view.pitch)
    if width <= limit.width - tile.width or height <= limit.height - tile.height:
        return view
    return view._replace(width=width, height=height)
