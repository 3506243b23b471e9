# SPDX-License-Identifier: MIT
"""Editions of the register database: their directories, source files and names.

An edition is a directory with ``adreno/*.regs``; the file ``EDITION`` in it contains its name.
"""

from __future__ import annotations

import os

from cffpy._data import data_path
from cffpy.errors import RegisterDbError

_EDITION_FILE = "EDITION"


def resolve_edition(name_or_path: str | None) -> str:
    """The directory of an edition: None is the bundled one, a name one under ``editions/``.

    Raises RegisterDbError if there is none.
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


def _description_files(directory: str) -> list[str]:
    folder = os.path.join(directory, "adreno")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.endswith(".regs")]
