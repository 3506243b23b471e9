# SPDX-License-Identifier: MIT
"""What draws use besides registers, as rows: bound descriptors, and numbers of programs.

Draws in a row mostly have the same descriptors. So a row is a range of draws and the digest of a
list of descriptors, and each list is stored once in a partition.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.query.properties import Subject
from cffpy.query.resources import BINDING_FACTS, KINDS, PROGRAM_NUMBERS, Uses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cffpy.analysis.inputs.bindings import Bindings
    from cffpy.frame.action import Action
    from cffpy.frame.binding import Binding
    from cffpy.frame.faces import Named
    from cffpy.frame.shader import Shader
    from cffpy.index.draw_rows import Drawn
    from cffpy.query.resources import Resources

    Row = tuple[Any, ...]

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

    def _digest(self, found: Iterable[Binding]) -> str:
        document = json.dumps([_stored(one) for one in found])
        digest = sha256(document.encode()).hexdigest()
        if digest not in self._known:
            self._known.add(digest)
            self._new.append((digest, document))
        return digest

    def take(self) -> list[Row]:
        """The rows of LISTS that were not taken yet."""
        found, self._new = self._new, []
        return found


def _stored(one: Binding) -> list[Any]:
    values = ((name, named.read(one)) for name, named in STORED_FACTS.items())
    facts = {name: value for name, value in values if value is not None}
    return [facts, None if one.data is None else bytes(one.data).hex()]


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
        submit = draw.place.submit.submit
        for stage, gpuaddr in draw.programs:
            key = submit, stage, gpuaddr
            if gpuaddr is None or key in known:
                continue
            known.add(key)
            program = resources.shader(submit, stage, gpuaddr)
            if program is not None:
                yield name, submit, stage, gpuaddr, json.dumps(_numbers(program))


def _numbers(program: Shader) -> dict[str, int]:
    found = ((name, named.read(program)) for name, named in PROGRAM_NUMBERS.items())
    return {name: number for name, number in found if number is not None}


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
        """As Uses has it."""
        assert isinstance(subject, RowSubject)
        found: list[StoredBinding] | None = subject.row[owner]
        return found

    def read(self, binding: StoredBinding, named: Named) -> Any:  # noqa: ANN401
        """As Uses has it."""
        value = binding.facts.get(named.name.partition(".")[2])
        return [] if named.is_many and value is None else value

    def number(self, stage: str, named: Named) -> Callable[[Subject], int | None]:
        """As Uses has it."""
        name = named.name.partition(".")[2]

        def get(subject: Subject) -> int | None:
            assert isinstance(subject, RowSubject)
            numbers: dict[str, int] = subject.row[stage] or {}
            return numbers.get(name)

        return get
