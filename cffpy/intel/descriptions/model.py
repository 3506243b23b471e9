# SPDX-License-Identifier: MIT
"""What a .gen file declares: the model between XML, text and rows.

Names are as genxml has them, spaces included. Bits count from the start of the group, both ends
included. ``line`` is the line in the file, for messages; it is not compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field

ENGINES = ("render", "compute", "video", "blitter")


@dataclass(frozen=True, slots=True)
class Value:
    """A named value of an enum or a field."""

    name: str
    number: int
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Field:
    """Bits of a group. ``type`` is written as in genxml: ``uint``, ``u4.8``, a struct, an enum.

    ``default`` identifies instructions where it lies in bits 16 to 31 of the first dword.
    """

    name: str
    low: int
    high: int
    type: str
    default: int | None = None
    prefix: str | None = None
    nonzero: bool = False
    values: tuple[Value, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Repeat:
    """Fields that repeat: item i starts at bit ``start + i * size``.

    ``count`` 0: until the end of the instruction.
    """

    count: int
    start: int
    size: int
    members: tuple[Member, ...]
    line: int = field(default=0, compare=False)


Member = Field | Repeat


@dataclass(frozen=True, slots=True)
class Import:
    """All of another file, without the named items."""

    name: str
    without: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Generation:
    """The hardware generation that a file describes; ``verx10`` is 125 for 12.5."""

    name: str
    verx10: int
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Prefer:
    """Of two items with the same opcode or register offset, the one that a look-up finds.

    ``kind`` is ``instruction`` or ``register``.
    """

    kind: str
    name: str
    over: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Enum:
    """Named numbers."""

    name: str
    values: tuple[Value, ...]
    prefix: str | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Group:
    """An instruction, a structure in memory or a register.

    ``length`` in dwords, None where an instruction has none. ``bias`` is added to an instruction's
    field "DWord Length". ``engines`` is empty for all engines. ``offset`` is a register's.
    """

    kind: str
    name: str
    members: tuple[Member, ...]
    length: int | None = None
    bias: int | None = None
    engines: tuple[str, ...] = ()
    offset: int | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU by its PCI id; ``verx10`` names the generation that describes it."""

    pci_id: int
    name: str
    verx10: int
    line: int = field(default=0, compare=False)


Declaration = Import | Generation | Prefer | Enum | Group | Device


@dataclass(frozen=True, slots=True)
class Description:
    """One file."""

    declarations: tuple[Declaration, ...]
