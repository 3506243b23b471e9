# SPDX-License-Identifier: MIT
"""Draws, blits, dispatches, and events, of which some are draws on some generations.

A direct draw without indices is reported to the sink but not counted.
"""

from __future__ import annotations

from cffpy.cp.sink import Draw
from cffpy.pm4.reader import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.cp.machine import Machine
    from cffpy.cp.runner import Runner
    from cffpy.cp.sink import Payload

_PRIMITIVES = "pc_di_primtype"
#: What is shown of a draw: the others of its values are decoded by cffpy.cp.draw_values.
_DRAW_INDX_OFFSET = Fields("CP_DRAW_INDX_OFFSET", "cffdump:PRIM_TYPE", "NUM_INDICES")
_OLD_FIELDS = {
    name: Fields(name, "cffdump:PRIM_TYPE", "NUM_INDICES")
    for name in ("CP_DRAW_INDX", "CP_DRAW_INDX_2")
}
_PRIMITIVE = {
    name: Fields(name, "cffdump:PRIM_TYPE")
    for name in (
        "CP_DRAW_INDIRECT",
        "CP_DRAW_INDX_INDIRECT",
        "CP_DRAW_INDIRECT_MULTI",
        "CP_DRAW_AUTO",
    )
}
_BLIT = Fields("CP_BLIT", "cffdump:OP")


def draw_indx(machine: Machine, payload: Payload) -> Draw:
    """CP_DRAW_INDX: draw, maybe with an index buffer (a2xx, a3xx)."""
    return _old_draw(machine, "CP_DRAW_INDX", payload)


def cp_draw_indx(machine: Runner, payload: Payload, level: int) -> None:
    """A draw with an index buffer, or without, runs (a2xx, a3xx)."""
    _draw_indx(machine, "CP_DRAW_INDX", payload, level)
    machine.state.needs_wfi = True


def draw_indx_2(machine: Machine, payload: Payload) -> Draw:
    """CP_DRAW_INDX_2: draw with indices in the packet."""
    return _old_draw(machine, "CP_DRAW_INDX_2", payload)


def cp_draw_indx_2(machine: Runner, payload: Payload, level: int) -> None:
    """A draw with indices in the packet runs."""
    _draw_indx(machine, "CP_DRAW_INDX_2", payload, level)


def _draw_indx(machine: Runner, name: str, payload: Payload, level: int) -> None:
    state = machine.state
    draw = _old_draw(machine, name, payload)
    machine.sink.draw(draw, payload, level)
    state.draws[state.ib_level] += 1
    if draw.counted:
        state.finish_draw()


def _old_draw(machine: Machine, name: str, payload: Payload) -> Draw:
    primitive, num_indices = payload.read(machine.packets[_OLD_FIELDS[name]])
    return _with_indices(machine, name, primitive, num_indices)


def _with_indices(machine: Machine, name: str, primitive: int, num_indices: int) -> Draw:
    label = machine.enum_name(_PRIMITIVES, primitive)
    return Draw(name, label, num_indices, num_indices > 0)


def draw_indx_offset(machine: Machine, payload: Payload) -> Draw:
    """CP_DRAW_INDX_OFFSET: draw, maybe with an index buffer (a4xx and later)."""
    primitive, num_indices = payload.read(machine.packets[_DRAW_INDX_OFFSET])
    return _with_indices(machine, "CP_DRAW_INDX_OFFSET", primitive, num_indices)


def cp_draw_indx_offset(machine: Runner, payload: Payload, level: int) -> None:
    """A draw with an index buffer, or without, runs."""
    _run(machine, draw_indx_offset(machine, payload), payload, level)


def draw_indirect(machine: Machine, payload: Payload) -> Draw:
    """A draw without indices, whose parameters are in memory."""
    return _without_indices(machine, "CP_DRAW_INDIRECT", payload)


def cp_draw_indirect(machine: Runner, payload: Payload, level: int) -> None:
    """A draw without indices, with parameters in memory, runs."""
    _run(machine, draw_indirect(machine, payload), payload, level)


def draw_indx_indirect(machine: Machine, payload: Payload) -> Draw:
    """CP_DRAW_INDX_INDIRECT: parameters and indices in memory."""
    return _without_indices(machine, "CP_DRAW_INDX_INDIRECT", payload)


def cp_draw_indx_indirect(machine: Runner, payload: Payload, level: int) -> None:
    """A draw with indices, with parameters in memory, runs."""
    _run(machine, draw_indx_indirect(machine, payload), payload, level)


def draw_indirect_multi(machine: Machine, payload: Payload) -> Draw:
    """CP_DRAW_INDIRECT_MULTI: several draws' parameters in memory."""
    return _without_indices(machine, "CP_DRAW_INDIRECT_MULTI", payload)


def cp_draw_indirect_multi(machine: Runner, payload: Payload, level: int) -> None:
    """Several draws, with parameters in memory, run as one."""
    _run(machine, draw_indirect_multi(machine, payload), payload, level)


def draw_auto(machine: Machine, payload: Payload) -> Draw:
    """CP_DRAW_AUTO: as many vertices as transform feedback wrote."""
    return _without_indices(machine, "CP_DRAW_AUTO", payload)


def cp_draw_auto(machine: Runner, payload: Payload, level: int) -> None:
    """A draw of what transform feedback wrote."""
    _run(machine, draw_auto(machine, payload), payload, level)


def _without_indices(machine: Machine, name: str, payload: Payload) -> Draw:
    (primitive,) = payload.read(machine.packets[_PRIMITIVE[name]])
    return Draw(name, machine.enum_name(_PRIMITIVES, primitive), 0, True)


def _run(machine: Runner, draw: Draw, payload: Payload, level: int) -> None:
    machine.sink.draw(draw, payload, level)
    if draw.counted:
        machine.state.finish_draw()


def cp_blit(machine: Runner, payload: Payload, level: int) -> None:
    """CP_BLIT: a blit by the 2D engine."""
    (operation,) = payload.read(machine.packets[_BLIT])
    label = machine.enum_name("cp_blit_cmd", operation)
    machine.sink.draw(Draw("CP_BLIT", label, 0, True), payload, level)
    machine.state.finish_draw()


def cp_exec_cs(machine: Runner, payload: Payload, level: int) -> None:
    """CP_EXEC_CS: dispatch with the group counts of the packet."""
    machine.sink.draw(Draw("CP_EXEC_CS", "compute", 0, True), payload, level)
    machine.state.finish_draw()


def cp_exec_cs_indirect(machine: Runner, payload: Payload, level: int) -> None:
    """CP_EXEC_CS_INDIRECT: dispatch with group counts from memory."""
    machine.sink.draw(Draw("CP_EXEC_CS_INDIRECT", "compute", 0, True), payload, level)
    machine.state.finish_draw()


def cp_run_opencl(machine: Runner, payload: Payload, level: int) -> None:
    """A dispatch of a3xx, whose size is in registers."""
    machine.sink.draw(Draw("CP_RUN_OPENCL", "COMPUTE", 1, True), payload, level)
    machine.state.finish_draw()


_EVENT = Fields("CP_EVENT_WRITE", "EVENT")
_RESOLVES = ("BLIT", "LRZ_CLEAR")


def is_resolve(machine: Runner, payload: Payload) -> bool:
    """Whether an event counts as a draw."""
    return machine.gpu.facts.resolves_are_draws and _event_name(machine, payload) in _RESOLVES


def cp_event_write(machine: Runner, payload: Payload, level: int) -> None:
    """An event, which may resolve or clear and then counts as a draw."""
    name = _event_name(machine, payload)
    machine.sink.event(name, level)
    if machine.gpu.facts.resolves_are_draws and name in _RESOLVES:
        machine.sink.draw(Draw("CP_EVENT_WRITE", f"EVENT:{name}", 0, True), payload, level)
        machine.state.finish_draw()


def _event_name(machine: Runner, payload: Payload) -> str | None:
    (event,) = payload.read(machine.packets[_EVENT])
    return machine.enum_name("vgt_event_type", event)
