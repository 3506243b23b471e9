# SPDX-License-Identifier: MIT
"""A capture as ``diff`` compares it: passes, and of each of the program's draws what it depends on.

Records hold only what has changed since the record before: state is large, changes are few.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from cffpy.analysis.diff.align import note_sets, note_states
from cffpy.analysis.diff.descriptors import Memory, SetPlace, Sets, bases, prefetched
from cffpy.analysis.diff.facts import (
    Contents,
    Fact,
    FactKey,
    Loads,
    digest,
    parameters,
    vertex_buffers,
)
from cffpy.analysis.diff.model import DrawRecord, Recording
from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.provenance import ChangeLog
from cffpy.analysis.queries import find_passes
from cffpy.analysis.walk import Walk
from cffpy.capture.generations import Generation, generation_of
from cffpy.cp.loadstate import LOAD_STATE_PACKETS
from cffpy.cp.packets.regwrite import SET_CONSTANT, SET_REGISTERS
from cffpy.isa.edition import Disassemblers
from cffpy.limits import Truncation
from cffpy.regdb.register_text import RegisterText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.analysis.actions import Action
    from cffpy.analysis.passes.model import PassRun
    from cffpy.analysis.provenance import Change
    from cffpy.capture.gpu import Gpu
    from cffpy.container.open import Content
    from cffpy.cp.sink import Payload
    from cffpy.isa.operands import Descriptor
    from cffpy.regdb.database import Database

#: Packets that order or synchronise; compared as a sequence between draws.
_BARRIERS = frozenset(
    (
        "CP_WAIT_FOR_IDLE",
        "CP_WAIT_FOR_ME",
        "CP_WAIT_MEM_WRITES",
        "CP_WAIT_REG_MEM",
        "CP_WAIT_REG_EQ",
        "CP_WAIT_MEM_GTE",
        "CP_WAIT_TIMESTAMP",
    )
)

#: Events that are no barrier: marks for statistics, and what is compared as an operation.
_OTHER_EVENTS = ("BLIT", "LRZ_CLEAR", "LABEL", "ZPASS_DONE", "START_PRIMITIVE_CTRS")

#: Packets between two draws that are kept, at most.
_MAX_EVENTS = 4096

#: Bytes in which programs were looked for, each from its begin to the end of its buffer, at most.
_MAX_PROGRAM_BYTES = 2 << 30

#: Registers that hold push constants (a7xx).
_PUSH_CONSTANTS = "HLSQ_SHARED_CONSTS_IMM"


def record(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
    in_binning: frozenset[int] = frozenset(),
) -> Recording:
    """Record a capture: one walk to find the program's draws, one to take what they depend on.

    ``in_binning``: the indices of passes whose draws are recorded in the binning run.
    Raises UnsupportedGpu where nothing tells the generation.
    """
    first, damage = find_passes(content, complain, register_db, gpu)
    for one in first.found.passes:
        if one.index in in_binning and one.binning is not None:
            one.program_draws = [a for a in one.binning.draws if a.program_number is not None]
    orders = (draw.order for one in first.found.passes for draw in one.program_draws)
    most = first.walk.machine.limits.compared
    wanted = set(islice(orders, most))
    if next(orders, None) is not None:
        text = f"only the first {most:,} draws are compared"
        first.found.truncated.append(Truncation("draws", text))
    walk = Walk()
    passes = PassFinder(walk)
    changes = ChangeLog(walk, passes)
    recorder = Recorder(walk, passes, changes, wanted, register_db)
    walk.observe(passes, changes, recorder)
    walk.run(content, lambda _line: None, register_db, gpu)
    generation = first.found.generation
    database = walk.machine.database if first.found.passes else None
    recording = Recording(content.name, first.found, database, generation)
    recording.records = recorder.records
    recording.listings = recorder.listings
    recording.descriptors = recorder.descriptors
    recording.last_events = recorder.take_events(None)
    recording.buffers = sorted(recorder.buffers.items())
    recording.damage = damage
    if recorder.left_out:
        text = f"{recorder.left_out} parts of memory, too many to be compared"
        recording.passes.truncated.append(Truncation("", text))
    if database is not None and generation_of(generation).has_bindless:
        recording.sets = Sets(database, walk.machine.packets, generation)
        note_sets(recording)
    note_states(recording)

    def record_binning(passes: frozenset[int]) -> Recording:
        return record(content, lambda _line: None, register_db, gpu, passes)

    recording.record_binning = record_binning
    return recording


class Recorder(Observer):
    """Takes a record at each action that is wanted."""

    def __init__(
        self,
        walk: Walk,
        passes: PassFinder,
        changes: ChangeLog,
        wanted: set[int],
        register_db: str | None,
    ) -> None:
        self._walk = walk
        self._passes = passes
        self._log = changes
        self.records: dict[int, DrawRecord] = {}
        self.listings: dict[bytes, str] = {}
        self.descriptors: dict[bytes, frozenset[Descriptor]] = {}
        self._orders = wanted
        self._contents: Contents
        self._generation: Generation
        #: Address -> size, of all submits.
        self.buffers: dict[int, int] = {}
        self._memory: Memory | None = None
        self._text: RegisterText
        #: Registers that hold push constants, among those that were looked at.
        self._pushed: set[int] = set()
        self._classified: set[int] = set()
        self._layout = -1
        self._disassemblers = Disassemblers(register_db)
        self._program_bytes = 0
        self._shader_facts: dict[tuple[int, str, int], Fact] = {}
        self._loads: Loads
        self._facts: dict[FactKey, Fact] = {}
        self._run: PassRun | None = None
        #: Barriers since the last record, and the runs that they were executed in.
        self._events: list[tuple[PassRun | None, str]] = []
        #: The run that the last record was taken in, and the one of the last barrier.
        self._recorded_run: PassRun | None = None
        self._event_run: PassRun | None = None
        self._largest: dict[Fact, int | None] = {}

    @property
    def left_out(self) -> int:
        """Parts of memory that were not read, because so much was read before."""
        return self._contents.left_out if self.records else 0

    # -- while the machine runs -----------------------------------------------------------------

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Read memory as the generation has it."""
        machine = self._walk.machine
        self._contents = Contents(machine.image, database)
        self._loads = Loads(machine, self._contents)
        self._text = RegisterText(database)
        self._pushed.clear()
        self._classified.clear()
        self._generation = gpu.facts

    def packet_handlers(self) -> dict[str, Callable[[Payload], None]]:
        """Barriers, and packets that load state."""
        handlers: dict[str, Callable[[Payload], None]] = {
            name: partial(self._barrier, name) for name in _BARRIERS
        }
        handlers.update(dict.fromkeys(LOAD_STATE_PACKETS, self._load_state))
        handlers["CP_SET_CONSTANT"] = self._set_constant
        return handlers

    def _barrier(self, name: str, payload: Payload) -> None:
        self._note_event(name)

    def _load_state(self, payload: Payload) -> None:
        if payload.count:
            self._enter_run()
            self._loads.load_state(payload, self._walk.packet_location)

    def _set_constant(self, payload: Payload) -> None:
        index, kind, _ = payload.read(self._walk.machine.packets[SET_CONSTANT])
        if kind != SET_REGISTERS:
            self._enter_run()
            self._loads.constant(kind, index, payload, self._walk.packet_location)

    def event(self, name: str | None) -> None:
        """Keep events that are barriers."""
        if name is not None and name not in _OTHER_EVENTS:
            self._note_event(name)

    def _note_event(self, name: str) -> None:
        run = self._current_run
        if run is not self._event_run:
            # the binning run and each tile repeat what the run has that records are taken in
            self._events = [event for event in self._events if self._is_of_records(event[0])]
            self._event_run = run
        if len(self._events) < _MAX_EVENTS:
            self._events.append((run, name))

    def take_events(self, run: PassRun | None) -> tuple[str, ...]:
        """Barriers since the last record, without those of runs but this one and the last's."""
        events = tuple(name for at, name in self._events if at is run or self._is_of_records(at))
        self._events = []
        self._recorded_run = run
        return events

    def _is_of_records(self, run: PassRun | None) -> bool:
        return run is None or run is self._recorded_run

    def draw_state_group(self, gpuaddr: int) -> None:
        """A descriptor set ends where a draw-state group begins."""
        if self._generation.has_bindless:
            self._current_memory().add_bound(gpuaddr)

    def action(self, action: Action) -> None:
        """Take the record of a wanted action."""
        if action.order in self._orders:
            self.records[action.order] = self._record(action)

    def _enter_run(self) -> None:
        """What was loaded in another run, say the binning run, is not of this one's draws.

        Drivers load everything again: each run executes the same commands.
        """
        run = self._current_run
        if run is not self._run:
            self._run = run
            self._loads.facts.clear()

    @property
    def _current_run(self) -> PassRun | None:
        return self._passes.run

    # -- records --------------------------------------------------------------------------------

    def _record(self, action: Action) -> DrawRecord:
        self._enter_run()
        memory = self._current_memory()
        changes = self._log.take_known()
        now = dict(self._all_facts(action))
        before = self._facts
        facts: dict[FactKey, Fact | None] = {
            key: fact for key, fact in now.items() if _is_new(fact, before.get(key))
        }
        facts.update({key: None for key in before if key not in now})
        shaders = tuple(now[key].digest for key in now if key[0] == "shader")
        own = [(key, now[key].digest) for key in now if key[0] in _OWN]
        own_key = hash((tuple(own), self._pushed_constants(changes)))
        self._facts = now
        events = self.take_events(self._run)
        sets = self._sets(action)
        early = prefetched(self._walk.registers) if sets else ()
        return DrawRecord(
            action, changes, facts, sets, events, shaders, early, own_key, memory=memory
        )

    def _pushed_constants(self, changes: list[Change]) -> tuple[tuple[int, int], ...]:
        """Registers with push constants that were written since the last record, with values."""
        found: dict[int, int] = {}
        for values, _ in changes:
            if not values.keys() <= self._classified:
                for register in values.keys() - self._classified:
                    if self._text.name(register).startswith(_PUSH_CONSTANTS):
                        self._pushed.add(register)
                self._classified |= values.keys()
            for register in self._pushed & values.keys():
                found[register] = values[register]
        return tuple(sorted(found.items()))

    def _all_facts(self, action: Action) -> Iterator[tuple[FactKey, Fact]]:
        yield from parameters(action)
        if action.kind in ("draw", "dispatch"):
            yield from self._shader_contents(action)
            yield from self._loads.facts.items()
        if action.kind == "draw":
            yield from self._drawn_from(action)

    def _drawn_from(self, action: Action) -> Iterator[tuple[FactKey, Fact]]:
        elements = action.vertices
        indices = action.index_region
        if indices is not None:
            address, count, size = indices
            fact = self._contents.region(address, count * size)
            yield ("index buffer",), fact
            if fact not in self._largest:
                self._largest[fact] = self._contents.largest_index(fact, size)
            largest = self._largest[fact]
            elements = None if largest is None else largest + 1
        elif action.indexed:
            elements = None
        if elements is not None:
            elements = max(elements, action.instances or 1)
        yield from vertex_buffers(self._walk.registers, self._contents, elements)

    def _sets(self, action: Action) -> dict[int, SetPlace]:
        if not self._generation.has_bindless or action.kind not in ("draw", "dispatch"):
            return {}
        memory = self._current_memory()
        found = {}
        for number, base in bases(self._walk.registers, action.kind == "dispatch"):
            memory.add_bound(base)
            found[number] = memory, base
        return found

    def _current_memory(self) -> Memory:
        image = self._walk.machine.image
        if self._memory is None or self._layout != image.layout:
            self._layout = image.layout
            self._memory = Memory(image)
            self.buffers.update((buffer.gpuaddr, buffer.size) for buffer in image.buffers)
        return self._memory

    def _shader_contents(self, action: Action) -> Iterator[tuple[FactKey, Fact]]:
        for stage, address in action.shaders:
            key = (self._walk.machine.image.epoch, stage, address)
            fact = self._shader_facts.get(key)
            if fact is None:
                fact = self._shader_facts[key] = self._shader(stage, address)
            yield ("shader", stage), fact

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
        code = memoryview(data)[:size]
        if not code:
            return Fact(None, None, address)
        value = digest(code)
        self.listings.setdefault(value, text)
        if self._generation.has_bindless and value not in self.descriptors:
            disassembler = self._disassemblers.ir3(self._walk.generation)
            self.descriptors[value] = disassembler.descriptors(code)
        return Fact(value, code, address)


def _is_new(fact: Fact, before: Fact | None) -> bool:
    """Whether it is another value, or the same one from another packet."""
    return before is not fact and (before != fact or before.place is not fact.place)


#: Facts that belong to one draw alone, by which draws are recognised.
_OWN = (
    "draw",
    "shader",
    "push constants",
    "constants",
    "uniform data",
    "vertex buffer",
    "index buffer",
)
