# SPDX-License-Identifier: MIT
"""RegisterReader: what registers hold now, by the names of registers and fields.

Names are those of the register database (Mesa's rnndb). What a generation does not have, or what
was never written, reads as None: an analysis shows it as unknown. ``Remembered`` computes a result
from registers only once for the same values.
"""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from struct import Struct
from typing import TYPE_CHECKING, Generic, TypeVar

from cffpy.regdb.rows import BITSET, ENUM, INLINE_BITSET, INLINE_ENUM, NAMED_INLINE_BITSET

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.cp.machine import Machine
    from cffpy.regdb.rows import TypeRow

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
        found = self._database.register(register, self._machine.variants) if register else None
        if found is None or found.type is None:
            return None
        type_row = found.type
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
        for one in self._lists:
            try:
                values = one.read(registers)
            except KeyError:
                values = one.values(registers)
            if values == one.last_values:
                known = one.last
            elif values in one.known:
                known = one.last = one.known[values]
                one.last_values = values
            else:
                continue
            if one is not self._lists[0]:
                self._lists.remove(one)
                self._lists.insert(0, one)
            return known
        if self._count >= _MAX_RESULTS or len(self._lists) >= _MAX_LISTS:
            self._lists.clear()
            self._count = 0
        read = self._reader.read
        read.clear()
        result = self._compute(self._reader)
        found = self._results(tuple(read))
        found.known[found.values(registers)] = result
        self._count += 1
        return result

    def _results(self, registers: tuple[int, ...]) -> _Results[_Result]:
        """The results that depend on these registers."""
        for one in self._lists:
            if one.registers == registers:
                return one
        found: _Results[_Result] = _Results(registers)
        self._lists.insert(0, found)
        self.registers.update(registers)
        return found
