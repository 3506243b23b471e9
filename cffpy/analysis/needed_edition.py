# SPDX-License-Identifier: MIT
"""The edition that a capture needs: the last one that describes something that none before does.

For ``--edition auto``. What counts is what the capture has: its generation, the registers and
packets of its commands, the instructions of its programs. What no edition describes does not count.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from cffpy.analysis.shaders import collect_shaders
from cffpy.capture.gpu import generation_of
from cffpy.cp.machine import PACKET_ENUM
from cffpy.cp.session import Session
from cffpy.cp.sink import NOTHING, Sink, WriteOutcome
from cffpy.editions.folders import AUTO, editions
from cffpy.errors import CffpyError
from cffpy.pm4.descriptions import Disassemblers
from cffpy.pm4.reader import Payload
from cffpy.regdb import store
from cffpy.regdb.database import Database

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.memory import Words
    from cffpy.container.open import Content


class _Uses(Sink):
    """Collects what commands use: the generation's chip, with registers and opcodes."""

    def __init__(self) -> None:
        self.registers: dict[str, set[int]] = {}
        self.opcodes: dict[str, set[int]] = {}
        self._written: set[int] = set()
        self._seen: set[int] = set()

    def bind(self, gpu: Gpu, database: Database) -> None:
        self._written = self.registers.setdefault(gpu.chip, set())
        self._seen = self.opcodes.setdefault(gpu.chip, set())

    def write(
        self, register: int, values: list[int], words: Words, index: int, level: int
    ) -> WriteOutcome:
        self._written.update(range(register, register + len(values)))
        return NOTHING

    def register(self, register: int, value: int, level: int) -> None:
        self._written.add(register)

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        self._seen.add(opcode)


def decoding_edition(register_db: str | None, content: Content, gpu: Gpu | None) -> str | None:
    """The directory of an edition for a capture: ``register_db``, or what ``AUTO`` stands for."""
    return needed_edition(content, gpu) if register_db == AUTO else register_db


def needed_edition(content: Content, gpu: Gpu | None = None) -> str | None:
    """The directory of the edition that a capture needs; None: the bundled one.

    ``gpu``: decode for it, whatever the file names. Editions are compared in the order of
    ``editions``. All commands are decoded once, and all programs.
    """
    uses = _Uses()
    try:
        Session(uses, warn=_ignore, gpu=gpu, segments=False).run(content)
        collector, _ = collect_shaders(content, _ignore, gpu=gpu)
    except CffpyError:
        return None  # it is reported where the capture is decoded
    programs: dict[int, set[int]] = {}
    for shader in collector.shaders:
        code = shader._program.code
        code = code[: len(code) // 8 * 8]
        words = programs.setdefault(shader.generation, set())
        words.update(word for (word,) in struct.iter_unpack("<Q", code))
    needed: str | None = None
    _bundled, *others = editions().values()
    lacking = set(_unknown(None, uses, programs))
    for directory in others:
        still = set(_unknown(directory, uses, programs))
        if lacking - still:
            needed, lacking = directory, lacking & still
    return needed


def _ignore(_line: str) -> None:
    """Warnings come again where the capture is decoded."""


def _unknown(
    directory: str | None, uses: _Uses, programs: dict[int, set[int]]
) -> Iterator[Hashable]:
    """What an edition does not describe of what a capture uses."""
    known = store.chips(directory)
    for chip in uses.registers:
        if chip not in known:
            yield chip
            continue
        database = Database.open(chip, directory)
        number = database.variant("chip", chip)
        variants = {} if number is None else {"chip": number}
        for register in uses.registers[chip]:
            if database.register(register, variants) is None:
                yield chip, "register", register
        for opcode in uses.opcodes[chip]:
            if database.enum_name(PACKET_ENUM, opcode, variants) is None:
                yield chip, "packet", opcode
    disassemblers = Disassemblers(directory)
    for generation, words in programs.items():
        if generation_of(generation).instruction_set == "ir3":
            disassembler = disassemblers.ir3(generation)
            for word in words:
                if not disassembler.operands(word).name:
                    yield generation, "instruction", word
