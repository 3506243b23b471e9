# SPDX-License-Identifier: MIT
"""The layout of an LRZ buffer: two bytes (Z16) for each block of 8x8 pixels.

Facts: fdl5_lrz_layout_init and fdl6_lrz_layout_init of Mesa 25.0.7.
"""

from __future__ import annotations

from dataclasses import dataclass

from cffpy.capture.generations import generation_of
from cffpy.image.layout import ImageRequest, LayoutError, image_rules
from cffpy.image.numbers import align, divide_up

_BYTES = 2


@dataclass(frozen=True, slots=True)
class LrzLayout:
    """An LRZ buffer. ``pitch`` and ``height`` in LRZ texels, the others in bytes.

    ``height`` and ``total_size`` are 0 where the hardware cannot use such a buffer.
    """

    #: Of the LRZ data within the buffer.
    offset: int
    pitch: int
    height: int
    layer_size: int
    fast_clear_offset: int
    fast_clear_size: int
    total_size: int


def lrz_layout(
    generation: int,
    width: int,
    height: int,
    samples: int = 1,
    layers: int = 1,
    *,
    has_fast_clear: bool = False,
) -> LrzLayout:
    """The LRZ buffer of a depth image of ``width`` x ``height`` pixels.

    ``has_fast_clear``: the GPU keeps fast-clear flags and the direction in memory (a6xx gen3 on,
    a7xx). Raises LayoutError for generations whose layout is not known.
    """
    if min(width, height, samples, layers) < 1 or max(width, height, layers) > 1 << 20:
        raise LayoutError("width, height, samples and layers are numbers from 1 to 1048576")
    rules = image_rules(generation)
    if rules == "a5xx":
        return _a5xx(width, height, samples)
    lrz = generation_of(generation).lrz if rules else None
    if lrz is not None:
        fast_clear = lrz.fast_clear if has_fast_clear else None
        return _a6xx(width, height, samples, layers, fast_clear)
    raise LayoutError(f"the LRZ layout of a{generation}xx is not known, only that of a5xx to a7xx")


def lrz_of_image(
    request: ImageRequest, generation: int, *, has_fast_clear: bool = False
) -> LrzLayout | None:
    """The LRZ buffer of an image; None where its format has no depth, or it has slices."""
    form = request.format
    if not form.is_depth_stencil or "Z" not in form.name or request.is_3d:
        return None
    size = request.width, request.height, request.samples, request.layers
    return lrz_layout(generation, *size, has_fast_clear=has_fast_clear)


def _a5xx(width: int, height: int, samples: int) -> LrzLayout:
    pitch, rows = align(divide_up(width, 8), 64), divide_up(height, 8)
    if samples == 4:
        pitch *= 2
    if samples in (2, 4):
        rows *= 2
    # the fast-clear flags come first
    return LrzLayout(0x1000, pitch, rows, 0, 0, 0, pitch * rows * _BYTES + 0x1000)


def _a6xx(
    width: int, height: int, samples: int, layers: int, fast_clear: tuple[int, int] | None
) -> LrzLayout:
    """``fast_clear``: as in Lrz.fast_clear, None where the GPU has none."""
    width *= 2 if samples in (4, 8) else 1
    height *= {2: 2, 4: 2, 8: 4}.get(samples, 1)
    columns, rows = divide_up(width, 8), divide_up(height, 8)
    pitch, aligned_rows = align(columns, 32), align(rows, 32)
    layer_size = pitch * aligned_rows * _BYTES
    total = layer_size * layers
    flags = fast_clear_offset = 0
    if fast_clear is not None:
        most, extra = fast_clear
        needed = divide_up(divide_up(columns, 16) * divide_up(rows, 4), 8) * layers
        flags = needed if needed <= most else 0
        fast_clear_offset = total
        total += extra
    if aligned_rows * layers - 1 >> 14:
        aligned_rows = total = 0
    return LrzLayout(0, pitch, aligned_rows, layer_size, fast_clear_offset, flags, total)
