# SPDX-License-Identifier: MIT
"""Interprets the descriptions directly: the exact text and errors of any word, slowly.

The fast renderer (cffpy/isa/render.py) uses this for unusual words; tests compare both. The
language is defined by ``cffpy help descriptions``; in Mesa, by isaspec's decoder.
"""

from __future__ import annotations

import struct

from cffpy.isa.rows import BITSET, ENUM, evaluate, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cffpy.isa.rows import FieldRow, IsaRow, LeafRow

MAXIMUM_ERRORS = 4
"""Errors kept for one line of the listing."""

BRANCH_MARK = "\0"
"""Placeholder for a branch target, which depends on the instruction's position."""


def float_text(bits: int, width: int) -> str:
    """``%f`` of a half (16) or single (32) float's bits, as C prints it."""
    if width == 16:
        value = struct.unpack("<e", struct.pack("<H", bits & 0xFFFF))[0]
    else:
        value = struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]
    text = f"{value:f}"
    return "-nan" if text == "nan" and bits >> (width - 1) & 1 else text


def sign_extend(value: int, width: int) -> int:
    """``value``'s low ``width`` bits as a signed number."""
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def basic_text(kind: str, value: int, width: int, shown: str | None) -> str:
    """The text of a field of a basic type; ``shown`` is its display text."""
    if kind == "bool":
        return (shown if value else "") if shown is not None else str(value)
    if kind == "bool_inv":
        return (shown if not value else "") if shown is not None else str(int(not value))
    if kind == "uint":
        return str(value)
    if kind == "int":
        return str(sign_extend(value, width))
    if kind == "hex":
        return f"{value:x}"
    if kind == "offset":
        return f"{sign_extend(value, width):+d}" if value else ""
    if kind == "uoffset":
        return f"+{value}" if value else ""
    if kind == "float":
        return float_text(value, width)
    return ""  # custom: printed by the tool that knows it


class ShownField:
    """One field reference of a display, with its value.

    ``reference``: as the template writes it, with a column if it has one. ``value``: the raw bits.
    ``text``: of ``NAME``, the name. For a field that a bitset decodes, ``scope`` is that bitset's
    and ``fields`` are the references of its display; otherwise they are None and empty.
    """

    __slots__ = ("fields", "name", "reference", "scope", "text", "value")

    def __init__(self, reference: str, name: str, value: int, text: str = "") -> None:
        self.reference = reference
        self.name = name
        self.value = value
        self.text = text
        self.scope: Scope | None = None
        self.fields: list[ShownField] = []


class Rendering:
    """The result for one word: its text, its errors, and the fields that the text shows.

    ``fields`` are in printing order. ``branch`` is (offset or target, relative, call) for the
    branch that BRANCH_MARK stands for. ``scope`` is the instruction's, None without a match.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.column = 0
        self.errors: list[str] = []
        self.fields: list[ShownField] = []
        self.branch: tuple[int, bool, bool] | None = None
        self.scope: Scope | None = None

    @property
    def matched(self) -> bool:
        """Whether exactly one leaf fits the word."""
        return self.scope is not None

    @property
    def text(self) -> str:
        """The text of the word as far as it is rendered."""
        return "".join(self.parts)

    def put(self, text: str) -> None:
        """Append a part of the text, which moves the column."""
        if text:
            self.parts.append(text)
            self.column += len(text)

    def pad(self, column: int) -> None:
        """Append spaces up to a column."""
        if self.column < column:
            self.put(" " * (column - self.column))

    def error(self, text: str) -> None:
        """Keep an error, if there is room."""
        if len(self.errors) < MAXIMUM_ERRORS:
            self.errors.append(text)


class Scope:
    """A bitset being decoded: its value, and the scope around it."""

    def __init__(
        self,
        value: int,
        bitset: int,
        parent: Scope | None,
        parameters: tuple[tuple[str, str], ...],
    ) -> None:
        self.value = value
        self.bitset = bitset
        self.parent = parent
        self.parameters = parameters
        self.results: dict[int, int] = {}


class Interpreter:
    """Decodes words of one root of one generation."""

    def __init__(self, isa: IsaRow, root: str) -> None:
        self._isa = isa
        self._root = root
        self._bitsets = isa["bitsets"]
        self._trees = isa["expressions"]
        self._half = max(32, isa["roots"][root][0] // 2)
        self._stack: list[int] = []
        self._out = Rendering()

    def render(self, word: int) -> Rendering:
        """The rendering of one word; ``matched`` is False when no leaf fits."""
        out = self._out = Rendering()
        self._stack = []
        leaf = self._find(self._root, word)
        if leaf is not None:
            out.scope = Scope(word, leaf[0], None, ())
            self._display(out.scope, out.fields)
        return out

    def name(self, scope: Scope) -> str:
        """The name of the bitset that a scope decodes."""
        name: str = self._bitsets[scope.bitset][0]
        return name

    def value(self, scope: Scope, name: str) -> int | None:
        """The raw bits of a field, shown or not, as visible in ``scope``; None if there is none."""
        resolved = self._resolve(scope, name)
        return None if resolved is None else resolved[1]

    def _hex(self, value: int) -> str:
        # the reference prints a bitmask as 32-bit words, most significant first
        words = max(1, -(-self._isa["roots"][self._root][0] // 32))
        return "".join(f"{value >> 32 * i & 0xFFFFFFFF:08x}" for i in reversed(range(words)))

    def _find(self, root: str, value: int) -> LeafRow | None:
        matching: LeafRow | None = None
        for leaf in self._isa["roots"][root][1]:
            _bitset, match, mask, dontcare = leaf
            if value & mask & ~dontcare != match:
                continue
            if matching is not None:
                first, second = self._bitsets[matching[0]][0], self._bitsets[leaf[0]][0]
                self._out.error(f"bitset conflict: {first} vs {second}")
                return None
            matching = leaf
        if matching is not None and value & matching[3]:
            name = self._bitsets[matching[0]][0]
            self._out.error(f"dontcare bits in {name}: {self._hex(value & matching[3])}")
        return matching

    def _evaluate(self, scope: Scope, number: int) -> int:
        known = scope.results.get(number)
        if known is not None:
            return known
        if number in self._stack[1:]:
            return 0
        self._stack.append(number)
        value = evaluate(
            self._trees[number], self._isa["generation"], lambda name: self._value(scope, name)
        )
        self._stack.pop()
        scope.results[number] = value
        return value

    def _value(self, scope: Scope, name: str) -> int:
        resolved = self._resolve(scope, name)
        if resolved is None:
            self._out.error(f"no field '{name}'")
            return 0
        return wrap(resolved[1])

    def _find_field(self, scope: Scope, name: str) -> FieldRow | None:
        number = scope.bitset
        while number >= 0:
            _shown, parent, cases = self._bitsets[number]
            for condition, _template, fields, _asserts in cases:
                if condition >= 0:
                    current = self._stack[-1] if self._stack else -1
                    if current != condition and not self._evaluate(scope, condition):
                        continue
                field: FieldRow | None = fields.get(name)
                if field is not None:
                    return field
            number = parent
        return None

    def _resolve(self, scope: Scope | None, name: str) -> tuple[FieldRow, int] | None:
        while scope is not None:
            field = self._find_field(scope, name)
            if field is not None:
                if field[4] >= 0:
                    return field, self._evaluate(scope, field[4]) & 0xFFFFFFFFFFFFFFFF
                return field, scope.value >> field[1] & ((1 << (field[2] - field[1] + 1)) - 1)
            for outer, inner in scope.parameters:
                if inner == name:
                    name = outer
                    break
            else:
                return None
            scope = scope.parent
        return None

    def _template(self, scope: Scope) -> tuple[Any, ...] | None:
        number = scope.bitset
        while number >= 0:
            shown, parent, cases = self._bitsets[number]
            for condition, template, _fields, asserts in cases:
                if condition >= 0 and not self._evaluate(scope, condition):
                    continue
                for low, high, wanted in asserts:
                    value = scope.value >> low & ((1 << (high - low + 1)) - 1)
                    if value != wanted:
                        self._out.error(
                            f"WARNING: unexpected bits[{low}:{high}] in {shown}: "
                            f"{self._hex(value)} vs {self._hex(wanted)}"
                        )
                if template is not None:
                    row: tuple[Any, ...] = template
                    return row
            number = parent
        return None

    def _display(self, scope: Scope, shown: list[ShownField]) -> None:
        template = self._template(scope)
        if template is None:
            self._out.error(f"{self._bitsets[scope.bitset][0]}: no display template")
            return
        for part in template:
            if isinstance(part, str):
                self._out.put(part)
            else:
                self._show(scope, shown, *part)

    def _show(
        self, scope: Scope, shown: list[ShownField], reference: str, name: str, column: int
    ) -> None:
        out = self._out
        if not name:
            out.pad(column)
            return
        if name == "NAME":
            own = self.name(scope)
            shown.append(ShownField(reference, name, 0, own))
            out.pad(column)
            out.put(own)
            return
        resolved = self._resolve(scope, name)
        if resolved is None:
            out.error(f"no field '{name}'")
            return
        field, value = resolved
        entry = ShownField(reference, name, value)
        shown.append(entry)
        out.pad(column)
        _name, low, high, kind, _expression, argument, parameters, call = field
        if kind == BITSET:
            leaf = self._find(argument, value)
            if leaf is None:
                own = self.name(scope)
                out.error(f"no match: FIELD: '{own}.{field[0]}': {self._hex(value)}")
                return
            entry.scope = Scope(value, leaf[0], scope, parameters)
            self._display(entry.scope, entry.fields)
        elif kind == ENUM:
            out.put(self._isa["enums"][argument].get(value, str(value)))
        elif kind in ("branch", "absbranch"):
            relative = kind == "branch"
            target = sign_extend(value, high - low + 1) if relative else value
            out.branch = (target, relative, call)
            out.put(BRANCH_MARK)
        else:
            out.put(basic_text(kind, value, high - low + 1, argument))
