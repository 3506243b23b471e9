# SPDX-License-Identifier: MIT
"""The resolved description of one generation: plain tuples, as marshal stores them.

=========  =====================================================================================
row        fields
=========  =====================================================================================
isa        {"generation": 600, "bitsets": (bitset, ...), "expressions": (tree, ...),
           "enums": {name: {value: text}}, "roots": {name: (size, (leaf, ...))},
           "presets": {index of a leaf's bitset: bits that the assembler sets unless the text
           says otherwise}}
bitset     (name as shown, index of the parent or -1, (case, ...))
case       (index of the condition's expression or -1, template or None, {name: field},
           (assert, ...)); overrides first, the default case last
template   (part, ...): text, or (reference as written, field name, column to pad to or 0)
field      (name, low, high, kind, index of the expression or -1, argument, parameters, call);
           kind is a basic type, ENUM or BITSET; argument is the display text or None, the enum's
           name, the root's name; parameters are (outer name, inner name) pairs
assert     (low, high, value)
leaf       (index of the bitset, match, mask, dontcare)
=========  =====================================================================================

A leaf of the root matches a word when ``word & mask & ~dontcare == match``. Leaves stand in the
order in which the reference tries them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

ENUM = "enum"
BITSET = "bitset"

IsaRow: TypeAlias = "dict[str, Any]"
BitsetRow: TypeAlias = "tuple[str, int, tuple[Any, ...]]"
FieldRow: TypeAlias = "tuple[str, int, int, str, int, Any, tuple[tuple[str, str], ...], bool]"
LeafRow: TypeAlias = "tuple[int, int, int, int]"
