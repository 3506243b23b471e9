# SPDX-License-Identifier: MIT
"""Texels of a surface as arrays of numbers. Needs numpy: imported where pictures are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cffpy.image.layout import LINEAR
from cffpy.image.texel_formats import PictureError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from cffpy.image.surface import Surface
    from cffpy.image.texel_formats import Channel, TexelFormat

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
