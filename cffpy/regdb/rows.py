# SPDX-License-Identifier: MIT
"""The compiled register database's rows: plain tuples, as marshal stores them.

One *generation* (A2XX ... A7XX) is compiled on its own: the ``chip`` varset is resolved, elements
that its chip rules out are gone, and files that its root file does not import are not in it.

=========  =====================================================================================
row        fields
=========  =====================================================================================
generation ``{"chip", "root", "register_domains", "ports", "commands",
           "enums": {name: marshal(values)}, "domains": {name: marshal(domain)}}``;
           a generation without its own register domain for the common registers lists the
           second one, as A2XX does: ``("A2XX", "AXXX")``
port       (name, offset, pointer, low, high, reset): as ``Port``
commands   offsets of registers whose writes are commands
domain     (elements, buckets): ``buckets`` is None for a small domain, else
           ``{offset >> 4: (element index, ...)}`` in declaration order
register   (REGISTER, name, condition, offset, length, stride, dwords, type, usage)
array      (ARRAY, name, condition, offset, length, stride, index enum or None, elements);
           ``offset`` is an int, or a tuple of ints for an array without a regular stride
stripe     (STRIPE, name or None, condition, offset, length, stride, elements)
type       (kind, name, low, high, shr, radix, addvariant, payload): payload is the enum's name
           (ENUM), values (INLINE_ENUM), fields (*BITSET), else None
field      (name, condition, type)
value      (name, number or None, condition)
subjects   {domain: {path: (topic, derived, roles, engine, {field: (topic, derived, roles)})}}: what
           registers are for (subjects.py), of one generation; a separate part
condition  None, or ((varset, mask), ...): in force when for each varset that has a current
           variant bit ``position of the variant in its enum`` of ``mask`` is set
=========  =====================================================================================

Offsets, lengths and strides are in dwords, a register's ``length`` is its number of repeats.

Ports are registers that are written dword by dword into memory of their own. The descriptions say
which registers these are (roles ``port``, ``pointer`` and ``reset``;
``cffpy help descriptions``). A dword behind a port is an element of it, such as
``VPC_SO_PROG[3]``. Each element has a number beyond all offsets, by which analyses keep its value
like that of a register.
"""

from __future__ import annotations

from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias
else:
    Any = object

SCHEMA = 8

#: The part of the compiled form with {"edition": name, "chips": names}; each chip is another, and
#: each file that no generation imports is a separate generation row (``block_part``).
OVERVIEW = "overview"


def subjects_part(chip: str) -> str:
    """The name of the part with the subjects of a generation."""
    return f"{chip} subjects"


def block_part(name: str) -> str:
    """The name of the part with a file that no generation imports, such as "a6xx_gmu"."""
    return f"block {name}"


def declared_part(root: str) -> str:
    """The name of the part with all that a root file declares, regardless of conditions.

    A generation row of no chip, in the order of declaration. The Lua interface looks names up so.
    """
    return f"{root} declared"


REGISTER, ARRAY, STRIPE = range(3)

(
    HEX,
    INT,
    UINT,
    FLOAT,
    BOOLEAN,
    FIXED,
    UFIXED,
    REGID,
    ENUM,
    INLINE_ENUM,
    BITSET,  # a named bitset, not inline
    NAMED_INLINE_BITSET,  # a named bitset declared inline
    INLINE_BITSET,  # the fields are declared in the register itself
) = range(13)

#: Types that have fields.
BITSETS = (BITSET, NAMED_INLINE_BITSET, INLINE_BITSET)

Condition: TypeAlias = tuple[tuple[str, int], ...] | None
TypeRow: TypeAlias = tuple[int, str, int, int, int, int, bool, Any]
FieldRow: TypeAlias = tuple[str, Condition, TypeRow]
ValueRow: TypeAlias = tuple[str, int | None, Condition]
ElementRow: TypeAlias = tuple[Any, ...]
FieldSubject: TypeAlias = tuple[str | None, bool, tuple[str, ...]]
SubjectRow: TypeAlias = tuple[
    str | None, bool, tuple[str, ...], str | None, dict[str, FieldSubject]
]
DomainRow: TypeAlias = tuple[tuple[ElementRow, ...], dict[int, tuple[int, ...]] | None]

#: Roles in the descriptions.
PORT, POINTER, RESET = "port", "pointer", "reset"

#: The role of a register whose writes are commands: each has an effect of its own.
COMMAND = "command"

#: Elements of a port at most: a pointer has no more bits than 8.
MOST_ELEMENTS = 256

#: The number of the first element of a port at offset 0. Offsets have 18 bits.
_ELEMENTS = 1 << 28
#: Numbers up to this one are offsets.
LAST_OFFSET = _ELEMENTS - 1


class Port(ValueObject):
    """A port: its name, its offset, and the offset of the register with its pointer.

    ``low`` and ``high``: the bits of the pointer in that register, which a write to the port counts
    up; None: each write of the register begins at element 0. ``reset``: a mask of bits that clear
    all elements.
    """

    __slots__ = ("high", "low", "name", "offset", "pointer", "reset")

    def __init__(
        self, name: str, offset: int, pointer: int, low: int | None, high: int | None, reset: int
    ) -> None:
        self.name = name
        self.offset = offset
        self.pointer = pointer
        self.low = low
        self.high = high
        self.reset = reset

    def start(self, value: int) -> int:
        """The element that is written next after a write of ``value`` to the pointer's register."""
        if self.low is None or self.high is None:
            return 0
        return (value >> self.low & (1 << self.high - self.low + 1) - 1) % MOST_ELEMENTS

    def element(self, index: int) -> int:
        """The number of an element, which stands for an offset."""
        return _ELEMENTS | self.offset << 8 | index

    @property
    def elements(self) -> range:
        """The numbers of all elements."""
        return range(self.element(0), self.element(0) + MOST_ELEMENTS)


def split_element(number: int) -> tuple[int, int] | None:
    """The offset of a port and the index of its element; None for any other register."""
    if number < _ELEMENTS:
        return None
    return number >> 8 & (1 << 20) - 1, number & MOST_ELEMENTS - 1


def offset_of(number: int) -> int:
    """The offset of a register, of an element the port's."""
    return number if number < _ELEMENTS else number >> 8 & (1 << 20) - 1
