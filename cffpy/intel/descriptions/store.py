# SPDX-License-Identifier: MIT
"""Loads the compiled descriptions of Intel GPUs: bundled, or of another edition's ``intel/``.

An edition without ``intel/*.gen`` has the bundled ones.

The parser and the compiler are imported only if there is no up-to-date compiled form.
"""

from __future__ import annotations

import marshal
import os

from cffpy import compiled
from cffpy._data import data_path
from cffpy.errors import RegisterDbError, UnsupportedGpu
from cffpy.intel.descriptions import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KIND = "intel"
"""What compiled.py calls this sort of description."""

FOLDER = "intel"
EXTENSION = ".gen"


def source_files(directory: str) -> list[str]:
    """The .gen files of an edition, sorted. Raises RegisterDbError where there are none."""
    folder = os.path.join(directory, FOLDER)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        names = []
    paths = [os.path.join(folder, name) for name in names if name.endswith(EXTENSION)]
    if not paths:
        raise RegisterDbError("no descriptions of Intel GPUs (no intel/*.gen)", directory)
    return paths


def has_descriptions(directory: str) -> bool:
    """Whether a directory has descriptions of Intel GPUs."""
    try:
        return bool(source_files(directory))
    except RegisterDbError:
        return False


def compile_edition(directory: str) -> dict[str, bytes]:
    """Parse and compile an edition: the parts that ``load`` reads, also for the wheel."""
    from cffpy.intel.descriptions.compile import compile_files

    return compile_files(source_files(directory))


def compile_bundled() -> dict[str, bytes]:
    """The parts of the bundled edition, for the wheel."""
    return compile_edition(data_path("register_db"))


def load_generation(directory: str | None, verx10: int) -> dict[str, Any]:
    """The rows of a generation (125 for 12.5); ``directory`` None is the bundled edition.

    Raises UnsupportedGpu if it is not described.
    """
    found: dict[str, Any] | None = _part(directory, str(verx10))
    if found is None:
        known = ", ".join(str(number) for number in generations(directory).values())
        raise UnsupportedGpu(f"no descriptions of gen {verx10}, only {known}")
    return found


def generations(directory: str | None) -> dict[str, int]:
    """Name -> verx10 of the generations, oldest first."""
    found: dict[str, int] = (_part(directory, rows.OVERVIEW) or {})["generations"]
    return dict(sorted(found.items(), key=lambda item: item[1]))


def devices(directory: str | None) -> dict[int, tuple[str, int]]:
    """PCI id -> marketing name and verx10; the bundled ones for an edition without any."""
    return _part(directory, rows.DEVICES) or _part(None, rows.DEVICES) or {}


def formats(directory: str | None) -> dict[int, str]:
    """Number -> name of a surface format; the bundled ones for an edition without any."""
    return _part(directory, rows.FORMATS) or _part(None, rows.FORMATS) or {}


def _part(directory: str | None, name: str) -> Any:  # noqa: ANN401 - what the part is
    if directory is not None and not has_descriptions(directory):
        directory = None  # an edition without them has the bundled ones
    content = compiled.load_packaged(KIND, rows.SCHEMA, name) if directory is None else None
    if content is None:
        path = data_path("register_db") if directory is None else directory
        sources = source_files(path)
        content = compiled.load(KIND, rows.SCHEMA, sources, lambda: compile_edition(path), name)
    return marshal.loads(content) if content else None
