# SPDX-License-Identifier: MIT
"""How the GPU itself moves the bins of a fragment density map (a7xx and later, GRAS_BIN_FOVEAT).

The driver's viewports then have the scale, and the GPU adds the offset. The bundled descriptions do
not have the fields of a7xx; they are in those of Mesa 25.3. On a8xx the control is at another
place, and each view has registers with its offset, which only the descriptions of 2026 have.
turnip (tu6_emit_tile_select, October 2026) writes the same offset, in pixels, into four of them:
GRAS_BIN_FOVEAT_XY, GRAS_BIN_FOVEAT_XY_FDM, and those of RB (0x8950, 0x8960). A driver that follows
the descriptions of 25.3 writes the registers of a7xx there, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.frame.geometry import Point

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.registers import RegisterReader

#: GRAS_BIN_FOVEAT and its offsets, by the names of the bundled descriptions.
_CONTROL = "GRAS_UNKNOWN_8008"
_X_OFFSETS = ("GRAS_UNKNOWN_8009", "GRAS_UNKNOWN_800A")
_Y_OFFSETS = ("GRAS_UNKNOWN_800B", "GRAS_UNKNOWN_800C")

_BIN_SCALE_ENABLE = 1 << 6
_VIEWS_OF_REGISTER, _BITS = 3, 10
#: Offsets are in units of this many pixels.
_UNIT = 4

#: GRAS_BIN_FOVEAT and GRAS_BIN_FOVEAT_XY of a8xx: six registers (a8xx_bin_foveat_xy); x, and y from
#: this bit on.
_CONTROL_OF_A8XX, _FIRST_OF_VIEWS, _VIEWS = 0x8206, 0x8220, 6
_Y_SHIFT, _OFFSET_MASK = 16, (1 << 14) - 1


def scales_bins(registers: RegisterReader) -> bool:
    """Whether the GPU scales the bins of the current tile."""
    return bool((registers.value(_CONTROL) or 0) & _BIN_SCALE_ENABLE)


def bin_offsets(registers: RegisterReader) -> tuple[Point, ...]:
    """What the GPU adds to coordinates, x and y of each of six views, in pixels; () for nothing."""
    if not scales_bins(registers):
        return ()
    if registers.offset(_CONTROL) == _CONTROL_OF_A8XX:
        views = [registers.dword(_FIRST_OF_VIEWS + view) for view in range(_VIEWS)]
        if any(value is not None for value in views):
            return tuple(_of_views(views))
    columns, rows = _offsets(registers, _X_OFFSETS), _offsets(registers, _Y_OFFSETS)
    return tuple([Point(x, y) for x, y in zip(columns, rows, strict=True)])


def _of_views(views: list[int | None]) -> Iterator[Point]:
    for value in views:
        bits = value or 0
        yield Point(bits & _OFFSET_MASK, bits >> _Y_SHIFT & _OFFSET_MASK)


def _offsets(registers: RegisterReader, names: tuple[str, ...]) -> list[int]:
    return [
        ((registers.value(name) or 0) >> _BITS * view & (1 << _BITS) - 1) * _UNIT
        for name in names
        for view in range(_VIEWS_OF_REGISTER)
    ]
