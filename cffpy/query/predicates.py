# SPDX-License-Identifier: MIT
"""Conditions and operands of a filter, compiled to functions of a subject.

A condition is True, False, or None for unknown. ``and`` is False where a term is, ``or`` True where
a term is, regardless of unknown ones. Of several values, as of ``RB_MRT[*]``, one suffices; within
``all(...)`` each has to do. Operands are names, literals and arithmetic.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from cffpy.capture.gpu import STAGES
from cffpy.errors import FilterError
from cffpy.query.names import NameTable, NoRegisters, Words, converter, nearest
from cffpy.query.properties import (
    BINDING_FACTS,
    HEXADECIMAL,
    OF_CAPTURES,
    OWNERS,
    PROGRAM_NUMBERS,
    PROPERTIES,
    Properties,
    Property,
    Subject,
    Uses,
    descriptor_field,
)
from cffpy.query.register_values import Cursor, StateNames
from cffpy.query.syntax import (
    Arithmetic,
    Call,
    Compare,
    Logic,
    Match,
    Negative,
    Node,
    Not,
    Number,
    Path,
    Text,
    Within,
    nodes_of,
)
from cffpy.regdb import rows
from cffpy.regdb.decode import Decoder, Palette

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cffpy.query.names import RegisterName
    from cffpy.query.register_values import SlotCursor, StateField
    from cffpy.regdb.database import Database

    Get = Callable[[Subject], Any]
    #: A condition's function.
    Predicate = Callable[[Subject], bool | None]

_ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_SHADERS = "draw.shaders."
_FLAG: dict[str, int | str] = {"true": 1, "false": 0}
#: Types whose numbers are shown in hexadecimal.
_HEX = (rows.HEX, rows.BITSET, rows.NAMED_INLINE_BITSET, rows.INLINE_BITSET)

_Result = TypeVar("_Result")

#: A product of numbers from an expression is at most this large.
_LARGEST = 1 << 256


@dataclass(slots=True)
class Operand:
    """A value of a subject: ``get`` returns None where it is unknown, a list where ``is_many``.

    ``kind``: what it is compared as: "number", "text" or "bool"; "unknown" for what the GPU has
    not. ``words`` stand for values of it. ``show``: a value as documents have it; numbers of enums
    as their names. ``is_hex``: numbers are addresses or bits. ``may_be_none``: where there is no
    value, that is known: a comparison is false, and within ``all(...)`` true.
    """

    name: str
    kind: str
    get: Get
    column: int
    is_many: bool = False
    words: Words | None = None
    show: Callable[[Any], Any] | None = None
    is_hex: bool = False
    may_be_none: bool = False
    #: Of registers and instructions: what reads each of them.
    cursors: list[Cursor | SlotCursor] = field(default_factory=list)
    #: Of several instructions: what their names match as a whole.
    slots: re.Pattern[str] | None = None

    def shown(self, subject: Subject) -> Any:  # noqa: ANN401
        """The value for people and for JSON; a list where ``is_many``."""
        value = self.get(subject)
        if self.is_many:
            return [self._shown(one) for one in value]
        return self._shown(value)

    def _shown(self, value: Any) -> Any:  # noqa: ANN401
        return value if value is None or self.show is None else self.show(value)


class Operands:
    """Compiles operands for one database, and keeps what reads registers."""

    def __init__(
        self,
        database: Database | None,
        table: NameTable | NoRegisters | StateNames,
        is_lenient: bool,
        properties: Properties = OF_CAPTURES,
        uses: Uses | None = None,
    ) -> None:
        """``database``: None where the GPU has no registers.

        ``is_lenient``: a name that the GPU has not is an unknown value, not an error.

        ``uses``: what reads descriptors and shaders.
        """
        self._database = database
        self.properties = properties
        self._decoder = None if database is None else Decoder(database, Palette())
        self._table = table
        self.uses = Uses() if uses is None else uses
        self._is_lenient = is_lenient
        #: All names in the order of the expression, each once.
        self.named: dict[str, Operand] = {}
        #: Which names the GPU has not: "a3xx has no RB_DEPTH_CNTL".
        self.absent: list[str] = []

    @property
    def cursors(self) -> list[Cursor | SlotCursor]:
        """What reads registers and instructions."""
        return [cursor for operand in self.named.values() for cursor in operand.cursors]

    def operand(self, node: Node) -> Operand:
        """The operand of a node. Raises FilterError with the column."""
        if isinstance(node, Path):
            return self.path(node)
        if isinstance(node, Number):
            return Operand(f"{node.value}", "number", _constant(node.value), node.column)
        if isinstance(node, Text):
            return Operand(node.value, "text", _constant(node.value), node.column)
        if isinstance(node, Negative):
            of = self.number(node.operand)
            return Operand("", "number", _applied(of, operator.neg), node.column, of.is_many)
        if isinstance(node, Arithmetic):
            return self._arithmetic(node)
        raise FilterError("a condition is not a value that can be compared", "", 1, node.column)

    def number(self, node: Node) -> Operand:
        """The same, of a number. Raises FilterError for a text."""
        found = self.operand(node)
        if found.kind == "text":
            raise FilterError(f"{found.name} is not a number", "", 1, node.column)
        return found

    def path(self, path: Path) -> Operand:
        """What a name stands for."""
        known = self.named.get(path.text)
        if known is None:
            known = self.named[path.text] = self._find(path)
        return known

    def is_name(self, path: Path) -> bool:
        """Whether a name is that of a property or of a register, and not just a word."""
        text = path.text
        if "." in text or "[" in text:
            return True
        return self._table.has(text)

    def word(self, node: Node, other: Operand) -> Operand:
        """The operand of a node that is compared with ``other``, whose words it may be."""
        words = other.words
        if other.kind == "unknown" and isinstance(node, Path) and not self.is_name(node):
            return Operand(node.text, "unknown", _constant(None), node.column)
        if isinstance(node, Text) and words is not None:
            return self._value(words, node.value, node.column)
        if isinstance(node, Path) and not self.is_name(node):
            if words is not None:
                return self._value(words, node.text, node.column)
            if other.kind == "text":
                return Operand(node.text, "text", _constant(node.text), node.column)
        if isinstance(node, Path) and words is not None and node.text in words.values:
            return self._value(words, node.text, node.column)
        return self.operand(node)

    def _value(self, words: Words, word: str, column: int) -> Operand:
        try:
            value = words.value(word, column)
        except FilterError as problem:
            return self._absent(word, column, problem)
        kind = "text" if isinstance(value, str) else "number"
        return Operand(word, kind, _constant(value), column)

    def _absent(self, name: str, column: int, problem: FilterError) -> Operand:
        if not self._is_lenient:
            raise problem
        self.absent.append(f"{self._table.chip} has no {name}")
        return Operand(name, "unknown", _constant(None), column)

    def _find(self, path: Path) -> Operand:
        owner, _, rest = path.text.partition(".")
        if owner in OWNERS:
            return self._of_bindings(path, owner, rest)
        found = self._property(path)
        if found is not None:
            operand = self._of_property(path, found)
            is_address = path.text.startswith(_SHADERS) and path.text.count(".") == 2
            operand.is_hex = is_address or path.text in HEXADECIMAL
            return operand
        table = self._table
        try:
            if isinstance(table, StateNames):
                return _of_state(path, table)
            return self._register(path, table.find(path))
        except FilterError as problem:
            return self._absent(path.text, path.column, problem)

    def _of_property(self, path: Path, found: Property) -> Operand:
        texts = found.values(self._database)
        values = _FLAG if found.kind == "bool" else {word: word for word in texts}
        words = Words(values, path.text, self._table.value_aliases) if values else None
        return Operand(path.text, found.kind, found.get, path.column, found.is_many, words)

    def _property(self, path: Path) -> Property | None:
        found = self.properties.named.get(path.text)
        if found is None and path.text.startswith(_SHADERS):
            return self._of_shader(path)
        if found is None and path.text.partition(".")[0] in _OWNERS:
            near = nearest(path.text, PROPERTIES)
            raise FilterError(f"there is no property {path.text}{near}", "", 1, path.column)
        return found

    def _of_shader(self, path: Path) -> Property:
        """``draw.shaders.FS``: an address; ``draw.shaders.FS.instructions``: a number."""
        stage, _, name = path.text[len(_SHADERS) :].partition(".")
        column = path.column + len(_SHADERS)
        if stage not in STAGES:
            near = nearest(stage, list(STAGES))
            raise FilterError(f"there is no stage {stage}{near}", "", 1, column)
        if not name:
            return self.properties.program(stage)
        if name not in PROGRAM_NUMBERS:
            near = nearest(name, PROGRAM_NUMBERS)
            message = f"shaders have no number {name}{near}"
            raise FilterError(message, "", 1, column + len(stage) + 1)
        return Property("number", self.uses.number(stage, PROGRAM_NUMBERS[name]))

    def sampled(self, column: int) -> Operand:
        """The addresses of the textures that a draw reads, under the name of all addresses."""
        found = self.path(Path("texture.address", column))
        found.get = self.uses.sampled
        return found

    def _of_bindings(self, path: Path, owner: str, name: str) -> Operand:
        """``texture.FMT``: a field of each descriptor; ``texture.address``: a fact of it."""
        named = BINDING_FACTS.get(name)
        if named is not None:
            get = self.uses.facts(owner, named)
            known = Property(named.kind, get, named.words, True, named.enums)
            operand = self._of_property(path, known)
            operand.is_hex = named.is_hexadecimal
        else:
            try:
                operand = self._of_descriptors(path, owner, name)
            except FilterError as problem:
                return self._absent(path.text, path.column, problem)
        operand.may_be_none = True
        return operand

    def _of_descriptors(self, path: Path, owner: str, name: str) -> Operand:
        """A field of each descriptor. Raises FilterError for a name that they do not have."""
        table = self._table
        if isinstance(table, StateNames):
            state_field, read = table.descriptor_field(path, OWNERS[owner][0], name)
            operand = _of_field(path, state_field)
            operand.get, operand.is_many = self.uses.fields(owner, read), True
            return operand
        if self._database is None or isinstance(table, NoRegisters):
            message = f"{table.chip} has no fields of descriptors"
            raise FilterError(message, "", 1, path.column)
        found = descriptor_field(self._database, path)
        get = self.uses.fields(owner, found.value)
        words = table.words(path.text, found.type_row)
        operand = Operand(path.text, found.kind, get, path.column, True, words)
        operand.is_hex = found.type_row[0] in _HEX
        self._show_words(operand, found.type_row)
        return operand

    def _show_words(self, operand: Operand, type_row: rows.TypeRow) -> None:
        """Show values of an enum, and numbers of shaders' registers, as their names."""
        if operand.words is None or operand.kind != "number" or self._decoder is None:
            return
        low, shr = type_row[2], type_row[4]
        text = self._decoder.formatter(type_row).text
        operand.show = lambda value: text(value >> shr << low)

    def _register(self, path: Path, found: RegisterName) -> Operand:
        assert not isinstance(self._table, StateNames)
        kind, convert = converter(found.type_row)
        cursors = [Cursor(place, convert) for place in found.places]
        words = self._table.words(path.text, found.type_row)
        operand = Operand(path.text, kind, _one(cursors[0]), path.column, words=words)
        operand.cursors = [*cursors]
        operand.is_hex = found.type_row is None or found.type_row[0] in _HEX
        if found.is_many:
            operand.get, operand.is_many = _any_written(cursors), True
        if found.type_row is not None:
            self._show_words(operand, found.type_row)
        return operand

    def _arithmetic(self, node: Arithmetic) -> Operand:
        get = self.number(node.first).get
        parts = [self.number(node.first), *(self.number(other) for _, other in node.rest)]
        if any(part.is_many for part in parts):
            raise FilterError("several values cannot be calculated with", "", 1, node.column)
        for (sign, _), part in zip(node.rest, parts[1:], strict=True):
            get = _masked(get, part.get) if sign == "&" else _both(sign, get, part.get)
        return Operand("", "number", get, node.column)


_OWNERS = {name.partition(".")[0] for name in PROPERTIES}


def _constant(value: object) -> Get:
    return lambda subject: value


def _of_field(path: Path, field: StateField) -> Operand:
    """The operand of a field of an instruction, still without what reads it."""
    operand = Operand(path.text, field.kind, _constant(None), path.column, words=field.words)
    operand.is_hex = field.is_hex
    if field.words is not None and field.kind == "number":
        operand.show = field.shown
    return operand


def _of_state(path: Path, table: StateNames) -> Operand:
    """A field of an instruction that sets state, or a register. Raises FilterError."""
    field, cursors, pattern = table.find(path)
    operand = _of_field(path, field)
    if pattern is None:
        operand.get, operand.cursors = _one(cursors[0]), [*cursors]
        return operand

    def get(subject: Subject) -> list[Any]:
        values = (one.at(subject.order) for one in table.cursors(pattern, field))
        return [one for one in values if one is not None]

    operand.get, operand.is_many, operand.slots = get, True, pattern
    return operand


def _one(cursor: Cursor | SlotCursor) -> Get:
    at = cursor.at
    return lambda subject: at(subject.order)


def _any_written(cursors: list[Cursor]) -> Get:
    def get(subject: Subject) -> list[Any]:
        order = subject.order
        return [cursor.at(order) for cursor in cursors if cursor.is_written(order)]

    return get


def _applied(of: Operand, function: Callable[[Any], Any]) -> Get:
    get = of.get
    if of.is_many:
        return lambda subject: [None if one is None else function(one) for one in get(subject)]

    def applied(subject: Subject) -> Any:  # noqa: ANN401
        value = get(subject)
        return None if value is None else function(value)

    return applied


def _both(sign: str, left: Get, right: Get) -> Get:
    function = _ARITHMETIC[sign]

    def both(subject: Subject) -> Any:  # noqa: ANN401
        first, second = left(subject), right(subject)
        if first is None or second is None:
            return None
        result = function(first, second)
        return result if -_LARGEST < result < _LARGEST else None

    return both


def _masked(left: Get, right: Get) -> Get:
    def masked(subject: Subject) -> int | None:
        first, second = left(subject), right(subject)
        if not isinstance(first, int) or not isinstance(second, int):
            return None
        return first & second

    return masked


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


#: Different values of some registers whose result is remembered. Registers with more of them in a
#: capture change at most actions: to remember results takes longer than to compute them then.
_MOST_STATES = 1 << 10


class OncePerState(Generic[_Result]):
    """A function of some registers' values, computed once for all actions that see equal ones.

    ``evaluations`` counts how often it was computed.
    """

    __slots__ = (
        "_begin",
        "_compute",
        "_cursors",
        "_end",
        "_is_full",
        "_known",
        "_result",
        "evaluations",
    )

    _result: _Result

    def __init__(self, compute: Callable[[Subject], _Result], cursors: Iterable[Cursor]) -> None:
        """``compute`` reads nothing but the registers of ``cursors``, at ``Subject.order``."""
        self._compute = compute
        self._cursors = [*cursors]
        #: ``_result`` is that of the actions from ``_begin`` up to ``_end``: nothing was written.
        self._begin = self._end = 0
        #: The bits of the registers -> the result.
        self._known: dict[tuple[int | None, ...], _Result] = {}
        self._is_full = False
        self.evaluations = 0

    def reset(self) -> None:
        """The cursors read another capture from now on."""
        self._begin = self._end = 0
        self._is_full = False

    def at(self, subject: Subject) -> _Result:
        """The result at an action."""
        if self._begin <= subject.order < self._end:
            return self._result
        return self._seek(subject)

    def _seek(self, subject: Subject) -> _Result:
        if self._is_full:
            self.evaluations += 1
            return self._compute(subject)
        cursors, known, order = self._cursors, self._known, subject.order
        for cursor in cursors:
            if not cursor.begin <= order < cursor.end:
                cursor.seek(order)
        bits = tuple([cursor.bits for cursor in cursors])
        if bits in known:
            result = known[bits]
        else:
            result = self._compute(subject)
            self.evaluations += 1
            if len(known) >= _MOST_STATES:
                self._is_full = True
                known.clear()
                return result
            known[bits] = result
        self._begin = max([cursor.begin for cursor in cursors])
        self._end = min([cursor.end for cursor in cursors])
        self._result = result
        return result


class Condition(NamedTuple):
    """A compiled condition.

    ``cursors``: what reads the registers that it depends on alone; None: it depends on more.
    """

    test: Predicate
    cursors: tuple[Cursor, ...] | None = None


class Predicates:
    """Compiles conditions. What depends on registers alone is asked once for equal ones."""

    def __init__(self, operands: Operands, remembers: bool = True) -> None:
        """``remembers``: whether conditions of registers are asked once for equal ones only."""
        self._operands = operands
        self.remembers = remembers
        #: The conditions that are asked once for equal registers.
        self.states: list[OncePerState[bool | None]] = []
        #: Whether ``written`` occurs.
        self.needs_writes = False
        #: Whether a comparison is one of several values, of which all count.
        self._is_all = False

    def predicate(self, node: Node) -> Predicate:
        """The condition of a node. Raises FilterError with the column."""
        return self._once_per_state(self._condition(node))

    def _once_per_state(self, condition: Condition) -> Predicate:
        if not condition.cursors or not self.remembers:
            return condition.test
        state = OncePerState(condition.test, condition.cursors)
        self.states.append(state)
        return state.at

    def _condition(self, node: Node) -> Condition:
        if isinstance(node, Logic):
            return self._logic(node)
        if isinstance(node, Not):
            term = self._condition(node.term)
            return Condition(_negated(term.test), term.cursors)
        if isinstance(node, Call):
            return self._call(node)
        return Condition(self._comparison(node), self._cursors_of(node))

    def _logic(self, node: Logic) -> Condition:
        """Terms that depend on registers alone are one condition, which is asked first."""
        joined_by = _all_of if node.is_all else _any_of
        of_registers, cursors, others = [], dict[Cursor, None](), []
        for term in map(self._condition, node.terms):
            if term.cursors is None:
                others.append(term.test)
            else:
                of_registers.append(term.test)
                cursors.update(dict.fromkeys(term.cursors))
        test = joined_by(of_registers) if len(of_registers) > 1 else None
        joined = Condition(test or of_registers[0], tuple(cursors)) if of_registers else None
        if joined is None:
            return Condition(joined_by(others))
        if not others:
            return joined
        return Condition(joined_by([self._once_per_state(joined), *others]))

    def _cursors_of(self, node: Node) -> tuple[Cursor, ...] | None:
        """What reads the registers of a comparison; None where it is of more than registers."""
        cursors: dict[Cursor, None] = {}
        for path in nodes_of(node, Path):
            operand = self._operands.named.get(path.text)
            if operand is None or operand.kind == "unknown":
                continue  # a word, or a name that the GPU has not
            registers = [one for one in operand.cursors if isinstance(one, Cursor)]
            if not registers or len(registers) < len(operand.cursors):
                return None
            cursors.update(dict.fromkeys(registers))
        return tuple(cursors)

    def _comparison(self, node: Node) -> Predicate:
        if isinstance(node, Compare):
            return self._compare(node)
        if isinstance(node, Within):
            return self._within(node)
        if isinstance(node, Match):
            return self._match(node)
        operand = self._operands.operand(node)
        if operand.kind == "text":
            raise FilterError(f"{operand.name} is a text, not a condition", "", 1, node.column)
        return self._of_each(operand, bool)

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

    def _call(self, node: Call) -> Condition:
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

    def _all(self, node: Node) -> Condition:
        before, self._is_all = self._is_all, True
        try:
            return self._condition(node)
        finally:
            self._is_all = before

    def _any(self, node: Node) -> Condition:
        before, self._is_all = self._is_all, False
        try:
            return self._condition(node)
        finally:
            self._is_all = before

    def _register(self, node: Node, function: str) -> Operand:
        found = self._operands.operand(node) if isinstance(node, Path) else None
        if found is None or not (found.cursors or found.kind == "unknown"):
            raise FilterError(f"{function} takes a register or a field", "", 1, node.column)
        return found

    def _changed(self, node: Node) -> Condition:
        cursors = self._register(node, "changed").cursors

        def changed(subject: Subject) -> bool | None:
            if subject.order < 0:
                return None
            before, order = subject.before, subject.order
            return any(_differ(one.at(before), one.at(order)) for one in cursors)

        return Condition(changed)

    def _written(self, node: Node) -> Condition:
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

        return Condition(written)

    def _unknown(self, node: Node) -> Condition:
        """Of a value: whether it is not known. Of a condition: whether nothing is known of it."""
        if isinstance(node, Path):
            operand = self._operands.operand(node)
            get, cursors = operand.get, self._cursors_of(node)
            if operand.is_many:
                return Condition(lambda subject: None in get(subject), cursors)
            return Condition(lambda subject: get(subject) is None, cursors)
        term = self._condition(node)
        test = term.test
        return Condition(lambda subject: test(subject) is None, term.cursors)

    def _sampled(self, node: Node) -> Condition:
        """Whether a texture that the draw reads begins at an address."""
        address = self._operands.number(node)
        textures = self._operands.sampled(node.column)
        return Condition(_pairs(textures, address, operator.eq, self._is_all))

    def _marker(self, node: Node) -> Condition:
        if not isinstance(node, Text):
            raise FilterError("marker takes a regular expression in quotes", "", 1, node.column)
        search, markers = _pattern(node).search, self._operands.properties.markers
        return Condition(lambda subject: any(search(text) is not None for text in markers(subject)))


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
