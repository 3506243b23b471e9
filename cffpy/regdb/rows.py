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
port       (name, offset, pointer, low, high, reset): as ``ports.Port``
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
"""

from __future__ import annotations

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
