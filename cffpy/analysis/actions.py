# SPDX-License-Identifier: MIT
"""Action: one execution of a draw, dispatch, blit or event that moves pixels.

The same draw of a program is executed in the binning run and in every tile: one Action each.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from cffpy.cp.draw_values import DRAW_PACKETS, INITIATOR_IS_SECOND, draw_values
from cffpy.pm4.fields import Fields

if TYPE_CHECKING:
    from cffpy.analysis.computation import Computation
    from cffpy.analysis.conditions import Executed
    from cffpy.analysis.depth_state import DepthState
    from cffpy.analysis.pipes import Pipe
    from cffpy.analysis.transfers import Transfer, TransferEnd
    from cffpy.cp.draw_values import DrawValues
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Draw, Payload
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.place import PacketLocation

#: "blit": CP_BLIT, the 2D engine. "resolve": a BLIT event, between GMEM and memory. "copy": a
#: packet that copies memory.
Kind = Literal["draw", "dispatch", "blit", "resolve", "lrz clear", "copy"]

#: Packets and events that are actions, but no draws.
KINDS: dict[str, Kind] = {
    "CP_BLIT": "blit",
    "CP_EXEC_CS": "dispatch",
    "CP_EXEC_CS_INDIRECT": "dispatch",
    "CP_RUN_OPENCL": "dispatch",
    "EVENT:BLIT": "resolve",
    "EVENT:LRZ_CLEAR": "lrz clear",
}

#: Draws whose packet has the address and the number of the indices.
_INDEXED_PACKETS = ("CP_DRAW_INDX_OFFSET", "CP_DRAW_INDX")

#: Driver-made rectangles: clears, loads and stores.
RECTANGLES = "DI_PT_RECTLIST"

#: SOURCE_SELECT (pc_di_src_sel): the indices are in the packet.
_IN_PACKET = 1

#: What CP_DRAW_INDIRECT_MULTI is (a6xx_draw_indirect_opcode).
_MULTI_OPCODE = Fields("CP_DRAW_INDIRECT_MULTI", "OPCODE")
#: Its kinds whose number of draws is in the packet.
_MULTI = {
    name: Fields("CP_DRAW_INDIRECT_MULTI", "INDIRECT", "STRIDE", variant=name)
    for name in ("INDIRECT_OP_NORMAL", "INDIRECT_OP_INDEXED")
}
_MULTI_INDEXED = ("INDIRECT_OP_INDEXED", "INDIRECT_OP_INDIRECT_COUNT_INDEXED")

#: Both kinds of draws begin so.
_PARAMETERS = Fields("DRAW_INDIRECT_PARAMETERS", "VERTICES", "INSTANCES")
_DISPATCH = Fields("CP_EXEC_CS", "NGROUPS_X", "NGROUPS_Y", "NGROUPS_Z")
_INDIRECT_DISPATCH = Fields("CP_EXEC_CS_INDIRECT", "ADDR")
_GROUPS = Fields("EXEC_CS_INDIRECT_PARAMETERS", "NGROUPS_X", "NGROUPS_Y", "NGROUPS_Z")

#: The dwords after the header that ``Action.dwords`` has: a blit's operation and rectangles, the
#: sizes of a group of an indirect dispatch (after an address of 64 bits), offsets and strides.
_KEPT_DWORDS: dict[str, tuple[int, ...]] = {
    "CP_BLIT": (0, 1, 2, 3, 4),
    "CP_EXEC_CS": (0,),
    "CP_EXEC_CS_INDIRECT": (0, 3),
    "CP_RUN_OPENCL": (0,),
    "CP_DRAW_AUTO": (4, 5),
}

#: The same of CP_DRAW_INDIRECT_MULTI by its kind: OPCODE with DST_OFF, DRAW_COUNT, MAX_INDICES,
#: STRIDE.
_KEPT_OF_MULTI: dict[str, tuple[int, ...]] = {
    "INDIRECT_OP_NORMAL": (1, 2, 5),
    "INDIRECT_OP_INDEXED": (1, 2, 5, 8),
    "INDIRECT_OP_INDIRECT_COUNT": (1, 2, 7),
    "INDIRECT_OP_INDIRECT_COUNT_INDEXED": (1, 2, 5, 10),
}
#: Its kinds whose number of draws is in memory.
_MULTI_COUNTED = {
    name: Fields("CP_DRAW_INDIRECT_MULTI", "INDIRECT", "STRIDE", "INDIRECT_COUNT", variant=name)
    for name in ("INDIRECT_OP_INDIRECT_COUNT", "INDIRECT_OP_INDIRECT_COUNT_INDEXED")
}
_MULTI_PARAMETERS = {
    name: Fields("CP_DRAW_INDIRECT_MULTI", "INDIRECT", variant=name) for name in _KEPT_OF_MULTI
}
_INDIRECT_INDICES = Fields("CP_DRAW_INDX_INDIRECT", "INDX_SIZE", "MAX_INDICES")
_MULTI_INDICES = {
    name: Fields("CP_DRAW_INDIRECT_MULTI", "INDEX", "MAX_INDICES", variant=name)
    for name in _MULTI_INDEXED
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
    #: The pipe that executes it, "unknown" where the GPU decides; None where the GPU has one pipe,
    #: or the stream has not said it.
    pipe: Pipe | None = None
    #: Set where it is one of the program's draws of its pass, counted from 0.
    program_number: int | None = None
    pass_index: int | None = None
    #: Of an LRZ clear: index of the pass that uses the buffer. It may stand before that pass.
    clears_lrz_of: int | None = None
    #: Position of its tile in the order of execution; None outside tiles.
    tile: int | None = None
    is_binning: bool = False
    #: What a driver does with it: "clear", "load", "store", ...; between passes "fill", "copy",
    #: "scale", "resolve"; "" for a draw of the program.
    role: str = ""
    #: Depth, stencil, blend and LRZ state of a draw in a render pass.
    depth: DepthState | None = None
    #: What the packet of a draw says.
    values: DrawValues | None = None
    #: The packet of a dispatch, a blit or an indirect draw after its header, with 0 for addresses
    #: and for what other members have. It may end early.
    dwords: tuple[int, ...] = ()
    #: The packets that have stored the parameters of an indirect draw or dispatch; none where they
    #: are as captured, or not known.
    parameters_from: tuple[PacketLocation, ...] = ()
    #: What it copies, fills, clears, loads or stores: mostly one thing. Final at the end of its
    #: pass.
    transfers: tuple[Transfer, ...] = ()

    @property
    def uses_visibility(self) -> bool:
        """Whether a draw uses the visibility stream: VIS_CULL of its draw initiator.

        Others (some of the driver's own rectangles) neither write nor read an entry.
        """
        return self.values is not None and self.values.uses_visibility

    @property
    def source(self) -> TransferEnd | None:
        """Where the first of its transfers reads; None for a fill, and without transfers."""
        return self.transfers[0].source if self.transfers else None

    @property
    def destination(self) -> TransferEnd | None:
        """Where the first of its transfers writes; None without transfers."""
        return self.transfers[0].destination if self.transfers else None

    @property
    def first_index(self) -> int | None:
        """FIRST_INDX of CP_DRAW_INDX_OFFSET; None for draws without indices."""
        return None if self.values is None or not self.indexed else self.values.first_index

    @property
    def initiator(self) -> int | None:
        """The draw initiator, a dword of a draw's packet; None where there is none."""
        return None if self.values is None else self.values.initiator

    @property
    def viz_query(self) -> int | None:
        """VIZ_QUERY, the dword before the draw initiator; None where the packet has none."""
        return None if self.values is None else self.values.viz_query

    @property
    def indices_within(self) -> int | None:
        """How many indices there are, where that is fewer than the draw would read; else None.

        None for several draws of one packet, too: ``vertices`` is their sum.
        """
        values = self.values
        if values is None or not self.indexed or self.vertices is None:
            return None
        if values.draws != 1:
            return None
        if values.max_indices is None or values.source == _IN_PACKET:
            return None
        needed = (values.first_index or 0) + self.vertices
        return values.max_indices if values.max_indices < needed else None

    @property
    def index_region(self) -> tuple[int, int, int] | None:
        """GPU address of the first index that a draw reads, number of indices, bytes of each.

        None where the packet of the draw does not have the address.
        """
        values = self.values
        if not self.indexed or self.vertices is None or values is None:
            return None
        if self.packet not in _INDEXED_PACKETS or values.index_base is None:
            return None
        size = values.index_bytes
        return values.index_base + size * (values.first_index or 0), self.vertices, size

    @property
    def unknown_parameters(self) -> int | None:
        """GPU address of the parameters of a draw, if these were not captured."""
        return None if self.values is None or self.vertices is not None else self.values.indirect

    @property
    def index_buffer(self) -> tuple[int, int] | None:
        """GPU address and size in bytes of the indices of a draw whose counts are in memory."""
        values = self.values
        if values is None or not self.indexed or not self.indirect:
            return None
        if values.index_base is None or values.max_indices is None:
            return None
        return values.index_base, values.max_indices * values.index_bytes


@dataclass(slots=True)
class ActionFacts:
    """What depends on an action's packet alone, the same at each of its executions."""

    kind: Kind
    packet: str
    label: str | None
    parameters: Parameters = field(default_factory=lambda: Parameters())
    groups: tuple[int, int, int] | None = None
    values: DrawValues | None = None
    dwords: tuple[int, ...] = ()


@dataclass(slots=True)
class Parameters:
    """Size of a draw, as its packet has it."""

    vertices: int | None = None
    instances: int | None = None
    indexed: bool = False
    indirect: bool = False
    #: The packets that have stored it in memory.
    packets: tuple[PacketLocation, ...] = ()


def facts_of(machine: Machine, draw: Draw, payload: Payload) -> ActionFacts:
    """The facts of a draw, dispatch, blit or event."""
    kind = KINDS.get(draw.label or "") or KINDS.get(draw.name, "draw")
    if kind != "draw" or draw.name not in DRAW_PACKETS:
        return facts_of_others(machine, kind, draw, payload)
    return facts_of_draw(machine, draw.name, payload, draw.label)


def facts_of_draw(
    machine: Machine, name: str, payload: Payload, label: str | None = None
) -> ActionFacts:
    """The facts of a draw. ``name``: its packet. ``label``: for an unknown primitive type."""
    values = draw_values(machine, name, payload)
    parameters = draw_parameters(machine, name, values, payload)
    # all six bits of the primitive type; the reference reads five of them
    primitive = machine.enum_name("pc_di_primtype", values.primitive)
    note_addresses(machine, name, values, payload)
    dwords = kept_dwords(machine, name, payload)
    return ActionFacts("draw", name, primitive or label, parameters, None, values, dwords)


def draw_parameters(machine: Machine, name: str, draw: DrawValues, payload: Payload) -> Parameters:
    """Vertices (or indices) and instances; from memory for an indirect draw, where captured."""
    if name == "CP_DRAW_INDX_OFFSET" or name in INITIATOR_IS_SECOND:
        return Parameters(draw.vertices, draw.instances, draw.is_indexed)
    if name == "CP_DRAW_INDIRECT_MULTI":
        return _multiple(machine, draw, payload)
    if draw.indirect is not None:
        return _indirect(machine, draw.indirect, indexed=name == "CP_DRAW_INDX_INDIRECT")
    return Parameters(None, draw.instances, indirect=True)


def facts_of_others(machine: Machine, kind: Kind, draw: Draw, payload: Payload) -> ActionFacts:
    """The facts of what is not a draw."""
    name, groups, parameters = draw.name, None, Parameters()
    if kind == "dispatch":
        parameters.indirect = name == "CP_EXEC_CS_INDIRECT"
        groups = _dispatch_groups(machine, name, payload)
    dwords = kept_dwords(machine, name, payload)
    return ActionFacts(kind, name, draw.label, parameters, groups, dwords=dwords)


def kept_dwords(machine: Machine, name: str, payload: Payload) -> tuple[int, ...]:
    """``Action.dwords``."""
    kept = _KEPT_DWORDS.get(name, ())
    if name == "CP_EXEC_CS_INDIRECT" and not machine.is_64bit:
        kept = (0, 2)
    elif name == "CP_DRAW_INDX_INDIRECT":
        kept = (3,) if machine.is_64bit else (2,)
    elif name == "CP_DRAW_INDIRECT_MULTI":
        kept = _KEPT_OF_MULTI.get(_multi_operation(machine, payload) or "", (1, 2))
    end = min(kept[-1] + 1, payload.captured) if kept else 0
    data, index = payload.words.data, payload.index
    return tuple([data[index + at] if at in kept else 0 for at in range(end)])


def _multi_operation(machine: Machine, payload: Payload) -> str | None:
    (opcode,) = payload.read(machine.packets[_MULTI_OPCODE])
    return machine.enum_name("a6xx_draw_indirect_opcode", opcode)


def note_addresses(machine: Machine, name: str, values: DrawValues, payload: Payload) -> None:
    """Where the parameters of an indirect draw are, and its indices, and how many of these."""
    if name == "CP_DRAW_INDX_INDIRECT":
        size, most = payload.read(machine.packets[_INDIRECT_INDICES])
        is_in_bytes = machine.gpu.facts.number < 5
        values.max_indices = size // (values.index_bytes or 1) if is_in_bytes else most
    elif name == "CP_DRAW_INDIRECT_MULTI":
        operation = _multi_operation(machine, payload) or ""
        if operation in _MULTI_PARAMETERS:
            (values.indirect,) = payload.read(machine.packets[_MULTI_PARAMETERS[operation]])
        fields = _MULTI_INDICES.get(operation)
        if fields is not None:
            values.index_base, values.max_indices = payload.read(machine.packets[fields])


def _dispatch_groups(machine: Machine, name: str, payload: Payload) -> tuple[int, int, int] | None:
    """Work groups of a dispatch in x, y, z; from memory for an indirect one, where captured."""
    if name == "CP_EXEC_CS":
        x, y, z = payload.read(machine.packets[_DISPATCH])
        return x, y, z
    if name == "CP_EXEC_CS_INDIRECT":
        (address,) = payload.read(machine.packets[_INDIRECT_DISPATCH])
        reader = machine.packets[_GROUPS]
        place = machine.image.place(address)
        if place is not None and place[1] + reader.dwords <= place[0].count:
            x, y, z = reader.read(place[0].data, place[1])
            return x, y, z
    return None


def _multiple(machine: Machine, draw: DrawValues, payload: Payload) -> Parameters:
    """CP_DRAW_INDIRECT_MULTI: all its draws together; only the GPU may know their number."""
    operation = _multi_operation(machine, payload) or ""
    indexed = operation in _MULTI_INDEXED
    if operation not in _MULTI:
        return Parameters(indexed=indexed, indirect=True)
    address, stride = payload.read(machine.packets[_MULTI[operation]])
    return _sum_of(machine, address, stride, draw.draws or 0, indexed)


def _sum_of(machine: Machine, address: int, stride: int, count: int, indexed: bool) -> Parameters:
    """``count`` draws together, whose parameters are ``stride`` bytes apart in memory."""
    unknown = Parameters(indexed=indexed, indirect=True)
    place = machine.image.place(address)
    if place is None or stride % 4 or not stride or not 0 < count <= _MAX_MULTI_DRAWS:
        return unknown
    words, first = place
    places = range(first, first + count * stride // 4, stride // 4)
    reader = machine.packets[_PARAMETERS]
    if places[-1] + reader.dwords > words.count:
        return unknown
    read = [reader.read(words.data, index) for index in places]
    vertices = sum(number for number, _ in read)
    instances = {number for _, number in read}
    return Parameters(
        vertices, instances.pop() if len(instances) == 1 else None, indexed, indirect=True
    )


def with_memory(
    facts: ActionFacts, machine: Machine, computation: Computation, payload: Payload
) -> ActionFacts:
    """The facts of an indirect draw or dispatch, with what packets and the GPU have stored.

    Numbers that the GPU may have stored are unknown; a count of draws that packets have stored is
    known.
    """
    facts = replace(facts, parameters=replace(facts.parameters))
    parameters, values = facts.parameters, facts.values
    if facts.kind == "dispatch":
        (address,) = payload.read(machine.packets[_INDIRECT_DISPATCH])
        stored = computation.stored_by(address, machine.packets[_GROUPS].dwords)
        if stored is None:
            facts.groups = None
        parameters.packets = stored or ()
    elif facts.packet == "CP_DRAW_INDIRECT_MULTI" and values is not None:
        facts.parameters = _multiple_now(parameters, values, machine, computation, payload)
    elif values is not None and values.indirect is not None:
        facts.parameters = _stored(parameters, values.indirect, machine, computation)
    return facts


def _multiple_now(
    parameters: Parameters,
    draw: DrawValues,
    machine: Machine,
    computation: Computation,
    payload: Payload,
) -> Parameters:
    """The parameters of CP_DRAW_INDIRECT_MULTI with the memory of now."""
    operation = _multi_operation(machine, payload) or ""
    count = draw.draws or 0
    if operation in _MULTI:
        address, stride = payload.read(machine.packets[_MULTI[operation]])
        return _stored(parameters, address, machine, computation, stride, count)
    if operation not in _MULTI_COUNTED:
        return parameters
    address, stride, counted = payload.read(machine.packets[_MULTI_COUNTED[operation]])
    known = computation.dword(counted)
    if known is None:
        return parameters
    count = min(count, known.value)
    found = _sum_of(machine, address, stride, count, parameters.indexed)
    if not count:
        found.vertices = 0
    found = _stored(found, address, machine, computation, stride, count)
    found.packets = tuple(dict.fromkeys((*known.packets, *found.packets)))
    return found


def _stored(
    parameters: Parameters,
    address: int,
    machine: Machine,
    computation: Computation,
    stride: int = 0,
    count: int = 1,
) -> Parameters:
    """Parameters that lie in memory, with what stored them; unknown if the GPU may have done it."""
    dwords = machine.packets[_PARAMETERS].dwords
    stored = computation.stored_by(address, dwords, stride, count)
    if stored is None:
        return Parameters(indexed=parameters.indexed, indirect=True)
    parameters.packets = stored
    return parameters


def _indirect(machine: Machine, address: int, indexed: bool) -> Parameters:
    place = machine.image.place(address)
    reader = machine.packets[_PARAMETERS]
    if place is None or place[1] + reader.dwords > place[0].count:
        return Parameters(indexed=indexed, indirect=True)
    vertices, instances = reader.read(place[0].data, place[1])
    return Parameters(vertices, instances, indexed, indirect=True)
