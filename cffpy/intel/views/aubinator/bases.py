# SPDX-License-Identifier: MIT
"""Instructions that say where state lies, and registers that change how it is found."""

from __future__ import annotations

from struct import pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.intel.decoder.groups import Command
    from cffpy.intel.views.aubinator.context import Printer

_BASES = ("Surface State", "Dynamic State", "Instruction")


def state_base_address(printer: Printer, command: Command) -> None:
    """STATE_BASE_ADDRESS: each base whose Modify Enable is set."""
    bases = command.values(*(f"{name} Base Address" for name in _BASES))
    modified = command.values(*(f"{name} Base Address Modify Enable" for name in _BASES))
    if modified[0]:
        printer.surface_base = bases[0] or 0
    if modified[1]:
        printer.dynamic_base = bases[1] or 0
    if modified[2]:
        printer.instruction_base = bases[2] or 0


def binding_table_pool(printer: Printer, command: Command) -> None:
    """3DSTATE_BINDING_TABLE_POOL_ALLOC: the pool's base while it is enabled."""
    base, enabled = command.values("Binding Table Pool Base Address", "Binding Table Pool Enable")
    in_use = enabled or printer.database.verx10 >= 125
    printer.pool_base = (base or 0) if in_use else 0


def load_registers(printer: Printer, command: Command) -> None:
    """MI_LOAD_REGISTER_IMM: each known register.

    decode_load_register_imm shows the value of the first pair for all of them (mesa 25.0.7).
    """
    count = (command.group.length_of(command.dword(0)) - 1) // 2
    value, next_dword = command.dword(2), command.dword(3)
    for number in range(count):
        register = printer.database.register_at(command.dword(2 * number + 1))
        if register is None:
            continue
        offset = register.offset or 0
        printer.out(f"register {register.name} (0x{offset:x}): 0x{value:x}\n")
        printer.print_group(register, offset, pack("<2I", value, next_dword))
        if register.name == "GT_MODE":
            _gt_mode(printer, command.dword(1), value)


def _gt_mode(printer: Printer, offset: int, value: int) -> None:
    register = printer.database.register_at(offset)
    if register is None:
        return
    alignment, mask = register.values(
        (value,), ("Binding Table Alignment", "Binding Table Alignment Mask"), register.dwords
    )
    if mask:
        printer.uses_256_byte_tables = bool(alignment)
