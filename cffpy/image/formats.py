# SPDX-License-Identifier: MIT
"""Image formats by their Gallium names: bytes a block, block size, components.

Uncompressed formats are read off their names (``R8G8B8A8_UNORM``: channels and bits), so that no
list can be incomplete. Compressed families are one table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from cffpy.errors import CffpyError


class UnknownFormat(CffpyError):
    """The name of an unknown image format."""


@dataclass(frozen=True, slots=True)
class ImageFormat:
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
