# SPDX-License-Identifier: MIT
"""Runs the commands of a capture and keeps the state: the base of all analyses.

Stores of immediate data are executed, so that secondary command buffers return to their callers.
"""

from __future__ import annotations

from cffpy.frame.action import DRAW_INSTRUCTIONS
from cffpy.frame.execution import Executed
from cffpy.frame.places import ExecutedStream
from cffpy.intel.analysis.actions import PREDICATE, is_action, is_rectangle, make_action
from cffpy.intel.analysis.generated import find_generation, generated_commands
from cffpy.intel.analysis.programs import Kernels
from cffpy.intel.analysis.state import Instruction, State, Submission, sets_state
from cffpy.intel.analysis.streamer import STREAMER_COMMANDS, Streamer
from cffpy.intel.decoder.batches import M48, START, BatchRunner, Kind
from cffpy.intel.descriptions import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.frame.action import Action, Generated
    from cffpy.frame.places import PacketLocation
    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.generated import Generation
    from cffpy.intel.container.memory import AddressSpace
    from cffpy.intel.decoder.groups import Command, Database, Group
    from cffpy.row_readers import BytesLike

FLUSHES = frozenset(("PIPE_CONTROL", "RESOURCE_BARRIER", "MI_FLUSH", "MI_FLUSH_DW"))
"""Instructions that flush, invalidate or wait."""

#: Field -> what it does.
_WORDS = {
    "Command Streamer Stall Enable": "stall the command streamer",
    "Stall At Pixel Scoreboard": "stall at the pixel scoreboard",
    "Depth Stall Enable": "stall for depth",
    "Pipe Control Flush Enable": "wait for earlier flushes",
    "Notify Enable": "interrupt the CPU",
    "Indirect State Pointers Disable": "disable indirect state pointers",
    "Generic Media State Clear": "clear media state",
    "TLB Invalidate": "invalidate the TLBs",
    "Instruction Cache Invalidate Enable": "invalidate the instruction cache",
    "PSS Stall Sync Enable": "wait for pixel shaders to be dispatched",
    "Depth Stall Sync Enable": "synchronise depth stalls",
    "DC Flush Enable": "flush the data cache",
    "HDC Pipeline Flush Enable": "flush the data port pipeline (HDC)",
    "Flush LLC": "flush the last level cache",
    "Global Snapshot Count Reset": "reset snapshot counters",
}
#: End of a field's name -> what is done to the cache that it begins with.
_ENDS = (
    (" Cache Flush Enable", "flush the {} cache"),
    (" Flush Enable", "flush {}"),
    (" Cache Invalidation Enable", "invalidate the {} cache"),
    (" Invalidation Enable", "invalidate {}"),
)
_CACHES = {
    "VF": "vertex fetch",
    "Render Target": "render target",
    "Depth": "depth",
    "Texture": "texture",
    "State": "state",
    "Constant": "constant",
    "Tile": "tile",
    "Untyped Data Port": "untyped data port",
    "L3 Read Only": "read-only L3",
}


def flush_words(command: Command) -> list[str]:
    """What a command that flushes does, as text; empty where it has no effect."""
    group = command.group
    if group.name != "PIPE_CONTROL":
        return [group.name.lower().replace("_", " ").removeprefix("mi ")]
    header = command.dword(0)
    found = []
    for field in group.fields(group.length_of(header), header):
        if field.kind == rows.BOOL and not field.is_opcode and field.value(command.words):
            found.append(_words(field.name))
    operation = command.text("Post Sync Operation")
    if command.number("Post Sync Operation"):
        text = operation.lower().replace("ps depth count", "PS depth count")
        found.append(f"{text} to {command.number('Address') & ((1 << 48) - 1):#x}")
    return found


def _words(name: str) -> str:
    known = _WORDS.get(name)
    if known is not None:
        return known
    for end, text in _ENDS:
        if name.endswith(end):
            cache = name.removesuffix(end)
            return text.format(_CACHES.get(cache, cache))
    return name[0].lower() + name[1:]


#: Handlers of instructions, by name.
_IGNORE, _STATE, _FLUSH, _LOAD, _JUMP, _COMPUTE, _PREDICATION = range(7)
_MAX_PROBLEMS = 1 << 10
#: Vertices of the rectangle that generates draws.
_GENERATION_VERTICES = 3
_MAX_GENERATIONS = 1 << 10
#: The first generation whose descriptions have commands of the command streamer (MI_...). Bits
#: 31:23 of those that matter before: MI_BATCH_BUFFER_END and _START, and the last of all.
_FIRST_WITH_MI, _END_OPCODE, _START_OPCODE, _LAST_MI = 6, 0x0A, 0x31, 0x3F
#: Batches that are listed.
_MAX_BATCHES = 1 << 14
_STATE_OF_STREAMER = frozenset(("MI_LOAD_REGISTER_IMM", "MI_LOAD_REGISTER_REG"))


class _Kind(Kind):
    __slots__ = ("role",)

    def __init__(self, group: Group, length: int) -> None:
        super().__init__(group, length, 4 * max(1, length))
        self.role = _role(group.name)


def _role(name: str) -> int:
    if name in FLUSHES:
        return _FLUSH
    if name == "MI_LOAD_REGISTER_MEM":
        return _LOAD
    if name == START:
        return _JUMP
    if name == "MI_SET_PREDICATE":
        return _PREDICATION
    if name in STREAMER_COMMANDS:
        return _COMPUTE
    if name.startswith("MI_"):
        return _STATE if name in _STATE_OF_STREAMER else _IGNORE
    return _STATE


class Problem:
    """Missing memory that the commands refer to, and its address."""

    __slots__ = ("address", "text")

    def __init__(self, text: str, address: int) -> None:
        self.text = text
        self.address = address

    def __str__(self) -> str:
        return f"{self.text} at {self.address:#x}"


class Walk(BatchRunner):
    """Runs batches; subclasses override ``acted``, ``flushed`` and ``state_set``.

    ``submit``: the number of the submission that runs, -1 before the first. ``problems``: what is
    missing or unknown, each once.
    """

    def __init__(self, database: Database, memory: AddressSpace, budget: int) -> None:
        super().__init__(database, memory, budget, follows_stores=True)
        self.state = State(database)
        self.streamer = Streamer(self.state, self)
        self.kernels = Kernels(self)
        self.submit = -1
        #: Whether it was ended by ``stop``.
        self.is_stopped = False
        self.problems: list[Problem] = []
        self._named: set[tuple[str, int]] = set()
        self._batch_address = 0
        #: Whether the addresses of the batch are of the PPGTT.
        self._ppgtt = True
        #: Offset in the file of the submission's own commands, in classic files.
        self.data_offset: int | None = None
        #: The commands that run: those of the submission, or a batch; where the submission's jump.
        self.stream = Submission(-1, "", 0, 0, None).stream()
        self._entry: PacketLocation | None = None
        #: Submission and address of a batch -> how often it was run.
        self.batches: dict[tuple[int, int], int] = {}
        self._actions = 0
        #: Calls that generate draws, in their order.
        self.generations: list[Generation] = []
        #: Address -> the call whose draws are expected there.
        self._expected: dict[int, Generation] = {}

    def stop(self) -> None:
        """End the walk after the current instruction."""
        self.is_stopped = self.is_exhausted = True

    # --- what subclasses override ---------------------------------------------------------------

    def acted(self, action: Action, uses: Uses, command: Instruction) -> None:
        """An action, with the current state."""

    def flushed(self, command: Instruction) -> None:
        """A command that flushes caches or waits."""

    def state_set(self, command: Instruction) -> None:
        """An instruction has changed the state."""

    def jumped(self, command: Instruction) -> None:
        """A jump to another batch, before it is followed."""

    # --- callbacks of the loop ------------------------------------------------------------------

    def begin_submission(self, submission: Submission) -> None:
        """A submission follows: memory may have changed."""
        self.submit += 1
        self.stream, self._entry = submission.stream(), None
        self.kernels.forget()
        self.streamer.begin_submission()
        self._predication_changed()

    def run_data(
        self,
        data: BytesLike,
        address: int,
        from_ring: bool,
        following: BytesLike = b"",
        pointer: int | None = None,
    ) -> None:
        """As BatchRunner does; notes which batch runs."""
        self._batch_address = address
        if not from_ring:
            self._count_batch()
        super().run_data(data, address, from_ring, following, pointer)

    def run_at(self, address: int, ppgtt: bool) -> bool:
        """As BatchRunner does; notes which batch runs."""
        before = self._batch_address, self.stream, self._ppgtt
        self._batch_address, self._ppgtt = address & M48, ppgtt
        self.stream = ExecutedStream("batch", self.stream.submit, address & M48, 0, self._entry)
        self._count_batch()
        found = super().run_at(address, ppgtt)
        if not found:
            self.batches.pop((self.submit, address & M48), None)
        self._batch_address, self.stream, self._ppgtt = before
        return found

    def _count_batch(self) -> None:
        key = self.submit, self._batch_address
        if key in self.batches or len(self.batches) < _MAX_BATCHES:
            self.batches[key] = self.batches.get(key, 0) + 1

    def new_kind(self, group: Group, header: int, length: int) -> Kind:
        """With the handlers of its instructions."""
        return _Kind(group, length)

    def instruction(self, kind: Kind, data: bytes, address: int, pointer: int | None) -> None:
        """Keep the state; report actions and flushes."""
        assert isinstance(kind, _Kind)  # new_kind makes no others
        if self._expected and address in self._expected:
            self._run_generated(self._expected.pop(address))
            return
        role = kind.role
        if role == _IGNORE or (self.is_skipping and role not in (_STATE, _PREDICATION)):
            return
        command = self._instruction(kind.group, data, address)
        if role == _PREDICATION:
            self.streamer.execute(command)
            self._predication_changed()
            return
        if role == _STATE:
            if is_action(command):
                self.act(command)
            elif not self.is_skipping:
                self.state.take(command)
                self.state_set(command)
        elif role == _FLUSH:
            self.streamer.execute(command)
            self.flushed(command)
        elif role == _LOAD:
            self.streamer.execute(command)
            self.state_set(command)
        elif role == _COMPUTE:
            self.streamer.execute(command)
        else:
            if self.stream.kind == "submit":
                self._entry = command.place
            self.jumped(command)

    def _instruction(self, group: Group, data: bytes, address: int) -> Instruction:
        stream, batch = self.stream, self._batch_address
        offset = self.file_offset(address)
        return Instruction(group, data, address, stream, batch, self._actions, offset)

    def file_offset(self, address: int) -> int | None:
        """Where in the file the instruction at an address is; None where that is not known."""
        if self.stream.kind == "submit":
            start = self.data_offset
            return None if start is None else start + address - self.stream.gpuaddr
        return self.memory.file_offset(self._ppgtt, address)

    def _predication_changed(self) -> None:
        """Follow MI_SET_PREDICATE: from gen12.5 on it decides about jumps with the predicate."""
        self.is_skipping = self.streamer.runs is False
        self.takes_predicated = self.database.verx10 >= 125 and self.streamer.runs is True

    def act(self, command: Instruction, generated: Generated | None = None) -> None:
        """Report the action that an instruction is; ``generated``: where a shader wrote it."""
        place = command.place
        state = self.state
        action, uses = make_action(self._actions, command, place, state, self, self.kernels)
        self._actions += 1
        self._predicate(action, command)
        if action.packet in DRAW_INSTRUCTIONS and is_rectangle(action.primitive, uses):
            is_one = action.vertices == _GENERATION_VERTICES
            call = find_generation(state, self, len(self.generations)) if is_one else None
            if call is not None:
                action.role = "generation"
                self._expect(call)
        action.packet_facts.generated = generated
        self.acted(action, uses, command)

    def _predicate(self, action: Action, command: Instruction) -> None:
        """Note whether predicates let an action be executed."""
        runs = self.streamer.runs  # MI_SET_PREDICATE decides, too
        is_predicated = bool(command.number("Predicate Enable"))
        predicate = self.streamer.predicate if is_predicated else None
        if runs is not True:
            predicate = False if runs is False or predicate is False else None
        elif not is_predicated:
            return
        action.condition, action.execution = PREDICATE, Executed(predicate)

    def _expect(self, call: Generation) -> None:
        """Note where a call's draws will be; some generations draw its rectangle twice."""
        before = self._expected.get(call.commands)
        is_known = before is not None and before[1:] == call[1:]
        if not is_known and len(self.generations) < _MAX_GENERATIONS:
            self.generations.append(call)
            self._expected[call.commands] = call

    def _run_generated(self, call: Generation) -> None:
        """Run the draws that a shader has written, or would write; go on after them."""
        for draw, data, address in generated_commands(call, self):
            position = 0
            while position + 4 <= len(data):
                header = int.from_bytes(data[position : position + 4], "little")
                group = self.database.instruction(header, self.engine)
                size = 4 * max(1, 1 if group is None else group.length_of(header))
                self.budget -= size // 4
                if group is not None and sets_state(group.name):
                    part = data[position : position + size]
                    command = self._instruction(group, part, address + position)
                    if draw.is_predicted:
                        command.file_offset = None
                    if is_action(command):
                        self.act(command, draw)
                    else:
                        self.state.take(command)
                position += size
            if self.budget < 0:
                self.is_exhausted = True
                return
        self.jump(call.end, True)

    def unknown(self, data: bytes, address: int) -> bool:
        """Note an instruction that no description has; whether the batch ends with it."""
        if address in self._expected:
            self._run_generated(self._expected.pop(address))
            return True
        header = int.from_bytes(data[:4], "little")
        opcode = header >> 23
        if self.database.ver < _FIRST_WITH_MI and opcode <= _LAST_MI:
            if opcode == _START_OPCODE:
                self.jump(int.from_bytes(data[4:8], "little") & ~3, False)
            return opcode in (_START_OPCODE, _END_OPCODE)
        self._note(f"unknown instruction {header:#010x}", address)
        return False

    def missing_batch(self, address: int) -> None:
        """Note that a batch is not in memory."""
        self._note("the batch is not in memory", address)

    def cut_batch(self, address: int, from_ring: bool) -> None:
        """Note that what follows in a batch is not in memory."""
        if not from_ring:
            self._note("a batch has no MI_BATCH_BUFFER_END: its memory ends", address)

    def too_many_jumps(self, address: int) -> None:
        """Note that batches jump too often."""
        self._note("too many jumps: the batch is not run", address)

    def _note(self, text: str, address: int) -> None:
        if (text, address) not in self._named and len(self._named) < _MAX_PROBLEMS:
            self._named.add((text, address))
            self.problems.append(Problem(text, address))
