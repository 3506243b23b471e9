# SPDX-License-Identifier: MIT
"""LRZ buffers: pitch, layer size and place of the fast-clear part, against ``lrz_layout``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.layout_check.model import Comparison, Difference
from cffpy.errors import CffpyError
from cffpy.image.lrz import lrz_layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.image_views import ImageView
    from cffpy.image.devices import Device
    from cffpy.image.lrz import LrzLayout


class LrzBuffer(NamedTuple):
    """An LRZ buffer as registers describe it.

    ``address``: of the LRZ data. ``pitch``: in LRZ texels. ``layer_pitch``: in bytes; None on a5xx,
    0 where the driver uses one layer. ``fast_clear``: address of the fast-clear part, or 0.
    """

    address: int
    pitch: int
    layer_pitch: int | None
    fast_clear: int

    def __str__(self) -> str:
        parts = [f"pitch {self.pitch}"]
        if self.layer_pitch:
            parts.append(f"layer size {self.layer_pitch:#x}")
        if self.fast_clear:
            parts.append(f"fast clear at {self.fast_clear:#x}")
        return ", ".join(parts)


def compare_lrz(part: Device, buffer: LrzBuffer, depth: ImageView | None) -> Comparison:
    """``depth``: the depth attachment, whose image may be larger than the framebuffer."""
    if depth is None:
        return Comparison("not decidable", "the pass has no depth buffer")
    nearest: tuple[Difference, ...] = ()
    for size in dict.fromkeys(_sizes(depth)):
        try:
            layout = lrz_layout(
                part.generation, *size, depth.samples, has_fast_clear=part.has_lrz_fast_clear
            )
        except CffpyError as problem:
            return Comparison("not decidable", str(problem))
        found = tuple(_differences(buffer, layout))
        if not found:
            return Comparison("agrees", f"depth image of {size[0]}x{size[1]}")
        if not nearest or len(found) < len(nearest):
            nearest = found
    return Comparison("differs", differences=nearest)


def _sizes(depth: ImageView) -> Iterator[tuple[int, int]]:
    """The framebuffer, then the largest size with the pitches of the depth buffer."""
    yield depth.width, depth.height
    if depth.form is None:
        return
    width = max(depth.width, depth.pitch // (depth.form.block_bytes * depth.samples))
    yield width, depth.height
    if depth.layer_pitch:
        height = max(depth.height, depth.layer_pitch // depth.pitch)
        yield depth.width, height
        yield width, height


def _differences(buffer: LrzBuffer, layout: LrzLayout) -> Iterator[Difference]:
    if buffer.pitch != layout.pitch:
        yield Difference("pitch", buffer.pitch, layout.pitch)
    if buffer.layer_pitch and buffer.layer_pitch != layout.layer_size:
        yield Difference("layer size", buffer.layer_pitch, layout.layer_size)
    if not buffer.fast_clear:
        return
    distance = buffer.fast_clear - buffer.address
    if layout.offset:  # a5xx: the flags come first
        if distance != -layout.offset:
            yield Difference("fast clear at base +", distance, -layout.offset)
    elif not layout.fast_clear_offset:
        yield Difference("fast clear at base +", distance, "none")
    elif distance <= 0 or distance % layout.layer_size:  # it follows the last layer
        yield Difference("fast clear at base +", distance, layout.fast_clear_offset)
