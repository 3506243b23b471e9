# SPDX-License-Identifier: MIT
"""The compiled form of an instruction set: plain tuples, as marshal stores them; expressions.

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

An expression is a tree, which is evaluated and printed here. A tree is one of

    ("int", 61)              a number
    ("field", "GPR")         the raw bits of a field, ``{GPR}`` in the language
    ("gen",)                 the generation's number, 300 ... 700
    ("!", tree)              logical not
    ("+", tree, tree)        a binary operator of C
    ("?:", tree, tree, tree) the condition, the values if it holds and if not

The rules are C's on signed 64-bit values.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

ENUM = "enum"
BITSET = "bitset"

IsaRow: TypeAlias = "dict[str, Any]"
BitsetRow: TypeAlias = "tuple[str, int, tuple[Any, ...]]"
FieldRow: TypeAlias = "tuple[str, int, int, str, int, Any, tuple[tuple[str, str], ...], bool]"
LeafRow: TypeAlias = "tuple[int, int, int, int]"

Tree: TypeAlias = "tuple[Any, ...]"

PRECEDENCE = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    "==": 6,
    "!=": 6,
    "<": 7,
    "<=": 7,
    ">": 7,
    ">=": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
}

#: Precedence of ``?:``; within another one it stands in parentheses.
_CHOICE = 0

_SIGN = 1 << 63
_WRAP = 1 << 64


def wrap(value: int) -> int:
    """``value`` as a signed 64-bit number."""
    value &= _WRAP - 1
    return value - _WRAP if value & _SIGN else value


def binary(operator: str) -> Callable[[int, int], int]:
    """The function of a binary operator, except ``&&`` and ``||``, which evaluate lazily."""
    return _BINARY[operator]


def _shift_left(left: int, right: int) -> int:
    return wrap(left << (right & 63))


_BINARY: dict[str, Callable[[int, int], int]] = {
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    "&": lambda left, right: left & right,
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "<": lambda left, right: int(left < right),
    "<=": lambda left, right: int(left <= right),
    ">": lambda left, right: int(left > right),
    ">=": lambda left, right: int(left >= right),
    "<<": _shift_left,
    ">>": lambda left, right: left >> (right & 63),
    "+": lambda left, right: wrap(left + right),
    "-": lambda left, right: wrap(left - right),
    "*": lambda left, right: wrap(left * right),
}


def chosen_part(condition: int) -> int:
    """Which part of a ``?:`` is its value: 2 if the condition holds, else 3."""
    return 2 if condition else 3


def evaluate(tree: Tree, generation: int, field: Callable[[str], int]) -> int:
    """The value of ``tree``; ``field`` looks names up (only those that C would evaluate)."""
    kind = tree[0]
    if kind == "int":
        return int(tree[1])
    if kind == "field":
        return field(tree[1])
    if kind == "gen":
        return generation
    if kind == "?:":
        return evaluate(tree[chosen_part(evaluate(tree[1], generation, field))], generation, field)
    left = evaluate(tree[1], generation, field)
    if kind == "!":
        return int(not left)
    if kind == "&&":
        return int(bool(left and evaluate(tree[2], generation, field)))
    if kind == "||":
        return int(bool(left or evaluate(tree[2], generation, field)))
    return _BINARY[kind](left, evaluate(tree[2], generation, field))


def field_names(tree: Tree) -> Iterator[str]:
    """The fields that ``tree`` names, in order, repeats included."""
    if tree[0] == "field":
        yield tree[1]
    elif tree[0] not in ("int", "gen"):
        for part in tree[1:]:
            yield from field_names(part)


def to_text(tree: Tree, name: Callable[[str], str] = str, parent: int = 0) -> str:
    """``tree`` in the language, with no more parentheses than it needs.

    ``name`` writes the name of a field, in quotes where it has to be.
    """
    kind = tree[0]
    if kind == "int":
        return str(tree[1])
    if kind == "field":
        return f"{{{name(tree[1])}}}"
    if kind == "gen":
        return "gen()"
    if kind == "!":
        return "!" + to_text(tree[1], name, 11)
    if kind == "?:":
        condition, one, other = (to_text(part, name, _CHOICE + 1) for part in tree[1:])
        text = f"{condition} ? {one} : {other}"
        return f"({text})" if parent > _CHOICE else text
    level = PRECEDENCE[kind]
    text = f"{to_text(tree[1], name, level)} {kind} {to_text(tree[2], name, level + 1)}"
    return f"({text})" if level < parent else text
