# SPDX-License-Identifier: MIT
"""The memory that a draw uses: attachments, descriptors, vertex data, programs, other registers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cffpy.analysis.inputs.descriptor_sets import Sets, SetSlot
from cffpy.analysis.inputs.draw_descriptors import DrawDescriptors
from cffpy.analysis.inputs.uses import UsedDescriptors
from cffpy.capture.gpu import generation_of
from cffpy.regdb.register_text import RegisterText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.crash.flight import DrawState
    from cffpy.analysis.inputs.facts import Fact, FactKey
    from cffpy.regdb.register_text import FieldText

#: Types of registers that hold addresses.
_ADDRESSES = ("address", "waddress")

#: The largest part of a fact's key that is a name, by its first part.
_NAMED = ("texture", "storage", "uniform buffer", "uniform data", "vertex buffer", "index buffer")

#: Registers of the buffers that are attachments already, by the start of their names.
_ATTACHMENTS = ("RB_MRT[", "RB_DEPTH_BUFFER_BASE", "RB_STENCIL_BUFFER_BASE")


@dataclass(slots=True, frozen=True)
class AddressUse:
    """Something of a draw that names an address. ``size``: bytes, None where it is not known.

    ``packet``: address of the packet that set it, where that is known.
    """

    what: str
    address: int
    size: int | None = None
    packet: int | None = None

    def holds(self, gpuaddr: int) -> bool:
        """Whether an address lies in it; False where its size is not known."""
        return self.size is not None and self.address <= gpuaddr < self.address + self.size


@dataclass(slots=True, frozen=True)
class TextureUse:
    """A texture descriptor that a draw can use. ``fields``: as the descriptions name them."""

    name: str
    fields: tuple[FieldText, ...]
    address: int | None
    data: bytes

    def number(self, field: str) -> int | None:
        """A field's number, by its text; None where it has none."""
        text = next((one.text for one in self.fields if one.name == field), "")
        try:
            return int(text, 0)
        except ValueError:
            return None


def textures(draw: DrawState) -> list[TextureUse]:
    """The texture descriptors that a draw uses or may use, as far as the dump has them."""
    state = draw.state
    if state is None:
        return []
    text = RegisterText(state.database)
    found = []
    for key, fact, is_used in _descriptors(draw):
        if not is_used or key[0] != "texture" or fact.domain is None or fact.data is None:
            continue
        if "TEX_CONST" not in fact.domain:
            continue
        data = bytes(fact.data)
        dwords = [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]
        fields = tuple(text.descriptor_fields(fact.domain, dwords))
        found.append(TextureUse(_name(key), fields, fact.points_at, data))
    return found


def address_uses(draw: DrawState) -> list[AddressUse]:
    """All addresses in a draw's state, each once, under its most specific name."""
    found: dict[int, AddressUse] = {}
    for one in (*_attachments(draw), *_facts(draw), *_registers(draw)):
        found.setdefault(one.address, one)
    return list(found.values())


def _attachments(draw: DrawState) -> Iterator[AddressUse]:
    for target in draw.action.targets:
        if target.address:
            yield AddressUse(f"attachment {target.name}", target.address, target.layer_pitch)
        if target.flags:
            yield AddressUse(f"UBWC flags of attachment {target.name}", target.flags)


def _facts(draw: DrawState) -> Iterator[AddressUse]:
    for key, fact in draw.facts.items():
        name = _name(key)
        size = None if fact.data is None else fact.offset + len(fact.data)
        packet = None if fact.place is None else fact.place.gpuaddr
        if key[0] == "shader":
            if fact.address:
                yield AddressUse(f"{key[1]} program", fact.address, size, packet)
        elif key[0] in _NAMED and fact.address:
            yield AddressUse(name, fact.address, size, packet)
    for key, fact, _ in _descriptors(draw):
        if fact.points_at and key[0] != "uniform data":
            place = None if fact.place is None else fact.place.gpuaddr
            yield AddressUse(_name(key), fact.points_at, None, place)


def _registers(draw: DrawState) -> Iterator[AddressUse]:
    state = draw.state
    if state is None:
        return
    text = RegisterText(state.database)
    for register in text.listed(state.registers):
        if text.type_name(register) not in _ADDRESSES:
            continue
        name = text.name(register)
        value = text.value(register, state.registers)
        write = state.writes.get(register)
        if value and not name.startswith(_ATTACHMENTS):
            yield AddressUse(name, value, None, None if write is None else write.place.gpuaddr)


def _descriptors(draw: DrawState) -> Iterator[tuple[FactKey, Fact, bool]]:
    """Each descriptor that a packet loads or that is used of a set, and whether it is used."""
    stages = tuple([stage for stage, _ in draw.action.programs])
    if len(stages) != len(draw.shaders):  # it runs no programs
        stages = ()
    used = UsedDescriptors(draw.descriptors)
    shaders = draw.shaders[: len(stages)]
    found = DrawDescriptors(used.of_draw(stages, shaders, draw.slots, names_uniform=True))
    for key, fact in draw.facts.items():
        if key[0] in ("texture", "uniform buffer", "storage", "storage address"):
            flags = found.flags(key)
            yield key, fact, flags is not None and flags.is_used
    state = draw.state
    number = 0 if state is None else int(state.database.chip[1])
    if state is not None and generation_of(number).has_bindless and draw.packets is not None:
        sets = Sets(state.database, draw.packets, number)
        for of_memory in (found.of_sets(sets, draw.sets), found.of_tables(sets, draw.memory)):
            for key, fact in of_memory:
                yield key, fact, True


def _name(key: FactKey) -> str:
    """A fact's key as readable text: "texture FS 0"."""
    parts = [f"{one.set}:{one.slot}" if isinstance(one, SetSlot) else str(one) for one in key]
    return " ".join(parts)
