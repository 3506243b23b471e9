# SPDX-License-Identifier: MIT
"""Decodes blocks of compressed formats to red, green, blue, alpha by texture2ddecoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cffpy.image.astc import with_legal_blocks
from cffpy.image.texel_formats import PictureError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cffpy.image.formats import ImageFormat

#: Format -> function of the library. Signed formats are missing: the library returns unsigned
#: bytes.
_FUNCTIONS = {
    "DXT1_RGB": "decode_bc1",
    "DXT1_RGBA": "decode_bc1",
    "DXT1_SRGB": "decode_bc1",
    "DXT1_SRGBA": "decode_bc1",
    "DXT3_RGBA": "decode_bc3",
    "DXT3_SRGBA": "decode_bc3",
    "DXT5_RGBA": "decode_bc3",
    "DXT5_SRGBA": "decode_bc3",
    "RGTC1_UNORM": "decode_bc4",
    "LATC1_UNORM": "decode_bc4",
    "RGTC2_UNORM": "decode_bc5",
    "LATC2_UNORM": "decode_bc5",
    "BPTC_RGBA_UNORM": "decode_bc7",
    "BPTC_SRGBA": "decode_bc7",
    "BPTC_RGB_UFLOAT": "decode_bc6",
    "ETC1_RGB8": "decode_etc1",
    "ETC2_RGB8": "decode_etc2",
    "ETC2_SRGB8": "decode_etc2",
    "ETC2_RGB8A1": "decode_etc2a1",
    "ETC2_SRGB8A1": "decode_etc2a1",
    "ETC2_RGBA8": "decode_etc2a8",
    "ETC2_SRGBA8": "decode_etc2a8",
    "ETC2_R11_UNORM": "decode_eacr",
    "ETC2_RG11_UNORM": "decode_eacrg",
    "ATC_RGB": "decode_atc_rgb4",
    "ATC_RGBA_INTERPOLATED": "decode_atc_rgba8",
}
_RED_GREEN_BLUE_ALPHA = [2, 1, 0, 3]


def decode_blocks(form: ImageFormat, data: bytes, width: int, height: int) -> NDArray[np.uint8]:
    """Texels of blocks in rows: height x width x 4. Raises PictureError."""
    import texture2ddecoder

    try:
        if form.name.startswith("ASTC"):
            size = form.block_width, form.block_height
            # the padding: it reads three bytes more than the last block has
            blocks = with_legal_blocks(data, *size) + bytes(4)
            texels = texture2ddecoder.decode_astc(blocks, width, height, *size)
        else:
            function = _FUNCTIONS.get(form.name)
            if function is None:
                raise PictureError(f"blocks of {form.name} cannot be decoded")
            is_explicit = form.name.startswith("DXT3")
            blocks = _with_opaque_blocks(data) if is_explicit else data
            texels = getattr(texture2ddecoder, function)(blocks, width, height)
    except ValueError as problem:
        raise PictureError(f"blocks of {form.name} cannot be decoded: {problem}") from None
    pixels = np.frombuffer(texels, np.uint8).reshape(height, width, 4)
    pixels = pixels[..., _RED_GREEN_BLUE_ALPHA]
    if form.name.startswith("DXT3"):
        pixels[..., 3] = _explicit_alpha(data, width, height)
    return pixels


def _with_opaque_blocks(data: bytes) -> bytes:
    """Blocks of DXT3 as DXT5, whose colours are stored alike; the alpha is meaningless."""
    blocks = np.frombuffer(data, np.uint8).reshape(-1, 16).copy()
    blocks[:, :8] = 0
    return blocks.tobytes()


def _explicit_alpha(data: bytes, width: int, height: int) -> NDArray[np.uint8]:
    """The alpha of DXT3: four bits a texel in the first eight bytes of a block."""
    columns, rows = -(-width // 4), -(-height // 4)
    stored = np.frombuffer(data, np.uint8).reshape(rows, columns, 16)[..., :8]
    nibbles = np.stack([stored & 15, stored >> 4], axis=-1).reshape(rows, columns, 4, 4)
    alpha = nibbles.transpose(0, 2, 1, 3).reshape(rows * 4, columns * 4)
    return (alpha[:height, :width] * 17).astype(np.uint8)
