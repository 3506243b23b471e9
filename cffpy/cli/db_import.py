# SPDX-License-Identifier: MIT
"""``cffpy db import``: find Mesa's XML of registers and instruction sets, write an edition.

And the table of devices, from freedreno_devices.py.

The root element of a file decides what it is: <database> describes registers, <isa> instructions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cffpy._data import data_path
from cffpy.descriptions.importing import write_text, write_texts
from cffpy.editions.folders import edition_name, edition_text, resolve_edition
from cffpy.errors import IsaError, RegisterDbError
from cffpy.image.device_import import device_table_text, find_device_source
from cffpy.image.devices import DEVICE_TABLE

# Where to look for XML below the directory given by the user: a Mesa tree, its src/freedreno, the
# folder itself or its parent.
_REGISTER_FOLDERS = (
    "src/freedreno/registers/adreno",
    "registers/adreno",
    "adreno",
    "rnndb/adreno",
    "rnndb",
    ".",
)
_ISA_FOLDERS = ("src/freedreno/isa", "isa", "isaspec", ".")
#: Microcode is described apart from shaders.
_AFUC_FOLDERS = ("src/freedreno/afuc", "src/freedreno/qrisc", "afuc", "qrisc")
#: Newer Mesa calls it qrisc.
_AFUC = ("afuc.xml", "qrisc.xml")

_REGISTERS, _INSTRUCTIONS = "database", "isa"
_ISA_ROOT = "ir3.xml"

#: Not made from Mesa's files, which do not describe a2xx instructions.
_OWN_ISA = "a2xx.isa"

_LEVELS_UP_TO_MESA = 4
_BEFORE_ROOT = re.compile(
    r"\ufeff|\s+|<!--.*?-->|<\?.*?\?>|<!DOCTYPE[^\[>]*(\[.*?\])?\s*>", re.DOTALL
)
#: The comment that a file of instructions begins with.
_NOTICE = re.compile(r"\A(?:#[^\n]*\n)+")
_ELEMENT = re.compile(r"<([A-Za-z_][\w.-]*)")


@dataclass(frozen=True, slots=True)
class Sources:
    """Paths of XML files: registers, instructions, and those that are neither.

    ``devices``: the path of freedreno_devices.py, if it is there.
    """

    registers: tuple[str, ...]
    instructions: tuple[str, ...]
    passed_over: tuple[str, ...]
    devices: str | None = None


@dataclass(slots=True)
class Imported:
    """What an import wrote: the edition's name, or None where unknown, and the files' paths."""

    edition: str | None
    registers: list[str] = field(default_factory=list)
    instructions: list[str] = field(default_factory=list)
    #: Path of the table of devices, if the source has one.
    devices: str | None = None
    #: True where the project's own a2xx.isa was copied along.
    has_own_isa: bool = False
    passed_over: tuple[str, ...] = ()
    #: Registers that have neither a topic nor a role: ``DOMAIN.NAME``.
    without_subject: tuple[str, ...] = ()


def find_sources(directory: str) -> Sources:
    """The XML of registers and of instruction sets in ``directory``. Raises RegisterDbError."""
    if not os.path.isdir(directory):
        raise RegisterDbError("no such directory", directory)
    others: dict[str, None] = {}
    registers = _find(directory, _REGISTER_FOLDERS, _REGISTERS, others)
    instructions = _find(directory, _ISA_FOLDERS, _INSTRUCTIONS, others)
    instructions += _find(directory, _AFUC_FOLDERS, _INSTRUCTIONS, others)
    devices = find_device_source(directory)
    if not registers and not instructions and devices is None:
        raise RegisterDbError("no rules-ng or isaspec XML (*.xml) found", directory)
    return Sources(registers, instructions, tuple(others), devices)


def import_edition(
    directory: str, output: str, edition: str | None = None, based_on: str | None = None
) -> Imported:
    """Write ``output``/adreno/*.regs and ``output``/isa/*.isa from the XML in ``directory``.

    And ``output``/devices.txt from freedreno_devices.py, where it is there.

    ``edition`` names the result; without it a Mesa tree's VERSION does, or else the name that
    ``output`` has already. ``based_on``: an edition with whose files it shares those that would be
    equal. Nothing is written if anything is wrong: raises DslError.
    """
    sources = find_sources(directory)
    registers: dict[str, str] = {}
    without_subject: tuple[str, ...] = ()
    if sources.registers:
        from cffpy.regdb.import_xml import former_edition, register_texts

        former = former_edition((output, data_path("register_db")))
        registers, without_subject = register_texts(sources.registers, former)
    instructions = _instruction_texts(sources.instructions)
    if based_on is not None:
        base = resolve_edition(based_on)
        registers = _without_shared(registers, os.path.join(base, "adreno"))
        instructions = _without_shared(instructions, os.path.join(base, "isa"))
    devices = None if sources.devices is None else device_table_text(sources.devices)
    paths = (*sources.registers, *sources.instructions, sources.devices or "")
    done = Imported(edition or _mesa_version(paths[0]))
    done.passed_over = sources.passed_over
    done.without_subject = without_subject
    done.registers = write_texts(os.path.join(output, "adreno"), registers)
    done.instructions = write_texts(os.path.join(output, "isa"), instructions)
    if devices is not None:
        done.devices = os.path.join(output, DEVICE_TABLE)
        os.makedirs(output, exist_ok=True)
        write_text(done.devices, devices)
    if instructions and based_on is None:
        done.has_own_isa = _copy_own_isa(os.path.join(output, "isa"))
    _name(output, done, based_on)
    if based_on is not None and registers:
        _write_aliases(output, resolve_edition(based_on))
    return done


def _instruction_texts(paths: tuple[str, ...]) -> dict[str, str]:
    """The texts of instruction sets by file. Raises IsaError."""
    if not paths:
        return {}
    from cffpy.isa.import_xml import import_files

    names = [os.path.basename(path) for path in paths]
    if _ISA_ROOT not in names and names not in ([name] for name in _AFUC):
        folder = os.path.dirname(paths[0])
        raise IsaError(f"instruction sets without {_ISA_ROOT}, which imports the others", folder)
    return import_files(paths)


def _write_aliases(output: str, base: str) -> None:
    """Write what the edition calls otherwise than the one that it is based on."""
    from cffpy.regdb.aliases import TABLE, renames, table_text
    from cffpy.regdb.compare import compare_editions

    write_text(os.path.join(output, TABLE), table_text(renames(compare_editions(base, output))))


def _without_shared(texts: Mapping[str, str], folder: str) -> dict[str, str]:
    """The files that differ from those of another edition in ``folder``, notices apart."""
    kept = {}
    for name, text in texts.items():
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                is_shared = _NOTICE.sub("", file.read()) == _NOTICE.sub("", text)
        except FileNotFoundError:
            is_shared = False
        if not is_shared:
            kept[name] = text
    return kept


def _find(
    directory: str, folders: Sequence[str], wanted: str, others: dict[str, None]
) -> tuple[str, ...]:
    """The files with this root element, of the first folder that has any."""
    for part in folders:
        folder = os.path.normpath(os.path.join(directory, part))
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        paths = []
        for name in names:
            if not name.endswith(".xml"):
                continue
            path = os.path.join(folder, name)
            root = _root_element(path)
            if root == wanted:
                paths.append(path)
            elif root not in (_REGISTERS, _INSTRUCTIONS):
                others[path] = None
        if paths:
            return tuple(paths)
    return ()


def _root_element(path: str) -> str | None:
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    place = 0
    while match := _BEFORE_ROOT.match(text, place):
        place = match.end()
    element = _ELEMENT.match(text, place)
    return None if element is None else element[1]


def _mesa_version(path: str) -> str | None:
    """The version of the Mesa tree that a file belongs to."""
    root = os.path.dirname(os.path.abspath(path))
    for _ in range(_LEVELS_UP_TO_MESA):
        root = os.path.dirname(root)
        if os.path.isdir(os.path.join(root, "src", "freedreno")):
            try:
                with open(os.path.join(root, "VERSION"), encoding="utf-8") as file:
                    return f"mesa {file.read().strip()}"
            except OSError:
                return None
    return None


def _copy_own_isa(folder: str) -> bool:
    path = os.path.join(folder, _OWN_ISA)
    if os.path.exists(path):
        return False
    with open(data_path("register_db", "isa", _OWN_ISA), encoding="utf-8") as file:
        write_text(path, file.read())
    return True


def _name(output: str, done: Imported, based_on: str | None) -> None:
    """Write the edition's name, or read the existing one."""
    path = os.path.join(output, "EDITION")
    if done.edition is not None:
        write_text(path, edition_text(done.edition, based_on))
    elif os.path.exists(path):
        done.edition = edition_name(output)
