# SPDX-License-Identifier: MIT
"""The layout of an LRZ buffer: two bytes (Z16) for each block of 8x8 pixels.

Facts: fdl5_lrz_layout_init and fdl6_lrz_layout_init of Mesa 25.0.7.
"""

from __future__ import annotations

from dataclasses import dataclass

from cffpy.image.layout import LayoutError
from cffpy.image.numbers import align, divide_up

_BYTES = 2

#: Generation -> fast-clear flags at most, bytes of the buffer with them and the direction.
_FAST_CLEAR = {6: (512, 520), 7: (1024, 0x1800)}


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
    a7xx). Raises LayoutError for other generations than 5 to 7.
    """
    if min(width, height, samples, layers) < 1 or max(width, height, layers) > 1 << 20:
        raise LayoutError("width, height, samples and layers are numbers from 1 to 1048576")
    if generation == 5:
        return _a5xx(width, height, samples)
    if generation in _FAST_CLEAR:
        return _a6xx(generation, width, height, samples, layers, has_fast_clear)
    raise LayoutError(f"the LRZ layout of a{generation}xx is not known, only that of a5xx to a7xx")


def _a5xx(width: int, height: int, samples: int) -> LrzLayout:
    pitch, rows = align(divide_up(width, 8), 64), divide_up(height, 8)
    if samples == 4:
        pitch *= 2
    if samples in (2, 4):
        rows *= 2
    # the fast-clear flags come first
    return LrzLayout(0x1000, pitch, rows, 0, 0, 0, pitch * rows * _BYTES + 0x1000)


def _a6xx(
    generation: int, width: int, height: int, samples: int, layers: int, has_fast_clear: bool
) -> LrzLayout:
    width *= 2 if samples in (4, 8) else 1
    height *= {2: 2, 4: 2, 8: 4}.get(samples, 1)
    columns, rows = divide_up(width, 8), divide_up(height, 8)
    pitch, aligned_rows = align(columns, 32), align(rows, 32)
    layer_size = pitch * aligned_rows * _BYTES
    total = layer_size * layers
    most, extra = _FAST_CLEAR[generation]
    flags = divide_up(divide_up(columns, 16) * divide_up(rows, 4), 8) * layers
    if not has_fast_clear or flags > most:
        flags = 0
    fast_clear_offset = 0
    if has_fast_clear:
        fast_clear_offset = total
        total += extra
    if aligned_rows * layers - 1 >> 14:
        aligned_rows = total = 0
    return LrzLayout(0, pitch, aligned_rows, layer_size, fast_clear_offset, flags, total)
