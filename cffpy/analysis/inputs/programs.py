# SPDX-License-Identifier: MIT
"""ProgramContents: the programs of actions, by what was captured of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.inputs.facts import NO_FACTS, FactKey, Facts, InputFact, digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.capture.gpu import Generation
    from cffpy.capture.memory import MemoryImage
    from cffpy.frame.action import Action
    from cffpy.isa.operands import Descriptor
    from cffpy.pm4.descriptions import Disassemblers

#: Bytes in which programs were looked for, each from its start to the end of its buffer, at most.
_MAX_PROGRAM_BYTES = 2 << 30


class ProgramContents:
    """Reads programs, each once.

    ``listings``, ``descriptors``: the text of each program, and what its instructions name, by its
    digest.
    """

    def __init__(self, disassemblers: Disassemblers) -> None:
        self._disassemblers = disassemblers
        self._is_a2xx = False
        self._generation = 0
        self.listings: dict[bytes, str] = {}
        self.descriptors: dict[bytes, frozenset[Descriptor]] = {}
        #: The descriptors that the instructions of a program name.
        self.descriptors_of: Callable[[memoryview], frozenset[Descriptor]]
        #: By epoch of memory, stage and address.
        self._facts: dict[tuple[int, str, int], InputFact] = {}
        #: Epoch and programs of the last action, and its facts.
        self._last: tuple[object, tuple[Facts, tuple[object, ...]]] = (None, (NO_FACTS, ()))
        self._bytes = 0
        #: Programs that were not read, because so much was read before.
        self.left_out = 0

    def bind(self, generation: Generation, number: int) -> None:
        """Programs are those of this generation."""
        disassemblers = self._disassemblers
        self._generation, self._is_a2xx = number, generation.instruction_set == "a2xx"
        # no method of this object, which keeps it: without a cycle, all is freed at once
        if self._is_a2xx:
            self.descriptors_of = lambda code: disassemblers.a2xx().descriptors(code)
        else:
            self.descriptors_of = lambda code: disassemblers.ir3(number).descriptors(code)

    def of(self, action: Action, image: MemoryImage) -> tuple[Facts, tuple[object, ...]]:
        """The facts of an action's programs, and their digests. The same objects for the same."""
        key = image.epoch, action.programs
        if self._last[0] == key:
            return self._last[1]
        found: dict[FactKey, InputFact] = {}
        for stage, address in action.programs:
            place = image.epoch, stage, address
            fact = self._facts.get(place)
            if fact is None:
                fact = self._facts[place] = self._read(image, stage, address)
            found["shader", stage] = fact
        result = Facts(found), tuple([fact.digest for fact in found.values()])
        self._last = key, result
        return result

    def _read(self, image: MemoryImage, stage: str, address: int) -> InputFact:
        place = image.place(address)
        if place is None:
            return InputFact(None, None, address)
        words, index = place
        self._bytes += 4 * max(0, words.count - index)
        if self._bytes > _MAX_PROGRAM_BYTES:
            self.left_out += 1
            return InputFact(None, None, address)
        data = words.bytes(index, words.count - index)
        if self._is_a2xx:
            old = self._disassemblers.a2xx().listing(data, 0, stage == "FS")
            size, text = old.size, old.text
        else:
            new = self._disassemblers.ir3(self._generation).listing(data, 0)
            size, text = new.instructions * 8, new.text
        code = memoryview(data[:size])  # a copy: not all that lies behind it in the buffer
        if not code:
            return InputFact(None, None, address)
        value = digest(code)
        self.listings.setdefault(value, text)
        if value not in self.descriptors:
            self.descriptors[value] = self.descriptors_of(code)
        return InputFact(value, code, address)
