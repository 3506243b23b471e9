# SPDX-License-Identifier: MIT
"""Texels: where their channels are in memory, from the lowest bit on, and what their bits mean."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from cffpy.errors import CffpyError
from cffpy.formats import ImageFormat, UnknownFormat, swapped

#: Kinds of channels. "ufloat": 10 or 11 bits without sign.
Kind = Literal["unorm", "snorm", "uint", "sint", "float", "ufloat"]


class PictureError(CffpyError):
    """An image that cannot be shown."""


@dataclass(frozen=True, slots=True)
class Channel:
    """``letter``: R, G, B, A, Z (depth) or S (stencil). ``shift``: of its lowest bit."""

    letter: str
    shift: int
    bits: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class TexelFormat:
    """``size``: bytes of a texel. ``shared_exponent``: R9G9B9E5: its channels share an exponent."""

    size: int
    channels: tuple[Channel, ...]
    shared_exponent: bool = False

    @property
    def is_color(self) -> bool:
        """Whether it is neither depth nor stencil."""
        return not any(channel.letter in "ZS" for channel in self.channels)

    def only(self, letter: str) -> TexelFormat:
        """The format with this channel only. Raises PictureError where it has none."""
        channels = tuple(channel for channel in self.channels if channel.letter == letter)
        if not channels:
            names = {"Z": "depth", "S": "stencil"}
            raise PictureError(f"the format has no {names.get(letter, letter)}")
        return replace(self, channels=channels)


_KINDS: dict[str, Kind] = {
    "UNORM": "unorm",
    "SRGB": "unorm",
    "SNORM": "snorm",
    "UINT": "uint",
    "SINT": "sint",
    "USCALED": "uint",
    "SSCALED": "sint",
    "FLOAT": "float",
}
_PLAIN_CHANNEL = re.compile(r"([RGBAXLISZ])(\d{1,2})")
_NAME = re.compile(r"((?:[RGBAXLISZ]\d{1,2})+)_([A-Z]+)$")
_DEPTHS: dict[str, tuple[int, tuple[Channel, ...]]] = {
    "Z16_UNORM": (2, (Channel("Z", 0, 16, "unorm"),)),
    "Z32_UNORM": (4, (Channel("Z", 0, 32, "unorm"),)),
    "Z32_FLOAT": (4, (Channel("Z", 0, 32, "float"),)),
    # depth; the stencil is an image by itself
    "Z32_FLOAT_S8X24_UINT": (4, (Channel("Z", 0, 32, "float"),)),
    "Z24X8_UNORM": (4, (Channel("Z", 0, 24, "unorm"),)),
    "X8Z24_UNORM": (4, (Channel("Z", 8, 24, "unorm"),)),
    "Z24_UNORM_S8_UINT": (4, (Channel("Z", 0, 24, "unorm"), Channel("S", 24, 8, "uint"))),
    "S8_UINT_Z24_UNORM": (4, (Channel("S", 0, 8, "uint"), Channel("Z", 8, 24, "unorm"))),
    "S8_UINT": (1, (Channel("S", 0, 8, "uint"),)),
}
#: Bits of floats; those of 10 and 11 bits have no sign.
_FLOATS = (10, 11, 16, 32)


@lru_cache(maxsize=256)
def texel_format(form: ImageFormat, swap: str = "WZYX") -> TexelFormat:
    """The channels of a format with a swap of its components.

    Raises PictureError for blocks, and for what is not known.
    """
    try:
        form = swapped(form, swap)
    except UnknownFormat as error:
        raise PictureError(str(error)) from None
    if form.is_compressed:
        raise PictureError(f"{form.name} has blocks, no texels")
    depth = _DEPTHS.get(form.name)
    if depth is not None:
        return TexelFormat(*depth)
    if form.name == "R9G9B9E5_FLOAT":
        channels = [Channel(letter, 9 * number, 9, "uint") for number, letter in enumerate("RGB")]
        return TexelFormat(4, (*channels, Channel("E", 27, 5, "uint")), True)
    match = _NAME.match(form.name)
    kind = _KINDS.get(match[2]) if match else None
    if match is None or kind is None:
        raise PictureError(f"the texels of {form.name} are not known")
    channels, shift = [], 0
    for letter, width in _PLAIN_CHANNEL.findall(match[1]):
        bits = int(width)
        # luminance beside alpha: red, green and blue are the same bits
        for name in "RGB" if letter == "L" and "A" in match[1] else letter:
            channels.append(Channel(name, shift, bits, _kind(kind, bits, form.name)))
        shift += bits
    return TexelFormat(
        form.block_bytes, tuple(channel for channel in channels if channel.letter != "X")
    )


def _kind(kind: Kind, bits: int, name: str) -> Kind:
    if kind == "float":
        if bits not in _FLOATS:
            raise PictureError(f"floats of {bits} bits, of {name}, are not known")
        return "ufloat" if bits < 16 else "float"
    if bits > 32:
        raise PictureError(f"channels of {bits} bits, of {name}, are not shown")
    return kind
