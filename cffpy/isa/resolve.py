# SPDX-License-Identifier: MIT
"""Compiles the model to rows of one generation: resolves names, selects by generation.

Layout of the result: cffpy/isa/rows.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from cffpy.errors import IsaError
from cffpy.isa.language import (
    BASIC_TYPES,
    Bitset,
    Case,
    EncodingField,
    Enum,
    Expression,
    File,
    NamedExpression,
    SourceLocation,
    Template,
)
from cffpy.isa.rows import BITSET, ENUM, BitsetRow, FieldRow, IsaRow, Tree


def wrong(message: str, location: SourceLocation) -> IsaError:
    """The error for a declaration at ``location``."""
    return IsaError(message, location.file, location.line, location.column)


def with_imports(files: Iterable[File], name: str) -> list[File]:
    """The file ``name`` (``ir3.isa``) and all files that it imports, imports first, each once."""
    by_name = {file.name: file for file in files}
    ordered: list[File] = []
    entered: set[str] = set()

    def visit(wanted: str) -> None:
        if wanted in entered:
            return
        entered.add(wanted)
        if wanted not in by_name:
            raise IsaError(f"imported file {wanted} is not there", name)
        for imported in by_name[wanted].imports:
            visit(imported)
        ordered.append(by_name[wanted])

    visit(name)
    return ordered


_Named = TypeVar("_Named", Bitset, Enum, NamedExpression, Template)


class Description:
    """All declarations of a description by name, before a generation is chosen."""

    def __init__(self, files: Iterable[File]) -> None:
        self.bitsets: list[Bitset] = []
        self._chains: dict[int, list[Bitset]] = {}
        self.enums: dict[str, Enum] = {}
        self.expressions: dict[str, NamedExpression] = {}
        self.templates: dict[str, Template] = {}
        for file in files:
            for declaration in file.declarations:
                if isinstance(declaration, Bitset):
                    self.bitsets.append(declaration)
                elif isinstance(declaration, Enum):
                    self._add(self.enums, declaration, "enum")
                elif isinstance(declaration, NamedExpression):
                    self._add(self.expressions, declaration, "expression")
                else:
                    self._add(self.templates, declaration, "template")
        extended = {bitset.extends for bitset in self.bitsets}
        self.inner: dict[str, Bitset] = {}
        for bitset in self.bitsets:
            if bitset.name in extended:
                if bitset.name in self.inner:
                    raise wrong(
                        f"bitset {bitset.name} is extended but declared twice", bitset.location
                    )
                self.inner[bitset.name] = bitset
        self.leaves = [bitset for bitset in self.bitsets if bitset.name not in extended]
        self.roots: dict[str, Bitset] = {}
        for bitset in self.bitsets:
            if bitset.size is not None:
                self._add(self.roots, bitset, "bitset")

    @staticmethod
    def _add(table: dict[str, _Named], declaration: _Named, kind: str) -> None:
        if declaration.name in table:
            raise wrong(f"{kind} {declaration.name} is declared twice", declaration.location)
        table[declaration.name] = declaration

    def chain(self, bitset: Bitset) -> list[Bitset]:
        """``bitset``, its parent, and so on to the root."""
        known = self._chains.get(id(bitset))
        if known is not None:
            return known
        chain = [bitset]
        while chain[-1].extends is not None:
            parent = self.inner.get(chain[-1].extends)
            if parent is None:
                raise wrong(
                    f"bitset {chain[-1].name} extends {chain[-1].extends}, which is not there",
                    chain[-1].location,
                )
            if any(parent is other for other in chain):
                raise wrong(f"bitset {bitset.name} extends itself", bitset.location)
            chain.append(parent)
        self._chains[id(bitset)] = chain
        return chain

    def generations(self, bitset: Bitset) -> tuple[int, int]:
        """The generations of ``bitset`` that its parents have, too."""
        chain = self.chain(bitset)
        return max(b.generations[0] for b in chain), min(b.generations[1] for b in chain)

    def contained(self, root: str) -> set[str]:
        """The roots that fields of ``root``'s bitsets are decoded with."""
        types = {
            field.type
            for bitset in self.bitsets
            if self.chain(bitset)[-1].name == root
            for case in bitset.cases
            for field in case.fields
        }
        return types & set(self.roots)

    def size(self, bitset: Bitset) -> int:
        """Bits of the root of ``bitset``."""
        size = self.chain(bitset)[-1].size
        assert size is not None
        return size

    def masks(self, bitset: Bitset) -> tuple[int, int, int]:
        """(match, mask, dontcare) of a leaf: the patterns of its default cases, or-ed."""
        match = mask = dontcare = 0
        for part in self.chain(bitset):
            for pattern in part.default.patterns:
                ones = pattern.bits.replace("x", "0")
                open_bits = pattern.bits.replace("1", "0").replace("x", "1")
                match |= int(ones, 2) << pattern.low
                dontcare |= int(open_bits, 2) << pattern.low
                mask |= ((1 << len(pattern.bits)) - 1) << pattern.low
        return match, mask, dontcare


class _Resolver:
    """Builds the rows of one generation."""

    def __init__(self, description: Description, generation: int) -> None:
        self._description = description
        self._generation = generation
        self._contained: dict[str, set[str]] = {}
        self._trees: list[Tree] = []
        self._named: dict[str, int] = {}
        self._enums: dict[str, dict[int, str]] = {}
        self._index = {id(bitset): number for number, bitset in enumerate(description.bitsets)}

    def isa(self) -> IsaRow:
        description = self._description
        for root in description.roots:
            self._check_nesting(root, ())
        bitsets = tuple(self._bitset(bitset) for bitset in description.bitsets)
        first: dict[str, int] = {}
        leaves: dict[str, list[tuple[int, int, tuple[int, int, int, int]]]] = {
            name: [] for name in description.roots
        }
        for number, leaf in enumerate(description.leaves):
            low, high = description.generations(leaf)
            position = first.setdefault(leaf.name, number)
            if low <= self._generation <= high:
                root = description.chain(leaf)[-1].name
                row = (self._index[id(leaf)], *description.masks(leaf))
                leaves[root].append((position, number, row))
        roots = {
            name: (root.size, tuple(row for _first, _number, row in sorted(leaves[name])))
            for name, root in description.roots.items()
        }
        return {
            "generation": self._generation,
            "bitsets": bitsets,
            "expressions": tuple(self._trees),
            "enums": self._enums,
            "roots": roots,
            "presets": self._presets(),
        }

    def _presets(self) -> dict[int, int]:
        """Index of a leaf -> bits that are 1 by its ``encode`` lines and its parents'."""
        presets = {}
        for leaf in self._description.leaves:
            chain = self._description.chain(leaf)
            fields = {f.name: f for part in chain for f in part.default.fields if not f.expression}
            bits = 0
            for preset in (preset for part in chain for preset in part.presets):
                field = fields.get(preset.name)
                if field is None or preset.value >> field.high - field.low + 1:
                    message = f"encode {preset.name}: no field of {leaf.name} that holds the value"
                    raise wrong(message, preset.location)
                bits |= preset.value << field.low
            if bits:
                presets[self._index[id(leaf)]] = bits
        return presets

    def _check_nesting(self, root: str, around: tuple[str, ...]) -> None:
        if root in around:
            raise wrong(f"bitset {root} contains itself", self._description.roots[root].location)
        if root not in self._contained:
            self._contained[root] = self._description.contained(root)
        for inner in self._contained[root]:
            self._check_nesting(inner, (*around, root))

    def _bitset(self, bitset: Bitset) -> BitsetRow:
        chain = self._description.chain(bitset)
        parent = self._index[id(chain[1])] if len(chain) > 1 else -1
        size = self._description.size(bitset)
        cases = tuple(self._case(case, bitset, size) for case in bitset.cases)
        return bitset.display_name or bitset.name, parent, cases

    def _case(self, case: Case, bitset: Bitset, size: int) -> tuple[Any, ...]:
        condition = -1
        if case.expression is not None:
            condition = self._expression(case.expression, bitset.location)
        template = None
        if case.display is not None:
            template = self._template(case.display, bitset.location)
        placed = [(field.high, field.location) for field in case.fields if field.expression is None]
        placed += [(pattern.high, pattern.location) for pattern in (*case.patterns, *case.asserts)]
        for high, location in placed:
            if high >= size:
                raise wrong(f"bit {high} in a bitset of {size} bits", location)
        return (
            condition,
            template,
            {field.name: self._field(field) for field in case.fields},
            tuple((item.low, item.high, int(item.bits, 2)) for item in case.asserts),
        )

    def _expression(self, expression: Expression, location: SourceLocation) -> int:
        if expression.tree is not None:
            self._trees.append(expression.tree)
            return len(self._trees) - 1
        number = self._named.get(expression.name)
        if number is None:
            declared = self._description.expressions.get(expression.name)
            if declared is None:
                raise wrong(f"unknown expression {expression.name}", location)
            self._trees.append(declared.tree)
            number = self._named[expression.name] = len(self._trees) - 1
        return number

    def _field(self, field: EncodingField) -> FieldRow:
        kind = field.type
        argument: Any = field.display
        if kind in self._description.enums:
            argument = kind
            values: dict[int, str] = {}
            for number, text in self._description.enums[kind].values:
                values.setdefault(number, text)
            self._enums[kind] = values
            kind = ENUM
        elif kind in self._description.roots:
            kind, argument = BITSET, kind
        elif kind not in BASIC_TYPES:
            raise wrong(f"field {field.name}: unknown type {kind}", field.location)
        width = field.high - field.low + 1
        if kind == "float" and width not in (16, 32):
            raise wrong(f"field {field.name}: a float of {width} bits", field.location)
        expression = -1
        if field.expression is not None:
            expression = self._expression(field.expression, field.location)
        parameters = tuple((p.name, p.known_as) for p in field.parameters)
        return (
            field.name,
            field.low,
            field.high,
            kind,
            expression,
            argument,
            parameters,
            field.call,
        )

    def _template(self, text: str, location: SourceLocation, depth: int = 0) -> tuple[Any, ...]:
        parts: list[Any] = []
        while text:
            start = text.find("{")
            if start < 0:
                parts.append(text)
                break
            if start:
                parts.append(text[:start])
            end = text.find("}", start)
            if end < 0:
                raise wrong(f"display without closing brace: {text[start:]}", location)
            reference = text[start + 1 : end]
            text = text[end + 1 :]
            if reference in self._description.templates:
                if depth > 8:
                    raise wrong(f"template {reference} contains itself", location)
                inner = self._description.templates[reference]
                parts.extend(self._template(inner.text, inner.location, depth + 1))
                continue
            name, _, column = reference.partition(":align=")
            parts.append((reference, name, int(column) if column.isdigit() else 0))
        return tuple(parts)


def resolve(files: Iterable[File], generation: int) -> IsaRow:
    """The rows of ``generation`` (300 ... 700) for a description's files."""
    return _Resolver(Description(files), generation).isa()
