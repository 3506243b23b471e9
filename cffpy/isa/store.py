# SPDX-License-Identifier: MIT
"""Compiled instruction sets: found in the cache or the wheel, else made from register_db/isa.

Each set and generation is a part of the compiled form of its own: ``ir3-600`` is marshal(isa row).
"""

from __future__ import annotations

import marshal
import os

from cffpy import compiled
from cffpy._data import data_path
from cffpy.errors import IsaError
from cffpy.isa.rows import IsaRow

KIND = "isa"
SCHEMA = 4
GENERATIONS = {"ir3": (300, 400, 500, 600, 700, 800), "a2xx": (200,)}
"""The sets that are compiled, each of a root file of its name, and their generations x 100."""


def isa_directory() -> str:
    """Where the project's own descriptions lie."""
    return data_path("register_db", "isa")


def edition_directory(register_db: str | None, name: str) -> str | None:
    """Where an edition has the set ``name`` ("ir3"): its folder isa; None is the project's own.

    ``register_db`` is the edition's directory. One without the set goes with the project's own.
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
    """The rows of a set ("ir3") for a generation (600), of the project or of ``directory``."""
    part = f"{name}-{generation}"
    payload = compiled.load_packaged(KIND, SCHEMA, part) if directory is None else None
    if payload is None:
        place = directory or isa_directory()
        payload = compiled.load(
            KIND, SCHEMA, sources(place), lambda: compile_directory(place), part
        )
    if payload is None:
        raise IsaError(f"the instruction-set descriptions have no {name} for {generation}")
    row: IsaRow = marshal.loads(payload)
    return row
