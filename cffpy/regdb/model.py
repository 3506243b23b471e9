# SPDX-License-Identifier: MIT
"""The declarations of one description file, as the parser, the importer and the printer share them.

Everything is immutable and compares by content; ``line`` (from 1, 0 where unknown) is only for
messages and does not affect comparisons. Offsets, strides are in dwords, bit positions in bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Range:
    """Variants of a varset from ``first`` to ``last``, both included; None is the open end."""

    first: str | None
    last: str | None


@dataclass(frozen=True, slots=True)
class Condition:
    """In force for the variants of the enum ``varset`` that one of ``ranges`` covers."""

    varset: str
    ranges: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """One value of an enum; ``number`` is None where the description gives only the name."""

    name: str
    number: int | None = None
    condition: Condition | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Type:
    """How the bits of a field or register are shown.

    ``name`` is that of an enum, a bitset or a built-in type. ``shr``: bits by which the
    stored value is shifted right; ``radix``: bits after the binary point; ``align``: bytes, of an
    address.
    """

    name: str | None = None
    shr: int = 0
    radix: int = 0
    align: int = 0
    addvariant: bool = False
    fields: tuple[Bitfield, ...] = ()
    values: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """What a register or a field is for. Added by hand: Mesa's XML does not say it.

    ``topic``: what part of the pipeline it sets; ``derived``: drivers work the value out from other
    state. ``roles``: what kind of value it is. ``engine``: which commands use it; registers only.
    ``cffpy.regdb.subjects`` lists the words.
    """

    topic: str | None = None
    derived: bool = False
    roles: tuple[str, ...] = ()
    engine: str | None = None


NO_SUBJECT = Subject()


@dataclass(frozen=True, slots=True)
class Bitfield:
    """Bits ``low`` to ``high`` (both included) of a bitset or register."""

    name: str
    low: int
    high: int
    type: Type = Type()
    condition: Condition | None = None
    line: int = field(default=0, compare=False)
    subject: Subject = NO_SUBJECT


@dataclass(frozen=True, slots=True)
class Enum:
    """Named values; ``inline``: its values are copied to where it is used."""

    name: str
    values: tuple[Value, ...] = ()
    inline: bool = False
    condition: Condition | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Bitset:
    """Named fields; ``inline``: the fields are copied to where it is used, conditions and all."""

    name: str
    fields: tuple[Bitfield, ...] = ()
    inline: bool = False
    condition: Condition | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Register:
    """A register of 32 or 64 bits, or ``length`` of them, ``stride`` dwords apart.

    ``bits`` is (low, high) where the register does not use its whole width.
    """

    name: str
    offset: int
    width: int = 32
    bits: tuple[int, int] | None = None
    type: Type = Type()
    length: int = 1
    stride: int = 0
    usage: tuple[str, ...] = ()
    access: str | None = None
    condition: Condition | None = None
    line: int = field(default=0, compare=False)
    subject: Subject = NO_SUBJECT


@dataclass(frozen=True, slots=True)
class Array:
    """``length`` repeats (0: unbounded) of ``elements``, ``stride`` dwords apart.

    ``offsets`` has one number, or one for each repeat of an array without a regular stride.
    ``index`` names the enum whose values count the repeats. ``subject`` is that of offsets at which
    no element is.
    """

    name: str
    offsets: tuple[int, ...]
    length: int
    stride: int = 0
    index: str | None = None
    usage: tuple[str, ...] = ()
    condition: Condition | None = None
    elements: tuple[Element, ...] = ()
    line: int = field(default=0, compare=False)
    subject: Subject = NO_SUBJECT


@dataclass(frozen=True, slots=True)
class Stripe:
    """Elements under one condition; repeated ``length`` times (0: unbounded) at ``stride``."""

    name: str | None = None
    offset: int = 0
    length: int = 1
    stride: int = 0
    condition: Condition | None = None
    elements: tuple[Element, ...] = ()
    line: int = field(default=0, compare=False)


Element: TypeAlias = Register | Array | Stripe


@dataclass(frozen=True, slots=True)
class Domain:
    """A space of registers, the dwords of a packet, or a structure in memory; ``width`` in bits."""

    name: str
    elements: tuple[Element, ...] = ()
    width: int = 32
    condition: Condition | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Import:
    """The declarations of another file, ``name`` without its extension, belong here."""

    name: str
    line: int = field(default=0, compare=False)


Declaration: TypeAlias = Import | Enum | Bitset | Domain


@dataclass(frozen=True, slots=True)
class Description:
    """One file of the database: what it declares, in order."""

    declarations: tuple[Declaration, ...] = ()
