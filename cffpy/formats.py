# SPDX-License-Identifier: MIT
"""Formats of images by name: of Gallium, of the hardware (FMT6_8_8_8_8_UNORM), and of Vulkan.

Uncompressed formats are read off their Gallium names (``R8G8B8A8_UNORM``: channels and bits, from
the lowest bit on, so that B5G6R5_UNORM has blue in bits 0 to 4); no list can be incomplete.
Compressed families are one table. A swap of a descriptor or of a render target orders the channels
of a hardware format in another way (``swapped``).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

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
    """The format of a name of Gallium or Vulkan, or of a short one (``RGBA8``), in any case.

    ``R8G8B8A8_UNORM`` is Gallium's, with or without ``PIPE_FORMAT_``; names of Vulkan begin with
    ``VK_FORMAT_``: the names of packed formats list their channels in the opposite order. Raises
    UnknownFormat.
    """
    upper = name.upper().removeprefix("PIPE_FORMAT_")
    if upper.startswith(_VULKAN):
        upper = gallium_format(upper) or upper
    upper = _SHORT.get(upper, upper)
    compressed = _COMPRESSED.get(upper)
    if compressed is not None:
        block_bytes, components = compressed
        return ImageFormat(upper, block_bytes, 4, 4, components)
    astc = _ASTC.match(upper)
    if astc is not None:
        return ImageFormat(upper, 16, int(astc[1]), int(astc[2]), 4)
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

_PREFIX = re.compile(r"(?:FMT6|[TV]FMT[45]?|RB[45]?|DEPTH[456X]|COLORX)_")
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
    short = name[prefix.end() :].removesuffix("_FAST")
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


#: Values of a3xx_color_swap -> the components of a texel from the lowest bits on.
_SWAPS = {"WZYX": "RGBA", "WXYZ": "BGRA", "ZYXW": "ARGB", "XYZW": "ABGR"}
_CHANNELS = re.compile(r"((?:[RGBAXLISZ]\d{1,2})+)_([A-Z]+)$")


def swapped(form: ImageFormat, swap: str) -> ImageFormat:
    """The format of the texels that a hardware format and a swap (a3xx_color_swap) make.

    The names of swaps go from the highest bits to the lowest: WZYX is the usual order. Components
    keep their bits: R5G5B5A1 is A1R5G5B5 with ZYXW, as in Mesa's tables (fd6_format_table.c,
    fd5_format.c, ...). Depth, stencil, blocks and shared exponents are not swapped. Raises
    UnknownFormat for an order that no table has.
    """
    order = _SWAPS.get(swap)
    if order is None:
        raise UnknownFormat(f"the component swap {swap} is not known")
    if order == "RGBA" or form.is_compressed or form.is_depth_stencil:
        return form
    match = _CHANNELS.match(form.name)
    if match is None or form.name == "R9G9B9E5_FLOAT":
        return form
    widths = dict(_CHANNEL.findall(match[1]))
    wanted = _reordered("".join(widths), order)
    if not wanted:
        raise UnknownFormat(f"the order of {form.name} with the component swap {swap} is not known")
    channels = "".join(letter + widths[letter] for letter in wanted)
    return form._replace(name=f"{channels}_{match[2]}")


def _reordered(letters: str, order: str) -> str:
    """The channels of a format, from the lowest on, in an order; empty where that is not known."""
    if len(letters) == 1:
        return letters
    if letters in ("RGBA", "RGBX") or (letters == "RGB" and order == "BGRA"):
        return "".join(letter for letter in order.replace("A", letters[3:]) if letter in letters)
    return "ABGR" if letters == "ARGB" and order == "BGRA" else ""


# -- names of Vulkan -------------------------------------------------------------------------------
#
# Formats whose channels are whole bytes, all of one size, list their channels from the lowest bit
# on, as Gallium does. Packed formats (_PACK16) list them from the highest bit on.
# Source: the Vulkan specification, 1.4, "Formats".

_VULKAN = "VK_FORMAT_"

#: Kinds that formats with channels of 8 and 16 bits have, and those of formats with two bits of
#: alpha; formats of 32 and 64 bits are integers or floats.
_INTEGERS = ("UINT", "SINT")
_PACKED_KINDS = ("UNORM", "SNORM", "USCALED", "SSCALED", *_INTEGERS)
_VULKAN_KINDS = {
    8: (*_PACKED_KINDS, "SRGB"),
    16: (*_PACKED_KINDS, "SFLOAT"),
    32: (*_INTEGERS, "SFLOAT"),
    64: (*_INTEGERS, "SFLOAT"),
}
_ORDERS = ("R", "RG", "RGB", "RGBA")
#: Orders of channels of 8 bits only.
_REVERSED = ("BGR", "BGRA")

#: Packed formats of channels: their names without kind and size, the kinds that each has.
_PACKED = {
    "R4G4": ("UNORM",),
    "R4G4B4A4": ("UNORM",),
    "B4G4R4A4": ("UNORM",),
    "A4R4G4B4": ("UNORM",),
    "A4B4G4R4": ("UNORM",),
    "R5G6B5": ("UNORM",),
    "B5G6R5": ("UNORM",),
    "R5G5B5A1": ("UNORM",),
    "B5G5R5A1": ("UNORM",),
    "A1R5G5B5": ("UNORM",),
    "A1B5G5R5": ("UNORM",),
    "A8B8G8R8": _VULKAN_KINDS[8],
    "A2R10G10B10": _PACKED_KINDS,
    "A2B10G10R10": _PACKED_KINDS,
}

#: Formats whose names follow no rule, by their Gallium names.
_VULKAN_NAMED = {
    "A8_UNORM": "A8_UNORM",
    "R11G11B10_FLOAT": "B10G11R11_UFLOAT_PACK32",
    "R9G9B9E5_FLOAT": "E5B9G9R9_UFLOAT_PACK32",
    "Z16_UNORM": "D16_UNORM",
    "Z24X8_UNORM": "X8_D24_UNORM_PACK32",
    "Z32_FLOAT": "D32_SFLOAT",
    "S8_UINT": "S8_UINT",
    "Z16_UNORM_S8_UINT": "D16_UNORM_S8_UINT",
    "Z24_UNORM_S8_UINT": "D24_UNORM_S8_UINT",
    "Z32_FLOAT_S8X24_UINT": "D32_SFLOAT_S8_UINT",
    "DXT1_RGB": "BC1_RGB_UNORM_BLOCK",
    "DXT1_SRGB": "BC1_RGB_SRGB_BLOCK",
    "DXT1_RGBA": "BC1_RGBA_UNORM_BLOCK",
    "DXT1_SRGBA": "BC1_RGBA_SRGB_BLOCK",
    "DXT3_RGBA": "BC2_UNORM_BLOCK",
    "DXT3_SRGBA": "BC2_SRGB_BLOCK",
    "DXT5_RGBA": "BC3_UNORM_BLOCK",
    "DXT5_SRGBA": "BC3_SRGB_BLOCK",
    "RGTC1_UNORM": "BC4_UNORM_BLOCK",
    "RGTC1_SNORM": "BC4_SNORM_BLOCK",
    "RGTC2_UNORM": "BC5_UNORM_BLOCK",
    "RGTC2_SNORM": "BC5_SNORM_BLOCK",
    "BPTC_RGB_UFLOAT": "BC6H_UFLOAT_BLOCK",
    "BPTC_RGB_FLOAT": "BC6H_SFLOAT_BLOCK",
    "BPTC_RGBA_UNORM": "BC7_UNORM_BLOCK",
    "BPTC_SRGBA": "BC7_SRGB_BLOCK",
    "ETC2_RGB8": "ETC2_R8G8B8_UNORM_BLOCK",
    "ETC2_SRGB8": "ETC2_R8G8B8_SRGB_BLOCK",
    "ETC2_RGB8A1": "ETC2_R8G8B8A1_UNORM_BLOCK",
    "ETC2_SRGB8A1": "ETC2_R8G8B8A1_SRGB_BLOCK",
    "ETC2_RGBA8": "ETC2_R8G8B8A8_UNORM_BLOCK",
    "ETC2_SRGBA8": "ETC2_R8G8B8A8_SRGB_BLOCK",
    "ETC2_R11_UNORM": "EAC_R11_UNORM_BLOCK",
    "ETC2_R11_SNORM": "EAC_R11_SNORM_BLOCK",
    "ETC2_RG11_UNORM": "EAC_R11G11_UNORM_BLOCK",
    "ETC2_RG11_SNORM": "EAC_R11G11_SNORM_BLOCK",
    "G8B8_G8R8_UNORM": "G8B8G8R8_422_UNORM",
    "B8G8_R8G8_UNORM": "B8G8R8G8_422_UNORM",
    "G8_B8R8_420_UNORM": "G8_B8R8_2PLANE_420_UNORM",
    "G8_B8_R8_420_UNORM": "G8_B8_R8_3PLANE_420_UNORM",
}
_PACKED_CHANNEL = re.compile(r"[A-Z]\d+")
_ASTC_BLOCKS = (
    *("4x4", "5x4", "5x5", "6x5", "6x6", "8x5", "8x6", "8x8"),
    *("10x5", "10x6", "10x8", "10x10", "12x10", "12x12"),
)


def vulkan_formats(gallium: str) -> tuple[str, ...]:
    """The formats of Vulkan with the bytes of a Gallium format, by their names; most have one.

    ``R8G8B8A8_UNORM`` is ``VK_FORMAT_R8G8B8A8_UNORM``, and ``VK_FORMAT_A8B8G8R8_UNORM_PACK32``.
    """
    return _names().get(gallium, ())


def gallium_format(vulkan: str) -> str | None:
    """The Gallium name of a format of Vulkan, in any case; None for a name that is none."""
    return _formats().get(vulkan.upper().removeprefix(_VULKAN))


@cache
def _names() -> dict[str, tuple[str, ...]]:
    """Gallium name -> the names in Vulkan."""
    names: dict[str, tuple[str, ...]] = {}
    for vulkan, gallium in _formats().items():
        names[gallium] = (*names.get(gallium, ()), _VULKAN + _spelled(vulkan))
    return names


def _spelled(name: str) -> str:
    """A name as Vulkan spells it: sizes of blocks have a small x."""
    return re.sub(r"^(ASTC_\d+)X", r"\1x", name)


@cache
def _formats() -> dict[str, str]:
    """Vulkan's name in capitals, without its prefix -> Gallium name; formats of bytes are first."""
    formats: dict[str, str] = {}
    for bits, kinds in _VULKAN_KINDS.items():
        orders = (*_ORDERS, *_REVERSED) if bits == 8 else _ORDERS
        for order, kind in product(orders, kinds):
            channels = "".join(f"{letter}{bits}" for letter in order)
            formats[f"{channels}_{kind}"] = f"{channels}_{_gallium_kind(kind)}"
    for packed, kinds in _PACKED.items():
        parts = _PACKED_CHANNEL.findall(packed)
        size = sum(int(part[1:]) for part in parts)
        for kind in kinds:
            formats[f"{packed}_{kind}_PACK{size}"] = f"{''.join(reversed(parts))}_{kind}"
    for gallium, vulkan in _VULKAN_NAMED.items():
        formats[vulkan] = gallium
    for block in map(str.upper, _ASTC_BLOCKS):
        formats[f"ASTC_{block}_UNORM_BLOCK"] = f"ASTC_{block}"
        formats[f"ASTC_{block}_SRGB_BLOCK"] = f"ASTC_{block}_SRGB"
    return formats


def _gallium_kind(kind: str) -> str:
    return "FLOAT" if kind == "SFLOAT" else kind


# -- formats that registers allow ------------------------------------------------------------------

#: Formats that an API has for what depth registers call one format.
_DEPTH_CHOICES = {
    "Z24_UNORM_S8_UINT": ("Z24_UNORM_S8_UINT", "Z24X8_UNORM"),
    "Z32_FLOAT": ("Z32_FLOAT", "Z32_FLOAT_S8X24_UINT"),
    "S8_UINT": ("S8_UINT", "Z32_FLOAT_S8X24_UINT"),
}
#: Formats of Intel GPUs that are not called as Gallium calls them; names of others only differ in
#: how sRGB is written. Source: Mesa's isl_format.h.
_OF_INTEL = {
    "D16_UNORM": "Z16_UNORM",
    "D24_UNORM_X8_UINT": "Z24X8_UNORM",
    "D24_UNORM_S8_UINT": "Z24_UNORM_S8_UINT",
    "D32_FLOAT": "Z32_FLOAT",
    "D32_FLOAT_S8X24_UINT": "Z32_FLOAT_S8X24_UINT",
    "R24_UNORM_X8_TYPELESS": "Z24X8_UNORM",
    "R32_FLOAT_X8X24_TYPELESS": "Z32_FLOAT_S8X24_UINT",
    "R9G9B9E5_SHAREDEXP": "R9G9B9E5_FLOAT",
    "BC1_UNORM": "DXT1_RGBA",
    "BC1_SRGB": "DXT1_SRGBA",
    "BC2_UNORM": "DXT3_RGBA",
    "BC2_SRGB": "DXT3_SRGBA",
    "BC3_UNORM": "DXT5_RGBA",
    "BC3_SRGB": "DXT5_SRGBA",
    "BC4_UNORM": "RGTC1_UNORM",
    "BC4_SNORM": "RGTC1_SNORM",
    "BC5_UNORM": "RGTC2_UNORM",
    "BC5_SNORM": "RGTC2_SNORM",
    "BC6H_SF16": "BPTC_RGB_FLOAT",
    "BC6H_UF16": "BPTC_RGB_UFLOAT",
    "BC7_UNORM": "BPTC_RGBA_UNORM",
    "BC7_SRGB": "BPTC_SRGBA",
}
#: Formats with shared chroma, and formats that are called otherwise, by the hardware's names.
_OTHER_CHOICES = {
    "A8_UNORM": ("A8_UNORM",),
    "L8_UNORM": ("L8_UNORM",),
    "L8_A8_UNORM": ("L8A8_UNORM",),
    "R8_G8B8_2PLANE_420_UNORM": ("G8_B8R8_420_UNORM",),
    "R8_G8_B8_3PLANE_420_UNORM": ("G8_B8_R8_420_UNORM",),
    "R8G8R8B8_422_UNORM": ("G8B8_G8R8_UNORM",),
    "G8R8B8R8_422_UNORM": ("B8G8_R8G8_UNORM",),
    "NV12_Y": ("Y8_UNORM",),
}
#: Colour formats whose texels may also be those of depth or stencil.
_SAME_AS_DEPTH = {
    "R16_UNORM": ("Z16_UNORM",),
    "R32_FLOAT": _DEPTH_CHOICES["Z32_FLOAT"],
    "R8_UINT": _DEPTH_CHOICES["S8_UINT"],
}
_SRGB_BLOCKS = {
    "DXT1_RGB": "DXT1_SRGB",
    "DXT1_RGBA": "DXT1_SRGBA",
    "DXT3_RGBA": "DXT3_SRGBA",
    "DXT5_RGBA": "DXT5_SRGBA",
    "BPTC_RGBA_UNORM": "BPTC_SRGBA",
    "ETC2_RGB8": "ETC2_SRGB8",
    "ETC2_RGB8A1": "ETC2_SRGB8A1",
    "ETC2_RGBA8": "ETC2_SRGBA8",
}


@lru_cache(maxsize=1024)
def gallium_formats(
    hardware: str | None,
    swap: str | None = None,
    *,
    srgb: bool = False,
    tiled: bool = False,
    is_colour: bool = False,
) -> tuple[str, ...]:
    """The formats, by their Gallium names, of an image that registers or a descriptor describe.

    All that give these registers, the usual one first; none where that is not known. ``swap``: a
    name of a3xx_color_swap; None: a swizzle, or nothing, tells the order, as of textures up to
    a4xx. ``tiled``: since a6xx tiled images have the usual order of channels in memory whatever
    their format is, so the registers do not tell RGBA from BGRA. ``is_colour``: it is known not to
    be depth. Formats that are others with a swizzle (luminance, intensity) or with an
    unused channel (R8G8B8X8) are not listed. Source: Mesa's fd6_format_table.c.
    """
    prefix = None if hardware is None else _PREFIX.match(hardware)
    if hardware is None:
        return ()
    if prefix is None and hardware != "S8_UINT":
        return _gallium_formats_of_intel(hardware, is_colour)
    others = _OTHER_CHOICES.get(hardware[prefix.end() :]) if prefix else None
    if others is not None:
        return others
    has_swap = not (tiled and hardware.startswith(_SWAPLESS_IF_TILED))
    try:
        orders = _orders(hardware_format(hardware), swap, has_swap)
    except UnknownFormat:
        return ()
    names = _DEPTH_CHOICES.get(orders[0], orders)
    if srgb:
        return tuple(filter(None, map(_srgb, names)))
    return names if is_colour else (*names, *_SAME_AS_DEPTH.get(names[0], ()))


def _orders(form: ImageFormat, swap: str | None, has_swap: bool) -> tuple[str, ...]:
    """A format with its channels in the order of a swap; in all orders where it tells none."""
    usual = swapped(form, swap or "WZYX").name
    if swap is None or (swap == "WZYX" and not has_swap):
        channels = form.name.partition("_")[0]
        others = (swapped(form, other).name for other in _ORDERS_OF.get(channels, ()))
        return (usual, *others)
    return (usual,)


def _gallium_formats_of_intel(name: str, is_colour: bool) -> tuple[str, ...]:
    """The same of a SURFACE_FORMAT, which tells the order of channels, and sRGB."""
    plain = name.replace("_UNORM_SRGB", "_SRGB")
    plain = _OF_INTEL.get(plain, plain)
    try:
        plain = image_format(plain).name
    except UnknownFormat:
        return ()
    return (plain, *(() if is_colour else _SAME_AS_DEPTH.get(plain, ())))


#: Formats that have no swap where images are tiled: those of a6xx and later (fd6_pipe2swap).
_SWAPLESS_IF_TILED = "FMT6_"

#: Formats of several orders: their channels in the usual one, the swaps that make the others.
_ORDERS_OF = {
    "R8G8B8A8": ("WXYZ", "ZYXW", "XYZW"),
    "R4G4B4A4": ("WXYZ", "ZYXW", "XYZW"),
    "R5G5B5A1": ("WXYZ", "ZYXW", "XYZW"),
    "R10G10B10A2": ("WXYZ",),
    "R8G8B8": ("WXYZ",),
    "R5G6B5": ("WXYZ",),
}


def _srgb(name: str) -> str | None:
    """The format with the same texels in sRGB; None for one that has none."""
    if name.startswith("ASTC_"):
        return name.removesuffix("_SRGB") + "_SRGB"
    if name in _SRGB_BLOCKS:
        return _SRGB_BLOCKS[name]
    channels, _, kind = name.partition("_")
    is_of_bytes = set(re.sub("[A-Z]", " ", channels).split()) == {"8"}
    return f"{channels}_SRGB" if kind == "UNORM" and is_of_bytes else None
