# SPDX-License-Identifier: MIT
"""Rules-ng XML (Mesa's register descriptions) -> model -> texts, for ``cffpy db import``.

Prose is not imported. What an item's ``variants`` refer to, which rules-ng takes from the item or
from what surrounds it, is worked out here, so that every condition of the model names its varset.

Mesa's XML does not say what registers are for (``about``, ``role``, ``engine``):
``carry_subjects`` takes it from an older edition. A register that was renamed is recognised by its
offset, another by its domain and name, or, where another generation has it at another offset, by
its new name. Fields likewise: by name, else by their bits. What is new is known by its name alone,
as reviewed by hand.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cffpy.descriptions.importing import XmlElement, read_xml, stem, texts_of
from cffpy.regdb.compile import read_directory
from cffpy.regdb.language import (
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
    Import,
    Range,
    Register,
    Stripe,
    Subject,
    Type,
    Value,
    print_description,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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
        name: Description(
            tuple(carrier.declaration(declaration) for declaration in description.declarations)
        )
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
        """The fields of a register: its own, and its bitset's."""
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
        """What this register was in the old edition, or what another register of its name was.

        In a generation that the old edition does not have, what the name means now tells more than
        what it meant: registers of this name in the generations that both have come first.
        """
        own = (offset, register)
        others = [(other.offset, other.register) for other in self.new.by_name[domain, path]]
        is_newer = self._is_newer(register.condition)
        for place, candidate in (*others, own) if is_newer else (own, *others):
            if is_newer and candidate is not register and self._is_newer(candidate.condition):
                continue
            former = self._same(domain, path, place, candidate)
            if former is not None:
                return former
        return None

    def _same(self, domain: str, path: str, offset: int, register: Register) -> Register | None:
        """The register of the old edition of this name, else the register at its offset.

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
                key=lambda candidate: (
                    candidate.register.condition != register.condition,
                    abs(candidate.offset - offset),
                ),
            ).register
        if self._is_newer(register.condition):
            return None
        renamed = [
            place.register
            for former, place in self.old.by_offset.get((domain, offset), ())
            if (domain, former) not in self.new.by_name and place.register.width == register.width
        ]
        same = [candidate for candidate in renamed if candidate.condition == register.condition]
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
        gone = [
            candidate
            for name, candidate in former
            if name not in now and candidate.width == register.width
        ]
        return gone[0] if gone else None

    def _chips(self, condition: Condition | None) -> set[str]:
        """The generations of the old edition in which a condition holds."""
        chips = list(self.old.chips)
        if condition is None or condition.varset != _CHIP:
            return set(chips)
        names: set[str] = set()
        for span in condition.ranges:
            first = 0 if span.first is None else _index(chips, span.first, len(chips))
            last = len(chips) - 1 if span.last is None else _index(chips, span.last, len(chips) - 1)
            names.update(chips[first : last + 1])
        return names

    def _is_newer(self, condition: Condition | None) -> bool:
        if condition is None or condition.varset != _CHIP:
            return False
        return not any(span.first in (None, *self.old.chips) for span in condition.ranges)

    def _fields(
        self, fields: Iterable[Bitfield], former: Sequence[Bitfield]
    ) -> tuple[Bitfield, ...]:
        by_name: dict[str, Subject] = {}
        by_bits: dict[tuple[int, int], Subject] = {}
        for bitfield in former:
            by_name.setdefault(bitfield.name, bitfield.subject)
            by_bits.setdefault(_bit_range(bitfield), bitfield.subject)
        return tuple(
            replace(
                bitfield,
                subject=by_name.get(bitfield.name) or by_bits.get(_bit_range(bitfield), NO_SUBJECT),
            )
            for bitfield in fields
        )


def _index(names: Sequence[str], name: str, missing: int) -> int:
    return names.index(name) if name in names else missing


def _bit_range(bitfield: Bitfield) -> tuple[int, int]:
    return bitfield.low, bitfield.high


_PROSE = frozenset({"doc", "brief", "author", "copyright", "license", "nick", "title", "b", "ul"})
_VARIANTS = frozenset({"prefix", "varset", "variants"})
_BITS = frozenset({"low", "high", "pos"})
_TYPE = _BITS | {"type", "shr", "radix", "align", "addvariant", "min", "max"}
_REGISTER = frozenset({"name", "offset", "length", "stride", "usage", "access"})

# The attributes that each element may have. Those that do not affect decoding are ignored.
_ATTRIBUTES: Mapping[str, frozenset[str]] = {
    "import": frozenset({"file"}),
    "group": frozenset({"name"}) | _VARIANTS,
    "use-group": frozenset({"name", "ref"}) | _VARIANTS,
    "enum": frozenset({"name", "inline", "bare"}) | _VARIANTS,
    "value": frozenset({"name", "value"}) | _VARIANTS,
    "bitset": frozenset({"name", "inline", "bare"}) | _VARIANTS,
    "bitfield": frozenset({"name"}) | _TYPE | _VARIANTS,
    "domain": frozenset({"name", "width", "bare", "size"}) | _VARIANTS,
    "reg32": _REGISTER | _TYPE | _VARIANTS,
    "reg64": _REGISTER | _TYPE | _VARIANTS,
    "array": _REGISTER | _VARIANTS | {"offsets", "doffset", "doffsets", "index"},
    "stripe": _REGISTER | _VARIANTS,
}

_RANGE = re.compile(r"(?P<single>[^-:]+)|(?P<first>[^-:]+)?-(?P<last>[^-:]+)?")
_MAX_GROUPS = 8


@dataclass(frozen=True, slots=True)
class _Scope:
    # What the variants of an item's children refer to.
    prefix_enum: str | None = None
    varset: str | None = None


@dataclass(slots=True)
class _Importer:
    files: frozenset[str]
    enums: frozenset[str]
    groups: Mapping[str, XmlElement]
    hoisted: list[Declaration] = field(default_factory=list)

    def description(self, root: XmlElement) -> Description:
        declarations: list[Declaration] = []
        for node in _children(root):
            match node.tag:
                case "import":
                    name = stem(node.required("file"))
                    if name in self.files:
                        declarations.append(Import(name, node.line))
                case "enum":
                    declarations.append(self.enum(node))
                case "bitset":
                    declarations.append(self.bitset(node, _Scope()))
                case "domain":
                    domain = self.domain(node)
                    declarations.extend(self.hoisted)
                    self.hoisted.clear()
                    declarations.append(domain)
                case "group":
                    pass  # written where it is used
                case _:
                    raise node.error("not supported here")
        return Description(tuple(declarations))

    def enum(self, node: XmlElement) -> Enum:
        scope = self.scope(node, _Scope())
        values = []
        for child in _children(node):
            if child.tag != "value":
                raise child.error("not supported inside <enum>")
            values.append(self.value(child, scope))
        condition = _condition(node, scope)
        return Enum(_name(node), tuple(values), node.flag("inline"), condition, node.line)

    def value(self, node: XmlElement, parent: _Scope) -> Value:
        scope = self.scope(node, parent)
        number = node.number("value") if "value" in node.attributes else None
        return Value(_name(node), number, _condition(node, scope), node.line)

    # The variants of an inline bitset's fields are read where the bitset is used; ``around`` is
    # the scope of the domain that it is declared in, and that its users are in.
    def bitset(self, node: XmlElement, around: _Scope) -> Bitset:
        scope = self.scope(node, around if node.flag("inline") else _Scope())
        fields, values = self.type_body(node, scope)
        if values:
            raise node.error("a bitset holds bitfields, no values")
        condition = _condition(node, scope)
        return Bitset(_name(node), fields, node.flag("inline"), condition, node.line)

    def field(self, node: XmlElement, parent: _Scope) -> Bitfield:
        scope = self.scope(node, parent)
        bits = _bits(node, None)
        if bits is None:
            raise node.error("needs low and high, or pos")
        condition = _condition(node, scope)
        return Bitfield(_name(node), *bits, self.type(node, scope), condition, node.line)

    def type(self, node: XmlElement, scope: _Scope) -> Type:
        fields, values = self.type_body(node, scope)
        return Type(
            node.attributes.get("type"),
            node.number("shr", 0),
            node.number("radix", 0),
            node.number("align", 0),
            node.flag("addvariant"),
            fields,
            values,
        )

    def type_body(
        self, node: XmlElement, scope: _Scope
    ) -> tuple[tuple[Bitfield, ...], tuple[Value, ...]]:
        fields: list[Bitfield] = []
        values: list[Value] = []
        for child in _children(node):
            match child.tag:
                case "bitfield":
                    fields.append(self.field(child, scope))
                case "value":
                    values.append(self.value(child, scope))
                case _:
                    self.hoist(child, node, scope)
        return tuple(fields), tuple(values)

    # A type declared inside something else is known everywhere; it goes before its domain.
    def hoist(self, node: XmlElement, parent: XmlElement, scope: _Scope) -> None:
        match node.tag:
            case "enum":
                self.hoisted.append(self.enum(node))
            case "bitset":
                self.hoisted.append(self.bitset(node, scope))
            case _:
                raise node.error(f"not supported inside <{parent.tag}>")

    def domain(self, node: XmlElement) -> Domain:
        scope = self.scope(node, _Scope())
        elements = self.elements(node, scope, 0)
        width = node.number("width", 8)
        return Domain(_name(node), elements, width, _condition(node, scope), node.line)

    def elements(self, node: XmlElement, scope: _Scope, groups: int) -> tuple[Element, ...]:
        elements: list[Element] = []
        for child in _children(node):
            match child.tag:
                case "reg32" | "reg64":
                    elements.append(self.register(child, scope))
                case "array":
                    elements.append(self.array(child, scope, groups))
                case "stripe":
                    elements.append(self.stripe(child, scope, groups))
                case "use-group":
                    elements.append(self.use_group(child, scope, groups + 1))
                case _:
                    self.hoist(child, node, scope)
        return tuple(elements)

    def register(self, node: XmlElement, parent: _Scope) -> Register:
        scope = self.scope(node, parent)
        width = 64 if node.tag == "reg64" else 32
        return Register(
            _name(node),
            node.number("offset"),
            width,
            _bits(node, width),
            self.type(node, scope),
            node.number("length", 1),
            node.number("stride", 0),
            _usage(node),
            node.attributes.get("access"),
            _condition(node, scope),
            node.line,
        )

    def array(self, node: XmlElement, parent: _Scope, groups: int) -> Array:
        scope = self.scope(node, parent)
        if "offsets" in node.attributes:
            texts = _listed(node.attributes["offsets"])
            offsets = tuple(node.parsed("offsets", text) for text in texts)
            if not offsets:
                raise node.error("empty list of offsets")
        else:
            offsets = (node.number("offset"),)
        return Array(
            node.attributes.get("name", ""),
            offsets,
            node.number("length", len(offsets)),
            node.number("stride", 0),
            node.attributes.get("index"),
            _usage(node),
            _condition(node, scope),
            self.elements(node, scope, groups),
            node.line,
        )

    def stripe(self, node: XmlElement, parent: _Scope, groups: int) -> Stripe:
        scope = self.scope(node, parent)
        return Stripe(
            node.attributes.get("name"),
            node.number("offset", 0),
            node.number("length", 1),
            node.number("stride", 0),
            _condition(node, scope),
            self.elements(node, scope, groups),
            node.line,
        )

    def use_group(self, node: XmlElement, parent: _Scope, groups: int) -> Stripe:
        name = node.attributes.get("name") or node.attributes.get("ref", "")
        group = self.groups.get(name)
        if group is None:
            raise node.error(f"no group '{name}'")
        if groups > _MAX_GROUPS:
            raise node.error(f"groups in groups, more than {_MAX_GROUPS} deep")
        scope = self.scope(group, self.scope(node, parent))
        elements = self.elements(group, scope, groups)
        return Stripe(None, condition=_condition(node, scope), elements=elements, line=node.line)

    def scope(self, node: XmlElement, parent: _Scope) -> _Scope:
        prefix_enum = parent.prefix_enum
        prefix = node.attributes.get("prefix")
        if prefix is not None:
            prefix_enum = prefix if prefix in self.enums else None
        varset = node.attributes.get("varset")
        if varset is None and prefix_enum is None:
            varset = parent.varset
        return _Scope(prefix_enum, varset)


def import_files(paths: Sequence[str]) -> dict[str, Description]:
    """The model of each XML file, by its name without extension, in the order of ``paths``.

    Files without declarations (a copyright notice) are left out, and so are imports of files that
    are not among ``paths``. Raises RegisterDbError with file and line.
    """
    roots = {stem(path): read_xml(path) for path in paths}
    for root in roots.values():
        if root.tag != "database":
            raise root.error("a rules-ng file starts with <database>")
    useful = {name: root for name, root in roots.items() if next(_children(root), None)}
    everything = [node for root in useful.values() for node in _descendants(root)]
    enums = frozenset(_name(node) for node in everything if node.tag == "enum")
    groups = {_name(node): node for node in everything if node.tag == "group"}
    importer = _Importer(frozenset(useful), enums, groups)
    return {name: importer.description(root) for name, root in useful.items()}


def _children(node: XmlElement) -> Iterator[XmlElement]:
    for child in node.children:
        if child.tag in _PROSE:
            continue
        child.check(_ATTRIBUTES)
        yield child


def _descendants(node: XmlElement) -> Iterator[XmlElement]:
    for child in _children(node):
        yield child
        yield from _descendants(child)


def _condition(node: XmlElement, scope: _Scope) -> Condition | None:
    variants = node.attributes.get("variants")
    if variants is None:
        return None
    varset = scope.varset or scope.prefix_enum
    if varset is None:
        raise node.error("variants without a varset")
    ranges = []
    for text in _listed(variants):
        match = _RANGE.fullmatch(text)
        if match is None or text == "-":
            raise node.error(f"range of variants '{text}' not understood")
        if match["single"] is not None:
            ranges.append(Range(text, text))
        else:
            ranges.append(Range(match["first"], match["last"]))
    if not ranges:
        raise node.error("empty list of variants")
    return Condition(varset, tuple(ranges))


def _name(node: XmlElement) -> str:
    name = node.required("name")
    if any(ord(character) < 32 for character in name):
        raise node.error(f"name with a control character: {name!r}")
    return name


def _bits(node: XmlElement, width: int | None) -> tuple[int, int] | None:
    return node.bits(width) if node.attributes.keys() & {"pos", "low", "high"} else None


def _usage(node: XmlElement) -> tuple[str, ...]:
    return tuple(_listed(node.attributes.get("usage", "")))


def _listed(text: str) -> list[str]:
    return [part for part in re.split(r"[,\s]+", text) if part]


_ORIGIN = "src/freedreno/registers/adreno"


def register_texts(
    paths: Sequence[str], former: Mapping[str, Description]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """These XML files as ``{"a6xx.regs": text}``, and the registers that need an ``about``.

    What registers are for comes from ``former``, the edition that is replaced. Raises
    RegisterDbError with file and line.
    """
    carried = carry_subjects(import_files(paths), former)
    texts = texts_of(
        carried.files, print_description, ".regs", lambda name: f"{_ORIGIN}/{name}.xml"
    )
    return texts, carried.unknown


def former_edition(directories: Sequence[str]) -> dict[str, Description]:
    """The first of these editions that says what registers are for; empty where none does."""
    for directory in directories:
        folder = os.path.join(directory, "adreno")
        if not os.path.isdir(folder):
            continue
        if any(name.endswith(".regs") for name in os.listdir(folder)):
            files = read_directory(directory)
            if has_subjects(files):
                return files
    return {}
