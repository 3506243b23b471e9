# SPDX-License-Identifier: MIT
"""The descriptions of one generation, and look-ups in them."""

from __future__ import annotations

from cffpy.intel.decoder.groups import Group
from cffpy.intel.descriptions import store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Database:
    """Instructions, structs and registers of the generation ``verx10`` (125 for 12.5).

    ``directory``: another edition; None is the bundled one. Raises UnsupportedGpu.
    """

    def __init__(self, verx10: int, directory: str | None = None) -> None:
        rows = store.load_generation(directory, verx10)
        self.verx10 = verx10
        self.ver = verx10 // 10
        self.name: str = rows["name"]
        self._directory = directory
        self._formats: dict[int, str] | None = None
        self._instruction_rows: list[tuple[Any, ...]] = rows["instructions"]
        self._instructions: dict[int, Group] = {}
        self._struct_rows: dict[str, Any] = rows["structs"]
        self._register_rows: dict[str, Any] = rows["registers"]
        self._by_offset: dict[int, str] = rows["by_offset"]
        self._structs: dict[str, Group] = {}
        self._registers: dict[str, Group] = {}
        #: Instructions by the upper half of their first dword, for each engine.
        self._found: dict[int, dict[int, Group | None]] = {}

    @property
    def formats(self) -> dict[int, str]:
        """Names of surface formats by number."""
        if self._formats is None:
            self._formats = store.formats(self._directory)
        return self._formats

    @property
    def instructions(self) -> list[Group]:
        """All instructions, in the order of look-up."""
        return [self._instruction(number) for number in range(len(self._instruction_rows))]

    def _instruction(self, number: int) -> Group:
        found = self._instructions.get(number)
        if found is None:
            found = Group(self._instruction_rows[number], "instruction")
            self._instructions[number] = found
        return found

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
        upper = header >> 16  # masks have no lower bits
        if upper in remembered:
            return remembered[upper]
        found = None
        for number, (_, _, _, engines, _, mask, code, _, _) in enumerate(self._instruction_rows):
            if header & mask == code and engines & engine:
                found = self._instruction(number)
                break
        remembered[upper] = found
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
