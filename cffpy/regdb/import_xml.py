# SPDX-License-Identifier: MIT
"""Rules-ng XML (Mesa's register descriptions) -> model -> texts, for ``cffpy db import``.

Prose is not imported. What an item's ``variants`` refer to, which rules-ng takes from the item or
from what surrounds it, is worked out here, so that every condition of the model names its varset.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cffpy.descriptions.importing import XmlElement, read_xml, stem, texts_of
from cffpy.regdb.compile import read_directory
from cffpy.regdb.import_subjects import carry_subjects, has_subjects
from cffpy.regdb.model import (
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
    Type,
    Value,
)
from cffpy.regdb.printer import print_description

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
    attributes = node.attributes
    if "pos" in attributes:
        position = node.number("pos")
        return position, position
    if "low" not in attributes and "high" not in attributes:
        return None
    low = node.number("low", None if width is None else 0)
    high = node.number("high", None if width is None else width - 1)
    return low, high


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
    return texts_of(carried.files, _text, ".regs"), carried.unknown


def former_edition(directories: Sequence[str]) -> dict[str, Description]:
    """The first of these editions that says what registers are for; empty where none does."""
    for directory in directories:
        if os.path.isdir(os.path.join(directory, "adreno")):
            files = read_directory(directory)
            if has_subjects(files):
                return files
    return {}


def _text(name: str, description: Description) -> str:
    return (
        "# SPDX-License-Identifier: MIT\n"
        f"# Facts from Mesa's {_ORIGIN}/{name}.xml (MIT), by `cffpy db import`.\n\n"
        f"{print_description(description)}"
    )
