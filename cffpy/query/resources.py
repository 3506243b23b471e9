# SPDX-License-Identifier: MIT
"""What draws use, in filters: fields of descriptors, and statistics of shaders.

``texture.FMT`` is the field FMT of each texture that a draw uses, ``bound_texture.FMT`` of each
that it has bound, ``draw.shaders.FS.instructions`` a number of the program of a stage. All are
known for the program's draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from cffpy.capture.generations import generation_of
from cffpy.errors import FilterError
from cffpy.query.names import converter, nearest
from cffpy.regdb import rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cffpy.isa.statistics import Statistics
    from cffpy.query.names import Convert
    from cffpy.query.properties import Subject
    from cffpy.regdb.database import Database

#: Kinds of descriptors that names in filters begin with: those that draws use.
KINDS = ("texture", "sampler", "storage")

#: What names begin with -> the kind, and whether only those count that draws use.
OWNERS = {
    **{kind: (kind, True) for kind in KINDS},
    **{f"bound_{kind}": (kind, False) for kind in KINDS},
}

#: Numbers of ``Statistics`` by the names of ``cffpy disasm``.
_STATISTICS = (
    "instr", "nops", "non_nops", "mov", "cov", "last_baryf", "half_registers", "full_registers",
    "constlen", "sstall", "ss", "sy",
)  # fmt: skip
_CATEGORIES = tuple(f"cat{number}" for number in range(8))


class Program(Protocol):
    """A shader program."""

    @property
    def instructions(self) -> int:
        """How many it has."""

    @property
    def code(self) -> bytes:
        """Its bytes."""

    @property
    def statistics(self) -> Statistics | None:
        """None on a2xx."""


class Descriptor(Protocol):
    """A descriptor that a draw has bound: see ``BoundDescriptor``."""

    @property
    def gpuaddr(self) -> int | None:
        """Where the image or buffer that it describes begins."""

    @property
    def stage(self) -> str | None:
        """The stage that a packet loaded it for."""

    @property
    def set(self) -> int | None:
        """The number of its bindless set."""

    @property
    def slot(self) -> int:
        """Its index in the stage or the set."""

    @property
    def data(self) -> bytes | memoryview[int] | None:
        """Its bytes; None where they were not captured."""

    @property
    def enabled(self) -> bool | None:
        """Whether registers enable its slot; None where none says so."""

    @property
    def used(self) -> bool:
        """Whether the draw uses it, or may use it."""

    @property
    def reads(self) -> bool:
        """Whether the draw reads the memory, or may do so."""

    @property
    def writes(self) -> bool:
        """Whether the draw writes the memory, or may do so."""


class Resources(Protocol):
    """What the draws of a capture use. It is computed when it is first asked for."""

    def descriptors(
        self, order: int, kind: str, only_used: bool = True
    ) -> Sequence[Descriptor] | None:
        """Those of the program's draw with this ``Action.order``; None where nothing is known."""

    def shader(self, submit: int, stage: str, gpuaddr: int) -> Program | None:
        """The program at an address; None where none was captured."""


class DescriptorField(NamedTuple):
    """A field of a descriptor: its dword, and its type; ``convert`` takes the dword."""

    dword: int
    type_row: rows.TypeRow
    kind: str
    convert: Convert

    def value(self, bound: Descriptor) -> int | float | bool | None:
        """The value; None where the descriptor was not captured."""
        data = bound.data
        if data is None or len(data) < 4 * self.dword + 4:
            return None
        return self.convert(int.from_bytes(data[4 * self.dword : 4 * self.dword + 8], "little"))


def descriptor_field(database: Database, kind: str, name: str, column: int) -> DescriptorField:
    """A field of the descriptors of a kind. Raises FilterError with the nearest names."""
    chip = database.chip.lower()
    domain = generation_of(int(chip[1])).descriptors.get(kind, ("", 0))[0]
    known = dict(_fields(database, domain))
    if not known:
        raise FilterError(f"{chip} has no {kind} descriptors", "", 1, column)
    found = known.get(name) or known.get(name.upper())
    if found is None:
        near = nearest(name, [*known, *PLACES])
        message = f"{kind} descriptors of {chip} have no field {name}{near}"
        raise FilterError(message, "", 1, column + len(kind) + 1)
    return DescriptorField(*found, *converter(found[1]))


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


#: Properties of descriptors that are no fields: name -> what it is compared as, and its value.
PLACES: dict[str, tuple[str, Callable[[Descriptor], Any]]] = {
    "address": ("number", lambda bound: bound.gpuaddr),
    "stage": ("text", lambda bound: bound.stage),
    "set": ("number", lambda bound: bound.set),
    "slot": ("number", lambda bound: bound.slot),
    "enabled": ("bool", lambda bound: bound.enabled),
    "used": ("bool", lambda bound: bound.used),
    "reads": ("bool", lambda bound: bound.reads),
    "writes": ("bool", lambda bound: bound.writes),
}


def statistic(name: str) -> Callable[[Program], int | None]:
    """A function that reads one of ``STATISTICS`` of a program."""
    if name == "instructions":
        return lambda program: program.instructions
    if name == "bytes":
        return lambda program: len(program.code)
    if name in _CATEGORIES:
        return _of_statistics(lambda found: found.categories[_CATEGORIES.index(name)])
    attribute = name.removesuffix("_registers")
    return _of_statistics(lambda found: getattr(found, attribute))


#: All names of ``statistic``.
STATISTICS = ("instructions", "bytes", *_STATISTICS, *_CATEGORIES)


def _of_statistics(read: Callable[[Statistics], int]) -> Callable[[Program], int | None]:
    return lambda program: None if program.statistics is None else read(program.statistics)


class Uses:
    """Reads what a subject uses, of the capture that a filter is asked about."""

    def __init__(self) -> None:
        #: None: nothing is known.
        self.resources: Resources | None = None

    def descriptors(self, subject: Subject, owner: str) -> Sequence[Descriptor] | None:
        """The descriptors of a draw; None where they are not known. ``owner``: of ``OWNERS``."""
        action, found_pass = subject.action, subject.found_pass
        if self.resources is None or action is None or found_pass is None:
            return None
        number = action.number
        if number is None or number >= len(found_pass.draws):
            return None
        # each execution of a draw uses what the recorded one does
        order = found_pass.draws[number].order
        return self.resources.descriptors(order, *OWNERS[owner])

    def values(
        self, owner: str, read: Callable[[Descriptor], Any]
    ) -> Callable[[Subject], list[Any]]:
        """A function that reads a value of each descriptor; one unknown value for all unknown."""

        def get(subject: Subject) -> list[Any]:
            found = self.descriptors(subject, owner)
            return [None] if found is None else [read(one) for one in found]

        return get

    def sampled(self, subject: Subject) -> list[int | None]:
        """The addresses of the textures that a draw reads; one unknown value for all unknown."""
        found = self.descriptors(subject, "texture")
        return [None] if found is None else [one.gpuaddr for one in found if one.reads]

    def program(self, subject: Subject, stage: str) -> Program | None:
        """The program of a stage; None where a draw has none, or where it was not captured."""
        action = subject.action
        if self.resources is None or action is None:
            return None
        gpuaddr = dict(action.programs).get(stage)
        if gpuaddr is None:
            return None
        return self.resources.shader(action.place.submit.submit, stage, gpuaddr)

    def number(self, stage: str, name: str) -> Callable[[Subject], int | None]:
        """A function that reads a number of the program of a stage: one of ``STATISTICS``."""
        read = statistic(name)

        def get(subject: Subject) -> int | None:
            program = self.program(subject, stage)
            return None if program is None else read(program)

        return get
