# SPDX-License-Identifier: MIT
"""Tiled memory: texel (x, y) -> byte offset, for TILE6_3 with one sample (a6xx, a7xx).

The offset of a texel is ``row + (column ^ row bits)``, so a table for x and one for y are enough.
Facts: the tiled memory copier of Mesa 25.0.7 (fdl6_memcpy). A texel of a compressed format is a
block.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from cffpy.errors import CffpyError
from cffpy.image.layout import align

#: Bytes of a texel -> width and height, in texels, of a block of 256 bytes.
BLOCKS = {1: (32, 8), 2: (32, 4), 4: (16, 4), 8: (8, 4), 16: (4, 4)}

#: A macrotile is 2 x 4 blocks.
_MACROTILE_BYTES = 2048

#: Bits of x and y within a block, from the lowest bit of the texel's number on.
_ORDER = (("x", 0), ("y", 0), ("x", 1), ("y", 1), ("x", 2), ("x", 3), ("x", 4), ("y", 2))


class TilingError(CffpyError):
    """The texel order of memory is not known."""


class BankSwizzle(NamedTuple):
    """How the memory controller of a GPU spreads tiled memory.

    ``highest_bank_bit``: of an address; ``levels``: bit mask of levels that are swizzled;
    ``channels``: of memory, 4 or 8.
    """

    highest_bank_bit: int
    levels: int
    channels: int


class TiledMemory:
    """One layer of a level in TILE6_3: ``pitch`` in bytes."""

    def __init__(self, cpp: int, pitch: int, swizzle: BankSwizzle) -> None:
        """Raise TilingError for a texel size or pitch that TILE6_3 does not have."""
        if cpp not in BLOCKS:
            raise TilingError(f"the tiled order of texels of {cpp} bytes is not known")
        if not 11 <= swizzle.highest_bank_bit <= 31:
            raise TilingError(f"no bank bit {swizzle.highest_bank_bit}: it is one of 11 to 31")
        width, _ = BLOCKS[cpp]
        if pitch <= 0 or pitch % (width * cpp):
            raise TilingError(f"a tiled pitch is a multiple of {width * cpp} bytes, not {pitch}")
        self.cpp = cpp
        self.pitch = pitch
        self._swizzle = swizzle
        self._blocks_a_row = pitch // (width * cpp)
        self._bank_mask = self._mask()

    def _mask(self) -> int:
        """Bits of a block's row that change the bank."""
        levels, highest = self._swizzle.levels, self._swizzle.highest_bank_bit
        one = 1 if self.cpp == 1 else 0
        mask = 0
        for level, bit, shift in ((2, 4, 10), (4, 8, 9), (1, 16, 8)):
            if levels & level and self._blocks_a_row % (1 << max(0, highest - shift + one)) == 0:
                mask |= bit
        return mask

    def columns(self, width: int) -> list[int]:
        """For each x below ``width``: the part of the offset that x decides."""
        block_width, _ = BLOCKS[self.cpp]
        return [self._column(x // block_width, x % block_width) for x in range(width)]

    def rows(self, height: int) -> list[tuple[int, int]]:
        """For each y below ``height``: what is added to the offset, and what is exclusive-ored."""
        _, block_height = BLOCKS[self.cpp]
        return [self._row(y // block_height, y % block_height) for y in range(height)]

    def offset(self, x: int, y: int) -> int:
        """The byte offset of a texel from the start of the layer."""
        block_width, block_height = BLOCKS[self.cpp]
        base, bits = self._row(y // block_height, y % block_height)
        return base + (self._column(x // block_width, x % block_width) ^ bits)

    def texel(self, offset: int) -> tuple[int, int]:
        """The texel (x, y) that the byte at an offset from the start of the layer belongs to.

        Inverse of ``offset``. Raises TilingError where no texel of a row of macrotiles has it.
        """
        block_width, block_height = BLOCKS[self.cpp]
        place = offset // self.cpp * self.cpp
        columns = {part: x for x, part in enumerate(self.columns(self._blocks_a_row * block_width))}
        top = place // (self.pitch * 4 * block_height) * 4 * block_height
        for y in range(top, top + 4 * block_height):
            base, bits = self._row(y // block_height, y % block_height)
            x = columns.get(place - base ^ bits)
            if x is not None:
                return x, y
        raise TilingError(f"no texel lies at {offset:#x}")

    def _column(self, block: int, inside: int) -> int:
        number = (7 if block & 1 else 0) ^ (block >> 1) << 3
        if self.cpp < 16:
            number ^= block & 2
            if self._swizzle.channels == 8:
                number ^= block & 4
        return number << 8 | self._inside("x", inside)

    def _row(self, block: int, inside: int) -> tuple[int, int]:
        number = (6 if block & 1 else 0) ^ (3 if block & 2 else 0)
        if self.cpp < 16 and self._swizzle.channels == 8:
            number ^= block & 4
        bank = (block & self._bank_mask) << self._swizzle.highest_bank_bit - 3
        base = (block >> 2) * (self._blocks_a_row // 2) * _MACROTILE_BYTES
        return base, (number << 8 ^ bank) | self._inside("y", inside)

    def _inside(self, axis: str, position: int) -> int:
        place = 0
        for number, (bits_of, bit) in enumerate(_ORDER):
            if bits_of == axis and position >> bit & 1:
                place |= 1 << number
        return place * self.cpp

    def extent(self, width: int, height: int) -> int:
        """Bytes of a layer up to the end of the last of these texels: at most ``size``."""
        columns = self.columns(width)
        last = {bits: base for base, bits in self.rows(height)}
        furthest = max(
            base + max(column ^ bits for column in columns) for bits, base in last.items()
        )
        return furthest + self.cpp

    def size(self, height: int) -> int:
        """Bytes of a layer with this number of rows of texels, up to whole macrotiles."""
        _, block_height = BLOCKS[self.cpp]
        return align(height, 4 * block_height) * self.pitch


def tile(linear: bytes, width: int, height: int, memory: TiledMemory, size: int) -> bytes:
    """Tiled memory of ``size`` bytes made of rows of ``width`` texels; untouched bytes are 0.

    Raises TilingError where a texel lies beyond ``size``, or ``linear`` is too short.
    """
    if len(linear) < width * height * memory.cpp:
        raise TilingError(f"{width}x{height} texels need {width * height * memory.cpp} bytes")
    tiled = bytearray(size)
    target = _texels(memoryview(tiled), memory.cpp)
    source = iter(_texels(memoryview(linear), memory.cpp))
    columns = memory.columns(width)
    step = memory.cpp
    try:
        for base, bits in memory.rows(height):
            # zip asks for a column first, so that no texel of the row is lost
            for column, texel in zip(columns, source, strict=False):
                target[(base + (column ^ bits)) // step] = texel
    except IndexError:
        raise TilingError(f"{width}x{height} texels do not fit into {size} bytes") from None
    return bytes(tiled)


def untile(tiled: bytes | memoryview, width: int, height: int, memory: TiledMemory) -> bytes:
    """Rows of ``width`` texels of tiled memory.

    Raises TilingError where a texel lies beyond the end.
    """
    step = memory.cpp
    source = _texels(memoryview(tiled), step)
    linear = bytearray(width * height * step)
    target = _texels(memoryview(linear), step)
    columns = memory.columns(width)
    position = 0
    try:
        for base, bits in memory.rows(height):
            for column in columns:
                target[position] = source[(base + (column ^ bits)) // step]
                position += 1
    except IndexError:
        raise TilingError(f"{width}x{height} texels do not fit into {len(tiled)} bytes") from None
    return bytes(linear)


#: Bytes of a texel -> the code of a number of that size.
_CODES: dict[int, Literal["B", "H", "I", "Q"]] = {1: "B", 2: "H", 4: "I", 8: "Q"}


class _WideTexels:
    """Texels of 16 bytes, which no number of ``memoryview`` holds."""

    def __init__(self, data: memoryview) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data) // 16

    def __getitem__(self, index: int) -> memoryview:
        if index >= len(self):
            raise IndexError(index)
        return self._data[16 * index : 16 * index + 16]

    def __setitem__(self, index: int, texel: memoryview) -> None:
        if index >= len(self):
            raise IndexError(index)
        self._data[16 * index : 16 * index + 16] = texel


def _texels(data: memoryview, cpp: int) -> Any:  # noqa: ANN401 - numbers or bytes, by cpp
    data = data.cast("B")
    whole = data[: len(data) // cpp * cpp]
    return _WideTexels(whole) if cpp == 16 else whole.cast(_CODES[cpp])
