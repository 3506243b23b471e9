# SPDX-License-Identifier: MIT
"""CP_SET_CONSTANT of a2xx: floats, texture and vertex fetch constants. Printed at every level.

cffdump: cp_set_const, dump_a2xx_tex_const, dump_a2xx_shader_const (mesa 25.0.7).
"""

from __future__ import annotations

from cffpy.c_numbers import signed32
from cffpy.pm4.deviations import PREFIX
from cffpy.pm4.reader import Fields, Payload
from cffpy.views.cffdump.quirks import LEVELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.views.cffdump.view import View

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
    """Pairs of address and size; of an address that was not captured only the one dword."""
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
