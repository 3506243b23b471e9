# SPDX-License-Identifier: MIT
"""The image formats that registers and descriptors name.

Names are those of the register database: FMT6_8_8_8_8_UNORM, TFMT5_DXT1, RB5_R8G8B8A8_UNORM,
DEPTH6_24_8, COLORX_8_8_8_8. The name tells how texels are stored: bits of components, or a family
of compressed formats.
"""

from __future__ import annotations

import re
from functools import lru_cache

from cffpy.image.formats import ImageFormat, UnknownFormat, image_format

#: Compressed formats, without the prefix -> a format with the same blocks.
_COMPRESSED = {
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
    if short in _COMPRESSED:
        return image_format(_COMPRESSED[short])
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
