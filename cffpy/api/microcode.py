# SPDX-License-Identifier: MIT
"""Microcode of the command processor: ``cffpy.disassemble_microcode``, ``assemble_microcode``.

``MicrocodeNames`` has the names that microcode mentions: control, SQE, pipe and GPU registers,
packets. Control and pipe registers are described in files that no generation imports. Mesa's
src/freedreno/afuc/util.c says which domains belong to which GPU.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cffpy.api.arguments import expect, given_edition, given_gpu
from cffpy.capture.gpu import GENERATIONS, Gpu
from cffpy.errors import UsageError
from cffpy.frame.faces import facts_document
from cffpy.isa.afuc import AfucAssembler, AfucDisassembler, microcode_of
from cffpy.isa.store import edition_directory
from cffpy.regdb.database import Database
from cffpy.views import microcode as view

if TYPE_CHECKING:
    from cffpy.isa.afuc import Section

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
            self._packets = {
                value[0]: value[1] for value in reversed(values) if value[1] is not None
            }
        return self._packets.get(name)

    def number(self, kind: str, name: str) -> int | None:
        """The number of a control register (kind ``@``) or SQE register (``%``)."""
        return self._numbers[kind].get(name)


#: Bits 12 to 23 of the first dword of a firmware name its GPU; ids whose first digit does not tell
#: the generation. (Mesa's afuc tools tell files apart by it.)
_GPU_IDS = {0x512: 7, 0x520: 7}

#: The id of firmware whose control registers have other numbers.
_GEN3_ID = 0x520

_UNKNOWN_GPU = "the GPU is unknown: name one with --gpu, e.g. --gpu a6xx"

_NAMED = re.compile(r"a([5-7])\d\d", re.IGNORECASE)
_HEADING = re.compile(r"\s*; a([5-7])xx microcode")

_COMMENT = re.compile(r";[^\n]*")

#: Data of a text.
_DATA = re.compile(r"\[[ \t]*(?:0[xX])?([0-9a-fA-F]{1,8})[ \t]*\]")


class Microcode:
    """Disassembled microcode. Made by ``cffpy.disassemble_microcode``."""

    def __init__(self, generation: int, sections: list[Section], data: bytes, is_raw: bool) -> None:
        """Use ``cffpy.disassemble_microcode``."""
        #: 5 to 7.
        self.generation = generation
        #: One for each processor: SQE, BV, LPAC.
        self.sections = sections
        #: The first dword of the first section; 0 where the data is not a firmware file.
        self.version = 0 if is_raw else int.from_bytes(data[4:8], "little")
        self._is_raw = is_raw

    @property
    def text(self) -> str:
        """What ``cffpy afuc disasm`` prints, and ``cffpy.assemble_microcode`` takes."""
        return "".join([f"{line}\n" for line in self.lines()])

    def lines(self) -> list[str]:
        """The lines of the text."""
        return list(view.lines(self.generation, self.version, self.sections, self._is_raw))

    def handlers(self, section: int = 0) -> dict[str, int]:
        """Name of each packet -> dword of its section at which its handler begins."""
        found = self.sections[section]
        return {
            name: place
            for place, names in found.labels.items()
            for name in names
            if place in found.table and not name.startswith(("l", "fxn"))
        }

    def to_dict(self) -> dict[str, Any]:
        """The document of ``cffpy afuc disasm --json``, without its schema."""
        return facts_document(view.document(self.generation, self.version, self.sections))


def disassemble_microcode(
    data: bytes,
    gpu: str | Gpu | None = None,
    *,
    name: str = "",
    is_raw: bool = False,
    register_db: str | None = None,
) -> Microcode:
    """Disassemble firmware of a5xx to a7xx.

    ``data``: a firmware file (``a630_sqe.fw``); ``is_raw``: only dwords of instructions. Without
    ``gpu``, the generation is that of the firmware's id, else of the file's ``name``. Raises
    IsaError where it is not microcode, UsageError where the generation is unknown.
    """
    expect("data", data, (bytes, bytearray, memoryview), "the bytes of a firmware file")
    data = bytes(data)
    directory, chosen = given_edition(register_db), given_gpu(gpu)
    generation = chosen.generation if chosen else _generation(data, name, is_raw)
    gpu_id = chosen.gpu_id if chosen else 0
    if not gpu_id and not is_raw and _firmware_id(data) == _GEN3_ID:
        gpu_id = GEN3_GPUS[0]
    microcode_of(generation)  # raises, before names are looked up
    names = MicrocodeNames(generation, gpu_id, directory)
    made = AfucDisassembler(generation, names, edition_directory(directory, "afuc"))
    sections = [made.words(data)] if is_raw else made.sections(data)
    return Microcode(generation, sections, data, is_raw)


def assemble_microcode(
    text: str,
    gpu: str | Gpu | None = None,
    *,
    name: str = "",
    is_raw: bool = False,
    register_db: str | None = None,
) -> bytes:
    """The firmware file that a text describes (``cffpy afuc asm``).

    Without ``gpu``, the generation is that of the text's first line, as in ``; a6xx microcode``,
    else of its first dword, as in ``[016ee001]``. ``is_raw``: without the dword in front of the
    file that the kernel leaves out. Raises IsaError with ``name``, the text's file, and the number
    of the line that is wrong; UsageError where the generation is unknown.
    """
    expect("text", text, str, "the text of a firmware file")
    directory, chosen = given_edition(register_db), given_gpu(gpu)
    heading, first = _HEADING.match(text), _DATA.search(_COMMENT.sub("", text))
    firmware = _id_of_dword(int(first[1], 16)) if first else 0
    generation = chosen.generation if chosen else int(heading[1]) if heading else _of_id(firmware)
    if not generation:
        raise UsageError(_UNKNOWN_GPU)
    microcode_of(generation)  # raises, before names are looked up
    gpu_id = chosen.gpu_id if chosen else 0
    if not gpu_id and firmware == _GEN3_ID:
        gpu_id = GEN3_GPUS[0]
    names = MicrocodeNames(generation, gpu_id, directory)
    made = AfucAssembler(generation, names, edition_directory(directory, "afuc"))
    return made.assemble(text, is_raw, name)


def _id_of_dword(first: int) -> int:
    """The firmware's id in its first dword."""
    return first >> 12 & 0xFFF


def _of_id(number: int) -> int:
    """The generation that a firmware's id tells; 0 where it tells none."""
    found = _GPU_IDS.get(number, number >> 8)
    facts = GENERATIONS.get(found)
    return found if facts and facts.microcode and facts.microcode.has_marks else 0


def _firmware_id(data: bytes) -> int:
    return _id_of_dword(int.from_bytes(data[4:8], "little"))


def _generation(data: bytes, name: str, is_raw: bool) -> int:
    found = 0 if is_raw else _of_id(_firmware_id(data))
    named = _NAMED.search(name)
    if found:
        return found
    if named:
        return int(named[1])
    raise UsageError(_UNKNOWN_GPU)
