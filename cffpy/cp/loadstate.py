# SPDX-License-Identifier: MIT
"""CP_LOAD_STATE, 4 and 6: what such a packet loads, for which stage, from where.

Facts: a3xx_get_state_type, _get_state_type and cp_load_state of Mesa 25.0.7's cffdump.
"""

from __future__ import annotations

from cffpy.cp.programs import STAGES
from cffpy.pm4.layouts import BINDLESS_SOURCE, LOAD_STATE_3XX, LOAD_STATE_4XX, LOAD_STATE_6XX
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.capture.memory import MemoryLocation
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Payload

#: Names of the packets.
LOAD_STATE_PACKETS = (
    "CP_LOAD_STATE",
    "CP_LOAD_STATE4",
    "CP_LOAD_STATE6",
    "CP_LOAD_STATE6_GEOM",
    "CP_LOAD_STATE6_FRAG",
)

SAMPLERS, TEXTURES, SHADER, CONSTANTS, SSBO_0, SSBO_1, SSBO_2, UBO, PAIRS, OTHER = range(10)
DIRECT, BINDLESS, INDIRECT = range(3)

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
    **{(block, 0): (stage, SAMPLERS) for block, stage in enumerate(STAGES)},
    **{(block, 1): (stage, TEXTURES) for block, stage in enumerate(STAGES)},
    **{(block, 2): (stage, UBO) for block, stage in enumerate(STAGES)},
    **{(block, 0): (stage, SHADER) for block, stage in enumerate(STAGES, 8)},
    **{(block, 1): (stage, CONSTANTS) for block, stage in enumerate(STAGES, 8)},
    **{(block, 2): (stage, UBO) for block, stage in enumerate(STAGES, 8)},
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


class LoadedState(ValueObject):
    """What a packet loads: ``units`` of ``kind`` for ``stage`` from ``source``."""

    __slots__ = ("kind", "source", "stage", "units")

    def __init__(self, kind: int, stage: str, source: int, units: int) -> None:
        self.kind = kind
        self.stage = stage
        self.source = source
        self.units = units


def loaded_state(generation: int, payload: Payload) -> LoadedState:
    """What the packet loads."""
    if generation >= 6:
        _, kind, source, block, units, _, _ = payload.read(LOAD_STATE_6XX)
    elif generation >= 4:
        _, source, block, units, kind, _, _ = payload.read(LOAD_STATE_4XX)
    else:
        _, source, block, units, kind, _ = payload.read(LOAD_STATE_3XX)
        if kind == 3:
            # cffdump: a3xx_get_state_type has rows of three, so a type of 3 is the next block's 0
            block, kind = block + 1, 0
        stage, what = _A3XX_STATE.get((block, kind), ("VS", OTHER))
        return LoadedState(what, stage, INDIRECT if source else DIRECT, units)
    stage, what = _STATE.get((block, kind), ("VS", OTHER))
    return LoadedState(what, stage, DIRECT if source == 3 else source, units)


def state_place(machine: Machine, payload: Payload, loaded: LoadedState) -> MemoryLocation | None:
    """Where the state lies, in the packet or elsewhere; None where that was not captured."""
    gpuaddr = _source_address(machine, payload, loaded)
    if gpuaddr:
        return machine.image.place(gpuaddr)
    # cffdump: cp_load_state reads behind the header also where the address is simply 0
    # (mesa 25.0.7)
    return payload.words, payload.index + (3 if machine.is_64bit else 2)


def program_dwords(generation: int, units: int) -> int:
    """The size of a program of so many units."""
    return units * (32 if generation >= 4 else 8 if generation >= 3 else 2)


def _source_address(machine: Machine, payload: Payload, loaded: LoadedState) -> int:
    """The address of the state; 0 for state in the packet."""
    if loaded.source == DIRECT:
        return 0
    if loaded.source == INDIRECT:
        low = payload[1] & 0xFFFFFFFC
        return low | payload[2] << 32 if machine.is_64bit else low
    offset, base = payload.read(BINDLESS_SOURCE, 1)
    name = "HLSQ_CS_BINDLESS_BASE" if loaded.stage == "CS" else "HLSQ_BINDLESS_BASE"
    read = machine.read_register
    first = machine.database.register_offset(f"{name}[0].DESCRIPTOR")
    if machine.is_64bit:
        register = first + base * 2
        address = read(register) & 0xFFFFFFFC | read(register + 1) << 32
    else:
        address = read(first + base) & 0xFFFFFFFC
    return address + 4 * offset & 0xFFFFFFFFFFFFFFFF
