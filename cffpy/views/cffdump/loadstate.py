# SPDX-License-Identifier: MIT
"""What CP_LOAD_STATE, 4 and 6 load: shaders, constants, samplers, textures, SSBOs, UBOs.

cffdump: cp_load_state (mesa 25.0.7).
"""

from __future__ import annotations

from cffpy.capture.gpu import BINDLESS_STRIDE
from cffpy.capture.memory import MemoryLocation
from cffpy.cp.loadstate import (
    BINDLESS,
    CONSTANTS,
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
from cffpy.pm4.reader import Payload
from cffpy.views.cffdump.descriptors import (
    dump_descriptor_target,
    dump_samplers,
    dump_textures,
)
from cffpy.views.cffdump.shaders import EXTENSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.views.cffdump.view import View

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
    """``count`` structures of ``dwords``, ``stride`` dwords apart: fields and hex."""
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
