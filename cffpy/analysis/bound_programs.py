# SPDX-License-Identifier: MIT
"""BoundPrograms: the shader programs that a draw or dispatch runs."""

from __future__ import annotations

from functools import partial
from itertools import starmap
from typing import TYPE_CHECKING

from cffpy.analysis.registers import RegisterReader, Remembered
from cffpy.capture.gpu import PROGRAM_ADDRESS_MASK
from cffpy.frame.action import StageProgram
from cffpy.pm4.reader import Fields

if TYPE_CHECKING:
    from cffpy.cp.machine import Machine
    from cffpy.frame.action import ActionKind
    from cffpy.pm4.reader import Payload

    #: A stage, the register of its program, and the field that enables it.
    _Program = tuple[str, str, tuple[str, str] | None]

    Programs = tuple[StageProgram, ...]

_IM_LOAD_IMMEDIATE = Fields("CP_IM_LOAD_IMMEDIATE", "SHADER_TYPE")
_A2XX_STAGES = {0: "VS", 1: "FS"}


class BoundPrograms:
    """For the GPU that a machine is bound to; another one after each ``bind``."""

    def __init__(self, machine: Machine, reader: RegisterReader) -> None:
        self._machine = machine
        facts = machine.gpu.facts
        enables = {
            stage: (name, "ENABLED")
            for stage, name in facts.enable_registers
            if reader.offset(name)
        }
        registers: dict[int, tuple[str, str]] = {}
        for stage, name, _upper in facts.program_registers:
            # where the code's names are renamed, two of them mean one register
            registers.setdefault(reader.offset(name), (stage, name))
        programs = [
            (stage, name, enables.get(stage))
            for offset, (stage, name) in registers.items()
            if offset
        ]
        kinds: tuple[ActionKind, ...] = ("draw", "dispatch")
        self._bound: dict[ActionKind, Remembered[Programs]] = {
            kind: Remembered(machine, partial(_read, programs, kind)) for kind in kinds
        }
        #: Of a2xx: stage -> address of the program that a packet has loaded.
        self._loaded: dict[str, int] = {}
        self._lists: dict[Programs, Programs] = {}
        #: The list that was found last: a ``Remembered`` mostly returns it again.
        self._last: Programs = ()
        self._are_loaded = not facts.program_registers

    def of(self, kind: ActionKind) -> Programs:
        """Those of an action of this kind now; the same object where they are the same."""
        bound = self._bound.get(kind)
        if bound is None:
            return ()
        programs = bound()
        if self._are_loaded:
            programs = (*programs, *starmap(StageProgram, self._loaded.items()))
        elif programs is self._last:
            return programs
        self._last = self._lists.setdefault(programs, programs)
        return self._last

    def load(self, payload: Payload) -> None:
        """CP_IM_LOAD_IMMEDIATE (a2xx): a program in the packet."""
        (kind,) = payload.read(self._machine.packets[_IM_LOAD_IMMEDIATE])
        stage = _A2XX_STAGES.get(kind)
        if stage is not None:
            self._loaded[stage] = payload.words.address + 4 * (payload.index + 2)


def _read(programs: list[_Program], kind: ActionKind, reader: RegisterReader) -> Programs:
    found = []
    for stage, name, enable in programs:
        if (stage == "CS") != (kind == "dispatch"):
            continue
        if enable is not None and not reader.flag(*enable):
            continue
        address = reader.address(name)
        if address and address & PROGRAM_ADDRESS_MASK:
            found.append(StageProgram(stage, address & PROGRAM_ADDRESS_MASK))
    return tuple(found)
