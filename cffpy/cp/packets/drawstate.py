# SPDX-License-Identifier: MIT
"""Draw-state groups: CP_SET_DRAW_STATE."""

from __future__ import annotations

from cffpy.cp.state import (
    GROUP_DISABLE,
    GROUP_DISABLE_ALL,
    GROUP_LOAD_IMMEDIATE,
    DrawStateGroup,
)
from cffpy.pm4.layouts import DRAW_STATE_GROUP_32, DRAW_STATE_GROUP_64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Payload


def cp_set_draw_state(machine: Machine, payload: Payload, level: int) -> None:
    """CP_SET_DRAW_STATE: set, disable or at once load groups, entry by entry."""
    layout = DRAW_STATE_GROUP_64 if machine.is_64bit else DRAW_STATE_GROUP_32
    groups = machine.state.groups
    for position in range(0, payload.captured, layout.dwords):
        ndwords, flags, enable_mask, group_id, gpuaddr = payload.read(layout, position)
        if flags & GROUP_DISABLE_ALL:
            machine.disable_groups()
        elif flags & GROUP_DISABLE:
            groups[group_id] = None
        else:
            group = DrawStateGroup(group_id, enable_mask, flags, ndwords, gpuaddr)
            groups[group_id] = group
            if flags & GROUP_LOAD_IMMEDIATE:
                machine.load_group(group, level)
                groups[group_id] = None
