# SPDX-License-Identifier: MIT
"""Whose instructions programs are read with: those of the edition that decodes the commands.

a8xx is decoded by the first edition that describes it, whatever edition was chosen, and so are its
programs.
"""

from __future__ import annotations

from cffpy.capture.gpu import generation_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.isa.a2xx import A2xxDisassembler
    from cffpy.isa.ir3 import Ir3Disassembler


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
