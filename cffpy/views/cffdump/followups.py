# SPDX-License-Identifier: MIT
"""What is shown after certain registers: scratch registers, memory, shaders, descriptors.

cffdump: the tables reg_a2xx to reg_a7xx and the functions reg_* (mesa 25.0.7). Names that an
edition of the register database does not have are ignored.
"""

from __future__ import annotations

from cffpy.capture.generations import PROGRAM_ADDRESS_MASK, STAGES, generation_of
from cffpy.views.cffdump.descriptors import dump_samplers, dump_textures
from cffpy.views.cffdump.quirks import LEVELS
from cffpy.views.cffdump.registers import FixedFollowUp
from cffpy.views.cffdump.shaders import EXTENSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.capture.memory import MemoryLocation
    from cffpy.regdb.database import Database
    from cffpy.views.cffdump.registers import FollowUp
    from cffpy.views.cffdump.view import View

    #: Shows a number of descriptors at a place, at a level.
    Show = Callable[[View, MemoryLocation, int, int], None]

#: Dwords that are shown at an address.
_SHOWN_DWORDS = 64


def follow_ups(names: Database, generation: int) -> dict[int, FollowUp]:
    """Register offset -> what follows its line, for one generation. ``names``: Machine.names."""
    table: dict[int, FollowUp] = {}
    for name, function in [*_programs(generation), *_named(generation, names)]:
        offset = names.register_offset(name)
        if offset:
            table.setdefault(offset, function)
    return table


def _programs(generation: int) -> list[tuple[str, FollowUp]]:
    rows: list[tuple[str, FollowUp]] = []
    for stage, register, upper in generation_of(generation).program_registers:
        if upper:
            rows.append((register, latch_low_half))
            rows.append((upper, _shader_5xx(stage)))
        else:
            rows.append((register, FixedFollowUp(_shader(stage))))
    return rows


def _named(generation: int, names: Database) -> list[tuple[str, FollowUp]]:
    if generation == 2:
        return _scratch(names, [f"CP_SCRATCH_REG{number}" for number in range(8)])
    if generation == 3:
        return [
            *_scratch(names, [f"CP_SCRATCH_REG{number}" for number in range(8)]),
            ("VSC_SIZE_ADDRESS", dump_address),
            ("SP_VS_PVT_MEM_ADDR_REG", dump_address),
            ("SP_FS_PVT_MEM_ADDR_REG", dump_address),
            ("TPL1_TP_FS_BORDER_COLOR_BASE_ADDR", dump_address),
        ]
    if generation == 4:
        return [
            *_scratch(names, [f"CP_SCRATCH[{number:#x}].REG" for number in range(8)]),
            *((f"SP_{stage}_PVT_MEM_ADDR", dump_address) for stage in STAGES),
            *((f"TPL1_TP_{stage}_BORDER_COLOR_BASE_ADDR", dump_address) for stage in STAGES[:5]),
        ]
    if generation == 5:
        return _named_5xx(names)
    if generation > 6:
        return []
    scratch = _scratch(names, [f"CP_SCRATCH[{number:#x}].REG" for number in range(4, 8)])
    descriptors: list[tuple[str, FollowUp]] = []
    show = FixedFollowUp(dump_address)
    for stage in STAGES:
        descriptors.append((f"SP_{stage}_TEX_CONST", show))
        descriptors.append((f"SP_{stage}_TEX_SAMP", show))
    return [*scratch, *descriptors]


def _named_5xx(names: Database) -> list[tuple[str, FollowUp]]:
    rows: list[tuple[str, FollowUp]] = _scratch(
        names, [f"CP_SCRATCH[{number:#x}].REG" for number in range(4, 8)]
    )
    for stage in STAGES:
        count = names.register_offset(f"TPL1_{stage}_TEX_COUNT")
        rows.append((f"TPL1_{stage}_TEX_CONST_LO", latch_low_half))
        rows.append((f"TPL1_{stage}_TEX_CONST_HI", _descriptors_5xx(count, dump_textures)))
        rows.append((f"TPL1_{stage}_TEX_SAMP_LO", latch_low_half))
        rows.append((f"TPL1_{stage}_TEX_SAMP_HI", _descriptors_5xx(count, dump_samplers)))
    rows.append(("TPL1_TP_BORDER_COLOR_BASE_ADDR_LO", latch_low_half))
    rows.append(("TPL1_TP_BORDER_COLOR_BASE_ADDR_HI", dump_address_5xx))
    return rows


def _scratch(database: Database, names: list[str]) -> list[tuple[str, FollowUp]]:
    """cffdump: reg_dump_scratch: scratch registers 4 to 7, whichever was written."""
    first = database.register_offset("CP_SCRATCH[0].REG")
    first = first or database.register_offset("CP_SCRATCH_REG0")
    four = a, b, c, d = range(first + 4, first + 8)

    def dump_scratch(view: View, value: int, level: int) -> None:
        if view.quiet3:
            return
        machine, output, tabs = view.machine, view.output, LEVELS[level]
        if output.recording is not None:
            output.add_hole(tabs, four, machine.wrote)
        get = machine.state.registers.get
        view.put(f"{tabs}:{get(a, 0)},{get(b, 0)},{get(c, 0)},{get(d, 0)}\n")

    return [(name, dump_scratch) for name in names]


def dump_address(view: View, value: int, level: int) -> None:
    """cffdump: reg_dump_gpuaddr, reg_dump_gpuaddr64: memory at the address."""
    view.address_hex(value, level, _SHOWN_DWORDS, view.quiet3)


def latch_low_half(view: View, value: int, level: int) -> None:
    """cffdump: reg_gpuaddr_lo: one latch for all a5xx addresses, never cleared."""
    view.latch(value)


def dump_address_5xx(view: View, value: int, level: int) -> None:
    """cffdump: reg_dump_gpuaddr_hi."""
    dump_address(view, view.gpuaddr_lo | value << 32, level)


def _shader(stage: str) -> FollowUp:
    extension = EXTENSIONS.get(stage)

    def dump_shader(view: View, value: int, level: int) -> None:
        """cffdump: disasm_gpuaddr."""
        if not view.quiet3:
            view.shaders.at_address(value & PROGRAM_ADDRESS_MASK, level, extension)

    return dump_shader


def _shader_5xx(stage: str) -> FollowUp:
    dump_shader = _shader(stage)
    return lambda view, value, level: dump_shader(view, view.gpuaddr_lo | value << 32, level)


def _descriptors_5xx(count_register: int, show: Show) -> FollowUp:
    """cffdump: reg_dump_tex_const_hi, reg_dump_tex_samp_hi: in summaries only."""

    def dump(view: View, value: int, level: int) -> None:
        if view.in_summary:
            count = _count(view, count_register)
            place = view.machine.image.place(view.gpuaddr_lo | value << 32)
            if place is not None:
                show(view, place, count, level + 1)

    return dump


def _count(view: View, register: int) -> int:
    """cffdump: get_tex_count: the number is signed."""
    count = view.machine.state.value(register)
    return 0 if count & 0x80000000 else count


#: Follow-ups that have an effect even where registers are not shown.
ALWAYS = (latch_low_half,)
