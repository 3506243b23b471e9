# SPDX-License-Identifier: MIT
"""Imports a folder of rules-ng XML into an edition: finds the XML, writes adreno/*.regs."""

from __future__ import annotations

import os
from dataclasses import dataclass

from cffpy.errors import RegisterDbError
from cffpy.regdb.import_xml import import_files
from cffpy.regdb.printer import print_description

# Where the XML may lie, seen from the directory that the user names: a Mesa tree, its folder of
# registers, that folder's adreno, or any flat folder.
_FOLDERS = ("src/freedreno/registers/adreno", "adreno", ".")
_ORIGIN = "src/freedreno/registers/adreno"
_LEVELS_UP_TO_MESA = 4


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import wrote: the edition's name, or None where unknown, and the files' paths."""

    edition: str | None
    paths: tuple[str, ...]


def import_directory(source: str, output: str, edition: str | None = None) -> Imported:
    """Write ``output``/adreno/*.regs, one for each XML file found in ``source``.

    ``edition`` names the result; without it a Mesa tree's VERSION does, or else the name that
    ``output`` has already. Raises RegisterDbError.
    """
    folder, names = _xml_files(source)
    descriptions = import_files([os.path.join(folder, name) for name in names])
    target = os.path.join(output, "adreno")
    os.makedirs(target, exist_ok=True)
    written = []
    for name, description in descriptions.items():
        path = os.path.join(target, f"{name}.regs")
        try:
            text = header(name) + print_description(description)
        except ValueError as problem:
            raise RegisterDbError(str(problem), os.path.join(folder, f"{name}.xml")) from None
        _write(path, text)
        written.append(path)
    named = os.path.join(output, "EDITION")
    edition = edition or _mesa_version(folder)
    if edition is not None:
        _write(named, f"{edition}\n")
    elif os.path.exists(named):
        with open(named, encoding="utf-8") as file:
            edition = file.read().strip()
    return Imported(edition, tuple(written))


def header(name: str) -> str:
    """The comment that starts the generated file of ``name``.xml."""
    return (
        "# SPDX-License-Identifier: MIT\n"
        f"# Facts from Mesa's {_ORIGIN}/{name}.xml (MIT), by `cffpy db import`.\n\n"
    )


def _xml_files(source: str) -> tuple[str, list[str]]:
    for part in _FOLDERS:
        folder = os.path.normpath(os.path.join(source, part))
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        found = [name for name in names if name.endswith(".xml")]
        if found:
            return folder, found
    raise RegisterDbError("no rules-ng XML here (*.xml)", source)


# The version of the Mesa tree that the folder belongs to.
def _mesa_version(folder: str) -> str | None:
    root = os.path.abspath(folder)
    for _ in range(_LEVELS_UP_TO_MESA):
        root = os.path.dirname(root)
    if os.path.join(root, *_ORIGIN.split("/")) != os.path.abspath(folder):
        return None
    try:
        with open(os.path.join(root, "VERSION"), encoding="utf-8") as file:
            return f"mesa {file.read().strip()}"
    except OSError:
        return None


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
