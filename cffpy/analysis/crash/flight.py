# SPDX-License-Identifier: MIT
"""What the GPU was doing: the draws sent, the one at the CP's position, their pass and state.

The commands up to the crash are walked as those of a capture. An action is sent when the CP has
executed its packet. Nothing shows whether the GPU has finished it, unless the CP has waited for
an idle GPU since. Of two pipes (a7xx), each waits for what it has sent itself.

Of the draws in flight, the memory that they use: attachments, descriptors, vertex data, programs,
other registers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.crash.position import RING
from cffpy.analysis.inputs.descriptor_sets import Sets, SetSlot
from cffpy.analysis.inputs.draw_descriptors import DrawDescriptors
from cffpy.analysis.inputs.recorder import InputRecorder
from cffpy.analysis.inputs.uses import NO_SLOT_REGISTERS, UsedDescriptors
from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.register_store.recorder import RegisterRecorder, most_changes
from cffpy.analysis.walk import Walk
from cffpy.capture.gpu import generation_of
from cffpy.errors import UnsupportedGpu
from cffpy.frame.execution import Executed
from cffpy.frame.facts import Address, model, stored
from cffpy.frame.field import FieldValue
from cffpy.frame.objects import ModelObject
from cffpy.regdb.registers import RegisterText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cffpy.analysis.crash.position import CpPosition
    from cffpy.analysis.inputs.descriptor_sets import Memory, SetPlace
    from cffpy.analysis.inputs.facts import FactKey, InputFact
    from cffpy.analysis.inputs.uses import SlotRegisters
    from cffpy.analysis.pipes import Pipe
    from cffpy.analysis.register_store.history import State
    from cffpy.capture.gpu import Gpu
    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.frame.places import PacketLocation
    from cffpy.isa.operands import Descriptor
    from cffpy.pm4.reader import Packets, Payload

#: At most this many actions that were sent and may not be finished are recorded.
MAX_SENT = 16

#: The CP continues after it when everything before is finished.
_WAIT = "CP_WAIT_FOR_IDLE"


@dataclass(slots=True)
class DrawState:
    """What a draw depends on: its registers, and facts as ``diff`` compares them."""

    action: Action
    state: State | None = None
    facts: dict[FactKey, InputFact] = field(default_factory=dict)
    #: Digest of a shader -> the descriptors that its instructions name.
    descriptors: dict[bytes, frozenset[Descriptor]] = field(default_factory=dict)
    #: Number of a bindless set -> the submit's memory, and its base.
    sets: Mapping[int, SetPlace] = field(default_factory=dict)
    #: Digests of its programs, by the stages of ``action.shaders``.
    shaders: tuple[object, ...] = ()
    #: What registers say about the slots of its stages.
    slots: SlotRegisters = NO_SLOT_REGISTERS
    #: The buffers of its submit.
    memory: Memory | None = None
    #: The readers of packets of the generation.
    packets: Packets | None = None


@dataclass(slots=True)
class Flight:
    """``at``: the action at the CP's position. ``sent``: those that may be unfinished.

    ``next``: the first one after the position, if the dump has it. ``waited``: the last
    wait for idle that the CP has passed. ``sent_count``: of all, of which ``sent`` has the last.
    ``states``: of ``at`` and ``sent``, by ``Action.order``.
    """

    finder: PassFinder
    at: Action | None = None
    next: Action | None = None
    sent: list[Action] = field(default_factory=list)
    sent_count: int = 0
    waited: PacketLocation | None = None
    #: The pipe that has waited there.
    waited_pipe: Pipe | None = None
    current: Pass | None = None
    states: dict[int, DrawState] = field(default_factory=dict)

    @property
    def actions(self) -> list[Action]:
        """Possible causes: the action at the CP's position, then the last ones that were sent."""
        return [*([] if self.at is None else [self.at]), *reversed(self.sent)]

    @property
    def main(self) -> DrawState | None:
        """The state of the first of them."""
        return next(
            (self.states[action.order] for action in self.actions if action.order in self.states),
            None,
        )


class _IdleWait(NamedTuple):
    """A wait for idle, the number of actions before it, and the pipe that waits."""

    place: PacketLocation
    actions: int
    pipe: Pipe | None

    def finishes(self, action: Action) -> bool:
        """Whether an action is finished behind it."""
        is_of_pipe = self.pipe in (None, "both", action.pipe) or action.pipe is None
        return is_of_pipe and action.order < self.actions


class _Waits(Observer):
    """Keeps where the CP waits for idle, which pipe, and how many actions there were before."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        self._walk = walk
        self._passes = passes
        self.found: list[_IdleWait] = []

    def packet_handlers(self) -> dict[str, Callable[[Payload], None]]:
        """Note where the CP waits for an idle GPU."""
        return {_WAIT: self._wait}

    def _wait(self, payload: Payload) -> None:
        walk = self._walk
        self.found.append(_IdleWait(walk.packet_location, len(self._passes.actions), walk.pipe))


def find_flight(
    content: Content,
    cp: CpPosition,
    stream: int,
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> Flight | None:
    """What was in flight. ``content``: the dump as ``opened`` makes a capture of it.

    ``stream``: number of its last command stream, which the CP executes. None where the
    GPU is unknown.
    """
    walk = Walk()
    finder = PassFinder(walk)
    waits = _Waits(walk, finder)
    walk.observe(finder, waits)
    try:
        walk.run(content, _ignore, register_db, gpu)
    except UnsupportedGpu:
        return None
    finder.found.bind(None)  # who asks an action for its pass or tile has them
    flight = Flight(finder)
    position = position_key(cp, stream)
    possible = [action for action in finder.actions if action.execution is not Executed.NO]
    before, ahead = possible, []
    if position is not None:
        before = [one for one in possible if one.place.key < position]
        ahead = [one for one in possible if one.place.key >= position]
        if ahead and ahead[0].place.key[: len(position)] == position:
            flight.at = ahead.pop(0)
    flight.next = ahead[0] if ahead else None
    sent = _since_idle(flight, before, waits.found, position)
    flight.sent_count, flight.sent = len(sent), sent[-MAX_SENT:]
    flight.current = _current(flight, before, position)
    _take_states(flight, content, register_db, gpu)
    return flight


def _since_idle(
    flight: Flight,
    before: list[Action],
    waits: list[_IdleWait],
    position: tuple[int, ...] | None,
) -> list[Action]:
    """The actions after the last wait for idle that the CP has passed, which is noted."""
    passed = [one for one in waits if position is not None and one.place.key < position]
    if not passed:
        return before
    flight.waited, flight.waited_pipe = passed[-1].place, passed[-1].pipe
    last = {one.pipe: one for one in passed}  # of each pipe
    return [one for one in before if not any(wait.finishes(one) for wait in last.values())]


def _ignore(_line: str) -> None:
    """Warnings are discarded: the report lists what is not known."""


def position_key(cp: CpPosition, stream: int) -> tuple[int, ...] | None:
    """The CP's position as a ``PacketLocation.key``; ``stream``: number of its command stream.

    In the ring it is behind the streams that are called before.
    """
    if cp.packet is None:
        return None
    if cp.levels[0].name == RING:
        return (stream + 1,)
    callers = [level.caller for level in cp.levels if level.caller is not None]
    return stream, *callers, cp.packet.gpuaddr


def _current(flight: Flight, before: list[Action], position: tuple[int, ...] | None) -> Pass | None:
    passes = flight.finder.found.passes
    nearest = flight.at or (before[-1] if before else None)
    begun = [pass_ for pass_ in passes if position is None or pass_.first.key <= position]
    if flight.at is None and begun and position is not None:
        return begun[-1]
    if nearest is not None and nearest.pass_index is not None:
        return next((pass_ for pass_ in passes if pass_.index == nearest.pass_index), None)
    return begun[-1] if begun else None


def _take_states(
    flight: Flight, content: Content, register_db: str | None, gpu: Gpu | None
) -> None:
    """The registers and facts at the actions in flight, in one more walk."""
    wanted = {one.order for one in flight.actions}
    if not wanted:
        return
    walk = Walk()
    passes = PassFinder(walk)
    registers = RegisterRecorder(walk, passes, most_changes(len(content.data)))
    recorder = InputRecorder(walk, passes, registers, register_db, wanted)
    walk.observe(passes, registers, recorder)
    walk.run(content, _ignore, register_db, gpu)
    actions = {one.order: one for one in flight.actions}
    for order, record in recorder.place_sets(wanted).items():
        action, taken = actions[order], None
        if registers.store.has(order):
            taken = registers.store.state(action, walk.machine.database)
        facts = {key: fact for part in record.facts for key, fact in part.items()}
        state = DrawState(action, taken, facts, recorder.programs.descriptors)
        state.sets, state.slots, state.memory = record.sets, record.slots, record.memory
        state.shaders = record.shaders
        state.packets = walk.machine.packets
        flight.states[order] = state


#: Types of registers that hold addresses.
_ADDRESSES = ("address", "waddress")

#: The largest part of a fact's key that is a name, by its first part.
_NAMED = ("texture", "storage", "uniform buffer", "uniform data", "vertex buffer", "index buffer")

#: Registers of the buffers that are attachments already, by the start of their names.
_ATTACHMENTS = ("RB_MRT[", "RB_DEPTH_BUFFER_BASE", "RB_STENCIL_BUFFER_BASE")


@model("address_use", frozen=True)
class AddressUse(ModelObject):
    """Something of a draw that names an address."""

    what: str = stored("what names it, in words")
    address: Address = stored("GPU address")
    size: int | None = stored("its size; None where it is not known", "bytes", default=None)
    packet: Address | None = stored(
        "GPU address of the packet that sets it; None where it is not known", default=None
    )

    def holds(self, gpuaddr: int) -> bool:
        """Whether an address lies in it; False where its size is not known."""
        return self.size is not None and self.address <= gpuaddr < self.address + self.size


@model("crash_texture", frozen=True, is_value=False)
class TextureUse(ModelObject):
    """A texture descriptor that a draw uses or may use."""

    name: str = stored("its stage, and its slot or its set and slot")
    address: Address | None = stored("GPU address of the texels")
    fields: dict[str, FieldValue] = stored("its fields, as the descriptions name them")

    def text(self, field: str) -> str:
        """The value of a field as text; empty where it has none."""
        value = self.fields.get(field)
        return "" if value is None else value.text

    def number(self, field: str) -> int | None:
        """A field's number, by its text; None where it has none."""
        try:
            return int(self.text(field), 0)
        except ValueError:
            return None


def textures(draw: DrawState) -> list[TextureUse]:
    """The texture descriptors that a draw uses or may use, as far as the dump has them."""
    state = draw.state
    if state is None:
        return []
    text = RegisterText(state.database)
    uses = []
    for key, fact, is_used in _descriptors(draw):
        if not is_used or key[0] != "texture" or fact.domain is None or fact.data is None:
            continue
        if "TEX_CONST" not in fact.domain:
            continue
        data = bytes(fact.data)
        dwords = [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]
        fields = {field.name: field for field in text.structure_fields(fact.domain, dwords)}
        uses.append(TextureUse(_name(key), fact.points_at, fields))
    return uses


def address_uses(draw: DrawState) -> list[AddressUse]:
    """All addresses in a draw's state, each once, under its most specific name."""
    uses: dict[int, AddressUse] = {}
    for use in (*_attachments(draw), *_facts(draw), *_registers(draw)):
        uses.setdefault(use.address, use)
    return list(uses.values())


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


def _descriptors(draw: DrawState) -> Iterator[tuple[FactKey, InputFact, bool]]:
    """Each descriptor that a packet loads or that is used of a set, and whether it is used."""
    stages = tuple([stage for stage, _ in draw.action.programs])
    if len(stages) != len(draw.shaders):  # it runs no programs
        stages = ()
    used = UsedDescriptors(draw.descriptors)
    shaders = draw.shaders[: len(stages)]
    descriptors = DrawDescriptors(used.of_draw(stages, shaders, draw.slots, names_uniform=True))
    for key, fact in draw.facts.items():
        if key[0] in ("texture", "uniform buffer", "storage", "storage address"):
            flags = descriptors.flags(key)
            yield key, fact, flags is not None and flags.is_used
    state = draw.state
    number = 0 if state is None else int(state.database.chip[1])
    if state is not None and generation_of(number).has_bindless and draw.packets is not None:
        sets = Sets(state.database, draw.packets, number)
        for of_memory in (
            descriptors.of_sets(sets, draw.sets),
            descriptors.of_tables(sets, draw.memory),
        ):
            for key, fact in of_memory:
                yield key, fact, True


def _name(key: FactKey) -> str:
    """A fact's key as readable text: "texture FS 0"."""
    parts = [f"{part.set}:{part.slot}" if isinstance(part, SetSlot) else str(part) for part in key]
    return " ".join(parts)
