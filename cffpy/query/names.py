# SPDX-License-Identifier: MIT
"""Names of registers and fields in filters, as the database of one generation has them."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cached_property, partial
from itertools import islice, product
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from cffpy.errors import FilterError
from cffpy.regdb import rows, store
from cffpy.regdb.aliases import Aliases
from cffpy.regdb.catalog import Catalog, Level
from cffpy.regdb.database import holds
from cffpy.regdb.spelling import parse_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from cffpy.query.syntax import Path
    from cffpy.regdb.catalog import RegisterPattern
    from cffpy.regdb.database import Database

    Convert = Callable[[int], int | float | bool]

_SIGNED = (rows.INT, rows.FIXED)
_SCALED = (rows.FIXED, rows.UFIXED)
_FLOATS = {
    16: (Struct("<e"), Struct("<H")),
    32: (Struct("<f"), Struct("<I")),
    64: (Struct("<d"), Struct("<Q")),
}

#: Registers that one name with ``[*]`` stands for, at most; elements of an array without an end.
_MAX_REGISTERS, _ENDLESS = 1024, 64

#: Bits of the number of a shader's register, at most.
_ID_BITS = 10

_SEGMENT = re.compile(r"([A-Za-z0-9_]+)(?:\[(\*|[0-9A-Fa-fxX]+)\])?")


class RegisterPlace(NamedTuple):
    """Offset of a register in dwords, of a 64-bit one also that of its upper dword.

    ``needs_upper``: the value is unknown without the upper dword, which is a separate register.
    """

    offset: int
    upper: int | None
    needs_upper: bool


class RegisterName(NamedTuple):
    """What a name means: a register, elements of an array (``is_many``), or a field of either.

    ``type_row``: the type of the field or of the register; None where it is one plain number.
    """

    places: tuple[RegisterPlace, ...]
    is_many: bool
    type_row: rows.TypeRow | None


class Words(NamedTuple):
    """Words that stand for values: those of an enum, or the values of a text property."""

    values: Mapping[str, int | str]
    #: What the words are of, for errors.
    subject: str
    #: Other names that a word has in other editions.
    aliases: Callable[[str], Iterable[str]] | None = None

    def value(self, word: str, column: int) -> int | str:
        """The value of a word in upper or lower case. Raises FilterError with the nearest words."""
        found = self.values.get(word)
        if found is None:
            found = self._folded.get(word.upper())
        for other in self.aliases(word) if found is None and self.aliases is not None else ():
            found = self.values.get(other) if found is None else found
        if found is None:
            near = nearest(word, self.values)
            raise FilterError(f"{self.subject} has no value {word}{near}", "", 1, column)
        return found

    @property
    def _folded(self) -> dict[str, int | str]:
        return {name.upper(): value for name, value in self.values.items()}


def nearest(word: str, known: Iterable[str]) -> str:
    """The end of an error message: names that are spelt like ``word``."""
    folded = {name.upper(): name for name in known}
    near = get_close_matches(word.upper(), folded, n=3, cutoff=0.5)
    return _question([folded[one] for one in near])


def _question(near: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(near)}?" if near else ""


class UnknownRegister(FilterError):
    """A name that no register of a generation has."""

    def __init__(
        self,
        chip: str,
        path: Path,
        find_near: Callable[[str], Sequence[str]],
        what: str = "register",
    ) -> None:
        """``find_near`` finds names that are spelt like one; it takes long. ``what`` it is not."""
        super().__init__(f"{chip} has no {what} {path.text}", "", 1, path.column)
        self.name = path.text
        self._find_near = find_near

    @cached_property
    def near(self) -> Sequence[str]:
        """The generation's names that are spelt like it."""
        return self._find_near(self.name)

    def __str__(self) -> str:
        return f"{super().__str__()}{_question(self.near)}"


#: What an Intel capture is in errors.
INTEL = "an Intel capture"


class NoRegisters:
    """The names of a capture whose draws have no registers. ``chip``: what it is, for errors."""

    def __init__(self, chip: str) -> None:
        self.chip = chip

    def find(self, path: Path) -> RegisterName:
        """Raises UnknownRegister."""
        raise UnknownRegister(self.chip, path, lambda _name: ())

    def has(self, name: str) -> bool:
        """No register has this name."""
        return False

    def words(self, name: str, type_row: rows.TypeRow | None) -> Words | None:
        """There are none."""

    def value_aliases(self, word: str) -> tuple[str, ...]:
        """There are none."""
        return ()


class NameTable:
    """Looks up names of registers of one generation."""

    def __init__(self, database: Database) -> None:
        self._database = database
        chip = database.variant("chip", database.chip)
        self._variants = {} if chip is None else {"chip": chip}
        #: Name in capitals without indices -> the register of this name.
        self._patterns: dict[str, RegisterPattern] = {}
        catalog = Catalog(store.load(database.directory, database.chip))
        for domain in catalog.register_domains:
            for pattern in catalog.patterns(domain):
                if pattern.row[0] == rows.REGISTER:
                    self._patterns.setdefault(_folded(pattern), pattern)
        for name, port in database.ports.items():
            pattern = self._patterns[name]  # an array, whose elements have numbers of their own
            level = Level(name, port.element(0), len(port.elements), 1, True)
            self._patterns[name] = pattern._replace(levels=(level,))

    @property
    def chip(self) -> str:
        """The generation, as in "a6xx"."""
        return self._database.chip.lower()

    def find(self, path: Path) -> RegisterName:
        """The register or field of a name.

        A name of another installed edition is taken where this edition does not have it. Raises
        FilterError with the column, and the nearest names for a name that is not known.
        """
        segments = [(match[1], match[2]) for match in _SEGMENT.finditer(path.text)]
        found = self._find(path, segments) or self._find_renamed(path, segments)
        if found is not None:
            return found
        raise UnknownRegister(self.chip, path, self._nearest)

    def _find_renamed(
        self, path: Path, segments: Sequence[tuple[str, str | None]]
    ) -> RegisterName | None:
        """The same by a name of the register in another edition."""
        for count in range(len(segments), 0, -1):
            name = ".".join(_with_index(*one) for one in segments[:count]).upper()
            for other in self._aliases.registers(name):
                renamed = [(match[1], match[2]) for match in _SEGMENT.finditer(other)]
                found = self._find(path, [*renamed, *segments[count:]])
                if found is not None:
                    return found
        return None

    def _find(self, path: Path, segments: Sequence[tuple[str, str | None]]) -> RegisterName | None:
        for count in range(len(segments), 0, -1):
            name = ".".join(segment for segment, _ in segments[:count]).upper()
            places = self._places(name, segments[:count], path)
            if places is not None:
                pattern, found = places
                is_many = any(index == "*" for _, index in segments[:count])
                field = ".".join(segment for segment, _ in segments[count:])
                type_row = None if pattern is None else pattern.row[7]
                if field:
                    type_row = self._field(path, name, type_row, field)
                return RegisterName(tuple(found), is_many, type_row)
        return None

    @cached_property
    def _aliases(self) -> Aliases:
        return Aliases.installed()

    def has(self, name: str) -> bool:
        """Whether a register has this name, its indices left out, in any installed edition."""
        return self._has(name) or any(map(self._has, self._aliases.registers(name.upper())))

    def _has(self, name: str) -> bool:
        folded = name.upper()
        return any(one in self._patterns for one in (folded, f"{folded}_LO", _base(folded)))

    def words(self, name: str, type_row: rows.TypeRow | None) -> Words | None:
        """The words for values of a type: those of its enum, of a flag ``true`` and ``false``.

        Of the number of a shader's register, ``r0.x`` and so on.
        """
        if type_row is None:
            return None
        values: Sequence[rows.ValueRow] = ()
        if type_row[0] == rows.ENUM:
            values = self._database.enum(type_row[7])
        elif type_row[0] == rows.INLINE_ENUM:
            values = type_row[7]
        elif type_row[0] == rows.BOOLEAN:
            return Words({"true": 1, "false": 0}, name)
        elif type_row[0] == rows.REGID:
            return Words(_register_ids(type_row[3] - type_row[2] + 1), name)
        found: dict[str, int | str] = {}
        for word, number, condition in values:
            if number is not None and holds(condition, self._variants):
                found.setdefault(word, number)
        return Words(found, name, self.value_aliases) if found else None

    def value_aliases(self, word: str) -> tuple[str, ...]:
        """The names that a value of an enum has in other editions."""
        return self._aliases.values(word)

    def _places(
        self, name: str, segments: Sequence[tuple[str, str | None]], path: Path
    ) -> tuple[RegisterPattern | None, list[RegisterPlace]] | None:
        pattern = self._patterns.get(name)
        if pattern is not None:
            wide = pattern.row[6] == 2
            return pattern, [
                RegisterPlace(offset, offset + 1 if wide else None, False)
                for offset in self._offsets(pattern, segments, path)
            ]
        low, high = self._patterns.get(f"{name}_LO"), self._patterns.get(f"{name}_HI")
        if low is None or high is None:
            return self._dword_places(name, segments, path)
        pairs = zip(
            self._offsets(low, segments, path), self._offsets(high, segments, path), strict=True
        )
        return None, [RegisterPlace(offset, upper, True) for offset, upper in pairs]

    def _dword_places(
        self, name: str, segments: Sequence[tuple[str, str | None]], path: Path
    ) -> tuple[None, list[RegisterPlace]] | None:
        """``X_LO`` or ``X_HI`` of a register ``X`` of 64 bits."""
        pattern = self._patterns.get(_base(name))
        if pattern is None or pattern.row[6] == 1:
            return None
        upper = name.endswith("_HI")
        return None, [
            RegisterPlace(offset + upper, None, False)
            for offset in self._offsets(pattern, segments, path)
        ]

    def _offsets(
        self, pattern: RegisterPattern, segments: Sequence[tuple[str, str | None]], path: Path
    ) -> list[int]:
        indices = [
            _indices(level, index, path)
            for level, (_, index) in zip(pattern.levels, segments, strict=False)
        ]
        chosen = [index for index in indices if index is not None]
        offsets = map(pattern.offset_at, product(*chosen))
        return [one for one in islice(offsets, _MAX_REGISTERS) if one is not None]

    def _field(
        self, path: Path, name: str, type_row: rows.TypeRow | None, field: str
    ) -> rows.TypeRow:
        """The type of a field of the register ``name``, which has no indices."""
        known: dict[str, rows.TypeRow] = {}
        if type_row is not None and type_row[0] in rows.BITSETS:
            for known_name, condition, row in type_row[7]:
                if condition is None or holds(condition, self._variants):
                    known.setdefault(known_name, row)
        found = known.get(field) or known.get(field.upper())
        for other in self._aliases.fields(name, field.upper()) if found is None else ():
            found = found or known.get(other)
        if found is None:
            register = path.text[: len(path.text) - len(field) - 1]
            message = f"{register} has no field {field}{nearest(field, known)}"
            raise FilterError(message, "", 1, path.column + len(register) + 1)
        return found

    def _nearest(self, text: str) -> list[str]:
        name = ".".join(match[1] for match in _SEGMENT.finditer(text)).upper()
        head = name.partition(".")[0]
        inside = [one for one in self._patterns if one.startswith(f"{head}.")]
        shown = {name: _any_index(self._patterns[name]) for name in inside or self._patterns}
        return [shown[one] for one in get_close_matches(name, shown, n=3, cutoff=0.5)]


def _register_ids(width: int) -> dict[str, int | str]:
    """Names of a shader's registers, as the dump prints the numbers of ``width`` bits."""
    return {f"r{one >> 2}.{'xyzw'[one & 3]}": one for one in range(1 << min(width, _ID_BITS))}


def _folded(pattern: RegisterPattern) -> str:
    return ".".join(level.name.strip() for level in pattern.levels).upper()


def _base(name: str) -> str:
    """The 64-bit register of which this may be one dword; "" for other names."""
    base, _, half = name.rpartition("_")
    return base if half in ("LO", "HI") else ""


def _with_index(name: str, index: str | None) -> str:
    return name if index is None else f"{name}[{index}]"


def _any_index(pattern: RegisterPattern) -> str:
    return ".".join(
        f"{level.name}[*]" if level.repeated else level.name for level in pattern.levels
    )


def _indices(level: Level, index: str | None, path: Path) -> Sequence[int] | None:
    """The indices that are meant of one step of a name; None where it has none."""
    length = level.length or _ENDLESS
    if isinstance(level.start, tuple):
        length = len(level.start)
    if not level.repeated:
        return None
    if index is None:
        message = f"{level.name} is an array: {level.name}[0] is its first element, [*] is any"
        raise FilterError(message, "", 1, path.column)
    if index == "*":
        return range(length)
    number = parse_index(index)
    if number is None:
        raise FilterError(f"{index} is not a number", "", 1, path.column)
    if level.length and number >= length:
        message = f"{level.name} has {length} elements, counted from 0"
        raise FilterError(message, "", 1, path.column)
    return (number,)


class Conversion(NamedTuple):
    """How bits ``low`` to ``high`` of a register are a value.

    ``kind``: "bool", "uint", "int", "fixed" and "ufixed" (with ``radix`` bits after the point),
    "float" (of 16, 32 or 64 bits). ``shift``: of a "uint", to the left.
    """

    kind: str
    low: int
    high: int
    shift: int
    radix: int


def conversion(type_row: rows.TypeRow) -> Conversion:
    """How values of a type are read."""
    kind, _name, low, high, shift, radix = type_row[:6]
    if kind == rows.BOOLEAN:
        return Conversion("bool", low, high, 0, 0)
    if kind in _SCALED:
        return Conversion("fixed" if kind in _SIGNED else "ufixed", low, high, 0, radix)
    if kind in _SIGNED:
        return Conversion("int", low, high, 0, 0)
    if kind == rows.FLOAT and high - low + 1 in _FLOATS:
        return Conversion("float", low, high, 0, 0)
    return Conversion("uint", low, high, shift, 0)


def converter(type_row: rows.TypeRow | None) -> tuple[str, Convert]:
    """What values of a type are compared as, "number" or "bool"; the value of a register's bits."""
    if type_row is None:
        return "number", int
    kind, low, high, shift, radix = conversion(type_row)
    mask = (1 << (high - low + 1)) - 1
    if kind == "bool":
        return "bool", partial(_flag, low)
    if kind == "uint":
        return "number", lambda value: (value >> low & mask) << shift
    if kind == "float":
        return "number", partial(_float, low, mask, *_FLOATS[high - low + 1])
    sign = 0 if kind == "ufixed" else 1 << (high - low)
    return "number", partial(_fixed, low, mask, sign, radix)


def _flag(low: int, value: int) -> bool:
    return bool(value >> low & 1)


def _fixed(low: int, mask: int, sign: int, radix: int, value: int) -> int | float:
    value = value >> low & mask
    if value & sign:
        value -= mask + 1
    return value / (1 << radix) if radix else value


def _float(low: int, mask: int, number: Struct, bits: Struct, value: int) -> float:
    found: float = number.unpack(bits.pack(value >> low & mask))[0]
    return found
