# SPDX-License-Identifier: MIT
"""Texels of a surface as arrays of numbers, and compressed blocks as texels, by texture2ddecoder.

Needs numpy: imported where pictures are made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cffpy.image.layout import LINEAR
from cffpy.image.texels import PictureError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cffpy.formats import ImageFormat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from cffpy.image.texels import Channel, TexelFormat
    from cffpy.image.tiled import Surface

    Bytes = NDArray[np.uint8]
    Values = NDArray[np.float64]

#: Texels that are read at a time.
_BAND = 1 << 18

_MAX_WORD = 8


def bands(surface: Surface, data: bytes) -> Iterator[Bytes]:
    """Some rows of texels, or blocks, at a time: rows x columns x bytes of a texel.

    ``data``: memory from the surface's address on. Raises PictureError where it is too short.
    """
    rows_at_once = max(1, _BAND // surface.columns)
    rows = _linear_rows if surface.tile_mode == LINEAR else _TiledRows(surface).rows
    source = np.frombuffer(data, np.uint8)
    for first in range(0, surface.rows, rows_at_once):
        yield rows(surface, source, first, min(rows_at_once, surface.rows - first))


def whole(surface: Surface, data: bytes) -> bytes:
    """All blocks, row by row."""
    return b"".join(band.tobytes() for band in bands(surface, data))


def _linear_rows(surface: Surface, source: Bytes, first: int, count: int) -> Bytes:
    begin = first * surface.pitch
    end = begin + (count - 1) * surface.pitch + surface.row_bytes
    if end > len(source):
        raise surface.too_short(len(source))
    rows = np.lib.stride_tricks.as_strided(
        source[begin:end],
        (count, surface.row_bytes),
        (surface.pitch, 1),
        writeable=False,
    )
    return np.ascontiguousarray(rows).reshape(count, surface.columns, surface.form.block_bytes)


class _TiledRows:
    """The rows of a tiled surface."""

    def __init__(self, surface: Surface) -> None:
        memory = surface.tiled_memory()
        self._columns = np.array(memory.columns(surface.columns), np.int64)
        rows = np.array(memory.rows(surface.rows), np.int64)
        self._bases, self._bits = rows[:, 0], rows[:, 1]

    def rows(self, surface: Surface, source: Bytes, first: int, count: int) -> Bytes:
        size = surface.form.block_bytes
        part = slice(first, first + count)
        offsets = self._bases[part, None] + (self._columns[None, :] ^ self._bits[part, None])
        if int(offsets.max()) + size > len(source):
            raise surface.too_short(len(source))
        texels = source[: len(source) // size * size].reshape(-1, size)
        gathered: Bytes = texels[offsets // size]
        return gathered


# -- channels -------------------------------------------------------------------------------------


def channel_values(form: TexelFormat, texels: Bytes) -> dict[str, Values]:
    """The channels of texels by letter, each rows x columns, as the shader would read them."""
    if form.shared_exponent:
        return _shared_exponent(form, texels)
    return {one.letter: _value(one, _bits(one, form, texels)) for one in form.channels}


def _bits(channel: Channel, form: TexelFormat, texels: Bytes) -> NDArray[np.uint64]:
    """The bits of a channel as a number."""
    first = channel.shift // 8
    last = (channel.shift + channel.bits + 7) // 8
    if last > form.size or last - first > _MAX_WORD:
        raise PictureError(f"a texel of {form.size} bytes has no such channel")
    word = np.zeros(texels.shape[:-1], np.uint64)
    for number in range(first, last):
        word |= texels[..., number].astype(np.uint64) << np.uint64(8 * (number - first))
    word >>= np.uint64(channel.shift % 8)
    return word & np.uint64((1 << channel.bits) - 1)


def _value(channel: Channel, bits: NDArray[np.uint64]) -> Values:
    kind = channel.kind
    if kind == "unorm":
        return bits / float((1 << channel.bits) - 1)
    if kind == "uint":
        return bits.astype(np.float64)
    if kind in ("sint", "snorm"):
        half = 1 << (channel.bits - 1)
        signed = (bits.astype(np.int64) ^ half) - half
        if kind == "sint":
            return signed.astype(np.float64)
        return np.maximum(signed / float(max(1, half - 1)), -1.0)
    if kind == "ufloat":  # the bits of a half float without its sign and its lowest bits
        bits, width = bits << np.uint64(15 - channel.bits), 16
    else:
        width = channel.bits
    number: Any = np.uint16 if width == 16 else np.uint32
    real: Any = np.float16 if width == 16 else np.float32
    with np.errstate(invalid="ignore"):  # signalling NaNs
        values: Values = bits.astype(number).view(real).astype(np.float64)
    return values


def _shared_exponent(form: TexelFormat, texels: Bytes) -> dict[str, Values]:
    mantissas = {one.letter: _bits(one, form, texels).astype(np.float64) for one in form.channels}
    scale = np.exp2(mantissas.pop("E") - 24)  # 15 is the bias, mantissas have 9 bits
    return {letter: values * scale for letter, values in mantissas.items()}


_BLOCK_BYTES = 16
_MODE_BITS = 11
#: Block modes whose lowest bits are these have one colour for the whole block: a void extent.
_VOID_EXTENT, _VOID_EXTENT_MASK = 0x1FC, 0x1FF

#: A void extent without coordinates: opaque magenta, 16 bits for each of red, green, blue, alpha.
_ERROR_BLOCK = bytes.fromhex("fcfdffffffffffff ffff0000ffffffff")

#: By the range of weights, low precision then high: bits of a weight, and of what several share:
#: 1 a trit (five in 8 bits), 2 a quint (three in 7 bits).
_PRECISIONS = (
    *((1, 0), (0, 1), (2, 0), (0, 2), (1, 1), (3, 0)),
    *((1, 2), (2, 1), (4, 0), (2, 2), (3, 1), (5, 0)),
)
_MOST_WEIGHTS, _LEAST_WEIGHT_BITS, _MOST_WEIGHT_BITS = 64, 24, 96
_MOST_VALUES, _MOST_PARTITIONS = 18, 4


class _BlockMode(NamedTuple):
    """What the 11 bits of a block mode say. ``width``, ``height``: of the grid of weights."""

    width: int
    height: int
    weight_bits: int
    has_two_planes: bool


def with_legal_blocks(data: bytes, block_width: int, block_height: int) -> bytes:
    """The blocks, of 16 bytes each; the illegal ones are replaced by one of the error colour."""
    blocks = np.frombuffer(data, np.uint8).reshape(-1, _BLOCK_BYTES)
    legal = _are_legal(blocks, block_width, block_height)
    if legal.all():
        return data
    blocks = blocks.copy()
    blocks[~legal] = np.frombuffer(_ERROR_BLOCK, np.uint8)
    return blocks.tobytes()


def _are_legal(blocks: NDArray[np.uint8], width: int, height: int) -> NDArray[np.bool_]:
    low = blocks[:, :4].copy().view("<u4")[:, 0].astype(np.int64)
    mode = low & ((1 << _MODE_BITS) - 1)
    weight_bits, planes = _mode_tables(width, height)
    partitions = (low >> 11 & 3) + 1
    # endpoint modes: one for all partitions, or a class for each, with more bits below the weights
    base = low >> 23 & 3
    is_single = partitions == 1
    is_shared = is_single | (base == 0)
    shared = np.where(is_single, low >> 13, low >> 25) & 15
    pairs = np.where(is_shared, partitions * ((shared >> 2) + 1), partitions * base)
    for number in range(_MOST_PARTITIONS):
        pairs += np.where(is_shared | (number >= partitions), 0, low >> (25 + number) & 1)
    values = 2 * pairs
    configuration = np.where(is_single, 17, np.where(is_shared, 29, 25 + 3 * partitions))
    configuration += np.where(planes[mode] == 2, 2, 0)
    # endpoints have six levels at least: a bit each, and a trit
    needed = values + (8 * values + 4) // 5
    is_legal: NDArray[np.bool_] = (
        (weight_bits[mode] > 0)
        & (values <= _MOST_VALUES)
        & (needed + configuration + weight_bits[mode] <= 8 * _BLOCK_BYTES)
        & ~((planes[mode] == 2) & (partitions == _MOST_PARTITIONS))
    )
    is_legal |= mode & _VOID_EXTENT_MASK == _VOID_EXTENT
    return is_legal


def _mode_tables(width: int, height: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bits of all weights (0: illegal) and planes of each block mode, for blocks of this size."""
    weight_bits = np.zeros(1 << _MODE_BITS, np.int64)
    planes = np.ones(1 << _MODE_BITS, np.int64)
    for bits in range(1 << _MODE_BITS):
        mode = _block_mode(bits)
        if mode is not None and mode.width <= width and mode.height <= height:
            weight_bits[bits] = mode.weight_bits
            planes[bits] = 1 + mode.has_two_planes
    return weight_bits, planes


def _block_mode(bits: int) -> _BlockMode | None:
    """What a block mode says; None for reserved ones, and those with too many or few weights."""
    a, b = bits >> 5 & 3, bits >> 7 & 3
    is_precise, has_two_planes = bool(bits >> 9 & 1), bool(bits >> 10 & 1)
    if bits & 3:
        levels = bits >> 4 & 1 | (bits & 3) << 1
        sizes = [(b + 4, a + 2), (b + 8, a + 2), (a + 2, b + 8), (a + 2, (b & 1) + 6)]
        width, height = sizes[bits >> 2 & 3]
        if bits >> 2 & 3 == 3 and b & 2:
            width, height = (b & 1) + 2, a + 2
    else:
        levels = bits >> 4 & 1 | (bits >> 2 & 3) << 1
        sizes = [(12, a + 2), (a + 2, 12), (a + 6, (bits >> 9 & 3) + 6), (6, 10)]
        width, height = sizes[b]
        if b == 2:
            is_precise = has_two_planes = False
        elif b == 3:
            if a > 1:
                return None
            width, height = (10, 6) if a else (6, 10)
    if levels < 2:
        return None
    weights = width * height * (1 + has_two_planes)
    each, shared = _PRECISIONS[levels - 2 + 6 * is_precise]
    weight_bits = weights * each
    weight_bits += (0, (8 * weights + 4) // 5, (7 * weights + 2) // 3)[shared]
    if weights > _MOST_WEIGHTS or not _LEAST_WEIGHT_BITS <= weight_bits <= _MOST_WEIGHT_BITS:
        return None
    return _BlockMode(width, height, weight_bits, has_two_planes)


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
