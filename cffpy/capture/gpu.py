# SPDX-License-Identifier: MIT
"""Which GPU a capture is of: RD_GPU_ID and RD_CHIP_ID, or a name given by the user, to a ``Gpu``.

``lookup_gpu_id`` and ``lookup_chip_id`` know the ids that Mesa 25.0.7's cffdump knows (it crashes
on others), and those of a8xx; ``guess`` derives the generation of an unknown id.

A chip id is ``core << 24 | major << 16 | minor << 8 | patch`` in bits 31:0, with fuses or a speed
bin in bits 47:32. Up to a6xx, core, major and minor are the digits of the GPU id.
"""

from __future__ import annotations

from cffpy.capture.generations import GENERATIONS, Generation
from cffpy.errors import UnsupportedGpu
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.capture.load import Identity


class Gpu(ValueObject):
    """A GPU. ``gpu_id`` or ``chip_id`` is 0 where only the other one names it."""

    __slots__ = ("chip_id", "generation", "gpu_id", "name")

    def __init__(self, gpu_id: int, chip_id: int, generation: int, name: str) -> None:
        self.gpu_id = gpu_id
        self.chip_id = chip_id
        #: 2 to 8: a2xx to a8xx
        self.generation = generation
        #: e.g. "FD630"
        self.name = name

    @property
    def facts(self) -> Generation:
        """What is the same for all GPUs of the generation."""
        return GENERATIONS[self.generation]

    @property
    def is_64bit(self) -> bool:
        """Whether addresses take two dwords."""
        return self.facts.is_64bit

    @property
    def chip(self) -> str:
        """The register database's name of the generation, e.g. ``A6XX``."""
        return self.facts.chip


# The GPUs that have a GPU id.
_GPU_IDS = frozenset(
    [
        *(200, 201, 205, 220),
        *(305, 307, 320, 330),
        *(405, 420, 430),
        *(505, 506, 508, 509, 510, 512, 530, 540),
        *(605, 608, 610, 612, 615, 616, 618, 619, 620, 630, 640, 650, 660, 680, 690),
        740,
    ]
)
_CLASSIC_GENERATIONS = range(2, 7)
#: a702 is an a6xx part in spite of its number. Source: Mesa's freedreno_devices.py.
_GENERATIONS = {702: 6}
_A702 = 0x07002000
#: Chip ids since a735 carry no digits of the name.
_CORES = {7: 7, 0x43: 7, 0x44: 8}

# Chip id -> generation, name, "any fuse bits".
_CHIP_IDS = {
    0x03000512: (3, "FD305B", True),
    0x03000620: (3, "FD306A", False),
    0x06020100: (6, "FD621", True),
    0x06030500: (6, "Adreno 7c+ Gen 3", True),
    0x06060201: (6, "FD644", False),
    0x06060300: (6, "FD663", True),
    0x06090000: (6, "FD690", True),
    0x07030001: (7, "FD730", True),
    0x07030002: (7, "FD725", True),
    0x43030B00: (7, "FD735", False),
    0x43050A00: (7, "FDA32", True),
    0x43050A01: (7, "FD740", True),
    0x43050B00: (7, "FD740v3", True),
    0x43050C01: (7, "FDX1-85", True),
    0x43051401: (7, "FD750", True),
    # known to later versions of Mesa
    0x44010000: (8, "Adreno (TM) 810", True),
    0x44030A20: (8, "Adreno (TM) 829", True),
    0x44050000: (8, "Adreno (TM) 830", True),
    0x44050001: (8, "Adreno (TM) 830", True),
    0x44050A31: (8, "Adreno (TM) 840", True),
    0x44070041: (8, "Adreno (TM) X2-85", True),
}


def lookup_gpu_id(gpu_id: int) -> Gpu | None:
    """The GPU of an RD_GPU_ID, or None for an id that the reference does not know."""
    return _of_gpu_id(gpu_id) if gpu_id in _GPU_IDS else None


def lookup_chip_id(chip_id: int) -> Gpu | None:
    """The GPU of an RD_CHIP_ID, or None for an id that the reference does not know."""
    core_id = chip_id & 0xFFFFFFFF
    listed = _CHIP_IDS.get(core_id)
    if listed is not None:
        generation, name, any_fuses = listed
        if any_fuses or chip_id == core_id:
            return Gpu(0, chip_id, generation, name)
    gpu_id = _classic_gpu_id(core_id)
    if gpu_id in _GPU_IDS and gpu_id // 100 in _CLASSIC_GENERATIONS:
        return Gpu(gpu_id, chip_id, gpu_id // 100, f"FD{gpu_id}")
    return None


def named_gpu(identity: Identity | None) -> Gpu | None:
    """The GPU that a section names, None for an unknown one."""
    if identity is None:
        return None
    if identity.chip_id:
        return lookup_chip_id(identity.chip_id)
    return lookup_gpu_id(identity.gpu_id or 0)


def guess(gpu_id: int = 0, chip_id: int = 0) -> Gpu | None:
    """The GPU of any ids, by their generation; None if that is unclear, too.

    The hundreds of a GPU id are the generation; so is a chip id's core, with 0x43 for later a7xx.
    """
    known = lookup_gpu_id(gpu_id) or (lookup_chip_id(chip_id) if chip_id else None)
    if known is not None:
        return known
    if gpu_id // 100 in GENERATIONS:
        return _of_gpu_id(gpu_id)
    core = chip_id >> 24 & 0xFF
    if chip_id & 0xFFFFFFFF == _A702:
        return Gpu(0, chip_id, _GENERATIONS[702], "FD702")
    if core in _CORES:
        return Gpu(0, chip_id, _CORES[core], f"chip {chip_id & 0xFFFFFFFF:#010x}")
    if core in _CLASSIC_GENERATIONS:
        classic = _classic_gpu_id(chip_id & 0xFFFFFFFF)
        if classic:
            return Gpu(classic, chip_id, core, f"FD{classic}")
        return Gpu(0, chip_id, core, f"chip {chip_id & 0xFFFFFFFF:#010x}")
    return None


def parse_gpu(text: str) -> Gpu:
    """The GPU of a user's text: an id (``630``, ``a630``) or a generation (``a6xx``, ``6``).

    A generation is a GPU without ids. Raises UnsupportedGpu.
    """
    name = text.lower().removeprefix("a")
    generation, rest = name[:1], name[1:]
    if generation.isdecimal() and int(generation) in GENERATIONS:
        if rest in ("", "xx"):
            return Gpu(0, 0, int(generation), f"a{generation}xx")
        if len(rest) == 2 and rest.isascii() and rest.isdigit():
            return _of_gpu_id(int(name))
    raise UnsupportedGpu(f"'{text}' is neither a GPU (630) nor a generation (a6xx)")


def _of_gpu_id(gpu_id: int) -> Gpu:
    return Gpu(gpu_id, 0, _GENERATIONS.get(gpu_id, gpu_id // 100), f"FD{gpu_id}")


def _classic_gpu_id(core_id: int) -> int:
    """The GPU id whose digits are core, major and minor; 0 if they are not digits."""
    core, major, minor = core_id >> 24, core_id >> 16 & 0xFF, core_id >> 8 & 0xFF
    if core > 9 or major > 9 or minor > 9:
        return 0
    return core * 100 + major * 10 + minor
