# SPDX-License-Identifier: MIT
"""What the commands of a capture say of its GPU, with and without the help of its id.

Drivers program a part's sizes and magic registers in every command stream. ``DeviceWrites`` takes
the values of these registers in a walk; ``device_report`` makes facts of them and compares them
with the table of parts (``cffpy.image.devices``). The id of the capture is used for the comparison
only: so a part that no table has is described by the same facts.

Rules, from the most to the least direct: a register has the value; a formula makes it of several
registers; a trial: of all sizes and alignments that parts of the generation have, only these give
the tiles that the passes have (``cffpy.analysis.layout_check``); parts: all known parts that
contradict none of the other facts agree on it.

Facts: emit_rb_ccu_cntl and tu_physical_device_init of turnip, fd6_emit and freedreno_gmem of the
Gallium driver, Mesa 25.0.7: the colour cache lies, in GMEM rendering, at the end of GMEM, before
the attributes of VPC where they have a place there; in sysmem rendering behind the depth cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.image_views import attachment_views
from cffpy.analysis.layout_check.comparison import PassTiles, compare_tiles, tiles_of
from cffpy.analysis.observer import Observer
from cffpy.analysis.queries import PassWalk
from cffpy.analysis.register_store.writes import StoredWrites
from cffpy.editions.folders import editions
from cffpy.errors import UnsupportedGpu
from cffpy.frame.device import DeviceFact, DeviceReport
from cffpy.frame.geometry import Size
from cffpy.image.devices import (
    CCU_REGISTERS,
    CcuRegister,
    CcuSizes,
    Device,
    device_of,
    devices,
    property_kind,
)
from cffpy.pm4.reader import OPCODE, REGISTERS, Payload
from cffpy.regdb.aliases import Aliases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.cp.stored import StoredRegisters
    from cffpy.frame.device import FactRule, PropertyKind
    from cffpy.frame.passes import Pass
    from cffpy.frame.places import ExecutedStream, PacketLocation
    from cffpy.regdb.database import Database

_KIB = 1024

#: What drivers fill registers with, so that what is not set shows (TU_DEBUG_STALE_REGS_RANGE).
_STOMPED = 0xFFFFFFFF

#: Distinct values of a register that are kept.
_MOST_VALUES = 32
#: Sizes of GMEM that are tried, where no register tells it.
_GMEM_SIZES = tuple(
    size * _KIB for size in (128, 256, 512, 1024, 1152, 1536, 2048, 3072, 4096, 6144, 8192)
)
#: Distinct passes whose tiles are tried.
_MOST_PASSES = 6

#: Bytes of VPC attributes of a CCU in GMEM.
_VPC_NAMES = ("VPC_ATTR_BUF_GMEM_SIZE", "VPC_ATTR_BUF_SIZE_GMEM")
#: The registers of VSC pipes, by the position of the pipe.
_PIPE_NAMES = ("VSC_PIPE_CONFIG[{}].REG", "VSC_PIPE[{}].CONFIG")
_MOST_PIPES = 32

#: The register that Mesa's table has a second value for, which holds in blits.
_BLIT_NAME, _BLIT_REGISTER = "RB_DBG_ECO_CNTL_blit", "RB_DBG_ECO_CNTL"

#: Magic registers that drivers set to 0 in some render modes.
_AT_TIMES = ("RB_UNKNOWN_8E06", "RB_CCU_DBG_ECO_CNTL")


class ValueWrite(NamedTuple):
    """The first write of a value to a register."""

    value: int
    place: PacketLocation


class _Part(NamedTuple):
    """A part as an edition's table has it; its magic registers by the names that facts have."""

    edition: str
    device: Device
    magic: Mapping[str, int]


class DeviceWrites(Observer):
    """Takes the first write of each value to the registers that tell a part."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self.gpu: Gpu | None = None
        self.parts: list[_Part] = []
        #: Offset of a register -> its first writes, by value.
        self.writes: dict[int, dict[int, ValueWrite]] = {}
        #: Name in a table -> offset.
        self.magic: dict[str, int] = {}
        self.ccu = self.vpc = 0
        self.pipes: list[int] = []
        self.layout: CcuRegister | None = None

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Choose the registers, by the names that the edition has for them."""
        if self.gpu is not None and self.gpu.generation == gpu.generation:
            return
        self.gpu = gpu
        offset = database.register_offset
        self.layout = CCU_REGISTERS.get(gpu.generation)
        names = () if self.layout is None else self.layout.names
        self.ccu = next(filter(None, map(offset, names)), 0)
        self.vpc = next(filter(None, map(offset, _VPC_NAMES)), 0)
        self.pipes = next(
            (
                offsets
                for name in _PIPE_NAMES
                if any(offsets := [offset(name.format(pipe)) for pipe in range(_MOST_PIPES)])
            ),
            [],
        )
        self._read_tables(gpu.generation, database)
        wanted = {self.ccu, self.vpc, *self.pipes, *self.magic.values()} - {0}
        self.writes = {register: {} for register in wanted}

    def _read_tables(self, generation: int, database: Database) -> None:
        """The parts of all editions; editions have different names for a register."""
        aliases = Aliases.installed()
        names: dict[tuple[int, bool], str] = {}
        self.parts, self.magic = [], {}
        for edition, folder in editions().items():
            for part in devices(folder).values():
                if part.generation != generation:
                    continue
                magic = {}
                for name, value in part.magic.items():
                    register = _magic_offset(name, database, aliases)
                    if register:
                        shown = names.setdefault((register, name == _BLIT_NAME), name)
                        self.magic[shown] = register
                        magic[shown] = value
                self.parts.append(_Part(edition, part, magic))

    def registers_written(self, registers: range, location: PacketLocation, ndwords: int) -> None:
        """Keep values of a packet."""
        wanted = self.writes.keys() & set(registers)
        if not wanted:
            return
        words, index = location._words, location._index
        kind, number, size = self._walk.machine.headers[words.data[index]]
        if kind == REGISTERS:
            values: Iterable[tuple[int, int]] = enumerate(
                words.data[index + 1 : index + size], number
            )
        elif kind == OPCODE:
            payload = Payload(words, index + 1, size - 1)
            values = self._walk.machine.packet_writes(number, payload) or ()
        else:
            return
        for register, value in values:
            if register in wanted:
                self._keep(register, value, location)

    def registers_stored(
        self, stored: StoredRegisters, stream: ExecutedStream, caller: PacketLocation | None
    ) -> None:
        """Keep values of registers that were stored at once."""
        for part in stored.parts:
            for register in self.writes.keys() & part.keys():
                value = part[register]
                if value not in self.writes[register]:
                    source = StoredWrites(
                        stored, stream, caller, (str, None, self._walk.executed, None, None)
                    )
                    self._keep(register, value, source.of(register).place)

    def _keep(self, register: int, value: int, location: PacketLocation) -> None:
        known = self.writes[register]
        if value != _STOMPED and value not in known and len(known) < _MOST_VALUES:
            known[value] = ValueWrite(value, location)

    def first(self, register: int) -> list[ValueWrite]:
        """The first writes of a register's values."""
        return [*self.writes.get(register, {}).values()]


def _magic_offset(name: str, database: Database, aliases: Aliases) -> int:
    """The offset of a register as a table names it; 0 where the edition has no such register."""
    if name.startswith("0x"):
        return int(name, 16)
    base, _, further = name.removesuffix("_blit").partition("+")
    for known in (base, *aliases.registers(base)):
        offset = database.register_offset(known)
        if offset:
            return offset + int(further or "0")
    return 0


# -- the report ------------------------------------------------------------------------------------


def find_device(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[DeviceReport, list[Damage]]:
    """What the commands of a capture show of its GPU, and the damage: a walk.

    Raises UnsupportedGpu where the generation is unknown.
    """
    walk = PassWalk(content, complain, register_db, gpu)
    writes = DeviceWrites(walk.walk)
    walk.observe(writes)
    damage = walk.run()
    return report_of(writes, walk.finder.found.passes), damage


def report_of(writes: DeviceWrites, passes: Sequence[Pass]) -> DeviceReport:
    """The facts of a capture. ``writes`` has observed the walk that found the passes."""
    inference = _Inference(writes, passes)
    try:
        part = None if writes.gpu is None else device_of(writes.gpu)
    except UnsupportedGpu:
        part = None
    return inference.report(part)


class _Ccu(NamedTuple):
    """What the registers say of the colour caches. Offsets and sizes in bytes."""

    gmem: ValueWrite | None
    sysmem: ValueWrite | None
    gmem_offset: int | None
    sysmem_offset: int | None
    divisor: int | None


#: A fact before it is compared: value, rule, packets.
_Found = tuple["int | str | None", "FactRule | None", "list[PacketLocation]"]

_UNKNOWN: _Found = (None, None, [])


class _Inference:
    def __init__(self, writes: DeviceWrites, passes: Sequence[Pass]) -> None:
        self._writes = writes
        self._generation = 0 if writes.gpu is None else writes.gpu.generation
        self._ccu = self._read_ccu()
        self._tiles = _distinct_tiles(passes)
        self._found: dict[str, _Found] = {}
        self._measure()

    # -- registers ------------------------------------------------------------------------------

    def _measure(self) -> None:
        found, ccu = self._found, self._ccu
        found["gmem_size"] = _UNKNOWN
        if self._writes.layout is not None:
            found["num_ccu"] = found["gmem_ccu_offset"] = _UNKNOWN
        units = self._units()
        if units is not None and ccu.sysmem is not None:
            found["num_ccu"] = units, "formula", [ccu.sysmem.place]
        if ccu.gmem is not None and ccu.gmem_offset is not None:
            found["gmem_ccu_offset"] = ccu.gmem_offset, "register", [ccu.gmem.place]
            sizes = self._cache_sizes()
            if units is not None and ccu.sysmem is not None and ccu.divisor and sizes:
                color = units * sizes[1] // ccu.divisor
                attributes = self._vpc_attributes()
                places = [ccu.gmem.place, ccu.sysmem.place, *(each.place for each in attributes)]
                end = units * sum(each.value for each in attributes)
                found["gmem_size"] = ccu.gmem_offset + color + end, "formula", places
        found["tile_align_w"] = found["tile_align_h"] = _UNKNOWN
        found["num_vsc_pipes"] = self._pipes()
        for name, register in self._writes.magic.items():
            value = self._magic(name, register)
            if value is not None:
                found[name] = value

    def _read_ccu(self) -> _Ccu:
        """The colour cache's place in both kinds of rendering, as a6xx and a7xx have it."""
        gmem = sysmem = None
        offsets: dict[ValueWrite, tuple[int, int]] = {}
        layout = self._writes.layout
        writes = [] if layout is None else self._writes.first(self._writes.ccu)
        for write in writes:
            assert layout is not None
            _, divisor = offsets[write] = layout.read(write.value)
            if divisor > 1 and gmem is None:
                gmem = write
            elif divisor == 1 and sysmem is None:
                sysmem = write
        return _Ccu(
            gmem,
            sysmem,
            None if gmem is None else offsets[gmem][0],
            None if sysmem is None else offsets[sysmem][0],
            None if gmem is None else offsets[gmem][1],
        )

    def _cache_sizes(self) -> tuple[int, int] | None:
        """Bytes of depth and colour cache of a CCU, in sysmem rendering."""
        layout, divisor = self._writes.layout, self._ccu.divisor
        return None if layout is None or divisor is None else layout.sizes(divisor)

    def _units(self) -> int | None:
        """CCUs: in sysmem rendering the colour cache begins where the depth cache ends."""
        sizes, offset = self._cache_sizes(), self._ccu.sysmem_offset
        if sizes is None or not offset:
            return None
        units, rest = divmod(offset, sizes[0])
        return units if units and not rest else None

    def _vpc_attributes(self) -> list[ValueWrite]:
        """The size that VPC attributes have in GMEM; in sysmem rendering it is larger."""
        sizes = [write for write in self._writes.first(self._writes.vpc) if write.value]
        return sorted(sizes, key=lambda write: write.value)[:1]

    def _pipes(self) -> _Found:
        """Drivers set all VSC pipes, also those that a pass does not use."""
        written = [
            number
            for number, register in enumerate(self._writes.pipes)
            if register and self._writes.first(register)
        ]
        if not written:
            return _UNKNOWN
        last = self._writes.first(self._writes.pipes[written[-1]])
        return written[-1] + 1, "register", [last[0].place]

    def _magic(self, name: str, register: int) -> _Found | None:
        """The first value; of blits, what is written besides.

        0 says nothing where drivers write it, too, while the value is not needed.
        """
        values = self._writes.first(register)
        if name == _BLIT_NAME:
            values = [each for each in values[1:] if each.value]
        elif name in _AT_TIMES:
            values = [each for each in values if each.value]
        if not values:
            return None
        return hex(values[0].value), "register", [values[0].place]

    # -- parts ----------------------------------------------------------------------------------

    def misfits(self, known: _Part) -> list[str]:
        """Names of what contradicts a part."""
        wrong = [*self._wrong_sizes(known.device), *self._wrong_magic(known)]
        if not wrong and any(not _agrees(known.device, *tiles) for tiles in self._tiles):
            wrong.append("tiles")
        return wrong

    def _wrong_sizes(self, part: Device) -> Iterator[str]:
        ccu, sizes = self._ccu, part.ccu
        if sizes is not None:
            if ccu.sysmem_offset and ccu.sysmem_offset != sizes.units * sizes.depth:
                yield "num_ccu"
            if ccu.divisor not in (None, sizes.gmem_divisor):
                yield "gmem_ccu_color_cache_fraction"
            if None not in (ccu.gmem_offset, part.ccu_gmem) and ccu.gmem_offset != part.ccu_gmem:
                yield "gmem_ccu_offset"
        if self._found["num_vsc_pipes"][0] not in (None, part.vsc_pipes):
            yield "num_vsc_pipes"

    def _wrong_magic(self, known: _Part) -> Iterator[str]:
        for name, value in known.magic.items():
            values = set(self._writes.writes.get(self._writes.magic[name], {}))
            if name in _AT_TIMES:
                values.discard(0)
            if values and value not in values and name != _BLIT_NAME:
                yield name

    def _trial(self) -> list[tuple[int, tuple[int, int]]]:
        """Sizes of GMEM and alignments that give the tiles of all passes."""
        if not self._tiles:
            return []
        size = self._found["gmem_size"][0]
        known = [part.device for part in self._writes.parts]
        sizes = (size,) if isinstance(size, int) else _GMEM_SIZES
        alignments = {part.tile_align for part in known}
        bases = {part.binning: part for part in known}.values()
        units = self._found.get("num_ccu", _UNKNOWN)[0]
        pipes = self._found["num_vsc_pipes"][0]
        fitting = []
        for gmem in sizes:
            for align in sorted(alignments):
                for base in bases:
                    part = base._replace(gmem=gmem, tile_align=align)
                    if isinstance(units, int):
                        part = part._replace(ccu=self._sizes(units))
                    if isinstance(pipes, int):
                        part = part._replace(vsc_pipes=pipes)
                    if all(_agrees(part, *tiles) for tiles in self._tiles):
                        fitting.append((gmem, align))
                        break
        return fitting

    def _sizes(self, units: int) -> CcuSizes:
        depth, color = self._cache_sizes() or (0, 0)
        attributes = sum(write.value for write in self._vpc_attributes())
        return CcuSizes(units, color, depth, self._ccu.divisor or 1, attributes)

    def infer(self) -> list[_Part]:
        """Complete the facts; the parts that fit."""
        fitting = [part for part in self._writes.parts if not self.misfits(part)]
        trial = self._trial()
        places = [pass_.first for pass_, _ in self._tiles]
        if trial:
            self._complete("gmem_size", {gmem for gmem, _ in trial}, "trial", places)
            self._complete("tile_align_w", {align[0] for _, align in trial}, "trial", places)
            self._complete("tile_align_h", {align[1] for _, align in trial}, "trial", places)
        names = dict.fromkeys([*self._found, *(name for part in fitting for name in part.magic)])
        for name in names:
            values = {table_value(part, name) for part in fitting}
            self._complete(name, values, "parts", [])
        return fitting

    def _complete(
        self,
        name: str,
        values: Iterable[int | str | None],
        rule: FactRule,
        places: list[PacketLocation],
    ) -> None:
        """Take the value of a fact that is not known, if it is the only one."""
        only = {*values}
        if self._found.get(name, _UNKNOWN)[0] is None and len(only) == 1:
            (value,) = only
            if value is not None:
                self._found[name] = value, rule, places

    def report(self, part: Device | None) -> DeviceReport:
        """All facts, compared with a part."""
        fitting = self.infer()
        tables = [] if part is None else self._tables(part)
        names = [*self._found]
        if tables:
            names += [name for name in tables[0].magic if name not in self._found]
        facts = [self._fact(name, tables) for name in names]
        return DeviceReport(
            None if part is None else part.name,
            tables[0].edition if tables else None,
            [*dict.fromkeys(each.device.name for each in fitting)],
            facts,
        )

    def _tables(self, part: Device) -> list[_Part]:
        """The part in all editions, the one first that fewest facts contradict."""
        same = [each for each in self._writes.parts if each.device.name == part.name]
        return sorted(same, key=lambda each: len(self.misfits(each)))

    def _fact(self, name: str, tables: list[_Part]) -> DeviceFact:
        value, rule, places = self._found.get(name, _UNKNOWN)
        expected: int | str | None = None
        if tables:
            expected = table_value(tables[0], name)
        fits: bool | None = None
        if None not in (value, expected) and rule != "parts":
            fits = value == expected or self._has_written(name, expected)
        kind: PropertyKind = "magic" if name in self._writes.magic else property_kind(name)
        return DeviceFact(kind, name, value, rule, expected, fits, places)

    def _has_written(self, name: str, expected: int | str | None) -> bool:
        """Whether a magic register has the expected value at some time."""
        register = self._writes.magic.get(name)
        return register is not None and any(
            hex(value) == expected for value in self._writes.writes.get(register, {})
        )


def table_value(known: _Part, name: str) -> int | str | None:
    """What the table says of a part, by the name of a fact."""
    part = known.device
    sizes: dict[str, int | None] = {
        "gmem_size": part.gmem,
        "gmem_ccu_offset": None if part.ccu is None else part.ccu_gmem,
        "tile_align_w": part.tile_align[0],
        "tile_align_h": part.tile_align[1],
        "num_vsc_pipes": part.vsc_pipes,
        "num_ccu": None if part.ccu is None else part.ccu.units,
    }
    if name in sizes:
        return sizes[name]
    value = known.magic.get(name)
    return None if value is None else hex(value)


def _distinct_tiles(passes: Sequence[Pass]) -> list[tuple[Pass, PassTiles]]:
    """Passes in GMEM mode that have different tiles or attachments."""
    distinct: dict[object, tuple[Pass, PassTiles]] = {}
    for pass_ in passes:
        if pass_.kind != "render" or pass_.mode != "gmem":
            continue
        sizes = [Size(view.width, view.height) for _, view in attachment_views(pass_)]
        tiles = tiles_of(pass_, sizes)
        if tiles is None:
            continue
        key = tiles, tuple(target.format for target in pass_.attachments), pass_.samples
        distinct.setdefault(key, (pass_, tiles))
        if len(distinct) == _MOST_PASSES:
            break
    return [*distinct.values()]


def _agrees(part: Device, pass_: Pass, tiles: PassTiles) -> bool:
    """Whether a part may have these tiles."""
    return compare_tiles(part, pass_, tiles).answer != "differs"
