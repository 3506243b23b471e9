# SPDX-License-Identifier: MIT
"""Conditions of a filter, compiled to functions of a subject: True, False, or None for unknown.

``and`` is False where a term is, ``or`` True where a term is, regardless of unknown ones. Of
several values, as of ``RB_MRT[*]``, one suffices; within ``all(...)`` each has to do.
"""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Any

from cffpy.errors import FilterError
from cffpy.query.names import nearest
from cffpy.query.operands import Operand, Operands
from cffpy.query.properties import Subject
from cffpy.query.register_values import Cursor
from cffpy.query.syntax import Call, Compare, Logic, Match, Node, Not, Path, Text, Within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Predicate = Callable[[Subject], bool | None]

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Predicates:
    """Compiles conditions."""

    def __init__(self, operands: Operands) -> None:
        self._operands = operands
        #: Whether ``written`` occurs.
        self.needs_writes = False
        #: Whether a comparison is one of several values, of which all count.
        self._is_all = False

    def predicate(self, node: Node) -> Predicate:
        """The condition of a node. Raises FilterError with the column."""
        if isinstance(node, Logic):
            terms = [self.predicate(term) for term in node.terms]
            return _all_of(terms) if node.is_all else _any_of(terms)
        if isinstance(node, Not):
            return _negated(self.predicate(node.term))
        if isinstance(node, Compare):
            return self._compare(node)
        if isinstance(node, Within):
            return self._within(node)
        if isinstance(node, Match):
            return self._match(node)
        if isinstance(node, Call):
            return self._call(node)
        found = self._operands.operand(node)
        if found.kind == "text":
            raise FilterError(f"{found.name} is a text, not a condition", "", 1, node.column)
        return self._of_each(found, bool)

    def _of_each(self, operand: Operand, test: Callable[[Any], bool]) -> Predicate:
        """Whether the value of an operand passes a test."""
        get = operand.get
        if operand.is_many:
            return _quantified(operand, test, self._is_all)

        def tested(subject: Subject) -> bool | None:
            value = get(subject)
            return None if value is None else test(value)

        return tested

    def _compare(self, node: Compare) -> Predicate:
        left, right = self._sides(node.left, node.right)
        _check_kinds(left, right, node.operator, node.column)
        compare = _COMPARE[node.operator]
        if right.is_many and not left.is_many:
            left, right, compare = right, left, _swapped(compare)
        first, second = left.get, right.get
        if left.is_many or right.is_many:
            return _pairs(left, right, compare, self._is_all)

        def compared(subject: Subject) -> bool | None:
            one, other = first(subject), second(subject)
            return None if one is None or other is None else compare(one, other)

        return compared

    def _sides(self, left: Node, right: Node) -> tuple[Operand, Operand]:
        """Both operands; a word on either side may be an enum value of the other."""
        operands = self._operands
        if isinstance(left, Path) and not operands.is_name(left):
            if isinstance(right, Path) and operands.is_name(right):
                other = operands.operand(right)
                return operands.word(left, other), other
            return operands.operand(left), operands.operand(right)
        found = operands.operand(left)
        return found, operands.word(right, found)

    def _within(self, node: Within) -> Predicate:
        operand = self._operands.operand(node.operand)
        values: set[Any] = set()
        ranges: list[tuple[Any, Any]] = []
        is_known = True
        for first, last in node.choices:
            ends = [self._choice(one, operand) for one in (first, last) if one is not None]
            if None in ends:
                is_known = False
            elif last is None:
                values.add(ends[0])
            elif operand.kind == "text":
                raise FilterError("a range is one of numbers", "", 1, first.column)
            else:
                ranges.append((ends[0], ends[1]))

        def is_chosen(value: Any) -> bool:  # noqa: ANN401
            is_within = value in values or any(low <= value <= high for low, high in ranges)
            return is_within != node.is_negated

        if not is_known and not values and not ranges:
            return lambda subject: None
        return self._of_each(operand, is_chosen)

    def _choice(self, node: Node, operand: Operand) -> Any:  # noqa: ANN401
        """The value of a choice, which is a literal or a word; None for a word of other GPUs."""
        if isinstance(node, Path) and operand.words is None and operand.kind == "number":
            raise FilterError(f"{node.text} is not a number", "", 1, node.column)
        found = self._operands.word(node, operand)
        _check_kinds(operand, found, "in", node.column)
        return found.get(Subject(None, None))

    def _match(self, node: Match) -> Predicate:
        operand = self._operands.operand(node.operand)
        search = _pattern(node.pattern).search
        show = operand.show or str

        def is_chosen(value: Any) -> bool:  # noqa: ANN401
            return (search(str(show(value))) is not None) != node.is_negated

        return self._of_each(operand, is_chosen)

    # -- functions ------------------------------------------------------------------------------

    def _call(self, node: Call) -> Predicate:
        functions = {
            "all": self._all,
            "any": self._any,
            "changed": self._changed,
            "marker": self._marker,
            "sampled": self._sampled,
            "unknown": self._unknown,
            "written": self._written,
        }
        function = functions.get(node.name)
        if function is None:
            near = nearest(node.name, list(functions))
            raise FilterError(f"there is no function {node.name}{near}", "", 1, node.column)
        if len(node.arguments) != 1:
            raise FilterError(f"{node.name} takes one argument", "", 1, node.column)
        return function(node.arguments[0])

    def _all(self, node: Node) -> Predicate:
        before, self._is_all = self._is_all, True
        try:
            return self.predicate(node)
        finally:
            self._is_all = before

    def _any(self, node: Node) -> Predicate:
        before, self._is_all = self._is_all, False
        try:
            return self.predicate(node)
        finally:
            self._is_all = before

    def _register(self, node: Node, function: str) -> Operand:
        found = self._operands.operand(node) if isinstance(node, Path) else None
        if found is None or not (found.cursors or found.kind == "unknown"):
            raise FilterError(f"{function} takes a register or a field", "", 1, node.column)
        return found

    def _changed(self, node: Node) -> Predicate:
        cursors = self._register(node, "changed").cursors

        def changed(subject: Subject) -> bool | None:
            if subject.order < 0:
                return None
            before, order = subject.before, subject.order
            return any(_differ(one.at(before), one.at(order)) for one in cursors)

        return changed

    def _written(self, node: Node) -> Predicate:
        found = self._register(node, "written").cursors  # none where the GPU has no such register
        cursors = [one for one in found if isinstance(one, Cursor)]
        if found and not cursors:
            message = "written takes a register of an Adreno GPU; changed takes an instruction"
            raise FilterError(message, "", 1, node.column)
        self.needs_writes = True

        def written(subject: Subject) -> bool | None:
            if subject.order < 0:
                return None
            return any(one.is_written_since(subject.before, subject.order) for one in cursors)

        return written

    def _unknown(self, node: Node) -> Predicate:
        """Of a value: whether it is not known. Of a condition: whether nothing is known of it."""
        if isinstance(node, Path):
            found = self._operands.operand(node)
            get = found.get
            if found.is_many:
                return lambda subject: None in get(subject)
            return lambda subject: get(subject) is None
        term = self.predicate(node)
        return lambda subject: term(subject) is None

    def _sampled(self, node: Node) -> Predicate:
        """Whether a texture that the draw reads begins at an address."""
        address = self._operands.number(node)
        textures = self._operands.sampled(node.column)
        return _pairs(textures, address, operator.eq, self._is_all)

    def _marker(self, node: Node) -> Predicate:
        if not isinstance(node, Text):
            raise FilterError("marker takes a regular expression in quotes", "", 1, node.column)
        search, markers = _pattern(node).search, self._operands.properties.markers
        return lambda subject: any(search(text) is not None for text in markers(subject))


def _differ(before: Any, now: Any) -> bool:  # noqa: ANN401
    """Whether values differ; a NaN is itself."""
    return before != now and not (before != before and now != now)


def _pattern(text: Text) -> re.Pattern[str]:
    try:
        return re.compile(text.value)
    except (re.error, OverflowError, RecursionError) as problem:
        raise FilterError(f"regular expression: {problem}", "", 1, text.column) from None


def _check_kinds(left: Operand, right: Operand, sign: str, column: int) -> None:
    kinds = {left.kind, right.kind} - {"unknown"}
    if "text" in kinds and (len(kinds) > 1 or sign not in ("==", "!=", "in")):
        text, other = (left, right) if left.kind == "text" else (right, left)
        what = text.name or "it"
        if other.kind == "text":
            raise FilterError(f"{what} is a text: compare it by ==, != or ~", "", 1, column)
        raise FilterError(f"{what} is a text, {other.name or 'the other'} is not", "", 1, column)


def _swapped(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda left, right: compare(right, left)


def _quantified(operand: Operand, test: Callable[[Any], bool], is_all: bool) -> Predicate:
    get, of_none = operand.get, _of_none(operand, is_all)

    def quantified(subject: Subject) -> bool | None:
        results = [None if one is None else test(one) for one in get(subject)]
        return _joined(results, is_all, of_none)

    return quantified


def _pairs(
    left: Operand, right: Operand, compare: Callable[[Any, Any], bool], is_all: bool
) -> Predicate:
    """Several values on the left, one or several on the right."""
    of_none = _of_none(left, is_all)

    def pairs(subject: Subject) -> bool | None:
        others = right.get(subject) if right.is_many else [right.get(subject)]
        return _joined(
            [
                None if one is None or other is None else compare(one, other)
                for one in left.get(subject)
                for other in others
            ],
            is_all,
            of_none,
        )

    return pairs


def _of_none(operand: Operand, is_all: bool) -> bool | None:
    """What holds where an operand of several values has none."""
    return is_all if operand.may_be_none else None


def _joined(results: Iterable[bool | None], is_all: bool, of_none: bool | None) -> bool | None:
    """One of the results is True; with ``is_all`` none is False. ``of_none``: without any."""
    has_any = has_unknown = False
    for result in results:
        has_any = True
        if result is None:
            has_unknown = True
        elif result is not is_all:
            return not is_all
    if not has_any:
        return of_none
    return None if has_unknown else is_all


def _all_of(terms: list[Predicate]) -> Predicate:
    def all_of(subject: Subject) -> bool | None:
        result: bool | None = True
        for term in terms:
            found = term(subject)
            if found is False:
                return False
            if found is None:
                result = None
        return result

    return all_of


def _any_of(terms: list[Predicate]) -> Predicate:
    def any_of(subject: Subject) -> bool | None:
        result: bool | None = False
        for term in terms:
            found = term(subject)
            if found:
                return True
            if found is None:
                result = None
        return result

    return any_of


def _negated(term: Predicate) -> Predicate:
    def negated(subject: Subject) -> bool | None:
        found = term(subject)
        return None if found is None else not found

    return negated
