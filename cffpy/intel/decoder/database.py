# SPDX-License-Identifier: MIT
"""The descriptions of one generation, and look-ups in them."""

from __future__ import annotations

from cffpy.intel.decoder.groups import Group
from cffpy.intel.descriptions import store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Distinct first dwords that are remembered for each engine.
_MAX_REMEMBERED = 1 << 16


class Database:
    """Instructions, structs and registers of the generation ``verx10`` (125 for 12.5).

    ``directory``: another edition; None is the bundled one. Raises UnsupportedGpu.
    """

    def __init__(self, verx10: int, directory: str | None = None) -> None:
        rows = store.load_generation(directory, verx10)
        self.verx10 = verx10
        self.ver = verx10 // 10
        self.name: str = rows["name"]
        self.formats = store.formats(directory)
        self.instructions = [Group(row, "instruction") for row in rows["instructions"]]
        self._struct_rows: dict[str, Any] = rows["structs"]
        self._register_rows: dict[str, Any] = rows["registers"]
        self._by_offset: dict[int, str] = rows["by_offset"]
        self._structs: dict[str, Group] = {}
        self._registers: dict[str, Group] = {}
        self._found: dict[int, dict[int, Group | None]] = {}

    @property
    def struct_names(self) -> list[str]:
        """Names of all structs."""
        return list(self._struct_rows)

    @property
    def register_names(self) -> list[str]:
        """Names of all registers."""
        return list(self._register_rows)

    def instruction(self, header: int, engine: int) -> Group | None:
        """The instruction that begins with this dword on an engine (a bit of rows.ENGINE_BITS)."""
        remembered = self._found.setdefault(engine, {})
        if header in remembered:
            return remembered[header]
        found = None
        for group in self.instructions:
            if group.engines & engine and header & group.mask == group.code:
                found = group
                break
        if len(remembered) >= _MAX_REMEMBERED:
            remembered.clear()
        remembered[header] = found
        return found

    def struct(self, name: str) -> Group | None:
        """The struct of this name, or None."""
        return _group(self._structs, self._struct_rows, name, "struct")

    def register(self, name: str) -> Group | None:
        """The register of this name, or None."""
        return _group(self._registers, self._register_rows, name, "register")

    def register_at(self, offset: int) -> Group | None:
        """The register at this offset in bytes, or None."""
        name = self._by_offset.get(offset)
        return None if name is None else self.register(name)


def _group(known: dict[str, Group], rows: dict[str, Any], name: str, kind: str) -> Group | None:
    found = known.get(name)
    if found is None and name in rows:
        found = known[name] = Group(rows[name], kind)
    return found
