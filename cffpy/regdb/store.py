# SPDX-License-Identifier: MIT
"""Editions of the register database: finds them, and loads their compiled generations.

An edition is a directory with ``adreno/*.regs``; its name stands in the file ``EDITION``. The
parser and the compiler are only imported where no compiled form is at hand.
"""

from __future__ import annotations

import marshal
import os

from cffpy import compiled
from cffpy._data import data_path
from cffpy.errors import RegisterDbError
from cffpy.regdb import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KIND = "registers"
"""What compiled.py calls this sort of description."""

_EDITION_FILE = "EDITION"


def load(directory: str | None, chip: str) -> dict[str, Any]:
    """The generation row of ``chip`` ("A6XX") of an edition; None is the bundled one.

    Raises RegisterDbError where the directory is no edition, its descriptions are wrong, or it does
    not describe the chip.
    """
    row = _part(directory, chip)
    if row is None:
        known = ", ".join(chips(directory))
        raise RegisterDbError(f"the register database describes no {chip}, only {known}")
    return row


def chips(directory: str | None) -> tuple[str, ...]:
    """The generations that an edition describes, lowest first."""
    return tuple(_overview(directory)["chips"])


def edition(directory: str | None) -> str:
    """The name of an edition, such as "mesa 25.0.7"."""
    name: str = _overview(directory)["edition"]
    return name


def resolve_edition(name_or_path: str | None) -> str:
    """The directory of an edition: None is the bundled one, a name one under ``editions/``.

    Raises RegisterDbError where there is none.
    """
    bundled = data_path("register_db")
    if name_or_path is None:
        return bundled
    candidates = [name_or_path]
    if os.path.basename(name_or_path) == name_or_path:
        candidates.insert(0, os.path.join(bundled, "editions", name_or_path))
    for directory in candidates:
        if _description_files(directory):
            return directory
    raise RegisterDbError("no edition of the register database (no adreno/*.regs)", name_or_path)


def source_files(directory: str) -> list[str]:
    """The files that an edition is compiled from, sorted: adreno/*.regs, then EDITION if there.

    Raises RegisterDbError for a directory that is no edition.
    """
    paths = _description_files(directory)
    if not paths:
        raise RegisterDbError("no edition of the register database (no adreno/*.regs)", directory)
    named = os.path.join(directory, _EDITION_FILE)
    return [*paths, named] if os.path.exists(named) else paths


def edition_name(directory: str) -> str:
    """The name in the directory's EDITION file, or else the directory's own."""
    try:
        with open(os.path.join(directory, _EDITION_FILE), encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return os.path.basename(os.path.abspath(directory))


def compile_edition(directory: str) -> dict[str, bytes]:
    """Parse and compile an edition: the parts that ``load`` reads, also for the wheel."""
    from cffpy.regdb.compile import compile_directory

    return compile_directory(directory, edition_name(directory))


def _overview(directory: str | None) -> dict[str, Any]:
    found = _part(directory, rows.OVERVIEW)
    assert found is not None  # every compiled form has it
    return found


def _part(directory: str | None, name: str) -> dict[str, Any] | None:
    content = compiled.load_packaged(KIND, rows.SCHEMA, name) if directory is None else None
    if content is None:
        path = data_path("register_db") if directory is None else directory
        sources = source_files(path)
        content = compiled.load(KIND, rows.SCHEMA, sources, lambda: compile_edition(path), name)
    loaded: dict[str, Any] | None = None if content is None else marshal.loads(content)
    return loaded


def _description_files(directory: str) -> list[str]:
    folder = os.path.join(directory, "adreno")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.endswith(".regs")]
