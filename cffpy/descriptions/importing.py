# SPDX-License-Identifier: MIT
"""What the importers of Mesa's XML share: elements that know their line, texts, files.

ElementTree keeps no line numbers, so this builds its own small tree with expat.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from xml.parsers import expat

from cffpy.descriptions import MAX_NUMBER
from cffpy.errors import DslError, RegisterDbError
from cffpy.output_files import written_file

_MAX_DEPTH = 32

_Model = TypeVar("_Model")


@dataclass(slots=True)
class XmlElement:
    """One element: tag without namespace prefix, attributes, child elements, place.

    ``text``: what stands before the first child. ``failure``: what problems are raised as.
    """

    tag: str
    attributes: Mapping[str, str]
    file: str
    line: int
    failure: type[DslError] = RegisterDbError
    text: str = ""
    children: list[XmlElement] = field(default_factory=list)

    def error(self, message: str) -> DslError:
        """An error that names this element's file and line."""
        return self.failure(f"<{self.tag}>: {message}", self.file, self.line)

    def all(self, tag: str) -> list[XmlElement]:
        """The children with this tag."""
        return [child for child in self.children if child.tag == tag]

    def check(self, known: Mapping[str, Collection[str]]) -> None:
        """Raise the error for a tag or an attribute that is not ``known`` (tag -> attributes)."""
        attributes = known.get(self.tag)
        if attributes is None:
            raise self.error("unknown element")
        for name in self.attributes:
            if name not in attributes:
                raise self.error(f"unknown attribute '{name}'")

    def required(self, attribute: str) -> str:
        """The text of an attribute. Raises the error where it is missing."""
        text = self.attributes.get(attribute)
        if text is None:
            raise self.error(f"needs the attribute '{attribute}'")
        return text

    def number(self, attribute: str, default: int | None = None) -> int:
        """A number of up to 64 bits; ``default`` where the attribute is missing, unless None."""
        if default is not None and attribute not in self.attributes:
            return default
        return self.parsed(attribute, self.required(attribute))

    def optional_number(self, attribute: str) -> int | None:
        """A number of up to 64 bits; None where the attribute is missing."""
        return self.number(attribute) if attribute in self.attributes else None

    def bits(self, width: int | None = None) -> tuple[int, int]:
        """The lowest and the highest bit: ``pos``, or ``low`` and ``high``.

        ``width``: of what has the bits; ``low`` and ``high`` need not be there then.
        """
        if "pos" in self.attributes:
            position = self.number("pos")
            return position, position
        low = self.number("low", None if width is None else 0)
        return low, self.number("high", None if width is None else width - 1)

    def parsed(self, attribute: str, text: str) -> int:
        """The number that ``text``, a part of an attribute, is."""
        try:
            number = int(text, 16 if text[:2] in ("0x", "0X") else 10)
        except ValueError:
            number = -1
        if not 0 <= number <= MAX_NUMBER:
            raise self.error(f"'{attribute}' is not a number of up to 64 bits: '{text[:40]}'")
        return number

    def flag(self, attribute: str) -> bool:
        """Whether an attribute says yes; False where it is missing."""
        text = self.attributes.get(attribute, "no")
        if text not in ("yes", "no", "1", "0", "true", "false"):
            raise self.error(f"'{attribute}' is neither yes nor no: '{text}'")
        return text in ("yes", "1", "true")


def read_xml(
    path: str, deepest: int = _MAX_DEPTH, failure: type[DslError] = RegisterDbError
) -> XmlElement:
    """The root element of the file. Raises ``failure`` for XML that is not well-formed."""
    with open(path, "rb") as file:
        return parse_xml(file.read(), path, deepest, failure)


def parse_xml(
    content: bytes,
    path: str,
    deepest: int = _MAX_DEPTH,
    failure: type[DslError] = RegisterDbError,
) -> XmlElement:
    """Read the content of an XML file; see ``read_xml``."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    root = XmlElement("", {}, path, 0, failure)
    open_elements = [root]

    def start(tag: str, attributes: dict[str, str]) -> None:
        line = parser.CurrentLineNumber
        if len(open_elements) > deepest:
            raise failure(f"elements nested more than {deepest} deep", path, line)
        element = XmlElement(tag.rpartition(":")[2], attributes, path, line, failure)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def end(_tag: str) -> None:
        open_elements.pop()

    def characters(data: str) -> None:
        if not open_elements[-1].children:
            open_elements[-1].text += data

    def entity(name: str, *_rest: object) -> None:
        message = f"entity '{name}' declared; descriptions need none"
        raise failure(message, path, parser.CurrentLineNumber)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(content, True)
    except expat.ExpatError as problem:
        message = f"not well-formed XML: {expat.ErrorString(problem.code)}"
        raise failure(message, path, problem.lineno, problem.offset + 1) from None
    return root.children[0]


#: What a file begins with, whose XML has no notice that its licence asks to keep.
_HEAD = """\
# SPDX-License-Identifier: MIT
# Facts from Mesa's {} (MIT), by `cffpy db import{}`.

"""


def stem(path: str) -> str:
    """File name without folder and extension: ``adreno/a6xx.xml`` -> ``a6xx``."""
    return os.path.splitext(os.path.basename(path))[0]


def texts_of(
    models: Mapping[str, _Model],
    text: Callable[[_Model], str],
    extension: str,
    origin: Callable[[str], str] | None = None,
    options: str = "",
    failure: type[DslError] = RegisterDbError,
) -> dict[str, str]:
    """File name -> ``text`` of each model (name without extension -> what the file declares).

    ``origin``: the XML in a Mesa tree that a file is made of, which its head names; None where the
    text has a notice of its own. ``options``: of ``cffpy db import``, for the head. Raises
    ``failure`` for a name that the language cannot write.
    """
    texts = {}
    for name, model in models.items():
        try:
            head = "" if origin is None else _HEAD.format(origin(name), options)
            texts[f"{name}{extension}"] = head + text(model)
        except ValueError as problem:
            raise failure(str(problem), f"{name}.xml") from None
    return texts


def write_texts(folder: str, texts: Mapping[str, str]) -> list[str]:
    """Write the files of a folder whose texts have changed; returns the paths of all files."""
    paths = []
    if texts:
        os.makedirs(folder, exist_ok=True)
    for name, text in texts.items():
        path = os.path.join(folder, name)
        if not _has(path, text):
            write_text(path, text)
        paths.append(path)
    return paths


def write_text(path: str, text: str) -> None:
    """Write a file of an edition: UTF-8, lines that end in a line feed."""
    with written_file(path) as file:
        file.write(text.encode())


def _has(path: str, text: str) -> bool:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read() == text
    except (OSError, ValueError):
        return False
