# SPDX-License-Identifier: MIT
"""What certain packets print after their fields: one row and one function a packet.

Loads (CP_LOAD_STATE, 4 and 6) print shaders, constants, samplers, textures, SSBOs and UBOs. Draws,
blits and dispatches print parameters, then the register summary. CP_SET_CONSTANT of a2xx prints
floats, texture and vertex fetch constants, at every level.

cffdump: cp_nop, cp_reg_mem, cp_im_loadi, cp_mem_write, cp_set_amble, cp_set_render_mode,
cp_compute_checkpoint, cp_load_state, draw_indx_common, cp_draw_indx and similar, print_mode,
cp_set_const, dump_a2xx_tex_const, dump_a2xx_shader_const (mesa 25.0.7).
"""

from __future__ import annotations

import struct

from cffpy.c_numbers import signed32
from cffpy.capture.gpu import BINDLESS_STRIDE
from cffpy.cp.loadstate import (
    BINDLESS,
    CONSTANTS,
    LOAD_STATE_PACKETS,
    PAIRS,
    SAMPLERS,
    SHADER,
    SSBO_0,
    SSBO_1,
    SSBO_2,
    TEXTURES,
    UBO,
    LoadedState,
    loaded_state,
    program_dwords,
    state_place,
)
from cffpy.cp.packets.draw import draw_values
from cffpy.cp.packets.mode import BEGIN, END, MESSAGE, marker_text
from cffpy.limits import hint
from cffpy.pm4.deviations import PREFIX
from cffpy.pm4.reader import Fields, Payload
from cffpy.views.cffdump.descriptors import (
    dump_bindless_descriptors,
    dump_descriptor_target,
    dump_samplers,
    dump_textures,
)
from cffpy.views.cffdump.quirks import LEVELS
from cffpy.views.cffdump.shaders import EXTENSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.capture.memory import MemoryLocation, Words
    from cffpy.cp.sink import Draw, NestedStream
    from cffpy.views.cffdump.summary import Summary
    from cffpy.views.cffdump.view import View

    Detail = Callable[["View", Payload, int], None]

    Nested = Callable[["View", NestedStream, Payload, int], bool]

#: Kinds of state that are structures of a domain.
_DESCRIPTORS = (SAMPLERS, TEXTURES, SSBO_0, SSBO_1, SSBO_2, UBO)


def cp_load_state(view: View, payload: Payload, level: int) -> None:
    """Show the state that a packet loads, from the packet or from memory."""
    if view.quiet2:
        return
    loaded = loaded_state(view.machine, payload)
    place = state_place(view.machine, payload, loaded)
    if place is not None:
        _show(view, loaded, place, level)


def cp_load_state_of_script(view: View, payload: Payload, level: int) -> None:
    """Pass the descriptors that a packet loads to ``View.fields``, also where all is silent."""
    loaded = loaded_state(view.machine, payload)
    if loaded.kind in _DESCRIPTORS:
        place = state_place(view.machine, payload, loaded)
        if place is not None:
            _show(view, loaded, place, level)


def _show(view: View, loaded: LoadedState, place: MemoryLocation, level: int) -> None:
    words, index = place
    kind, units = loaded.kind, loaded.cffdump_units
    facts = view.machine.gpu.facts
    if kind == SHADER:
        dwords = program_dwords(facts.number, units)
        view.shaders.program(words, index, dwords, level + 2)
        extension = EXTENSIONS.get(loaded.stage)
        if extension:
            view.shaders.write_file(extension, words, index, dwords)
    elif kind == CONSTANTS:
        dwords = units * facts.constant_dwords
        view.floats(words, index, dwords, level + 1)
        view.hex(words, index, dwords, level + 1)
    elif kind == SAMPLERS:
        dump_samplers(view, place, units, level, loaded.source == BINDLESS)
    elif kind == TEXTURES:
        dump_textures(view, place, units, level)
    elif kind == SSBO_0:
        # cffdump: cp_load_state takes a6xx's for texture descriptors (mesa 25.0.7)
        domain, dwords = facts.descriptors.get("storage", ("", 4))
        _structures(view, place, domain, dwords, dwords, units, level)
    elif kind == SSBO_1:
        domain, dwords = facts.descriptors.get("storage size", ("", 2))
        _structures(view, place, domain, dwords, dwords, units, level)
    elif kind == SSBO_2:
        _ssbo_2(view, place, units, level)
    elif kind == UBO:
        stride = BINDLESS_STRIDE if loaded.source == BINDLESS else 2
        domain, dwords = facts.descriptors.get("ubo", ("", 2))
        _structures(view, place, domain, dwords, stride, units, level)
    else:
        view.hex(words, index, units * (2 if kind == PAIRS else 1), level + 1)


def _structures(
    view: View,
    place: MemoryLocation,
    domain: str,
    dwords: int,
    stride: int,
    count: int,
    level: int,
) -> None:
    """``count`` structures of ``dwords``, one each ``stride`` dwords: fields and hex."""
    words, index = place
    for _ in range(count):
        if index >= words.count:
            return
        if domain:
            view.fields(domain, words, index, dwords, level + 2)
        view.hex(words, index, dwords, level + 1)
        index += stride


def _ssbo_2(view: View, place: MemoryLocation, count: int, level: int) -> None:
    """Addresses of SSBOs: fields on a5xx only, contents with --textures."""
    words, index = place
    for _ in range(count):
        if index >= words.count:
            return
        if view.generation == 5:
            view.fields("A5XX_SSBO_2", words, index, 2, level + 2)
            view.hex(words, index, 2, level + 1)
        if view.options.textures:
            dump_descriptor_target(view, "A5XX_SSBO_2", (words, index), level)
        index += 2


#: CP_MEM_TO_REG too: for the reference the two are alike.
_REG_TO_MEM = Fields("CP_REG_TO_MEM", "cffdump:REG", "cffdump:CNT", "cffdump:DEST")
_IM_LOAD_IMMEDIATE = Fields("CP_IM_LOAD_IMMEDIATE", "SHADER_TYPE", "SIZE", "START")

#: Dwords shown at the first address of CP_SET_RENDER_MODE.
_SAVED_DWORDS = 64

_A2XX_STAGES = {0: ("vertex", "vo"), 1: ("fragment", "fo")}


def cp_nop(view: View, payload: Payload, level: int) -> None:
    """CP_NOP: markers. The first dword is read even if the packet has none."""
    if view.quiet3:
        return
    marker = payload[0]
    if marker == MESSAGE:
        view.put("### ")
    elif marker == BEGIN:
        view.marker_depth += 1
        view.put(f">>> #{view.marker_depth}: ")
    elif marker == END:
        view.put(f"<<< #{view.marker_depth}: ")
        view.marker_depth -= 1
    else:
        return
    if payload.count > 1:
        view.put(marker_text(payload) + "\n")


def cp_reg_to_mem(view: View, payload: Payload, level: int) -> None:
    """CP_REG_TO_MEM and CP_MEM_TO_REG. The address is read as 64 bits on every generation."""
    register, count, gpuaddr = payload.read(view.machine.packets[_REG_TO_MEM])
    tabs = LEVELS[level]
    if not view.quiet3:
        view.put(f"{tabs}base register: {view.decoder.register_name(register)}\n")
    if not view.quiet2:
        view.put(f"{tabs}gpuaddr:{gpuaddr:016x}\n")
        view.address_hex(gpuaddr, level, count, quiet=False)


def cp_im_load_immediate(view: View, payload: Payload, level: int) -> None:
    """CP_IM_LOAD_IMMEDIATE: an a2xx program in the packet; printed at every level."""
    kind, size, start = payload.read(view.machine.packets[_IM_LOAD_IMMEDIATE])
    stage, extension = _A2XX_STAGES.get(kind, ("<unknown>", None))
    view.put(f"{LEVELS[level]}{stage} shader, start={start:04x}, size={size:04x}\n")
    code = payload.rest(2)
    dwords = max(0, code.captured)
    view.shaders.program_a2xx(code.words, code.index, dwords, level + 2, stage == "fragment")
    if extension:
        view.shaders.write_file(extension, code.words, code.index, dwords)


def cp_mem_write(view: View, stream: NestedStream, data: Payload, level: int) -> bool:
    """CP_MEM_WRITE: hex (64-bit) or floats; hidden, its commands do not run either."""
    if view.quiet2:
        return False
    show, digits = (view.hex, 16) if view.is_64bit else (view.floats, 8)
    view.put(f"{LEVELS[level]}gpuaddr:{stream.gpuaddr:0{digits}x}\n")
    show(data.words, data.index, data.count, level + 1)
    return True


def cp_set_amble(view: View, stream: NestedStream, payload: Payload, level: int) -> bool:
    """CP_SET_AMBLE (mesa 25.3), also of length or address 0."""
    if not view.quiet3:
        view.put(f"{LEVELS[level]}addr={stream.gpuaddr:x}\n")
    return True


def cp_set_render_mode(view: View, stream: NestedStream, payload: Payload, level: int) -> bool:
    """CP_SET_RENDER_MODE: memory at the first address, then the commands at the second."""
    if stream.saved is None:
        return False
    view.address_hex(stream.saved, level + 1, _SAVED_DWORDS, view.quiet3)
    return stream.gpuaddr is not None and _commands(view, stream, payload, level)


def _commands(view: View, stream: NestedStream, payload: Payload, level: int) -> bool:
    """The commands of CP_SET_RENDER_MODE and CP_COMPUTE_CHECKPOINT."""
    if not view.quiet3:
        tabs = LEVELS[level]
        view.put(f"{tabs}addr: 0x{stream.gpuaddr:016x}\n{tabs}len:  0x{stream.ndwords:x}\n")
    return not view.quiet2


#: Packets that print details and do not point at commands.
DETAILS: dict[str, Detail] = {
    "CP_NOP": cp_nop,
    "CP_REG_TO_MEM": cp_reg_to_mem,
    "CP_MEM_TO_REG": cp_reg_to_mem,
    "CP_IM_LOAD_IMMEDIATE": cp_im_load_immediate,
    **dict.fromkeys(LOAD_STATE_PACKETS, cp_load_state),
}

#: Packets that contain or point at commands: print, then return whether to decode these.
NESTED: dict[str, Nested] = {
    "CP_MEM_WRITE": cp_mem_write,
    "CP_SET_AMBLE": cp_set_amble,
    "CP_SET_RENDER_MODE": cp_set_render_mode,
    "CP_COMPUTE_CHECKPOINT": _commands,
}

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


_FLOATS, _FETCH, _BOOLEANS, _LOOPS = range(4)

#: Fetch constants below this index are textures'.
_TEXTURES_END = 0x78

_CLAMPS = ("wrap", "mirror", "clamp-last-texel", "(null)")
_FILTERS = ("point", "bilinear", "bicubic", "(null)")
_SWIZZLE = "xyzw01??"

#: Dwords of vertex data that are shown at most.
_SHOWN_DWORDS = 64

_TEXTURE = Fields(
    "A2XX_SQ_TEX",
    *(PREFIX + name for name in ("CLAMP_X", "CLAMP_Y", "CLAMP_Z", "PITCH", "FLAGS", "FORMAT")),
    *("BASE_ADDRESS", "WIDTH", "HEIGHT", "SWIZ_X", "SWIZ_Y", "SWIZ_Z", "SWIZ_W"),
    *("XY_MAG_FILTER", "XY_MIN_FILTER", "MIP_ADDRESS", PREFIX + "MIP_FLAGS"),
)

_VERTEX_BUFFER = Fields(
    "A2XX_SQ_VTX", *(PREFIX + name for name in ("BASE_ADDRESS", "FORMAT", "SIZE"))
)

_FORMATS = "a2xx_sq_surfaceformat"


def set_constant(view: View, kind: int, index: int, payload: Payload, level: int) -> None:
    """Show constants by their type; types above the loop constants print nothing."""
    if kind == _FLOATS:
        view.floats(payload.words, payload.index + 1, payload.count - 1, level + 1)
    elif kind == _FETCH and index < _TEXTURES_END:
        _texture(view, payload, index, level)
    elif kind == _FETCH:
        _vertex_buffers(view, payload, index, level)
    elif kind in (_BOOLEANS, _LOOPS):
        name = "bool" if kind == _BOOLEANS else "loop"
        view.put(f"{LEVELS[level]}set {name} const {index:04x}\n")


def _texture(view: View, payload: Payload, index: int, level: int) -> None:
    values = payload.read(view.machine.packets[_TEXTURE], 1)
    names = (name.removeprefix(PREFIX) for name in _TEXTURE.names)
    fields = dict(zip(names, values, strict=True))
    clamps = "/".join([_CLAMPS[fields[f"CLAMP_{axis}"]] for axis in "XYZ"])
    letters = "".join([_SWIZZLE[fields[f"SWIZ_{axis}"]] for axis in "XYZW"])
    flags = fields["FLAGS"]
    tabs = LEVELS[level + 1]
    view.put(
        f"{LEVELS[level]}set texture const {index:04x}\n"
        f"{tabs}clamp x/y/z: {clamps}\n"
        f"{tabs}filter min/mag: {_FILTERS[fields['XY_MIN_FILTER']]}/"
        f"{_FILTERS[fields['XY_MAG_FILTER']]}\n"
        f"{tabs}swizzle: {letters}\n"
        f"{tabs}addr={fields['BASE_ADDRESS'] << 12:08x} (flags={flags:03x}),"
        f" size={fields['WIDTH'] + 1}x{fields['HEIGHT'] + 1},"
        f" pitch={fields['PITCH'] << 5}, format={_format(view, fields['FORMAT'])}\n"
        f"{tabs}mipaddr={fields['MIP_ADDRESS'] << 12:08x} (flags={fields['MIP_FLAGS']:03x})\n"
    )


def _vertex_buffers(view: View, payload: Payload, index: int, level: int) -> None:
    """Pairs of address and size; of an address that was not captured only its dword."""
    view.put(f"{LEVELS[level]}set shader const {index:04x}\n")
    tabs = LEVELS[level + 1]
    position = 1
    while position < payload.count and payload.index + position < payload.words.count:
        base, number, size = payload.read(view.machine.packets[_VERTEX_BUFFER], position)
        gpuaddr = base << 4
        position += 1
        place = view.machine.image.place(gpuaddr)
        if place is None:
            continue
        position += 1
        view.put(
            f"{tabs}addr={gpuaddr:08x}, size={signed32(size)}, format={_format(view, number)}\n"
        )
        dwords = (size + 3 & 0xFFFFFFFF) // 4
        more = f"{tabs}\t\t...\n" if dwords > _SHOWN_DWORDS else ""
        view.hex(*place, min(dwords, _SHOWN_DWORDS), level + 1)
        view.put(more)
        view.floats(*place, min(dwords, _SHOWN_DWORDS), level + 1)
        view.put(more)


def _format(view: View, number: int) -> str:
    return view.decoder.enum_name(_FORMATS, number) or "(null)"
