# SPDX-License-Identifier: MIT
"""The mechanism behind every binary layout: declared once, as plain data, read in two ways.

A ``Layout`` is an ordered table of little-endian fields, written with ``u32``, ``u64`` and
``word`` (bit fields within a dword):

    SECTION_HEADER = Layout("section header", u32("type"), u32("size"))
    TYPE4_HEADER = Layout("type-4 header", word("header", bits("count", 0, 6), ...))

From that one table come

- ``construct()``: the construct struct, which builds (writers, samples) and parses (tests, the
  public API). construct is a hundred times too slow for a stream and costs 20 ms to import, so it
  is imported by the first call, never by the declaration;
- ``read_bytes`` and ``read_dwords``: functions made once from the table (``struct.Struct``, shifts
  and masks), for the hot paths, which bind them once (``read = SECTION_HEADER.read_bytes``).

So there is no second, hand-written layout that could differ, and tests hold both readings equal.

Values are flat: the bit fields of a word stand among the other fields, in the order of the table.
Fields that are absent from a short tail, and bits that no field names, are 0.
"""

from __future__ import annotations

import struct

from cffpy.errors import CffpyError
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Reader = Callable[..., tuple[int, ...]]

BytesLike = bytes | bytearray | memoryview


class LayoutError(CffpyError):
    """Data too short for a layout, or values that do not fit it."""


class Bits(ValueObject):
    """Bits ``low`` to ``high``, both included, of a dword."""

    __slots__ = ("default", "high", "low", "name")

    def __init__(self, name: str, low: int, high: int, default: int | None) -> None:
        self.name = name
        self.low = low
        self.high = high
        self.default = default

    @property
    def mask(self) -> int:
        """The value with all bits of the field set, shifted down to bit 0."""
        return (1 << (self.high - self.low + 1)) - 1


class Field(ValueObject):
    """A number of ``size`` bytes (4 or 8), or a dword divided into ``parts``."""

    __slots__ = ("default", "name", "optional", "parts", "size")

    def __init__(
        self, name: str, size: int, optional: bool, default: int | None, parts: tuple[Bits, ...]
    ) -> None:
        self.name = name
        self.size = size
        self.optional = optional
        self.default = default
        self.parts = parts


class Place(ValueObject):
    """Where a value stands: the dword's index from the layout's start, lowest bit, width in bits.

    The width of a u64 is 64: it goes on in the next dword.
    """

    __slots__ = ("dword", "low", "width")

    def __init__(self, dword: int, low: int, width: int) -> None:
        self.dword = dword
        self.low = low
        self.width = width


def u32(name: str, *, optional: bool = False, default: int | None = None) -> Field:
    """A little-endian dword. ``optional``: part of the tail, which short data lacks."""
    return Field(name, 4, optional, default, ())


def u64(name: str, *, optional: bool = False, default: int | None = None) -> Field:
    """A little-endian pair of dwords, the low one first."""
    return Field(name, 8, optional, default, ())


def bits(name: str, low: int, high: int | None = None, *, default: int | None = None) -> Bits:
    """A bit field of a ``word``; without ``high``, a single bit."""
    return Bits(name, low, low if high is None else high, default)


def word(name: str, *parts: Bits, optional: bool = False) -> Field:
    """A little-endian dword divided into bit fields, in any order; bits may be left unnamed."""
    ordered = tuple(sorted(parts, key=lambda part: part.low))
    end = 0
    for part in ordered:
        if not end <= part.low <= part.high <= 31:
            raise ValueError(
                f"{name}.{part.name}: bits {part.low}..{part.high} overlap or leave 31..0"
            )
        end = part.high + 1
    return Field(name, 4, optional, None, ordered)


class Layout:
    """An ordered table of fields with readers and a construct struct made from it.

    ``size`` and ``full_size`` are in bytes, without and with the optional tail. ``names`` are the
    names of the values, in the order in which readers return them.
    """

    __slots__ = (
        "_construct",
        "_read_bytes",
        "_read_dwords",
        "fields",
        "full_size",
        "name",
        "names",
        "size",
        "struct",
    )

    def __init__(self, name: str, *fields: Field) -> None:
        self.name = name
        self.fields = fields
        required = [field for field in fields if not field.optional]
        if list(fields[: len(required)]) != required:
            raise ValueError(f"{name}: a required field follows an optional one")
        self.names: tuple[str, ...] = tuple(
            value for field in fields for value in _value_names(field)
        )
        if len(set(self.names)) != len(self.names):
            raise ValueError(f"{name}: two fields have one name")
        self.size = sum(field.size for field in required)
        self.full_size = sum(field.size for field in fields)
        #: The required fields, words undivided: for ``unpack_from`` and ``iter_unpack``.
        self.struct = struct.Struct(_format(required))
        self._construct: Any = None
        self._read_bytes: Reader | None = None
        self._read_dwords: Reader | None = None

    def __repr__(self) -> str:
        return f"Layout({self.name!r}, {', '.join(self.names)})"

    @property
    def dwords(self) -> int:
        """Size in dwords without the optional tail."""
        return self.size // 4

    def place(self, name: str) -> Place:
        """Where the value called ``name`` stands."""
        index = 0
        for field in self.fields:
            for part in field.parts:
                if part.name == name:
                    return Place(index, part.low, part.high - part.low + 1)
            if field.name == name and not field.parts:
                return Place(index, 0, field.size * 8)
            index += field.size // 4
        raise KeyError(name)

    # --- construct: building, and parsing where speed does not matter -------------------------

    def construct(self) -> Any:  # noqa: ANN401  (construct has no types)
        """The construct struct; a word is a nested BitStruct under the word's name."""
        if self._construct is None:
            self._construct = _make_construct(self)
        return self._construct

    def build(self, **values: int) -> bytes:
        """Bytes made by construct. Values may be left out where a default exists or of the tail."""
        from construct import ConstructError

        if unknown := values.keys() - set(self.names):
            raise LayoutError(f"{self.name}: no field {', '.join(sorted(unknown))}")
        nested: dict[str, object] = {}
        for field in self.fields:
            if not field.parts:
                if field.name in values:
                    nested[field.name] = values[field.name]
                elif field.optional:
                    break
                continue
            given = {part.name: values[part.name] for part in field.parts if part.name in values}
            if field.optional and not given:
                break
            nested[field.name] = given
        if stray := values.keys() - set(_flat_names(nested)):
            listed = ", ".join(sorted(stray))
            raise LayoutError(f"{self.name}: {listed} follows an optional field that is left out")
        try:
            return bytes(self.construct().build(nested))
        except (ConstructError, KeyError) as problem:
            reason = str(problem).strip().splitlines()[-1]
            raise LayoutError(f"{self.name}: {reason}") from None

    def parse(self, data: BytesLike) -> dict[str, int]:
        """Name -> value as construct reads ``data``; the slow twin of ``read_bytes``."""
        from construct import ConstructError

        try:
            container = self.construct().parse(bytes(data))
        except ConstructError:
            raise self._too_short(len(data)) from None
        values: dict[str, int] = {}
        for field in self.fields:
            item = container[field.name]
            if field.parts:
                for part in field.parts:
                    values[part.name] = 0 if item is None else int(item[part.name])
            else:
                values[field.name] = 0 if item is None else int(item)
        return values

    # --- derived readers ----------------------------------------------------------------------

    @property
    def read_bytes(self) -> Reader:
        """``read(data, offset=0) -> values``: from bytes-like data at a byte offset.

        Raises LayoutError where the required fields are not all there.
        """
        if self._read_bytes is None:
            self._read_bytes = _make_bytes_reader(self)
        return self._read_bytes

    @property
    def read_dwords(self) -> Reader:
        """``read(dwords, index=0, count=required) -> values``: from a sequence of dwords.

        ``count`` is the number of dwords that belong to the item: a tail beyond it reads as 0.
        The caller sees to it that the required dwords are there (IndexError otherwise).
        """
        if self._read_dwords is None:
            self._read_dwords = _make_dwords_reader(self)
        return self._read_dwords

    def _too_short(self, length: int) -> LayoutError:
        return LayoutError(f"{self.name}: {length} bytes where {self.size} are needed")


def _value_names(field: Field) -> list[str]:
    return [part.name for part in field.parts] if field.parts else [field.name]


def _flat_names(nested: dict[str, object]) -> list[str]:
    parts = [value if isinstance(value, dict) else [name] for name, value in nested.items()]
    return [name for names in parts for name in names]


def _format(fields: Sequence[Field]) -> str:
    return "<" + "".join("I" if field.size == 4 else "Q" for field in fields)


def _make_construct(layout: Layout) -> Any:  # noqa: ANN401
    import construct

    members = []
    before: str | None = None
    for field in layout.fields:
        member: Any
        if field.parts:
            member = construct.ByteSwapped(construct.BitStruct(*_bit_members(construct, field)))
        else:
            member = construct.Int32ul if field.size == 4 else construct.Int64ul
            if field.default is not None:
                member = construct.Default(member, field.default)
        if field.optional:
            member = construct.Optional(member)
            if before is not None:  # the tail ends at the first field that is not there
                member = construct.If(_is_there(before), member)
            before = field.name
        members.append(construct.Renamed(member, field.name))
    return construct.Struct(*members)


def _is_there(name: str) -> Callable[[Any], bool]:
    return lambda context: context.get(name) is not None


def _bit_members(construct: Any, field: Field) -> list[Any]:  # noqa: ANN401
    """From bit 31 down, as construct's bit structs are written."""
    members = []
    above = 32
    for part in reversed(field.parts):
        if above > part.high + 1:
            members.append(construct.Padding(above - part.high - 1))
        member = construct.BitsInteger(part.high - part.low + 1)
        if part.default is not None:
            member = construct.Default(member, part.default)
        members.append(construct.Renamed(member, part.name))
        above = part.low
    if above:
        members.append(construct.Padding(above))
    return members


def _make_bytes_reader(layout: Layout) -> Reader:
    plain = not any(field.parts for field in layout.fields)
    # One struct and one splitting function for each number of fields that may be present.
    required = sum(1 for field in layout.fields if not field.optional)
    forms: list[tuple[int, Callable[..., tuple[int, ...]], Callable[..., tuple[int, ...]]]] = []
    for present in range(len(layout.fields), required - 1, -1):
        there = layout.fields[:present]
        made = struct.Struct(_format(there))
        forms.append((made.size, made.unpack_from, _make_splitter(layout.fields, present)))
    if len(forms) == 1:
        _, unpack, split = forms[0]

        def read_fixed(data: BytesLike, offset: int = 0) -> tuple[int, ...]:
            try:
                values = unpack(data, offset)
            except struct.error:
                raise layout._too_short(max(0, len(data) - offset)) from None
            return values if plain else split(*values)

        return read_fixed

    def read_with_tail(data: BytesLike, offset: int = 0) -> tuple[int, ...]:
        length = len(data) - offset
        for size, unpack, split in forms:
            if length >= size:
                return split(*unpack(data, offset))
        raise layout._too_short(max(0, length))

    return read_with_tail


def _make_splitter(fields: Sequence[Field], present: int) -> Callable[..., tuple[int, ...]]:
    """A function from the values of the first ``present`` fields to the values of the layout."""
    plan: list[tuple[int, int, int]] = []
    absent = 0
    for number, field in enumerate(fields):
        if number < present:
            plan += [(number, low, mask) for low, mask in _shifts(field)]
        else:
            absent += len(_value_names(field))
    zeros = (0,) * absent

    def split(*values: int) -> tuple[int, ...]:
        found = tuple([values[number] >> low & mask for number, low, mask in plan])
        return found + zeros if zeros else found

    return split


def _make_dwords_reader(layout: Layout) -> Reader:
    # (Dword of the value, shift, mask, dwords that must be there); a u64's upper half, or -1.
    plan: list[tuple[int, int, int, int, int]] = []
    index = 0
    for field in layout.fields:
        end = index + field.size // 4
        upper = index + 1 if field.size == 8 else -1
        needed = end if field.optional else 0
        plan += [(index, low, mask, upper, needed) for low, mask in _shifts(field)]
        index = end
    size = layout.dwords
    if all(upper < 0 and not needed for _, _, _, upper, needed in plan):
        short = [(index, low, mask) for index, low, mask, _, _ in plan]

        def read_words(dwords: Sequence[int], start: int = 0, count: int = size) -> tuple[int, ...]:
            return tuple([dwords[start + index] >> low & mask for index, low, mask in short])

        return read_words

    def read(dwords: Sequence[int], start: int = 0, count: int = size) -> tuple[int, ...]:
        values = []
        for index, low, mask, upper, needed in plan:
            if needed > count:
                values.append(0)
            elif upper < 0:
                values.append(dwords[start + index] >> low & mask)
            else:
                values.append(dwords[start + index] | dwords[start + upper] << 32)
        return tuple(values)

    return read


def _shifts(field: Field) -> list[tuple[int, int]]:
    """Shift and mask of each value of a field."""
    if not field.parts:
        return [(0, (1 << field.size * 8) - 1)]
    return [(part.low, part.mask) for part in field.parts]
