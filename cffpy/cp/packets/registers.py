# SPDX-License-Identifier: MIT
"""Packets with an opcode that write registers or memory, or set draw-state groups.

CP_REG_WRITE, CP_WIDE_REG_WRITE and the register bunches call the sink before they store the value:
other registers then still have their old values, as in the reference.
"""

from __future__ import annotations

from cffpy.cp.sink import NestedStream
from cffpy.cp.state import GROUP_DISABLE, GROUP_DISABLE_ALL, GROUP_LOAD_IMMEDIATE, DrawStateGroup
from cffpy.pm4.reader import Fields, is_type4_or_type7

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.cp.machine import Machine
    from cffpy.cp.runner import Runner
    from cffpy.pm4.reader import Packets, Payload

SET_CONSTANT = Fields("CP_SET_CONSTANT", "INDEX", "TYPE", "ADD")
_SUM = Fields("CP_SET_CONSTANT", "SOURCE", "ADDEND", variant="SUM")
_REG_RMW = Fields("CP_REG_RMW", "cffdump:DST_REG", "SRC0", "SRC1")
_REG_WRITE = Fields("CP_REG_WRITE", "cffdump:REG", "VALUE")
_WIDE_REG_WRITE = Fields("CP_WIDE_REG_WRITE", "cffdump:REG")

#: CP_SET_CONSTANT of type 4 counts registers from here.
_CONTEXT_REGISTERS = 0x2000
SET_REGISTERS = 4


def adds_to_register(machine: Runner, payload: Payload) -> bool:
    """Whether a CP_SET_CONSTANT writes the sum of a number and a register."""
    _, kind, add = payload.read(machine.packets[SET_CONSTANT])
    return kind == SET_REGISTERS and bool(add)


def cp_set_constant(machine: Runner, payload: Payload, level: int) -> None:
    """CP_SET_CONSTANT (a2xx): constants, or context registers."""
    index, kind, add = payload.read(machine.packets[SET_CONSTANT])
    if kind != SET_REGISTERS:
        machine.sink.set_constant(kind, index, payload, level)
        return
    register = _CONTEXT_REGISTERS + index
    if not add:
        machine.write_registers(register, payload.rest(1).dwords(), level + 1)
        return
    source, addend = payload.read(machine.packets[_SUM])
    machine.sink.register_sum(register, addend, source, level)
    total = (addend + machine.state.value(source)) & 0xFFFFFFFF
    machine.write_registers(register, [total], level + 1)


def cp_reg_rmw(machine: Runner, payload: Payload, level: int) -> None:
    """CP_REG_RMW: register = (register & SRC0) | SRC1."""
    register, mask, bits = payload.read(machine.packets[_REG_RMW])
    machine.sink.read_modify_write(register, mask, bits, level)
    state = machine.state
    state.set_register(register, state.value(register) & mask | bits)


def reg_write(packets: Packets, payload: Payload) -> list[tuple[int, int]]:
    """What CP_REG_WRITE writes: register and value."""
    register, value = payload.read(packets[_REG_WRITE])
    return [(register, value)]


def cp_reg_write(machine: Runner, payload: Payload, level: int) -> None:
    """CP_REG_WRITE: one register (a6xx)."""
    ((register, value),) = reg_write(machine.packets, payload)
    machine.sink.begin_registers()
    machine.write_register(register, value, level + 1)


def cp_wide_reg_write(machine: Runner, payload: Payload, level: int) -> None:
    """CP_WIDE_REG_WRITE: consecutive registers (a4xx)."""
    (register,) = payload.read(machine.packets[_WIDE_REG_WRITE])
    machine.sink.begin_registers()
    for value in payload.dwords()[1:]:
        machine.write_register(register, value, level + 1)
        register += 1


def context_reg_bunch(_packets: Packets, payload: Payload) -> list[tuple[int, int]]:
    """What CP_CONTEXT_REG_BUNCH writes: pairs of register and value."""
    return [
        (payload[position], payload[position + 1]) for position in range(0, payload.captured, 2)
    ]


def cp_context_reg_bunch(machine: Runner, payload: Payload, level: int) -> None:
    """CP_CONTEXT_REG_BUNCH: pairs of register offset and value."""
    _write_pairs(machine, context_reg_bunch(machine.packets, payload), level)


def context_reg_bunch2(packets: Packets, payload: Payload) -> list[tuple[int, int]]:
    """What CP_CONTEXT_REG_BUNCH2 writes: it has two dwords before the pairs."""
    return context_reg_bunch(packets, payload.rest(2))


def cp_context_reg_bunch2(machine: Runner, payload: Payload, level: int) -> None:
    """CP_CONTEXT_REG_BUNCH2: two dwords, then pairs of register offset and value."""
    _write_pairs(machine, context_reg_bunch2(machine.packets, payload), level)


def _write_pairs(machine: Runner, pairs: list[tuple[int, int]], level: int) -> None:
    machine.sink.begin_registers(always_shown=True)
    for register, value in pairs:
        machine.write_register(register, value, level + 1)
    machine.sink.end_registers()


_MEM_WRITE = Fields("CP_MEM_WRITE", "ADDR")


def cp_mem_write(machine: Runner, payload: Payload, level: int) -> None:
    """CP_MEM_WRITE: data that looks like commands runs as commands.

    turnip patches commands this way: they are executed from that address later.
    """
    reader = machine.packets[_MEM_WRITE]
    (gpuaddr,) = payload.read(reader)
    data = payload.rest(reader.dwords)
    stream = NestedStream(gpuaddr, data.count)
    wanted = machine.sink.nested_stream("CP_MEM_WRITE", stream, data, level)
    if wanted and machine.is_64bit and is_type4_or_type7(data[0]):
        machine.run(data.words, data.index, data.count, level + 1)


def _entry(group_id: str) -> Fields:
    names = "COUNT", "DIRTY..LOAD_IMMED", "cffdump:ENABLE_MASK", group_id, "ADDR"
    return Fields("CP_SET_DRAW_STATE", *names)


#: One entry of CP_SET_DRAW_STATE; the flags are ``GROUP_DISABLE`` and the others.
DRAW_STATE_ENTRY = _entry("GROUP_ID")
_REFERENCE_ENTRY = _entry("cffdump:GROUP_ID")


def draw_state_groups(machine: Machine, payload: Payload) -> Iterator[DrawStateGroup]:
    """The entries of a CP_SET_DRAW_STATE; their flags say what is done with each."""
    fields = _REFERENCE_ENTRY if machine.reads_as_reference else DRAW_STATE_ENTRY
    entry = machine.packets[fields]
    data, size, start, end = payload.words.data, entry.dwords, payload.index, payload.words.count
    for position in range(0, payload.captured, size):
        index = start + position
        if index + size <= end:  # as Payload.read, without a call for each entry
            ndwords, flags, enable_mask, group_id, gpuaddr = entry.read(data, index)
        else:
            ndwords, flags, enable_mask, group_id, gpuaddr = payload.read(entry, position)
        yield DrawStateGroup(group_id, enable_mask, flags, ndwords, gpuaddr)


def cp_set_draw_state(machine: Runner, payload: Payload, level: int) -> None:
    """CP_SET_DRAW_STATE: set, disable or immediately load groups, entry by entry."""
    groups = machine.state.groups
    for group in draw_state_groups(machine, payload):
        flags, group_id = group.flags, group.group_id
        if flags & GROUP_DISABLE_ALL:
            machine.disable_groups()
        elif flags & GROUP_DISABLE:
            groups[group_id] = None
        else:
            groups[group_id] = group
            if flags & GROUP_LOAD_IMMEDIATE:
                machine.load_group(group, level)
                groups = machine.state.groups  # a sink may have put others there
                groups[group_id] = None
