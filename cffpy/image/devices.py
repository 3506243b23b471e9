# SPDX-License-Identifier: MIT
"""The properties of GPUs that decide layouts and tiling, as one table: a row for each part.

Facts: freedreno_devices.py of Mesa 25.0.7. GMEM sizes come from the kernel; those given are those
of captures, or of the parts that the Linux driver lists (a6xx_catalog.c), and ``None`` where none
is known. The memory controller's values are the kernel's for a663 and a680, else Mesa's defaults
for kernels that do not report them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.capture.gpu import generation_of
from cffpy.errors import UnsupportedGpu
from cffpy.image.tiled import BankSwizzle

if TYPE_CHECKING:
    from cffpy.capture.gpu import Generation, Gpu

_KIB = 1024


class CcuSizes(NamedTuple):
    """The colour/depth cache units of a6xx and a7xx. Sizes in bytes, of one unit."""

    units: int
    #: In sysmem rendering.
    color: int
    depth: int
    #: In GMEM rendering the colour cache takes 1/N of it.
    gmem_divisor: int
    #: At the end of GMEM, in GMEM rendering (a750).
    vpc_attributes: int = 0


class Binning(NamedTuple):
    """When the Gallium driver uses hardware binning."""

    #: It is not worth it for fewer tiles.
    least_tiles: int = 3
    #: Tiles of a VSC pipe across and down, at most.
    pipe_limit: int | None = 15
    #: Tiles of each VSC pipe across and down, where the driver does not choose them (a20x).
    pipe: tuple[int, int] | None = None


class Device(NamedTuple):
    """A part. Sizes of tiles in pixels, ``gmem`` in bytes."""

    name: str
    generation: int
    #: Within the generation, 1 to 4; 0 where there is no division.
    sub_generation: int
    gmem: int | None
    tile_align: tuple[int, int]
    #: The second is None where height has no limit.
    tile_max: tuple[int, int | None]
    vsc_pipes: int
    ccu: CcuSizes | None
    swizzle: BankSwizzle | None
    #: None where the Gallium driver has no hardware binning.
    binning: Binning | None
    #: Narrow levels of UBWC images are linear (a6xx gen4, a7xx).
    has_linear_mip_fallback: bool = False
    #: LRZ buffers have fast-clear flags and a direction (a6xx gen3 and gen4, a7xx).
    has_lrz_fast_clear: bool = False
    #: CP_SET_BIN_DATA5 has a mask of bins, so that tiles can merge bins of a pipe (a7xx).
    has_bin_masks: bool = False
    #: Both drivers compress 24-bit depth.
    compresses_depth: bool = False
    #: Units of 128 bytes in the instruction cache; 0 where they are not known.
    instruction_units: int = 0

    @property
    def facts(self) -> Generation:
        """What is the same for all parts of its generation."""
        return generation_of(self.generation)

    @property
    def usable_gmem(self) -> int | None:
        """Bytes of GMEM that attachments and the colour cache share."""
        if self.gmem is None or self.ccu is None:
            return self.gmem
        return self.gmem - self.ccu.units * self.ccu.vpc_attributes

    @property
    def ccu_gmem(self) -> int | None:
        """Where the colour cache starts in GMEM rendering: the colour offset of RB_CCU_CNTL."""
        usable = self.usable_gmem
        if usable is None or self.ccu is None:
            return None
        return usable - self.ccu.units * self.ccu.color // self.ccu.gmem_divisor


_BINNING, _BINNING_6XX = Binning(), Binning(least_tiles=2, pipe_limit=None)
_BINNING_20X = Binning(pipe=(6, 6))

#: Parts of a6xx gen2 and later on which turnip compresses no depth.
_PLAIN_DEPTH = ("690",)


def _a6xx(
    names: str,
    sub_generation: int,
    gmem: int | None,
    ccus: int,
    align: tuple[int, int],
    swizzle: tuple[int, int, int],
    *,
    pipes: int = 32,
    cache: tuple[int, int] = (64, 4),
) -> list[Device]:
    color, divisor = cache
    ccu = CcuSizes(ccus, color * _KIB, color * _KIB, divisor)
    size = None if gmem is None else gmem * _KIB
    bank = BankSwizzle(*swizzle)
    return [
        Device(
            name,
            6,
            sub_generation,
            size,
            align,
            (1024, 1008),
            pipes,
            ccu,
            bank,
            _BINNING_6XX,
            has_linear_mip_fallback=sub_generation == 4,
            has_lrz_fast_clear=sub_generation >= 3,
            compresses_depth=sub_generation > 1 and name not in _PLAIN_DEPTH,
            instruction_units=127 if sub_generation >= 3 else 64,
        )
        for name in names.split()
    ]


def _a7xx(
    names: str,
    sub_generation: int,
    gmem: int | None,
    ccus: int,
    align: tuple[int, int],
    highest_bank_bit: int,
    vpc: int = 0,
) -> list[Device]:
    ccu = CcuSizes(ccus, 64 * _KIB, 256 * _KIB, 8, vpc * _KIB)
    size = None if gmem is None else gmem * _KIB
    bank = BankSwizzle(highest_bank_bit, 6, 8)
    return [
        Device(
            name,
            7,
            sub_generation,
            size,
            align,
            (1728, 1728),
            32,
            ccu,
            bank,
            _BINNING_6XX,
            has_linear_mip_fallback=True,
            has_lrz_fast_clear=True,
            has_bin_masks=True,
            compresses_depth=True,
            instruction_units=127,
        )
        for name in names.split()
    ]


def _older(
    names: str,
    generation: int,
    gmem: int,
    align: tuple[int, int],
    most: tuple[int, int | None],
    pipes: int,
    swizzle: BankSwizzle | None = None,
    binning: Binning | None = _BINNING,
) -> list[Device]:
    return [
        Device(name, generation, 0, gmem * _KIB, align, most, pipes, None, swizzle, binning)
        for name in names.split()
    ]


_BANKS_5XX = BankSwizzle(14, 7, 4)

#: Every known part by name.
DEVICES: dict[str, Device] = {
    device.name: device
    for devices in (
        _older("200", 2, 256, (32, 32), (512, None), 8, binning=_BINNING_20X),
        _older("201", 2, 128, (32, 32), (512, None), 8, binning=_BINNING_20X),
        _older("205", 2, 512, (32, 32), (512, None), 8, binning=_BINNING_20X),
        _older("220", 2, 512, (32, 32), (512, None), 8, binning=None),
        _older("305 306 307", 3, 128, (32, 32), (992, 480), 8),
        _older("320", 3, 512, (32, 32), (992, 480), 8),
        _older("330", 3, 1024, (32, 32), (992, 480), 8),
        _older("405 420 430", 4, 1536, (32, 32), (1024, 480), 8),
        _older("505 506 508 509", 5, 128, (64, 32), (1024, 4064), 16, _BANKS_5XX),
        _older("510 512", 5, 256, (64, 32), (1024, 4064), 16, _BANKS_5XX),
        _older("530 540", 5, 1024, (64, 32), (1024, 4064), 16, BankSwizzle(15, 7, 4)),
        _a6xx("605 608 610 612", 1, 512, 1, (32, 16), (13, 7, 4), pipes=16, cache=(8, 2)),
        _a6xx("702", 1, 128, 1, (32, 16), (15, 6, 8), pipes=16, cache=(8, 2)),
        _a6xx("615 616 618 619", 1, 512, 1, (32, 32), (14, 6, 4)),
        _a6xx("620", 1, None, 1, (32, 16), (15, 6, 8)),
        _a6xx("621", 3, 512, 2, (96, 16), (15, 6, 8)),
        _a6xx("630", 1, 1024, 2, (32, 16), (15, 6, 4)),
        _a6xx("640", 2, 1024, 2, (32, 16), (15, 6, 4)),
        _a6xx("680", 2, 2048, 4, (64, 32), (15, 6, 8)),
        _a6xx("650", 3, 1152, 3, (96, 16), (16, 6, 8)),
        _a6xx("635 643", 4, 512, 2, (32, 16), (14, 6, 8)),
        _a6xx("644", 4, None, 3, (96, 16), (15, 6, 8)),
        _a6xx("663", 4, 1536, 3, (96, 16), (15, 4, 8)),
        _a6xx("660", 4, 1536, 3, (96, 16), (16, 6, 8)),
        _a6xx("690", 4, 4096, 8, (64, 32), (16, 6, 8)),
        _a7xx("725 730", 1, 2048, 4, (64, 32), 16),
        _a7xx("735", 2, None, 3, (96, 32), 15),
        _a7xx("740 x1-85", 2, 3072, 6, (96, 32), 16),
        _a7xx("740v3 a32", 2, 3072, 6, (96, 32), 15),
        _a7xx("750", 3, 3072, 6, (96, 32), 16, vpc=48),
    )
    for device in devices
}


#: Names of the same parts in captures.
_OTHER_NAMES = {"7c+ gen 3": "635", "305b": "305", "306a": "306"}


def device(name: str) -> Device:
    """The part that a user or a capture names: ``650``, ``a650``, ``FD650``, ``X1-85``.

    Raises UnsupportedGpu.
    """
    short = name.strip().lower().removeprefix("fd").removeprefix("adreno").strip()
    for candidate in (short, short.removeprefix("a")):
        known = DEVICES.get(_OTHER_NAMES.get(candidate, candidate))
        if known is not None:
            return known
    raise UnsupportedGpu(f"no layout facts for a GPU called {name!r}; known: {' '.join(DEVICES)}")


#: The chip id of a201, whose other digits are those of a200: only the patch level differs.
_CHIP_A201 = 0x02000001


def device_of(gpu: Gpu) -> Device:
    """The part that a capture is of. Raises UnsupportedGpu."""
    return device("201" if gpu.chip_id == _CHIP_A201 else gpu.name)
