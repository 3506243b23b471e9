# SPDX-License-Identifier: MIT
"""Recorder: the observer that takes what the draws of a capture depend on.

Which executions are the program's draws is known when a pass has ended. So the recorder takes all
that may be: those outside of tiles, in the first tile, or a given set. Its records are made of
those that are, in the end. Draws of binning runs are taken, too, and have records of their own.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cffpy.analysis.command_writes import CommandReader
from cffpy.analysis.diff.barriers import MAX_EVENTS, PendingBarriers
from cffpy.analysis.diff.commands import COMPARED_PACKETS, DAMAGE, PacketTexts
from cffpy.analysis.diff.model import DrawRecord
from cffpy.analysis.diff.pipe_changes import MAX_CARRIED, PipeChanges
from cffpy.analysis.diff.written import NOTHING, Writes
from cffpy.analysis.inputs.descriptor_sets import BoundSets, Memory, SetPlace
from cffpy.analysis.inputs.draw_parameters import KnownParameters, Parameters
from cffpy.analysis.inputs.facts import (
    NO_FACTS,
    Contents,
    Fact,
    FactKey,
    Facts,
    KnownFacts,
    changed_facts,
    digest,
)
from cffpy.analysis.inputs.loads import LOAD_CONSTANT_CONTEXT, RunLoads
from cffpy.analysis.inputs.slot_registers import NO_SLOT_REGISTERS, slot_registers
from cffpy.analysis.inputs.vertex_buffers import (
    FetchedBuffers,
    KnownInputs,
    VertexInputs,
    first_elements,
    vertex_buffers,
)
from cffpy.analysis.observer import Observer
from cffpy.analysis.register_store.writes import UNKNOWN, joined
from cffpy.analysis.registers import Remembered
from cffpy.capture.generations import Generation
from cffpy.cp.loadstate import LOAD_STATE_PACKETS
from cffpy.cp.packets.regwrite import SET_CONSTANT, SET_REGISTERS
from cffpy.frame.execution import Executed
from cffpy.frame.passes import Tile
from cffpy.regdb.register_text import RegisterText

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set

    from cffpy.analysis.diff.pipe_changes import Reader
    from cffpy.analysis.inputs.facts import ChangedFacts
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.pipes import PipeRegisters
    from cffpy.analysis.register_store.change_log import ChangeLog
    from cffpy.analysis.register_store.writes import Change
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.cp.sink import Payload
    from cffpy.frame.action import Action
    from cffpy.frame.passes import PassRun
    from cffpy.isa.operands import Descriptor
    from cffpy.regdb.database import Database

#: Results that are kept for draws that depend on the same.
_MAX_KNOWN = 4096

#: Bytes in which programs were looked for, each from its start to the end of its buffer, at most.
_MAX_PROGRAM_BYTES = 2 << 30

_NO_CHANGES: list[Change] = []  # never changed
_NO_SETS: Mapping[int, int] = {}


class _Taken:
    """An action that may be a draw of the program, and what it depends on.

    ``facts``: dictionaries with different keys; those that did not change are the same objects.
    """

    __slots__ = (
        "action",
        "changes",
        "facts",
        "memory",
        "own",
        "reader",
        "run",
        "sets",
        "shaders",
        "slots",
    )

    def __init__(
        self,
        action: Action,
        run: PassRun | None,
        changes: list[Change],
        facts: tuple[Facts, ...],
        own: int,
        shaders: tuple[object, ...],
        memory: Memory,
        reader: Reader,
    ) -> None:
        self.action = action
        #: Whose registers it has.
        self.reader = reader
        self.run = run
        self.changes = changes
        self.facts = facts
        #: A hash of the facts that are its own.
        self.own = own
        self.shaders = shaders
        self.sets: Mapping[int, int] = _NO_SETS
        self.slots = NO_SLOT_REGISTERS
        self.memory = memory


#: What ``Recorder`` keeps in order.
_Sequenced = _Taken | tuple["PassRun | None", str] | None


class Recorder(Observer):
    """Takes what draws depend on, and makes records of the draws to compare."""

    def __init__(
        self,
        walk: Walk,
        passes: PassFinder,
        changes: ChangeLog | None,
        register_db: str | None,
        wanted: Set[int] | None = None,
        most: int | None = None,
        known: KnownFacts | None = None,
    ) -> None:
        """``changes`` observes the same walk; this observer takes what it has collected. None:
        records have no registers and no fingerprint, as ``Bindings`` needs neither.

        ``wanted``: the only actions that may be wanted, by ``Action.order``. ``most``: actions that
        are taken. ``known``: facts of a capture to compare with.
        """
        self._walk = walk
        self._passes = passes
        self._log = changes
        self._wanted = wanted
        self._most = most
        #: In order: what was taken, barriers with their runs, and None, which stands for barriers
        #: in runs where nothing is taken.
        self._sequence: list[_Sequenced] = []
        #: The actions that records can be made of, by ``Action.order``.
        self.taken: set[int] = set()
        #: Where the barriers since then begin in it.
        self._begin = 0
        #: The last tile but the first that had barriers, and those since its last action.
        self._last_tile: Tile | None = None
        self._after_tile: list[str] = []
        #: The run of the last barrier.
        self._event_run: PassRun | None = None
        self.listings: dict[bytes, str] = {}
        self.descriptors: dict[bytes, frozenset[Descriptor]] = {}
        #: Barriers after the last record, by name.
        self.last_events: tuple[str, ...] = ()
        self._contents: Contents
        self._generation: Generation
        #: Address -> size, of all submits with records or draw-state groups with sets.
        self.buffers: dict[int, int] = {}
        self._memory: Memory | None = None
        #: Addresses of the draw-state groups that the current stream has loaded so far.
        self._groups: set[int] = set()
        self._writes: Writes
        self._layout = -1
        self._disassemblers = walk.disassemblers(register_db)
        self._program_bytes = 0
        #: The descriptors that the instructions of a program name.
        self._descriptors_of: Callable[[memoryview], frozenset[Descriptor]]
        self._shader_facts: dict[tuple[int, str, int], Fact] = {}
        self._loads: RunLoads
        #: The same of each pipe, once they have had their own; and of BV, while both execute.
        self._loads_by_pipe: dict[str, RunLoads] = {}
        self._also_loads: RunLoads | None = None
        #: Whose registers the last action that was taken has, and all that were.
        self._reader: Reader = None
        self._readers: set[Reader] = set()
        #: Another pipe executes since something was loaded.
        self._has_switched = False
        #: Whether draws of the run that it follows may be taken.
        self._keeps_loads = True
        #: The run of the last draw-state group, and whether what it loads is not needed.
        self._group_run: PassRun | None = None
        self._skips = False
        self._largest: dict[Fact, int | None] = {}
        #: Facts by what they depend on, so that equal ones are the same objects.
        self._parameters: KnownParameters
        self._known_inputs = KnownInputs()
        self._inputs: VertexInputs
        self._programs: tuple[object, tuple[Facts, tuple[object, ...]]] = (None, (NO_FACTS, ()))
        self._drawn: dict[tuple[Parameters, VertexInputs, int], Facts] = {}
        self._known = KnownFacts() if known is None else known
        #: What is not the same in two lists of facts: that of a draw, and that of the one before.
        self._between: dict[tuple[Sequence[Facts], Sequence[Facts]], ChangedFacts] = {}
        #: Memory, bases and places of the sets of the last record.
        self._last_sets: tuple[Memory, Mapping[int, int], dict[int, SetPlace]] | None = None

    @property
    def left_out(self) -> int:
        """Parts of memory that were not read, because so much was read before."""
        return self._contents.left_out if self.taken else 0

    # -- while the machine runs -----------------------------------------------------------------

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Read memory as the generation has it."""
        machine = self._walk.machine
        self._contents = Contents(machine.image, database, self._known.regions)
        disassemblers, number = self._disassemblers, self._walk.generation
        # no method of this object, which keeps it: without a cycle, all is freed at once
        if gpu.facts.instruction_set == "a2xx":
            self._descriptors_of = lambda code: disassemblers.a2xx().descriptors(code)
        else:
            self._descriptors_of = lambda code: disassemblers.ir3(number).descriptors(code)
        self._loads = RunLoads(machine, self._contents, self._descriptors_of)
        self._loads_by_pipe, self._also_loads = {}, None
        text = RegisterText(database)
        self._texts = PacketTexts(text, machine.packets)
        self._parameters = KnownParameters(text)
        commands = CommandReader(self._walk).of_change
        self._writes = Writes(text, database.commands, commands, self._log is not None)
        follow = self._writes.follow
        self._generation = gpu.facts
        facts = self._generation
        self._slots = (
            follow(Remembered(machine, slot_registers(facts, is_compute=False))),
            follow(Remembered(machine, slot_registers(facts, is_compute=True))),
        )
        self._bases = (
            follow(BoundSets(machine, is_compute=False)),
            follow(BoundSets(machine, is_compute=True)),
        )
        self._vertices = follow(Remembered(machine, vertex_buffers))
        self._fetched = FetchedBuffers(self._disassemblers.a2xx)
        self._first_elements = follow(Remembered(machine, first_elements))

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """The buffers may be others than before."""
        self._groups.clear()

    def packet_handlers(self) -> dict[str, Callable[[Payload], None]]:
        """Barriers, other commands that are compared, and packets that load state."""
        handlers: dict[str, Callable[[Payload], None]] = {
            name: partial(self._command, name) for name in COMPARED_PACKETS
        }
        handlers.update(dict.fromkeys(LOAD_STATE_PACKETS, self._load_state))
        handlers["CP_SET_CONSTANT"] = self._set_constant
        handlers["CP_LOAD_CONSTANT_CONTEXT"] = self._load_constants
        return handlers

    def skippable_packets(self) -> Collection[str]:
        """Those that load state."""
        return LOAD_STATE_PACKETS

    def skips_packets(self) -> bool:
        """What is loaded is needed only in runs whose draws may be taken."""
        run = self._passes.run
        if run is not self._group_run:
            self._group_run = run
            self._skips = not self._is_taken_in(run)
        return self._skips

    def _is_taken_in(self, run: PassRun | None) -> bool:
        return self._wanted is not None or run is None or self._may_hold_draws(run)

    def _command(self, name: str, payload: Payload) -> None:
        text = self._texts.of(name, payload)
        if text is not None:
            self._note_event(text)

    def commands_damaged(self, text: str) -> None:
        """What damaged commands do is not known: they differ from whole ones."""
        self._note_event(f"{DAMAGE} {text}")

    def _load_state(self, payload: Payload) -> None:
        if payload.count and self._enter_run():
            for loads in self._entered_loads():
                loads.load_state(payload, self._walk.packet_location)

    def _set_constant(self, payload: Payload) -> None:
        index, kind, _ = payload.read(self._walk.machine.packets[SET_CONSTANT])
        if kind != SET_REGISTERS and self._enter_run():
            for loads in self._entered_loads():
                loads.constant(kind, index, payload, self._walk.packet_location)

    def pipe_changes(self, registers: PipeRegisters) -> None:
        """What packets load is loaded for the pipe that executes them."""
        if registers == "both" and not self._walk.pipes.are_apart:
            return
        by_pipe = self._loads_by_pipe
        if not by_pipe:
            by_pipe.update(BR=self._loads, BV=self._loads.copy())
        self._loads = by_pipe["BV" if registers == "BV" else "BR"]
        self._also_loads = by_pipe["BV"] if registers == "both" else None
        self._has_switched = True

    def _entered_loads(self) -> Iterator[RunLoads]:
        """Of all pipes that execute now, in the current run."""
        yield self._loads
        if self._also_loads is not None:
            self._also_loads.enter(self._passes.run)
            yield self._also_loads

    def _load_constants(self, payload: Payload) -> None:
        self._command("CP_LOAD_CONSTANT_CONTEXT", payload)
        _, kind, *_ = payload.read(self._walk.machine.packets[LOAD_CONSTANT_CONTEXT])
        if kind != SET_REGISTERS and self._enter_run():
            self._loads.constants_of_memory(payload, self._walk.packet_location)

    def _note_event(self, name: str) -> None:
        run = self._passes.run
        if self._last_tile is not None:
            self._end_tile(run)
        if isinstance(run, Tile) and run.number:
            self._last_tile = run
            if len(self._after_tile) < MAX_EVENTS:
                self._after_tile.append(name)
        if self._wanted is None:
            if run is not None and not self._may_hold_draws(run):
                if not self._sequence or self._sequence[-1] is not None:
                    self._sequence.append(None)
                return
        elif run is not self._event_run:
            self._forget_events()
        self._event_run = run
        if len(self._sequence) - self._begin < MAX_EVENTS:
            self._sequence.append((run, name))

    def _end_tile(self, run: PassRun | None) -> None:
        """What follows the last action of a pass's last tile follows the pass: keep that.

        ``run``: the current one. A tile ends where another run begins, and what lies between two
        tiles is repeated after each of them.
        """
        tile = self._last_tile
        if tile is None or run is tile:
            return
        events, self._after_tile, self._last_tile = self._after_tile, [], None
        taken = self._sequence[self._begin - 1] if self._begin else None
        is_kept = isinstance(taken, _Taken) and taken.run is tile
        if not is_kept and not (isinstance(run, Tile) and run.pass_index == tile.pass_index):
            self._sequence.extend((None, name) for name in events)

    def finished(self) -> None:
        """The last tile may be open."""
        self._end_tile(None)

    def _forget_events(self) -> None:
        """All that is taken is wanted: forget now what ``PendingBarriers`` would."""
        taken = self._sequence[self._begin - 1] if self._begin else None
        run = taken.run if isinstance(taken, _Taken) else None
        self._sequence[self._begin :] = [
            one
            for one in self._sequence[self._begin :]
            if isinstance(one, tuple) and (one[0] is None or one[0] in (run, self._event_run))
        ]

    def draw_state_group(self, gpuaddr: int) -> None:
        """A descriptor set ends where a draw-state group begins."""
        if gpuaddr not in self._groups and self._generation.has_bindless:
            self._groups.add(gpuaddr)
            memory = self._current_memory()
            memory.add_bound(gpuaddr)
            if not memory.is_noted:
                self._note_buffers(memory)

    def action(self, action: Action) -> None:
        """Take an action that may be a draw of the program."""
        run = self._passes.run
        if self._last_tile is not None:
            self._end_tile(run)
        self._after_tile.clear()
        if self._wanted is not None:
            is_taken = action.order in self._wanted
        else:
            is_taken = action.execution is not Executed.NO and self._may_hold_draws(run)
        if is_taken and (self._most is None or len(self.taken) < self._most):
            self.taken.add(action.order)
            self._sequence.append(self._take(action, run))
            self._begin = len(self._sequence)

    def _may_hold_draws(self, run: PassRun | None) -> bool:
        """Whether draws of a run, the current one, may stand for all their executions.

        In sysmem they do; in GMEM those of the first tile, if no other has more, and those of the
        binning run, which are compared apart.
        """
        if isinstance(run, Tile) and run.number:
            return False
        return self._passes.current is not None

    def _enter_run(self) -> bool:
        """Something is loaded in a run. Returns whether draws of the run may be taken."""
        run = self._passes.run
        if self._loads.enter(run) or self._has_switched:
            self._has_switched = False
            self._keeps_loads = self._is_taken_in(run)
        return self._keeps_loads

    # -- what an action depends on --------------------------------------------------------------

    def _take(self, action: Action, run: PassRun | None) -> _Taken:
        reader = self._walk.pipes.reader if self._walk.pipes.are_apart else None
        if reader != self._reader:  # the registers are others
            self._reader = reader
            self._readers.add(reader)
            self._writes.forget_results()
        if self._log is None:
            changes = _NO_CHANGES
            pushed, commands = NOTHING
        else:
            changes = self._log.take()
            if action.execution is Executed.NO:  # registers are those of a block, for now
                self._writes.forget_results()
            pushed, commands = self._writes.of(changes)
        facts: tuple[Facts, ...]
        parameters, is_draw = self._parameters.of(action), action.kind == "draw"
        first = parameters.facts
        if not is_draw and action.kind != "dispatch":
            own = hash((first.own, pushed))
            return _Taken(action, run, changes, (first,), own, (), self._current_memory(), reader)
        shaders, digests = self._shader_contents(action)
        self._keeps_loads = True
        slots = self._slots[not is_draw].now()
        loads = self._loads.of(action, run, shaders, slots)
        if is_draw:
            drawn = self._drawn_from(parameters, self._vertex_inputs(shaders, loads))
            facts = first, shaders, loads, drawn, commands
            own = hash((first.own, shaders.own, loads.own, drawn.own, pushed))
        else:
            facts = first, shaders, loads, NO_FACTS, commands
            own = hash((first.own, shaders.own, loads.own, pushed))
        memory = self._current_memory()
        taken = _Taken(action, run, changes, facts, own, digests, memory, reader)
        taken.slots = slots
        if self._generation.has_bindless:
            taken.sets = self._bases[not is_draw].now()
        if action.execution is Executed.NO:
            self._writes.forget_results()
        return taken

    def _vertex_inputs(self, shaders: Facts, loads: Facts) -> VertexInputs:
        if self._generation.instruction_set == "a2xx":
            buffers = self._fetched.of(shaders.get(("shader", "VS")), loads)
        elif self._vertices.is_stale or self._first_elements.is_stale:
            buffers = self._vertices.now()
        else:
            return self._inputs
        self._inputs = self._known_inputs.of(buffers, self._first_elements.now())
        return self._inputs

    def _drawn_from(self, given: Parameters, inputs: VertexInputs) -> Facts:
        image, bound = self._walk.machine.image, inputs.bound
        # what the file does not have is the same in all submits
        has_data = given.has_indices or bound.are_captured(image)
        key = given, inputs, image.epoch if has_data else -1
        known = self._drawn.get(key)
        if known is not None:
            return known
        found: dict[FactKey, Fact] = {}
        elements = given.vertices
        if given.index_region is not None:
            address, count, size = given.index_region
            fact = self._contents.region(address, count * size)
            found["index buffer",] = fact
            if fact not in self._largest:
                self._largest[fact] = self._contents.largest_index(fact, size)
            largest = self._largest[fact]
            elements = None if largest is None else largest + 1
        elif given.indexed:
            elements = None
            if given.indirect_indices is not None:
                found["index buffer",] = self._contents.region(*given.indirect_indices)
        if given.unknown_parameters is not None:
            found["indirect parameters",] = Fact(None, None, given.unknown_parameters)
        # None: nothing is known, since sizes in registers reach to the end of a buffer, where
        # other things may lie
        vertex, instance = inputs.first_vertex, inputs.first_instance
        vertices = range(vertex, vertex + (elements or 0))
        instances = range(instance, instance + (given.instances or 1))
        for one in bound.buffers:
            offset, size = one.extent(vertices, instances) if elements is not None else (0, 0)
            found["vertex buffer", one.number] = self._contents.region(
                one.address, size, offset=offset
            )
        if len(self._drawn) >= _MAX_KNOWN:
            self._drawn.clear()
        known = self._drawn[key] = self._known.of(found)
        return known

    def _current_memory(self) -> Memory:
        image = self._walk.machine.image
        if self._memory is None or self._layout != image.layout:
            self._layout = image.layout
            self._memory = Memory(image)
        return self._memory

    def _note_buffers(self, memory: Memory) -> None:
        memory.is_noted = True
        self.buffers.update((buffer.gpuaddr, buffer.size) for buffer in memory.buffers)

    def _shader_contents(self, action: Action) -> tuple[Facts, tuple[object, ...]]:
        """The facts of its programs, and their digests."""
        epoch = self._walk.machine.image.epoch
        key = epoch, action.programs
        if self._programs[0] == key:
            return self._programs[1]
        found: dict[FactKey, Fact] = {}
        for stage, address in action.programs:
            place = epoch, stage, address
            fact = self._shader_facts.get(place)
            if fact is None:
                fact = self._shader_facts[place] = self._shader(stage, address)
            found["shader", stage] = fact
        result = Facts(found), tuple([fact.digest for fact in found.values()])
        self._programs = key, result
        return result

    def _shader(self, stage: str, address: int) -> Fact:
        place = self._walk.machine.image.place(address)
        if place is None:
            return Fact(None, None, address)
        words, index = place
        self._program_bytes += 4 * max(0, words.count - index)
        if self._program_bytes > _MAX_PROGRAM_BYTES:
            self._contents.left_out += 1
            return Fact(None, None, address)
        data = words.bytes(index, words.count - index)
        if self._generation.instruction_set == "a2xx":
            old = self._disassemblers.a2xx().listing(data, 0, stage == "FS")
            size, text = old.size, old.text
        else:
            new = self._disassemblers.ir3(self._walk.generation).listing(data, 0)
            size, text = new.instructions * 8, new.text
        code = memoryview(data[:size])  # a copy: not all that lies behind it in the buffer
        if not code:
            return Fact(None, None, address)
        value = digest(code)
        self.listings.setdefault(value, text)
        if value not in self.descriptors:
            self.descriptors[value] = self._descriptors_of(code)
        return Fact(value, code, address)

    # -- records --------------------------------------------------------------------------------

    def records(self, wanted: Set[int]) -> dict[int, DrawRecord] | None:
        """The records of the actions with these orders; None where one was not taken.

        What was taken is gone after that.
        """
        if not wanted <= self.taken:
            return None
        sequence, self._sequence = self._sequence, []
        sequence.reverse()
        barriers = PendingBarriers()
        found = self._records(_popped(sequence), wanted, barriers)
        self.last_events = barriers.take(None)
        self._between.clear()
        return found

    def other_records(self, wanted: Set[int]) -> tuple[dict[int, DrawRecord], tuple[str, ...]]:
        """Records as ``records`` makes them, before it is called. What was not taken has none.

        Barriers outside of runs are those of the other records. Returns those after the last record
        as well.
        """
        barriers = PendingBarriers(only_in_runs=True)
        return self._records(iter(self._sequence), wanted, barriers), barriers.take(None)

    def _records(
        self, sequence: Iterator[_Sequenced], wanted: Set[int], barriers: PendingBarriers
    ) -> dict[int, DrawRecord]:
        found: dict[int, DrawRecord] = {}
        by_pipe = PipeChanges() if {"BR", "BV"} <= self._readers else None
        gone: frozenset[int] = frozenset()
        carried: list[Change] = []
        before: tuple[Facts, ...] = ()
        for one in sequence:
            if not isinstance(one, _Taken):
                barriers.note(one)
            elif one.action.order not in wanted:
                if by_pipe is not None:
                    by_pipe.note(one.reader, one.changes)
                    continue
                carried += one.changes
                if len(carried) > MAX_CARRIED:
                    carried = [joined(carried)]
            else:
                if by_pipe is None:
                    changes = [*carried, *one.changes] if carried else one.changes
                else:
                    changes, gone = by_pipe.take(one.reader, one.changes)
                if self._log is not None and self._log.has_unknown:
                    changes = _known(changes)
                events = barriers.take(one.run, one.action.kind != "draw")
                record = self._record(one, changes, before, events)
                record.gone = gone
                found[one.action.order] = record
                carried, before = [], one.facts
        return found

    def _record(
        self,
        taken: _Taken,
        changes: list[Change],
        before: tuple[Facts, ...],
        events: tuple[str, ...],
    ) -> DrawRecord:
        memory = taken.memory
        if not memory.is_noted:
            self._note_buffers(memory)
        sets = self._places(memory, taken.sets)
        return DrawRecord(
            taken.action,
            changes,
            self._changed(taken.facts, before),
            sets,
            events,
            taken.shaders,
            taken.slots,
            taken.own,
            memory=memory,
        )

    def _changed(self, now: Sequence[Facts], before: Sequence[Facts]) -> ChangedFacts:
        """The facts that are not those of the record before. Records share the results."""
        if len(now) == len(before):
            others = [at for at, one in enumerate(now) if one is not before[at]]
            if len(others) == 1:
                return self._known.changed(now[others[0]], before[others[0]])
        known = self._between.get((now, before))
        if known is None:
            if len(self._between) >= _MAX_KNOWN:
                self._between.clear()
            known = self._between[now, before] = changed_facts(now, before)
        return known

    def _places(self, memory: Memory, bases: Mapping[int, int]) -> dict[int, SetPlace]:
        """The sets at these bases. Most draws have those of the draw before: one object."""
        last = self._last_sets
        if last is not None and last[0] is memory and (last[1] is bases or last[1] == bases):
            return last[2]
        for base in bases.values():
            memory.add_bound(base)
        places = {number: (memory, base) for number, base in bases.items()}
        self._last_sets = memory, bases, places
        return places


def _popped(reversed_sequence: list[_Sequenced]) -> Iterator[_Sequenced]:
    """The items from the last to the first; each is gone from the list when it is yielded."""
    while reversed_sequence:
        yield reversed_sequence.pop()


def _known(changes: list[Change]) -> list[Change]:
    """Without registers that only the GPU knows at the end."""
    if not any(UNKNOWN in values.values() for values, _ in changes):
        return changes
    values, source = joined(changes)
    return [({one: value for one, value in values.items() if value != UNKNOWN}, source)]
