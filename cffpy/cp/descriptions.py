# SPDX-License-Identifier: MIT
"""Descriptions: the databases and disassemblers of an edition, read once for several walks."""

from __future__ import annotations

from cffpy.pm4.instruction_sets import Disassemblers
from cffpy.regdb.database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.capture.gpu import Gpu


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
        """Those of an edition by its directory: these ones, or others, which are kept, too."""
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
            from cffpy.regdb.known_names import known_names  # lazy: few use another edition

            self._names[gpu.chip] = known_names(database)
        return self._names[gpu.chip]
