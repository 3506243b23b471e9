# SPDX-License-Identifier: MIT
"""The descriptions that decode commands and programs: databases and disassemblers of an edition.

Programs are read with the instructions of the edition that decodes the commands. a8xx is decoded by
the first edition that describes it, whatever edition was chosen, and so are its programs.

cffpy's own code asks for registers by the names of the bundled edition (``known_names``). Another
edition may have renamed them, and given a name to another register. The code therefore looks
offsets and fields up in the bundled descriptions, regardless of the edition of the text. A
generation that these do not describe is looked up in the edition, with the names that it changed.
"""

from __future__ import annotations

from cffpy.capture.gpu import generation_of
from cffpy.regdb import store
from cffpy.regdb.database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from cffpy.capture.gpu import Gpu
    from cffpy.isa.a2xx import A2xxDisassembler
    from cffpy.isa.ir3 import Ir3Disassembler
    from cffpy.regdb.aliases import Aliases
    from cffpy.regdb.database import Variants


def instruction_edition(register_db: str | None, generation: int) -> str | None:
    """The directory of the edition whose instructions a generation's programs have.

    ``register_db``: the edition that was chosen; None: the bundled one. The result is None for the
    bundled instructions, also where an edition has none of its own.
    """
    from cffpy.isa.store import edition_directory  # lazy: many captures have no programs
    from cffpy.regdb.store import decoding

    facts = generation_of(generation)
    return edition_directory(decoding(register_db, facts.chip), facts.instruction_set)


class Disassemblers:
    """One disassembler for each generation, created on first use.

    ``register_db``: directory of the edition that was chosen, or None for the bundled one.
    """

    def __init__(self, register_db: str | None = None) -> None:
        self._register_db = register_db
        self._ir3: dict[int, Ir3Disassembler] = {}
        self._a2xx: A2xxDisassembler | None = None

    def ir3(self, generation: int) -> Ir3Disassembler:
        """The ir3 disassembler of a generation (3 to 8)."""
        disassembler = self._ir3.get(generation)
        if disassembler is None:
            from cffpy.isa.ir3 import Ir3Disassembler

            directory = instruction_edition(self._register_db, generation)
            disassembler = self._ir3[generation] = Ir3Disassembler(generation, directory)
        return disassembler

    def a2xx(self) -> A2xxDisassembler:
        """The disassembler of a2xx: control flow, ALU instructions, fetches."""
        if self._a2xx is None:
            from cffpy.isa.a2xx import A2xxDisassembler

            self._a2xx = A2xxDisassembler(instruction_edition(self._register_db, 2))
        return self._a2xx


class Descriptions:
    """The descriptions of an edition, each read when it is first used.

    For walks over many captures, or several over one: reading them takes as long as decoding a
    small capture. Their memos are bounded: by the number of registers, and as in the disassemblers.
    """

    def __init__(self, directory: str | None = None) -> None:
        """``directory``: of another edition, None for the bundled one."""
        self.directory = directory
        self.disassemblers = Disassemblers(directory)
        self._databases: dict[str, Database] = {}
        self._names: dict[str, Database] = {}
        self._others: dict[str | None, Descriptions] = {}

    def of(self, directory: str | None) -> Descriptions:
        """The descriptions of an edition by its directory; other editions' are kept, too."""
        if directory == self.directory:
            return self
        if directory not in self._others:
            self._others[directory] = Descriptions(directory)
        return self._others[directory]

    def database(self, gpu: Gpu) -> Database:
        """The registers of a GPU's generation. Raises RegisterDbError as ``Database.open``."""
        if gpu.chip not in self._databases:
            self._databases[gpu.chip] = Database.open(gpu.chip, self.directory)
        return self._databases[gpu.chip]

    def names(self, gpu: Gpu) -> Database | None:
        """Where the code's names are looked up; None for the bundled edition, which has them."""
        database = self.database(gpu)
        if database.directory is None:
            return None
        if gpu.chip not in self._names:
            self._names[gpu.chip] = known_names(database)
        return self._names[gpu.chip]


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
