# SPDX-License-Identifier: MIT
"""What packets do to the state: one row and one function a packet, named after it.

A row is (handler, whether pending draw-state groups are loaded before the packet). Packets without
a row change nothing that decoding depends on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cffpy.cp.packets.compute import cp_exec_cs, cp_exec_cs_indirect, cp_run_opencl
from cffpy.cp.packets.draw import (
    cp_blit,
    cp_draw_auto,
    cp_draw_indirect,
    cp_draw_indirect_multi,
    cp_draw_indx,
    cp_draw_indx_2,
    cp_draw_indx_indirect,
    cp_draw_indx_offset,
)
from cffpy.cp.packets.drawstate import cp_set_draw_state
from cffpy.cp.packets.event import cp_event_write
from cffpy.cp.packets.indirect import (
    cp_compute_checkpoint,
    cp_fixed_stride_draw_table,
    cp_indirect_buffer,
    cp_set_ctxswitch_ib,
    cp_set_render_mode,
    cp_start_bin,
)
from cffpy.cp.packets.memory import cp_mem_write
from cffpy.cp.packets.mode import (
    cp_set_bin,
    cp_set_marker,
    cp_skip_ib2_enable_global,
    cp_skip_ib2_enable_local,
    cp_thread_control,
    cp_wait_for_idle,
)
from cffpy.cp.packets.regwrite import (
    cp_context_reg_bunch,
    cp_context_reg_bunch2,
    cp_reg_rmw,
    cp_reg_write,
    cp_set_constant,
    cp_wide_reg_write,
)

if TYPE_CHECKING:
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Payload

Handler = Callable[["Machine", "Payload", int], None]

#: The name of a packet -> its handler, and whether it draws or dispatches: then pending
#: draw-state groups are loaded first.
TABLE: dict[str, tuple[Handler | None, bool]] = {
    "CP_INDIRECT_BUFFER": (cp_indirect_buffer, False),
    "CP_INDIRECT_BUFFER_PFD": (cp_indirect_buffer, False),
    "CP_START_BIN": (cp_start_bin, False),
    "CP_FIXED_STRIDE_DRAW_TABLE": (cp_fixed_stride_draw_table, False),
    "CP_SET_CTXSWITCH_IB": (cp_set_ctxswitch_ib, False),
    "CP_SET_RENDER_MODE": (cp_set_render_mode, False),
    "CP_COMPUTE_CHECKPOINT": (cp_compute_checkpoint, False),
    "CP_SET_DRAW_STATE": (cp_set_draw_state, False),
    "CP_DRAW_INDX": (cp_draw_indx, True),
    "CP_DRAW_INDX_2": (cp_draw_indx_2, True),
    "CP_DRAW_INDX_OFFSET": (cp_draw_indx_offset, True),
    "CP_DRAW_INDIRECT": (cp_draw_indirect, True),
    "CP_DRAW_INDX_INDIRECT": (cp_draw_indx_indirect, True),
    "CP_DRAW_INDIRECT_MULTI": (cp_draw_indirect_multi, True),
    "CP_DRAW_AUTO": (cp_draw_auto, True),
    "CP_BLIT": (cp_blit, False),
    "CP_EXEC_CS": (cp_exec_cs, True),
    "CP_EXEC_CS_INDIRECT": (cp_exec_cs_indirect, True),
    "CP_RUN_OPENCL": (cp_run_opencl, False),
    "CP_EVENT_WRITE": (cp_event_write, False),
    "CP_EVENT_WRITE7": (cp_event_write, False),
    "CP_MEM_WRITE": (cp_mem_write, False),
    "CP_SET_CONSTANT": (cp_set_constant, False),
    "CP_REG_RMW": (cp_reg_rmw, False),
    "CP_REG_WRITE": (cp_reg_write, False),
    "CP_WIDE_REG_WRITE": (cp_wide_reg_write, False),
    "CP_CONTEXT_REG_BUNCH": (cp_context_reg_bunch, False),
    "CP_CONTEXT_REG_BUNCH2": (cp_context_reg_bunch2, False),
    "CP_SET_MARKER": (cp_set_marker, False),
    "CP_SET_BIN": (cp_set_bin, False),
    "CP_THREAD_CONTROL": (cp_thread_control, False),
    "CP_SKIP_IB2_ENABLE_GLOBAL": (cp_skip_ib2_enable_global, False),
    "CP_SKIP_IB2_ENABLE_LOCAL": (cp_skip_ib2_enable_local, False),
    "CP_WAIT_FOR_IDLE": (cp_wait_for_idle, False),
}
