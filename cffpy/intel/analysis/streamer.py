# SPDX-License-Identifier: MIT
"""What the command streamer computes: MI_MATH, the predicate, dwords that commands write to memory.

Values are None where only the GPU knows them: nothing of a capture has been executed, so results
of queries, timestamps and what kernels write are unknown. Facts: the Programmer's Reference Manual,
volume "Command Reference" (MI_PREDICATE, MI_MATH).
"""

from __future__ import annotations

from struct import unpack

from cffpy.intel.analysis.state import register_offset, struct_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.intel.analysis.state import Instruction, State
    from cffpy.intel.decoder.batches import BatchRunner

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
