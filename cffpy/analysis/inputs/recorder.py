# SPDX-License-Identifier: MIT
"""InputRecorder: the observer that takes what draws depend on besides registers.

Which executions are the program's draws is known when a pass has ended. So the recorder takes all
that may be: those outside of tiles, in the first tile, or a given set. Draws of binning runs are
taken, too. ``ProgramContents`` reads the programs of actions.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from cffpy.analysis.inputs.descriptor_sets import BoundSets, Memory
from cffpy.analysis.inputs.draw_parameters import KnownParameters, Parameters, parameters_key
from cffpy.analysis.inputs.facts import (
    NO_FACTS,
    Contents,
    FactKey,
    Facts,
    InputFact,
    KnownFacts,
    digest,
)
from cffpy.analysis.inputs.loads import LOAD_CONSTANT_CONTEXT, RunLoads
from cffpy.analysis.inputs.register_functions import RegisterFunctions
from cffpy.analysis.inputs.uses import NO_SLOT_REGISTERS, slot_registers
from cffpy.analysis.inputs.vertex_buffers import (
    FetchedBuffers,
    KnownInputs,
    VertexInputs,
    first_elements,
    vertex_buffers,
)
from cffpy.analysis.observer import Observer
from cffpy.analysis.registers import Remembered
from cffpy.cp.loadstate import LOAD_STATE_PACKETS
from cffpy.cp.packets.registers import SET_CONSTANT, SET_REGISTERS
from cffpy.frame.execution import Executed
from cffpy.frame.passes import Tile
from cffpy.regdb.registers import RegisterText

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set

    from cffpy.analysis.inputs.descriptor_sets import SetPlace
    from cffpy.analysis.inputs.uses import Prefetches, SlotRegisters
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.pipes import PipeRegisters
    from cffpy.analysis.register_store.recorder import RegisterRecorder
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Generation, Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.capture.memory import MemoryImage
    from cffpy.frame.action import Action, PacketFacts
    from cffpy.frame.passes import Pass, PassRun
    from cffpy.isa.operands import Descriptor
    from cffpy.pm4.descriptions import Disassemblers
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database

#: Bytes in which programs were looked for, each from its start to the end of its buffer, at most.
_MAX_PROGRAM_BYTES = 2 << 30


class ProgramContents:
    """Reads programs, each once.

    ``listings``, ``descriptors``: the text of each program, and what its instructions name, by its
    digest.
    """

    def __init__(self, disassemblers: Disassemblers) -> None:
        self._disassemblers = disassemblers
        self._is_a2xx = False
        self._generation = 0
        self.listings: dict[bytes, str] = {}
        self.descriptors: dict[bytes, frozenset[Descriptor]] = {}
        #: The descriptors that the instructions of a program name.
        self.descriptors_of: Callable[[memoryview], frozenset[Descriptor]]
        #: By epoch of memory, stage and address.
        self._facts: dict[tuple[int, str, int], InputFact] = {}
        #: Epoch and programs of the last action, and its facts.
        self._last: tuple[object, tuple[Facts, tuple[object, ...]]] = (None, (NO_FACTS, ()))
        self._bytes = 0
        #: Programs that were not read, because so much was read before.
        self.left_out = 0

    def bind(self, generation: Generation, number: int) -> None:
        """Programs are those of this generation."""
        disassemblers = self._disassemblers
        self._generation, self._is_a2xx = number, generation.instruction_set == "a2xx"
        # no method of this object, which keeps it: without a cycle, all is freed at once
        if self._is_a2xx:
            self.descriptors_of = lambda code: disassemblers.a2xx().descriptors(code)
        else:
            self.descriptors_of = lambda code: disassemblers.ir3(number).descriptors(code)

    def of(self, action: Action, image: MemoryImage) -> tuple[Facts, tuple[object, ...]]:
        """The facts of an action's programs, and their digests. The same objects for the same."""
        key = image.epoch, action.programs
        if self._last[0] == key:
            return self._last[1]
        found: dict[FactKey, InputFact] = {}
        for stage, address in action.programs:
            place = image.epoch, stage, address
            fact = self._facts.get(place)
            if fact is None:
                fact = self._facts[place] = self._read(image, stage, address)
            found["shader", stage] = fact
        result = Facts(found), tuple([fact.digest for fact in found.values()])
        self._last = key, result
        return result

    def _read(self, image: MemoryImage, stage: str, address: int) -> InputFact:
        place = image.place(address)
        if place is None:
            return InputFact(None, None, address)
        words, index = place
        self._bytes += 4 * max(0, words.count - index)
        if self._bytes > _MAX_PROGRAM_BYTES:
            self.left_out += 1
            return InputFact(None, None, address)
        data = words.bytes(index, words.count - index)
        if self._is_a2xx:
            old = self._disassemblers.a2xx().listing(data, 0, stage == "FS")
            size, text = old.size, old.text
        else:
            new = self._disassemblers.ir3(self._generation).listing(data, 0)
            size, text = new.instructions * 8, new.text
        code = memoryview(data[:size])  # a copy: not all that lies behind it in the buffer
        if not code:
            return InputFact(None, None, address)
        value = digest(code)
        self.listings.setdefault(value, text)
        if value not in self.descriptors:
            self.descriptors[value] = self.descriptors_of(code)
        return InputFact(value, code, address)


#: Results that are kept for draws that depend on the same.
_MAX_KNOWN = 4096

#: Of a hash, those that it keeps if it is made negative.
_BITS = (1 << 62) - 1

#: Positions in ``DrawInputs.facts``.
PARAMETERS, PROGRAMS, LOADED, FETCHED = range(4)

_NO_BASES: Mapping[int, int] = {}
_NO_SETS: Mapping[int, SetPlace] = {}


class DrawInputs:
    """An action and what it depends on besides registers.

    ``facts``: in this order its PARAMETERS, its PROGRAMS, what packets have LOADED, and what is
    FETCHED by it; of an action that runs no programs the first alone. Actions share these objects:
    what did not change is the same one. ``own``: a hash of what is its own, by which it is
    recognised. ``shaders``: digests of its programs, as far as they are captured. ``slots``: what
    registers say about the slots of its stages. ``memory``: the buffers of its submit. ``bases``:
    address of each bindless set that is bound, by its number; ``sets``: the same with the memory.
    """

    __slots__ = (
        "action",
        "bases",
        "facts",
        "memory",
        "own",
        "run",
        "sets",
        "shaders",
        "slots",
    )

    def __init__(
        self,
        action: Action,
        run: PassRun | None,
        facts: tuple[Facts, ...],
        own: int,
        memory: Memory,
        shaders: tuple[object, ...] = (),
        slots: SlotRegisters = NO_SLOT_REGISTERS,
        bases: Mapping[int, int] = _NO_BASES,
    ) -> None:
        self.action = action
        self.run = run
        self.facts = facts
        self.own = own
        self.memory = memory
        self.shaders = shaders
        self.slots = slots
        self.bases = bases
        self.sets = _NO_SETS

    @property
    def prefetched(self) -> Prefetches:
        """Set and slot of what is used of bindless sets before its fragment shader starts."""
        return self.slots.prefetched_of_sets if self.sets else ()


def may_hold_draws(passes: PassFinder, run: PassRun | None) -> bool:
    """Whether draws of a run, the current one, may stand for all their executions.

    In sysmem they do; in GMEM those of the first tile, if no other has more, and those of the
    binning run, which are compared as such.
    """
    if isinstance(run, Tile) and run.number:
        return False
    return passes.current is not None


def _are_equal(one: PacketFacts, other: PacketFacts) -> bool:
    """Whether two packets say the same."""
    return one is other or parameters_key(one) == parameters_key(other)


def is_taken(action: Action, passes: PassFinder, wanted: Set[int] | None) -> bool:
    """Whether an action is recorded: it is ``wanted``, or may be a draw of the program."""
    if wanted is not None:
        return action.order in wanted
    if action.execution is Executed.NO:
        return False
    if action.kind == "lrz clear":  # it may be before its pass
        return not (isinstance(passes.run, Tile) and passes.run.number)
    return may_hold_draws(passes, passes.run)


class Intervals:
    """What is loaded before each action of a tile, as a number: equal where the same is loaded.

    Tiles run the same streams. So draw-state groups are compared by their addresses, other packets
    by their dwords, and both by what packets have written to memory in the pass so far.
    """

    def __init__(self) -> None:
        #: By ``Action.order``; 0 outside of tiles.
        self.numbers = array("q")
        #: Addresses of groups, and below 0 hashes of packets, since the action before.
        self.loaded: list[int] = []
        #: Number -> what was loaded.
        self._loaded: dict[int, tuple[int, ...]] = {}
        self._pass: Pass | None = None
        #: Address -> a hash of what was written there in the pass; and a hash of all that.
        self._written: dict[int, int] = {}
        self._memory = 0

    def end(self, is_in_tile: bool) -> None:
        """An action comes."""
        number = 0
        if is_in_tile:
            loaded = self._memory, *self.loaded
            number = hash(loaded)
            self._loaded.setdefault(number, loaded)
        self.numbers.append(number)
        self.loaded.clear()

    def write(self, one: Pass | None, gpuaddr: int, data: bytes) -> None:
        """A packet writes to memory."""
        if one is not self._pass:
            self._pass, self._memory = one, 0
            self._written.clear()
        before = self._written.get(gpuaddr)
        now = self._written[gpuaddr] = hash((gpuaddr, data))
        self._memory ^= now ^ (0 if before is None else before)

    def differing(
        self, actions: Sequence[Action], counterparts: Sequence[Action | None], first: int | None
    ) -> Iterator[Action]:
        """The actions of a tile that may depend on other things than their counterparts.

        What an action loads is in force for those after it. ``first``: 0 where the former are of
        the first tile, 1 where the latter are.
        """
        numbers, is_other = self.numbers, False
        for position, (action, of) in enumerate(zip(actions, counterparts, strict=True)):
            if of is None:
                yield action
                continue
            number, known = numbers[action.order], numbers[of.order]
            is_other = is_other or (
                number != known
                and not (position == 0 and self._has_more_before(number, known, first))
            )
            if is_other or not _are_equal(action._packet_facts, of._packet_facts):
                yield action

    def _has_more_before(self, one: int, other: int, first: int | None) -> bool:
        """Whether what is loaded differs only by what was loaded before the first tile.

        That precedes what the tile loads itself. It is compared there, at the first action.
        """
        if first is None or not {one, other} <= self._loaded.keys():
            return False  # one of them is of a binning run
        both = self._loaded[one], self._loaded[other]
        (memory, *loaded), (memory_then, *then) = both[first], both[1 - first]
        more = len(loaded) - len(then)
        return more > 0 and memory == memory_then and loaded[more:] == then


class InputRecorder(Observer):
    """Takes what actions depend on; ``taken`` has them by ``Action.order``."""

    def __init__(
        self,
        walk: Walk,
        passes: PassFinder,
        registers: RegisterRecorder | None,
        register_db: str | None,
        wanted: Set[int] | None = None,
        most: int | None = None,
        known: KnownFacts | None = None,
    ) -> None:
        """``registers``: of the same walk, if registers are recorded.

        ``wanted``: the only actions that are taken, by ``Action.order``; ``most``: how many are.
        ``known``: facts of a capture to compare with.
        """
        self._walk = walk
        self._passes = passes
        self._registers = registers
        self._wanted = wanted
        self._most = most
        self.taken: dict[int, DrawInputs] = {}
        self.intervals = Intervals()
        passes.tile_begins = self.intervals.loaded.clear
        self._contents: Contents
        self._generation: Generation
        #: Address -> size, of all submits with records or draw-state groups with sets.
        self.buffers: dict[int, int] = {}
        self._memory: Memory | None = None
        self._layout = -1
        #: Addresses of the draw-state groups that the current stream has loaded so far.
        self._groups: set[int] = set()
        self._disassemblers = walk.disassemblers(register_db)
        self.programs = ProgramContents(self._disassemblers)
        #: Called with packets that load descriptors of bindless sets.
        self.loads_set: Callable[[Payload], None] | None = None
        self._loads: RunLoads
        #: The same of each pipe, once they have had their own; and of BV, while both execute.
        self._loads_by_pipe: dict[str, RunLoads] = {}
        self._also_loads: RunLoads | None = None
        #: Another pipe executes since something was loaded.
        self._has_switched = False
        #: Whether draws of the run that packets load for may be taken.
        self._keeps_loads = True
        #: The run of the last draw-state group, and whether what it loads is not needed.
        self._group_run: PassRun | None = None
        self._skips = False
        self._functions: RegisterFunctions
        #: Whose registers the functions were asked about last.
        self._reader: str | None = None
        #: How much of what is written they know, and of what log.
        self._noted = self._joins = 0
        self._largest: dict[InputFact, int | None] = {}
        #: Facts by what they depend on, so that equal ones are the same objects.
        self._parameters: KnownParameters
        self._known_inputs = KnownInputs()
        self._inputs: VertexInputs
        self._drawn: dict[tuple[Parameters, VertexInputs, int], Facts] = {}
        self._known = KnownFacts() if known is None else known
        if registers is not None:
            registers.kept = self.taken

    @property
    def left_out(self) -> int:
        """Parts of memory that were not read, because so much was read before."""
        return self._contents.left_out + self.programs.left_out if self.taken else 0

    def place_sets(self, orders: Set[int]) -> dict[int, DrawInputs]:
        """The actions of these that were taken, in order, with ``sets``. After the walk.

        A set ends where another set begins that one of them uses.
        """
        found = {order: self.taken[order] for order in sorted(orders & self.taken.keys())}
        memory, bases, sets = None, _NO_BASES, _NO_SETS
        for one in found.values():
            if not one.memory.is_noted:
                self._note_buffers(one.memory)
            if one.memory is not memory or (one.bases is not bases and one.bases != bases):
                for base in one.bases.values():
                    one.memory.add_bound(base)
                sets = {number: (one.memory, base) for number, base in one.bases.items()}
            memory, bases = one.memory, one.bases
            one.sets = sets  # most have those of the action before: one object
        return found

    # -- while the machine runs -----------------------------------------------------------------

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Read memory as the generation has it."""
        machine = self._walk.machine
        self._generation = gpu.facts
        self._contents = Contents(machine.image, database, self._known.regions)
        self.programs.bind(gpu.facts, self._walk.generation)
        self._loads = RunLoads(machine, self._contents, self.programs.descriptors_of)
        self._loads_by_pipe, self._also_loads = {}, None
        self._parameters = KnownParameters(RegisterText(database))
        self._functions = RegisterFunctions(self._registers is not None)
        follow = self._functions.follow
        self._slots = (
            follow(Remembered(machine, slot_registers(gpu.facts, is_compute=False))),
            follow(Remembered(machine, slot_registers(gpu.facts, is_compute=True))),
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
        """Packets that load state."""
        handlers: dict[str, Callable[[Payload], None]] = dict.fromkeys(
            LOAD_STATE_PACKETS, self._load_state
        )
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
        return self._wanted is not None or run is None or may_hold_draws(self._passes, run)

    def _load_state(self, payload: Payload) -> None:
        self._note_load(payload)
        if payload.count and self._enter_run():
            is_of_set = [
                loads.load_state(payload, self._walk.packet_location)
                for loads in self._entered_loads()
            ]
            if is_of_set[0] and self.loads_set is not None:
                self.loads_set(payload)

    def _note_load(self, payload: Payload) -> None:
        """Packets of groups are noted as the group: they are skipped in most tiles."""
        if self._walk.packet_location.stream.kind == "group":
            return
        words, index = payload.words, payload.index
        self.intervals.loaded.append(-1 - (hash(words.bytes(index, payload.count)) & _BITS))

    def _set_constant(self, payload: Payload) -> None:
        index, kind, _ = payload.read(self._walk.machine.packets[SET_CONSTANT])
        if kind == SET_REGISTERS:
            return
        self._note_load(payload)
        if self._enter_run():
            for loads in self._entered_loads():
                loads.constant(kind, index, payload, self._walk.packet_location)

    def _load_constants(self, payload: Payload) -> None:
        _, kind, *_ = payload.read(self._walk.machine.packets[LOAD_CONSTANT_CONTEXT])
        if kind == SET_REGISTERS:
            return
        self._note_load(payload)
        if self._enter_run():
            self._loads.constants_of_memory(payload, self._walk.packet_location)

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

    def _enter_run(self) -> bool:
        """Something is loaded in a run. Returns whether draws of the run may be taken."""
        run = self._passes.run
        if self._loads.enter(run) or self._has_switched:
            self._has_switched = False
            self._keeps_loads = self._is_taken_in(run)
        return self._keeps_loads

    def draw_state_group(self, gpuaddr: int) -> None:
        """A descriptor set ends where a draw-state group begins."""
        self.intervals.loaded.append(gpuaddr)
        if gpuaddr not in self._groups and self._generation.has_bindless:
            self._groups.add(gpuaddr)
            memory = self._current_memory()
            memory.add_bound(gpuaddr)
            if not memory.is_noted:
                self._note_buffers(memory)

    def memory_written(self, gpuaddr: int, payload: Payload, before: bytes) -> None:
        """What is loaded from there may be other than in the tile before."""
        data = payload.words.bytes(payload.index, payload.count)
        self.intervals.write(self._passes.current, gpuaddr, data)

    def action(self, action: Action) -> None:
        """Take an action that may be a draw of the program."""
        self.intervals.end(isinstance(self._passes.run, Tile))
        has_room = self._most is None or len(self.taken) < self._most
        if has_room and is_taken(action, self._passes, self._wanted):
            self.taken[action.order] = self._take(action)
        if action.execution is not Executed.NO:
            self._loads.acted()
            if self._also_loads is not None:
                self._also_loads.acted()

    # -- what an action depends on --------------------------------------------------------------

    def _take(self, action: Action) -> DrawInputs:
        self._note_writes()
        is_skipped = action.execution is Executed.NO  # registers are those of a block, for now
        if is_skipped:
            self._functions.forget_results()
        run, memory = self._passes.run, self._current_memory()
        parameters, is_draw = self._parameters.of(action), action.kind == "draw"
        first = parameters.facts
        if not is_draw and action.kind != "dispatch":
            return DrawInputs(action, run, (first,), first.own, memory)
        shaders, digests = self.programs.of(action, self._walk.machine.image)
        self._keeps_loads = True
        slots = self._slots[not is_draw].now()
        loads = self._loads.of(action, run, shaders, slots)
        facts: tuple[Facts, ...] = first, shaders, loads
        own = first.own, shaders.own, loads.own
        if is_draw:
            drawn = self._drawn_from(parameters, self._vertex_inputs(shaders, loads))
            facts, own = (*facts, drawn), (*own, drawn.own)  # type: ignore[assignment]
        bases = self._bases[not is_draw].now() if self._generation.has_bindless else _NO_BASES
        if is_skipped:
            self._functions.forget_results()
        return DrawInputs(action, run, facts, hash(own), memory, digests, slots, bases)

    def _note_writes(self) -> None:
        """Have functions asked again about registers that were written since the last action."""
        registers, functions = self._registers, self._functions
        if registers is None:
            return
        pipes = self._walk.pipes
        reader = pipes.reader if pipes.are_apart else None
        if reader != self._reader or registers.joins != self._joins:
            self._reader, self._joins = reader, registers.joins
            functions.forget_results()
            self._noted = len(registers.entries)
            return
        entries = registers.entries
        functions.note(entries[self._noted :])
        self._noted = len(entries)

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
        found: dict[FactKey, InputFact] = {}
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
            found["indirect parameters",] = InputFact(None, None, given.unknown_parameters)
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
