# SPDX-License-Identifier: MIT
"""The disassemblers of an edition, created on first use."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.isa.a2xx import A2xxDisassembler
    from cffpy.isa.ir3 import Ir3Disassembler


class Disassemblers:
    """One disassembler for each generation.

    ``register_db``: directory of an edition, or None for the bundled one. An instruction set that
    the edition does not have is taken from the bundled one.
    """

    def __init__(self, register_db: str | None = None) -> None:
        self._register_db = register_db
        self._ir3: dict[int, Ir3Disassembler] = {}
        self._a2xx: A2xxDisassembler | None = None

    def ir3(self, generation: int) -> Ir3Disassembler:
        """The ir3 disassembler of a generation (3 to 7)."""
        found = self._ir3.get(generation)
        if found is None:
            from cffpy.isa.ir3 import Ir3Disassembler
            from cffpy.isa.store import edition_directory

            directory = edition_directory(self._register_db, "ir3")
            found = self._ir3[generation] = Ir3Disassembler(generation, directory)
        return found

    def a2xx(self) -> A2xxDisassembler:
        """The a2xx disassembler."""
        if self._a2xx is None:
            from cffpy.isa.a2xx import A2xxDisassembler
            from cffpy.isa.store import edition_directory

            self._a2xx = A2xxDisassembler(edition_directory(self._register_db, "a2xx"))
        return self._a2xx
