# SPDX-License-Identifier: MIT
"""Action: one execution of a draw, dispatch, blit or event that moves pixels.

The same draw of a program is executed in the binning run and in every tile: one Action each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cffpy.pm4.layouts import (
    DRAW_INDIRECT_64,
    DRAW_INDX,
    DRAW_INDX_INDIRECT_32,
    DRAW_INDX_INDIRECT_64,
    DRAW_INDX_OFFSET,
    INDIRECT_MULTI,
    INDIRECT_MULTI_COUNT_INDEXED,
    INDIRECT_MULTI_INDEXED,
    INDIRECT_MULTI_INDEXED_DRAWS,
    INDIRECT_MULTI_NORMAL,
)

if TYPE_CHECKING:
    from cffpy.analysis.attachments import Attachment
    from cffpy.analysis.conditions import Executed
    from cffpy.analysis.packet_location import PacketLocation
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Payload

#: "blit": CP_BLIT, the 2D engine. "resolve": a BLIT event, between GMEM and memory.
Kind = Literal["draw", "dispatch", "blit", "resolve", "lrz clear"]

#: SOURCE_SELECT of a draw initiator: indices come from memory, or from the packet.
_INDEX_SOURCES = (0, 1)

#: Driver-made rectangles: clears, loads and stores.
RECTANGLES = "DI_PT_RECTLIST"

#: Draws of the older kind: a dword stands before the draw initiator.
INITIATOR_IS_SECOND = ("CP_DRAW_INDX", "CP_DRAW_INDX_2", "CP_DRAW_INDX_BIN")

_MULTI_LAYOUTS = {
    INDIRECT_MULTI_NORMAL: INDIRECT_MULTI,
    INDIRECT_MULTI_INDEXED: INDIRECT_MULTI_INDEXED_DRAWS,
}

#: Draws of one CP_DRAW_INDIRECT_MULTI that are looked at.
_MAX_MULTI_DRAWS = 4096


@dataclass(slots=True)
class Action:
    """``number`` is its number in the dump; None for what the dump does not number.

    ``vertices``, ``instances`` and ``groups`` (of a dispatch) are None where only the GPU knows
    them.
    """

    kind: Kind
    packet: str
    label: str | None
    number: int | None
    place: PacketLocation
    #: Position among all actions of the capture.
    order: int
    #: Nesting of IBs and groups: 0 in a submit's own stream.
    level: int
    executed: Executed
    #: The condition that ``executed`` is about, in words.
    condition: str | None = None
    vertices: int | None = None
    instances: int | None = None
    indexed: bool = False
    indirect: bool = False
    groups: tuple[int, int, int] | None = None
    #: (stage, address) of each program that it runs.
    shaders: tuple[tuple[str, int], ...] = ()
    targets: tuple[Attachment, ...] = ()
    #: Set where it is one of the program's draws of its pass, counted from 0.
    program_number: int | None = None
    pass_index: int | None = None
    #: Position of its tile in the order of execution; None outside tiles.
    tile: int | None = None
    is_binning: bool = False
    #: What a driver does with it: "clear", "load", "store", ...; between passes "fill", "copy",
    #: "scale", "resolve"; "" for a draw of the program.
    role: str = ""
    lrz: LrzUse | None = None


@dataclass(slots=True, frozen=True)
class LrzUse:
    """GRAS_LRZ_CNTL at a draw."""

    enabled: bool
    writes: bool


@dataclass(slots=True)
class Parameters:
    """What a draw packet says of its size."""

    vertices: int | None = None
    instances: int | None = None
    indexed: bool = False
    indirect: bool = False


def draw_parameters(machine: Machine, name: str, payload: Payload) -> Parameters:
    """Vertices (or indices) and instances; from memory for an indirect draw, where captured."""
    if name == "CP_DRAW_INDX_OFFSET":
        _, instances, vertices = payload.read(DRAW_INDX_OFFSET)
        return Parameters(vertices, instances, payload[0] >> 6 & 3 in _INDEX_SOURCES)
    if name in INITIATOR_IS_SECOND:
        _, _, source, _, _, vertices, _, _ = payload.read(DRAW_INDX)
        indexed = source in _INDEX_SOURCES
        if machine.gpu.generation == 2 and payload[1] >> 16:
            # a20x keeps the count of vertices in the draw initiator
            vertices = payload[1] >> 16
        instances = payload[1] >> 24 if machine.gpu.generation > 2 else 1
        return Parameters(vertices, instances or 1, indexed)
    if name == "CP_DRAW_INDIRECT":
        *_, low, high = payload.read(DRAW_INDIRECT_64)
        return _indirect(machine, low | high << 32 if machine.is_64bit else low, indexed=False)
    if name == "CP_DRAW_INDX_INDIRECT":
        *_, low, high = payload.read(DRAW_INDX_INDIRECT_64)
        address = low | high << 32
        if not machine.is_64bit:
            address = payload.read(DRAW_INDX_INDIRECT_32)[-1]
        return _indirect(machine, address, indexed=True)
    if name == "CP_DRAW_AUTO":
        return Parameters(None, payload[1], indirect=True)
    if name == "CP_DRAW_INDIRECT_MULTI":
        return _multiple(machine, payload)
    return Parameters(indirect=True)


def dispatch_groups(machine: Machine, name: str, payload: Payload) -> tuple[int, int, int] | None:
    """Work groups of a dispatch in x, y, z; from memory for an indirect one, where captured."""
    if name == "CP_EXEC_CS":
        return payload[1], payload[2], payload[3]
    if name == "CP_EXEC_CS_INDIRECT":
        address = payload[1] | payload[2] << 32 if machine.is_64bit else payload[1]
        place = machine.image.place(address)
        if place is not None and place[1] + 3 <= place[0].count:
            words, index = place
            return words.get(index), words.get(index + 1), words.get(index + 2)
    return None


def _multiple(machine: Machine, payload: Payload) -> Parameters:
    """CP_DRAW_INDIRECT_MULTI: all its draws together; how many, the GPU may have to tell."""
    operation = payload[1] & 0xF
    indexed = operation in (INDIRECT_MULTI_INDEXED, INDIRECT_MULTI_COUNT_INDEXED)
    unknown = Parameters(indexed=indexed, indirect=True)
    layout = _MULTI_LAYOUTS.get(operation)
    count = payload[2]
    if layout is None or not 0 < count <= _MAX_MULTI_DRAWS:
        return unknown
    *_, address, stride = payload.read(layout)
    place = machine.image.place(address)
    if place is None or stride % 4 or not stride:
        return unknown
    words, first = place
    places = range(first, first + count * stride // 4, stride // 4)
    if places[-1] + 2 > words.count:
        return unknown
    vertices = sum(words.get(index) for index in places)
    instances = {words.get(index + 1) for index in places}
    return Parameters(
        vertices, instances.pop() if len(instances) == 1 else None, indexed, indirect=True
    )


def _indirect(machine: Machine, address: int, indexed: bool) -> Parameters:
    place = machine.image.place(address)
    if place is None or place[1] + 2 > place[0].count:
        return Parameters(indexed=indexed, indirect=True)
    words, index = place
    return Parameters(words.get(index), words.get(index + 1), indexed, indirect=True)
