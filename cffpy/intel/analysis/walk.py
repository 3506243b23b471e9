# SPDX-License-Identifier: MIT
"""Runs the commands of a capture and keeps the state: the base of all analyses.

Stores of immediate data are executed, so that secondary command buffers return to their callers.

``Streamer`` computes what the command streamer does: MI_MATH, the predicate, dwords that commands
write to memory. Values are None where only the GPU knows them: nothing of a capture has been
executed, so results of queries, timestamps and what kernels write are unknown. Facts: the
Programmer's Reference Manual, volume "Command Reference" (MI_PREDICATE, MI_MATH).
"""

from __future__ import annotations

from struct import unpack

from cffpy.frame.action import DRAW_INSTRUCTIONS
from cffpy.frame.execution import Executed
from cffpy.frame.places import ExecutedStream
from cffpy.intel.analysis.actions import PREDICATE, is_action, is_rectangle, make_action
from cffpy.intel.analysis.generated import find_generation, generated_commands
from cffpy.intel.analysis.programs import Kernels
from cffpy.intel.analysis.state import (
    Instruction,
    State,
    Submission,
    register_offset,
    sets_state,
    struct_at,
)
from cffpy.intel.decoder.batches import M48, START, BatchRunner, Kind
from cffpy.intel.descriptions import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.frame.action import Action, Generated
    from cffpy.frame.places import PacketLocation
    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.generated import Generation
    from cffpy.intel.container.memory import AddressSpace
    from cffpy.intel.decoder.groups import Command, Database, Group
    from cffpy.row_readers import BytesLike

PREDICATE_RESULT = 0x2418
"""The register with the predicate: bit 0."""

_RESULT_2 = 0x23BC
_SOURCES = 0x2400, 0x2408
_GENERAL_REGISTERS = 0x2600
#: Mode of MI_SET_PREDICATE -> the register that decides, and the value at which commands run.
_CONDITIONS = {
    1: (_RESULT_2, 1),
    2: (_RESULT_2, 0),
    3: (PREDICATE_RESULT, 1),
    4: (PREDICATE_RESULT, 0),
}
_NEVER = 15
_M32, _M48, _M64 = (1 << 32) - 1, (1 << 48) - 1, (1 << 64) - 1
#: Dwords in memory whose new values are remembered.
_MAX_WRITTEN = 1 << 16
#: Dwords that one command writes.
_MAX_DWORDS = 64
#: Bytes that PIPE_CONTROL, MI_FLUSH_DW and MI_ATOMIC write at most.
_RESULT = 8


class Streamer:
    """Executes the commands of the command streamer that compute, as far as values are known.

    ``state`` has the registers. Memory is that of the capture, changed by the commands so far.
    ``runs``: whether commands have an effect, which MI_SET_PREDICATE decides; None: unknown.
    """

    def __init__(self, state: State, runner: BatchRunner) -> None:
        self._state = state
        self._runner = runner
        self.runs: bool | None = True
        #: Address of a dword -> what a command wrote, None where it is unknown.
        self._written: dict[int, int | None] = {}
        self._is_full = False

    def begin_submission(self) -> None:
        """Another submission: what commands wrote before may have been overwritten since."""
        self._written = dict.fromkeys(self._written)
        self.runs = True

    def execute(self, command: Instruction) -> None:
        """Apply a command; one that computes nothing is ignored."""
        handler = _HANDLERS.get(command.name)
        if handler is not None:
            handler(self, command)

    def loaded(self, address: int, is_ppgtt: bool) -> int | None:
        """The dword at an address; None where it is unknown, or not in memory."""
        address &= _M48
        if address in self._written:
            return self._written[address]
        if self._is_full:
            return None
        data = self._runner.span(address, 4, ppgtt=is_ppgtt)
        return unpack("<I", data)[0] if len(data) == 4 else None

    # --- handlers -------------------------------------------------------------------------------

    def _load_register(self, command: Instruction) -> None:
        address, is_global = command.values("Memory Address", "Use Global GTT")
        self._state.set_register(command, self.loaded(address or 0, not is_global))

    def _store_register(self, command: Instruction) -> None:
        offset, address, predicated = command.values(
            "Register Address", "Memory Address", "Predicate Enable"
        )
        value = self._register(register_offset(command, offset or 0))
        self._write(address or 0, None if predicated else value)

    def _store_immediate(self, command: Instruction) -> None:
        address = command.number("Address")
        count = command.group.length_of(command.dword(0)) - 3
        for number in range(min(count, _MAX_DWORDS)):
            self._write(address + 4 * number, command.dword(3 + number))

    def _copy_memory(self, command: Instruction) -> None:
        target, source, is_global = command.values(
            "Destination Memory Address", "Source Memory Address", "Use Global GTT Source"
        )
        self._write(target or 0, self.loaded(source or 0, not is_global))

    def _unknown_result(self, command: Instruction) -> None:
        """A command that writes what only the GPU knows; PIPE_CONTROL may also write a constant."""
        operation = command.values("Post Sync Operation", "Post-Sync Operation")
        if command.name != "MI_ATOMIC" and not any(operation):
            return
        address = command.values("Address", "Memory Address")
        value = None
        if command.text("Post Sync Operation") == "Write Immediate Data":
            value = command.number("Immediate Data")
        for shift in range(0, 8 * _RESULT, 32):
            part = None if value is None else value >> shift & _M32
            self._write((address[0] or address[1] or 0) + shift // 8, part)

    def _predicate(self, command: Instruction) -> None:
        load = command.text("Load Operation")
        if load == "KEEP":
            return
        compared = self._compare(command.text("Compare Operation"))
        result = _combined(command.text("Combine Operation"), self.predicate, compared)
        if load == "LOADINV" and result is not None:
            result = not result
        value = None if result is None else int(result)
        self._state.registers[PREDICATE_RESULT] = value, command

    def _set_predicate(self, command: Instruction) -> None:
        """Commands after it do nothing where a result is clear or set, up to the next of these."""
        wide, narrow = command.values("Predicate Enable", "PREDICATE ENABLE")
        mode = (narrow or 0) if wide is None else wide
        if mode in (0, _NEVER):
            self.runs = mode == 0
            return
        register, expected = _CONDITIONS.get(mode, (None, 0))
        value = None if register is None else self._register(register)
        self.runs = None if value is None else value & 1 == expected

    def _compare(self, operation: str) -> bool | None:
        if operation in ("TRUE", "FALSE"):
            return operation == "TRUE"
        first, second = (self._wide_register(offset) for offset in _SOURCES)
        if operation != "SRCS_EQUAL" or first is None or second is None:
            return None
        return first == second

    @property
    def predicate(self) -> bool | None:
        """The current predicate; None where it is unknown."""
        value = self._register(PREDICATE_RESULT)
        return None if value is None else bool(value & 1)

    def _math(self, command: Instruction) -> None:
        struct = self._state.database.struct("MI_MATH_ALU_INSTRUCTION")
        if struct is None:
            return
        unit = _ArithmeticUnit(self, command)
        for number in range(1, command.group.length_of(command.dword(0))):
            step = struct_at(struct, (command.dword(number),))
            operation = step.text("ALU Opcode"), step.text("Operand 1"), step.text("Operand 2")
            unit.execute(*operation)

    # --- registers and memory -------------------------------------------------------------------

    def _register(self, offset: int) -> int | None:
        known = self._state.registers.get(offset)
        return None if known is None else known[0]

    def _wide_register(self, offset: int) -> int | None:
        low, high = self._register(offset), self._register(offset + 4)
        return None if low is None or high is None else low | high << 32

    def general_register(self, number: int) -> int | None:
        """The value of a general purpose register, 64 bits."""
        return self._wide_register(_GENERAL_REGISTERS + 8 * number)

    def set_general_register(self, number: int, value: int | None, command: Instruction) -> None:
        """Write a general purpose register."""
        for shift in (0, 32):
            part = None if value is None else value >> shift & _M32
            offset = _GENERAL_REGISTERS + 8 * number + shift // 8
            self._state.registers[offset] = part, command

    def _write(self, address: int, value: int | None) -> None:
        if len(self._written) >= _MAX_WRITTEN:
            self._is_full = True
        else:
            self._written[address & _M48 & ~3] = value


def _combined(operation: str, before: bool | None, compared: bool | None) -> bool | None:
    """The combined predicate; a known operand may decide alone."""
    if operation == "SET":
        return compared
    if operation == "AND" and False in (before, compared):
        return False
    if operation == "OR" and True in (before, compared):
        return True
    if before is None or compared is None:
        return None
    return {"AND": before and compared, "OR": before or compared}.get(operation, before != compared)


class _ArithmeticUnit:
    """The unit that MI_MATH drives: two sources, an accumulator, flags of zero and carry."""

    def __init__(self, streamer: Streamer, command: Instruction) -> None:
        self._streamer = streamer
        self._command = command
        self._values: dict[str, int | None] = {}

    def execute(self, operation: str, first: str, second: str) -> None:
        """One step; an operation that is not known makes its results unknown."""
        match operation:
            case "NOOP" | "FENCE_RD" | "FENCE_WR":
                pass
            case "LOAD" | "LOADINV":
                self._values[first] = _inverted(self._read(second), operation == "LOADINV")
            case "LOAD0" | "LOAD1":
                self._values[first] = _M64 if operation == "LOAD1" else 0
            case "STORE" | "STOREINV":
                value = _inverted(self._read(second), operation == "STOREINV")
                self._store(first, value)
            case _:
                self._compute(operation)

    def _read(self, name: str) -> int | None:
        if name.startswith("REG"):
            return self._streamer.general_register(int(name[3:]))
        return self._values.get(name)

    def _store(self, name: str, value: int | None) -> None:
        if name.startswith("REG"):
            self._streamer.set_general_register(int(name[3:]), value, self._command)

    def _compute(self, operation: str) -> None:
        first, second = self._values.get("SRCA"), self._values.get("SRCB")
        result: int | None = None
        if first is not None and second is not None:
            result = {
                "ADD": first + second,
                "SUB": first - second,
                "AND": first & second,
                "OR": first | second,
                "XOR": first ^ second,
            }.get(operation)
        self._values.update(ACCU=None, ZF=None, CF=None)
        if result is not None:
            # a flag is stored as all ones or zero
            self._values["ACCU"] = result & _M64
            self._values["ZF"] = 0 if result & _M64 else _M64
            if operation in ("ADD", "SUB"):
                self._values["CF"] = 0 if 0 <= result <= _M64 else _M64


def _inverted(value: int | None, is_inverted: bool) -> int | None:
    return ~value & _M64 if is_inverted and value is not None else value


_HANDLERS: dict[str, Callable[[Streamer, Instruction], None]] = {
    "MI_LOAD_REGISTER_MEM": Streamer._load_register,
    "MI_STORE_REGISTER_MEM": Streamer._store_register,
    "MI_STORE_DATA_IMM": Streamer._store_immediate,
    "MI_COPY_MEM_MEM": Streamer._copy_memory,
    "MI_MATH": Streamer._math,
    "MI_PREDICATE": Streamer._predicate,
    "MI_SET_PREDICATE": Streamer._set_predicate,
    "PIPE_CONTROL": Streamer._unknown_result,
    "MI_FLUSH_DW": Streamer._unknown_result,
    "MI_ATOMIC": Streamer._unknown_result,
}

STREAMER_COMMANDS = frozenset(_HANDLERS)
"""Commands that compute something, or write to memory."""

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
    words = []
    for field in group.fields(group.length_of(header), header):
        if field.kind == rows.BOOL and not field.is_opcode and field.value(command.words):
            words.append(_words(field.name))
    operation = command.text("Post Sync Operation")
    if command.number("Post Sync Operation"):
        text = operation.lower().replace("ps depth count", "PS depth count")
        words.append(f"{text} to {command.number('Address') & ((1 << 48) - 1):#x}")
    return words


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
        self.stream = ExecutedStream("batch", self.stream._submitted, address & M48, 0, self._entry)
        self._count_batch()
        is_captured = super().run_at(address, ppgtt)
        if not is_captured:
            self.batches.pop((self.submit, address & M48), None)
        self._batch_address, self.stream, self._ppgtt = before
        return is_captured

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
        action._packet_facts.generated = generated
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
