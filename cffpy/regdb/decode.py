# SPDX-License-Identifier: MIT
"""Value -> text: builds a formatter for each type of the database, plain or coloured.

The text is that of the envytools family: enum names, ``{ FIELD = 0x1 | FLAG }`` for bitsets.
Formatters are built on first use and kept by the type's identity.
"""

from __future__ import annotations

import struct

from cffpy.regdb.database import Database, Found, holds
from cffpy.regdb.rows import (
    BITSET,
    BITSETS,
    BOOLEAN,
    ENUM,
    FIXED,
    FLOAT,
    HEX,
    INLINE_BITSET,
    INLINE_ENUM,
    INT,
    NAMED_INLINE_BITSET,
    REGID,
    UFIXED,
    UINT,
    Condition,
    FieldRow,
    TypeRow,
    ValueRow,
)
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    ValueText = Callable[[int], str]
    #: The current variants as a key.
    VariantsKey = tuple[tuple[str, int], ...]

_ALL_BITS = 0xFFFFFFFFFFFFFFFF


class Palette(ValueObject):
    """Escape sequences around each sort of text; all empty for plain output."""

    __slots__ = ("enum", "flag", "name", "number", "opcode", "reset", "unknown")

    def __init__(
        self,
        opcode: str = "",
        name: str = "",
        flag: str = "",
        enum: str = "",
        number: str = "",
        unknown: str = "",
        reset: str = "",
    ) -> None:
        self.opcode = opcode
        self.name = name
        self.flag = flag
        self.enum = enum
        self.number = number
        self.unknown = unknown
        self.reset = reset


class Formatter(ValueObject):
    """``text`` of a value; ``fixed``: it depends only on the value."""

    __slots__ = ("fixed", "text")

    def __init__(self, text: ValueText, fixed: bool) -> None:
        self.text = text
        self.fixed = fixed


class Decoder:
    """Formats values of one database. Owns the current variants, which decoding may change."""

    def __init__(
        self,
        database: Database,
        palette: Palette,
        fields: Callable[[TypeRow], Sequence[FieldRow]] | None = None,
        half: Callable[[int], float] | None = None,
    ) -> None:
        """``fields`` may reorder a bitset's fields and ``half`` replace 16-bit float decoding:

        a view that mirrors another tool passes its own.
        """
        self.database = database
        self.palette = palette
        self.variants: dict[str, int] = {}
        self.variants_key: VariantsKey = ()
        #: Called after the current variant of a varset has changed.
        self.on_select: Callable[[], None] | None = None
        chip = database.variant("chip", database.chip)
        if chip is not None:
            self.select("chip", chip)
        self._chip_key = self.variants_key
        self._fields = fields or declared_fields
        self._half = half or half_float
        self._formatters: dict[int, tuple[TypeRow, Formatter]] = {}

    def select(self, varset: str, position: int) -> None:
        """Make a variant the current one of its varset."""
        if self.variants.get(varset) != position:
            self.variants[varset] = position
            self.variants_key = tuple(sorted(self.variants.items()))
            if self.on_select is not None:
                self.on_select()

    def restore(self, variants_key: VariantsKey) -> None:
        """Restore the variants of a ``variants_key``."""
        if variants_key != self.variants_key:
            self.variants.clear()
            self.variants.update(variants_key)
            self.variants_key = variants_key

    def choose(self, domain: str, dwords: Sequence[int]) -> None:
        """Select the variants that the fields of a packet choose, and no others.

        So the meaning of a packet does not depend on packets before it.
        """
        database, variants = self.database, self.variants
        self.restore(self._chip_key)
        for offset in database.choosing(domain):
            register = database.lookup(domain, offset, variants) if offset < len(dwords) else None
            if register is None or register.type is None:
                continue
            kind = register.type
            fields = kind[7] if kind[0] in BITSETS else ((register.name, None, kind),)
            for _, condition, field in fields:
                if field[6] and (condition is None or holds(condition, variants)):
                    self.formatter(field).text(dwords[offset])  # which selects

    def formatter(self, type_row: TypeRow) -> Formatter:
        """The formatter of a type."""
        known = self._formatters.get(id(type_row))
        if known is None:
            known = self._formatters[id(type_row)] = (type_row, self._build(type_row))
        return known[1]

    def enum_name(self, enum: str, number: int) -> str | None:
        """The enum's name for a number in the current variants, or None."""
        return self.database.enum_name(enum, number, self.variants)

    def register(self, offset: int) -> Found | None:
        """The register at a dword offset, in the current variants."""
        return self.database.register(offset, self.variants)

    def register_name(self, offset: int) -> str:
        """The coloured name of a register; its offset in hex where it is unknown."""
        register = self.register(offset)
        if register is None:
            return f"{self.palette.unknown}{c_hex(offset)}{self.palette.reset}"
        return self.name(register)

    def name(self, register: Found) -> str:
        """The coloured name of a register or field."""
        return "".join([self._name_part(part) for part in register.parts])

    def _name_part(self, part: tuple[object, ...]) -> str:
        palette = self.palette
        kind = part[0]
        if kind == "name":
            return f"{palette.name}{part[1]}{palette.reset}"
        if kind == "index":
            number = part[1]
            assert isinstance(number, int)
            named = self.enum_name(str(part[2]), number) if part[2] else None
            if named:
                return f"[{palette.enum}{named}{palette.reset}]"
            return f"[{palette.number}{c_hex(number)}{palette.reset}]"
        if kind == "dot":
            return "."
        if kind == "high":
            return "_HI"
        number = part[1]
        assert isinstance(number, int)
        return f"+{palette.unknown}{c_hex(number)}{palette.reset}"

    # -- building ---------------------------------------------------------------------------

    def _build(self, type_row: TypeRow) -> Formatter:
        kind, _name, low, high, shr, _radix, _addvariant, _payload = type_row
        mask = type_mask(low, high)
        if kind in (BITSET, NAMED_INLINE_BITSET, INLINE_BITSET):
            inner, fixed = self._bitset(self._fields(type_row))
            if low == 0 and shr == 0 and high >= 63:
                return Formatter(inner, fixed)
            return Formatter(lambda value: inner(((value & mask) >> low << shr) & _ALL_BITS), fixed)
        plain, fixed = self._plain(type_row)
        unknown, reset = self.palette.unknown, self.palette.reset

        def text(value: int) -> str:
            shown = plain(((value & mask) >> low << shr) & _ALL_BITS)
            outside = value & ~mask & _ALL_BITS
            if outside:
                return f"{shown} | {unknown}{c_hex(outside)}{reset}"
            return shown

        return Formatter(text, fixed)

    def _plain(self, type_row: TypeRow) -> tuple[ValueText, bool]:
        """Text of the extracted value of every kind but bitsets."""
        kind, _name, low, high, _shr, radix, _addvariant, _payload = type_row
        number, reset = self.palette.number, self.palette.reset
        enum = self.palette.enum
        width = high - low + 1
        if kind in (ENUM, INLINE_ENUM):
            return self._enum(type_row)
        if kind == UINT:
            return lambda v: f"{number}{v}{reset}", True
        if kind == INT:
            return self._signed(width), True
        if kind in (FIXED, UFIXED):
            return self._fixed(width, radix, kind == FIXED), True
        if kind == REGID:
            return lambda v: f"{number}r{v >> 2}.{'xyzw'[v & 3]}{reset}", True
        if kind == BOOLEAN:
            words = (f"{enum}FALSE{reset}", f"{enum}TRUE{reset}")
            return lambda v: words[v] if v < 2 else "(null)", True
        if kind == FLOAT and width in (16, 32, 64):
            return self._float(width), True
        assert kind in (HEX, FLOAT)
        return lambda v: f"{number}{c_hex(v)}{reset}", True

    def _signed(self, width: int) -> ValueText:
        number, reset = self.palette.number, self.palette.reset
        sign = 1 << (width - 1)
        return lambda v: (
            f"{number}-{(1 << width) - v}{reset}" if v & sign else f"{number}{v}{reset}"
        )

    def _fixed(self, width: int, radix: int, is_signed: bool) -> ValueText:
        number, reset = self.palette.number, self.palette.reset
        sign = 1 << (width - 1) if is_signed else 0
        scale = float(1 << radix)
        return lambda v: (
            f"{number}-{((1 << width) - v) / scale:f}{reset}"
            if v & sign
            else f"{number}{v / scale:f}{reset}"
        )

    def _float(self, width: int) -> ValueText:
        number, reset, half = self.palette.number, self.palette.reset, self._half
        if width == 16:
            return lambda v: f"{number}{float_text(half(v))}{reset}"
        if width == 32:
            return lambda v: f"{number}{float32_text(v)}{reset}"
        return lambda v: f"{number}{float64_text(v)}{reset}"

    def _enum(self, type_row: TypeRow) -> tuple[ValueText, bool]:
        kind, _name, _low, _high, _shr, _radix, addvariant, payload = type_row
        values: Sequence[ValueRow] = self.database.enum(payload) if kind == ENUM else payload
        enum, number, reset = self.palette.enum, self.palette.number, self.palette.reset
        if addvariant and kind == ENUM:
            return self._selecting_enum(payload), False
        if all(condition is None for _, _, condition in values):
            names: dict[int, str] = {}
            for name, value, _ in values:
                if value is not None:
                    names.setdefault(value, f"{enum}{name}{reset}")

            def known(value: int) -> str:
                return names.get(value) or f"{number}{c_hex(value)}{reset}"

            return known, True

        def conditional(value: int) -> str:
            for name, candidate, condition in values:
                if candidate == value and holds(condition, self.variants):
                    return f"{enum}{name}{reset}"
            return f"{number}{c_hex(value)}{reset}"

        return conditional, not _varies(condition for _, _, condition in values)

    def _selecting_enum(self, enum_name: str) -> ValueText:
        """An enum whose value, once decoded, becomes the current variant of its varset."""
        enum, number, reset = self.palette.enum, self.palette.number, self.palette.reset

        def text(value: int) -> str:
            name = self.enum_name(enum_name, value)
            if name is None:
                return f"{number}{c_hex(value)}{reset}"
            position = self.database.variant(enum_name, name)
            if position is not None:
                self.select(enum_name, position)
            return f"{enum}{name}{reset}"

        return text

    def _bitset(self, fields: Sequence[FieldRow]) -> tuple[ValueText, bool]:
        palette = self.palette
        plan: list[tuple[Condition, int, bool, str | None, str, ValueText]] = []
        fixed = not _varies(condition for _, condition, _ in fields)
        for name, condition, type_row in fields:
            kind, _name, low, high, shr, _radix, _addvariant, _payload = type_row
            mask = type_mask(low, high)
            unknown = is_unknown(name)
            if kind == BOOLEAN:
                colour = palette.unknown if unknown else palette.flag
                flag = f"{colour}{name}{palette.reset}"
                plan.append((condition, mask, unknown, flag, "", str))
                continue
            label = f"{palette.name}{name}{palette.reset} = "
            if unknown and kind != REGID:
                text = self._unknown_field(mask, low, shr)
            else:
                formatter = self.formatter(type_row)
                text, fixed = formatter.text, fixed and formatter.fixed
            plan.append((condition, mask, unknown, None, label, text))
        variants = self.variants
        nothing = f"{{ {palette.number}0{palette.reset} }}"

        def render(value: int) -> str:
            shown: list[str] = []
            covered = 0
            for condition, mask, unknown, flag, label, text in plan:
                if condition is not None and not holds(condition, variants):
                    continue
                part = value & mask
                if unknown and not part:
                    continue
                covered |= mask
                if flag is not None:
                    if part:
                        shown.append(flag)
                else:
                    shown.append(label + text(part))
            outside = value & ~covered
            if outside:
                shown.append(f"{palette.unknown}{c_hex(outside)}{palette.reset}")
            return f"{{ {' | '.join(shown)} }}" if shown else nothing

        return render, fixed

    def _unknown_field(self, mask: int, low: int, shr: int) -> ValueText:
        unknown, reset = self.palette.unknown, self.palette.reset
        return lambda value: f"{unknown}{c_hex((value & mask) >> low << shr)}{reset}"


def declared_fields(type_row: TypeRow) -> Sequence[FieldRow]:
    """A bitset's fields as they were declared."""
    fields: Sequence[FieldRow] = type_row[7]
    return fields


def type_mask(low: int, high: int) -> int:
    """A mask of the bits of a type: low to high, both included."""
    return (1 << (high + 1)) - (1 << low)


def is_unknown(name: str) -> bool:
    """True for the placeholder names of bits without known meaning: UNK and a digit."""
    return name.startswith("UNK") and name[3:4].isdigit()


def c_hex(value: int) -> str:
    """C's ``%#x``: no prefix for zero."""
    return f"{value:#x}" if value else "0"


def float_text(value: float) -> str:
    """C's ``%f`` of a double, whose NaN may be negative."""
    text = f"{value:f}"
    if text == "nan" and struct.pack(">d", value)[0] & 0x80:
        return "-nan"
    return text


def float32_text(bits: int) -> str:
    """C's ``%f`` of a 32-bit float given as bits."""
    if bits & 0x7F800000 == 0x7F800000 and bits & 0x7FFFFF:
        return "-nan" if bits & 0x80000000 else "nan"
    return f"{struct.unpack('<f', struct.pack('<I', bits))[0]:f}"


def float64_text(bits: int) -> str:
    """C's ``%f`` of a 64-bit float given as bits."""
    return float_text(struct.unpack("<d", struct.pack("<Q", bits))[0])


def half_float(bits: int) -> float:
    """The value of a 16-bit float given as bits."""
    value: float = struct.unpack("<e", struct.pack("<H", bits))[0]
    return value


def _varies(conditions: object) -> bool:
    """True when a condition asks for more than the chip, which never changes."""
    for condition in conditions:  # type: ignore[attr-defined]
        if condition is not None and any(varset != "chip" for varset, _ in condition):
            return True
    return False
