# SPDX-License-Identifier: MIT
"""What a packet of the CP waits for: the register or memory, the value wanted, the value now."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cffpy.pm4.reader import Fields
from cffpy.regdb.register_text import RegisterText

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.analysis.crash.context import CrashContext
    from cffpy.analysis.crash.streams import StandingPacket

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


def wait_of(context: CrashContext, packet: StandingPacket) -> Wait | None:
    """What a packet waits for; None for a packet that does not poll, or is truncated."""
    machine = context.machine
    if machine is None or len(packet.values) < packet.ndwords - 1:
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
