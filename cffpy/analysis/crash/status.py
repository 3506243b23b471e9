# SPDX-License-Identifier: MIT
"""What status registers, the SQE and the GMU say, and what the packet of the CP waits for."""

from __future__ import annotations

import operator
import struct
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from cffpy.analysis.crash.context import STATISTICS, Evidence, lines
from cffpy.container.devcoredump import indexed_name
from cffpy.frame.facts import Address, Bits, described, fact, model, stored
from cffpy.frame.objects import ModelObject
from cffpy.pm4.reader import Fields
from cffpy.regdb.database import Database
from cffpy.regdb.decode import type_mask
from cffpy.regdb.registers import RegisterText

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.analysis.crash.context import CrashContext
    from cffpy.analysis.crash.position import CpPacket
    from cffpy.container.crash_dump import DataBlock
    from cffpy.frame.field import FieldValue

#: Registers of the GPU whose bits the report explains: which of them matter, and what each means.
_BUSY = ("RBBM_STATUS", "RBBM_STATUS3")
_INTERRUPTS = ("RBBM_INT_0_STATUS", "CP_INTERRUPT_STATUS")
_FAULTS = ("CP_HW_FAULT", "CP_PROTECT_STATUS")

#: Interrupts that are not errors.
_HARMLESS = (
    "RBBM_GPU_IDLE",
    "CP_SW",
    "CP_IB1",
    "CP_IB2",
    "CP_RB",
    "CP_RB_DONE_TS",
    "CP_WT_DONE_TS",
    "CP_CACHE_FLUSH_TS",
    "CP_CCU_FLUSH_DEPTH_TS",
    "CP_CCU_FLUSH_COLOR_TS",
    "CP_CCU_RESOLVE_TS",
    "PM4CPINTERRUPT",
    "other bits",
)

#: The dword of CP_UCODE_DBG_DATA at which the packet table begins; microcode is smaller.
_TABLE_PART, _OPCODES, _MICROCODE_DWORDS = 0x4000, 128, 1 << 15

#: The pipe that a thread of the SQE executes packets for.
Thread = Literal["BR", "BV"]

#: Dwords of the table of queues, and of the header of each.
_TABLE_DWORDS, _QUEUE_DWORDS, _MAX_QUEUES = 6, 12, 8


@model("status_register", frozen=True, is_value=False)
class StatusRegister(ModelObject):
    """A register that says what a unit of the GPU, or the GMU, does."""

    register: str = stored("its name")
    value: Bits = stored("its bits")
    set_fields: tuple[str, ...] = stored(
        "the fields that are not 0, other than flags with their values; where none is described the"
        " value, if it is not 0"
    )
    evidence: tuple[Evidence, ...] = stored("where the dump has it")
    is_described: bool = True


@described(
    "handler",
    start="where it begins in the microcode, in dwords",
    packets="names of the packets that it handles; empty for the handler of all others",
)
class SqeHandler(NamedTuple):
    """A handler of packets in the SQE's microcode."""

    start: Address
    packets: tuple[str, ...]


@model("sqe_thread", frozen=True, is_value=False)
class SqeState(ModelObject):
    """Where a thread of the SQE is."""

    thread: Thread = stored("the pipe that it executes packets for")
    counter: Address = stored("its program counter, in dwords", name="pc")
    packet: str | None = stored("name of the packet that it executes")
    evidence: tuple[Evidence, ...] = stored("where the dump has it")
    handler: SqeHandler | None = stored("the handler that the counter is in", default=None)


@described(
    "gmu_queue",
    is_value=False,
    number="its number",
    read_index="where the reader is, in dwords",
    write_index="where the writer is, in dwords",
    dropped="messages that were dropped",
)
class QueueState(NamedTuple):
    """A queue between driver and GMU."""

    number: int
    read_index: int
    write_index: int
    dropped: int

    @fact()
    def name(self) -> str:
        """The direction of its messages."""
        return ("driver to GMU", "GMU to driver")[self.number] if self.number < 2 else "debug"


def bits_of(context: CrashContext, *names: str) -> list[StatusRegister]:
    """The bits that are set in these registers, of those that the dump has."""
    if context.machine is None:
        return []
    text = RegisterText(context.machine.database)
    bits = []
    for name in names:
        value = context.register(name)
        if value is None:
            continue
        offset = context.register_offset(name)
        fields = text.field_values(offset, {offset: value})
        if fields:
            named = tuple(
                [_set_bits(field) for field in fields if value & type_mask(field.low, field.high)]
            )
        else:
            named = (f"{value:#x}",) if value else ()
        bits.append(StatusRegister(name, value, named, lines(context.line(name)), bool(fields)))
    return bits


def _set_bits(field: FieldValue) -> str:
    """A field that is not 0: a flag by its name, others with their value."""
    is_flag = field.low == field.high or field.name == "other bits"
    return field.name if is_flag else f"{field.name} = {field.text}"


def busy_units(context: CrashContext) -> list[StatusRegister]:
    """The units that are busy."""
    return bits_of(context, *_BUSY)


def errors(context: CrashContext) -> list[StatusRegister]:
    """Interrupts and faults that are errors."""
    texts = []
    for bit in bits_of(context, *_INTERRUPTS, *_FAULTS):
        names = tuple([name for name in bit.set_fields if name not in _HARMLESS])
        if names:
            texts.append(replace(bit, set_fields=names))
    return texts


def sqe_states(context: CrashContext) -> list[SqeState]:
    """Where the threads of the SQE are."""
    states = []
    table = packet_table(context)
    for block in context.dump.indexed:
        thread = STATISTICS.get(indexed_name(block.name))
        if thread is None or block.block is None or context.gpu is None:
            continue
        counter, header = struct.unpack("<II", block.block.contents()[:8].ljust(8, b"\0"))
        packet = context.packet_of_header(header)
        handler = _handler(context, table, counter) if thread == "BR" else None
        states.append(SqeState(thread, counter, packet, lines(block.line), handler))
    return states


def packet_table(context: CrashContext) -> tuple[int, ...]:
    """Where the handler of each packet begins in the SQE's microcode; empty where not dumped."""
    for block in context.dump.indexed:
        if indexed_name(block.name) == "CP_UCODE_DBG_DATA" and block.block is not None:
            contents = block.block.contents()[4 * _TABLE_PART : 4 * (_TABLE_PART + _OPCODES)]
            if len(contents) == 4 * _OPCODES:
                table = struct.unpack(f"<{_OPCODES}I", contents)
                if min(table) > 0 and max(table) < _MICROCODE_DWORDS:
                    return table
    return ()


def _handler(context: CrashContext, table: tuple[int, ...], counter: int) -> SqeHandler | None:
    """The handler that contains an offset in the microcode: the last one that begins before it."""
    start = max([place for place in table if place <= counter], default=None)
    machine = context.machine
    if start is None or machine is None:
        return None
    opcodes = [opcode for opcode, place in enumerate(table) if place == start]
    names = [machine.packet_names[opcode] or f"opcode {opcode:#x}" for opcode in opcodes]
    is_default = start == max(table, key=table.count)
    return SqeHandler(start, () if is_default else tuple(names))


def memory_queues(context: CrashContext) -> list[QueueState]:
    """The queues of the section gmu-hfi."""
    memory = context.dump.gmu_hfi
    if memory is None or memory.block is None:
        return []
    contents = memory.block.contents()
    dwords = struct.unpack(f"<{len(contents) // 4}I", contents[: len(contents) // 4 * 4])
    if len(dwords) < _TABLE_DWORDS:
        return []
    queues = []
    for number in range(min(dwords[4], _MAX_QUEUES)):
        start = _TABLE_DWORDS + _QUEUE_DWORDS * number
        header = dwords[start : start + _QUEUE_DWORDS]
        if len(header) == _QUEUE_DWORDS and header[0]:
            queues.append(QueueState(number, header[10], header[11], header[5]))
    return queues


def gmu_registers(
    context: CrashContext, register_db: str | None, *names: str
) -> list[StatusRegister]:
    """Registers of the GMU by name, of those that the dump has: their decoded text."""
    if context.gpu is None or not context.gpu.facts.gmu_registers:
        return []
    database = Database.open_block(*context.gpu.facts.gmu_registers, register_db)
    if database is None:
        return []
    text = RegisterText(database)
    registers = []
    for name in names:
        offset = database.register_offset(name)
        if offset and offset in context.dump.gmu_registers:
            value, line = context.dump.gmu_registers[offset]
            shown = text.text(offset, {offset: value})
            registers.append(StatusRegister(name, value, (shown,), lines(line)))
    return registers


def shader_block_names(context: CrashContext) -> list[str]:
    """Kinds of shader memory that the dump has, each once."""
    blocks: list[DataBlock] = context.dump.shader_blocks
    return list(dict.fromkeys([block.name for block in blocks]))


#: Packets at which the CP waits, and what for.
WAITS = {
    "CP_WAIT_FOR_IDLE": "until the GPU has finished everything that was sent",
    "CP_WAIT_FOR_ME": "until the ME has executed all packets before it",
    "CP_WAIT_MEM_WRITES": "until the CP's writes to memory have arrived",
    "CP_WAIT_REG_MEM": "for a value in a register or in memory",
    "CP_WAIT_REG_EQ": "for a value in a register",
    "CP_WAIT_MEM_GTE": "for a value in memory",
    "CP_WAIT_TWO_REGS": "for the values of two registers",
    "CP_WAIT_TIMESTAMP": "for a timestamp",
    "CP_THREAD_CONTROL": "for the other thread, where it synchronises them",
    "CP_BV_BR_COUNT_OPS": "for the other of the threads BV and BR",
}

_REG_MEM = Fields(
    "CP_WAIT_REG_MEM",
    "FUNCTION",
    "SIGNED_COMPARE",
    "POLL",
    "POLL_ADDR",
    "REF",
    "MASK",
)
_MEM_GTE = Fields("CP_WAIT_MEM_GTE", "POLL_ADDR", "REF")
_TWO_REGS = Fields("CP_WAIT_TWO_REGS", "REG0", "REG1", "REF")
_TIMESTAMP = Fields("CP_WAIT_TIMESTAMP", "WAIT_VALUE_SRC", "WAIT_DST")
_TIMESTAMP_IN_MEMORY = Fields("CP_WAIT_TIMESTAMP", "ADDR", "SRC_0", variant="TS_WAIT_RAM")

_FUNCTIONS: dict[int, tuple[str, Callable[[int, int], bool]]] = {
    0: ("always", lambda _value, _reference: True),
    1: ("<", operator.lt),
    2: ("<=", operator.le),
    3: ("==", operator.eq),
    4: ("!=", operator.ne),
    5: (">=", operator.ge),
    6: (">", operator.gt),
}

_EQUAL, _AT_LEAST = 3, 5
_POLL_REGISTER, _POLL_MEMORY, _POLL_ON_CHIP = 0, 1, 3
_ALL_BITS = 0xFFFFFFFF

#: ts_wait_value_src, ts_wait_type.
_TIMESTAMP_32BIT, _IN_MEMORY = 0, 0


@dataclass(slots=True, frozen=True)
class Wait:
    """What a wait is for. ``place``: of the value, in words; ``address``: in memory, else None.

    ``value``: that of the dump, None where it has none. ``is_met``: whether it ends the wait.
    """

    place: str
    condition: str
    value: int | None
    address: int | None
    line: int | None
    is_met: bool | None

    def __str__(self) -> str:
        return f"{self.place} {self.condition}; {_now(self.value)}"


@dataclass(slots=True, frozen=True)
class RegistersWait(Wait):
    """A wait for two registers; ``value`` is the first one's, ``other`` the second one's."""

    other: int | None

    def __str__(self) -> str:
        return f"{self.place} {self.condition}; {_now(self.value)} and {_now(self.other)}"


def _now(value: int | None) -> str:
    return "the dump does not have it" if value is None else f"it is {value:#x}"


def wait_of(context: CrashContext, packet: CpPacket) -> Wait | None:
    """What a packet waits for; None for a packet that does not poll, or is truncated."""
    machine = context.machine
    if machine is None or len(packet.values) < packet.dwords - 1:
        return None
    values = [*packet.values, *[0] * 8]
    if packet.name == "CP_WAIT_REG_EQ":
        # not described; KGSL (a3xx_wait_reg) and fd2_draw.c write register, value, mask, interval
        register, reference, mask = values[:3]
        return _poll(context, (_EQUAL, 0), _POLL_REGISTER, register, reference, mask)
    if not machine.is_64bit:
        return None
    if packet.name == "CP_WAIT_REG_MEM":
        function, is_signed, poll, place, reference, mask = machine.packets[_REG_MEM].read(values)
        return _poll(context, (function, is_signed), poll, place, reference, mask)
    if packet.name == "CP_WAIT_MEM_GTE":
        place, reference = machine.packets[_MEM_GTE].read(values)
        return _poll(context, (_AT_LEAST, 1), _POLL_MEMORY, place, reference, _ALL_BITS)
    if packet.name == "CP_WAIT_TWO_REGS":
        return _two_registers(context, *machine.packets[_TWO_REGS].read(values))
    if packet.name == "CP_WAIT_TIMESTAMP":
        source, kind = machine.packets[_TIMESTAMP].read(values)
        if (source, kind) == (_TIMESTAMP_32BIT, _IN_MEMORY):
            place, reference = machine.packets[_TIMESTAMP_IN_MEMORY].read(values)
            return _poll(context, (_AT_LEAST, 1), _POLL_MEMORY, place, reference, _ALL_BITS)
    return None


def _two_registers(context: CrashContext, first: int, second: int, reference: int) -> Wait:
    """Until the first one is not 0, or the second one is not ``reference``."""
    assert context.machine is not None
    text = RegisterText(context.machine.database)
    place = f"register {text.name(first)} != 0x0 or {text.name(second)}"
    found = context.dump.registers.get(first)
    value, other = context.dump.value(first), context.dump.value(second)
    is_met: bool | None = bool(value) or (other is not None and other != reference)
    if not is_met and None in (value, other):
        is_met = None
    return RegistersWait(
        place,
        f"!= {reference:#x}",
        value,
        None,
        None if found is None else found[1],
        is_met,
        other,
    )


def _poll(
    context: CrashContext,
    comparison: tuple[int, int],
    poll: int,
    place: int,
    reference: int,
    mask: int,
) -> Wait | None:
    function, is_signed = comparison
    sign, compare = _FUNCTIONS.get(function, ("?", None))
    masked = "" if mask == _ALL_BITS else f"& {mask:#x} "
    condition = f"{masked}{sign} {_signed(reference) if is_signed else reference:#x}"
    value: int | None = None
    line = address = None
    if poll == _POLL_REGISTER and context.machine is not None:
        text = RegisterText(context.machine.database)
        name = f"register {text.name(place & 0x3FFFF)}"
        value = context.dump.value(place & 0x3FFFF)
        found = context.dump.registers.get(place & 0x3FFFF)
        line = None if found is None else found[1]
    elif poll == _POLL_MEMORY:
        name, address = f"memory at {place:#x}", place
        found_place = context.place(place)
        if found_place is not None and found_place[1] < found_place[0].count:
            value = found_place[0].get(found_place[1])
    else:
        name = f"on-chip value {place:#x}" if poll == _POLL_ON_CHIP else f"scratch {place:#x}"
    is_met = None
    if value is not None and compare is not None:
        now, wanted = value & mask, reference
        if is_signed:
            now, wanted = _signed(now), _signed(wanted)
        is_met = compare(now, wanted)
    return Wait(name, condition, value, address, line, is_met)


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value
