# SPDX-License-Identifier: MIT
"""A register of a GPU, and a value of one: decoded text, fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from cffpy.errors import UnknownName, UnknownValue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cffpy.frame.field import FieldValue


class DescribedText(Protocol):
    """What the descriptions of a GPU say of its registers: ``cffpy.regdb.registers``.

    A register is known by its offset, an element of a port by a number of its own. ``registers``:
    dwords by these numbers.
    """

    def is_port(self, register: int) -> bool:
        """Whether each write is the next dword of a memory behind the register."""

    def type_name(self, register: int) -> str:
        """The name of the register's type, "" where it is unknown."""

    def text(self, register: int, registers: Mapping[int, int]) -> str:
        """A value as text."""

    def field_values(self, register: int, registers: Mapping[int, int]) -> Iterable[FieldValue]:
        """The fields of a value."""

    def other_fields(self, register: str, field: str) -> tuple[str, ...]:
        """The names of a field in other installed editions."""


class FieldBits(NamedTuple):
    """A field of a register: its name and its bits, ``low`` to ``high``."""

    name: str
    low: int
    high: int


class Register:
    """A register of a GPU.

    ``name``: as in the descriptions, with indices of arrays. ``offset``: in dwords. ``bits``: 32 or
    64; a 64-bit register takes two dwords, of which the first is at ``offset``. Where two registers
    ``X_LO`` and ``X_HI`` are described, ``X`` names both together; where ``X`` is described as one
    of 64 bits, ``X_LO`` and ``X_HI`` name its dwords. An element of a port, ``VPC_SO_PROG[3]``, has
    the port's offset.
    """

    __slots__ = ("_text", "bits", "is_pair", "name", "number", "offset")

    def __init__(
        self, name: str, number: int, offset: int, bits: int, is_pair: bool, text: DescribedText
    ) -> None:
        """``number``: by which values are kept: the offset, of a port's element its own number."""
        self.name = name
        self.offset = offset
        self.number = number
        self.bits = bits
        #: Whether it is two described registers, ``X_LO`` and ``X_HI``.
        self.is_pair = is_pair
        self._text = text

    @property
    def is_port(self) -> bool:
        """Whether each write is the next dword of a memory behind the register (VPC_SO_PROG)."""
        return self._text.is_port(self.number)

    @property
    def fields(self) -> tuple[FieldBits, ...]:
        """The bitfields as described; empty where the register is one value."""
        if self.is_pair:
            return ()
        found = self._text.field_values(self.number, self._dwords(0))
        return tuple(FieldBits(field.name, field.low, field.high) for field in found)

    @property
    def type_name(self) -> str:
        """The name of the register's type in the descriptions, "" where it is unknown."""
        return "" if self.is_pair else self._text.type_name(self.number)

    def decode(self, value: int) -> RegisterValue:
        """What a value of this register means."""
        return RegisterValue(self, value)

    def text_of(self, value: int) -> str:
        """A value as ``cffpy state`` prints it."""
        if self.is_pair:
            return f"{value:#x}"
        return self._text.text(self.number, self._dwords(value))

    def fields_of(self, value: int) -> dict[str, FieldValue]:
        """The fields of a value by name; bits that are not described are "other bits"."""
        if self.is_pair:
            return {}
        found = self._text.field_values(self.number, self._dwords(value))
        return {field.name: field for field in found}

    def other_fields(self, field: str) -> tuple[str, ...]:
        """The names of a field in other installed editions."""
        return self._text.other_fields(self.name, field)

    def _dwords(self, value: int) -> dict[int, int]:
        return {self.number: value & 0xFFFFFFFF, self.number + 1: value >> 32}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Register):
            return NotImplemented
        return (self.name, self.offset) == (other.name, other.offset)

    def __hash__(self) -> int:
        return hash((self.name, self.offset))

    def __repr__(self) -> str:
        return f"<Register {self.name} {self.offset:#x}, {self.bits} bits>"


class RegisterValue:
    """A value of a register.

    A field is an attribute: ``value.ZFUNC`` is the name of an enum's value, others are a bool, an
    int or a float. Compares with ints, and can be used as one: ``hex(value)``.
    """

    __slots__ = ("_fields", "register", "value")

    def __init__(self, register: Register, value: int | None) -> None:
        self.register = register
        #: The number; None where only the GPU knows it, or where it was never written.
        self.value = value
        self._fields: dict[str, FieldValue] | None = None

    @property
    def name(self) -> str:
        """The register's name."""
        return self.register.name

    @property
    def text(self) -> str:
        """The decoded value, as ``cffpy state`` prints it."""
        return "only the GPU knows" if self.value is None else self.register.text_of(self.value)

    @property
    def fields(self) -> dict[str, FieldValue]:
        """The fields by name, with bits, text and value; empty where there are none."""
        if self._fields is None:
            self._fields = {} if self.value is None else self.register.fields_of(self.value)
        return self._fields

    def __getattr__(self, name: str) -> bool | int | float | str:
        """The value of a field, by its name in any installed edition.

        Raises UnknownName, or UnknownValue for an unknown value.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        field = self.fields.get(name)
        if field is not None:
            return field.value
        for other in self.register.other_fields(name):
            if other in self.fields:
                return self.fields[other].value
        names = [described.name for described in self.register.fields]
        if name in names:
            raise UnknownValue(f"{self.name} is not known: {self.text}")
        from difflib import get_close_matches

        near = get_close_matches(name.upper(), names, n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise UnknownName(f"{self.name} has no field {name}{hint}")

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *(field.name for field in self.register.fields)]

    def __int__(self) -> int:
        if self.value is None:
            raise UnknownValue(f"{self.name} is not known: {self.text}")
        return self.value

    __index__ = __int__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RegisterValue):
            return self.register == other.register and self.value == other.value
        if isinstance(other, int):
            return self.value == other
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)

    def __format__(self, spec: str) -> str:
        return format(int(self), spec) if spec else self.text

    def __repr__(self) -> str:
        number = "unknown" if self.value is None else f"{self.value:#x}"
        return f"<{self.name} {number}: {self.text}>"

    def _repr_html_(self) -> str:
        from html import escape  # lazy: only notebooks ask

        rows = "".join(
            f"<tr><td>{escape(field.name)}</td><td>{field.high}:{field.low}</td>"
            f"<td>{escape(field.text)}</td></tr>"
            for field in self.fields.values()
        )
        number = "unknown" if self.value is None else f"{self.value:#x}"
        title = f"<b>{escape(self.name)}</b> {number}"
        return f"{title}<table>{rows}</table>" if rows else f"{title} {escape(self.text)}"
