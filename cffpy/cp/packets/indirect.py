# SPDX-License-Identifier: MIT
"""Packets that point at further commands."""

from __future__ import annotations

from cffpy.pm4.layouts import (
    COMPUTE_CHECKPOINT,
    FIXED_STRIDE_DRAW_TABLE,
    INDIRECT_BUFFER_32,
    INDIRECT_BUFFER_64,
    SET_AMBLE,
    SET_RENDER_MODE,
    START_BIN,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Payload


def cp_indirect_buffer(machine: Machine, payload: Payload, level: int) -> None:
    """CP_INDIRECT_BUFFER and CP_INDIRECT_BUFFER_PFD: run an IB."""
    layout = INDIRECT_BUFFER_64 if machine.is_64bit else INDIRECT_BUFFER_32
    gpuaddr, ndwords = payload.read(layout)
    wanted = machine.sink.indirect_buffer(gpuaddr, ndwords, level)
    # a sink that runs streams once ends a recursion, as the reference does
    once = machine.runs_streams_once
    if wanted and not machine.descend(gpuaddr, ndwords, level, may_recur=once):
        machine.miss(gpuaddr, ndwords, reported=True)
        machine.sink.missing_stream(gpuaddr, ndwords)


def cp_start_bin(machine: Machine, payload: Payload, level: int) -> None:
    """CP_START_BIN: blocks of commands, one a bin, one behind the other."""
    count, gpuaddr, ndwords = payload.read(START_BIN)
    _run_blocks(machine, "bin", gpuaddr, ndwords, count, level)


def cp_fixed_stride_draw_table(machine: Machine, payload: Payload, level: int) -> None:
    """CP_FIXED_STRIDE_DRAW_TABLE: blocks of commands, one a draw, one behind the other."""
    gpuaddr, _, ndwords, count = payload.read(FIXED_STRIDE_DRAW_TABLE)
    _run_blocks(machine, "draw", gpuaddr, ndwords, count, level)


def _run_blocks(
    machine: Machine, name: str, gpuaddr: int, ndwords: int, count: int, level: int
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


def cp_set_ctxswitch_ib(machine: Machine, payload: Payload, level: int) -> None:
    """CP_SET_CTXSWITCH_IB: commands for context switches; they run on the packet's own level."""
    gpuaddr, ndwords = payload.read(SET_AMBLE)
    if machine.sink.nested_stream("CP_SET_CTXSWITCH_IB", payload, level):
        place = machine.image.place(gpuaddr)
        if place is None:
            machine.miss(gpuaddr, ndwords)
        else:
            machine.run(*place, ndwords, level + 1)


def cp_set_render_mode(machine: Machine, payload: Payload, level: int) -> None:
    """CP_SET_RENDER_MODE (a5xx): the mode, and commands in the long form of the packet."""
    mode, _, _, _, ndwords, gpuaddr = payload.read(SET_RENDER_MODE)
    machine.state.render_mode = machine.enum_name("render_mode_cmd", mode)
    wanted = machine.sink.nested_stream("CP_SET_RENDER_MODE", payload, level)
    if wanted and payload.count not in (1, 5):
        _run_and_show(machine, "CP_SET_RENDER_MODE", gpuaddr, ndwords, level)


def cp_compute_checkpoint(machine: Machine, payload: Payload, level: int) -> None:
    """CP_COMPUTE_CHECKPOINT (a5xx): commands to save and restore a dispatch."""
    _, _, _, ndwords, gpuaddr, tail = payload.read(COMPUTE_CHECKPOINT)
    if payload.count == 8:
        ndwords = tail
    if machine.sink.nested_stream("CP_COMPUTE_CHECKPOINT", payload, level):
        _run_and_show(machine, "CP_COMPUTE_CHECKPOINT", gpuaddr, ndwords, level)


def _run_and_show(machine: Machine, name: str, gpuaddr: int, ndwords: int, level: int) -> None:
    place = machine.image.place(gpuaddr)
    if place is None:
        machine.miss(gpuaddr, ndwords)
    else:
        machine.descend(gpuaddr, ndwords, level + 1)
        machine.sink.nested_stream_done(name, *place, ndwords, level + 1)
