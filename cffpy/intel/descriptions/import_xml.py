# SPDX-License-Identifier: MIT
"""genxml -> model. Facts that the XML lacks come from two tables beside it, where they exist.

``lookup.json`` says which of two instructions with the same opcode, or registers with the same
offset, the reference finds; ``tables.json`` has PCI ids and the names of surface formats.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cffpy.descriptions.importing import XmlElement, read_xml
from cffpy.errors import RegisterDbError
from cffpy.intel.descriptions import model
from cffpy.intel.descriptions.resolve import Resolved, resolve

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


def import_folder(directory: str) -> dict[str, model.Description]:
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
            described[name] = model.Description((*description.declarations, *preferred))
    tables = _read_json(folder, "tables.json")
    if tables:
        described["formats"] = model.Description((_formats(tables["isl_formats"]),))
        described["devices"] = model.Description(tuple(_devices(tables["devices"])))
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


def _description(root: XmlElement) -> model.Description:
    verx10 = _verx10(root)
    declarations: list[model.Declaration] = [model.Generation(root.required("name"), verx10)]
    for element in root.children:
        if element.tag == "import":
            name = element.required("name").removesuffix(".xml")
            without = tuple(child.required("name") for child in element.children)
            declarations.append(model.Import(name, without))
        elif element.tag == "enum":
            prefix = element.attributes.get("prefix")
            declarations.append(model.Enum(element.required("name"), _values(element), prefix))
        elif element.tag in ("struct", "instruction", "register"):
            declarations.append(_group(element))
        else:
            raise element.error("not expected here")
    return model.Description(tuple(declarations))


def _verx10(root: XmlElement) -> int:
    major, _, minor = root.required("gen").partition(".")
    try:
        return int(major) * 10 + int(minor or 0)
    except ValueError:
        raise root.error(f"gen={root.required('gen')!r} is not a version") from None


def _group(element: XmlElement) -> model.Group:
    engines = element.attributes.get("engine", "")
    return model.Group(
        element.tag,
        element.required("name"),
        tuple(_members(element)),
        element.optional_number("length"),
        element.optional_number("bias"),
        tuple(engines.split("|")) if engines else (),
        element.number("num") if element.tag == "register" else None,
    )


def _members(parent: XmlElement) -> Iterator[model.Member]:
    for element in parent.children:
        if element.tag == "field":
            yield model.Field(
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
            yield model.Repeat(
                element.number("count"),
                element.number("start"),
                element.number("size"),
                tuple(_members(element)),
            )
        else:
            raise element.error("not expected here")


def _values(parent: XmlElement) -> tuple[model.Value, ...]:
    return tuple(
        model.Value(each.required("name"), each.number("value")) for each in parent.children
    )


def _preferences(resolved: Resolved, chosen: Mapping[str, Any]) -> Iterator[model.Prefer]:
    """Which item a look-up finds, where the order of declaration would give another one."""
    order = {one["name"]: rank for rank, one in enumerate(chosen.get("instructions", ()))}
    for first, second in resolved.ambiguous_instructions():
        if order.get(first.name, 0) > order.get(second.name, 0):
            yield model.Prefer("instruction", second.name, first.name)
    for offset, name in chosen.get("registers", {}).items():
        preferred = resolved.by_offset.get(int(offset, 0))
        if preferred is not None and preferred != name and name in resolved.registers:
            yield model.Prefer("register", name, preferred)


def _formats(names: Mapping[str, str]) -> model.Enum:
    values = sorted((int(number, 0), name) for number, name in names.items())
    return model.Enum("ISL_FORMAT", tuple(model.Value(name, number) for number, name in values))


def _devices(devices: Mapping[str, Mapping[str, Any]]) -> Sequence[model.Device]:
    devices_listed = [
        (int(pci, 0), device["name"], device["verx10"]) for pci, device in devices.items()
    ]
    return [model.Device(*row) for row in sorted(devices_listed)]
