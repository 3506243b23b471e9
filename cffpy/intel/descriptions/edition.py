# SPDX-License-Identifier: MIT
"""Writes an edition of Intel's descriptions: ``intel/*.gen``, from genxml.

Facts that the XML lacks come from two tables beside it, where they exist: ``lookup.json`` says
which of two instructions with the same opcode, or registers with the same offset, the reference
finds; ``tables.json`` has PCI ids and the names of surface formats.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cffpy import compiled
from cffpy.descriptions.importing import XmlElement, read_xml, texts_of, write_texts
from cffpy.errors import RegisterDbError
from cffpy.intel.descriptions import language
from cffpy.intel.descriptions.compile import Resolved, resolve
from cffpy.intel.descriptions.language import print_description

_ROOTS = ("src/intel/genxml", "genxml", ".")
_MAX_DEPTH = 16

#: Attributes that this importer knows, by element.
_KNOWN = {
    "genxml": {"name", "gen"},
    "import": {"name"},
    "exclude": {"name"},
    "enum": {"name", "prefix"},
    "struct": {"name", "length"},
    "instruction": {"name", "bias", "length", "engine"},
    "register": {"name", "length", "num"},
    "group": {"count", "start", "size"},
    "field": {"name", "start", "end", "type", "default", "prefix", "nonzero"},
    "value": {"name", "value", "dont_use"},
}


def import_folder(directory: str) -> dict[str, language.Description]:
    """File name without extension -> description, of the genxml in a Mesa tree or folder.

    Raises RegisterDbError where there is none, or where it is wrong.
    """
    folder = _find(directory)
    names = [name for name in os.listdir(folder) if _is_genxml(name)]
    described = {}
    for name in sorted(names, key=lambda name: (len(name), name)):
        described[name[:-4]] = _description(_read(os.path.join(folder, name)))
    lookup = _read_json(folder, "lookup.json")
    if lookup:
        for name, description in described.items():
            resolved = resolve(name, described)
            chosen = lookup.get(str(resolved.verx10), {})
            preferred = tuple(_preferences(resolved, chosen))
            described[name] = language.Description((*description.declarations, *preferred))
    tables = _read_json(folder, "tables.json")
    if tables:
        described["formats"] = language.Description((_formats(tables["isl_formats"]),))
        described["devices"] = language.Description(tuple(_devices(tables["devices"])))
    return described


def _is_genxml(name: str) -> bool:
    # the ray tracing files (gen125_rt.xml) describe no commands
    return name.startswith("gen") and name.endswith(".xml") and not name.endswith("_rt.xml")


def _find(directory: str) -> str:
    for part in _ROOTS:
        folder = os.path.normpath(os.path.join(directory, part))
        try:
            if any(_is_genxml(name) for name in os.listdir(folder)):
                return folder
        except OSError:
            continue
    raise RegisterDbError("no genxml (gen*.xml) found", directory)


def _read_json(folder: str, name: str) -> dict[str, Any]:
    path = os.path.join(folder, name)
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except FileNotFoundError:
        return {}
    except ValueError as problem:
        raise RegisterDbError(f"not JSON: {problem}", path) from None
    if not isinstance(content, dict):
        raise RegisterDbError("not a JSON object", path)
    return content


def _read(path: str) -> XmlElement:
    """The root element of a genxml file, whose elements and attributes are all known."""
    root = read_xml(path, _MAX_DEPTH)
    unchecked = [root]
    while unchecked:
        element = unchecked.pop()
        element.check(_KNOWN)
        unchecked += reversed(element.children)
    if root.tag != "genxml":
        raise root.error("the root element is not <genxml>")
    return root


def _description(root: XmlElement) -> language.Description:
    verx10 = _verx10(root)
    declarations: list[language.Declaration] = [language.Generation(root.required("name"), verx10)]
    for element in root.children:
        if element.tag == "import":
            name = element.required("name").removesuffix(".xml")
            without = tuple(child.required("name") for child in element.children)
            declarations.append(language.Import(name, without))
        elif element.tag == "enum":
            prefix = element.attributes.get("prefix")
            declarations.append(language.Enum(element.required("name"), _values(element), prefix))
        elif element.tag in ("struct", "instruction", "register"):
            declarations.append(_group(element))
        else:
            raise element.error("not expected here")
    return language.Description(tuple(declarations))


def _verx10(root: XmlElement) -> int:
    major, _, minor = root.required("gen").partition(".")
    try:
        return int(major) * 10 + int(minor or 0)
    except ValueError:
        raise root.error(f"gen={root.required('gen')!r} is not a version") from None


def _group(element: XmlElement) -> language.Group:
    engines = element.attributes.get("engine", "")
    return language.Group(
        element.tag,
        element.required("name"),
        tuple(_members(element)),
        element.optional_number("length"),
        element.optional_number("bias"),
        tuple(engines.split("|")) if engines else (),
        element.number("num") if element.tag == "register" else None,
    )


def _members(parent: XmlElement) -> Iterator[language.Member]:
    for element in parent.children:
        if element.tag == "field":
            yield language.Field(
                element.attributes.get("name", ""),
                element.number("start"),
                element.number("end"),
                element.required("type"),
                element.optional_number("default"),
                element.attributes.get("prefix"),
                element.attributes.get("nonzero") == "true",
                _values(element),
                element.line,
            )
        elif element.tag == "group":
            yield language.Repeat(
                element.number("count"),
                element.number("start"),
                element.number("size"),
                tuple(_members(element)),
            )
        else:
            raise element.error("not expected here")


def _values(parent: XmlElement) -> tuple[language.Value, ...]:
    return tuple(
        language.Value(each.required("name"), each.number("value")) for each in parent.children
    )


def _preferences(resolved: Resolved, chosen: Mapping[str, Any]) -> Iterator[language.Prefer]:
    """Which item a look-up finds, where the order of declaration would give another one."""
    order = {one["name"]: rank for rank, one in enumerate(chosen.get("instructions", ()))}
    for first, second in resolved.ambiguous_instructions():
        if order.get(first.name, 0) > order.get(second.name, 0):
            yield language.Prefer("instruction", second.name, first.name)
    for offset, name in chosen.get("registers", {}).items():
        preferred = resolved.by_offset.get(int(offset, 0))
        if preferred is not None and preferred != name and name in resolved.registers:
            yield language.Prefer("register", name, preferred)


def _formats(names: Mapping[str, str]) -> language.Enum:
    values = sorted((int(number, 0), name) for number, name in names.items())
    return language.Enum(
        "ISL_FORMAT", tuple(language.Value(name, number) for number, name in values)
    )


def _devices(devices: Mapping[str, Mapping[str, Any]]) -> Sequence[language.Device]:
    devices_listed = [
        (int(pci, 0), device["name"], device["verx10"]) for pci, device in devices.items()
    ]
    return [language.Device(*row) for row in sorted(devices_listed)]


def write_genxml(directory: str, output: str) -> list[str]:
    """Write ``output``/intel/*.gen from the genxml in a Mesa tree or folder; the paths.

    Nothing is written if anything is wrong: raises RegisterDbError.
    """
    texts = texts_of(import_folder(directory), print_description, ".gen", _origin, " --genxml")
    return write_texts(os.path.join(output, "intel"), texts)


def edition_of_genxml(directory: str) -> str:
    """A directory with the edition that is made of this genxml, in the user's cache.

    Raises RegisterDbError where the XML is wrong, OSError where it cannot be written.
    """
    cache = compiled.cache_directory()
    if cache is None:
        import tempfile

        output = tempfile.mkdtemp(prefix="cffpy-genxml-")
    else:
        number = zlib.crc32(os.path.abspath(directory).encode("utf-8", "surrogateescape"))
        output = os.path.join(cache, f"genxml-{number:08x}")
    write_genxml(directory, output)
    return output


def _origin(name: str) -> str:
    """What of a Mesa tree a file has the facts of."""
    return {
        "formats": "the numbers and names of src/intel/isl",
        "devices": "PCI ids of src/intel/dev",
    }.get(name, f"src/intel/genxml/{name}.xml")
