# SPDX-License-Identifier: MIT
"""What certain packets print after their fields: one row and one function a packet.

cffdump: cp_nop, cp_reg_mem, cp_im_loadi, cp_mem_write, cp_set_amble, cp_set_render_mode,
cp_compute_checkpoint (mesa 25.0.7).
"""

from __future__ import annotations

from cffpy.cp.loadstate import LOAD_STATE_PACKETS
from cffpy.cp.packets.mode import BEGIN, END, MESSAGE, marker_text
from cffpy.cp.sink import NestedStream
from cffpy.pm4.reader import Fields, Payload
from cffpy.views.cffdump.loadstate import cp_load_state
from cffpy.views.cffdump.quirks import LEVELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.views.cffdump.view import View

    Detail = Callable[["View", Payload, int], None]
    Nested = Callable[["View", NestedStream, Payload, int], bool]

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
