# SPDX-License-Identifier: MIT
"""CP_LOAD_STATE, 4 and 6: shaders, constants, samplers, textures, SSBOs, UBOs.

cffdump: cp_load_state, a3xx_get_state_type, _get_state_type (mesa 25.0.7).
"""

from __future__ import annotations

from cffpy.capture.memory import Place
from cffpy.cp.sink import Payload
from cffpy.pm4.layouts import BINDLESS_SOURCE, LOAD_STATE_3XX, LOAD_STATE_4XX, LOAD_STATE_6XX
from cffpy.record import Record
from cffpy.views.cffdump.descriptors import (
    BINDLESS_STRIDE,
    dump_descriptor_target,
    dump_samplers,
    dump_textures,
)
from cffpy.views.cffdump.shaders import EXTENSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.views.cffdump.text import CffdumpSink

SAMPLERS, TEXTURES, SHADER, CONSTANTS, SSBO_0, SSBO_1, SSBO_2, UBO, PAIRS, OTHER = range(10)
_DIRECT, _BINDLESS, _INDIRECT = range(3)

_STAGES = ("VS", "HS", "DS", "GS", "FS", "CS")

#: a3xx: (state block, state type) -> (stage, what it is).
_A3XX_STATE = {
    (0, 0): ("VS", SAMPLERS),
    (0, 1): ("VS", TEXTURES),
    (2, 0): ("FS", SAMPLERS),
    (2, 1): ("FS", TEXTURES),
    (4, 0): ("VS", SHADER),
    (4, 1): ("VS", CONSTANTS),
    (6, 0): ("FS", SHADER),
    (6, 1): ("FS", CONSTANTS),
}

#: a4xx and later. Blocks without a stage of their own are listed under the vertex stage.
_STATE = {
    **{(block, 0): (stage, SAMPLERS) for block, stage in enumerate(_STAGES)},
    **{(block, 1): (stage, TEXTURES) for block, stage in enumerate(_STAGES)},
    **{(block, 2): (stage, UBO) for block, stage in enumerate(_STAGES)},
    **{(block, 0): (stage, SHADER) for block, stage in enumerate(_STAGES, 8)},
    **{(block, 1): (stage, CONSTANTS) for block, stage in enumerate(_STAGES, 8)},
    **{(block, 2): (stage, UBO) for block, stage in enumerate(_STAGES, 8)},
    (0xD, 3): ("CS", SSBO_0),
    (0xE, 0): ("VS", SSBO_0),
    (0xE, 1): ("VS", SSBO_1),
    (0xE, 2): ("VS", SSBO_2),
    (0xF, 0): ("CS", SSBO_0),
    (0xF, 1): ("CS", SSBO_1),
    (0xF, 2): ("CS", SSBO_2),
    (0x6, 2): ("VS", UBO),
    (0x7, 1): ("VS", PAIRS),
}

_SSBO_0_DOMAINS = {
    4: ("A4XX_SSBO_0", 4),
    5: ("A5XX_SSBO_0", 4),
    6: ("A6XX_TEX_CONST", 16),
    7: ("A6XX_TEX_CONST", 16),
}
_SSBO_1_DOMAINS = {4: "A4XX_SSBO_1", 5: "A5XX_SSBO_1"}
_UBO_DOMAINS = {5: "A5XX_UBO", 6: "A6XX_UBO", 7: "A6XX_UBO"}


class LoadedState(Record):
    """What a packet loads: ``units`` of ``kind`` for ``stage`` from ``source``."""

    __slots__ = ("kind", "source", "stage", "units")

    def __init__(self, kind: int, stage: str, source: int, units: int) -> None:
        self.kind = kind
        self.stage = stage
        self.source = source
        self.units = units


def cp_load_state(view: CffdumpSink, payload: Payload, level: int) -> None:
    """Show the state that a packet loads, wherever it lies."""
    if view.quiet2:
        return
    loaded = _loaded_state(view.generation, payload)
    gpuaddr = _source_address(view, payload, loaded)
    if gpuaddr:
        place = view.machine.image.place(gpuaddr)
        if place is None:
            return
    else:
        # cffdump: cp_load_state reads behind the header also where the address is simply 0
        place = payload.words, payload.index + (3 if view.is_64bit else 2)
    _show(view, loaded, place, level)


def _loaded_state(generation: int, payload: Payload) -> LoadedState:
    if generation >= 6:
        _, kind, source, block, units, _, _ = payload.read(LOAD_STATE_6XX)
    elif generation >= 4:
        _, source, block, units, kind, _, _ = payload.read(LOAD_STATE_4XX)
    else:
        _, source, block, units, kind, _ = payload.read(LOAD_STATE_3XX)
        stage, what = _A3XX_STATE.get((block, kind), ("VS", OTHER))
        return LoadedState(what, stage, _INDIRECT if source else _DIRECT, units)
    stage, what = _STATE.get((block, kind), ("VS", OTHER))
    return LoadedState(what, stage, _DIRECT if source == 3 else source, units)


def _source_address(view: CffdumpSink, payload: Payload, loaded: LoadedState) -> int:
    """Where the state lies; 0 for state in the packet."""
    if loaded.source == _DIRECT:
        return 0
    if loaded.source == _INDIRECT:
        low = payload[1] & 0xFFFFFFFC
        return low | payload[2] << 32 if view.is_64bit else low
    offset, base = payload.read(BINDLESS_SOURCE, 1)
    name = "HLSQ_CS_BINDLESS_BASE" if loaded.stage == "CS" else "HLSQ_BINDLESS_BASE"
    read = view.machine.read_register
    first = view.decoder.database.register_offset(f"{name}[0].DESCRIPTOR")
    if view.is_64bit:
        register = first + base * 2
        address = read(register) & 0xFFFFFFFC | read(register + 1) << 32
    else:
        address = read(first + base) & 0xFFFFFFFC
    return address + 4 * offset


def _show(view: CffdumpSink, loaded: LoadedState, place: Place, level: int) -> None:
    words, index = place
    kind, units = loaded.kind, loaded.units
    generation = view.generation
    if kind == SHADER:
        dwords = units * (32 if generation >= 4 else 8 if generation >= 3 else 2)
        view.shaders.program(words, index, dwords, level + 2)
        extension = EXTENSIONS.get(loaded.stage)
        if extension:
            view.shaders.write_file(extension, words, index, dwords)
    elif kind == CONSTANTS:
        dwords = units * (4 if generation >= 4 else 2)
        view.floats(words, index, dwords, level + 1)
        view.hex(words, index, dwords, level + 1)
    elif kind == SAMPLERS:
        dump_samplers(view, place, units, level, loaded.source == _BINDLESS)
    elif kind == TEXTURES:
        dump_textures(view, place, units, level)
    elif kind == SSBO_0:
        domain, dwords = _SSBO_0_DOMAINS.get(generation, ("", 4))
        _structures(view, place, domain, dwords, dwords, units, level)
    elif kind == SSBO_1:
        _structures(view, place, _SSBO_1_DOMAINS.get(generation, ""), 2, 2, units, level)
    elif kind == SSBO_2:
        _ssbo_2(view, place, units, level)
    elif kind == UBO:
        stride = BINDLESS_STRIDE if loaded.source == _BINDLESS else 2
        _structures(view, place, _UBO_DOMAINS.get(generation, ""), 2, stride, units, level)
    else:
        view.hex(words, index, units * (2 if kind == PAIRS else 1), level + 1)


def _structures(
    view: CffdumpSink, place: Place, domain: str, dwords: int, stride: int, count: int, level: int
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


def _ssbo_2(view: CffdumpSink, place: Place, count: int, level: int) -> None:
    """Addresses of SSBOs: fields on a5xx only, contents with --textures."""
    words, index = place
    for _ in range(count):
        if index >= words.count:
            return
        if view.generation == 5:
            view.fields("A5XX_SSBO_2", words, index, 2, level + 2)
            view.hex(words, index, 2, level + 1)
        if view.options.textures:
            dump_descriptor_target(view, words.get(index), words.get(index + 1), level)
        index += 2
