# SPDX-License-Identifier: MIT
"""The names that microcode mentions: control, SQE, pipe and GPU registers, packets.

Control and pipe registers are described in files that no generation imports. Mesa's
src/freedreno/afuc/util.c says which domains belong to which GPU.
"""

from __future__ import annotations

from cffpy.regdb.database import Database

#: Newer a7xx have other numbers of control registers: the GPUs by which they are chosen.
GEN3_GPUS = (750,)

_CONTROL_FILE, _PIPE_FILE = "adreno_control_regs", "adreno_pipe_regs"
_PACKETS = "adreno_pm4_type3_packets"


class MicrocodeNames:
    """Names of one generation. What the descriptions lack has no name."""

    def __init__(self, generation: int, gpu: int = 0, directory: str | None = None) -> None:
        """``gpu``: number of the GPU (750), 0 where it is not known; ``directory``: an edition.

        Raises RegisterDbError if the edition does not know the generation.
        """
        self._database = Database.open(f"A{generation}XX", directory)
        chip = self._database.variant("chip", self._database.chip)
        self._variants = {} if chip is None else {"chip": chip}
        middle = "_GEN3" if gpu in GEN3_GPUS else ""
        control = f"A{generation}XX{middle}_CONTROL_REG"
        self._control = Database.open_block(_CONTROL_FILE, control, directory)
        self._sqe = Database.open_block(_CONTROL_FILE, "A6XX_SQE_REG", directory)
        self._pipe = Database.open_block(_PIPE_FILE, f"A{generation}XX_PIPE_REG", directory)
        self._packets: dict[str, int] | None = None
        self._numbers = {"@": self._names(self._control), "%": self._names(self._sqe)}

    @staticmethod
    def _names(database: Database | None) -> dict[str, int]:
        return {} if database is None else dict(database.register_names())

    def _name(self, database: Database | None, number: int) -> str | None:
        register = None if database is None else database.register(number, self._variants)
        return None if register is None else register.reference_name

    def control_register(self, number: int) -> str | None:
        """The name of a control register, maybe with ``+0x1``."""
        return self._name(self._control, number)

    def sqe_register(self, number: int) -> str | None:
        """The name of a register of the processor itself."""
        return self._name(self._sqe, number)

    def pipe_register(self, number: int) -> str | None:
        """The name of a pipe register."""
        return self._name(self._pipe, number)

    def gpu_register(self, number: int) -> str | None:
        """The name of a register of the GPU; ``number`` is its offset in dwords."""
        return self._name(self._database, number)

    def packet(self, opcode: int) -> str | None:
        """The name of a packet."""
        return self._database.enum_name(_PACKETS, opcode, self._variants)

    def packet_number(self, name: str) -> int | None:
        """The opcode of a packet's name, which may be one of another generation.

        As in the reference, the first value that is declared decides, whatever its conditions.
        """
        if self._packets is None:
            values = self._database.declared().enum(_PACKETS)
            self._packets = {one[0]: one[1] for one in reversed(values) if one[1] is not None}
        return self._packets.get(name)

    def number(self, kind: str, name: str) -> int | None:
        """The number of a control register (kind ``@``) or SQE register (``%``)."""
        return self._numbers[kind].get(name)
