# SPDX-License-Identifier: MIT
"""Pixels in memory: a surface, and where tiled memory has its texels.

Tiled is TILE6_3 with one sample (a6xx, a7xx): texel (x, y) -> byte offset.

The offset of a texel is ``row + (column ^ row bits)``, so a table for x and one for y are enough.
Facts: the tiled memory copier of Mesa 25.0.7 (fdl6_memcpy). A texel of a compressed format is a
block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from cffpy.capture.gpu import GENERATIONS
from cffpy.errors import CffpyError
from cffpy.formats import ImageFormat
from cffpy.image.layout import LINEAR, TILE_2, TILE_3, align, divide_up
from cffpy.image.texels import PictureError

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


#: Width or height, texels of a picture, bytes in memory, at most.
MAX_SIDE, MAX_TEXELS, MAX_BYTES = 1 << 14, 1 << 26, 1 << 28


@dataclass(frozen=True, slots=True)
class Surface:
    """Sizes in texels, ``pitch`` in bytes. ``tile_mode``: TILE_MODE of a descriptor (0, 2, 3)."""

    address: int
    form: ImageFormat
    width: int
    height: int
    pitch: int
    tile_mode: int
    samples: int = 1
    ubwc: bool = False
    #: Of the memory controller; None where it is not known.
    bank_swizzle: BankSwizzle | None = None
    #: 2 for a2xx, ...
    generation: int = 6

    @property
    def columns(self) -> int:
        """Texels of a row; blocks, where the format is compressed."""
        return divide_up(self.width, self.form.block_width)

    @property
    def rows(self) -> int:
        """Rows of texels or of blocks."""
        return divide_up(self.height, self.form.block_height)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row without the padding up to the pitch."""
        return self.columns * self.form.block_bytes

    def tiled_memory(self) -> TiledMemory:
        """The order of its texels, where it is tiled. Raises CffpyError."""
        if self.bank_swizzle is None:
            raise PictureError("the bank swizzle of the GPU is not known")
        return TiledMemory(self.form.block_bytes, self.pitch, self.bank_swizzle)

    def byte_size(self) -> int:
        """Bytes of memory that its texels take. Raises CffpyError."""
        self.check()
        if self.tile_mode == LINEAR:
            return (self.rows - 1) * self.pitch + self.row_bytes
        return self.tiled_memory().size(self.rows)

    def texel_extent(self) -> int:
        """Bytes up to the end of its last texel, without padding after it. Raises CffpyError."""
        if self.tile_mode == LINEAR:
            return self.byte_size()
        return self.tiled_memory().extent(self.columns, self.rows)

    def check(self) -> None:
        """Raises PictureError where its texels cannot be read, or are too many."""
        if not self.address:
            raise PictureError("no memory is bound: its address is 0")
        if min(self.width, self.height) < 1:
            raise PictureError(f"an image of {self.width}x{self.height} has no texels")
        if max(self.width, self.height) > MAX_SIDE or self.width * self.height > MAX_TEXELS:
            raise PictureError(f"{self.width}x{self.height} texels are too many for a picture")
        if self.rows * max(self.pitch, self.row_bytes) > MAX_BYTES:
            raise PictureError(f"more than {MAX_BYTES} bytes are too many for a picture")
        reason = self._why_not()
        if reason:
            raise PictureError(reason)

    def too_short(self, there: int) -> PictureError:
        """The error for a surface of which only ``there`` bytes were captured."""
        return PictureError(
            f"only {there} of {self.byte_size()} bytes at {self.address:#x} were captured"
        )

    def _why_not(self) -> str:
        """Why its texels cannot be read; empty where they can."""
        if self.ubwc:
            return "the image is compressed (UBWC): what its bytes mean is not known"
        if self.samples > 1:
            return f"the order of {self.samples} samples in memory is not known"
        if self.tile_mode == LINEAR:
            if self.pitch < self.row_bytes:
                return f"the pitch of {self.pitch} is less than a row of {self.row_bytes} bytes"
            return ""
        facts = GENERATIONS.get(self.generation)
        if facts is None or not facts.has_tile_order:
            return f"the texel order of tiled images of a{self.generation}xx is not known"
        if self.tile_mode == TILE_2:
            return "the texel order of tile mode 2 is not known"
        if self.tile_mode != TILE_3:
            return f"tile mode {self.tile_mode} is not known"
        if self.form.is_r8g8:
            return f"the texel order of tiled {self.form.name} images is not known exactly"
        return ""
