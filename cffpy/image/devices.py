# SPDX-License-Identifier: MIT
"""Parts: the properties of a GPU that decide layouts, tiling and how drivers set it up.

``devices.txt`` of an edition has what Mesa's drivers know of a part (``cffpy db import`` writes
it): sizes, quirks, and the values of the registers that are not documented ("magic"). Here stands
what Mesa does not say. GMEM sizes come from the kernel; those given are those of captures, or of
the parts that the Linux driver lists (a6xx_catalog.c), and ``None`` where none is known. The memory
controller's values are the kernel's for a663 and a680, else Mesa's defaults for kernels that do not
report them.
"""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from cffpy._data import data_path
from cffpy.capture.gpu import generation_of, lookup_chip_id
from cffpy.errors import RegisterDbError, UnsupportedGpu
from cffpy.frame.device import DeviceId, DeviceProperty, KnownDevice, PropertyKind
from cffpy.image.tiled import BankSwizzle

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cffpy.capture.gpu import Generation, Gpu

_KIB = 1024

#: The table of an edition.
DEVICE_TABLE = "devices.txt"

#: A property's value: a fraction is a text such as "1/4", None says that there is no limit.
PropertyValue = int | float | bool | str | None


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


class CcuRegister(NamedTuple):
    """Where a generation has the place of the colour cache in GMEM, in a register.

    ``names``: of the editions. ``offset_shift``, ``offset_bits``: the offset in pages of 4 KiB;
    ``high_bit``: its next bit, None where it has no further one. ``fraction_shift``: of two bits,
    n for 1/2^n of the cache. ``depth``, ``color``: bytes of the caches of a CCU in sysmem
    rendering, None where they are not known; of ``small`` parts, which have half of the colour
    cache in GMEM.
    """

    names: tuple[str, ...]
    offset_shift: int
    offset_bits: int
    high_bit: int | None
    fraction_shift: int
    depth: int | None = None
    color: int | None = None
    small: tuple[int, int] | None = None

    def read(self, value: int) -> tuple[int, int]:
        """The offset of the colour cache in bytes, and the N of the 1/N that it has."""
        pages = value >> self.offset_shift & (1 << self.offset_bits) - 1
        if self.high_bit is not None:
            pages |= (value >> self.high_bit & 1) << self.offset_bits
        return pages * 4 * _KIB, 1 << (value >> self.fraction_shift & 3)

    def sizes(self, divisor: int) -> tuple[int, int] | None:
        """Bytes of depth and colour cache of a CCU whose colour cache in GMEM has 1/N."""
        if self.small is not None and divisor == _SMALL_DIVISOR:
            return self.small
        return None if self.depth is None or self.color is None else (self.depth, self.color)


_SMALL_DIVISOR = 2

#: By generation: those whose drivers place the colour cache.
CCU_REGISTERS = {
    6: CcuRegister(
        ("RB_CCU_CNTL",), 23, 9, 9, 21, 64 * _KIB, 64 * _KIB, small=(8 * _KIB, 8 * _KIB)
    ),
    7: CcuRegister(("RB_CCU_CACHE_CNTL", "RB_CCU_CNTL2"), 23, 9, 2, 21, 256 * _KIB, 64 * _KIB),
    8: CcuRegister(("RB_CCU_CACHE_CNTL",), 0, 14, None, 14),
}


class Binning(NamedTuple):
    """When the Gallium driver uses hardware binning."""

    #: It is not worth it for fewer tiles.
    least_tiles: int = 3
    #: Tiles of a VSC pipe across and down, at most.
    pipe_limit: int | None = 15
    #: Tiles of each VSC pipe across and down, where the driver does not choose them (a20x).
    pipe: tuple[int, int] | None = None


class PartId(NamedTuple):
    """An id by which drivers know a part, and the name that they give it.

    ``chip_id``: with 0xffff in bits 47:32 for any speed bin; None where a GPU id names the part.
    """

    name: str
    gpu_id: int | None
    chip_id: int | None


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
    has_linear_mip_fallback: bool
    #: LRZ buffers have fast-clear flags and a direction (a6xx gen3 and gen4, a7xx).
    has_lrz_fast_clear: bool
    #: CP_SET_BIN_DATA5 has a mask of bins, so that tiles can merge bins of a pipe (a7xx).
    has_bin_masks: bool
    #: Both drivers compress 24-bit depth.
    compresses_depth: bool
    #: Units of 128 bytes in the instruction cache; 0 where they are not known.
    instruction_units: int
    ids: tuple[PartId, ...]
    #: What Mesa's table says, by its names.
    properties: Mapping[str, PropertyValue]
    #: The values of undocumented registers, by names of the edition's registers; a name may end in
    #: "+1": the register after it. ``RB_DBG_ECO_CNTL_blit``: of RB_DBG_ECO_CNTL in blits.
    magic: Mapping[str, int]

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


# -- what Mesa's table does not say ----------------------------------------------------------------

_BINNING, _BINNING_6XX = Binning(), Binning(least_tiles=2, pipe_limit=None)
_BINNING_20X = Binning(pipe=(6, 6))
_BINNING_OF = {"200": _BINNING_20X, "201": _BINNING_20X, "205": _BINNING_20X, "220": None}

#: GMEM in KiB.
_GMEM = {
    name: size
    for size, names in (
        (128, "201 305 306 307 505 506 508 509 702"),
        (256, "200 510 512"),
        (512, "205 220 320 605 608 610 612 615 616 618 619 621 635 643"),
        (1024, "330 530 540 630 640"),
        (1152, "650"),
        (1536, "405 420 430 660 663"),
        (2048, "680 725 730"),
        (3072, "740 x1-85 740v3 a32 750"),
        (4096, "690"),
    )
    for name in names.split()
}

#: The memory controller of parts whose kernel reports other values than Mesa's defaults.
_SWIZZLES = {"663": BankSwizzle(15, 4, 8), "680": BankSwizzle(15, 6, 8)}
_CHANNELS = {0: 4, 1: 8}

#: What Mesa calls parts, and what they are called here.
_OTHER_NAMES = {
    "7c+ gen 3": "635",
    "7c+ gen 3 lite": "635",
    "8c gen 3": "635",
    "305b": "305",
    "306a": "306",
}

_SUB_GENERATION = re.compile(r"_gen(\d)")


# -- the table -------------------------------------------------------------------------------------


class _Part:
    """A part of the table as it is read: ids of one set of properties."""

    __slots__ = ("generation", "ids", "magic", "properties", "sub_generation")

    def __init__(self, chip: str, sets: Iterable[str]) -> None:
        self.generation = int(chip[1])
        numbers = [match[1] for match in map(_SUB_GENERATION.search, sets) if match is not None]
        self.sub_generation = int(numbers[-1]) if numbers else 0
        self.properties: dict[str, PropertyValue] = {}
        self.magic: dict[str, int] = {}
        self.ids: list[tuple[str, PartId]] = []


@cache
def devices(directory: str | None = None) -> Mapping[str, Device]:
    """Every known part by its name, by an edition's folder (default: the bundled one).

    Raises RegisterDbError where the table is not right; an edition without a table has no parts.
    """
    folder = data_path("register_db") if directory is None else directory
    path = os.path.join(folder, DEVICE_TABLE)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        return {}
    known: dict[str, Device] = {}
    parts = _parts(text, path)
    # a flag that a part does not have is off
    flags = dict.fromkeys(
        name for part in parts for name, value in part.properties.items() if isinstance(value, bool)
    )
    for part in parts:
        if part.generation > 5:
            for name in flags:
                part.properties.setdefault(name, False)
        names = dict.fromkeys(name for name, _ in part.ids)
        for name in names:
            ids = [each for other, each in part.ids if other == name]
            before = known.get(name)
            known[name] = _device(name, part, (*(before.ids if before else ()), *ids), path)
    return known


def _parts(text: str, path: str) -> list[_Part]:
    sets: dict[str, dict[str, PropertyValue]] = {}
    parts: list[_Part] = []
    properties: dict[str, PropertyValue] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        try:
            match words:
                case ["set", name]:
                    properties = sets[name] = {}
                case ["part", chip, *names]:
                    parts.append(_Part(chip, names))
                    properties = parts[-1].properties
                    for name in names:
                        properties |= sets[name]
                case ["id", identity, *_]:
                    parts[-1].ids.append(_part_id(identity, line.split(None, 2)[2]))
                case ["magic", name, value]:
                    parts[-1].magic[name] = int(value, 0)
                case [name, value]:
                    properties[name] = _property_value(value)
                case [] | ["#", *_]:
                    pass
                case _:
                    raise ValueError
        except (ValueError, LookupError):
            raise RegisterDbError(f"line {number}: not understood: {line.strip()}", path) from None
    return parts


def _part_id(identity: str, name: str) -> tuple[str, PartId]:
    """What the part is called here, and its id."""
    number = int(identity, 0)
    is_chip = identity.startswith("0x")
    return part_name(name), PartId(name, None if is_chip else number, number if is_chip else None)


def part_name(text: str) -> str:
    """A part's name of what users, drivers and captures call it: ``650`` for FD650, ``x1-85``."""
    short = text.strip().lower().replace("(tm)", "").removeprefix("fd").removeprefix("adreno")
    return _OTHER_NAMES.get(short.strip(), short.strip())


def _property_value(text: str) -> PropertyValue:
    if text in ("yes", "no"):
        return text == "yes"
    if text == "none":
        return None
    if "/" in text:
        return text
    return float(text) if "." in text else int(text, 0)


def _device(name: str, part: _Part, ids: tuple[PartId, ...], path: str) -> Device:
    def number(key: str, default: int = 0) -> int:
        value = part.properties.get(key, default)
        return value if isinstance(value, int) else default

    try:
        max_height = part.properties["tile_max_h"]
        size = number("tile_align_w"), number("tile_align_h")
        tile_max = number("tile_max_w"), None if max_height is None else number("tile_max_h")
    except KeyError as problem:
        raise RegisterDbError(f"{name} has no {problem.args[0]}", path) from None
    gmem = _GMEM.get(name)
    depth = part.properties.get("has_z24uint_s8uint", False)
    generation = part.generation
    return Device(
        name,
        generation,
        part.sub_generation,
        None if gmem is None else gmem * _KIB,
        size,
        tile_max,
        number("num_vsc_pipes"),
        _ccu(part.properties),
        _swizzle(name, part),
        _BINNING_6XX if generation > 5 else _BINNING_OF.get(name, _BINNING),
        has_linear_mip_fallback=bool(number("has_ubwc_linear_mipmap_fallback")),
        has_lrz_fast_clear=bool(number("enable_lrz_fast_clear")),
        has_bin_masks=generation > 6,
        compresses_depth=bool(depth) and not part.properties.get("broken_ds_ubwc_quirk", False),
        instruction_units=number("instr_cache_size"),
        ids=ids,
        properties=part.properties,
        magic=part.magic,
    )


def _ccu(properties: Mapping[str, PropertyValue]) -> CcuSizes | None:
    def size(name: str) -> int:
        value = properties.get(name, 0)
        return value if isinstance(value, int) else 0

    units = size("num_ccu")
    if not units:
        return None
    fraction = str(properties.get("gmem_ccu_color_cache_fraction", "1/1"))
    return CcuSizes(
        units,
        size("sysmem_per_ccu_color_cache_size"),
        size("sysmem_per_ccu_depth_cache_size"),
        int(fraction.rpartition("/")[2]),
        size("gmem_vpc_attr_buf_size"),
    )


def _swizzle(name: str, part: _Part) -> BankSwizzle | None:
    if part.generation < 5:
        return None
    bit, levels, mode = (
        part.properties.get(key, 0)
        for key in ("highest_bank_bit", "ubwc_swizzle", "macrotile_mode")
    )
    if not isinstance(bit, int) or not isinstance(levels, int) or not isinstance(mode, int):
        return None
    return _SWIZZLES.get(name, BankSwizzle(bit, levels, _CHANNELS.get(mode, 4)))


# -- look-up ---------------------------------------------------------------------------------------


def device(name: str) -> Device:
    """The part that a user or a capture names: ``650``, ``a650``, ``FD650``, ``X1-85``.

    Raises UnsupportedGpu.
    """
    known = find_device(name)
    if known is None:
        raise UnsupportedGpu(
            f"no layout facts for a GPU called {name!r}; known: {' '.join(devices())}"
        )
    return known


def find_device(name: str, directory: str | None = None) -> Device | None:
    """The part of this name, by an edition's folder; None for an unknown one."""
    known, short = devices(directory), part_name(name)
    return known.get(short) or known.get(short.removeprefix("a"))


#: Bits 47:32 of a chip id of any speed bin.
_ANY_SPEED_BIN = 0xFFFF << 32

#: The chip id of a201, whose other digits are those of a200: only the patch level differs.
_CHIP_A201 = 0x02000001


def device_of(gpu: Gpu) -> Device:
    """The part that a capture is of. Raises UnsupportedGpu."""
    return device("201" if gpu.chip_id == _CHIP_A201 else gpu.name)


def device_of_chip_id(chip_id: int, directory: str | None = None) -> Device | None:
    """The part of a chip id, by an edition's folder; None for an unknown one.

    Bits 47:32 are a speed bin; without them the part of any speed bin is meant.
    """
    known = devices(directory).values()
    for wanted in (chip_id, chip_id | _ANY_SPEED_BIN):
        for part in known:
            if any(each.chip_id == wanted for each in part.ids):
                return part
    gpu = lookup_chip_id(chip_id)
    return None if gpu is None else find_device(gpu.name, directory)


# -- parts side by side ----------------------------------------------------------------------------

#: What a property is about, by a part of its name; the first that fits.
_KIND_OF_NAME: tuple[tuple[str, PropertyKind], ...] = (
    ("quirk", "quirk"),
    ("workaround", "quirk"),
    ("instr_cache", "shaders"),
    ("gmem_size", "tiling"),
    ("gmem_ccu_offset", "tiling"),
    ("cache", "caches"),
    ("ccu", "caches"),
    ("attr_buf", "caches"),
    ("pos_buf", "caches"),
    ("tile_", "tiling"),
    ("gmem_align", "tiling"),
    ("num_vsc_pipes", "tiling"),
    ("num_slices", "tiling"),
    ("bank_bit", "memory"),
    ("ubwc_swizzle", "memory"),
    ("macrotile", "memory"),
    ("reg_size", "shaders"),
    ("wave", "shaders"),
    ("fibers", "shaders"),
    ("threadsize_base", "shaders"),
    ("num_sp_cores", "shaders"),
    ("shared_mem", "shaders"),
    ("line_width", "limits"),
    ("threshold", "limits"),
    ("max_", "limits"),
)
_KINDS: tuple[PropertyKind, ...] = (
    "tiling",
    "caches",
    "memory",
    "shaders",
    "limits",
    "feature",
    "quirk",
    "magic",
)


def property_kind(name: str) -> PropertyKind:
    """What a property of Mesa's table is about."""
    if name.startswith(("has_", "supports_", "enable_")) and "quirk" not in name:
        return "feature"
    for part, kind in _KIND_OF_NAME:
        if part in name:
            return kind
    return "feature"


def device_properties(parts: Sequence[Device]) -> list[DeviceProperty]:
    """All properties of some parts, sorted by what they are about, then as the table has them.

    ``gmem`` and ``ccu_gmem`` (the colour offset of the CCU in GMEM rendering) come first: the table
    has neither.
    """
    rows = [
        DeviceProperty("tiling", "gmem_size", [part.gmem for part in parts]),
        DeviceProperty("tiling", "gmem_ccu_offset", [part.ccu_gmem for part in parts]),
    ]
    named = dict.fromkeys(name for part in parts for name in part.properties)
    rows += [
        DeviceProperty(property_kind(name), name, [_shown(part, name) for part in parts])
        for name in named
    ]
    magic = dict.fromkeys(name for part in parts for name in part.magic)
    rows += [
        DeviceProperty(
            "magic",
            name,
            [hex(part.magic[name]) if name in part.magic else None for part in parts],
        )
        for name in magic
    ]
    return sorted(rows, key=lambda row: _KINDS.index(row.kind))


def _shown(part: Device, name: str) -> int | str | None:
    if name not in part.properties:
        return None
    value = part.properties[name]
    if value is None:
        return "no limit"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else value


def known_device(part: Device, edition: str) -> KnownDevice:
    """A part as answers show it."""
    return KnownDevice(
        part.name,
        part.generation,
        part.sub_generation or None,
        edition,
        [_device_id(each) for each in part.ids],
    )


def _device_id(identity: PartId) -> DeviceId:
    chip_id = identity.chip_id
    is_any = chip_id is None or chip_id >= _ANY_SPEED_BIN
    if chip_id is not None and is_any:
        chip_id -= _ANY_SPEED_BIN
    return DeviceId(identity.name, identity.gpu_id, chip_id, is_any)
