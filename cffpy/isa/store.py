# SPDX-License-Identifier: MIT
"""Compiled instruction sets: found in the cache or the wheel, else made from register_db/isa.

The payload is marshal: ``{name of the set: {generation: marshal(isa row)}}``; a generation is
unpacked when it is asked for.
"""

from __future__ import annotations

import marshal
import os

from cffpy import compiled
from cffpy._data import data_path
from cffpy.isa.rows import IsaRow

KIND = "isa"
SCHEMA = 2
GENERATIONS = {"ir3": (300, 400, 500, 600, 700, 800), "a2xx": (200,)}
"""The sets that are compiled, each of a root file of its name, and their generations x 100."""


def isa_directory() -> str:
    """Where the project's own descriptions lie."""
    return data_path("register_db", "isa")


def sources(directory: str) -> list[str]:
    """The .isa files of ``directory``, in order."""
    return [
        os.path.join(directory, name)
        for name in sorted(os.listdir(directory))
        if name.endswith(".isa")
    ]


def compile_directory(directory: str) -> bytes:
    """The compiled form of a directory's descriptions."""
    from cffpy.isa.parse import parse_directory  # lazy: lark, and only when the cache is stale
    from cffpy.isa.plan import add_plan
    from cffpy.isa.resolve import resolve, with_imports

    files = parse_directory(directory)
    names = {file.name for file in files}
    sets = {}
    for name, generations in GENERATIONS.items():
        if f"{name}.isa" in names:
            wanted = with_imports(files, f"{name}.isa")
            sets[name] = {
                generation: marshal.dumps(add_plan(resolve(wanted, generation)))
                for generation in generations
            }
    return marshal.dumps(sets)


def load(name: str, generation: int, directory: str | None = None) -> IsaRow:
    """The rows of a set ("ir3") for a generation (600), of the project or of ``directory``."""
    payload = compiled.load_packaged(KIND, SCHEMA) if directory is None else None
    if payload is None:
        place = directory or isa_directory()
        payload = compiled.load(KIND, SCHEMA, sources(place), lambda: compile_directory(place))
    row: IsaRow = marshal.loads(marshal.loads(payload)[name][generation])
    return row
