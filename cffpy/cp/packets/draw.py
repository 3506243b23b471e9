# SPDX-License-Identifier: MIT
"""Draws and blits. A direct draw without indices is reported to the sink but not counted."""

from __future__ import annotations

from cffpy.cp.draw_values import draw_values
from cffpy.cp.sink import Draw
from cffpy.pm4.fields import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.cp.runner import Runner
    from cffpy.cp.sink import Payload

_PRIMITIVES = "pc_di_primtype"
_BLIT = Fields("CP_BLIT", "cffdump:OP")


def cp_draw_indx(machine: Runner, payload: Payload, level: int) -> None:
    """CP_DRAW_INDX: draw, maybe with an index buffer (a2xx, a3xx)."""
    _draw_indx(machine, "CP_DRAW_INDX", payload, level)
    machine.state.needs_wfi = True


def cp_draw_indx_2(machine: Runner, payload: Payload, level: int) -> None:
    """CP_DRAW_INDX_2: draw with indices in the packet."""
    _draw_indx(machine, "CP_DRAW_INDX_2", payload, level)


def _draw_indx(machine: Runner, name: str, payload: Payload, level: int) -> None:
    state = machine.state
    values = draw_values(machine, name, payload)
    label = machine.enum_name(_PRIMITIVES, values.cffdump_primitive)
    counted = values.num_indices > 0
    machine.sink.draw(Draw(name, label, values.num_indices, counted, values), payload, level)
    state.draws[state.ib_level] += 1
    if counted:
        state.finish_draw()


def cp_draw_indx_offset(machine: Runner, payload: Payload, level: int) -> None:
    """CP_DRAW_INDX_OFFSET: draw, maybe with an index buffer (a4xx and later)."""
    name = "CP_DRAW_INDX_OFFSET"
    values = draw_values(machine, name, payload)
    label = machine.enum_name(_PRIMITIVES, values.cffdump_primitive)
    counted = values.num_indices > 0
    machine.sink.draw(Draw(name, label, values.num_indices, counted, values), payload, level)
    if counted:
        machine.state.finish_draw()


def cp_draw_indirect(machine: Runner, payload: Payload, level: int) -> None:
    """CP_DRAW_INDIRECT: parameters in memory."""
    _indirect(machine, "CP_DRAW_INDIRECT", payload, level)


def cp_draw_indx_indirect(machine: Runner, payload: Payload, level: int) -> None:
    """CP_DRAW_INDX_INDIRECT: parameters and indices in memory."""
    _indirect(machine, "CP_DRAW_INDX_INDIRECT", payload, level)


def cp_draw_indirect_multi(machine: Runner, payload: Payload, level: int) -> None:
    """CP_DRAW_INDIRECT_MULTI: several draws' parameters in memory."""
    _indirect(machine, "CP_DRAW_INDIRECT_MULTI", payload, level)


def cp_draw_auto(machine: Runner, payload: Payload, level: int) -> None:
    """CP_DRAW_AUTO: as many vertices as transform feedback wrote."""
    _indirect(machine, "CP_DRAW_AUTO", payload, level)


def _indirect(machine: Runner, name: str, payload: Payload, level: int) -> None:
    values = draw_values(machine, name, payload)
    label = machine.enum_name(_PRIMITIVES, values.cffdump_primitive)
    machine.sink.draw(Draw(name, label, 0, True, values), payload, level)
    machine.state.finish_draw()


def cp_blit(machine: Runner, payload: Payload, level: int) -> None:
    """CP_BLIT: a blit by the 2D engine."""
    (operation,) = payload.read(machine.packets[_BLIT])
    label = machine.enum_name("cp_blit_cmd", operation)
    machine.sink.draw(Draw("CP_BLIT", label, 0, True), payload, level)
    machine.state.finish_draw()
