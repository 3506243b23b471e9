# SPDX-License-Identifier: MIT
"""One field of a register or packet: bits -> value of the language, and back; labels.

A decimal number is in the field's unit (a float, a fixed-point number, a signed integer); a
hexadecimal one is the field's bits, or, where the description shifts a field, its shifted value.
"""

from __future__ import annotations

import difflib
import math
import re
import struct
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

from cffpy.pm4asm.model import Call, FieldList, Name, Number, SourceProblem, Value, is_name
from cffpy.regdb.database import Database, holds
from cffpy.regdb.rows import (
    BOOLEAN,
    ENUM,
    FIXED,
    FLOAT,
    HEX,
    INLINE_ENUM,
    INT,
    REGID,
    UFIXED,
    UINT,
    Condition,
    TypeRow,
)


class Label(NamedTuple):
    """A labelled block: its name, and its size."""

    name: str
    dwords: int


class Labels:
    """Labelled blocks by address, and their addresses by name."""

    __slots__ = ("_by_address", "_places")

    def __init__(self, by_address: Mapping[int, Label] | None = None) -> None:
        self._by_address = by_address or {}
        self._places = {label.name: address for address, label in self._by_address.items()}

    def __contains__(self, address: int) -> bool:
        return address in self._by_address

    def name(self, address: int) -> str:
        """The label of the block at this address; there must be one."""
        return self._by_address[address].name

    def size(self, name: str) -> int | None:
        """The size of a labelled block in dwords, or None."""
        address = self._places.get(name)
        return None if address is None else self._by_address[address].dwords

    def value(self, call: Call) -> int:
        """The value of a call. Raises SourceProblem if there is no such label."""
        address = self._places.get(call.name)
        if address is None:
            raise SourceProblem(f"no label {call.name}", call.column)
        return label_value(call, address, self._by_address[address].dwords)


NO_LABELS = Labels()


def label_value(call: Call, address: int, dwords: int) -> int:
    """The value of a call for a label at ``address``, whose block has ``dwords`` dwords."""
    if call.function == "sizeof":
        return dwords + call.addend
    whole = (address + call.addend) & 0xFFFFFFFFFFFFFFFF
    if call.function == "lo":
        return whole & 0xFFFFFFFF
    return whole >> 32 if call.function == "hi" else whole


#: The value of a label, or of a function of a name.
Resolve = Callable[[Call], int]

_REGISTER_ID = re.compile(r"r([0-9]{1,10})\.([xyzw])")
_FLOATS = {16: "<e", 32: "<f", 64: "<d"}
_INTEGERS = {16: "<H", 32: "<I", 64: "<Q"}
_FRACTIONS = (FIXED, UFIXED, FLOAT)


def _no_names(_name: str) -> tuple[str, ...]:
    return ()


class DwordField(NamedTuple):
    """Bits ``low`` to ``high`` of a dword or pair of dwords, and what they mean."""

    name: str
    low: int
    high: int
    shr: int
    kind: int
    radix: int
    names: Mapping[int, str]
    numbers: Mapping[str, int]
    #: The varset whose variant this field's value chooses, or "".
    selects: str
    condition: Condition
    #: Whether its value is shown as a label where one fits: an address, or a plain number.
    is_address: bool
    #: The names that other editions have for a value's name.
    other_names: Callable[[str], Iterable[str]] = _no_names

    @property
    def width(self) -> int:
        """How many bits the field has."""
        return self.high - self.low + 1

    @property
    def mask(self) -> int:
        """Its bits in the dword."""
        return (1 << (self.high + 1)) - (1 << self.low)

    def number_of(self, name: str) -> int | None:
        """The number of a value's name, of this edition or of another; None if it has none."""
        number = self.numbers.get(name)
        if number is None and self.numbers:
            others = (self.numbers.get(other) for other in self.other_names(name))
            number = next((other for other in others if other is not None), None)
        return number

    def extract(self, word: int) -> int:
        """Its bits of a dword, shifted down."""
        return (word & self.mask) >> self.low


def make_field(
    name: str, type_row: TypeRow, condition: Condition, database: Database, variants: dict[str, int]
) -> DwordField:
    """The field that a type of the database describes; bitsets within bitsets are numbers.

    A name that the language cannot write is dropped: its bits are shown as numbers.
    """
    kind, type_name, low, high, shr, radix, selects, payload = type_row
    names: dict[int, str] = {}
    numbers: dict[str, int] = {}
    if kind in (ENUM, INLINE_ENUM):
        for text, number, when in database.enum(payload) if kind == ENUM else payload:
            if number is not None and is_name(text) and (when is None or holds(when, variants)):
                names.setdefault(number, text)
                numbers.setdefault(text, number)
    elif kind > INLINE_ENUM:
        kind = HEX
    varset = payload if selects and kind == ENUM else ""
    is_address = kind == HEX and (type_name in ("address", "waddress") or high - low >= 31)
    name = name if is_name(name) else ""
    return DwordField(
        name,
        low,
        high,
        shr,
        kind,
        radix,
        names,
        numbers,
        varset,
        condition,
        is_address,
        database.other_values,
    )


def plain_field(name: str, low: int, high: int) -> DwordField:
    """A number without further meaning; an address, by its name."""
    is_address = "ADDR" in name or "BASE" in name
    kind = HEX if is_address else UINT
    return DwordField(name, low, high, 0, kind, 0, {}, {}, "", None, is_address)


# -- bits -> value ---------------------------------------------------------------------------------


def decode(field: DwordField, bits: int, labels: Labels) -> Value | None:
    """The value for a field's ``bits``; None for a flag that is set."""
    if field.is_address and bits << field.shr in labels:
        return Name(labels.name(bits << field.shr))
    return _DECODERS.get(field.kind, _decode_hex)(field, bits)


def _decode_hex(field: DwordField, bits: int) -> Value:
    return Number(f"{bits << field.shr:#x}")


def _decode_enum(field: DwordField, bits: int) -> Value:
    name = field.names.get(bits)
    if name is not None and field.numbers.get(name) == bits:
        return Name(name)
    return Number(f"{bits:#x}")


def _decode_boolean(_field: DwordField, bits: int) -> Value | None:
    return None if bits == 1 else Number(f"{bits:#x}")


def _decode_unsigned(field: DwordField, bits: int) -> Value:
    return Number(str(bits << field.shr))


def _decode_signed(field: DwordField, bits: int) -> Value:
    return Number(str(_signed(field, bits) << field.shr))


def _decode_register_id(_field: DwordField, bits: int) -> Value:
    return Name(f"r{bits >> 2}.{'xyzw'[bits & 3]}")


def _decode_float(field: DwordField, bits: int) -> Value:
    if field.width not in _FLOATS:
        return _decode_hex(field, bits)
    return Number(_float_text(bits, field.width))


def _decode_fixed(field: DwordField, bits: int) -> Value:
    return Number(_fixed_text(_signed(field, bits), field.radix))


def _decode_unsigned_fixed(field: DwordField, bits: int) -> Value:
    return Number(_fixed_text(bits, field.radix))


def _signed(field: DwordField, bits: int) -> int:
    """The field's bits as a number in two's complement."""
    return bits - (1 << field.width) if bits >> (field.width - 1) else bits


#: By kind of field; all other kinds are hexadecimal.
_DECODERS: dict[int, Callable[[DwordField, int], Value | None]] = {
    ENUM: _decode_enum,
    INLINE_ENUM: _decode_enum,
    BOOLEAN: _decode_boolean,
    UINT: _decode_unsigned,
    INT: _decode_signed,
    REGID: _decode_register_id,
    FLOAT: _decode_float,
    FIXED: _decode_fixed,
    UFIXED: _decode_unsigned_fixed,
}


def _float_text(bits: int, width: int) -> str:
    """The shortest decimal that is read back as these bits, else the bits."""
    (value,) = struct.unpack(_FLOATS[width], struct.pack(_INTEGERS[width], bits))
    for digits in (4, 7, 9, 17):
        text = f"{value:.{digits}g}"
        if _is_decimal(text) and _float_bits(text, width) == bits:
            return text if "." in text or "e" in text else f"{text}.0"
    return f"{bits:#x}"


def _is_decimal(text: str) -> bool:
    return text.lstrip("-")[:1].isdigit()


def _float_bits(text: str, width: int) -> int | None:
    value = float(text)
    try:
        packed = struct.pack(_FLOATS[width], value)
    except OverflowError:
        return None
    if math.isinf(value):  # infinities are written as bits
        return None
    number: int = struct.unpack(_INTEGERS[width], packed)[0]
    return number


def _fixed_text(number: int, radix: int) -> str:
    if not radix:
        return str(number)
    sign = "-" if number < 0 else ""
    whole, rest = divmod(abs(number), 1 << radix)
    # 1/2^radix has radix decimal digits
    digits = f"{rest * 5**radix:0{radix}d}".rstrip("0") or "0"
    return f"{sign}{whole}.{digits}"


# -- value -> bits ---------------------------------------------------------------------------------


def encode(field: DwordField, value: Value | None, resolve: Resolve, column: int = 0) -> int:
    """The bits that ``value`` says. Raises SourceProblem with the column of what is wrong."""
    if value is None:
        if field.kind != BOOLEAN:
            raise SourceProblem(f"{field.name} needs a value", column)
        return 1
    if isinstance(value, FieldList):
        raise SourceProblem(f"{field.name} is one field and has no fields in it", value.column)
    if isinstance(value, Name):
        return _encode_name(field, value, resolve)
    if isinstance(value, Call):
        return _unshifted(field, resolve(value), value.column)
    return _encode_number(field, value)


def _encode_name(field: DwordField, value: Name, resolve: Resolve) -> int:
    number = field.number_of(value.text)
    if number is not None:
        return _fitting(field, number, value.column)
    if field.kind == REGID:
        match = _REGISTER_ID.fullmatch(value.text)
        if match:
            return _fitting(field, int(match[1]) << 2 | "xyzw".index(match[2]), value.column)
    if field.numbers:
        near = nearest(value.text, field.numbers)
        raise SourceProblem(f"{field.name} has no value {value.text}{near}", value.column)
    return _unshifted(field, resolve(Call("", value.text, 0, value.column)), value.column)


def _encode_number(field: DwordField, value: Number) -> int:
    if value.is_raw or field.kind not in _FRACTIONS:
        number = value.integer
        if field.kind in (HEX, INT, UINT):
            if number < 0 and field.kind == INT:
                half = 1 << (field.width - 1 + field.shr)
                if number < -half:
                    raise _too_large(field, value.text, value.column)
                number += 2 * half
            return _unshifted(field, number, value.column)
        return _fitting(field, number, value.column)
    if field.kind == FLOAT:
        bits = _float_bits(value.text, field.width) if field.width in _FLOATS else None
        if bits is None:
            raise _too_large(field, value.text, value.column)
        return bits
    scaled = Fraction(value.text) * (1 << field.radix)
    if scaled.denominator != 1:
        unit = _fixed_text(1, field.radix)
        raise SourceProblem(f"{field.name}: {value.text} is not a multiple of {unit}", value.column)
    number = scaled.numerator
    signed = field.kind == FIXED
    limit = 1 << (field.width - signed)
    if not (-limit if signed else 0) <= number < limit:
        raise _too_large(field, value.text, value.column)
    return number & ((1 << field.width) - 1)


def _unshifted(field: DwordField, number: int, column: int) -> int:
    if number & ((1 << field.shr) - 1):
        unit = 1 << field.shr
        raise SourceProblem(f"{field.name}: {number:#x} is not a multiple of {unit:#x}", column)
    if number >> field.shr >> field.width or number < 0:
        raise _too_large(field, f"{number:#x}" if field.kind == HEX else str(number), column)
    return number >> field.shr


def _fitting(field: DwordField, number: int, column: int) -> int:
    if number < 0 or number >> field.width:
        raise _too_large(field, str(number), column)
    return number


def _too_large(field: DwordField, shown: str, column: int) -> SourceProblem:
    width = f"{field.width} bit" if field.width == 1 else f"{field.width} bits"
    return SourceProblem(f"{field.name}: {shown} does not fit into {width}", column)


def nearest(name: str, known: Iterable[str]) -> str:
    """``, did you mean X?`` for the nearest known name, or nothing."""
    folded = {candidate.upper(): candidate for candidate in known}
    close = difflib.get_close_matches(name.upper(), folded, n=1, cutoff=0.5)
    return f", did you mean {folded[close[0]]}?" if close else ""
