# SPDX-License-Identifier: MIT
"""Packets that point at further commands, or make the dwords after them conditional.

The reference runs conditional dwords unconditionally. A sink may choose to run them as a block,
whose effects may be discarded. A packet that is too short to contain the number of dwords is
ignored.
"""

from __future__ import annotations

from cffpy.cp.machine import UNDER_TOO_MANY_CONDITIONS
from cffpy.cp.sink import DISCARDED, INLINE, NestedStream
from cffpy.pm4.reader import OPCODE, Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.cp.machine import Machine
    from cffpy.cp.runner import Runner
    from cffpy.cp.sink import BlockOutcome
    from cffpy.pm4.reader import Payload

_INDIRECT_BUFFER = Fields("CP_INDIRECT_BUFFER", "IB_BASE", "IB_SIZE")
_START_BIN = Fields("CP_START_BIN", "BIN_COUNT", "PREFIX_ADDR", "PREFIX_DWORDS")
_FIXED_STRIDE_DRAW_TABLE = Fields("CP_FIXED_STRIDE_DRAW_TABLE", "IB_BASE", "STRIDE", "COUNT")
_SET_AMBLE = Fields("CP_SET_AMBLE", "ADDR", "cffdump:DWORDS")
_SET_RENDER_MODE = Fields("CP_SET_RENDER_MODE", "cffdump:MODE", "ADDR_0", "ADDR_1", "ADDR_1_LEN")
_COMPUTE_CHECKPOINT = Fields("CP_COMPUTE_CHECKPOINT", "ADDR_1", "ADDR_1_LEN", "cffdump:LONG_LEN")

#: Dwords of CP_SET_RENDER_MODE without its second address, and with neither; of the long form of
#: CP_COMPUTE_CHECKPOINT.
_ONE_ADDRESS, _NO_ADDRESS = 5, 1
_LONG_CHECKPOINT = 8


def cp_indirect_buffer(machine: Runner, payload: Payload, level: int) -> None:
    """CP_INDIRECT_BUFFER and CP_INDIRECT_BUFFER_PFD: run an IB."""
    gpuaddr, ndwords = payload.read(machine.packets[_INDIRECT_BUFFER])
    wanted = machine.sink.indirect_buffer(gpuaddr, ndwords, level)
    # a sink that runs streams once ends a recursion, as the reference does
    once = machine.runs_streams_once
    if wanted and not machine.descend(gpuaddr, ndwords, level, may_recur=once):
        machine.miss(gpuaddr, ndwords, reported=True)
        machine.sink.missing_stream(gpuaddr, ndwords)


def cp_start_bin(machine: Runner, payload: Payload, level: int) -> None:
    """CP_START_BIN: consecutive blocks of commands, one a bin."""
    count, gpuaddr, ndwords = payload.read(machine.packets[_START_BIN])
    _run_blocks(machine, "bin", gpuaddr, ndwords, count, level)


def cp_fixed_stride_draw_table(machine: Runner, payload: Payload, level: int) -> None:
    """CP_FIXED_STRIDE_DRAW_TABLE: consecutive blocks of commands, one a draw."""
    # cffdump: cp_fixed_stride_draw_table takes STRIDE for the size of a block, not IB_SIZE
    # (mesa 25.0.7)
    gpuaddr, ndwords, count = payload.read(machine.packets[_FIXED_STRIDE_DRAW_TABLE])
    _run_blocks(machine, "draw", gpuaddr, ndwords, count, level)


def _run_blocks(
    machine: Runner, name: str, gpuaddr: int, ndwords: int, count: int, level: int
) -> None:
    place = machine.image.place(gpuaddr)
    if place is None:
        machine.miss(gpuaddr, ndwords, reported=True)
        machine.sink.missing_stream(gpuaddr, ndwords)
        return
    words, index = place
    machine.state.ib_level += 1
    wanted = count
    if not ndwords:
        count = min(count, machine.limits.elements)
    if count < wanted:
        text = f"of {wanted} empty blocks at {gpuaddr:#x} only {count} are counted out"
        machine.problems.truncate("elements", text)
    for number in range(count):
        if index >= words.count:
            machine.problems.damaged(
                f"only {number} of the {count} blocks at {gpuaddr:#x} were captured"
            )
            break
        machine.sink.numbered_stream(name, number, level)
        machine.run(words, index, ndwords, level)
        if machine.nesting.is_exhausted(len(machine.streams) - machine.blocks):
            break
        index += ndwords
    machine.state.ib_level -= 1


def cp_set_amble(machine: Runner, payload: Payload, level: int) -> None:
    """CP_SET_AMBLE: commands for context switches; they run on the packet's own level.

    Only for sinks that follow them (``Sink.follows_ambles``).
    """
    gpuaddr, ndwords = payload.read(machine.packets[_SET_AMBLE])
    stream = NestedStream(gpuaddr, ndwords)
    if machine.sink.nested_stream("CP_SET_AMBLE", stream, payload, level):
        place = machine.image.place(gpuaddr)
        if place is None:
            machine.miss(gpuaddr, ndwords)
        else:
            machine.run(*place, ndwords, level + 1)


def cp_set_render_mode(machine: Runner, payload: Payload, level: int) -> None:
    """CP_SET_RENDER_MODE (a5xx): the mode, and commands in the long form of the packet."""
    mode, saved, gpuaddr, ndwords = payload.read(machine.packets[_SET_RENDER_MODE])
    machine.state.render_mode = machine.enum_name("render_mode_cmd", mode)
    if payload.count == _NO_ADDRESS:
        stream = NestedStream(None, 0)
    elif payload.count == _ONE_ADDRESS:
        stream = NestedStream(None, 0, saved)
    else:
        stream = NestedStream(gpuaddr, ndwords, saved)
    _run_and_show(machine, "CP_SET_RENDER_MODE", stream, payload, level)


def cp_compute_checkpoint(machine: Runner, payload: Payload, level: int) -> None:
    """CP_COMPUTE_CHECKPOINT (a5xx): commands to save and restore a dispatch."""
    gpuaddr, ndwords, long_length = payload.read(machine.packets[_COMPUTE_CHECKPOINT])
    stream = NestedStream(gpuaddr, long_length if payload.count == _LONG_CHECKPOINT else ndwords)
    _run_and_show(machine, "CP_COMPUTE_CHECKPOINT", stream, payload, level)


def _run_and_show(
    machine: Runner, name: str, stream: NestedStream, payload: Payload, level: int
) -> None:
    wanted = machine.sink.nested_stream(name, stream, payload, level)
    gpuaddr, ndwords = stream.gpuaddr, stream.ndwords
    if not wanted or gpuaddr is None:
        return
    place = machine.image.place(gpuaddr)
    if place is None:
        machine.miss(gpuaddr, ndwords)
    else:
        machine.descend(gpuaddr, ndwords, level + 1)
        machine.sink.nested_stream_done(name, *place, ndwords, level + 1)


_COND_REG_EXEC = Fields("CP_COND_REG_EXEC", "1.DWORDS", "2.DWORDS")
_COND_EXEC = Fields("CP_COND_EXEC", "DWORDS")

#: Blocks within blocks that are run at most.
MAX_BLOCKS = 32


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
    """Run the ``ndwords`` after a packet as a block. Returns its dwords, and dwords beyond its end.

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
