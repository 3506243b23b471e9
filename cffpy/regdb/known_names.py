# SPDX-License-Identifier: MIT
"""The names by which cffpy's own code asks for registers: those of the bundled edition.

Another edition may have renamed them, and given a name to another register. The code therefore
looks offsets and fields up in the bundled descriptions, regardless of the edition of the text. A
generation that these do not describe is looked up in the edition, with the names that it changed.
"""

from __future__ import annotations

from cffpy.regdb import store
from cffpy.regdb.database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from cffpy.regdb.aliases import Aliases
    from cffpy.regdb.database import Variants


def known_names(database: Database) -> Database:
    """The database in which the code's names mean what they mean in the bundled edition."""
    if database.directory is None:
        return database
    if database.chip in store.chips(None):
        return Database.open(database.chip)
    return _RenamedDatabase(store.load(database.directory, database.chip), database.directory)


class _RenamedDatabase(Database):
    """An edition's database that is asked by the bundled edition's names."""

    def __init__(self, generation: Mapping[str, Any], directory: str) -> None:
        from cffpy.regdb.aliases import Aliases

        super().__init__(generation, directory)
        self._renames: Aliases = Aliases.installed()

    def register_offset(self, name: str) -> int:
        for other in self._renames.new_registers(name):
            offset = super().register_offset(other)
            if offset:
                return offset
        return super().register_offset(name)

    def enum_name(self, enum: str, number: int, variants: Variants) -> str | None:
        name = super().enum_name(enum, number, variants)
        return name if name is None else self._renames.old_value(enum, name)

    def fields_called(self, register: str, field: str) -> tuple[str, ...]:
        return (field, *self._renames.fields(register, field))
