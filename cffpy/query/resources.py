# SPDX-License-Identifier: MIT
"""What draws use, in filters: facts of bindings, fields of descriptors, numbers of programs.

``texture.FMT`` is the field FMT of each texture that a draw uses, ``texture.format`` a fact of it,
``bound_texture.FMT`` the field of each that it has bound, ``draw.shaders.FS.instructions`` a number
of the program of a stage. All are known for the program's draws.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from cffpy.capture.gpu import generation_of
from cffpy.errors import FilterError
from cffpy.frame.binding import DESCRIPTORS, Binding
from cffpy.frame.faces import names
from cffpy.frame.facts import model_of
from cffpy.frame.shader import Shader
from cffpy.query.names import converter, nearest
from cffpy.regdb import rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cffpy.frame.binding import BindingKind
    from cffpy.frame.faces import Named
    from cffpy.query.names import Convert
    from cffpy.query.properties import Subject
    from cffpy.query.state_names import DrawnState
    from cffpy.query.syntax import Path
    from cffpy.regdb.database import Database

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

    def drawn_state(self) -> DrawnState | None:
        """What instructions have set at the draws; None where nothing is known."""
        found = self.resources
        return None if found is None else found.drawn_state()

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
        return self.resources.shader(action.place.submit.submit, stage, gpuaddr)

    def number(self, stage: str, named: Named) -> Callable[[Subject], int | None]:
        """A function that reads a number of the program of a stage: of ``PROGRAM_NUMBERS``."""
        read = named.read

        def get(subject: Subject) -> int | None:
            program = self.program(subject, stage)
            return None if program is None else read(program)

        return get
