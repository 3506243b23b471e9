# SPDX-License-Identifier: MIT
"""Layout questions and answers as plain values: the fields of ``cffpy layout --batch``.

Each function takes one question (a mapping with the documented fields) and returns it with the
answer under ``result``, or under ``tiled_hex`` for tiled memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cffpy.errors import CffpyError
from cffpy.formats import image_format
from cffpy.image.devices import device
from cffpy.image.layout import (
    ImageLayout,
    ImageRequest,
    LayoutError,
    LrzLayout,
    image_layout,
    lrz_layout,
)
from cffpy.image.tiled import BankSwizzle, TiledMemory, tile, untile

#: Bytes of memory that one question may ask for, whatever its length, and for each byte of its
#: texels: a single column of them fills a row of blocks.
_LEAST_BYTES, _BYTES_PER_BYTE = 1 << 22, 1 << 10

Question = Mapping[str, Any]


class QuestionError(CffpyError):
    """A question lacks a field, or has one of the wrong type."""


def _number(question: Question, name: str, default: int | None = None) -> int:
    value = question.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise QuestionError(f"{name} must be an integer")
    return value


def _flag(question: Question, name: str) -> bool:
    value = question.get(name, False)
    if not isinstance(value, bool):
        raise QuestionError(f"{name} must be true or false")
    return value


def _text(question: Question, name: str) -> str:
    value = question.get(name)
    if not isinstance(value, str):
        raise QuestionError(f"{name} must be a string")
    return value


def answer_image(question: Question) -> dict[str, Any]:
    """The layout of an image."""
    part = device(_text(question, "gpu"))
    tile_mode = _number(question, "tile_mode", 3)
    if tile_mode not in (0, 2, 3):
        raise QuestionError("tile_mode must be 0, 2 or 3")
    request = ImageRequest(
        format=image_format(_text(question, "format")),
        width=_number(question, "width"),
        height=_number(question, "height"),
        depth=_number(question, "depth", 1),
        levels=_number(question, "levels", 1),
        layers=_number(question, "layers", 1),
        samples=_number(question, "samples", 1),
        is_3d=_flag(question, "is_3d"),
        tile_mode=tile_mode,
        ubwc=_flag(question, "ubwc_asked"),
        tile_all=_flag(question, "tile_all"),
        is_mutable=_flag(question, "mutable"),
    )
    layout = image_layout(request, part.generation, part.has_linear_mip_fallback)
    return {**question, "result": image_values(layout)}


def image_values(layout: ImageLayout) -> dict[str, Any]:
    """An image's layout as plain values."""
    return {
        "cpp": layout.cpp,
        "ubwc": layout.ubwc,
        "layer_first": layout.layer_first,
        "pitch0": layout.pitch0,
        "pitchalign": layout.pitch_align,
        "layer_size": layout.layer_size,
        "ubwc_layer_size": layout.ubwc_layer_size,
        "ubwc_width0": layout.ubwc_width0,
        "size": layout.size,
        "base_align": layout.base_align,
        "levels": [
            {
                "offset": level.offset,
                "size0": level.size,
                "pitch": level.pitch,
                "tile_mode": level.tile_mode,
                "ubwc_offset": level.ubwc_offset,
                "ubwc_pitch": level.ubwc_pitch,
            }
            for level in layout.levels
        ],
    }


def answer_lrz(question: Question) -> dict[str, Any]:
    """The layout of an LRZ buffer."""
    part = device(_text(question, "gpu"))
    layout = lrz_layout(
        part.generation,
        _number(question, "width"),
        _number(question, "height"),
        _number(question, "samples", 1),
        _number(question, "layers", 1),
        has_fast_clear=part.has_lrz_fast_clear,
    )
    return {**question, "result": lrz_values(layout)}


def lrz_values(layout: LrzLayout) -> dict[str, Any]:
    """An LRZ buffer's layout as plain values."""
    return {
        "pitch": layout.pitch,
        "height": layout.height,
        "layer_size": layout.layer_size,
        "fc_offset": layout.fast_clear_offset,
        "fc_size": layout.fast_clear_size,
        "total_size": layout.total_size,
    }


def answer_tile(question: Question) -> dict[str, Any]:
    """Tiled memory made of rows of texels (``linear_hex``), or rows of it (``tiled_hex``)."""
    swizzle = BankSwizzle(
        _number(question, "highest_bank_bit"),
        _number(question, "bank_swizzle_levels"),
        _number(question, "macrotile"),
    )
    memory = TiledMemory(_number(question, "cpp"), _number(question, "pitch"), swizzle)
    width, height = _number(question, "width"), _number(question, "height")
    if min(width, height) < 0 or width * memory.cpp > memory.pitch:
        raise LayoutError("width and height are numbers from 0; a row of texels fits into pitch")
    if "linear_hex" not in question and "tiled_hex" in question:
        tiled = _bytes(question, "tiled_hex")
        _check_size(width * height * memory.cpp, len(tiled))
        return {**question, "linear_hex": untile(tiled, width, height, memory).hex()}
    linear, size = _bytes(question, "linear_hex"), _number(question, "size")
    _check_size(size, len(linear))
    return {**question, "tiled_hex": tile(linear, width, height, memory, size).hex()}


def _bytes(question: Question, name: str) -> bytes:
    try:
        return bytes.fromhex(_text(question, name))
    except ValueError:
        raise QuestionError(f"{name} must be hex digits") from None


def _check_size(size: int, given: int) -> None:
    """Raise LayoutError for an answer that is out of proportion to the question."""
    most = _LEAST_BYTES + _BYTES_PER_BYTE * given
    if not 0 <= size <= most:
        raise LayoutError(f"{given} bytes of texels fill at most {most} bytes, not {size}")


#: Kind of question -> the function that answers it.
ANSWERS: dict[str, Callable[[Question], dict[str, Any]]] = {
    "image": answer_image,
    "lrz": answer_lrz,
    "tile": answer_tile,
}
