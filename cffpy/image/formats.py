# SPDX-License-Identifier: MIT
"""Image formats by their Gallium names: bytes a block, block size, components.

Uncompressed formats are read off their names (``R8G8B8A8_UNORM``: channels and bits), so that no
list can be incomplete. Compressed families are one table. TexelFormat: where the channels of a
texel are in memory, and what their bits mean: channels are listed from the lowest bit on, so that
B5G6R5_UNORM has blue in bits 0 to 4. A swap of a descriptor or of a render target orders the
channels of a hardware format in another way (``swapped``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple

from cffpy.errors import CffpyError


class UnknownFormat(CffpyError):
    """The name of an unknown image format."""


class ImageFormat(NamedTuple):
    """A format: ``block_bytes`` for each block of ``block_width`` x ``block_height`` texels."""

    name: str
    block_bytes: int
    block_width: int = 1
    block_height: int = 1
    components: int = 4

    @property
    def is_compressed(self) -> bool:
        """Whether a block holds more than one texel."""
        return self.block_width > 1 or self.block_height > 1

    @property
    def is_depth_stencil(self) -> bool:
        """Whether the format holds depth, stencil or both."""
        return bool(_DEPTH_STENCIL.match(self.name))

    @property
    def is_r8g8(self) -> bool:
        """Whether it is one of the two-component 8-bit formats, which are tiled as two halves."""
        return self.block_bytes == 2 and self.components == 2


#: Family -> (bytes a block, components); all have blocks of 4x4 texels.
_COMPRESSED = {
    "DXT1_RGB": (8, 3),
    "DXT1_RGBA": (8, 4),
    "DXT1_SRGB": (8, 3),
    "DXT1_SRGBA": (8, 4),
    "DXT3_RGBA": (16, 4),
    "DXT3_SRGBA": (16, 4),
    "DXT5_RGBA": (16, 4),
    "DXT5_SRGBA": (16, 4),
    "RGTC1_UNORM": (8, 1),
    "RGTC1_SNORM": (8, 1),
    "RGTC2_UNORM": (16, 2),
    "RGTC2_SNORM": (16, 2),
    "LATC1_UNORM": (8, 1),
    "LATC1_SNORM": (8, 1),
    "LATC2_UNORM": (16, 2),
    "LATC2_SNORM": (16, 2),
    "BPTC_RGBA_UNORM": (16, 4),
    "BPTC_SRGBA": (16, 4),
    "BPTC_RGB_FLOAT": (16, 3),
    "BPTC_RGB_UFLOAT": (16, 3),
    "ETC1_RGB8": (8, 3),
    "ETC2_RGB8": (8, 3),
    "ETC2_SRGB8": (8, 3),
    "ETC2_RGB8A1": (8, 4),
    "ETC2_SRGB8A1": (8, 4),
    "ETC2_RGBA8": (16, 4),
    "ETC2_SRGBA8": (16, 4),
    "ETC2_R11_UNORM": (8, 1),
    "ETC2_R11_SNORM": (8, 1),
    "ETC2_RG11_UNORM": (16, 2),
    "ETC2_RG11_SNORM": (16, 2),
    "ATC_RGB": (8, 3),
    "ATC_RGBA_EXPLICIT": (16, 4),
    "ATC_RGBA_INTERPOLATED": (16, 4),
}

#: Formats of two texels that share chroma: four bytes each, in blocks of 2x1 texels.
_SUBSAMPLED = (
    "R8G8_B8G8_UNORM",
    "G8R8_G8B8_UNORM",
    "R8G8_R8B8_UNORM",
    "G8R8_B8R8_UNORM",
    "R8B8_R8G8_UNORM",
    "B8R8_G8R8_UNORM",
    "B8G8_R8G8_UNORM",
    "G8B8_G8R8_UNORM",
    "UYVY",
    "VYUY",
    "YUYV",
    "YVYU",
)

#: Short names for attachments, in upper case.
_SHORT = {
    "RGBA8": "R8G8B8A8_UNORM",
    "BGRA8": "B8G8R8A8_UNORM",
    "RGB10A2": "R10G10B10A2_UNORM",
    "RG11B10F": "R11G11B10_FLOAT",
    "RGBA16F": "R16G16B16A16_FLOAT",
    "RGBA32F": "R32G32B32A32_FLOAT",
    "RG16F": "R16G16_FLOAT",
    "RG32F": "R32G32_FLOAT",
    "R16F": "R16_FLOAT",
    "R32F": "R32_FLOAT",
    "RG8": "R8G8_UNORM",
    "R8": "R8_UNORM",
    "RGB565": "B5G6R5_UNORM",
    "D16": "Z16_UNORM",
    "D24S8": "Z24_UNORM_S8_UINT",
    "D24X8": "Z24X8_UNORM",
    "D32": "Z32_FLOAT",
    "D32F": "Z32_FLOAT",
    "D32S8": "Z32_FLOAT_S8X24_UINT",
    "S8": "S8_UINT",
}

_ASTC = re.compile(r"ASTC_(\d{1,2})X(\d{1,2})(X\d)?(_SRGB)?$")
_CHANNEL = re.compile(r"([RGBAXLISZYUV])(\d{1,2})")
_KIND = re.compile(r"_(UNORM|SNORM|UINT|SINT|FLOAT|SRGB|USCALED|SSCALED|FIXED)")
_DEPTH_STENCIL = re.compile(r"(?:[XS]\d+(?:X\d+)?(?:_UINT)?_?)*[ZS]\d")


@lru_cache(maxsize=1024)
def image_format(name: str) -> ImageFormat:
    """The format of a Gallium name (``R8G8B8A8_UNORM``) or of a short one (``RGBA8``), in any case.

    Raises UnknownFormat.
    """
    upper = name.upper().removeprefix("PIPE_FORMAT_").removeprefix("VK_FORMAT_")
    upper = _SHORT.get(upper, upper)
    compressed = _COMPRESSED.get(upper)
    if compressed is not None:
        block_bytes, components = compressed
        return ImageFormat(upper, block_bytes, 4, 4, components)
    astc = _ASTC.match(upper)
    if astc is not None:
        return ImageFormat(name.upper(), 16, int(astc[1]), int(astc[2]), 4)
    if upper in _SUBSAMPLED:
        return ImageFormat(upper, 4, 2, 1, components=3)
    if upper == "R9G9B9E5_FLOAT":
        return ImageFormat(upper, 4, components=3)
    if upper == "Z32_FLOAT_S8X24_UINT":  # depth; the stencil is an image by itself
        return ImageFormat(upper, 4, components=1)
    bare = _KIND.sub("", upper)
    channels = _CHANNEL.findall(bare)
    if not channels or _CHANNEL.sub("", bare).strip("_") or not _KIND.search(upper):
        raise UnknownFormat(
            f"{name!r} is not an image format; formats are named like R8G8B8A8_UNORM"
        )
    bits = sum(int(width) for _, width in channels)
    if bits % 8:
        raise UnknownFormat(f"{name!r} is not an image format: its channels have {bits} bits")
    return ImageFormat(upper, bits // 8, components=len(channels))


#: Compressed formats, without the prefix -> a format with the same blocks.
_COMPRESSED_SHORT = {
    "ETC1": "ETC1_RGB8",
    "DXT1": "DXT1_RGBA",
    "DXT3": "DXT3_RGBA",
    "DXT5": "DXT5_RGBA",
    "BPTC": "BPTC_RGBA_UNORM",
    "BPTC_FLOAT": "BPTC_RGB_FLOAT",
    "BPTC_UFLOAT": "BPTC_RGB_UFLOAT",
}

#: Depth buffers: those of depth and stencil registers, and of textures that only depth can be.
_DEPTH = {
    "16": "Z16_UNORM",
    "24_8": "Z24_UNORM_S8_UINT",
    "32": "Z32_FLOAT",
    "Z24_UNORM_S8_UINT_AS_R8G8B8A8": "Z24_UNORM_S8_UINT",
    "Z24_UNORM_S8_UINT": "Z24_UNORM_S8_UINT",
    "Z24_UINT_S8_UINT": "Z24_UNORM_S8_UINT",
    "X8Z24_UNORM": "Z24X8_UNORM",
}

_PREFIX = re.compile(r"(?:FMT6|TFMT[45]?|RB[45]?|DEPTH[456X]|COLORX)_")
_PLAIN = re.compile(r"(S?\d+(?:_[XE]?\d+)*)(?:_([A-Z]+))?(?:_DEST)?$")
_LETTERS = "RGBA"

#: Formats whose alpha is in the lowest bits; that of all others is in the highest.
_ALPHA_FIRST = ("1_5_5_5", "2_10_10_10")


@lru_cache(maxsize=1024)
def hardware_format(name: str) -> ImageFormat:
    """The format of a name. Raises UnknownFormat, also for formats with planes."""
    prefix = _PREFIX.match(name)
    if name == "S8_UINT" or prefix is None:
        return image_format(name)
    short = name[prefix.end() :]
    if short in _DEPTH:
        return image_format(_DEPTH[short])
    if short in _COMPRESSED_SHORT:
        return image_format(_COMPRESSED_SHORT[short])
    plain = _plain_format(short, is_a2xx=prefix.group() == "COLORX_")
    if plain is not None:
        return plain
    if short in ("A8_UNORM", "L8_A8_UNORM"):
        return image_format("R8_UNORM" if short == "A8_UNORM" else "R8G8_UNORM")
    if short.startswith(("ETC2", "RGTC", "ASTC", "ATC", "Z16", "Z32")) or prefix.group().startswith(
        "RB"
    ):
        return image_format(short)
    raise UnknownFormat(f"{name} is not a format of one plane")


def _plain_format(short: str, is_a2xx: bool) -> ImageFormat | None:
    """A format whose name lists the bits of its components: 8_8_8_8_UNORM.

    The names of a2xx go from the highest bits to the lowest, all others from the lowest on: 1_5_5_5
    of a2xx has red in bits 0 to 4, that of a6xx in bits 1 to 5.
    """
    plain = _PLAIN.match(short)
    if plain is None:
        return None
    bits, kind = plain[1], plain[2] or "UNORM"  # those of a2xx do not name it
    if bits == "9_9_9_E5":
        return image_format("R9G9B9E5_FLOAT")
    parts = bits.split("_")
    widths = [int(part.lstrip("SXE")) for part in parts]
    if len(widths) > len(_LETTERS) or sum(widths) % 8:
        return None
    letters = _LETTERS[: len(widths) - 1] + "X" if parts[-1].startswith("X") else _LETTERS
    if is_a2xx:
        widths.reverse()
    elif bits in _ALPHA_FIRST:
        letters = "ARGB"
    channels = "".join(letter + str(width) for letter, width in zip(letters, widths, strict=False))
    return ImageFormat(f"{channels}_{kind}", sum(widths) // 8, components=len(widths))


# -- channels of texels ----------------------------------------------------------------------------

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

#: Values of a3xx_color_swap -> the components of a texel from the lowest bits on.
_SWAPS = {"WZYX": "RGBA", "WXYZ": "BGRA", "ZYXW": "ARGB", "XYZW": "ABGR"}


@lru_cache(maxsize=256)
def texel_format(form: ImageFormat) -> TexelFormat:
    """The channels of a format. Raises PictureError for blocks, and for what is not known."""
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
        for one in "RGB" if letter == "L" and "A" in match[1] else letter:
            channels.append(Channel(one, shift, bits, _kind(kind, bits, form.name)))
        shift += bits
    return TexelFormat(form.block_bytes, tuple(one for one in channels if one.letter != "X"))


def _kind(kind: Kind, bits: int, name: str) -> Kind:
    if kind == "float":
        if bits not in _FLOATS:
            raise PictureError(f"floats of {bits} bits, of {name}, are not known")
        return "ufloat" if bits < 16 else "float"
    if bits > 32:
        raise PictureError(f"channels of {bits} bits, of {name}, are not shown")
    return kind


def swapped(form: ImageFormat, swap: str) -> ImageFormat:
    """The format of the texels that a hardware format and a swap (a3xx_color_swap) make.

    The names of swaps go from the highest bits to the lowest: WZYX is the usual order. Components
    keep their bits: R5G5B5A1 is A1R5G5B5 with ZYXW, as in Mesa's tables (fd6_format_table.c,
    fd5_format.c, ...). Depth, stencil, blocks and shared exponents are not swapped. Raises
    PictureError for an order that no table has.
    """
    order = _SWAPS.get(swap)
    if order is None:
        raise PictureError(f"the component swap {swap} is not known")
    if order == "RGBA" or form.is_compressed or form.is_depth_stencil:
        return form
    match = _NAME.match(form.name)
    if match is None or form.name == "R9G9B9E5_FLOAT":
        return form
    widths = dict(_PLAIN_CHANNEL.findall(match[1]))
    wanted = _reordered("".join(widths), order)
    if not wanted:
        raise PictureError(f"the order of {form.name} with the component swap {swap} is not known")
    channels = "".join(letter + widths[letter] for letter in wanted)
    return form._replace(name=f"{channels}_{match[2]}")


def _reordered(letters: str, order: str) -> str:
    """The channels of a format, from the lowest on, in an order; empty where that is not known."""
    if len(letters) == 1:
        return letters
    if letters in ("RGBA", "RGBX") or (letters == "RGB" and order == "BGRA"):
        return "".join(one for one in order.replace("A", letters[3:]) if one in letters)
    return "ABGR" if letters == "ARGB" and order == "BGRA" else ""
