# SPDX-License-Identifier: MIT
"""Draws, blits and dispatches: parameters, then the register summary.

cffdump: draw_indx_common, cp_draw_indx and similar, print_mode (mesa 25.0.7).
"""

from __future__ import annotations

import struct

from cffpy.c_numbers import signed32
from cffpy.cp.packets.draw import draw_values
from cffpy.cp.sink import Draw
from cffpy.limits import hint
from cffpy.pm4.reader import Fields, Payload
from cffpy.views.cffdump.descriptors import dump_bindless_descriptors
from cffpy.views.cffdump.quirks import LEVELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.capture.memory import Words
    from cffpy.views.cffdump.summary import Summary
    from cffpy.views.cffdump.view import View

_OLD_FIELDS = {
    name: Fields(name, "cffdump:PRIM_TYPE", "SOURCE_SELECT")
    for name in ("CP_DRAW_INDX", "CP_DRAW_INDX_2")
}
_INDIRECT = Fields("CP_DRAW_INDIRECT", "cffdump:INDIRECT")
_INDX_INDIRECT = Fields("CP_DRAW_INDX_INDIRECT", "INDX_BASE", "INDIRECT")
_INDX_INDIRECT_64 = Fields("CP_DRAW_INDX_INDIRECT", "cffdump:INDX_BASE", "cffdump:INDIRECT")
_EXEC_CS_INDIRECT = Fields("CP_EXEC_CS_INDIRECT", "ADDR")
_EXEC_CS_INDIRECT_64 = Fields("CP_EXEC_CS_INDIRECT", "cffdump:ADDR")

#: Dwords shown of indirect parameters.
_PARAMETERS = 0x10

#: cffdump: cp_draw_indirect_multi: draws shown when the count is not known, and the count from
#: which on it counts as garbage (mesa 25.0.7)
_UNKNOWN_COUNT, _GARBAGE_COUNT = 0x100, 0x10000

_WITHOUT_DESCRIPTORS = ("CP_RUN_OPENCL", "CP_BLIT", "CP_EVENT_WRITE")


def show_draw(view: View, summary: Summary, draw: Draw, payload: Payload, level: int) -> None:
    """Print a draw, after the packet's fields."""
    if draw.name == "CP_EXEC_CS_INDIRECT":
        _exec_cs_indirect(view, payload, level)
    if summary.queried or view.options.query_compare:
        summary.print_query(draw.label, draw.num_indices)
    if draw.name in ("CP_DRAW_INDX", "CP_DRAW_INDX_2"):
        _draw_indx(view, draw, payload, level)
    elif not draw.is_compute:
        _print_mode(view, level)
        if draw.name == "CP_DRAW_INDIRECT":
            _draw_indirect(view, payload, level)
        elif draw.name == "CP_DRAW_INDX_INDIRECT":
            _draw_indx_indirect(view, payload, level)
        elif draw.name == "CP_DRAW_INDIRECT_MULTI":
            _draw_indirect_multi(view, payload, level)
    if draw.counted:
        if draw.name not in _WITHOUT_DESCRIPTORS:
            dump_bindless_descriptors(view, draw.is_compute, level)
        summary.print_registers(level)


def _print_mode(view: View, level: int) -> None:
    if view.quiet2 or not view.machine.gpu.facts.has_render_modes:
        return
    state = view.machine.state
    tabs = LEVELS[level]
    thread = f":{state.thread}" if state.thread else ""
    view.put(
        f"{tabs}mode: {state.render_mode or '(null)'}{thread}\n"
        f"{tabs}skip_ib2: g={state.skip_ib2_global:d}, l={state.skip_ib2_local:d}\n"
    )


def _draw_indx(view: View, draw: Draw, payload: Payload, level: int) -> None:
    if view.quiet2:
        return
    machine = view.machine
    state = machine.state
    primitive, source = payload.read(machine.packets[_OLD_FIELDS[draw.name]])
    source_name = view.decoder.enum_name("pc_di_src_sel", source)
    tabs = LEVELS[level]
    view.put(
        f"{tabs}draw:          {state.draws[state.ib_level]}\n"
        f"{tabs}prim_type:     {draw.label or '(null)'} ({primitive})\n"
        f"{tabs}source_select: {source_name or '(null)'} ({source})\n"
        f"{tabs}num_indices:   {signed32(draw.num_indices)}\n"
    )
    if draw.name == "CP_DRAW_INDX_2":
        num_indices = draw.num_indices
        width = draw_values(machine, draw.name, payload).index_bytes
        _indices(view, payload.words, payload.index + 3, width, num_indices, level)
        # cffdump: cp_draw_indx_2 has the size in an int (mesa 25.0.7)
        dwords = int(signed32(num_indices * width & 0xFFFFFFFF) / 4)
        view.hex(payload.words, payload.index + 3, dwords, level + 1)
    elif payload.count == 5:
        values = draw_values(machine, draw.name, payload)
        width = values.index_bytes
        gpuaddr, size = values.index_base or 0, values.index_buffer_bytes or 0
        view.put(f"{tabs}gpuaddr:       {gpuaddr:08x}\n{tabs}idx_size:      {signed32(size)}\n")
        place = machine.image.place(gpuaddr)
        if place is not None:
            _indices(view, *place, width, size // width if width else 0, level)
            view.hex(*place, size // 4, level + 1)


def _indices(view: View, words: Words, index: int, width: int, count: int, level: int) -> None:
    shown = ""
    if width:
        code = words.bytes_from(index, count * width)
        whole = code[: len(code) // width * width]
        numbers = struct.iter_unpack({1: "<B", 2: "<H", 4: "<I"}[width], whole)
        shown = "".join([f" {number}" for (number,) in numbers])
    view.put(f"{LEVELS[level]}idxs:         {shown}\n")


def _draw_indirect(view: View, payload: Payload, level: int) -> None:
    (gpuaddr,) = payload.read(view.machine.packets[_INDIRECT])
    view.address_hex(gpuaddr, level, _PARAMETERS, view.quiet2)


def _draw_indx_indirect(view: View, payload: Payload, level: int) -> None:
    fields = _INDX_INDIRECT_64 if view.is_64bit else _INDX_INDIRECT
    for gpuaddr in payload.read(view.machine.packets[fields]):
        view.address_hex(gpuaddr, level, _PARAMETERS, view.quiet2)


def _draw_indirect_multi(view: View, payload: Payload, level: int) -> None:
    domain = "CP_DRAW_INDIRECT_MULTI"
    database, variants = view.decoder.database, view.decoder.variants
    count_at = database.offset(domain, "INDIRECT_COUNT", variants)
    draws_at = database.offset(domain, "INDIRECT", variants)
    stride_at = database.offset(domain, "STRIDE", variants)
    image, tabs = view.machine.image, LEVELS[level]
    count = payload[2]
    if count_at:
        limit = _UNKNOWN_COUNT
        place = image.place(payload[count_at] | payload[count_at + 1] << 32)
        if place is not None:
            known = place[0].get(place[1])
            view.put(f"{tabs}indirect count: {known}\n")
            if 0 < known <= _GARBAGE_COUNT:
                limit = known
        count = min(count, limit)
    if not (draws_at and stride_at):
        return
    gpuaddr = payload[draws_at] | payload[draws_at + 1] << 32
    stride = payload[stride_at]
    # the reference shows as many as the packet says
    shown = min(count, view.machine.limits.elements)
    if shown < count:
        packet = f"the packet at {payload.words.address + 4 * (payload.index - 1):#x}"
        view.complain(f"{packet} has {count} indirect draws: {shown} are shown {hint('elements')}")
    for number in range(shown):
        view.put(f"{tabs}draw {number}:\n")
        view.address_hex(gpuaddr, level, _PARAMETERS, view.quiet2)
        view.output.flush_if_full()
        gpuaddr = gpuaddr + stride & 0xFFFFFFFFFFFFFFFF


def _exec_cs_indirect(view: View, payload: Payload, level: int) -> None:
    fields = _EXEC_CS_INDIRECT_64 if view.is_64bit else _EXEC_CS_INDIRECT
    (gpuaddr,) = payload.read(view.machine.packets[fields])
    if not view.quiet3:
        view.put(f"{LEVELS[level]}addr: {gpuaddr:016x}\n")
    view.address_hex(gpuaddr, level, _PARAMETERS, view.quiet2)
