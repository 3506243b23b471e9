# SPDX-License-Identifier: MIT
"""Properties of draws, passes and tiles in filters: ``pass.mode``, ``draw.instances``.

They are the facts of the model: what each is compared as, a function that reads it, and the words
that it may be.
"""

from __future__ import annotations

from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.frame.action import Action
from cffpy.frame.attachment import Attachment, TransferEnd
from cffpy.frame.execution import Executed
from cffpy.frame.faces import names
from cffpy.frame.facts import model_of
from cffpy.frame.passes import Pass, Tile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from cffpy.frame.faces import Named
    from cffpy.regdb.database import Database


class Subject:
    """What a filter is asked about: a draw, or a pass or tile as a whole.

    ``order``: the action at which registers are read, -1 for none. ``before``: the action with
    which ``changed`` compares, -1 for none.
    """

    __slots__ = ("action", "before", "found_pass", "order", "tile")

    def __init__(
        self,
        action: Action | None,
        found_pass: Pass | None,
        tile: Tile | None = None,
        before: int = -1,
    ) -> None:
        self.action = action
        self.found_pass = found_pass
        self.tile = tile
        executed = action is not None and action.execution is not Executed.NO
        self.order = action.order if action is not None and executed else -1
        self.before = before


class Property(NamedTuple):
    """``kind``: "number", "text" or "bool". ``get`` returns a list where ``is_many``.

    ``words``: all values that a text may have; empty for any text. ``enums``: the ends of the names
    of enums of the register database, whose values it may have, too. ``fact``: the declaration;
    None for what is no fact.
    """

    kind: str
    get: Callable[[Subject], object]
    words: tuple[str, ...] = ()
    is_many: bool = False
    enums: tuple[str, ...] = ()
    fact: Named | None = None

    def values(self, database: Database | None) -> list[str]:
        """All values that a text may have on a GPU; empty for any text.

        ``database``: None where the GPU has no registers.
        """
        if database is None:
            return [] if self.enums else list(self.words)
        named = database.enum_names() if self.enums else ()
        enums = (database.enum(name) for name in named if name.endswith(self.enums))
        return [*self.words, *(value[0] for enum in enums for value in enum)]


def _of_facts(kind: type, owner: Callable[[Subject], object], prefix: str) -> dict[str, Property]:
    """The facts of a model, by their names in filters."""

    def of(named: Named) -> Property:
        def get(subject: Subject) -> object:
            one = owner(subject)
            return None if one is None else named.read(one)

        return Property(named.kind, get, named.words, named.is_many, named.enums, named)

    return {named.name: of(named) for named in names(model_of(kind), prefix)}


def _of_all(
    kind: type, owners: Callable[[Subject], Iterable[object]], prefix: str
) -> dict[str, Property]:
    """The facts of several objects of a subject: each property has those of all."""

    def of(named: Named) -> Property:
        def get(subject: Subject) -> list[Any]:
            found = [named.read(one) for one in owners(subject)]
            return [*chain.from_iterable(found)] if named.is_many else found

        return Property(named.kind, get, named.words, True, named.enums, named)

    return {named.name: of(named) for named in names(model_of(kind), prefix)}


def _targets(subject: Subject) -> Iterable[object]:
    """The attachments that a draw renders to; of a pass as a whole, all."""
    if subject.action is not None:
        return subject.action.targets
    return () if subject.found_pass is None else subject.found_pass.attachments


def _ends(name: str) -> Callable[[Subject], Iterable[object]]:
    """The sources or destinations of what an action copies, fills, clears, loads or stores."""
    end_of = attrgetter(name)

    def ends(subject: Subject) -> Iterable[object]:
        found = () if subject.action is None else map(end_of, subject.action.transfers)
        return [one for one in found if one is not None]

    return ends


#: Names of draws, passes, tiles; of attachments; of both ends of transfers.
_OF_ONE: tuple[tuple[type, str, Callable[[Subject], object]], ...] = (
    (Action, "draw", lambda subject: subject.action),
    (Pass, "pass", lambda subject: subject.found_pass),
    (Tile, "tile", lambda subject: subject.tile),
)
_OF_ALL: tuple[tuple[type, str, Callable[[Subject], Iterable[object]]], ...] = (
    (Attachment, "target", _targets),
    (TransferEnd, "source", _ends("source")),
    (TransferEnd, "destination", _ends("destination")),
)

#: What goes by names of its own: ``target``, ``source``, ``destination``, ``texture``.
_NAMED_APART = (
    "draw.bindings.",
    "draw.targets.",
    "draw.transfers.source.",
    "draw.transfers.destination.",
)


def _all_properties() -> Iterator[tuple[str, Property]]:
    for kind, prefix, owner in _OF_ONE:
        yield from _of_facts(kind, owner, prefix).items()
    for kind, prefix, owners in _OF_ALL:
        yield from _of_all(kind, owners, prefix).items()


PROPERTIES = {name: one for name, one in _all_properties() if not name.startswith(_NAMED_APART)}

#: Properties that are shown in hexadecimal.
HEXADECIMAL = frozenset(
    named.name
    for kind, prefix, _ in (*_OF_ONE, *_OF_ALL)
    for named in names(model_of(kind), prefix)
    if named.is_hexadecimal
)


def program_address(stage: str) -> Property:
    """``draw.shaders.FS``: GPU address of the program of a stage; None where it has none."""

    def get(subject: Subject) -> int | None:
        return None if subject.action is None else dict(subject.action.programs).get(stage)

    return Property("number", get)


def markers(subject: Subject) -> Sequence[str]:
    """The debug markers that are open around the pass."""
    return () if subject.found_pass is None else subject.found_pass.markers


class Properties(NamedTuple):
    """Where filters read properties: of a capture's objects, or of rows that were stored.

    ``named``: PROPERTIES, or the same names with other functions. ``program``: the property of a
    stage. ``markers``: the open debug markers of a subject.
    """

    named: Mapping[str, Property]
    program: Callable[[str], Property]
    markers: Callable[[Subject], Sequence[str]]


#: Properties of the objects of a walk.
OF_CAPTURES = Properties(PROPERTIES, program_address, markers)
