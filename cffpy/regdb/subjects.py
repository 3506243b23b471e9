# SPDX-License-Identifier: MIT
"""What registers and fields are for: the words of ``about``, ``role`` and ``engine``, and look-ups.

The descriptions say it next to each register (``cffpy help descriptions``). It is compiled into a
part of its own, which only those load that ask: ``cffpy dump`` does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from cffpy.regdb.rows import COMMAND, POINTER, PORT, RESET

if TYPE_CHECKING:
    from cffpy.regdb.database import Database, Found, NamePart
    from cffpy.regdb.rows import FieldSubject, SubjectRow

#: ``about``: the part of the pipeline that a register or field sets.
TOPICS: Mapping[str, str] = {
    "blend": "blending, logic operations, dithering, the alpha test",
    "colour_mask": "which components of which colour targets are written",
    "depth_stencil": "the depth and stencil tests",
    "rasterizer": "culling, polygon mode and offset, points, lines, clipping",
    "samples": "multisampling",
    "viewport": "viewports and depth ranges",
    "scissor": "scissors",
    "targets": "format and layout of colour and depth targets",
    "vertex_input": "how vertices are fetched and decoded",
    "push_constants": "push constants",
    "instructions": "how shaders are run and linked",
    "lrz": "low resolution Z, and when depth is tested",
    "tiles": "bins, and the render mode of each",
    "texture_layout": "fields of a texture descriptor that follow from size, format and tiling",
    "ubwc": "whether an image is compressed",
    "other": "anything else",
}

#: ``role``: the kind of value.
ROLES: Mapping[str, str] = {
    "address": "an address, or a part of one",
    "contents": "besides address: diff compares what lies there",
    "private": "besides address: memory of the driver, with nothing of the program in it",
    "scratch": "scratch registers, performance counters, debug marks, state of the ring",
    "gmem": "an offset or the size of a buffer in GMEM",
    "tile": "set for each tile or bin",
    PORT: "each write is the next dword of a memory behind the register",
    POINTER: "which dword of that memory the register behind this one writes next",
    RESET: "clears that memory",
    COMMAND: "each write is a command, also one of the value that the register has",
}

#: ``engine``: the commands that use a register. Without it: draws.
ENGINES: Mapping[str, str] = {
    "blit": "copies and fills of the 2D engine",
    "dispatch": "compute dispatches",
    "shaders": "draws and dispatches",
    "any": "all of them",
}


class RegisterSubject(NamedTuple):
    """What one register is for, and its fields where they differ from it.

    ``topic`` and ``engine`` are None where the description does not say.
    """

    topic: str | None = None
    derived: bool = False
    roles: tuple[str, ...] = ()
    engine: str | None = None
    #: Field -> topic, derived, roles.
    fields: Mapping[str, FieldSubject] = {}


UNKNOWN = RegisterSubject()


class Subjects:
    """The subjects of one generation's registers and descriptors."""

    def __init__(self, database: Database, tables: Mapping[str, Mapping[str, SubjectRow]]) -> None:
        self._tables = tables
        self._database = database
        self._known: dict[int, RegisterSubject] = {}

    @classmethod
    def open(cls, database: Database) -> Subjects:
        """Those of an open database, from the edition that it is of."""
        from cffpy.regdb import store

        return cls(database, store.load_subjects(database.directory, database.chip))

    def register(self, offset: int) -> RegisterSubject:
        """What the register at a dword offset is for; ``UNKNOWN`` if not described."""
        row = self._known.get(offset)
        if row is None:
            described = self._database.register(offset, {})
            row = UNKNOWN if described is None else self._of(described)
            self._known[offset] = row
        return row

    def descriptor(self, domain: str, name: str) -> RegisterSubject:
        """The same of a dword of a structure in memory, by its name."""
        row = self._tables.get(domain, {}).get(name)
        return UNKNOWN if row is None else RegisterSubject(*row)

    def _of(self, register: Found) -> RegisterSubject:
        path = path_of(register.parts)
        for domain in self._database.register_domains:
            row = self.descriptor(domain, path)
            if row is not UNKNOWN:
                return row
        return UNKNOWN


def path_of(parts: tuple[NamePart, ...]) -> str:
    """A register's name without indices and offsets: ``RB_MRT.CONTROL``."""
    return ".".join(part[1] for part in parts if part[0] == "name")
