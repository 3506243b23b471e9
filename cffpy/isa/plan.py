# SPDX-License-Identifier: MIT
"""Compiles rows to a plan for fast rendering: names are resolved in advance to bits of the word.

A plan is a graph of nodes, which similar leaves share. What cannot be decided in advance (a name
that may be missing, conditions that depend on one another, padding to a column) becomes UNUSUAL;
such words are rendered by the interpreter (cffpy/isa/interpret.py).

Value nodes (numbers): ``("int", n)``, ``("bits", low, mask)``, ``(operator, a, b)``, ``("!", a)``,
``("choose", ((condition or -1, value), ...))``.

Print nodes: ``("text", text)``, ``("name", text)``,
``("basic", event, value, kind, width, shown)``,
``("enum", event, value, enum)``, ``("branch", value, width, relative, call)``,
``("site", event, low, mask, (leaf, ...))`` for a field decoded by another bitset,
``("switch", ((condition or -1, node), ...))``, ``("sequence", (node, ...))`` and
``("display", ((condition or -1, ((low, mask, wanted), ...), sequence or -1), ...))``.

A leaf is (match, test mask, dontcare, display); all bits are those of the whole word.
``masks`` has, for each node, the bits of the word that it depends on.
"""

from __future__ import annotations

from typing import Any

from cffpy.isa.rows import BITSET, ENUM, FieldRow, IsaRow, Tree, field_names
from cffpy.isa.statistics import event_kind

UNUSUAL = ("unusual",)
_MISSING: FieldRow = ("", 0, 0, "missing", -1, None, (), False)
"""Replaces a missing name where that is allowed: value 0, no text."""


_KEY_BITS = 9
"""Number of bits of a word that select the leaves to try."""


class _Unusual(Exception):
    """This part cannot be planned."""


class _Scope:
    """A bitset at its position: lowest bit in the word, width, and the enclosing scope.

    ``true`` and ``false``: conditions whose values are known from the choice of the template.
    """

    def __init__(
        self,
        bitset: int,
        base: int,
        width: int,
        parent: _Scope | None,
        parameters: tuple[tuple[str, str], ...],
    ) -> None:
        self.bitset = bitset
        self.base = base
        self.width = width
        self.parent = parent
        self.parameters = parameters
        self.true: frozenset[int] = frozenset()
        self.false: frozenset[int] = frozenset()
        self.values: dict[int, int] = {}

    def settled(self, true: int, false: frozenset[int]) -> _Scope:
        """This scope, given that the condition ``true`` (unless -1) holds and ``false`` do not."""
        scope = _Scope(self.bitset, self.base, self.width, self.parent, self.parameters)
        scope.true = frozenset((true,)) if true >= 0 else frozenset()
        scope.false = false
        return scope


class _Planner:
    """Builds the nodes of one generation."""

    def __init__(self, isa: IsaRow, lenient: bool = False) -> None:
        self._isa = isa
        self._lenient = lenient
        self.nodes: list[tuple[Any, ...]] = []
        self.masks: list[int] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._active: list[int] = []
        self._branching: dict[str, bool] = {}
        self._sites: dict[tuple[str, int, int, int], int] = {}
        self.unusual = self._node(UNUSUAL, 0)

    def _node(self, node: tuple[Any, ...], mask: int) -> int:
        number = self._numbers.get(node)
        if number is None:
            number = self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
            self.masks.append(mask)
        return number

    def _union(self, numbers: list[int]) -> int:
        mask = 0
        for number in numbers:
            if number >= 0:
                mask |= self.masks[number]
        return mask

    # values

    def _bits(self, scope: _Scope, low: int, high: int) -> int:
        high = min(high, scope.width - 1)
        mask = (1 << max(0, high - low + 1)) - 1
        if not mask:
            return self._node(("int", 0), 0)
        return self._node(("bits", scope.base + low, mask), mask << scope.base + low)

    def _tree(self, scope: _Scope, tree: Tree, current: int) -> int:
        kind = tree[0]
        if kind == "int":
            return self._node(tree, 0)
        if kind == "gen":
            return self._node(("int", self._isa["generation"]), 0)
        if kind == "field":
            choices = [
                (condition, self._field_value(where, field))
                for condition, where, field in self._candidates(scope, tree[1], current)
            ]
            return self._choose(choices)
        parts = [self._tree(scope, part, current) for part in tree[1:]]
        return self._node((kind, *parts), self._union(parts))

    def _choose(self, choices: list[tuple[int, int]]) -> int:
        if len(choices) == 1:
            return choices[0][1]
        mask = self._union([c for c, _value in choices] + [value for _c, value in choices])
        return self._node(("choose", tuple(choices)), mask)

    def _expression(self, scope: _Scope, number: int) -> int:
        known = scope.values.get(number)
        if known is None:
            if number in self._active:
                raise _Unusual
            self._active.append(number)
            try:
                known = self._tree(scope, self._isa["expressions"][number], number)
            finally:
                self._active.pop()
            scope.values[number] = known
        return known

    def _field_value(self, scope: _Scope, field: FieldRow) -> int:
        if field is _MISSING:
            return self._node(("int", 0), 0)
        if field[4] >= 0:
            return self._expression(scope, field[4])
        return self._bits(scope, field[1], field[2])

    def _candidates(
        self, scope: _Scope, name: str, current: int
    ) -> list[tuple[int, _Scope, FieldRow]]:
        """What ``name`` may mean: (condition or -1, scope, field), the last one unconditional."""
        candidates: list[tuple[int, _Scope, FieldRow]] = []
        place: _Scope | None = scope
        while place is not None:
            number = place.bitset
            while number >= 0:
                _shown, parent, cases = self._isa["bitsets"][number]
                for condition, _template, fields, _asserts in cases:
                    field = fields.get(name)
                    if field is None:
                        continue
                    if condition < 0 or condition == current or condition in place.true:
                        candidates.append((-1, place, field))
                        return candidates
                    if condition not in place.false:
                        candidates.append((self._expression(place, condition), place, field))
                number = parent
            for outer, inner in place.parameters:
                if inner == name:
                    name = outer
                    break
            else:
                break
            place = place.parent
        if not self._lenient:
            raise _Unusual
        candidates.append((-1, scope, _MISSING))
        return candidates

    def _check_conditions(self, scope: _Scope) -> None:
        """Raise _Unusual if a condition that the interpreter might evaluate lacks a name."""
        place: _Scope | None = scope
        while place is not None:
            number = place.bitset
            while number >= 0:
                _shown, parent, cases = self._isa["bitsets"][number]
                for condition, _template, _fields, _asserts in cases:
                    if condition >= 0 and condition not in place.true | place.false:
                        for name in field_names(self._isa["expressions"][condition]):
                            self._candidates(place, name, condition)
                        self._expression(place, condition)
                number = parent
            place = place.parent

    # printing

    def display(self, scope: _Scope) -> int:
        """The node that prints the bitset of ``scope``."""
        try:
            self._check_conditions(scope)
        except _Unusual:
            return self.unusual
        cases: list[tuple[int, tuple[tuple[int, int, int], ...], int]] = []
        refuted: frozenset[int] = frozenset()
        mask = 0
        number = scope.bitset
        while number >= 0:
            _shown, parent, rows = self._isa["bitsets"][number]
            for condition, template, _fields, asserts in rows:
                when = self._expression(scope, condition) if condition >= 0 else -1
                wanted = []
                for low, high, value in asserts:
                    ones = (1 << min(high, scope.width - 1) - low + 1) - 1
                    wanted.append((scope.base + low, ones, value))
                    mask |= ones << scope.base + low
                sequence = -1
                if template is not None:
                    try:
                        sequence = self._sequence(scope.settled(condition, refuted), template)
                    except _Unusual:
                        sequence = self.unusual
                    refuted |= {condition}
                if when >= 0:
                    mask |= self.masks[when]
                if sequence >= 0:
                    mask |= self.masks[sequence]
                cases.append((when, tuple(wanted), sequence))
                if when < 0 and sequence >= 0:
                    return self._node(("display", tuple(cases)), mask)
            number = parent
        cases.append((-1, (), self.unusual))
        return self._node(("display", tuple(cases)), mask)

    def _sequence(self, scope: _Scope, template: tuple[Any, ...]) -> int:
        numbers = []
        for part in template:
            if isinstance(part, str):
                numbers.append(self._node(("text", part), 0))
                continue
            reference, name, column = part
            if column or not name:
                raise _Unusual
            if name == "NAME":
                shown = self._isa["bitsets"][scope.bitset][0]
                numbers.append(self._node(("name", shown), 0))
                continue
            choices = [
                (condition, self._print(where, field, event_kind(reference)))
                for condition, where, field in self._candidates(scope, name, -1)
            ]
            if len(choices) == 1:
                numbers.append(choices[0][1])
            else:
                mask = self._union([c for c, _n in choices] + [n for _c, n in choices])
                numbers.append(self._node(("switch", tuple(choices)), mask))
        return self._node(("sequence", tuple(numbers)), self._union(numbers))

    def _print(self, scope: _Scope, field: FieldRow, event: int) -> int:
        _name, low, high, kind, expression, argument, parameters, call = field
        if field is _MISSING:
            return self._node(("text", ""), 0)
        if kind == BITSET:
            if expression >= 0:
                raise _Unusual
            return self._site(scope, low, high, argument, parameters, event)
        value = self._field_value(scope, field)
        mask = self.masks[value]
        width = high - low + 1
        if kind == ENUM:
            return self._node(("enum", event, value, argument), mask)
        if kind in ("branch", "absbranch"):
            return self._node(("branch", value, width, kind == "branch", call), mask)
        return self._node(("basic", event, value, kind, width, argument), mask)

    def _site(
        self,
        scope: _Scope,
        low: int,
        high: int,
        root: str,
        parameters: tuple[tuple[str, str], ...],
        event: int,
    ) -> int:
        width = min(high, scope.width - 1) - low + 1
        base = scope.base + low
        alone = (root, base, width, event)
        if not parameters and alone in self._sites:  # nothing of the scope around is seen inside
            return self._sites[alone]
        leaves = []
        mask = (1 << width) - 1 << base
        for bitset, match, test, dontcare in self._isa["roots"][root][1]:
            inner = _Scope(bitset, base, width, scope, parameters)
            display = self.display(inner)
            mask |= self.masks[display]
            leaves.append((match << base, (test & ~dontcare) << base, dontcare << base, display))
        ones = (1 << width) - 1
        site = self._node(("site", event, base, ones, tuple(leaves)), mask)
        if not parameters:
            self._sites[alone] = site
        return site

    # roots

    def root(self, name: str) -> dict[str, Any]:
        """The plan of a root: its leaves, and the tables that select them."""
        size, rows = self._isa["roots"][name]
        leaves = []
        branching: list[int] = []
        for bitset, match, mask, dontcare in rows:
            display = self.display(_Scope(bitset, 0, size, None, ()))
            test = mask & ~dontcare
            leaves.append((match, test, dontcare, display))
            if self._may_branch(bitset):
                branching.append(len(leaves) - 1)
        key = _key_mask(leaves, size)
        buckets: dict[int, list[int]] = {}
        for number, (match, test, _dontcare, _display) in enumerate(leaves):
            for value in _key_values(key, match, test):
                buckets.setdefault(value, []).append(number)
        return {
            "key": key,
            "buckets": {value: tuple(numbers) for value, numbers in buckets.items()},
            "leaves": tuple(leaves),
            "branch": _common_bits([leaves[number][:2] for number in branching]),
            "branching": frozenset(branching),
        }

    def _may_branch(self, bitset: int) -> bool:
        """Whether a template of the bitset or its parents names a branch field."""
        shown: set[str] = set()
        fields: dict[str, list[FieldRow]] = {}
        while bitset >= 0:
            _name, bitset, cases = self._isa["bitsets"][bitset]
            for _condition, template, declared, _asserts in cases:
                shown.update(part[1] for part in template or () if not isinstance(part, str))
                for name, field in declared.items():
                    fields.setdefault(name, []).append(field)
        for name in shown:
            for field in fields.get(name, ()):
                if field[3] in ("branch", "absbranch"):
                    return True
                if field[3] == BITSET and self._root_may_branch(field[5]):
                    return True
        return False

    def _root_may_branch(self, root: str) -> bool:
        if root not in self._branching:
            self._branching[root] = False  # a bitset inside itself adds nothing
            leaves = self._isa["roots"][root][1]
            self._branching[root] = any(self._may_branch(leaf[0]) for leaf in leaves)
        return self._branching[root]


def add_plan(isa: IsaRow, lenient: bool = False) -> IsaRow:
    """``isa`` with the plans of its outermost roots: ``plans``, ``nodes`` and ``masks``.

    In a lenient plan (for the assembler), a missing name has the value 0 and no text, as in the
    text that is printed with the error.
    """
    used = {
        field[5]
        for _name, _parent, cases in isa["bitsets"]
        for case in cases
        for field in case[2].values()
        if field[3] == BITSET
    }
    planner = _Planner(isa, lenient)
    plans = {name: planner.root(name) for name in isa["roots"] if name not in used}
    return {**isa, "plans": plans, "nodes": tuple(planner.nodes), "masks": tuple(planner.masks)}


# selection of the leaves that a word may match, by the few bits that most leaves fix


def _key_mask(leaves: list[tuple[int, int, int, int]], size: int) -> int:
    """The bits that most leaves fix."""
    uses = sorted(
        range(size), key=lambda bit: sum(leaf[1] >> bit & 1 for leaf in leaves), reverse=True
    )
    mask = 0
    for bit in uses[:_KEY_BITS]:
        mask |= 1 << bit
    return mask


def _key_values(key: int, match: int, test: int) -> list[int]:
    """All values of the key bits that a leaf allows."""
    values = [match & key]
    free = key & ~test
    while free:
        bit = free & -free
        free ^= bit
        values += [value | bit for value in values]
    return values


def _common_bits(leaves: list[tuple[int, int]]) -> tuple[int, int]:
    """(mask, match) that all words of ``leaves`` fulfil; no word does if there are no leaves."""
    if not leaves:
        return 0, 1
    mask = -1
    for _match, test in leaves:
        mask &= test
    for match, _test in leaves:
        mask &= ~(match ^ leaves[0][0])
    return mask, leaves[0][0] & mask
