# SPDX-License-Identifier: MIT
"""Texture: a texture descriptor of a5xx to a7xx, decoded. Sizes in texels, pitches in bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.frame.binding import FORMAT_FIELDS, DescriptorText
from cffpy.pm4.reader import Fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.capture.gpu import Generation
    from cffpy.cp.machine import Machine
    from cffpy.frame.field import FieldValue

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
#: The order in which a shader gets the channels of a texel.
_ORDER = ("SWAP", "SWIZ_X", "SWIZ_Y", "SWIZ_Z", "SWIZ_W")


class _Form(NamedTuple):
    """A form of descriptors: the enum of FMT, and the fields to read."""

    formats: str
    fields: Fields
    order: Fields
    #: After _COMMON come the fields of the flags, not the bit that marks a buffer.
    has_flags: bool


#: Domain of the register database -> form.
_FORMS = {
    "A5XX_TEX_CONST": _Form(
        "a5xx_tex_fmt",
        Fields("A5XX_TEX_CONST", *_COMMON, "BUFFER"),
        Fields("A5XX_TEX_CONST", *_ORDER),
        has_flags=False,
    ),
    "A6XX_TEX_CONST": _Form(
        "a6xx_format",
        Fields(
            "A6XX_TEX_CONST",
            *_COMMON,
            "FLAG_LO",
            "FLAG_HI",
            "FLAG_BUFFER_PITCH",
            "FLAG_BUFFER_ARRAY_PITCH",
        ),
        Fields("A6XX_TEX_CONST", *_ORDER),
        has_flags=True,
    ),
}

#: The descriptors of a2xx, which hold sizes less 1.
_A2XX = "A2XX_SQ_TEX"

#: Of a buffer, WIDTH holds this number of bits of the elements.
_BUFFER_WIDTH_BITS = 15

_TYPES = ("1D", "2D", "cube", "3D", "buffer", "buffer", "6", "7")
#: PITCH of dword 2: other fields overlap it, so that packet readers do not have it.
_PITCH_DWORD, _PITCH_SHIFT, _PITCH_MASK = 2, 7, 0x3FFFFF
#: Shifts of fields, as the register database has them.
#: Drivers put dwords into FLAG_BUFFER_ARRAY_PITCH, of which four bits are not stored.
_ARRAY_SHIFT, _BASE_SHIFT, _FLAG_PITCH_SHIFT, _FLAG_ARRAY_SHIFT = 12, 5, 6, 4 + 2


class Texture(NamedTuple):
    """What a descriptor says. ``levels``: those of the view; ``depth``: layers, too.

    Of a buffer, ``width`` is the number of its elements, and ``height`` is 1.

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


_SWAPS = ("WZYX", "WXYZ", "ZYXW", "XYZW")
_SWIZZLES = ("X", "Y", "Z", "W", "ZERO", "ONE", "6", "7")


class TexelOrder(NamedTuple):
    """``swap``: a name of a3xx_color_swap. ``swizzle``: "X" to "W", "ZERO" or "ONE" for each."""

    swap: str
    swizzle: tuple[str, ...]


def texture_dwords(generation: Generation) -> int:
    """Dwords of a texture descriptor; 0 where the generation's descriptors are not known."""
    domain, size = generation.descriptors.get("texture", ("", 0))
    return size if domain in _FORMS else 0


def is_of_texture(machine: Machine, domain: str | None) -> bool:
    """Whether structures of this domain are texture descriptors of the machine's generation."""
    return domain is not None and domain == machine.gpu.facts.descriptors.get("texture", ("", 0))[0]


def _buffer_elements(width: int, height: int) -> int:
    """Elements of a buffer, of WIDTH, which has the low 15 bits, and HEIGHT, which has the others.

    Source: Mesa's fd6_texture.cc and fd5_texture.c (25.0.7).
    """
    return width | height << _BUFFER_WIDTH_BITS


def described_by(domain: str | None, named: dict[str, FieldValue]) -> DescriptorText:
    """What a descriptor with these fields says. ``domain``: of the register database."""
    shown = next((named[name].text for name in FORMAT_FIELDS if name in named), None)
    width, height = (_whole(named.get(name)) for name in ("WIDTH", "HEIGHT"))
    if domain == _A2XX and width is not None and height is not None:
        return DescriptorText(named, shown, width + 1, height + 1)
    if domain in _FORMS and width is not None and height is not None:
        bit, kind = named.get("BUFFER"), named.get("TYPE")
        is_buffer = kind is not None and kind.text.endswith("_BUFFER")
        if _whole(bit) if bit is not None else is_buffer:
            elements = _buffer_elements(width, height)
            return DescriptorText(named, shown, elements, 1, elements)
    return DescriptorText(named, shown, width, height)


def _whole(field: FieldValue | None) -> int | None:
    value = None if field is None else field.value
    return value if isinstance(value, int) else None


def _form(machine: Machine, dwords: Sequence[int]) -> tuple[_Form, Sequence[int]] | None:
    """The form of a descriptor, and its dwords; None where they are too few or not known."""
    domain, size = machine.gpu.facts.descriptors.get("texture", ("", 0))
    form = _FORMS.get(domain)
    return None if form is None or len(dwords) < size else (form, dwords[:size])


def read_texel_order(machine: Machine, dwords: Sequence[int]) -> TexelOrder | None:
    """The order of a descriptor's channels; None where ``read_texture`` has None, too."""
    form = _form(machine, dwords)
    if form is None:
        return None
    swap, *swizzle = machine.packets[form[0].order].read(form[1])
    return TexelOrder(_SWAPS[swap], tuple(_SWIZZLES[component] for component in swizzle))


def read_texture(machine: Machine, dwords: Sequence[int]) -> Texture | None:
    """The descriptor in ``dwords``; None where the generation's descriptors are not known."""
    described = _form(machine, dwords)
    if described is None:
        return None
    form, dwords = described
    values = machine.packets[form.fields].read(dwords)
    tiles, levels, samples, texel, width, height, kind, layer, least, tile_all, flag = values[:11]
    low, high, depth, *rest = values[11:]
    pitch = dwords[_PITCH_DWORD] >> _PITCH_SHIFT & _PITCH_MASK
    is_buffer = _TYPES[kind] == "buffer" if form.has_flags else bool(rest[0])
    if is_buffer:
        width, height = _buffer_elements(width, height), 1
    flags = (0, 0, 0)
    if form.has_flags and flag:
        flags = (
            rest[0] << _BASE_SHIFT | rest[1] << 32,
            rest[2] << _FLAG_PITCH_SHIFT,
            rest[3] << _FLAG_ARRAY_SHIFT,
        )
    return Texture(
        low << _BASE_SHIFT | high << 32,
        "buffer" if is_buffer else _TYPES[kind],
        machine.enum_name(form.formats, texel) or f"{texel:#x}",
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
