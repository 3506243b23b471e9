# SPDX-License-Identifier: MIT
"""Compiled instruction sets: read from the cache or the wheel, or compiled from register_db/isa.

Each set and generation is a separate part: ``ir3-600`` is marshal(isa row).
"""

from __future__ import annotations

import marshal
import os

from cffpy import compiled
from cffpy._data import data_path
from cffpy.capture.generations import GENERATIONS as _KNOWN
from cffpy.errors import IsaError
from cffpy.isa.rows import IsaRow

KIND = "isa"
SCHEMA = 4
GENERATIONS = {
    "ir3": tuple([100 * n for n, one in _KNOWN.items() if one.instruction_set == "ir3"]),
    "a2xx": tuple([100 * n for n, one in _KNOWN.items() if one.instruction_set == "a2xx"]),
    "afuc": tuple([100 * n for n, one in _KNOWN.items() if one.microcode is not None]),
}
"""Sets that are compiled, by the name of their root file, and their generations x 100."""


def ir3_generation(generation: int) -> int:
    """The generation x 100 of ir3 by which programs of ``generation`` are read: the nearest."""
    known = GENERATIONS["ir3"]
    return min(max(100 * generation, known[0]), known[-1])


def isa_directory() -> str:
    """Directory of the bundled descriptions."""
    return data_path("register_db", "isa")


def edition_directory(register_db: str | None, name: str) -> str | None:
    """Directory of the set ``name`` ("ir3") in an edition; None for the bundled descriptions.

    ``register_db`` is the edition's directory. If the edition lacks the set, the result is None.
    """
    if register_db is not None:
        directory = os.path.join(register_db, "isa")
        if os.path.exists(os.path.join(directory, f"{name}.isa")):
            return directory
    return None


def sources(directory: str) -> list[str]:
    """The .isa files of ``directory``, in order."""
    return [
        os.path.join(directory, name)
        for name in sorted(os.listdir(directory))
        if name.endswith(".isa")
    ]


def compile_directory(directory: str) -> dict[str, bytes]:
    """The parts of the compiled form of a directory's descriptions."""
    from cffpy.isa.parse import parse_directory  # lazy: lark, and only when the cache is stale
    from cffpy.isa.plan import add_plan
    from cffpy.isa.resolve import resolve, with_imports

    files = parse_directory(directory)
    names = {file.name for file in files}
    parts = {}
    for name, generations in GENERATIONS.items():
        if f"{name}.isa" in names:
            wanted = with_imports(files, f"{name}.isa")
            for generation in generations:
                row = add_plan(resolve(wanted, generation))
                parts[f"{name}-{generation}"] = marshal.dumps(row)
    return parts


def load(name: str, generation: int, directory: str | None = None) -> IsaRow:
    """The rows of a set ("ir3") for a generation (600), bundled or from ``directory``.

    Raises IsaError if the descriptions have no such set.
    """
    part = f"{name}-{generation}"
    payload = compiled.load_packaged(KIND, SCHEMA, part) if directory is None else None
    if payload is None:
        place = directory or isa_directory()
        payload = compiled.load(
            KIND, SCHEMA, sources(place), lambda: compile_directory(place), part
        )
    if not payload:
        raise IsaError(f"the instruction-set descriptions have no {name} for {generation}")
    row: IsaRow = marshal.loads(payload)
    return row
