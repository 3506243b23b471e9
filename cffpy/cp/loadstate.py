# SPDX-License-Identifier: MIT
"""CP_LOAD_STATE, 4 and 6: what the packet loads, for which stage, from where.

Facts: a3xx_get_state_type, _get_state_type and cp_load_state of Mesa 25.0.7's cffdump.
"""

from __future__ import annotations

from cffpy.capture.gpu import BINDLESS_ADDRESS_MASK, STAGES, generation_of
from cffpy.pm4.reader import Fields
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.capture.memory import MemoryLocation
    from cffpy.cp.machine import Machine
    from cffpy.pm4.reader import Payload

#: Names of the packets.
LOAD_STATE_PACKETS = (
    "CP_LOAD_STATE",
    "CP_LOAD_STATE4",
    "CP_LOAD_STATE6",
    "CP_LOAD_STATE6_GEOM",
    "CP_LOAD_STATE6_FRAG",
)

SAMPLERS, TEXTURES, SHADER, CONSTANTS, SSBO_0, SSBO_1, SSBO_2, UBO, PAIRS, OTHER = range(10)
#: STATE_SRC; FROM_UBO is of a6xx, which may load from a uniform buffer.
DIRECT, BINDLESS, INDIRECT, FROM_UBO = range(4)

_FIELDS = ("STATE_BLOCK", "STATE_TYPE", "STATE_SRC", "DST_OFF", "NUM_UNIT", "cffdump:NUM_UNIT")
_LOAD_STATE_3 = Fields("CP_LOAD_STATE", *_FIELDS, "EXT_SRC_ADDR")
_LOAD_STATE_4 = Fields("CP_LOAD_STATE4", *_FIELDS, "EXT_SRC_ADDR", "EXT_SRC_ADDR_HI")
_LOAD_STATE_6 = Fields("CP_LOAD_STATE6", *_FIELDS, "EXT_SRC_ADDR")
_FORMS = {fields.packet: fields for fields in (_LOAD_STATE_3, _LOAD_STATE_4, _LOAD_STATE_6)}
_BINDLESS_SOURCE = Fields("CP_LOAD_STATE6", "OFFSET", "BASE", variant="BINDLESS")

#: Addresses of state are multiples of a dword.
_ALIGNED = 0xFFFFFFFFFFFFFFFC

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

#: a4xx and later. Blocks without a stage are listed under the vertex stage.
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
    """What a packet loads: ``units`` of ``kind`` for ``stage`` from ``source``.

    ``block``: STATE_BLOCK. ``first``: DST_OFF, the unit that is loaded first.
    ``cffdump_units``: the units that the reference shows. ``address``: of the state, for an
    INDIRECT source; ``packet_dwords``: the dwords of the packet before state that is in it.
    """

    __slots__ = (
        "address",
        "block",
        "cffdump_units",
        "first",
        "kind",
        "packet_dwords",
        "source",
        "stage",
        "units",
    )

    def __init__(
        self,
        kind: int,
        stage: str,
        source: int,
        block: int,
        first: int,
        units: int,
        cffdump_units: int,
        address: int,
        packet_dwords: int,
    ) -> None:
        self.kind = kind
        self.stage = stage
        self.source = source
        self.block = block
        self.first = first
        self.units = units
        self.cffdump_units = cffdump_units
        self.address = address
        self.packet_dwords = packet_dwords


def loaded_state(machine: Machine, payload: Payload) -> LoadedState:
    """What a packet of LOAD_STATE_PACKETS loads: kind, stage, first unit, units, source."""
    fields = _FORMS[machine.gpu.facts.load_state]
    block, kind, source, first, units, shown, address, *high = payload.read(machine.packets[fields])
    if fields is _LOAD_STATE_6:
        address &= _ALIGNED
    else:
        address <<= 2
        if machine.is_64bit:
            address |= high[0] << 32
    head = 3 if machine.is_64bit else 2
    if fields is not _LOAD_STATE_3:
        stage, what = _STATE.get((block, kind), ("VS", OTHER))
    else:
        # cffdump: a3xx_get_state_type has rows of three, so a type of 3 is the next block's 0
        row = (block + 1, 0) if kind == 3 else (block, kind)
        stage, what = _A3XX_STATE.get(row, ("VS", OTHER))
        source = INDIRECT if source else DIRECT
    return LoadedState(what, stage, source, block, first, units, shown, address, head)


def state_place(machine: Machine, payload: Payload, loaded: LoadedState) -> MemoryLocation | None:
    """Where the state is, in the packet or in memory; None if that was not captured."""
    gpuaddr = _source_address(machine, payload, loaded)
    if gpuaddr:
        return machine.image.place(gpuaddr)
    # cffdump: cp_load_state reads after the header also where the address is simply 0
    # (mesa 25.0.7)
    return payload.words, payload.index + loaded.packet_dwords


def program_dwords(generation: int, units: int) -> int:
    """The size of a program in dwords, from its units."""
    return units * generation_of(generation).program_unit


def _source_address(machine: Machine, payload: Payload, loaded: LoadedState) -> int:
    """The address of the state; 0 for state in the packet."""
    # cffdump: cp_load_state takes what a uniform buffer has for state in the packet (mesa 25.0.7)
    if loaded.source in (DIRECT, FROM_UBO):
        return 0
    if loaded.source == INDIRECT:
        return loaded.address
    offset, base = payload.read(machine.packets[_BINDLESS_SOURCE])
    name = "HLSQ_CS_BINDLESS_BASE" if loaded.stage == "CS" else "HLSQ_BINDLESS_BASE"
    read = machine.read_register
    first = machine.names.register_offset(f"{name}[0].DESCRIPTOR")
    if machine.is_64bit:
        register = first + base * 2
        address = read(register) & BINDLESS_ADDRESS_MASK | read(register + 1) << 32
    else:
        address = read(first + base) & BINDLESS_ADDRESS_MASK
    return address + 4 * offset & 0xFFFFFFFFFFFFFFFF
