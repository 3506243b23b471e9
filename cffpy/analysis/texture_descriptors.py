# SPDX-License-Identifier: MIT
"""Texture: a texture descriptor of a5xx to a7xx, decoded. Sizes in texels, pitches in bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.pm4.fields import Fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.cp.machine import Machine

_COMMON = (
    "TILE_MODE",
    "MIPLVLS",
    "SAMPLES",
    "FMT",
    "WIDTH",
    "HEIGHT",
    "TYPE",
    "ARRAY_PITCH",
    "MIN_LAYERSZ",
    "TILE_ALL",
    "FLAG",
    "BASE_LO",
    "BASE_HI",
    "DEPTH",
)
_A5XX = Fields("A5XX_TEX_CONST", *_COMMON, "BUFFER")
_A6XX = Fields(
    "A6XX_TEX_CONST",
    *_COMMON,
    "FLAG_LO",
    "FLAG_HI",
    "FLAG_BUFFER_PITCH",
    "FLAG_BUFFER_ARRAY_PITCH",
)

#: Dwords of a descriptor by generation.
DWORDS = {5: 12, 6: 16, 7: 16}

_TYPES = ("1D", "2D", "cube", "3D", "buffer", "buffer", "6", "7")
#: PITCH of dword 2: other fields overlap it, so that packet readers do not have it.
_PITCH_DWORD, _PITCH_SHIFT, _PITCH_MASK = 2, 7, 0x3FFFFF
#: Shifts of fields, as the register database has them.
#: Drivers put dwords into FLAG_BUFFER_ARRAY_PITCH, of which four bits are not stored.
_ARRAY_SHIFT, _BASE_SHIFT, _FLAG_PITCH_SHIFT, _FLAG_ARRAY_SHIFT = 12, 5, 6, 4 + 2


class Texture(NamedTuple):
    """What a descriptor says. ``levels``: those of the view; ``depth``: layers, too.

    ``format``: the hardware's name, as in FMT6_8_8_8_8_UNORM.
    """

    address: int
    kind: str
    format: str
    width: int
    height: int
    depth: int
    levels: int
    samples: int
    #: TILE_MODE: 0 linear, 2, 3.
    tile_mode: int
    pitch: int
    array_pitch: int
    #: The least size of a slice of a 3D image.
    min_layer: int
    tile_all: bool
    ubwc: bool
    #: Of the flags: address, bytes a row, bytes from layer to layer; 0 without.
    flags: int = 0
    flag_pitch: int = 0
    flag_array_pitch: int = 0


#: The order in which a shader gets the channels of a texel.
_ORDER = ("SWAP", "SWIZ_X", "SWIZ_Y", "SWIZ_Z", "SWIZ_W")
_A5XX_ORDER, _A6XX_ORDER = Fields("A5XX_TEX_CONST", *_ORDER), Fields("A6XX_TEX_CONST", *_ORDER)
_SWAPS = ("WZYX", "WXYZ", "ZYXW", "XYZW")
_SWIZZLES = ("X", "Y", "Z", "W", "ZERO", "ONE", "6", "7")


class TexelOrder(NamedTuple):
    """``swap``: a name of a3xx_color_swap. ``swizzle``: "X" to "W", "ZERO" or "ONE" for each."""

    swap: str
    swizzle: tuple[str, ...]


def read_texel_order(machine: Machine, dwords: Sequence[int]) -> TexelOrder | None:
    """The order of a descriptor's channels; None where ``read_texture`` has None, too."""
    generation = machine.gpu.generation
    size = DWORDS.get(generation)
    if size is None or len(dwords) < size:
        return None
    fields = _A5XX_ORDER if generation == 5 else _A6XX_ORDER
    swap, *swizzle = machine.packets[fields].read(dwords[:size])
    return TexelOrder(_SWAPS[swap], tuple(_SWIZZLES[one] for one in swizzle))


def read_texture(machine: Machine, dwords: Sequence[int]) -> Texture | None:
    """The descriptor in ``dwords``; None where the generation's descriptors are not known."""
    generation = machine.gpu.generation
    size = DWORDS.get(generation)
    if size is None or len(dwords) < size:
        return None
    values = machine.packets[_A5XX if generation == 5 else _A6XX].read(dwords[:size])
    tiles, levels, samples, form, width, height, kind, layer, least, tile_all, flag = values[:11]
    low, high, depth, *rest = values[11:]
    pitch = dwords[_PITCH_DWORD] >> _PITCH_SHIFT & _PITCH_MASK
    enum = "a5xx_tex_fmt" if generation == 5 else "a6xx_format"
    is_buffer = bool(rest[0]) if generation == 5 else _TYPES[kind] == "buffer"
    flags = (0, 0, 0)
    if generation > 5 and flag:
        flags = (
            rest[0] << _BASE_SHIFT | rest[1] << 32,
            rest[2] << _FLAG_PITCH_SHIFT,
            rest[3] << _FLAG_ARRAY_SHIFT,
        )
    return Texture(
        low << _BASE_SHIFT | high << 32,
        "buffer" if is_buffer else _TYPES[kind],
        machine.enum_name(enum, form) or f"{form:#x}",
        width,
        height,
        depth,
        levels + 1,
        1 << samples,
        tiles,
        pitch,
        layer << _ARRAY_SHIFT,
        least << _ARRAY_SHIFT,
        bool(tile_all),
        bool(flag),
        *flags,
    )
