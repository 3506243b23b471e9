# SPDX-License-Identifier: MIT
"""The contents of .isa files as objects, before names are resolved.

Bit numbers count from 0 at the least significant bit; ranges include both ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cffpy.isa.expression import Tree

ANY_GENERATION = (0, 1 << 32)
"""Default generations of a bitset (generation x 100, both ends included)."""


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """Position of a declaration, for error messages."""

    file: str = ""
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Expression:
    """A condition or a value: a tree, or the name of a declared expression."""

    tree: Tree | None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An outer field ``name`` that is visible as ``known_as`` inside a field's bitset."""

    name: str
    known_as: str


@dataclass(frozen=True, slots=True)
class EncodingField:
    """A field, or a derived field when ``expression`` is set (``low`` is 0, ``high`` width - 1)."""

    name: str
    low: int
    high: int
    type: str
    display: str | None = None
    parameters: tuple[Parameter, ...] = ()
    expression: Expression | None = None
    call: bool = False
    location: SourceLocation = field(default=SourceLocation(), compare=False)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Bits that must be 0 or 1, or should be 0 (x); most significant first."""

    low: int
    high: int
    bits: str
    location: SourceLocation = field(default=SourceLocation(), compare=False)


@dataclass(frozen=True, slots=True)
class Case:
    """An override (``expression`` set) or the default case of a bitset.

    Only patterns of the default case are matched; those of an override document its bits.
    ``asserts`` are patterns whose violation is reported with the text.
    """

    expression: Expression | None
    display: str | None
    fields: tuple[EncodingField, ...]
    asserts: tuple[Pattern, ...]
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Preset:
    """The value that the assembler gives a field that no display shows; without one it is 0."""

    name: str
    value: int
    location: SourceLocation = field(default=SourceLocation(), compare=False)


@dataclass(frozen=True, slots=True)
class Bitset:
    """A node in a hierarchy of encodings: a root has a size, a child extends another bitset.

    ``cases``: the overrides in their order, then the default case.
    """

    name: str
    size: int | None
    extends: str | None
    display_name: str | None
    generations: tuple[int, int]
    cases: tuple[Case, ...]
    presets: tuple[Preset, ...] = ()
    location: SourceLocation = field(default=SourceLocation(), compare=False)

    @property
    def default(self) -> Case:
        """What applies where no override does."""
        return self.cases[-1]


@dataclass(frozen=True, slots=True)
class Enum:
    """Texts for the numbers of a field; of two texts for a number, the first counts."""

    name: str
    values: tuple[tuple[int, str], ...]
    location: SourceLocation = field(default=SourceLocation(), compare=False)


@dataclass(frozen=True, slots=True)
class NamedExpression:
    """An expression that conditions and derived fields use by its name."""

    name: str
    tree: Tree
    location: SourceLocation = field(default=SourceLocation(), compare=False)


@dataclass(frozen=True, slots=True)
class Template:
    """A declared piece of display text."""

    name: str
    text: str
    location: SourceLocation = field(default=SourceLocation(), compare=False)


Declaration = Bitset | Enum | NamedExpression | Template


@dataclass(frozen=True, slots=True)
class File:
    """One .isa file: imports and declarations in order, and the copyright notice."""

    name: str
    imports: tuple[str, ...]
    declarations: tuple[Declaration, ...]
    notice: str = ""


BASIC_TYPES = (
    "bool",
    "bool_inv",
    "int",
    "uint",
    "hex",
    "offset",
    "uoffset",
    "float",
    "branch",
    "absbranch",
    "custom",
)
"""Types that are neither an enum nor a bitset."""
