# SPDX-License-Identifier: MIT
"""Reads an XML file into elements that know their line, for messages of the importers.

ElementTree keeps no line numbers, so this builds its own small tree with expat.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from cffpy.errors import RegisterDbError

_MAX_DEPTH = 32


@dataclass(slots=True)
class XmlElement:
    """One element: tag without namespace prefix, attributes, child elements, place."""

    tag: str
    attributes: Mapping[str, str]
    file: str
    line: int
    children: list[XmlElement] = field(default_factory=list)

    def error(self, message: str) -> RegisterDbError:
        """An error that names this element's file and line."""
        return RegisterDbError(f"<{self.tag}>: {message}", self.file, self.line)


def read_xml(path: str, deepest: int = _MAX_DEPTH) -> XmlElement:
    """The root element of the file. Raises RegisterDbError for XML that is not well-formed."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    root = XmlElement("", {}, path, 0)
    open_elements = [root]

    def start(tag: str, attributes: dict[str, str]) -> None:
        line = parser.CurrentLineNumber
        if len(open_elements) > deepest:
            raise RegisterDbError(f"elements nested more than {deepest} deep", path, line)
        element = XmlElement(tag.rpartition(":")[2], attributes, path, line)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def end(_tag: str) -> None:
        open_elements.pop()

    def entity(name: str, *_rest: object) -> None:
        message = f"entity '{name}' declared; descriptions need none"
        raise RegisterDbError(message, path, parser.CurrentLineNumber)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.EntityDeclHandler = entity
    try:
        with open(path, "rb") as opened:
            parser.ParseFile(opened)
    except expat.ExpatError as problem:
        message = f"not well-formed XML: {expat.ErrorString(problem.code)}"
        raise RegisterDbError(message, path, problem.lineno, problem.offset + 1) from None
    return root.children[0]


def stem(path: str) -> str:
    """File name without folder and extension: ``adreno/a6xx.xml`` -> ``a6xx``."""
    return os.path.splitext(os.path.basename(path))[0]
