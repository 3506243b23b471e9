# SPDX-License-Identifier: MIT
"""What filters read besides registers: facts of draws, passes and tiles, and what draws use.

``pass.mode`` and ``draw.instances`` are facts of the model: what each is compared as, a function
that reads it, and the words that it may be.

``texture.FMT`` is the field FMT of each texture that a draw uses, ``texture.format`` a fact of it,
``bound_texture.FMT`` the field of each that it has bound, ``draw.shaders.FS.instructions`` a number
of the program of a stage. All are known for the program's draws.
"""

from __future__ import annotations

from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from cffpy.capture.gpu import generation_of
from cffpy.errors import FilterError
from cffpy.frame.action import Action
from cffpy.frame.attachment import Attachment, TransferEnd
from cffpy.frame.binding import DESCRIPTORS, Binding
from cffpy.frame.execution import Executed
from cffpy.frame.faces import names
from cffpy.frame.facts import model_of
from cffpy.frame.passes import Pass, Tile
from cffpy.frame.shader import Shader
from cffpy.query.names import converter, nearest
from cffpy.regdb import rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from cffpy.frame.binding import BindingKind
    from cffpy.frame.faces import Named
    from cffpy.query.names import Convert
    from cffpy.query.register_values import DrawnState
    from cffpy.query.syntax import Path
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

#: What names in filters begin with -> the kind of bindings that a draw uses.
KINDS: dict[str, BindingKind] = {
    "texture": "texture",
    "sampler": "sampler",
    "storage": "storage",
    "uniform_buffer": "uniform buffer",
    "vertex_buffer": "vertex buffer",
    "index_buffer": "index buffer",
}
#: Kind -> what names its descriptor in ``Generation.descriptors``.
_DESCRIPTORS: dict[BindingKind, str] = {"uniform buffer": "ubo"}

#: What names begin with -> the kind, and whether only those count that draws use.
OWNERS = {
    **{name: (kind, True) for name, kind in KINDS.items()},
    **{f"bound_{name}": (kind, False) for name, kind in KINDS.items() if kind in DESCRIPTORS},
}

#: The facts of bindings by their names behind the dot: ``address``, ``place.gpuaddr``.
BINDING_FACTS = {
    named.name.partition(".")[2]: named for named in names(model_of(Binding), "binding")
}

_ADDRESS, _READS = BINDING_FACTS["address"], BINDING_FACTS["reads"]

#: The numbers of a program by their names: ``draw.shaders.FS.instructions``.
PROGRAM_NUMBERS = {
    named.name.partition(".")[2]: named
    for named in names(model_of(Shader), "program")
    if named.kind == "number" and not named.is_hexadecimal
}


class Resources(Protocol):
    """What the draws of a capture use. It is computed when it is first asked for."""

    def descriptors(
        self, order: int, kind: BindingKind, only_used: bool = True
    ) -> Sequence[Binding] | None:
        """Those of the program's draw with this ``Action.order``; None where nothing is known."""

    def shader(self, submit: int, stage: str, gpuaddr: int) -> Shader | None:
        """The program at an address; None where none was captured."""

    def drawn_state(self) -> DrawnState | None:
        """What instructions have set at the draws; None of GPUs that have registers."""


class DescriptorField(NamedTuple):
    """A field of a descriptor: its dword, and its type; ``convert`` takes the dword."""

    dword: int
    type_row: rows.TypeRow
    kind: str
    convert: Convert

    def value(self, bound: Binding) -> int | float | bool | None:
        """The value; None where the descriptor was not captured."""
        data = bound.data
        if data is None or len(data) < 4 * self.dword + 4:
            return None
        return self.convert(int.from_bytes(data[4 * self.dword : 4 * self.dword + 8], "little"))


def descriptor_field(database: Database, path: Path) -> DescriptorField:
    """A field of descriptors: ``texture.FMT``. Raises FilterError with the nearest names."""
    owner, _, name = path.text.partition(".")
    kind, chip, column = OWNERS[owner][0], database.chip.lower(), path.column
    descriptor = _DESCRIPTORS.get(kind, kind)
    domain = generation_of(int(chip[1])).descriptors.get(descriptor, ("", 0))[0]
    known = dict(_fields(database, domain))
    if not known:
        what = f"{chip} has no {kind} descriptors" if kind in DESCRIPTORS else _no_fact(owner, name)
        raise FilterError(what, "", 1, column)
    found = known.get(name) or known.get(name.upper())
    if found is None:
        near = nearest(name, [*known, *BINDING_FACTS])
        message = f"{kind} descriptors of {chip} have no field {name}{near}"
        raise FilterError(message, "", 1, column + len(owner) + 1)
    return DescriptorField(*found, *converter(found[1]))


def _no_fact(owner: str, name: str) -> str:
    return f"there is no {owner}.{name}{nearest(name, BINDING_FACTS)}"


def _fields(database: Database, domain: str) -> Iterator[tuple[str, tuple[int, rows.TypeRow]]]:
    """Name, dword and type of each field; of several with one name the first counts."""
    elements = database.domain(domain)
    seen: set[str] = set()
    for element in () if elements is None else elements[0]:
        name, offset, type_row = element[1], element[3], element[7]
        if type_row is None:
            continue
        fields = type_row[7] if type_row[0] in rows.BITSETS else [(name, None, type_row)]
        for field_name, _, field in fields:
            if field_name not in seen:
                seen.add(field_name)
                yield field_name, (offset, field)


class Uses:
    """Reads what a subject uses, of the capture that a filter is asked about."""

    def __init__(self) -> None:
        #: None: nothing is known.
        self.resources: Resources | None = None
        #: What instructions have set, where the capture does not say it.
        self.state: DrawnState | None = None

    def drawn_state(self) -> DrawnState | None:
        """What instructions have set at the draws; None where nothing is known."""
        found = self.resources
        return self.state if found is None else found.drawn_state()

    def bindings(self, subject: Subject, owner: str) -> Sequence[Any] | None:
        """The bindings of a draw; None where they are not known. ``owner``: of ``OWNERS``."""
        action, found_pass = subject.action, subject.found_pass
        if self.resources is None or action is None or found_pass is None:
            return None
        number = action.number
        if number is None or number >= len(found_pass.draws):
            return None
        # each execution of a draw uses what the recorded one does
        order = found_pass.draws[number].order
        return self.resources.descriptors(order, *OWNERS[owner])

    def read(self, binding: Any, named: Named) -> Any:  # noqa: ANN401
        """A fact of a binding."""
        return named.read(binding)

    def fields(self, owner: str, read: Callable[[Binding], Any]) -> Callable[[Subject], list[Any]]:
        """A function that reads a field of each descriptor; one unknown value for all unknown."""

        def get(subject: Subject) -> list[Any]:
            found = self.bindings(subject, owner)
            return [None] if found is None else [read(one) for one in found]

        return get

    def facts(self, owner: str, named: Named) -> Callable[[Subject], list[Any]]:
        """The same of a fact of bindings."""
        read = self.read

        def get(subject: Subject) -> list[Any]:
            found = self.bindings(subject, owner)
            if found is None:
                return [None]
            values = [read(one, named) for one in found]
            return [*chain.from_iterable(values)] if named.is_many else values

        return get

    def sampled(self, subject: Subject) -> list[int | None]:
        """The addresses of the textures that a draw reads; one unknown value for all unknown."""
        found, read = self.bindings(subject, "texture"), self.read
        if found is None:
            return [None]
        return [read(one, _ADDRESS) for one in found if read(one, _READS)]

    def program(self, subject: Subject, stage: str) -> Shader | None:
        """The program of a stage; None where a draw has none, or where it was not captured."""
        action = subject.action
        if self.resources is None or action is None:
            return None
        gpuaddr = dict(action.programs).get(stage)
        if gpuaddr is None:
            return None
        return self.resources.shader(action.place.submit, stage, gpuaddr)

    def number(self, stage: str, named: Named) -> Callable[[Subject], int | None]:
        """A function that reads a number of the program of a stage: of ``PROGRAM_NUMBERS``."""
        read = named.read

        def get(subject: Subject) -> int | None:
            program = self.program(subject, stage)
            return None if program is None else read(program)

        return get
