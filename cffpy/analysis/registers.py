# SPDX-License-Identifier: MIT
"""What registers hold now, by the names of registers and fields; what programs and ports they set.

``RegisterReader`` takes names of the register database (Mesa's rnndb). What a generation does not
have, or what was never written, reads as None: an analysis shows it as unknown. ``Remembered``
computes a result from registers only once for the same values. ``BoundPrograms`` are the shader
programs that a draw or dispatch runs.

A port has no value: each write is the next element of the memory behind it (cffpy.regdb.rows).
``PortWrites`` keeps these elements as registers of their own, so all that is asked of a register
can be asked of an element. Source: the notes at VPC_SO_CNTL and VPC_SO_PROG in Mesa's a6xx.xml;
a5xx has no field for the pointer there, and its driver sets bit 16 before each program, as the
driver of a6xx does.
"""

from __future__ import annotations

from functools import partial
from itertools import starmap
from operator import itemgetter
from struct import Struct
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from cffpy.capture.gpu import PROGRAM_ADDRESS_MASK
from cffpy.frame.action import StageProgram
from cffpy.pm4.reader import Fields
from cffpy.regdb.rows import BITSET, ENUM, INLINE_BITSET, INLINE_ENUM, NAMED_INLINE_BITSET

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from cffpy.cp.machine import Machine
    from cffpy.frame.action import ActionKind
    from cffpy.frame.places import PacketLocation
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.rows import Port, TypeRow

    #: A stage, the register of its program, and the field that enables it.
    _Program = tuple[str, str, tuple[str, str] | None]

    Programs = tuple[StageProgram, ...]

_FLOAT = Struct("<f")
_BITSETS = (BITSET, NAMED_INLINE_BITSET, INLINE_BITSET)

#: Where a field is: register, mask, low bit, shift to the left, type.
_FieldPlace = tuple[int, int, int, int, "TypeRow"]


class RegisterReader:
    """Reads the registers of a machine. Make a new one when the machine is bound again."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._database = machine.names
        self._fields: dict[tuple[str, str], _FieldPlace | None] = {}

    def offset(self, name: str) -> int:
        """The register's offset in dwords; 0 if the generation has no register of this name."""
        return self._database.register_offset(name)

    def value(self, name: str) -> int | None:
        """The register's value as it was written, or None."""
        offset = self.offset(name)
        return self._machine.state.registers.get(offset) if offset else None

    def dword(self, offset: int) -> int | None:
        """The value of a register that the descriptions do not have; None if it is not written."""
        return self._machine.state.registers.get(offset)

    def number(self, name: str) -> float | None:
        """A register that is a 32-bit float."""
        value = self.value(name)
        return None if value is None else float(_FLOAT.unpack(value.to_bytes(4, "little"))[0])

    def first(self, *names: str) -> str | None:
        """The first of the names that this generation has: editions name registers differently."""
        for name in names:
            if self.offset(name):
                return name
        return None

    def address(self, name: str) -> int | None:
        """A GPU address: one register up to a4xx, two from a5xx on (``NAME``, or NAME_LO and _HI).

        Low bits that are not part of an address are left as they are.
        """
        offset = self.offset(name) or self.offset(f"{name}_LO")
        if not offset:
            return None
        registers = self._machine.state.registers
        low = registers.get(offset)
        if low is None or not self._machine.is_64bit:
            return low
        return low | registers.get(offset + 1, 0) << 32

    def field(self, name: str, field: str = "") -> int | None:
        """A field's number, shifted as the database says (pitches are bytes, sizes pixels).

        Without ``field``: of a register that is one plain field.
        """
        try:
            place = self._fields[name, field]
        except KeyError:
            place = self._place(name, field)
        if place is None:
            return None
        value = self._machine.state.registers.get(place[0])
        return None if value is None else (value & place[1]) >> place[2] << place[3]

    def flag(self, name: str, field: str) -> bool:
        """Whether a bit is set; False where the register is unknown."""
        return bool(self.field(name, field))

    def field_mask(self, name: str, field: str) -> int:
        """The largest number that a field can hold; -1 where there is no such field."""
        place = self._place(name, field)
        return -1 if place is None else place[1] >> place[2] << place[3]

    def enum(self, name: str, field: str = "") -> str | None:
        """The name of a field's enum value, its number in hex where it has none."""
        place = self._place(name, field)
        value = self.field(name, field)
        if place is None or value is None:
            return None
        type_row = place[4]
        if type_row[0] == ENUM:
            named = self._machine.known_value(type_row[7], value)
        elif type_row[0] == INLINE_ENUM:
            named = next((row[0] for row in type_row[7] if row[1] == value), None)
        else:
            named = None
        return named or f"{value:#x}"

    def _place(self, name: str, field: str) -> _FieldPlace | None:
        key = (name, field)
        if key not in self._fields:
            self._fields[key] = self._find(name, field)
        return self._fields[key]

    def _find(self, name: str, field: str) -> _FieldPlace | None:
        register = self.offset(name)
        declared = self._database.register(register, self._machine.variants) if register else None
        if declared is None or declared.type is None:
            return None
        type_row = declared.type
        if field:
            if type_row[0] not in _BITSETS:
                return None
            names = self._database.fields_called(name, field)
            rows = [row for row in self._database_fields(type_row) if row[0] in names]
            if not rows:
                return None
            type_row = rows[0][2]
        _, _, low, high, shift, *_ = type_row
        return register, (1 << (high + 1)) - (1 << low), low, shift, type_row

    def _database_fields(self, type_row: TypeRow) -> list[tuple[str, object, TypeRow]]:
        fields: list[tuple[str, object, TypeRow]] = list(type_row[7])
        return fields


_Result = TypeVar("_Result")

#: Results that are kept, and lists of registers that they depend on. Hostile streams have no end.
_MAX_RESULTS, _MAX_LISTS = 1 << 12, 64


class _TracingReader(RegisterReader):
    """Notes which registers are read, through the three methods that read any."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.read: dict[int, None] = {}

    def value(self, name: str) -> int | None:
        self.read[self.offset(name)] = None
        return super().value(name)

    def address(self, name: str) -> int | None:
        offset = self.offset(name) or self.offset(f"{name}_LO")
        self.read.update({offset: None, offset + 1: None})
        return super().address(name)

    def field(self, name: str, field: str = "") -> int | None:
        place = self._place(name, field)
        if place is not None:
            self.read[place[0]] = None
        return super().field(name, field)


def values_of(registers: tuple[int, ...]) -> Callable[[dict[int, int]], tuple[int, ...]]:
    """A function that reads these registers from register -> value, in this order.

    It raises KeyError where one is missing.
    """
    if len(registers) > 1:
        return itemgetter(*registers)
    return lambda values: tuple([values[register] for register in registers])


class _Results(Generic[_Result]):
    """The results of computations that read the same registers, by the values of these."""

    __slots__ = ("known", "last", "last_values", "read", "registers")

    def __init__(self, registers: tuple[int, ...]) -> None:
        self.registers = registers
        self.known: dict[tuple[int | None, ...], _Result] = {}
        #: The values that were looked up last, and their result: to compare takes less time than
        #: to hash.
        self.last_values: tuple[int | None, ...] | None = None
        self.last: _Result
        self.read: Callable[[dict[int, int]], tuple[int | None, ...]] = values_of(registers)

    def values(self, registers: dict[int, int]) -> tuple[int | None, ...]:
        """The values of the registers now, None for those that were not written."""
        try:
            return self.read(registers)
        except KeyError:  # likely to happen at each call, and slow
            self.read = partial(_any_values, self.registers)
            return self.read(registers)


def _any_values(registers: tuple[int, ...], values: dict[int, int]) -> tuple[int | None, ...]:
    return tuple(map(values.get, registers))


class Remembered(Generic[_Result]):
    """A function of registers. Results are kept by the values of the registers that it has read.

    ``compute`` depends on nothing but what it reads through the reader that it is given.
    """

    def __init__(self, machine: Machine, compute: Callable[[RegisterReader], _Result]) -> None:
        self._machine = machine
        self._compute = compute
        self._reader = _TracingReader(machine)
        #: By the registers that a computation read; those of the last result come first.
        self._lists: list[_Results[_Result]] = []
        self._count = 0
        #: All registers that computations have read so far.
        self.registers: set[int] = set()

    def __call__(self) -> _Result:
        """The result for the values that registers have now."""
        registers = self._machine.state.registers
        for dependent in self._lists:
            try:
                values = dependent.read(registers)
            except KeyError:
                values = dependent.values(registers)
            if values == dependent.last_values:
                known = dependent.last
            elif values in dependent.known:
                known = dependent.last = dependent.known[values]
                dependent.last_values = values
            else:
                continue
            if dependent is not self._lists[0]:
                self._lists.remove(dependent)
                self._lists.insert(0, dependent)
            return known
        if self._count >= _MAX_RESULTS or len(self._lists) >= _MAX_LISTS:
            self._lists.clear()
            self._count = 0
        read = self._reader.read
        read.clear()
        result = self._compute(self._reader)
        results = self._results(tuple(read))
        results.known[results.values(registers)] = result
        self._count += 1
        return result

    def _results(self, registers: tuple[int, ...]) -> _Results[_Result]:
        """The results that depend on these registers."""
        for known_results in self._lists:
            if known_results.registers == registers:
                return known_results
        results: _Results[_Result] = _Results(registers)
        self._lists.insert(0, results)
        self.registers.update(registers)
        return results


# -- programs of a draw ----------------------------------------------------------------------------

_IM_LOAD_IMMEDIATE = Fields("CP_IM_LOAD_IMMEDIATE", "SHADER_TYPE")
_A2XX_STAGES = {0: "VS", 1: "FS"}


class BoundPrograms:
    """For the GPU that a machine is bound to; another one after each ``bind``."""

    def __init__(self, machine: Machine, reader: RegisterReader) -> None:
        self._machine = machine
        facts = machine.gpu.facts
        enables = {
            stage: (name, "ENABLED")
            for stage, name in facts.enable_registers
            if reader.offset(name)
        }
        registers: dict[int, tuple[str, str]] = {}
        for stage, name, _upper in facts.program_registers:
            # where the code's names are renamed, two of them mean one register
            registers.setdefault(reader.offset(name), (stage, name))
        programs = [
            (stage, name, enables.get(stage))
            for offset, (stage, name) in registers.items()
            if offset
        ]
        kinds: tuple[ActionKind, ...] = ("draw", "dispatch")
        self._bound: dict[ActionKind, Remembered[Programs]] = {
            kind: Remembered(machine, partial(_read, programs, kind)) for kind in kinds
        }
        #: Of a2xx: stage -> address of the program that a packet has loaded.
        self._loaded: dict[str, int] = {}
        self._lists: dict[Programs, Programs] = {}
        #: The list that was found last: a ``Remembered`` mostly returns it again.
        self._last: Programs = ()
        self._are_loaded = not facts.program_registers

    def of(self, kind: ActionKind) -> Programs:
        """Those of an action of this kind now; the same object where they are the same."""
        bound = self._bound.get(kind)
        if bound is None:
            return ()
        programs = bound()
        if self._are_loaded:
            programs = (*programs, *starmap(StageProgram, self._loaded.items()))
        elif programs is self._last:
            return programs
        self._last = self._lists.setdefault(programs, programs)
        return self._last

    def load(self, payload: Payload) -> None:
        """CP_IM_LOAD_IMMEDIATE (a2xx): a program in the packet."""
        (kind,) = payload.read(self._machine.packets[_IM_LOAD_IMMEDIATE])
        stage = _A2XX_STAGES.get(kind)
        if stage is not None:
            self._loaded[stage] = payload.words.address + 4 * (payload.index + 2)


def _read(programs: list[_Program], kind: ActionKind, reader: RegisterReader) -> Programs:
    bound = []
    for stage, name, enable in programs:
        if (stage == "CS") != (kind == "dispatch"):
            continue
        if enable is not None and not reader.flag(*enable):
            continue
        address = reader.address(name)
        if address and address & PROGRAM_ADDRESS_MASK:
            bound.append(StageProgram(stage, address & PROGRAM_ADDRESS_MASK))
    return tuple(bound)


# -- elements behind ports -------------------------------------------------------------------------


class PortWrite(NamedTuple):
    """One dword that a packet writes: the register, or an element, and its value."""

    number: int
    value: int


def _do_nothing() -> None:
    """Nobody asks for this write, but it is not stored together with others."""


class PortWrites:
    """The ports of a generation, and which elements are written next."""

    def __init__(self, machine: Machine) -> None:
        ports = machine.database.ports.values()
        self._machine = machine
        #: By offset.
        self.ports: dict[int, Port] = {port.offset: port for port in ports}
        self._pointers: dict[int, list[Port]] = {}
        for port in ports:
            self._pointers.setdefault(port.pointer, []).append(port)
        offsets = {*self.ports, *self._pointers}
        #: Of ports, and of registers with their pointers.
        self.offsets = frozenset(offsets)
        #: From the first of their offsets to the one after the last.
        self.span = (min(offsets), max(offsets) + 1) if offsets else (0, 0)
        #: Of each port: the value of its pointer's register that was seen last, and the element
        #: that is written next.
        self._next: dict[int, tuple[int | None, int]] = {}
        #: Of each port, the elements that are not 0.
        self._filled: dict[int, set[int]] = {port.offset: set() for port in ports}

    def watched(self) -> dict[int, Callable[[], None]]:
        """The ports and registers with pointers, as registers that a walk watches."""
        return dict.fromkeys(self.offsets, _do_nothing)

    def may_store(self, touched: Collection[int], registers: Mapping[int, int]) -> bool:
        """Whether a draw-state group may be stored at once of which a walk watches ``touched``.

        Most programs write 0 to the pointer's register, and nothing to the port.
        """
        return all(number in self._pointers and not registers[number] for number in touched)

    def publish(
        self,
        register: int,
        values: Sequence[int],
        location: PacketLocation,
        ndwords: int,
        callbacks: Iterable[Callable[[range, PacketLocation, int], None]],
    ) -> None:
        """A packet writes ``values`` to ``register`` and the registers behind it: publish elements.

        ``callbacks``: ``Observer.registers_written``, with ``ndwords`` as there. The machine gets
        the values at once.
        """
        registers = self._machine.state.registers
        for number, value in self._changes(register, values):
            registers[number] = value
            for written in callbacks:
                written(range(number, number + 1), location, ndwords)

    def _changes(self, register: int, values: Iterable[int]) -> Iterator[PortWrite]:
        """What a packet writes that writes ``values`` to ``register`` and those after it."""
        for number, value in enumerate(values, register):
            port = self.ports.get(number)
            if port is not None:
                yield self._write(port, value)
                continue
            yield PortWrite(number, value)
            for moved in self._pointers.get(number, ()):
                yield from self._move(moved, value)

    def _move(self, port: Port, value: int) -> Iterator[PortWrite]:
        """A write of the pointer chooses the next element."""
        self._next[port.offset] = value, port.start(value)
        if value & port.reset:
            filled = self._filled[port.offset]
            for element in sorted(filled):
                yield PortWrite(element, 0)
            filled.clear()

    def _write(self, port: Port, value: int) -> PortWrite:
        """A write of the port fills the next element."""
        pointer = self._machine.state.registers.get(port.pointer)
        seen, index = self._next.get(port.offset, (None, 0))
        if pointer is not None and pointer != seen:
            index = port.start(pointer)  # it was written by a packet that need not run
        self._next[port.offset] = pointer, index + 1
        element = port.elements[index % len(port.elements)]
        (self._filled[port.offset].add if value else self._filled[port.offset].discard)(element)
        return PortWrite(element, value)
