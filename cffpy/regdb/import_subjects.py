# SPDX-License-Identifier: MIT
"""Carries what registers are for (``about``, ``role``, ``engine``) over from an older edition.

Mesa's XML does not have it. A register that was renamed is found again by its offset, another one
by its domain and name; one that another generation has at another offset, by its new name. Fields
likewise: by name, else by their bits. What is new is known by its name alone, as reviewed by hand.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cffpy.regdb.model import (
    NO_SUBJECT,
    Array,
    Bitfield,
    Bitset,
    Condition,
    Declaration,
    Description,
    Domain,
    Element,
    Enum,
    Register,
    Stripe,
    Subject,
    Type,
)

_OTHER = Subject("other", engine="any")
_SCRATCH = Subject(roles=("scratch",))
_SHADERS = Subject("instructions", derived=True, engine="any")
_LINKED = Subject("instructions", derived=True)
_COPY = Subject("other", engine="blit")
_GMEM = Subject("tiles", derived=True, roles=("gmem",))
_TILE = Subject(roles=("tile",))

#: The beginning or whole of a name -> its subject; the first that matches counts.
_NAMES: tuple[tuple[str, Subject], ...] = (
    # the ring, the power controller, counters, debug buses: nothing of a draw
    (r"(CP|RBBM)_", _SCRATCH),
    (r"GBIF_(PERF|PWR)_CNT", _SCRATCH),
    (r"(DBGC|GMU|RSCC)_", Subject("other")),
    (r"UCHE_\w+_BASE$", Subject(engine="any")),
    (r"(UCHE|GBIF)_", _OTHER),
    # bins and GMEM
    (r"VSC_", Subject(roles=("tile",), engine="any")),
    (r"(SP|TPL1)_BIN_SIZE$", _TILE),
    (r"TPL1_A2D_BIN_SIZE$", Subject(roles=("tile",), engine="blit")),
    (r"RB_\w*GMEM_DIMENSION", _GMEM),
    (r"RB_\w+_GMEM_PROTECT$", Subject(roles=("gmem",), engine="any")),
    (r"(VPC|PC)_POS_BUF_GMEM_SIZE$", _LINKED),
    (r"VPC_POS_BUF_GMEM_BASE$", replace(_LINKED, roles=("gmem",))),
    (r"VFD_RENDER_MODE$", Subject("tiles", derived=True)),
    # rasterizer, blending, depth
    (r"GRAS_LRZ_", Subject("lrz", derived=True)),
    (r"GRAS_SC_PROGRAMMABLE_MSAA_POS", Subject("samples")),
    (r"GRAS_RAST_CNTL$", Subject("rasterizer")),
    (r"VPC_FLATSHADE_MODE_CNTL$", Subject("rasterizer")),
    (r"GRAS_\w*DBG_", _OTHER),
    (r"GRAS_", Subject("other")),
    (r"RB_VIEWPORT_ZCLAMP", Subject("viewport")),
    (r"RB_RESOLVE_", _COPY),
    (r"RB_\w*(NC_MODE|DBG|PREFETCH|STATUS)", _OTHER),
    (r"(SP_MRT_BLEND_CNTL|SP_ALPHA_TEST_CNTL)", Subject("blend")),
    # vertices, shaders
    (r"(PC_AUTO_VERTEX_STRIDE|PC_VS_INPUT_CNTL)$", Subject("vertex_input")),
    (r"VFD_CB_", Subject("vertex_input", engine="any")),
    (r"SP_CS_", replace(_SHADERS, engine="dispatch")),
    (r"TPL1_A2D_", replace(_SHADERS, engine="blit")),
    (r"SP_\w*UNKNOWN_", _LINKED),
    (r"(PC|VPC)_\w*(CHICKEN|DBG|CONTEXT_SWITCH)", _SHADERS),
    (r"(PC|VPC)_(UNKNOWN|SO|DGEN|DRAWCALL)_", _LINKED),
    (r"(SP|HLSQ|TPL1)_", _SHADERS),
)
_PATTERNS = tuple((re.compile(pattern), subject) for pattern, subject in _NAMES)

#: Types that say that a register holds an address, and ends of names that do.
_ADDRESS_TYPES = ("address", "waddress")
_ADDRESS_NAME = re.compile(r"_(BASE|ADDR|ADDR_LPAC|ADDR_BV|BASE_LPAC)$")


def subject_of_name(name: str, type_name: str | None, width: int) -> Subject:
    """The subject of a register (``RB_MRT_GMEM_DIMENSION.REG``), or none.

    ``type_name``: its type in the description; ``width``: in bits.
    """
    subjects = (subject for pattern, subject in _PATTERNS if pattern.match(name))
    subject = next(subjects, NO_SUBJECT)
    if subject == NO_SUBJECT:
        return subject
    if type_name in _ADDRESS_TYPES or width == 32 or not _ADDRESS_NAME.search(name):
        return subject
    return replace(subject, roles=(*subject.roles, "address"))


#: The enum of the generations.
_CHIP = "chip"

#: The domains that hold registers of a generation; others are packets and structures in memory.
_REGISTER_SPACE = re.compile(r"A[0-9X]XX")


@dataclass(frozen=True, slots=True)
class Carried:
    """The descriptions with their subjects, and the registers that nothing is known about."""

    files: dict[str, Description]
    #: ``DOMAIN.NAME`` of registers with neither topic nor role, in a space where others have them.
    unknown: tuple[str, ...]


def carry_subjects(new: Mapping[str, Description], old: Mapping[str, Description]) -> Carried:
    """``new`` (files by name) with the subjects of ``old``."""
    carrier = _Carrier(_Registers(new), _Registers(old))
    files = {
        name: Description(tuple(carrier.declaration(one) for one in description.declarations))
        for name, description in new.items()
    }
    return Carried(files, tuple(dict.fromkeys(carrier.unknown)))


def has_subjects(files: Mapping[str, Description]) -> bool:
    """Whether any register of an edition has a topic."""
    return bool(_Registers(files).described)


@dataclass(frozen=True, slots=True)
class _Place:
    # A register, and its absolute offset in dwords (of the first repeat of what it is in).
    register: Register
    offset: int


class _Registers:
    """The registers of an edition by domain and name, and by domain and offset."""

    def __init__(self, files: Mapping[str, Description]) -> None:
        self.by_name: dict[tuple[str, str], list[_Place]] = defaultdict(list)
        self.by_offset: dict[tuple[str, int], list[tuple[str, _Place]]] = defaultdict(list)
        self.bitsets: dict[str, list[Bitfield]] = defaultdict(list)
        #: Domain and name of arrays with a subject.
        self.arrays: dict[tuple[str, str], Subject] = {}
        #: Register spaces in which any register has a topic.
        self.described: set[str] = set()
        #: The generations, in their order.
        self.chips: dict[str, None] = {}
        for description in files.values():
            for declaration in description.declarations:
                if isinstance(declaration, Bitset):
                    self.bitsets[declaration.name].extend(declaration.fields)
                elif isinstance(declaration, Domain):
                    self._add(declaration)
                elif isinstance(declaration, Enum) and declaration.name == _CHIP:
                    self.chips.update(dict.fromkeys(value.name for value in declaration.values))

    def fields(self, kind: Type) -> list[Bitfield]:
        """The fields of a register: its own, and those of its bitset."""
        return [*kind.fields, *self.bitsets.get(kind.name or "", ())]

    def _add(self, domain: Domain) -> None:
        for path, array in _arrays(domain.elements, ""):
            if array.subject != NO_SUBJECT:
                self.arrays.setdefault((domain.name, path), array.subject)
        for path, place in _walk(domain.elements, "", 0):
            self.by_name[domain.name, path].append(place)
            self.by_offset[domain.name, place.offset].append((path, place))
            if place.register.subject.topic is not None and _REGISTER_SPACE.fullmatch(domain.name):
                self.described.add(domain.name)


def _walk(elements: Sequence[Element], prefix: str, base: int) -> Iterator[tuple[str, _Place]]:
    for element in elements:
        match element:
            case Register():
                yield prefix + element.name, _Place(element, base + element.offset)
            case Array() | Stripe():
                start = element.offsets[0] if isinstance(element, Array) else element.offset
                yield from _walk(element.elements, _inner(element, prefix), base + start)


def _arrays(elements: Sequence[Element], prefix: str) -> Iterator[tuple[str, Array]]:
    for element in elements:
        if not isinstance(element, Register):
            if isinstance(element, Array):
                yield prefix + element.name, element
            yield from _arrays(element.elements, _inner(element, prefix))


def _inner(element: Array | Stripe, prefix: str) -> str:
    has_name = isinstance(element, Array) or bool(element.name)
    return f"{prefix}{element.name}." if has_name else prefix


@dataclass
class _Carrier:
    new: _Registers
    old: _Registers
    unknown: list[str] = field(default_factory=list)
    #: Bitset that is new in this edition -> the old fields of the registers that use it.
    _moved: dict[str, list[Bitfield]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for (domain, path), places in self.new.by_name.items():
            for place in places:
                bitset = place.register.type.name
                if bitset in self.new.bitsets and bitset not in self.old.bitsets:
                    former = self._former(domain, path, place.offset, place.register)
                    if former is not None:
                        fields = self.old.fields(former.type)
                        self._moved.setdefault(bitset, []).extend(fields)

    def declaration(self, declaration: Declaration) -> Declaration:
        match declaration:
            case Bitset(name, fields):
                former = self.old.bitsets.get(name) or self._moved.get(name, [])
                return replace(declaration, fields=self._fields(fields, former))
            case Domain(name, elements):
                return replace(declaration, elements=self._elements(elements, name, "", 0))
        return declaration

    def _elements(
        self, elements: Sequence[Element], domain: str, prefix: str, base: int
    ) -> tuple[Element, ...]:
        carried: list[Element] = []
        for element in elements:
            if isinstance(element, Register):
                path = prefix + element.name
                carried.append(self._register(element, domain, path, base + element.offset))
                continue
            start = element.offsets[0] if isinstance(element, Array) else element.offset
            inner = self._elements(element.elements, domain, _inner(element, prefix), base + start)
            if isinstance(element, Array):
                about = self.old.arrays.get((domain, prefix + element.name), element.subject)
                element = replace(element, subject=about)
            carried.append(replace(element, elements=inner))
        return tuple(carried)

    def _register(self, register: Register, domain: str, path: str, offset: int) -> Register:
        former = self._former(domain, path, offset, register)
        subject = register.subject if former is None else former.subject
        if subject == NO_SUBJECT and domain in self.old.described:
            subject = subject_of_name(path, register.type.name, register.width)
            if subject == NO_SUBJECT:
                self.unknown.append(f"{domain}.{path}")
            elif former is None:
                return replace(register, subject=subject)
        if former is None:
            return register
        fields = self._fields(register.type.fields, self.old.fields(former.type))
        return replace(register, subject=subject, type=replace(register.type, fields=fields))

    def _former(self, domain: str, path: str, offset: int, register: Register) -> Register | None:
        """The register of the old edition that this one was, or that one of the same name was.

        In a generation that the old edition does not have, what the name means now tells more than
        what it meant: registers of this name in the generations that both have come first.
        """
        own = (offset, register)
        others = [(place.offset, place.register) for place in self.new.by_name[domain, path]]
        is_newer = self._is_newer(register.condition)
        for there, one in (*others, own) if is_newer else (own, *others):
            if is_newer and one is not register and self._is_newer(one.condition):
                continue
            former = self._same(domain, path, there, one)
            if former is not None:
                return former
        return None

    def _same(self, domain: str, path: str, offset: int, register: Register) -> Register | None:
        """The register of the old edition of this name, else the one at its offset.

        A name that the old edition has at another offset may have been another register's: what
        lies at the offset counts if it has a name that is no longer there. Of a generation that
        the old edition does not describe, an offset tells nothing.
        """
        swapped = self._swapped(domain, path, offset, register)
        if swapped is not None:
            return swapped
        named = self.old.by_name.get((domain, path))
        if named:
            return min(
                named,
                key=lambda one: (
                    one.register.condition != register.condition,
                    abs(one.offset - offset),
                ),
            ).register
        if self._is_newer(register.condition):
            return None
        renamed = [
            place.register
            for former, place in self.old.by_offset.get((domain, offset), ())
            if (domain, former) not in self.new.by_name and place.register.width == register.width
        ]
        same = [one for one in renamed if one.condition == register.condition]
        return next(iter(same or renamed), None)

    def _swapped(self, domain: str, path: str, offset: int, register: Register) -> Register | None:
        """The register that was at this offset under a name that now means another one."""
        if self._is_newer(register.condition):
            return None
        chips = self._chips(register.condition)
        former = [
            (name, place.register)
            for name, place in self.old.by_offset.get((domain, offset), ())
            if chips & self._chips(place.register.condition)
        ]
        now = {name for name, _ in self.new.by_offset[domain, offset]}
        if any(name == path for name, _ in former):
            return None
        gone = [one for name, one in former if name not in now and one.width == register.width]
        return gone[0] if gone else None

    def _chips(self, condition: Condition | None) -> set[str]:
        """The generations of the old edition in which a condition holds."""
        chips = list(self.old.chips)
        if condition is None or condition.varset != _CHIP:
            return set(chips)
        names: set[str] = set()
        for one in condition.ranges:
            first = 0 if one.first is None else _index(chips, one.first, len(chips))
            last = len(chips) - 1 if one.last is None else _index(chips, one.last, len(chips) - 1)
            names.update(chips[first : last + 1])
        return names

    def _is_newer(self, condition: Condition | None) -> bool:
        if condition is None or condition.varset != _CHIP:
            return False
        return not any(one.first in (None, *self.old.chips) for one in condition.ranges)

    def _fields(
        self, fields: Iterable[Bitfield], former: Sequence[Bitfield]
    ) -> tuple[Bitfield, ...]:
        by_name: dict[str, Subject] = {}
        by_bits: dict[tuple[int, int], Subject] = {}
        for one in former:
            by_name.setdefault(one.name, one.subject)
            by_bits.setdefault(_bits(one), one.subject)
        return tuple(
            replace(one, subject=by_name.get(one.name) or by_bits.get(_bits(one), NO_SUBJECT))
            for one in fields
        )


def _index(names: Sequence[str], name: str, missing: int) -> int:
    return names.index(name) if name in names else missing


def _bits(one: Bitfield) -> tuple[int, int]:
    return one.low, one.high
