# SPDX-License-Identifier: MIT
"""What is shown after certain registers: scratch registers, memory, shaders, descriptors.

cffdump: the functions reg_* (mesa 25.0.7, 25.3). Which registers these are, the tables reg_a2xx to
reg_a8xx, is part of an edition's record (``cffpy.editions.record``). Names that an edition of the
register database does not have are ignored.
"""

from __future__ import annotations

from cffpy.c_numbers import signed32
from cffpy.capture.gpu import PROGRAM_ADDRESS_MASK
from cffpy.editions import record
from cffpy.views.cffdump.descriptors import dump_samplers, dump_textures
from cffpy.views.cffdump.quirks import LEVELS
from cffpy.views.cffdump.registers import FixedFollowUp
from cffpy.views.cffdump.shaders import EXTENSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cffpy.capture.memory import MemoryLocation
    from cffpy.editions.record import FollowUpRow
    from cffpy.regdb.database import Database
    from cffpy.views.cffdump.registers import FollowUp
    from cffpy.views.cffdump.view import View

    #: Shows a number of descriptors at a place, at a level.
    Show = Callable[[View, MemoryLocation, int, int], None]
    #: Makes a follow-up of a register: its name, its offset, as for ``follow_ups``.
    Maker = Callable[[str, int, Database, Database], FollowUp]

#: Dwords that are shown at an address.
_SHOWN_DWORDS = 64


def follow_ups(
    rows: Sequence[FollowUpRow], names: Database, database: Database
) -> dict[int, FollowUp]:
    """Register offset -> what follows its line, for one generation.

    ``rows``: of the edition's record. ``names``: Machine.names, which has the names in the rows.
    ``database``: of the edition.
    """
    table: dict[int, FollowUp] = {}
    for name, what in rows:
        offset = names.register_offset(name)
        if offset and offset not in table:
            table[offset] = _MAKERS[what](name, offset, names, database)
    return table


def _scratch(_name: str, _offset: int, names: Database, _database: Database) -> FollowUp:
    """cffdump: reg_dump_scratch: scratch registers 4 to 7, whichever was written."""
    first = names.register_offset("CP_SCRATCH[0].REG")
    first = first or names.register_offset("CP_SCRATCH_REG0")
    four = a, b, c, d = range(first + 4, first + 8)

    def dump_scratch(view: View, value: int, level: int) -> None:
        if view.quiet3:
            return
        machine, output, tabs = view.machine, view.output, LEVELS[level]
        if output.recording is not None:
            output.add_hole(tabs, four, machine.wrote)
        get = machine.state.registers.get
        view.put(f"{tabs}:{get(a, 0)},{get(b, 0)},{get(c, 0)},{get(d, 0)}\n")

    return dump_scratch


def dump_address(view: View, value: int, level: int) -> None:
    """cffdump: reg_dump_gpuaddr, reg_dump_gpuaddr64: memory at the address."""
    view.address_hex(value, level, _SHOWN_DWORDS, view.quiet3)


def latch_low_half(view: View, value: int, level: int) -> None:
    """cffdump: reg_gpuaddr_lo: one latch for all a5xx addresses, never cleared."""
    view.latch(value)


def dump_address_5xx(view: View, value: int, level: int) -> None:
    """cffdump: reg_dump_gpuaddr_hi."""
    dump_address(view, view.gpuaddr_lo | value << 32, level)


def _shader(name: str, offset: int, database: Database) -> FollowUp:
    """cffdump: disasm_gpuaddr: the register's name decides about the file of --dump-shaders.

    Registers that later releases call SP_VS_BASE have none.
    """
    stage = name.removeprefix("SP_")[:2]
    is_object = "_OBJ" in name and database.register_offset(name) == offset
    extension = EXTENSIONS.get(stage) if is_object else None

    def dump_shader(view: View, value: int, level: int) -> None:
        if not view.quiet3:
            view.shaders.at_address(value & PROGRAM_ADDRESS_MASK, level, extension)

    return dump_shader


def _program(name: str, offset: int, _names: Database, database: Database) -> FollowUp:
    return FixedFollowUp(_shader(name, offset, database))


def _program_5xx(name: str, offset: int, _names: Database, database: Database) -> FollowUp:
    dump_shader = _shader(name, offset, database)
    return lambda view, value, level: dump_shader(view, view.gpuaddr_lo | value << 32, level)


def _descriptors_5xx(show: Show) -> Maker:
    """cffdump: reg_dump_tex_const_hi, reg_dump_tex_samp_hi: in summaries only."""

    def make(name: str, _offset: int, names: Database, _database: Database) -> FollowUp:
        count_register = names.register_offset(f"{name.rpartition('_TEX_')[0]}_TEX_COUNT")

        def dump(view: View, value: int, level: int) -> None:
            if view.in_summary:
                count = signed32(view.machine.state.value(count_register))
                place = view.machine.image.place(view.gpuaddr_lo | value << 32)
                if place is not None:
                    show(view, place, count, level + 1)

        return dump

    return make


class CountedFollowUp:
    """A follow-up that shows descriptors, as many as a register says, even without its line."""

    __slots__ = ("_count_register", "_show")

    def __init__(self, count_register: int, show: Show) -> None:
        self._count_register = count_register
        self._show = show

    def __call__(self, view: View, value: int, level: int) -> None:
        """Show them, if ``value`` is the address of captured memory."""
        count = signed32(view.machine.read_register(self._count_register))
        place = view.machine.image.place(value)
        if place is not None:
            self._show(view, place, count, level + 1)


def _descriptors(show: Show, counter: str) -> Maker:
    """cffdump: reg_dump_texmemobj64, reg_dump_sampler64, reg_dump_uav64 (mesa 25.3).

    The name of the register that counts is made of five letters, so that of SP_GFX_UAV_BASE does
    not exist, and stands for register 0.
    """

    def make(name: str, _offset: int, names: Database, _database: Database) -> FollowUp:
        return CountedFollowUp(names.register_offset(f"{name[:5]}_{counter}"), show)

    return make


def is_always_called(follow_up: FollowUp | None) -> bool:
    """Whether a follow-up has an effect even where registers are not shown."""
    return follow_up is latch_low_half or isinstance(follow_up, CountedFollowUp)


_MAKERS: dict[str, Maker] = {
    record.SCRATCH: _scratch,
    record.MEMORY: lambda *_: FixedFollowUp(dump_address),
    record.PROGRAM: _program,
    record.LOW_HALF: lambda *_: latch_low_half,
    record.MEMORY_5XX: lambda *_: dump_address_5xx,
    record.PROGRAM_5XX: _program_5xx,
    record.TEXTURES_5XX: _descriptors_5xx(dump_textures),
    record.SAMPLERS_5XX: _descriptors_5xx(dump_samplers),
    record.TEXTURES: _descriptors(dump_textures, "TSIZE"),
    record.SAMPLERS: _descriptors(dump_samplers, "TSIZE"),
    record.STORAGE: _descriptors(dump_textures, "USIZE"),
}
