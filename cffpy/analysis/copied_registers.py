# SPDX-License-Identifier: MIT
"""Registers that packets fill by copying: followed where the stream has the value, else unknown.

A register that is forgotten is no longer among the machine's, so it reads as unknown. Facts:
CP_MEM_TO_REG, CP_REG_TO_SCRATCH, CP_SCRATCH_TO_REG, CP_SCRATCH_WRITE, CP_REG_RMW, CP_COND_WRITE and
CP_LOAD_CONSTANT_CONTEXT in Mesa's adreno_pm4.xml. Copies by way of memory are not followed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.pm4.fields import Fields

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Payload

_SCRATCH_REGISTERS = 8

#: CP_REG_RMW rotates, adds, or takes its numbers from registers or a scratch register.
_RMW_IS_SPECIAL = Fields(
    "CP_REG_RMW", "DST_SCRATCH", "ROTATE", "SRC1_ADD", "SRC1_IS_REG", "SRC0_IS_REG"
)
_RMW = Fields("CP_REG_RMW", "DST_REG", "SRC0")
_MEM_TO_REG = Fields("CP_MEM_TO_REG", "REG", "CNT")
#: CNT of the next two is one less than the number of registers.
_REG_TO_SCRATCH = Fields("CP_REG_TO_SCRATCH", "REG", "SCRATCH", "CNT")
_SCRATCH_TO_REG = Fields("CP_SCRATCH_TO_REG", "REG", "SCRATCH", "CNT")
_SCRATCH_WRITE = Fields("CP_SCRATCH_WRITE", "SCRATCH")
_COND_WRITE = Fields("CP_COND_WRITE", "WRITE_MEMORY", "WRITE_ADDR")
_COND_WRITE5 = Fields("CP_COND_WRITE5", "WRITE_MEMORY", "WRITE_ADDR")
#: Register offsets in an address field are in its low dword.
_REGISTER_MASK = 0xFFFFFFFF
_LOAD_CONSTANT_CONTEXT = Fields("CP_LOAD_CONSTANT_CONTEXT", "TYPE", "INDEX", "COUNT")

#: CP_LOAD_CONSTANT_CONTEXT and CP_SET_CONSTANT count context registers from here.
_CONTEXT_REGISTERS = 0x2000
_CONTEXT_KIND = 4


class CopiedRegisters:
    """Follows copies between registers and the command processor's scratch registers.

    ``forgotten`` is called for registers whose value becomes unknown: the first, and how many.
    """

    def __init__(self, machine: Machine, forgotten: Callable[[int, int], None]) -> None:
        self._machine = machine
        self._forgotten = forgotten
        #: None: unknown.
        self._scratch: list[int | None] = [None] * _SCRATCH_REGISTERS

    def handlers(self) -> dict[str, Callable[[Payload], None]]:
        """The handlers of packets that copy."""
        return {
            "CP_MEM_TO_REG": self._memory_to_registers,
            "CP_REG_TO_SCRATCH": self._registers_to_scratch,
            "CP_SCRATCH_TO_REG": self._scratch_to_registers,
            "CP_SCRATCH_WRITE": self._scratch_write,
            "CP_COND_WRITE": self._conditional_write,
            "CP_COND_WRITE5": self._conditional_write5,
            "CP_LOAD_CONSTANT_CONTEXT": self._load_context,
        }

    def forget(self, register: int, count: int) -> None:
        """From now on only the GPU knows what these registers hold."""
        for offset in range(register, register + count):
            self._machine.state.registers.pop(offset, None)
        self._forgotten(register, count)

    def modified(self, payload: Payload) -> int | None:
        """CP_REG_RMW, before it is stored: the register, if its new value will be unknown."""
        packets = self._machine.packets
        register, mask = payload.read(packets[_RMW])
        is_known = not mask or register in self._machine.state.registers
        is_special = any(payload.read(packets[_RMW_IS_SPECIAL]))
        return None if is_known and not is_special else register

    def _memory_to_registers(self, payload: Payload) -> None:
        register, count = payload.read(self._machine.packets[_MEM_TO_REG])
        self.forget(register, count or 1)

    def _registers_to_scratch(self, payload: Payload) -> None:
        register, scratch, count = payload.read(self._machine.packets[_REG_TO_SCRATCH])
        registers = self._machine.state.registers
        for step in range(min(count + 1, _SCRATCH_REGISTERS - scratch)):
            self._scratch[scratch + step] = registers.get(register + step)

    def _scratch_to_registers(self, payload: Payload) -> None:
        register, scratch, count = payload.read(self._machine.packets[_SCRATCH_TO_REG])
        for step in range(count + 1):
            number = scratch + step
            value = self._scratch[number] if number < _SCRATCH_REGISTERS else None
            if value is None:
                self.forget(register + step, 1)
            else:
                level = self._machine.state.ib_level
                self._machine.write_register(register + step, value, level)

    def _scratch_write(self, payload: Payload) -> None:
        (scratch,) = payload.read(self._machine.packets[_SCRATCH_WRITE])
        values = payload.dwords()[1 : 1 + _SCRATCH_REGISTERS - scratch]
        self._scratch[scratch : scratch + len(values)] = values

    def _conditional_write(self, payload: Payload) -> None:
        self._written(payload, _COND_WRITE)

    def _conditional_write5(self, payload: Payload) -> None:
        self._written(payload, _COND_WRITE5)

    def _written(self, payload: Payload, fields: Fields) -> None:
        to_memory, address = payload.read(self._machine.packets[fields])
        if not to_memory:
            self.forget(address & _REGISTER_MASK, 1)

    def _load_context(self, payload: Payload) -> None:
        """Of a2xx: context registers, from memory."""
        kind, index, count = payload.read(self._machine.packets[_LOAD_CONSTANT_CONTEXT])
        if kind == _CONTEXT_KIND:
            self.forget(_CONTEXT_REGISTERS + index, min(count, _CONTEXT_REGISTERS))
