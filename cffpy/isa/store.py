# SPDX-License-Identifier: MIT
"""Compiled instruction sets: read from the cache or the wheel, or compiled from register_db/isa.

Each set and generation is a separate part: ``ir3-600`` is marshal(isa row).
"""

from __future__ import annotations

import marshal
import os

from cffpy.capture.gpu import GENERATIONS as _KNOWN
from cffpy.descriptions.store import Store
from cffpy.editions.folders import instruction_files
from cffpy.errors import IsaError
from cffpy.isa.rows import IsaRow

GENERATIONS = {
    "ir3": tuple([100 * n for n, facts in _KNOWN.items() if facts.instruction_set == "ir3"]),
    "a2xx": tuple([100 * n for n, facts in _KNOWN.items() if facts.instruction_set == "a2xx"]),
    "afuc": tuple([100 * n for n, facts in _KNOWN.items() if facts.microcode is not None]),
}
"""Sets that are compiled, by the name of their root file, and their generations x 100."""


def ir3_generation(generation: int) -> int:
    """The generation x 100 of ir3 by which programs of ``generation`` are read: the nearest."""
    known = GENERATIONS["ir3"]
    return min(max(100 * generation, known[0]), known[-1])


def edition_directory(register_db: str | None, name: str) -> str | None:
    """The edition whose set ``name`` ("ir3") is used; None for the bundled one.

    ``register_db`` is the directory of an edition. If it lacks the set, the result is None.
    """
    if register_db is None:
        return None
    files = instruction_files(register_db)
    return register_db if f"{name}.isa" in map(os.path.basename, files) else None


def load(name: str, generation: int, directory: str | None = None) -> IsaRow:
    """The rows of a set ("ir3") for a generation (600) of an edition; None: the bundled one.

    Raises IsaError if the descriptions have no such set.
    """
    row: IsaRow | None = INSTRUCTION_SETS.load(f"{name}-{generation}", directory)
    if row is None:
        raise IsaError(f"the instruction-set descriptions have no {name} for {generation}")
    return row


def _compile(directory: str) -> dict[str, bytes]:
    from cffpy.isa.language import parse_files  # lazy: lark, and only when the cache is stale
    from cffpy.isa.plan import add_plan
    from cffpy.isa.resolve import resolve, with_imports

    files = parse_files(instruction_files(directory))
    names = {file.name for file in files}
    parts = {}
    for name, generations in GENERATIONS.items():
        if f"{name}.isa" in names:
            wanted = with_imports(files, f"{name}.isa")
            for generation in generations:
                row = add_plan(resolve(wanted, generation))
                parts[f"{name}-{generation}"] = marshal.dumps(row)
    return parts


INSTRUCTION_SETS = Store("isa", 5, instruction_files, _compile)
