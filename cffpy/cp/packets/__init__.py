# SPDX-License-Identifier: MIT
"""What packets do to the state: one row and one function a packet, named after it.

Packets without a row change nothing that decoding depends on. A row also says what a packet means
for segments (see cffpy.cp.segment). Conditional packets are pure: a sink that follows conditions
uses no segments, and ``Runner.run_block`` ends a segment anyway.
"""

from __future__ import annotations

from cffpy.cp.packets.draw import (
    cp_blit,
    cp_draw_auto,
    cp_draw_indirect,
    cp_draw_indirect_multi,
    cp_draw_indx,
    cp_draw_indx_2,
    cp_draw_indx_indirect,
    cp_draw_indx_offset,
    cp_event_write,
    cp_exec_cs,
    cp_exec_cs_indirect,
    cp_run_opencl,
    draw_auto,
    draw_indirect,
    draw_indirect_multi,
    draw_indx,
    draw_indx_2,
    draw_indx_indirect,
    draw_indx_offset,
    is_resolve,
)
from cffpy.cp.packets.mode import (
    cp_set_bin,
    cp_set_marker,
    cp_skip_ib2_enable_global,
    cp_skip_ib2_enable_local,
    cp_thread_control,
    cp_wait_for_idle,
    is_marker,
    wait_for_idle,
)
from cffpy.cp.packets.registers import (
    adds_to_register,
    context_reg_bunch,
    context_reg_bunch2,
    cp_context_reg_bunch,
    cp_context_reg_bunch2,
    cp_mem_write,
    cp_reg_rmw,
    cp_reg_write,
    cp_set_constant,
    cp_set_draw_state,
    cp_wide_reg_write,
    draw_state_groups,
    reg_write,
)
from cffpy.cp.packets.streams import (
    cond_exec_dwords,
    cond_reg_exec_dwords,
    cp_compute_checkpoint,
    cp_cond_exec,
    cp_cond_reg_exec,
    cp_fixed_stride_draw_table,
    cp_indirect_buffer,
    cp_set_amble,
    cp_set_render_mode,
    cp_start_bin,
)
from cffpy.cp.runner import DecodesOnce, Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.cp.machine import Machine
    from cffpy.cp.runner import Handler, Runner
    from cffpy.cp.sink import Draw
    from cffpy.pm4.reader import Payload


def _always(_machine: Runner, _payload: Payload) -> bool:
    return True


def _ending(handler: Handler, once: DecodesOnce | None = None) -> Row:
    return Row(handler, ends_segment=_always, once=once)


def _drawing(
    handler: Handler,
    draw: Callable[[Machine, Payload], Draw] | None = None,
    equal_draws: bool = False,
    is_of_packet: bool = False,
) -> Row:
    once = None if draw is None else DecodesOnce(draw, None, None, None, equal_draws, is_of_packet)
    return Row(handler, loads_groups=True, ends_segment=_always, once=once)


def _effect(handler: Handler, once: DecodesOnce | None = None) -> Row:
    return Row(handler, has_effect=True, once=once)


#: A packet by name.
TABLE = {
    "CP_NOP": Row(None, ends_segment=is_marker),
    "CP_INDIRECT_BUFFER": _ending(cp_indirect_buffer),
    "CP_INDIRECT_BUFFER_PFD": _ending(cp_indirect_buffer),
    "CP_START_BIN": _ending(cp_start_bin),
    "CP_FIXED_STRIDE_DRAW_TABLE": _ending(cp_fixed_stride_draw_table),
    "CP_SET_AMBLE": _ending(cp_set_amble),
    "CP_SET_RENDER_MODE": _ending(cp_set_render_mode),
    "CP_COMPUTE_CHECKPOINT": _ending(cp_compute_checkpoint),
    "CP_SET_DRAW_STATE": _effect(cp_set_draw_state, DecodesOnce(groups=draw_state_groups)),
    "CP_DRAW_INDX": _drawing(cp_draw_indx, draw_indx, is_of_packet=True),
    "CP_DRAW_INDX_2": _drawing(cp_draw_indx_2, draw_indx_2, is_of_packet=True),
    "CP_DRAW_INDX_OFFSET": _drawing(cp_draw_indx_offset, draw_indx_offset, equal_draws=True),
    "CP_DRAW_INDIRECT": _drawing(cp_draw_indirect, draw_indirect),
    "CP_DRAW_INDX_INDIRECT": _drawing(cp_draw_indx_indirect, draw_indx_indirect),
    "CP_DRAW_INDIRECT_MULTI": _drawing(cp_draw_indirect_multi, draw_indirect_multi),
    "CP_DRAW_AUTO": _drawing(cp_draw_auto, draw_auto, equal_draws=True),
    "CP_BLIT": _ending(cp_blit),
    "CP_EXEC_CS": _drawing(cp_exec_cs),
    "CP_EXEC_CS_INDIRECT": _drawing(cp_exec_cs_indirect),
    "CP_RUN_OPENCL": _ending(cp_run_opencl),
    "CP_EVENT_WRITE": Row(cp_event_write, ends_segment=is_resolve),
    "CP_EVENT_WRITE7": Row(cp_event_write, ends_segment=is_resolve),
    "CP_COND_EXEC": Row(cp_cond_exec, once=DecodesOnce(skips=cond_exec_dwords)),
    "CP_COND_REG_EXEC": Row(cp_cond_reg_exec, once=DecodesOnce(skips=cond_reg_exec_dwords)),
    "CP_MEM_WRITE": _ending(cp_mem_write),
    "CP_SET_CONSTANT": Row(cp_set_constant, ends_segment=adds_to_register),
    "CP_REG_RMW": _ending(cp_reg_rmw),
    "CP_REG_WRITE": _ending(cp_reg_write, DecodesOnce(writes=reg_write)),
    "CP_WIDE_REG_WRITE": _ending(cp_wide_reg_write),
    "CP_CONTEXT_REG_BUNCH": _ending(cp_context_reg_bunch, DecodesOnce(writes=context_reg_bunch)),
    "CP_CONTEXT_REG_BUNCH2": _ending(cp_context_reg_bunch2, DecodesOnce(writes=context_reg_bunch2)),
    "CP_SET_MARKER": _effect(cp_set_marker),
    "CP_SET_BIN": _effect(cp_set_bin),
    "CP_THREAD_CONTROL": _effect(cp_thread_control),
    "CP_SKIP_IB2_ENABLE_GLOBAL": _effect(cp_skip_ib2_enable_global),
    "CP_SKIP_IB2_ENABLE_LOCAL": _effect(cp_skip_ib2_enable_local),
    "CP_WAIT_FOR_IDLE": _effect(cp_wait_for_idle, DecodesOnce(writes=wait_for_idle)),
}
