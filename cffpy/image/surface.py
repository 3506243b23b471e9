# SPDX-License-Identifier: MIT
"""Surface: one layer of one level of an image in memory, and why it may not be readable."""

from __future__ import annotations

from dataclasses import dataclass

from cffpy.capture.gpu import GENERATIONS
from cffpy.image.formats import ImageFormat, PictureError
from cffpy.image.layout import LINEAR, TILE_2, TILE_3, divide_up
from cffpy.image.tiled import BankSwizzle, TiledMemory

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
