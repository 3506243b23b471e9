# SPDX-License-Identifier: MIT
"""Mesa's isaspec XML to the instruction-set language: a developer's tool, run on a newer Mesa.

Of encode blocks only forced values are used. What else decoding does not need (doc, meta and the
like) is ignored, so that a full Mesa tree imports as well as one without them. What copies without
encode blocks have lost is added.
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator
from dataclasses import replace

from lark import Lark

from cffpy.errors import IsaError
from cffpy.isa.model import (
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
)
from cffpy.isa.parse import load_grammar, parse, parse_expression
from cffpy.isa.printer import print_file

Element = ElementTree.Element

_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
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
    grammar = load_grammar()
    models = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            models.append(import_text(file.read(), os.path.basename(path), grammar))
    names = {model.name for model in models}
    for model in models:
        for imported in model.imports:
            if imported not in names:
                missing = os.path.splitext(imported)[0] + ".xml"
                name = os.path.splitext(model.name)[0] + ".xml"
                raise IsaError(f"imports {missing}, which is not there", name)
    return {model.name: print_file(model) for model in models}


def import_text(text: str, name: str, grammar: Lark | None = None) -> File:
    """The model of one XML file; ``name`` is its file name."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as problem:
        line, column = problem.position
        raise IsaError(str(problem), name, line, column + 1) from None
    if root.tag != "isa":
        raise IsaError(f"not an isaspec file: its root is <{root.tag}>", name)
    return _Importer(name, grammar or load_grammar()).file(root, _notice(text, name))


def _notice(text: str, name: str) -> str:
    """The copyright notice of the XML, kept as its licence asks."""
    origin = _ORIGIN.format(name)
    found = _COMMENT.search(text)
    if found is None or "Copyright" not in found.group(1):
        return origin
    lines = [line.strip() for line in found.group(1).strip().split("\n")]
    return "\n".join((origin, "", *lines))


def _isa_name(path: str) -> str:
    name = os.path.splitext(path)[0]
    return _RENAMED.get(name, name) + ".isa"


class _Importer:
    """Reads the elements of one file."""

    def __init__(self, name: str, grammar: Lark) -> None:
        self._name = name
        self._grammar = grammar

    def _error(self, message: str) -> IsaError:
        return IsaError(message, self._name)

    def _attribute(self, element: Element, name: str) -> str:
        value = element.get(name)
        if value is None:
            raise self._error(f"<{element.tag}> without {name}: {sorted(element.attrib.items())}")
        return value

    def file(self, root: Element, notice: str) -> File:
        imports = []
        declarations: list[Declaration] = []
        for element in root:
            if element.tag == "import":
                imports.append(_isa_name(self._attribute(element, "file")))
            elif element.tag == "bitset":
                declarations.append(self._bitset(element))
            elif element.tag == "enum":
                declarations.append(self._enum(element))
            elif element.tag == "expr":
                name = self._attribute(element, "name")
                declarations.append(NamedExpression(name, self._tree(element)))
            elif element.tag == "template":
                text = (element.text or "").strip()
                declarations.append(Template(self._attribute(element, "name"), text))
        complete = add_missing(declarations, self._grammar)
        return File(_isa_name(self._name), tuple(imports), tuple(complete), notice)

    def _tree(self, element: Element) -> tuple[object, ...]:
        text = " ".join(_C_COMMENT.sub(" ", element.text or "").split()).removesuffix(";")
        try:
            return parse_expression(text, self._grammar)
        except IsaError as problem:
            raise self._error(f"expression {text!r}: {problem}") from None

    def _expression(self, element: Element) -> Expression | None:
        name = element.get("expr")
        if name is not None:
            return Expression(None, name)
        inline = element.find("expr")
        return None if inline is None else Expression(self._tree(inline))

    def _enum(self, element: Element) -> Enum:
        values = tuple(
            (int(self._attribute(value, "val"), 0), value.get("display", ""))
            for value in element.findall("value")
        )
        return Enum(self._attribute(element, "name"), values)

    def _range(self, element: Element) -> tuple[int, int]:
        position = element.get("pos")
        if position is not None:
            return int(position), int(position)
        return int(self._attribute(element, "low")), int(self._attribute(element, "high"))

    def _pattern(self, element: Element) -> Pattern:
        low, high = self._range(element)
        bits = (element.text or "").strip()
        if len(bits) != high - low + 1:
            raise self._error(f"<{element.tag}> {low}..{high} has {len(bits)} bits")
        return Pattern(low, high, bits)

    def _field(
        self, element: Element, low: int, high: int, value: Expression | None
    ) -> EncodingField:
        parameters = tuple(
            Parameter(self._attribute(p, "name"), p.get("as") or self._attribute(p, "name"))
            for p in element.findall("param")
        )
        return EncodingField(
            self._attribute(element, "name"),
            low,
            high,
            self._type(element),
            element.get("display"),
            parameters,
            value,
            element.get("call") == "true",
        )

    def _type(self, element: Element) -> str:
        """A field's type. What custom fields mean to Mesa's tools is a number here."""
        kind = self._attribute(element, "type")
        return "hex" if kind == "custom" and element.get("name") in _CUSTOM else kind

    def _case(self, element: Element, expression: Expression | None) -> Case:
        display = None
        fields = []
        asserts = []
        patterns = []
        for child in element:
            if child.tag == "display":
                display = (child.text or "").strip()
                for name, mark in _CUSTOM.items():
                    display = display.replace(f"{{{name}}}", f"{mark}{{{name}}}")
            elif child.tag == "field":
                fields.append(self._field(child, *self._range(child), None))
            elif child.tag == "derived":
                value = self._expression(child)
                if value is None:
                    raise self._error(f"derived field {child.get('name')} without expression")
                fields.append(self._field(child, 0, int(child.get("width", "1")) - 1, value))
            elif child.tag == "assert":
                asserts.append(self._pattern(child))
            elif child.tag == "pattern":
                patterns.append(self._pattern(child))
        return Case(expression, display, tuple(fields), tuple(asserts), tuple(patterns))

    def _bitset(self, element: Element) -> Bitset:
        name = self._attribute(element, "name")
        cases = []
        for override in element.findall("override"):
            expression = self._expression(override)
            if expression is None:
                raise self._error(f"override without expression in {name}")
            cases.append(self._case(override, expression))
        cases.append(self._case(element, None))
        size = element.get("size")
        extends = element.get("extends")
        if (size is None) == (extends is None):
            raise self._error(f"bitset {name} needs either a size or a bitset that it extends")
        generation = element.find("gen")
        low, high = ANY_GENERATION
        if generation is not None:
            low = int(generation.get("min", low))
            high = int(generation.get("max", high))
            low = 100 * low if low < _LEAST_GENERATION else low
            high = 100 * high + 99 if high < _LEAST_GENERATION else high
        return Bitset(
            name,
            None if size is None else int(size),
            extends,
            element.get("displayname"),
            (low, high),
            tuple(cases),
            tuple(_presets(element)),
        )


def _presets(element: Element) -> Iterator[Preset]:
    """The values that a bitset's encode block forces; others it computes from Mesa's structures."""
    for forced in element.iterfind("encode/map[@force='true']"):
        value = (forced.text or "").strip()
        if value.isdigit():
            yield Preset(forced.get("name", ""), int(value))


# -- what copies lack -----------------------------------------------------------------------------

# Some copies of isaspec are without encode blocks. They have also lost ``#cat3-src-gpr``, which
# stands between two of them: every plain register as first or third source of category 3 would be
# ``no match``. And they have lost what an encode block forces: DST_OFF of ``stg`` and ``stg.a`` is
# always 1, and no display shows it. A complete Mesa tree imports unchanged.

_CAT3_SOURCE_REGISTER = """
bitset #cat3-src-gpr extends #cat3-src {
    display "{LAST}{HALF}{SRC}";
    field 0..7 SRC : #reg-gpr;
    pattern 8..9 00;
    field 10 LAST : bool "(last)";
    pattern 11..12 00;
}
"""

_PRESETS = {"#instruction-cat6-stg": (Preset("DST_OFF", 1),)}


def add_missing(declarations: list[Declaration], grammar: Lark) -> list[Declaration]:
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
            complete.extend(parse(_CAT3_SOURCE_REGISTER, "supplement", grammar).declarations)
    return complete
