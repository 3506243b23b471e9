# SPDX-License-Identifier: MIT
"""What packets do to the state: one row and one function a packet, named after it.

Packets without a row change nothing that decoding depends on. A handler that reads registers, tells
the sink of a draw or descends into a stream ends the segment that is recorded before it does so
(``Machine.break_segment``, see cffpy.cp.segment).
"""

from __future__ import annotations

from cffpy.cp.packets.compute import cp_exec_cs, cp_exec_cs_indirect, cp_run_opencl
from cffpy.cp.packets.conditional import cp_cond_exec, cp_cond_reg_exec
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
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Payload

    #: What it returns, if anything: how many dwords behind the packet ran within it.
    Handler = Callable[[Machine, Payload, int], int | None]


class Row(ValueObject):
    """How a packet is handled."""

    __slots__ = ("handler", "is_effect", "loads_groups")

    def __init__(
        self, handler: Handler | None, loads_groups: bool = False, is_effect: bool = False
    ) -> None:
        self.handler = handler
        #: It draws or dispatches: pending draw-state groups are loaded first.
        self.loads_groups = loads_groups
        #: It sets modes or groups and tells the sink nothing: a segment repeats it when replayed.
        self.is_effect = is_effect


#: For packets without a row.
NO_ROW = Row(None)

#: A packet by name.
TABLE = {
    "CP_INDIRECT_BUFFER": Row(cp_indirect_buffer),
    "CP_INDIRECT_BUFFER_PFD": Row(cp_indirect_buffer),
    "CP_START_BIN": Row(cp_start_bin),
    "CP_FIXED_STRIDE_DRAW_TABLE": Row(cp_fixed_stride_draw_table),
    "CP_SET_CTXSWITCH_IB": Row(cp_set_ctxswitch_ib),
    "CP_SET_RENDER_MODE": Row(cp_set_render_mode),
    "CP_COMPUTE_CHECKPOINT": Row(cp_compute_checkpoint),
    "CP_SET_DRAW_STATE": Row(cp_set_draw_state, is_effect=True),
    "CP_DRAW_INDX": Row(cp_draw_indx, loads_groups=True),
    "CP_DRAW_INDX_2": Row(cp_draw_indx_2, loads_groups=True),
    "CP_DRAW_INDX_OFFSET": Row(cp_draw_indx_offset, loads_groups=True),
    "CP_DRAW_INDIRECT": Row(cp_draw_indirect, loads_groups=True),
    "CP_DRAW_INDX_INDIRECT": Row(cp_draw_indx_indirect, loads_groups=True),
    "CP_DRAW_INDIRECT_MULTI": Row(cp_draw_indirect_multi, loads_groups=True),
    "CP_DRAW_AUTO": Row(cp_draw_auto, loads_groups=True),
    "CP_BLIT": Row(cp_blit),
    "CP_EXEC_CS": Row(cp_exec_cs, loads_groups=True),
    "CP_EXEC_CS_INDIRECT": Row(cp_exec_cs_indirect, loads_groups=True),
    "CP_RUN_OPENCL": Row(cp_run_opencl),
    "CP_EVENT_WRITE": Row(cp_event_write),
    "CP_EVENT_WRITE7": Row(cp_event_write),
    "CP_COND_EXEC": Row(cp_cond_exec),
    "CP_COND_REG_EXEC": Row(cp_cond_reg_exec),
    "CP_MEM_WRITE": Row(cp_mem_write),
    "CP_SET_CONSTANT": Row(cp_set_constant),
    "CP_REG_RMW": Row(cp_reg_rmw),
    "CP_REG_WRITE": Row(cp_reg_write),
    "CP_WIDE_REG_WRITE": Row(cp_wide_reg_write),
    "CP_CONTEXT_REG_BUNCH": Row(cp_context_reg_bunch),
    "CP_CONTEXT_REG_BUNCH2": Row(cp_context_reg_bunch2),
    "CP_SET_MARKER": Row(cp_set_marker, is_effect=True),
    "CP_SET_BIN": Row(cp_set_bin, is_effect=True),
    "CP_THREAD_CONTROL": Row(cp_thread_control, is_effect=True),
    "CP_SKIP_IB2_ENABLE_GLOBAL": Row(cp_skip_ib2_enable_global, is_effect=True),
    "CP_SKIP_IB2_ENABLE_LOCAL": Row(cp_skip_ib2_enable_local, is_effect=True),
    "CP_WAIT_FOR_IDLE": Row(cp_wait_for_idle, is_effect=True),
}
