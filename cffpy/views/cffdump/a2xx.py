# SPDX-License-Identifier: MIT
"""CP_SET_CONSTANT of a2xx: floats, texture and vertex fetch constants. Printed at every level.

cffdump: cp_set_const, dump_a2xx_tex_const, dump_a2xx_shader_const (mesa 25.0.7).
"""

from __future__ import annotations

from cffpy.c_numbers import signed32
from cffpy.cp.sink import Payload
from cffpy.pm4.layouts import A2XX_TEXTURE_CONSTANT, SET_CONSTANT
from cffpy.views.cffdump.quirks import LEVELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.views.cffdump.text import CffdumpSink

_FLOATS, _FETCH, _BOOLEANS, _LOOPS = range(4)

#: Fetch constants below this index are textures'.
_TEXTURES_END = 0x78

_CLAMPS = ("wrap", "mirror", "clamp-last-texel", "(null)")
_FILTERS = ("point", "bilinear", "bicubic", "(null)")
_SWIZZLE = "xyzw01??"

#: Dwords of vertex data that are shown at most.
_SHOWN_DWORDS = 64

_FORMATS = "a2xx_sq_surfaceformat"


def set_constant(view: CffdumpSink, payload: Payload, level: int) -> None:
    """Show constants by their type; types above the loop constants print nothing."""
    index, kind, _ = payload.read(SET_CONSTANT)
    if kind == _FLOATS:
        view.floats(payload.words, payload.index + 1, payload.count - 1, level + 1)
    elif kind == _FETCH and index < _TEXTURES_END:
        _texture(view, payload, index, level)
    elif kind == _FETCH:
        _vertex_buffers(view, payload, index, level)
    elif kind in (_BOOLEANS, _LOOPS):
        name = "bool" if kind == _BOOLEANS else "loop"
        view.put(f"{LEVELS[level]}set {name} const {index:04x}\n")


def _texture(view: CffdumpSink, payload: Payload, index: int, level: int) -> None:
    fields = dict(
        zip(A2XX_TEXTURE_CONSTANT.names, payload.read(A2XX_TEXTURE_CONSTANT, 1), strict=True)
    )
    flags, swizzle = fields["FLAGS"], fields["SWIZZLE"]
    clamps = "/".join([_CLAMPS[fields[f"CLAMP_{axis}"]] for axis in "XYZ"])
    letters = "".join([_SWIZZLE[swizzle >> 3 * place & 7] for place in range(4)])
    tabs = LEVELS[level + 1]
    view.put(
        f"{LEVELS[level]}set texture const {index:04x}\n"
        f"{tabs}clamp x/y/z: {clamps}\n"
        f"{tabs}filter min/mag: {_FILTERS[fields['MIN_FILTER']]}/{_FILTERS[fields['MAG_FILTER']]}\n"
        f"{tabs}swizzle: {letters}\n"
        f"{tabs}addr={fields['BASE'] << 12:08x} (flags={flags:03x}),"
        f" size={fields['WIDTH'] + 1}x{fields['HEIGHT'] + 1},"
        f" pitch={fields['PITCH'] << 5}, format={_format(view, flags)}\n"
        f"{tabs}mipaddr={fields['MIP_BASE'] << 12:08x} (flags={fields['MIP_FLAGS']:03x})\n"
    )


def _vertex_buffers(view: CffdumpSink, payload: Payload, index: int, level: int) -> None:
    """Pairs of address and size; of an address that was not captured only the one dword."""
    view.put(f"{LEVELS[level]}set shader const {index:04x}\n")
    tabs = LEVELS[level + 1]
    position = 1
    while position < payload.count and payload.index + position < payload.words.count:
        gpuaddr, flags = payload[position] & ~0xF, payload[position] & 0xF
        position += 1
        place = view.machine.image.place(gpuaddr)
        if place is None:
            continue
        size = payload[position]
        position += 1
        view.put(
            f"{tabs}addr={gpuaddr:08x}, size={signed32(size)}, format={_format(view, flags)}\n"
        )
        dwords = (size + 3 & 0xFFFFFFFF) // 4
        more = f"{tabs}\t\t...\n" if dwords > _SHOWN_DWORDS else ""
        view.hex(*place, min(dwords, _SHOWN_DWORDS), level + 1)
        view.put(more)
        view.floats(*place, min(dwords, _SHOWN_DWORDS), level + 1)
        view.put(more)


def _format(view: CffdumpSink, flags: int) -> str:
    # cffdump: dump_a2xx_tex_const takes 4 of the format's 6 bits (mesa 25.0.7)
    return view.decoder.enum_name(_FORMATS, flags & 0xF) or "(null)"
