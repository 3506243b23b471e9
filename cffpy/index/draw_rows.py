# SPDX-License-Identifier: MIT
"""The data of a capture that filters need, as rows: draws with properties, registers, descriptors.

Draws in a row mostly have the same descriptors. So a row is a range of draws and the digest of a
list of descriptors, and each list is stored once in a partition.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.frame.places import name_of
from cffpy.index.tables import PASS_PROPERTIES, PROPERTY_NAMES
from cffpy.intel.analysis.state_history import slot_group
from cffpy.intel.decoder.text import field_values
from cffpy.query.properties import (
    BINDING_FACTS,
    KINDS,
    PROGRAM_NUMBERS,
    PROPERTIES,
    Subject,
    Uses,
    markers,
    program_address,
)
from cffpy.query.search import subjects

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.register_store.draws import DrawRegisters
    from cffpy.frame.field import FieldValue
    from cffpy.intel.analysis.state_history import StateHistory
    from cffpy.intel.decoder.groups import Database, Group

    Row = tuple[Any, ...]
    from collections.abc import Iterable, Sequence

    from cffpy.analysis.inputs.bindings import Bindings
    from cffpy.frame.action import Action
    from cffpy.frame.binding import Binding
    from cffpy.frame.faces import Named
    from cffpy.frame.passes import Pass
    from cffpy.frame.shader import Shader
    from cffpy.query.properties import Resources

#: The low bits of a key are the row; those above are the number of the partition.
ROW_BITS = 32


def _reader(name: str) -> Callable[[Subject], object]:
    if name == "markers":
        return lambda subject: list(markers(subject))
    known = PROPERTIES.get(name)
    return (known or program_address(name.rpartition(".")[2])).get


#: Reader of each property, and whether all draws of a pass share it.
_READERS = tuple((_reader(name), name in PASS_PROPERTIES) for name in PROPERTY_NAMES)


class Drawn(NamedTuple):
    """The draws of a capture. ``key``: of the first one. ``keys``: ``Action.order`` -> key.

    ``orders``: ``Action.order`` of each.
    """

    key: int
    rows: int
    keys: dict[int, int]
    orders: list[int]


def draw_rows(
    finder: PassFinder, name: str, generation: int, key: int, drawn: list[Drawn]
) -> Iterator[Row]:
    """Rows of ``tables.DRAWS`` for the program's draws; then appends to ``drawn``.

    ``name``: of the capture. ``key``: of its first draw.
    """
    passes = finder.found.passes
    actions = (draw for pass_ in passes for draw in pass_.draws)
    keys: dict[int, int] = {}
    orders: list[int] = []
    next_key, before = key, None
    texts = _PropertyTexts()
    for subject in subjects(actions, passes):
        action = subject.action
        assert action is not None
        shown = name_of(action)
        yield (
            next_key,
            before,
            subject.order >= 0,
            name,
            generation,
            action.place.submit,
            action.pass_index,
            None if shown is None else str(shown),
            action.dump_draw,
            action.tile_number,
            *texts.of_draw(subject),
        )
        if subject.order >= 0:
            keys[subject.order] = before = next_key
        orders.append(action.order)
        next_key += 1
    drawn.append(Drawn(key, next_key - key, keys, orders))


class _PropertyTexts:
    """Makes the columns of properties. A pass lists its draws, so its texts are made once a pass:
    for each draw anew they would take quadratic time and memory.
    """

    def __init__(self) -> None:
        self._pass: Pass | None = None
        self._of_pass: list[str | None] = []

    def of_draw(self, subject: Subject) -> Iterator[str | None]:
        """The texts in the order of PROPERTY_NAMES."""
        if subject.found_pass is not self._pass or not self._of_pass:
            self._pass = subject.found_pass
            self._of_pass = [_text(read(subject)) for read, of_pass in _READERS if of_pass]
        of_pass_texts = iter(self._of_pass)
        return (
            next(of_pass_texts) if of_pass else _text(read(subject)) for read, of_pass in _READERS
        )


def _text(value: object) -> str | None:
    return None if value is None else json.dumps(value)


def state_rows(registers: DrawRegisters, drawn: Drawn) -> Iterator[Row]:
    """A row of ``tables.STATES`` for each distinct state of draws."""
    end = drawn.key + drawn.rows - 1
    for register in sorted(registers.all_registers()):
        first, last = -1, 0
        for order, value in zip(*registers.changes(register), strict=True):
            key = drawn.keys.get(order)
            if key is None or (first >= 0 and value == last):
                continue
            if first >= 0:
                yield register, first, key - 1, last
            first, last = key, value
        if first >= 0:
            yield register, first, end, last


def instruction_rows(history: StateHistory, drawn: Drawn) -> Iterator[Row]:
    """Rows of ``tables.INSTRUCTIONS``."""
    keys = dict(zip(drawn.orders, count(drawn.key)))
    for held, first, last in history.spans():
        words = "" if held.words is None else "".join(f"{word:08x}" for word in held.words)
        yield held.name, keys[history.draws[first]], keys[history.draws[last]], words


def write_rows(registers: DrawRegisters, drawn: Drawn) -> Iterator[Row]:
    """Rows of ``tables.WRITES``: a run goes on where the next draw that is executed has a write."""
    following = dict(zip(drawn.keys.values(), list(drawn.keys.values())[1:], strict=False))
    for register in sorted(registers.all_registers()):
        first = last = -1
        for order in registers.changes(register)[0]:
            key = drawn.keys.get(order)
            if key is None:
                continue
            if first >= 0 and following.get(last) == key:
                last = key
                continue
            if first >= 0:
                yield register, first, last
            first = last = key
        if first >= 0:
            yield register, first, last


#: Names in filters -> the facts of bindings that lists have. The packets that loaded them would
#: make nearly every list another one.
STORED_FACTS = {
    name: named for name, named in BINDING_FACTS.items() if not name.startswith("place.")
}

#: Those whose lists are stored; the data of draws changes with each.
STORED_KINDS = ("sampler", "storage", "texture")


class StoredBinding(NamedTuple):
    """A binding as a list has it: the values of its facts that are not None, and its bytes."""

    facts: dict[str, Any]
    data: bytes | None


class BoundLists:
    """Makes the rows of BOUND and LISTS of a partition."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._new: list[Row] = []

    def rows(self, bindings: Bindings, drawn: Drawn) -> Iterator[Row]:
        """Rows of BOUND of a capture. Draws without a row have descriptors that are not known."""
        for kind in STORED_KINDS:
            changes: list[int] = []
            digests: list[str | None] = []
            for order, found in bindings.lists(KINDS[kind]):
                changes.append(order)
                digests.append(None if found is None else self._digest(found))

            first, held = drawn.key, None
            for key, order in enumerate(drawn.orders, drawn.key):
                at = bisect_right(changes, order) - 1 if bindings.has(order) else -1
                digest = digests[at] if at >= 0 else None
                if digest != held:
                    if held is not None:
                        yield kind, first, key - 1, held
                    first, held = key, digest
            if held is not None:
                yield kind, first, drawn.key + drawn.rows - 1, held

    def _digest(self, bindings: Iterable[Binding]) -> str:
        document = json.dumps([_stored(binding) for binding in bindings])
        digest = sha256(document.encode()).hexdigest()
        if digest not in self._known:
            self._known.add(digest)
            self._new.append((digest, document))
        return digest

    def take(self) -> list[Row]:
        """The rows of LISTS that were not taken yet."""
        rows, self._new = self._new, []
        return rows


def _stored(binding: Binding) -> list[Any]:
    values = ((name, named.read(binding)) for name, named in STORED_FACTS.items())
    facts = {name: value for name, value in values if value is not None}
    return [facts, None if binding.data is None else bytes(binding.data).hex()]


def bindings_of(document: str) -> list[StoredBinding]:
    """The bindings of a row of LISTS. Raises ValueError for a text that is none."""
    try:
        return [
            StoredBinding(dict(facts), data and bytes.fromhex(data))
            for facts, data in json.loads(document)
        ]
    except TypeError as problem:
        raise ValueError(str(problem)) from None


def program_rows(name: str, draws: Iterable[Action], resources: Resources) -> Iterator[Row]:
    """Rows of RUN of a capture: one for each program that a draw runs. ``name``: the capture."""
    known: set[tuple[int, str, int]] = set()
    for draw in draws:
        submit = draw.place.submit
        for stage, gpuaddr in draw.programs:
            key = submit, stage, gpuaddr
            if gpuaddr is None or key in known:
                continue
            known.add(key)
            program = resources.shader(submit, stage, gpuaddr)
            if program is not None:
                yield name, submit, stage, gpuaddr, json.dumps(_numbers(program))


def _numbers(program: Shader) -> dict[str, int]:
    numbers = ((name, named.read(program)) for name, named in PROGRAM_NUMBERS.items())
    return {name: number for name, number in numbers if number is not None}


class RowSubject(Subject):
    """A draw of an index. ``row``: the values of properties by their names.

    Also the list of its descriptors by kind, and the numbers of its programs by stage.
    """

    __slots__ = ("row",)

    def __init__(self, row: dict[str, Any], is_executed: bool, before: bool) -> None:
        super().__init__(None, None)
        self.row = row
        # of the draw the position is 1, of the one before it 0
        self.order = 1 if is_executed else -1
        self.before = 0 if before else -1


class RowUses(Uses):
    """Reads what a draw of an index uses, of its row."""

    def bindings(self, subject: Subject, owner: str) -> Sequence[StoredBinding] | None:
        """The bindings of a kind or owner that the row has; None where it is not known."""
        assert isinstance(subject, RowSubject)
        bindings: list[StoredBinding] | None = subject.row[owner]
        return bindings

    def read(self, binding: StoredBinding, named: Named) -> Any:  # noqa: ANN401
        """A stored fact of a binding; of a fact with many values none is an empty list."""
        value = binding.facts.get(named.name.partition(".")[2])
        return [] if named.is_many and value is None else value

    def number(self, stage: str, named: Named) -> Callable[[Subject], int | None]:
        """A reader of a number of a stage's program, from the row."""
        name = named.name.partition(".")[2]

        def get(subject: Subject) -> int | None:
            assert isinstance(subject, RowSubject)
            numbers: dict[str, int] = subject.row[stage] or {}
            return numbers.get(name)

        return get


#: Values whose fields are kept.
_MOST_DECODED = 1 << 12


class RowState:
    """What instructions have set at a draw of an index, and at the draw before it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        #: Name -> the dwords at the draw before and at the draw, as rows of INSTRUCTIONS have them.
        self.words: dict[str, tuple[str | None, str | None]] = {}
        self._groups: dict[str, Group | None] = {}
        self._fields: dict[tuple[str, str], dict[str, FieldValue]] = {}

    def state_value(self, slot: str, field: str | None, order: int) -> FieldValue | int | None:
        """See ``DrawnState``. ``order``: 1 for the draw, 0 for the draw before."""
        text = self.words.get(slot, (None, None))[order] if order >= 0 else None
        if not text:
            return None
        if field is None:
            return int(text[:8], 16)
        return self._decoded(slot, text).get(field)

    def _decoded(self, slot: str, text: str) -> dict[str, FieldValue]:
        known = self._fields.get((slot, text))
        if known is None:
            name = slot.partition("[")[0]
            if name not in self._groups:
                self._groups[name] = slot_group(self._database, name.upper())
            group = self._groups[name]
            words = tuple(int(text[at : at + 8], 16) for at in range(0, len(text), 8))
            fields = () if group is None else field_values(self._database, group, words)
            known = {value.name: value for value in fields}
            if len(self._fields) >= _MOST_DECODED:
                self._fields.clear()
            self._fields[slot, text] = known
        return known

    def slots(self, pattern: re.Pattern[str]) -> list[str]:
        """See ``DrawnState``."""
        return [name for name in self.words if pattern.fullmatch(name)]
