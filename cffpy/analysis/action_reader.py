# SPDX-License-Identifier: MIT
"""What packets say of the actions that they are: sizes of draws, work groups, copies.

All that depends on the packet alone is a ``PacketFacts``, which executions share. The sizes of an
indirect draw are read from memory. A packet that copies memory is a transfer; transfers of blits,
clears, loads and stores are read in ``cffpy.analysis.passes.transfers``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.computation import SUM, SUM_ADDRESSES
from cffpy.cp.packets.draw import INITIATOR_IS_SECOND, draw_values
from cffpy.frame.action import DRAW_PACKETS, KINDS, Groups, PacketFacts
from cffpy.frame.attachment import Transfer, TransferEnd
from cffpy.pm4.reader import Fields

if TYPE_CHECKING:
    from cffpy.analysis.computation import Computation
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Draw
    from cffpy.frame.action import ActionKind
    from cffpy.frame.attachment import Role
    from cffpy.frame.draw_values import DrawValues
    from cffpy.frame.places import PacketLocation
    from cffpy.pm4.reader import Payload

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

#: The dwords after the header in ``PacketFacts.dwords``: a blit's operation and rectangles, the
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


class Parameters(NamedTuple):
    """Size of a draw, as its packet has it, or memory: see ``PacketFacts``."""

    vertices: int | None = None
    instances: int | None = None
    indexed: bool = False
    indirect: bool = False
    parameters_from: tuple[PacketLocation, ...] = ()


def facts_of(machine: Machine, draw: Draw, payload: Payload) -> PacketFacts:
    """The facts of a draw, dispatch, blit or event."""
    kind = KINDS.get(draw.label or "") or KINDS.get(draw.name, "draw")
    if kind != "draw" or draw.name not in DRAW_PACKETS:
        return facts_of_others(machine, kind, draw, payload)
    return facts_of_draw(machine, draw.name, payload, draw.label)


def facts_of_draw(
    machine: Machine, name: str, payload: Payload, label: str | None = None
) -> PacketFacts:
    """The facts of a draw. ``name``: its packet. ``label``: for an unknown primitive type."""
    values = draw_values(machine, name, payload)
    parameters = draw_parameters(machine, name, values, payload)
    # all six bits of the primitive type; the reference reads five of them
    primitive = machine.enum_name("pc_di_primtype", values.primitive)
    note_addresses(machine, name, values, payload)
    dwords = kept_dwords(machine, name, payload)
    return PacketFacts("draw", name, primitive or label, *parameters, None, values, dwords)


def draw_parameters(machine: Machine, name: str, draw: DrawValues, payload: Payload) -> Parameters:
    """Vertices (or indices) and instances; from memory for an indirect draw, where captured."""
    if name == "CP_DRAW_INDX_OFFSET" or name in INITIATOR_IS_SECOND:
        return Parameters(draw.vertices, draw.instances, draw.is_indexed)
    if name == "CP_DRAW_INDIRECT_MULTI":
        return _multiple(machine, draw, payload)
    if draw.indirect is not None:
        return _indirect(machine, draw.indirect, indexed=name == "CP_DRAW_INDX_INDIRECT")
    return Parameters(None, draw.instances, indirect=True)


def facts_of_others(
    machine: Machine, kind: ActionKind, draw: Draw, payload: Payload
) -> PacketFacts:
    """The facts of what is not a draw."""
    name = draw.name
    facts = PacketFacts(kind, name, draw.label, dwords=kept_dwords(machine, name, payload))
    if kind == "dispatch":
        facts.indirect = name == "CP_EXEC_CS_INDIRECT"
        facts.groups = _dispatch_groups(machine, name, payload)
    return facts


def kept_dwords(machine: Machine, name: str, payload: Payload) -> tuple[int, ...]:
    """The dwords of a packet that ``PacketFacts.dwords`` keeps."""
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
        if operation.startswith("INDIRECT_OP_INDIRECT_COUNT"):
            values.has_count = True
        if operation in _MULTI_PARAMETERS:
            (values.indirect,) = payload.read(machine.packets[_MULTI_PARAMETERS[operation]])
        fields = _MULTI_INDICES.get(operation)
        if fields is not None:
            values.index_base, values.max_indices = payload.read(machine.packets[fields])


def _dispatch_groups(machine: Machine, name: str, payload: Payload) -> Groups | None:
    """Work groups of a dispatch in x, y, z; from memory for an indirect one, where captured."""
    if name == "CP_EXEC_CS":
        return Groups(*payload.read(machine.packets[_DISPATCH]))
    if name == "CP_EXEC_CS_INDIRECT":
        (address,) = payload.read(machine.packets[_INDIRECT_DISPATCH])
        reader = machine.packets[_GROUPS]
        place = machine.image.place(address)
        if place is not None and place[1] + reader.dwords <= place[0].count:
            return Groups(*reader.read(place[0].data, place[1]))
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
    facts: PacketFacts, machine: Machine, computation: Computation, payload: Payload
) -> PacketFacts:
    """The facts of an indirect draw or dispatch, with what packets and the GPU have stored.

    Numbers that the GPU may have stored are unknown; a count of draws that packets have stored is
    known.
    """
    values = facts.values
    if facts.kind == "dispatch":
        (address,) = payload.read(machine.packets[_INDIRECT_DISPATCH])
        stored = computation.stored_by(address, machine.packets[_GROUPS].dwords)
        groups = None if stored is None else facts.groups
        return replace(facts, groups=groups, parameters_from=stored or ())
    if values is None:
        return facts
    parameters = Parameters(
        facts.vertices, facts.instances, facts.indexed, facts.indirect, facts.parameters_from
    )
    if facts.packet == "CP_DRAW_INDIRECT_MULTI":
        parameters = _multiple_now(parameters, values, machine, computation, payload)
    elif values.indirect is not None:
        parameters = _stored(parameters, values.indirect, machine, computation)
    return replace(facts, **parameters._asdict())


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
    total = _sum_of(machine, address, stride, count, parameters.indexed)
    if not count:
        total = total._replace(vertices=0)
    total = _stored(total, address, machine, computation, stride, count)
    packets = dict.fromkeys((*known.packets, *total.parameters_from))
    return total._replace(parameters_from=tuple(packets))


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
    return parameters._replace(parameters_from=stored)


def _indirect(machine: Machine, address: int, indexed: bool) -> Parameters:
    place = machine.image.place(address)
    reader = machine.packets[_PARAMETERS]
    if place is None or place[1] + reader.dwords > place[0].count:
        return Parameters(indexed=indexed, indirect=True)
    vertices, instances = reader.read(place[0].data, place[1])
    return Parameters(vertices, instances, indexed, indirect=True)


# -- copies and blits ------------------------------------------------------------------------------

_COPY = Fields("CP_MEMCPY", "DWORDS", "SRC", "DST")


def blit_role(transfer: Transfer) -> Role:
    """What a blit in memory does: "fill", "copy", "scale", "resolve"."""
    if transfer.source is None:
        return "fill"
    if transfer.resolves:
        return "resolve"
    return "scale" if transfer.scales else "copy"


def memory_copy(machine: Machine, name: str, payload: Payload) -> Transfer | None:
    """What one of MEMORY_COPIES copies; None where the packet is too short."""
    packets = machine.packets
    if name == "CP_MEMCPY":
        if payload.captured < packets[_COPY].dwords:
            return None
        dwords, *addresses = payload.read(packets[_COPY])
        read, written = (TransferEnd(address, size=4 * dwords) for address in addresses)
        return Transfer(read, written)
    count = (payload.captured - 1) // 2  # of addresses, of two dwords each
    if count < 2:
        return None
    *signs, is_double = payload.read(packets[SUM])
    destination, *operands = payload.read(packets[SUM_ADDRESSES], 1)
    size = 8 if is_double else 4
    source, *added = [
        TransferEnd(address, size=size, negated=bool(sign))
        for address, sign in zip(operands[: count - 1], signs, strict=False)
    ]
    return Transfer(source, TransferEnd(destination, size=size), added=tuple(added))
