# SPDX-License-Identifier: MIT
"""Which packet gave each register its value, and which values are left over from earlier.

Only executed packets count: a block that is skipped writes nothing.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, cast

from cffpy.analysis.observer import Observer
from cffpy.frame.execution import Executed
from cffpy.frame.passes import Pass
from cffpy.frame.place import PacketLocation, Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.pipes import Pipe, PipeRegisters
    from cffpy.analysis.walk import Walk
    from cffpy.capture.load import CommandStream
    from cffpy.cp.sink import Payload
    from cffpy.cp.stored import StoredRegisters
    from cffpy.frame.action import Action
    from cffpy.frame.passes import PassRun
    from cffpy.regdb.database import Database

#: Where a value in force at a draw was written.
Origin = Literal["this pass", "before the pass", "earlier submit"]


@dataclass(slots=True, frozen=True, eq=False)
class Write:
    """The packet that wrote a value.

    ``owner``: the pass, or the run of one, that it was written in.
    """

    place: PacketLocation
    owner: Pass | PassRun | None
    executed: Executed = Executed.YES
    condition: str | None = None
    #: The CP_MEM_WRITE that stored (a part of) the packet: the file has what was there before.
    patched_by: PacketLocation | None = None
    #: The packets that computed or copied the value before the packet wrote it: ``Computation``.
    computed_from: tuple[PacketLocation, ...] = ()
    #: As ``Action.pipe``: whose registers it wrote.
    pipe: Pipe | None = None

    @property
    def pass_index(self) -> int | None:
        """Index of the pass that it was written in; None between passes."""
        owner = self.owner
        if owner is None:
            return None
        return owner.index if isinstance(owner, Pass) else owner.pass_index

    def origin(self, action: Action) -> Origin:
        """Where the value comes from, for an action that it is in force at."""
        if self.place.submit.submit != action.place.submit.submit:
            return "earlier submit"
        same = self.pass_index is not None and self.pass_index == action.pass_index
        return "this pass" if same else "before the pass"

    def of(self, register: int) -> Write:
        """The write of one of its registers: this one, as ``StoredWrites`` has it, too."""
        return self

    def by_packet(self, registers: list[int]) -> Iterator[tuple[Write, list[int]]]:
        """As of any ``WriteSource``."""
        yield self, registers

    def in_order(self, values: Mapping[int, int], wanted: Set[int]) -> Iterator[Write]:
        """As of any ``WriteSource``."""
        yield self


class CommandWrite(NamedTuple):
    """One write of a register whose writes are commands (cffpy.analysis.command_writes).

    ``value`` is None where only the GPU knows it.
    """

    register: int
    value: int | None
    write: Write


class StoredWrites:
    """The writes of registers that were stored at once; each is made when it is asked for."""

    __slots__ = (
        "_caller",
        "_condition",
        "_executed",
        "_owner",
        "_pipe",
        "_stored",
        "_stream",
        "_writes",
    )

    def __init__(
        self,
        stored: StoredRegisters,
        stream: Stream,
        caller: PacketLocation | None,
        owner: Pass | PassRun | None,
        executed: Executed,
        condition: str | None,
        pipe: Pipe | None,
    ) -> None:
        """The first three as for ``Observer.registers_stored``, the others as those of a ``Write``.

        The packets were not patched.
        """
        self._stored = stored
        self._stream = stream
        self._caller = caller
        self._owner = owner
        self._executed = executed
        self._condition = condition
        self._pipe = pipe
        #: By packet: its group, if any, and its first dword. None until one is asked for.
        self._writes: dict[tuple[int | None, int], Write] | None = None

    def by_packet(self, registers: list[int]) -> Iterator[tuple[Write, list[int]]]:
        """As of any ``WriteSource``."""
        streams: dict[int | None, Stream] = {None: self._stream}
        for packet, written in self._stored.by_packet(registers):
            if packet.group is not None and packet.group not in streams:
                streams[packet.group] = self._group(packet.group)
            place = PacketLocation(streams[packet.group], packet.words, packet.index)
            yield self._write(place), written

    def in_order(self, values: Mapping[int, int], wanted: Set[int]) -> Iterator[Write]:
        """As of any ``WriteSource``."""
        for packet in self._stored.in_order(values, wanted):
            stream = self._stream if packet.group is None else self._group(packet.group)
            yield self._write(PacketLocation(stream, packet.words, packet.index))

    def of(self, register: int) -> Write:
        """The write of one of the registers; the same object each time."""
        packet = self._stored.packet(register)
        key = packet.group, packet.index
        if self._writes is None:
            self._writes = {}
        write = self._writes.get(key)
        if write is None:
            stream = self._stream if packet.group is None else self._group(packet.group)
            write = self._write(PacketLocation(stream, packet.words, packet.index))
            self._writes[key] = write
        return write

    def _write(self, place: PacketLocation) -> Write:
        return Write(place, self._owner, self._executed, self._condition, pipe=self._pipe)

    def _group(self, position: int) -> Stream:
        if self._caller is None:
            words, index = self._stored.last_opcode()
            self._caller = PacketLocation(self._stream, words, index)
        number, words, index, ndwords = self._stored.groups[position]
        gpuaddr = words.address + 4 * index
        return Stream("group", self._stream.submit, gpuaddr, ndwords, self._caller, number)


class PacketWrites:
    """The writes of packets that follow each other; each is made when it is asked for.

    They are in one stream, written in the same pass and under the same condition. Iterating yields
    the registers.
    """

    __slots__ = (
        "_condition",
        "_executed",
        "_owner",
        "_packets",
        "_pipe",
        "_stream",
        "_words",
        "_writes",
        "registers",
    )

    has_draw = False  # as an entry of a ``WriteLog``

    def __init__(
        self,
        registers: range,
        location: PacketLocation,
        owner: Pass | PassRun | None,
        executed: Executed,
        condition: str | None,
        pipe: Pipe | None,
    ) -> None:
        """The first packet: its registers, its place. The others are as those of a ``Write``."""
        self._stream = location.stream
        self._words = location.words
        self._owner = owner
        self._executed = executed
        self._condition = condition
        self._pipe = pipe
        #: Of each packet: its first register, the one after its last, its index.
        self._packets = array("L", (registers.start, registers.stop, location.index))
        #: By position in ``_packets``. None until one is asked for.
        self._writes: dict[int, Write] | None = None
        #: Register -> value, where a ``WriteLog`` has set them.
        self.registers: dict[int, int] = {}

    def add(
        self,
        registers: range,
        location: PacketLocation,
        owner: Pass | PassRun | None,
        executed: Executed,
        condition: str | None,
        pipe: Pipe | None,
    ) -> bool:
        """Add a packet; False for one that does not belong to these."""
        packets = self._packets
        if (
            location.words is not self._words
            or location.stream is not self._stream
            or owner is not self._owner
            or executed is not self._executed
            or condition != self._condition
            or pipe != self._pipe
            or len(packets) >= _MAX_TOGETHER
        ):
            return False
        packets.extend((registers.start, registers.stop, location.index))
        return True

    def __iter__(self) -> Iterator[int]:
        packets = self._packets
        for first, end in zip(packets[::3], packets[1::3], strict=True):
            yield from range(first, end)

    def of(self, register: int) -> Write:
        """The write of one of the registers, the last one; the same object each time."""
        position = self._position(register)
        if self._writes is None:
            self._writes = {}
        write = self._writes.get(position)
        if write is None:
            write = self._writes[position] = self._write(position)
        return write

    def by_packet(self, registers: list[int]) -> Iterator[tuple[Write, list[int]]]:
        """As of any ``WriteSource``."""
        found: dict[int, list[int]] = {}
        for register in registers:
            found.setdefault(self._position(register), []).append(register)
        for position, written in found.items():
            yield self._write(position), written

    def in_order(self, values: Mapping[int, int], wanted: Set[int]) -> Iterator[Write]:
        """As of any ``WriteSource``."""
        packets, last = self._packets, -1
        for position in range(0, len(packets), 3):
            first, end, index = packets[position : position + 3]
            # a packet with an opcode writes registers one by one
            if index != last and not wanted.isdisjoint(range(first, end)):
                last = index
                yield self._write(position)

    def _position(self, register: int) -> int:
        """That of the last packet that wrote it, in ``_packets``."""
        packets = self._packets
        position = len(packets) - 3
        while not packets[position] <= register < packets[position + 1]:
            position -= 3
        return position

    def _write(self, position: int) -> Write:
        place = PacketLocation(self._stream, self._words, self._packets[position + 2])
        return Write(place, self._owner, self._executed, self._condition, pipe=self._pipe)


class WriteSource(Protocol):
    """Finds the write of a register, one of several that were written together."""

    def of(self, register: int) -> Write:
        """The write of this register; it may be kept, to be the same one each time."""

    def by_packet(self, registers: list[int]) -> Iterator[tuple[Write, list[int]]]:
        """The writes of these registers, each with its registers. They are not kept."""

    def in_order(self, values: Mapping[int, int], wanted: Set[int]) -> Iterator[Write]:
        """The write of each packet that writes a wanted register, in order.

        ``values``: what was written, the same object as in the change. A packet is yielded once.
        """


@dataclass(slots=True)
class State:
    """All registers at an action: values as dwords, and what wrote each.

    A register with a write but no value was filled by the GPU: its value is unknown.
    """

    action: Action
    database: Database
    registers: dict[int, int]
    writes: dict[int, Write]
    #: Of registers whose writes are commands: all of them since the action before.
    commands: Mapping[int, Sequence[CommandWrite]] = field(default_factory=dict)

    @property
    def written(self) -> list[int]:
        """All registers that were written, also those whose value is unknown."""
        return [*self.registers, *(other for other in self.writes if other not in self.registers)]


@dataclass(slots=True)
class Inherited:
    """The registers of earlier submits in force at a submit's first draw or dispatch."""

    submit: int
    state: State
    registers: list[int] = field(default_factory=list)


class WriteObserver(Observer):
    """Turns the events of register writes into a ``WriteSource`` each."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        self._walk = walk
        self._passes = passes
        #: Address of a dword that CP_MEM_WRITE stored -> the last such packet.
        self._patches: dict[int, PacketLocation] = {}

    def note(self, registers: Mapping[int, int] | Iterable[int], source: WriteSource) -> None:
        """Registers are written. Their values, if they are known already, are passed as a dict."""
        raise NotImplementedError

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """The buffers of a submit are new."""
        if is_new_submit:
            self._patches.clear()

    def memory_written(self, gpuaddr: int, payload: Payload, before: bytes) -> None:
        """Remember the address: it may be that of commands."""
        location = self._walk.packet_location
        if len(self._patches) < _MAX_PATCHES:
            for address in range(gpuaddr, gpuaddr + 4 * payload.count, 4):
                self._patches[address] = location

    def registers_written(self, registers: range, location: PacketLocation, ndwords: int) -> None:
        """Note the packet."""
        walk = self._walk
        patched_by = self._patched_by(location, ndwords) if self._patches else None
        sources = walk.computation.sources
        how = walk.executed, walk.condition, patched_by, sources, walk.pipe
        self.note(registers, Write(location, self._owner, *how))

    def registers_stored(
        self, stored: StoredRegisters, stream: Stream, caller: PacketLocation | None
    ) -> None:
        """Note them together; one by one where commands are patched, which may go on."""
        walk = self._walk
        how = self._owner, walk.executed, walk.condition, walk.pipe
        source = StoredWrites(stored, stream, caller, *how)
        if not self._patches:
            for part in stored.parts:
                if part:
                    self.note(part, source)
            return
        for register in stored.registers:
            write = source.of(register)
            ndwords = stored.packet(register).ndwords
            self.note(
                (register,), replace(write, patched_by=self._patched_by(write.place, ndwords))
            )

    def registers_unknown(self, registers: range, location: PacketLocation) -> None:
        """Note the packet: it is a write, too."""
        self.registers_written(registers, location, 1)

    @property
    def _owner(self) -> Pass | PassRun | None:
        return self._passes.owner

    def _patched_by(self, location: PacketLocation, ndwords: int) -> PacketLocation | None:
        addresses = range(location.gpuaddr, location.gpuaddr + 4 * ndwords, 4)
        found = (self._patches[address] for address in addresses if address in self._patches)
        return next(found, None)


class Provenance(WriteObserver):
    """Knows the packet that wrote each register last.

    Other observers may ask at any event but those of writes.
    """

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        #: Those of the pipe that executes; of both, where both do. By pipe: once it executed alone.
        self._writes: dict[int, WriteSource] = {}
        self._by_pipe: dict[PipeRegisters, dict[int, WriteSource]] = {}
        #: Those of BV while both execute.
        self._also: dict[int, WriteSource] | None = None

    def pipe_changes(self, registers: PipeRegisters) -> None:
        """Each pipe has registers of its own."""
        if not self._by_pipe:
            self._by_pipe = {"BR": self._writes, "BV": dict(self._writes)}
        self._writes = self._by_pipe["BV" if registers == "BV" else "BR"]
        self._also = self._by_pipe["BV"] if registers == "both" else None

    def last_writes(self) -> dict[int, Write]:
        """Register -> its last write, now."""
        return {register: source.of(register) for register, source in self._writes.items()}

    def note(self, registers: Mapping[int, int] | Iterable[int], source: WriteSource) -> None:
        """Remember the write."""
        self._writes.update(dict.fromkeys(registers, source))
        if self._also is not None:
            self._also.update(dict.fromkeys(registers, source))


#: Stands for a value that only the GPU knows.
UNKNOWN = -1

#: Writes that are collected before they are joined; three numbers for each packet of a
#: ``PacketWrites``, at most.
_MAX_LOGGED, _MAX_TOGETHER = 4096, 3 * 256

#: Register -> value, or UNKNOWN; and where its write is found.
Change = tuple[dict[int, int], WriteSource]


class _JoinedWrites:
    """The last writes of several changes, by register; none of ``sources`` is one of these."""

    __slots__ = ("sources",)

    def __init__(self, sources: dict[int, WriteSource]) -> None:
        self.sources = sources

    def of(self, register: int) -> Write:
        """As of any ``WriteSource``."""
        return self.sources[register].of(register)

    def by_packet(self, registers: list[int]) -> Iterator[tuple[Write, list[int]]]:
        """As of any ``WriteSource``."""
        return by_packet((register, self.sources[register]) for register in registers)

    def in_order(self, values: Mapping[int, int], wanted: Set[int]) -> Iterator[Write]:
        """Of the last writes alone: the others are forgotten."""
        sources = ((one, source) for one, source in self.sources.items() if one in wanted)
        return (write for write, _ in by_packet(sources))


def by_packet(
    sources: Iterable[tuple[int, WriteSource]],
) -> Iterator[tuple[Write, list[int]]]:
    """Each packet with the registers that it wrote last. ``sources``: of different registers."""
    registers_of: dict[int, tuple[WriteSource, list[int]]] = {}
    for register, source in sources:
        found = registers_of.get(id(source))
        if found is None:
            found = registers_of[id(source)] = source, []
        found[1].append(register)
    for source, registers in registers_of.values():
        yield from source.by_packet(registers)


def joined(changes: Iterable[Change]) -> Change:
    """The last change of each register, as one.

    Of changes that write the same registers the last one counts alone.
    """
    last: dict[tuple[int, ...], Change] = {}
    for change in changes:
        written = tuple(change[0])
        last.pop(written, None)
        last[written] = change
    values: dict[int, int] = {}
    sources: dict[int, WriteSource] = {}
    for registers, source in last.values():
        values.update(registers)
        if isinstance(source, _JoinedWrites):
            sources.update(source.sources)  # of the same registers
        else:
            sources.update(dict.fromkeys(registers, source))
    return values, _JoinedWrites(sources)


class PacketCollector(WriteObserver):
    """Notes register-write packets that follow each other together, as ``PacketWrites``."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        #: What was noted last, if packets can be added to it.
        self._together: PacketWrites | None = None

    def registers_written(self, registers: range, location: PacketLocation, ndwords: int) -> None:
        """Note the packet, together with those before it."""
        walk = self._walk
        if self._patches or walk.computation.sources:
            super().registers_written(registers, location, ndwords)
            return
        how = self._passes.owner, walk.executed, walk.condition, walk.pipe
        together = self._together
        if together is None or not together.add(registers, location, *how):
            together = PacketWrites(registers, location, *how)
            self.note(together, together)
            self._together = together


class ChangeLog(PacketCollector):
    """Collects what is written, in order, until it is taken.

    Each pipe has registers of its own: once they are apart, what an action takes is what its own
    pipe has written since its last one.
    """

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self._log: list[tuple[Mapping[int, int] | Iterable[int], WriteSource]] = []
        #: Whether values of some entry are not in it: those of the others were stored with it.
        self._lacks_values = False
        #: Whether a value that was taken is ``UNKNOWN``.
        self.has_unknown = False
        #: By pipe: what it had written when another one began to execute. None: one register set.
        self._left: dict[PipeRegisters, list[Change]] | None = None

    def registers_stored(
        self, stored: StoredRegisters, stream: Stream, caller: PacketLocation | None
    ) -> None:
        """Note them together: most writes of a walk come here."""
        if self._patches or len(self._log) >= _MAX_LOGGED:
            super().registers_stored(stored, stream, caller)
            return
        walk = self._walk
        self._together = None
        how = self._passes.owner, walk.executed, walk.condition, walk.pipe
        source = StoredWrites(stored, stream, caller, *how)
        if stored.has_parts:
            self._log.extend([(part, source) for part in stored.parts if part])
        elif stored.registers:
            self._log.append((stored.registers, source))

    def note(self, registers: Mapping[int, int] | Iterable[int], source: WriteSource) -> None:
        """Remember the write."""
        self._together = None
        if len(self._log) >= _MAX_LOGGED:
            self._log = [joined(self._settled())]
        self._log.append((registers, source))
        if not isinstance(registers, dict):
            self._lacks_values = True

    def pipe_changes(self, registers: PipeRegisters) -> None:
        """Take the values of the pipe that has executed."""
        if registers == "both" and not self._walk.pipes.are_apart:
            return
        written = self._settled()
        if self._left is None:
            self._left = {"BR": written, "BV": [*written]}
        else:
            self._leave(self._left, written)

    def _leave(self, left: dict[PipeRegisters, list[Change]], written: list[Change]) -> None:
        """Add what was written to what the pipes have left."""
        executes = self._walk.pipes.registers
        for pipe in left if executes == "both" else (executes,):
            left[pipe] += written
            if len(left[pipe]) > _MAX_LOGGED:
                left[pipe] = [joined(left[pipe])]

    def take(self) -> list[Change]:
        """What the pipe of the action has written since its last call, with the values now.

        Of two changes of a register, the later one counts. Dictionaries are shared: do not change
        them.
        """
        written = self._settled()
        if self._left is None:
            return written
        self._leave(self._left, written)
        reader = self._walk.pipes.reader
        taken, self._left[reader] = self._left[reader], []
        return taken

    def _settled(self) -> list[Change]:
        """What was written since the last call, with the values as they are now."""
        log, self._log = self._log, []
        if not self._lacks_values:
            return cast("list[Change]", log)
        self._lacks_values = False
        self._together = None
        get = self._walk.machine.state.registers.get
        found: list[Change] = []
        for entry in log:
            registers, source = entry
            if isinstance(registers, dict):  # stored, so that all values are known
                found.append(cast("Change", entry))
            else:
                values = {register: get(register, UNKNOWN) for register in registers}
                if UNKNOWN in values.values():
                    self.has_unknown = True
                found.append((values, source))
        return found


#: Dwords of a submit that CP_MEM_WRITE stored and that are remembered, about.
_MAX_PATCHES = 1 << 20


class StateTaker(Observer):
    """Passes the state at each executed action that is ``wanted`` to ``take``."""

    def __init__(
        self,
        walk: Walk,
        provenance: Provenance,
        wanted: Callable[[Action], bool],
        take: Callable[[State], None],
        commands: Callable[[], Mapping[int, Sequence[CommandWrite]]] | None = None,
    ) -> None:
        """``commands``: those before an action; None where nobody asks for them."""
        self._walk = walk
        self._commands = commands
        self._provenance = provenance
        self._wanted = wanted
        self._take = take

    def action(self, action: Action) -> None:
        """Take the state where it is wanted."""
        if action.execution.is_possible and self._wanted(action):
            state = _state_now(action, self._walk, self._provenance)
            if self._commands is not None:
                state.commands = self._commands()
            self._take(state)


def _state_now(action: Action, walk: Walk, provenance: Provenance) -> State:
    machine = walk.machine
    registers = dict(machine.state.registers)
    for port in walk.ports.ports:
        registers.pop(port, None)  # its elements have the values
    return State(action, machine.database, registers, provenance.last_writes())


class Inheritance(Observer):
    """Keeps, for each submit, what its first draw or dispatch sees of earlier submits.

    Copies are not considered: their registers are set for them alone. Which registers a draw
    uses is not known: all that hold an old value are listed.
    """

    def __init__(self, walk: Walk, provenance: Provenance) -> None:
        self._walk = walk
        self._provenance = provenance
        self.inherited: list[Inherited] = []
        self._listed = 0
        self._is_full = False
        self._seen: set[int] = set()

    def action(self, action: Action) -> None:
        """Keep the state at the first one of a submit."""
        if action.execution.is_possible and self._is_first(action):
            self._keep(_state_now(action, self._walk, self._provenance))

    def _is_first(self, action: Action) -> bool:
        submit = action.place.submit.submit
        if action.kind not in ("draw", "dispatch") or submit in self._seen:
            return False
        if self._listed >= self._walk.machine.limits.elements:
            if not self._is_full:
                text = f"{self._listed} registers are listed; those of later submits are not"
                self._walk.machine.problems.truncate("elements", text)
            self._is_full = True
            return False
        self._seen.add(submit)
        return True

    def _keep(self, state: State) -> None:
        submit = state.action.place.submit.submit
        old = [
            register
            for register, write in state.writes.items()
            if write.place.submit.submit != submit
        ]
        if old:
            old.sort()
            self._listed += len(old)
            # a register's text may need the other half of a pair
            near = {other for register in old for other in (register - 1, register, register + 1)}
            state.registers = {r: value for r, value in state.registers.items() if r in near}
            state.writes = {register: state.writes[register] for register in old}
            self.inherited.append(Inherited(submit, state, old))
