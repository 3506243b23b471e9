# SPDX-License-Identifier: MIT
"""Renders a word as text, fast: runs a plan (cffpy/isa/plan.py) and memoises pieces of text.

A template is split into groups of parts. The text of a group depends on a few bits of the word and
is memoised by these, for all leaves that share the group. What the plan calls unusual, and every
word with errors, is rendered by the interpreter.
"""

from __future__ import annotations

from cffpy.isa.interpret import BRANCH_MARK, Interpreter, basic_text, sign_extend
from cffpy.isa.rows import binary
from cffpy.isa.statistics import NAME, event_kind, name_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias, TypeVar

    from cffpy.isa.interpret import ShownField
    from cffpy.isa.rows import IsaRow
    from cffpy.isa.statistics import Events

    _Choice = TypeVar("_Choice")

Value: TypeAlias = "Callable[[int], int]"
Branch: TypeAlias = "tuple[int, bool, bool]"
Rendered: TypeAlias = "tuple[bool, str, Events, Branch | None, tuple[str, ...]]"
"""(matched, text, events, branch, errors)"""
Piece: TypeAlias = "tuple[str, Events]"
Printer: TypeAlias = "Callable[[int], Piece]"

_PIECES = 1 << 14
"""Memoised pieces of each group, at most."""
_SMALL = 0xFFFFFFFFFFFFFFFF


_DEEPEST_TABS = 9


def tabs_of(level: int) -> str:
    """The indentation of a level: tabs; ``x`` for levels that cffdump has no tabs for."""
    return "\t" * level if level <= _DEEPEST_TABS else "x"


class _Unusual(Exception):
    """This word must be rendered by the interpreter."""


class _Values:
    """The functions of one plan's value nodes."""

    def __init__(self, nodes: tuple[tuple[Any, ...], ...]) -> None:
        self._nodes = nodes
        self._values: dict[int, Value] = {}

    def value(self, number: int) -> Value:
        """The function of a node."""
        value = self._values.get(number)
        if value is None:
            value = self._values[number] = self._make(self._nodes[number])
        return value

    def _make(self, node: tuple[Any, ...]) -> Value:
        kind = node[0]
        if kind == "int":
            constant: int = node[1]
            return lambda word: constant
        if kind == "bits":
            low, mask = node[1], node[2]
            return lambda word: word >> low & mask
        if kind == "choose":
            choices = [
                (self.value(when) if when >= 0 else None, self.value(value))
                for when, value in node[1]
            ]
            return lambda word: _first(choices, word)(word)
        left = self.value(node[1])
        if kind == "!":
            return lambda word: int(not left(word))
        right = self.value(node[2])
        if kind == "?:":
            other = self.value(node[3])
            return lambda word: right(word) if left(word) else other(word)
        if kind == "&&":
            return lambda word: int(bool(left(word) and right(word)))
        if kind == "||":
            return lambda word: int(bool(left(word) or right(word)))
        function = binary(kind)
        return lambda word: function(left(word), right(word))


def _first(choices: list[tuple[Value | None, _Choice]], word: int) -> _Choice:
    """The first choice whose condition holds; the last one is unconditional."""
    for when, choice in choices:
        if when is None or when(word):
            return choice
    raise _Unusual


class _Group:
    """Consecutive parts of a template, and their texts by the bits that decide them."""

    __slots__ = ("mask", "pieces", "printers")

    def __init__(self, mask: int, printers: list[Printer]) -> None:
        self.mask = mask
        self.printers = printers
        self.pieces: dict[int, Piece] = {}

    def fill(self, word: int) -> Piece:
        """Render for ``word``, and memoise the result."""
        text = ""
        events: Events = ()
        for printer in self.printers:
            part, more = printer(word)
            text += part
            if more:
                events += more
        piece = text, events
        if len(self.pieces) >= _PIECES:
            self.pieces.clear()
        self.pieces[word & self.mask] = piece
        return piece


class _Leaf:
    """A leaf of the root: chooses a template by the bits of its conditions."""

    __slots__ = ("cases", "mask", "plans")

    def __init__(self, mask: int, cases: list[tuple[Value | None, Any, int]]) -> None:
        self.mask = mask
        self.cases = cases
        self.plans: dict[int, tuple[_Group, ...]] = {}


class Renderer:
    """Renders words of one root of one generation."""

    def __init__(self, isa: IsaRow, root: str) -> None:
        self._isa = isa
        self._interpreter = Interpreter(isa, root)
        plan = isa["plans"][root]
        self._key: int = plan["key"]
        self._buckets: dict[int, tuple[int, ...]] = plan["buckets"]
        self._leaf_rows: tuple[tuple[int, int, int, int], ...] = plan["leaves"]
        self._leaves: dict[int, _Leaf] = {}
        self._inner_leaves: dict[int, _Leaf] = {}
        self._nodes = isa["nodes"]
        self._masks = isa["masks"]
        self._value = _Values(self._nodes).value
        self._printers: dict[int, Printer] = {}
        self._groups: dict[tuple[int, ...], _Group] = {}
        self.branch_bits: tuple[int, int] = plan["branch"]
        """(mask, match): a word without these bits prints no branch target."""
        self._branching: frozenset[int] = plan["branching"]

    def render(self, word: int) -> Rendered:
        """The text of ``word``, the events that the statistics count, and errors."""
        rows = self._leaf_rows
        leaf = -1
        for number in self._buckets.get(word & self._key, ()):
            match, test, dontcare, _display = rows[number]
            if word & test == match:
                if leaf >= 0 or word & dontcare:
                    return self.exactly(word)
                leaf = number
        if leaf < 0:
            return False, "", (), None, ()
        try:
            text, events = self._quickly(leaf, word)
        except _Unusual:
            return self.exactly(word)
        if BRANCH_MARK in text:
            kept = tuple(event for event in events if event & 15 != _BRANCH_KIND)
            return True, text, kept, _branch_of(events), ()
        return True, text, events, None, ()

    def branch(self, word: int) -> Branch | None:
        """The branch that ``word`` prints, even if the word has errors."""
        rows = self._leaf_rows
        numbers = self._buckets.get(word & self._key, ())
        matching = [number for number in numbers if word & rows[number][1] == rows[number][0]]
        if len(matching) != 1 or matching[0] not in self._branching:
            return None
        try:
            return _branch_of(self._quickly(matching[0], word)[1])
        except _Unusual:
            return self.exactly(word)[3]

    def _quickly(self, number: int, word: int) -> Piece:
        """Text and events of a word of a certain leaf."""
        leaf = self._leaves.get(number)
        if leaf is None:
            display = self._leaf_rows[number][3]
            if self._nodes[display][0] == "unusual":
                raise _Unusual
            leaf = self._leaves[number] = self._leaf(display)
        groups = leaf.plans.get(word & leaf.mask)
        if groups is None:
            groups = self._choose(leaf, word)
        text = ""
        events: Events = ()
        for group in groups:
            piece = group.pieces.get(word & group.mask)
            if piece is None:
                piece = group.fill(word)
            text += piece[0]
            if piece[1]:
                events += piece[1]
        return text, events

    def exactly(self, word: int) -> Rendered:
        """Render by the interpreter: slower than ``render``, which must agree with it."""
        done = self._interpreter.render(word)
        events: list[int] = []
        _add_events(events, done.fields)
        return done.matched, done.text, tuple(events), done.branch, tuple(done.errors)

    # building what the plan describes, on first use

    def _leaf(self, display: int) -> _Leaf:
        mask = 0
        cases: list[tuple[Value | None, Any, int]] = []
        for when, asserts, sequence in self._nodes[display][1]:
            if when >= 0:
                mask |= self._masks[when]
            for low, ones, _wanted in asserts:
                mask |= ones << low
            cases.append((self._value(when) if when >= 0 else None, asserts, sequence))
        return _Leaf(mask, cases)

    def _choose(self, leaf: _Leaf, word: int) -> tuple[_Group, ...]:
        sequence = _chosen(leaf.cases, word)
        if self._nodes[sequence][0] == "unusual":
            raise _Unusual
        groups = tuple(self._group(part) for part in self._cut(self._nodes[sequence][1]))
        if len(leaf.plans) >= _PIECES:
            leaf.plans.clear()
        leaf.plans[word & leaf.mask] = groups
        return groups

    def _cut(self, numbers: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Split into groups: a part decoded by a bitset, with text and letters before it."""
        parts: list[tuple[int, ...]] = []
        plain: list[int] = []
        near: list[int] = []
        for number in numbers:
            kind = self._nodes[number][0]
            mask = self._masks[number]
            if kind == "site" or kind == "switch" or mask.bit_count() > 8:
                parts.append(tuple(plain))
                parts.append((*near, number))
                plain, near = [], []
            elif kind == "text" or mask & (mask + (mask & -mask)):
                near.append(number)
            else:
                plain += near
                plain.append(number)
                near = []
        parts.append((*plain, *near))
        return [part for part in parts if part]

    def _group(self, numbers: tuple[int, ...]) -> _Group:
        group = self._groups.get(numbers)
        if group is None:
            mask = 0
            for number in numbers:
                mask |= self._masks[number]
            group = _Group(mask, [self._printer(number) for number in numbers])
            self._groups[numbers] = group
        return group

    def _printer(self, number: int) -> Printer:
        printer = self._printers.get(number)
        if printer is None:
            printer = self._printers[number] = self._make_printer(self._nodes[number])
        return printer

    def _make_printer(self, node: tuple[Any, ...]) -> Printer:
        kind = node[0]
        if kind == "text":
            fixed = node[1], ()
            return lambda word: fixed
        if kind == "name":
            named = node[1], (name_event(node[1]),)
            return lambda word: named
        if kind == "basic":
            return self._basic(*node[1:])
        if kind == "enum":
            return self._enum(*node[1:])
        if kind == "branch":
            return self._branch(*node[1:])
        if kind == "site":
            return self._site(*node[1:])
        if kind == "switch":
            choices = [
                (self._value(when) if when >= 0 else None, self._printer(choice))
                for when, choice in node[1]
            ]
            return lambda word: _first(choices, word)(word)
        return _unusual

    def _basic(
        self, event: int, value_node: int, kind: str, width: int, shown: str | None
    ) -> Printer:
        value = self._value(value_node)

        def show(word: int) -> Piece:
            number = value(word) & _SMALL
            text = basic_text(kind, number, width, shown)
            return text, (number << 4 | event,) if event >= 0 else ()

        return show

    def _enum(self, event: int, value_node: int, enum: str) -> Printer:
        value = self._value(value_node)
        texts: dict[int, str] = self._isa["enums"][enum]

        def show(word: int) -> Piece:
            number = value(word) & _SMALL
            text = texts.get(number)
            if text is None:
                text = str(number)
            return text, (number << 4 | event,) if event >= 0 else ()

        return show

    def _branch(self, value_node: int, width: int, relative: bool, call: bool) -> Printer:
        value = self._value(value_node)

        def show(word: int) -> Piece:
            target = value(word)
            if relative:
                target = sign_extend(target, width)
            packed = target << 2 | relative << 1 | call
            return BRANCH_MARK, (packed << 4 | _BRANCH_KIND,)

        return show

    def _site(
        self, event: int, low: int, ones: int, leaves: tuple[tuple[int, int, int, int], ...]
    ) -> Printer:
        def show(word: int) -> Piece:
            text, events = self._nested(leaves, word)
            if event >= 0:
                events = ((word >> low & ones) << 4 | event, *events)
            return text, events

        return show

    def _nested(self, leaves: tuple[tuple[int, int, int, int], ...], word: int) -> Piece:
        display = -1
        for match, test, dontcare, shown in leaves:
            if word & test == match:
                if display >= 0 or word & dontcare:
                    raise _Unusual
                display = shown
        if display < 0 or self._nodes[display][0] == "unusual":
            raise _Unusual
        leaf = self._inner_leaves.get(display)
        if leaf is None:
            leaf = self._inner_leaves[display] = self._leaf(display)
        sequence = _chosen(leaf.cases, word)
        if self._nodes[sequence][0] == "unusual":
            raise _Unusual
        text = ""
        events: Events = ()
        for number in self._nodes[sequence][1]:
            part, more = self._printer(number)(word)
            text += part
            if more:
                events += more
        return text, events


_BRANCH_KIND = 15
"""Kind of the event that carries a branch target from its part to the whole text."""


def _add_events(events: list[int], fields: list[ShownField]) -> None:
    """The events of shown fields, in printing order: a field comes before the fields inside it."""
    for field in fields:
        kind = event_kind(field.reference)
        if kind == NAME:
            events.append(name_event(field.text))
        elif kind >= 0:
            events.append((field.value & _SMALL) << 4 | kind)
        _add_events(events, field.fields)


def _branch_of(events: Events) -> Branch | None:
    for event in events:
        if event & 15 == _BRANCH_KIND:
            packed = event >> 4
            return packed >> 2, bool(packed & 2), bool(packed & 1)
    return None


def _unusual(_word: int) -> Piece:
    raise _Unusual


def _chosen(cases: list[tuple[Value | None, Any, int]], word: int) -> int:
    """The template of the first case that applies. Raises _Unusual if an assert fails."""
    for when, asserts, sequence in cases:
        if when is not None and not when(word):
            continue
        for low, ones, wanted in asserts:
            if word >> low & ones != wanted:
                raise _Unusual
        if sequence >= 0:
            return sequence
    raise _Unusual
