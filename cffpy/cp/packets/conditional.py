# SPDX-License-Identifier: MIT
"""Packets that make the dwords after them conditional.

The reference runs these dwords unconditionally. A sink may choose to run them as a block, whose
effects may be discarded. A packet that is too short to contain the number of dwords is ignored.
"""

from __future__ import annotations

from cffpy.cp.machine import UNDER_TOO_MANY_CONDITIONS
from cffpy.cp.sink import DISCARDED, INLINE
from cffpy.pm4.reader import OPCODE, Fields

_COND_REG_EXEC = Fields("CP_COND_REG_EXEC", "1.DWORDS", "2.DWORDS")
_COND_EXEC = Fields("CP_COND_EXEC", "DWORDS")

#: Blocks within blocks that are run at most.
MAX_BLOCKS = 32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.cp.machine import Machine
    from cffpy.cp.runner import Runner
    from cffpy.cp.sink import BlockOutcome, Payload


def cp_cond_reg_exec(machine: Runner, payload: Payload, level: int) -> int | None:
    """CP_COND_REG_EXEC: by render mode, predicate, thread or a register's value."""
    ndwords = cond_reg_exec_dwords(machine, payload)
    if ndwords is None:
        return None
    return _conditional(machine, "CP_COND_REG_EXEC", payload, ndwords, level)


def cond_reg_exec_dwords(machine: Machine, payload: Payload) -> int | None:
    """The dwords that a CP_COND_REG_EXEC makes conditional; None if it is too short."""
    if payload.count < 2:
        return None
    short, long = payload.read(machine.packets[_COND_REG_EXEC])
    return long if payload.count > 2 else short


def cp_cond_exec(machine: Runner, payload: Payload, level: int) -> int | None:
    """CP_COND_EXEC: by values in memory."""
    ndwords = cond_exec_dwords(machine, payload)
    if ndwords is None:
        return None
    return _conditional(machine, "CP_COND_EXEC", payload, ndwords, level)


def cond_exec_dwords(machine: Machine, payload: Payload) -> int | None:
    """The dwords that a CP_COND_EXEC makes conditional; None if it is too short."""
    reader = machine.packets[_COND_EXEC]
    return payload.read(reader)[0] if payload.count >= reader.dwords else None


def _conditional(
    machine: Runner, name: str, payload: Payload, ndwords: int, level: int
) -> int | None:
    outcome = machine.sink.conditional_block(name, payload, ndwords, level)
    if outcome is INLINE:
        return None
    inside, beyond = _run_apart(machine, payload, ndwords, level - 1, outcome)
    machine.sink.conditional_block_done()
    first = payload.index + payload.count
    if beyond and outcome is DISCARDED and _ends_with_nop(machine, first, inside):
        _run_alternative(machine, first + inside, beyond, level - 1)
    return inside + beyond


def _run_apart(
    machine: Runner, payload: Payload, ndwords: int, level: int, outcome: BlockOutcome
) -> tuple[int, int]:
    """Run the ``ndwords`` after a packet as a block. Returns its dwords, and those beyond its end.

    The last packet is run whole even if it exceeds the block, as in the reference. A block ends
    with its stream at the latest.
    """
    words, start, length = machine.streams[-1]
    index = payload.index + payload.count
    ndwords = min(ndwords, start + length - index)
    state = machine.state
    if outcome is DISCARDED:
        machine.state = state.fork()
    beyond = 0
    if machine.blocks < MAX_BLOCKS:
        beyond = machine.run_block(words, index, ndwords, level)
    else:
        machine.refuse(words.address + 4 * index, UNDER_TOO_MANY_CONDITIONS)
    state.draw_count = machine.state.draw_count
    machine.state = state
    return ndwords, beyond


def _ends_with_nop(machine: Runner, index: int, ndwords: int) -> bool:
    """Whether the last packet of a block is a CP_NOP."""
    words, _, _ = machine.streams[-1]
    end = min(index + ndwords, words.count)
    kind = number = 0
    while index < end:
        kind, number, size = machine.headers[words.data[index]]
        index += max(1, size)
    return kind == OPCODE and machine.packet_names[number] == "CP_NOP"


def _run_alternative(machine: Runner, index: int, ndwords: int, level: int) -> None:
    """Run what is executed instead of a block: the dwords that a CP_NOP at its end skips.

    The reference skips them, too, so draws in them have no numbers.
    """
    words, start, length = machine.streams[-1]
    ndwords = min(ndwords, start + length - index)
    if ndwords <= 0 or machine.blocks >= MAX_BLOCKS:
        return
    count = machine.state.draw_count
    machine.sink.alternative_block(True)
    machine.run_block(words, index, ndwords, level)
    machine.sink.alternative_block(False)
    machine.state.draw_count = count
