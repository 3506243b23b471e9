# SPDX-License-Identifier: MIT
"""Draws, blits, dispatches, and events, of which some are draws on some generations.

A direct draw without indices is reported to the sink but not counted. ``draw_values`` decodes all
values of a draw packet, for sinks and analyses alike.
"""

from __future__ import annotations

from cffpy.cp.sink import Draw
from cffpy.frame.draw_values import DrawValues
from cffpy.pm4.reader import Fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.cp.machine import Machine
    from cffpy.cp.runner import Runner
    from cffpy.pm4.reader import Payload

_PRIMITIVES = "pc_di_primtype"
#: What is shown of a draw; ``draw_values`` decodes its other values.
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


#: Older draw packets: they have a dword before the draw initiator.
INITIATOR_IS_SECOND = ("CP_DRAW_INDX", "CP_DRAW_INDX_2", "CP_DRAW_INDX_BIN")

#: Bytes of an index by SMALL_INDEX and INDEX_SIZE of the older draw initiator. Both bits at once
#: are no size.
_OLD_INDEX_BYTES = (2, 4, 1, 0)

_OLD_INITIATOR = (
    "PRIM_TYPE",
    "SOURCE_SELECT",
    "VIS_CULL",
    "INDEX_SIZE",
    "SMALL_INDEX",
    "NUM_INSTANCES",
    "NUM_INDICES",
)
_OLD_DRAW = Fields("CP_DRAW_INDX", *_OLD_INITIATOR, "INDX_BASE", "INDX_SIZE")
_OLD_DRAW_2 = Fields("CP_DRAW_INDX_2", *_OLD_INITIATOR)
_A20X_DRAW = Fields("CP_DRAW_INDX", "NUM_INDICES", variant="A20X")

_INITIATOR = (
    "PRIM_TYPE",
    "SOURCE_SELECT",
    "VIS_CULL",
    "INDEX_SIZE",
    "GS_ENABLE",
    "TESS_ENABLE",
)
_DRAWS = {
    "CP_DRAW_INDX_OFFSET": Fields(
        "CP_DRAW_INDX_OFFSET",
        *_INITIATOR,
        "NUM_INSTANCES",
        "NUM_INDICES",
        "FIRST_INDX",
        "INDX_BASE",
        "INDX_SIZE",
        "MAX_INDICES",
    ),
    "CP_DRAW_INDIRECT": Fields("CP_DRAW_INDIRECT", *_INITIATOR, "INDIRECT"),
    "CP_DRAW_INDX_INDIRECT": Fields("CP_DRAW_INDX_INDIRECT", *_INITIATOR, "INDX_BASE", "INDIRECT"),
    "CP_DRAW_INDIRECT_MULTI": Fields("CP_DRAW_INDIRECT_MULTI", *_INITIATOR, "DRAW_COUNT"),
    "CP_DRAW_AUTO": Fields("CP_DRAW_AUTO", *_INITIATOR, "NUM_INSTANCES"),
}


def draw_values(machine: Machine, name: str, payload: Payload) -> DrawValues:
    """The values of the draw packet ``name``."""
    if name in INITIATOR_IS_SECOND:
        return _old_draw_values(machine, name, payload)
    reader = machine.packets[_DRAWS[name]]
    if payload.count < reader.dwords:  # a draw without indices ends before their address
        values = reader.read([*payload.dwords(), *[0] * reader.dwords])
    else:
        values = payload.read(reader)
    primitive, source, visibility, index_size, geometry, tessellation, *rest = values
    draw = DrawValues()
    draw.initiator = payload[0]
    draw.primitive, draw.source, draw.visibility = primitive, source, visibility
    draw.index_bytes = (1, 2, 4, 0)[index_size]
    if geometry or tessellation:
        draw.has_stages = True
    if name == "CP_DRAW_INDX_OFFSET":
        draw.instances, draw.vertices, draw.first_index, draw.index_base, size, most = rest
        draw.num_indices = rest[1]
        is_in_bytes = machine.gpu.facts.number < 5
        draw.max_indices = size // (draw.index_bytes or 1) if is_in_bytes else most
    elif name == "CP_DRAW_INDIRECT":
        (draw.indirect,) = rest
    elif name == "CP_DRAW_INDX_INDIRECT":
        draw.index_base, draw.indirect = rest
    elif name == "CP_DRAW_INDIRECT_MULTI":
        (draw.draws,) = rest
    else:
        (draw.instances,) = rest
    return draw


def _old_draw_values(machine: Machine, name: str, payload: Payload) -> DrawValues:
    """CP_DRAW_INDX, _2 and _BIN, of a2xx to a4xx; the last begins as the first does."""
    fields = _OLD_DRAW_2 if name == "CP_DRAW_INDX_2" else _OLD_DRAW
    values = payload.read(machine.packets[fields])
    primitive, source, visibility, size, small, instances, vertices, *indices = values
    draw = DrawValues()
    draw.viz_query, draw.initiator = payload[0], payload[1]
    draw.primitive, draw.source, draw.visibility = primitive, source, visibility
    draw.index_bytes = _OLD_INDEX_BYTES[small << 1 | size]
    draw.vertices = draw.num_indices = vertices
    if indices:
        draw.index_base, draw.index_buffer_bytes = indices
        draw.max_indices = indices[1] // (draw.index_bytes or 1)
    draw.instances = instances or 1
    if machine.gpu.facts.has_a20x_draws:
        draw.instances = 1
        (counted,) = payload.read(machine.packets[_A20X_DRAW])
        draw.vertices = counted or vertices
    return draw
