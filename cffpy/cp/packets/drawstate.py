# SPDX-License-Identifier: MIT
"""Draw-state groups: CP_SET_DRAW_STATE."""

from __future__ import annotations

from cffpy.cp.state import (
    GROUP_DISABLE,
    GROUP_DISABLE_ALL,
    GROUP_LOAD_IMMEDIATE,
    DrawStateGroup,
)
from cffpy.pm4.reader import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.cp.machine import Machine
    from cffpy.cp.runner import Runner
    from cffpy.cp.sink import Payload


def _entry(group_id: str) -> Fields:
    names = "COUNT", "DIRTY..LOAD_IMMED", "cffdump:ENABLE_MASK", group_id, "ADDR"
    return Fields("CP_SET_DRAW_STATE", *names)


#: One entry of CP_SET_DRAW_STATE; the flags are ``GROUP_DISABLE`` and the others.
DRAW_STATE_ENTRY = _entry("GROUP_ID")
_REFERENCE_ENTRY = _entry("cffdump:GROUP_ID")


def draw_state_groups(machine: Machine, payload: Payload) -> Iterator[DrawStateGroup]:
    """The entries of a CP_SET_DRAW_STATE; their flags say what is done with each."""
    fields = _REFERENCE_ENTRY if machine.reads_as_reference else DRAW_STATE_ENTRY
    entry = machine.packets[fields]
    data, size, start, end = payload.words.data, entry.dwords, payload.index, payload.words.count
    for position in range(0, payload.captured, size):
        index = start + position
        if index + size <= end:  # as Payload.read, without a call for each entry
            ndwords, flags, enable_mask, group_id, gpuaddr = entry.read(data, index)
        else:
            ndwords, flags, enable_mask, group_id, gpuaddr = payload.read(entry, position)
        yield DrawStateGroup(group_id, enable_mask, flags, ndwords, gpuaddr)


def cp_set_draw_state(machine: Runner, payload: Payload, level: int) -> None:
    """CP_SET_DRAW_STATE: set, disable or immediately load groups, entry by entry."""
    groups = machine.state.groups
    for group in draw_state_groups(machine, payload):
        flags, group_id = group.flags, group.group_id
        if flags & GROUP_DISABLE_ALL:
            machine.disable_groups()
        elif flags & GROUP_DISABLE:
            groups[group_id] = None
        else:
            groups[group_id] = group
            if flags & GROUP_LOAD_IMMEDIATE:
                machine.load_group(group, level)
                groups = machine.state.groups  # a sink may have put others there
                groups[group_id] = None
