# SPDX-License-Identifier: MIT
"""Mesa's isaspec XML to the instruction-set language: a developer's tool, run on a newer Mesa.

Of encode blocks only forced values are used. What else decoding does not need (doc, meta and the
like) is ignored, so that a full Mesa tree imports as well as one without them. What copies without
encode blocks have lost is added.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from cffpy.descriptions.importing import XmlElement, parse_xml, stem, texts_of
from cffpy.errors import IsaError
from cffpy.isa.language import (
    ANY_GENERATION,
    Bitset,
    Case,
    Declaration,
    EncodingField,
    Enum,
    Expression,
    File,
    NamedExpression,
    Parameter,
    Pattern,
    Preset,
    Template,
    parse_expression,
    parse_text,
    print_file,
)

_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
_C_SUFFIX = re.compile(r"\b(0x[0-9a-fA-F]+|[0-9]+)[uUlL]+\b")
_C_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)

#: Fields that Mesa's own tools print by name -> the mark that the number gets here.
_CUSTOM = {"CONTROLREG": "@0x", "SQEREG": "%0x"}

#: Files that newer Mesa calls otherwise.
_RENAMED = {"qrisc": "afuc"}

#: Generations below are not times 100: those of afuc.xml.
_LEAST_GENERATION = 100
_ORIGIN = "Made from Mesa's {} by `cffpy db import`. SPDX-License-Identifier: MIT"


def import_files(paths: Iterable[str]) -> dict[str, str]:
    """These isaspec files as ``{"ir3-cat2.isa": text}``.

    Raises IsaError with file and what is wrong, also where one imports another that is not given.
    """
    models = []
    for path in paths:
        with open(path, "rb") as file:
            models.append(import_text(file.read(), os.path.basename(path)))
    names = {model.name for model in models}
    for model in models:
        for imported in model.imports:
            if imported not in names:
                missing = stem(imported) + ".xml"
                name = stem(model.name) + ".xml"
                raise IsaError(f"imports {missing}, which is not there", name)
    by_name = {stem(model.name): model for model in models}
    return texts_of(by_name, print_file, ".isa", failure=IsaError)


def import_text(content: bytes, name: str) -> File:
    """The model of one XML file; ``name`` is its file name."""
    root = parse_xml(content, name, failure=IsaError)
    if root.tag != "isa":
        raise root.error("not an isaspec file")
    notice = _notice(content.decode("utf-8", "replace"), name)
    return _Importer(name).file(root, notice)


def _notice(text: str, name: str) -> str:
    """The copyright notice of the XML, kept as its licence asks."""
    origin = _ORIGIN.format(name)
    match = _COMMENT.search(text)
    if match is None or "Copyright" not in match.group(1):
        return origin
    lines = [line.strip() for line in match.group(1).strip().split("\n")]
    return "\n".join((origin, "", *lines))


def _isa_name(path: str) -> str:
    name = stem(path)
    return _RENAMED.get(name, name) + ".isa"


class _Importer:
    """Reads the elements of one file."""

    def __init__(self, name: str) -> None:
        self._name = name

    def file(self, root: XmlElement, notice: str) -> File:
        imports = []
        declarations: list[Declaration] = []
        for element in root.children:
            if element.tag == "import":
                imports.append(_isa_name(element.required("file")))
            elif element.tag == "bitset":
                declarations.append(self._bitset(element))
            elif element.tag == "enum":
                declarations.append(self._enum(element))
            elif element.tag == "expr":
                name = element.required("name")
                declarations.append(NamedExpression(name, self._tree(element)))
            elif element.tag == "template":
                text = element.text.strip()
                declarations.append(Template(element.required("name"), text))
        complete = add_missing(declarations)
        return File(_isa_name(self._name), tuple(imports), tuple(complete), notice)

    def _tree(self, element: XmlElement) -> tuple[object, ...]:
        text = " ".join(_C_COMMENT.sub(" ", element.text).split()).removesuffix(";")
        try:
            return parse_expression(_C_SUFFIX.sub(r"\1", text))
        except IsaError as problem:
            raise element.error(f"{text!r}: {problem}") from None

    def _expression(self, element: XmlElement) -> Expression | None:
        name = element.attributes.get("expr")
        if name is not None:
            return Expression(None, name)
        inline = element.all("expr")
        return Expression(self._tree(inline[0])) if inline else None

    def _enum(self, element: XmlElement) -> Enum:
        values = tuple(
            (value.number("val"), value.attributes.get("display", ""))
            for value in element.all("value")
        )
        return Enum(element.required("name"), values)

    def _pattern(self, element: XmlElement) -> Pattern:
        low, high = element.bits()
        bits = element.text.strip()
        if len(bits) != high - low + 1:
            raise element.error(f"{low}..{high} has {len(bits)} bits")
        return Pattern(low, high, bits)

    def _field(
        self, element: XmlElement, low: int, high: int, value: Expression | None
    ) -> EncodingField:
        parameters = tuple(
            Parameter(p.required("name"), p.attributes.get("as") or p.required("name"))
            for p in element.all("param")
        )
        return EncodingField(
            element.required("name"),
            low,
            high,
            self._type(element),
            element.attributes.get("display"),
            parameters,
            value,
            element.attributes.get("call") == "true",
        )

    def _type(self, element: XmlElement) -> str:
        """A field's type. What custom fields mean to Mesa's tools is a number here."""
        kind = element.required("type")
        return "hex" if kind == "custom" and element.attributes.get("name") in _CUSTOM else kind

    def _case(self, element: XmlElement, expression: Expression | None) -> Case:
        display = None
        fields = []
        asserts = []
        patterns = []
        for child in element.children:
            if child.tag == "display":
                display = child.text.strip()
                for name, mark in _CUSTOM.items():
                    display = display.replace(f"{{{name}}}", f"{mark}{{{name}}}")
            elif child.tag == "field":
                fields.append(self._field(child, *child.bits(), None))
            elif child.tag == "derived":
                value = self._expression(child)
                if value is None:
                    raise child.error(f"{child.required('name')} has no expression")
                fields.append(self._field(child, 0, child.number("width", 1) - 1, value))
            elif child.tag == "assert":
                asserts.append(self._pattern(child))
            elif child.tag == "pattern":
                patterns.append(self._pattern(child))
        return Case(expression, display, tuple(fields), tuple(asserts), tuple(patterns))

    def _bitset(self, element: XmlElement) -> Bitset:
        cases = []
        for override in element.all("override"):
            expression = self._expression(override)
            if expression is None:
                raise override.error("no expression")
            cases.append(self._case(override, expression))
        cases.append(self._case(element, None))
        size, extends = element.optional_number("size"), element.attributes.get("extends")
        if (size is None) == (extends is None):
            raise element.error("needs either a size or a bitset that it extends")
        low, high = ANY_GENERATION
        for generation in element.all("gen")[:1]:
            low, high = generation.number("min", low), generation.number("max", high)
            low = 100 * low if low < _LEAST_GENERATION else low
            high = 100 * high + 99 if high < _LEAST_GENERATION else high
        return Bitset(
            element.required("name"),
            size,
            extends,
            element.attributes.get("displayname"),
            (low, high),
            tuple(cases),
            tuple(_presets(element)),
        )


def _presets(element: XmlElement) -> Iterator[Preset]:
    """The values that a bitset's encode block forces; others it computes from Mesa's structures."""
    for encode in element.all("encode"):
        for forced in encode.all("map"):
            value = forced.text.strip()
            if forced.attributes.get("force") == "true" and value.isdigit():
                yield Preset(forced.required("name"), int(value))


# -- what copies lack -----------------------------------------------------------------------------

# Some copies of isaspec are without encode blocks. They have also lost ``#cat3-src-gpr``, which
# stands between two of them: every plain register as first or third source of category 3 would be
# ``no match``. And they have lost what an encode block forces: DST_OFF of ``stg`` and ``stg.a`` is
# always 1, and no display shows it. A complete Mesa tree imports unchanged.

_CAT3_SOURCE_REGISTER = """
bitset "#cat3-src-gpr" extends "#cat3-src" {
    display "{LAST}{HALF}{SRC}"
    0..7 SRC : "#reg-gpr"
    pattern 8..9 00
    10 LAST : bool "(last)"
    pattern 11..12 00
}
"""

_PRESETS = {"#instruction-cat6-stg": (Preset("DST_OFF", 1),)}


def add_missing(declarations: list[Declaration]) -> list[Declaration]:
    """``declarations`` with the known omissions filled, a bitset right after its root."""
    names = {declaration.name for declaration in declarations}
    complete: list[Declaration] = []
    for declaration in declarations:
        if isinstance(declaration, Bitset) and not declaration.presets:
            presets = _PRESETS.get(declaration.name, ())
            declaration = replace(declaration, presets=presets)
        complete.append(declaration)
        if (
            isinstance(declaration, Bitset)
            and declaration.name == "#cat3-src"
            and "#cat3-src-gpr" not in names
        ):
            complete.extend(parse_text(_CAT3_SOURCE_REGISTER, "supplement").declarations)
    return complete
