# SPDX-License-Identifier: MIT
"""Packets that point at further commands."""

from __future__ import annotations

from cffpy.cp.sink import NestedStream
from cffpy.pm4.reader import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.cp.runner import Runner
    from cffpy.cp.sink import Payload

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
