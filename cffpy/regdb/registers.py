# SPDX-License-Identifier: MIT
"""Registers of a GPU by name or offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.errors import UnknownName
from cffpy.frame.register import Register
from cffpy.regdb.register_text import RegisterText
from cffpy.regdb.rows import offset_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.regdb.database import Database


class Registers:
    """All registers of a GPU: ``registers["RB_DEPTH_CNTL"]``, ``registers[0x8871]``."""

    def __init__(self, database: Database) -> None:
        #: The descriptions of the GPU; their shape may change.
        self.database = database
        self._text = RegisterText(database)
        #: Registers that were looked up, by name or offset; do not change it.
        self.known: dict[str | int, Register] = {}
        #: Those at offsets, also where none is described.
        self._at: dict[int, Register] = {}

    def __getitem__(self, key: str | int) -> Register:
        """The register of a name, with indices as in ``RB_MRT[0].CONTROL``, or of an offset.

        Case and the radix of indices do not matter. Raises UnknownName, which is a KeyError; its
        message has names that are spelt like it.
        """
        try:
            return self.known[key]
        except (KeyError, TypeError):
            pass
        register = self.find(key) if isinstance(key, str | int) else None
        if register is None:
            raise UnknownName(self._no_such_register(key))
        return register

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str | int) and self.find(key) is not None

    def __iter__(self) -> Iterator[str]:
        """The names of all registers; of arrays, those of the first element."""
        return (name for name, _offset in self.database.register_names())

    def at(self, offset: int) -> Register:
        """The register at an offset in dwords; one without a name where none is described."""
        known = self._at.get(offset)
        if known is None:
            text = self._text
            bits = 64 if text.is_wide(offset) else 32
            known = self._at[offset] = Register(
                text.name(offset), offset, offset_of(offset), bits, False, text
            )
        return known

    def find(self, key: str | int) -> Register | None:
        """As ``self[key]``; None where there is no such register."""
        known = self.known.get(key)
        if known is None:
            known = self._find(key)
            if known is not None:
                self.known[key] = known
        return known

    def _find(self, key: str | int) -> Register | None:
        if isinstance(key, int):
            return None if self.database.register(key, {}) is None else self.at(key)
        named = self.database.find_named(key)
        if named is None:
            return None
        if named.is_described:
            return self.at(named.offset)
        number, bits = named.offset, named.bits
        return Register(named.name, number, offset_of(number), bits, bits > 32, self._text)

    def _no_such_register(self, key: str | int) -> str:
        chip = self.database.chip
        if not isinstance(key, str):
            shown = f"{key:#x}" if isinstance(key, int) else repr(key)
            return f"{chip.lower()} has no register at offset {shown}"
        from cffpy.regdb import store
        from cffpy.regdb.catalog import Catalog
        from cffpy.regdb.lookup import no_such_register

        return no_such_register(Catalog(store.load(self.database.directory, chip)), key)

    def __repr__(self) -> str:
        return f"<Registers of {self.database.chip.lower()}>"
