# SPDX-License-Identifier: MIT
"""IntelPrograms: the distinct kernels of an Intel capture, as the programs of other captures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.frame.shader import CapturedShader, Naming, Program
from cffpy.intel.analysis.survey import survey
from cffpy.intel.decoder.kernels import STAGE_INSTRUCTIONS, instructions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.intel.analysis.state import Instruction, State
    from cffpy.intel.analysis.survey import Survey, SurveyWalk

#: Limits for hostile captures: bytes of distinct kernels, and ranges of actions over all of them.
_MAX_BYTES = 64 << 20
_MAX_RANGES = 1 << 19


class IntelPrograms:
    """The kernels of a capture, by a run over its commands; ``survey``: what else that has found.

    Two are the same if stage and bytes are. No description of their instructions is there: the
    listing has these as dwords.
    """

    def __init__(self, content: Content, directory: str | None) -> None:
        #: In order of their first use.
        self.shaders: list[CapturedShader] = []
        #: Kernels that limits left out.
        self.left_out = 0
        #: Submit, stage and address -> its program.
        self.at: dict[tuple[int, str, int], Program] = {}
        self._known: dict[tuple[str, bytes], CapturedShader] = {}
        self._bytes = self._ranges = 0
        self.survey: Survey = survey(content, directory, self._take)

    def _take(self, walk: SurveyWalk, action: Action, command: Instruction) -> bool:
        for program in walk.uses[action.order].programs:
            for _, address in program.kernels:
                facts = walk.kernels.facts(address)
                if facts is None:
                    continue
                code = walk.span(address, facts.size)
                found = self._known.get((program.stage, code))
                if found is None:
                    named_by = _naming(walk.state, program.stage, command)
                    found = self._add(walk, program.stage, address, code, named_by)
                if found is not None:
                    self.at[action.submit, program.stage, address] = found._program
                    may_grow = self._ranges < _MAX_RANGES
                    self._ranges += found.use(action.submit, action.dump_draw, may_grow)
        return False

    def _add(
        self, walk: SurveyWalk, stage: str, address: int, code: bytes, named_by: Naming
    ) -> CapturedShader | None:
        """A new program; None where there are too many."""
        if self._bytes + len(code) > _MAX_BYTES:
            self.left_out += 1
            return None
        self._bytes += len(code)
        lines = list(_listing(code))
        program = Program(code, len(lines), "".join(lines), None)
        number, generation = len(self.shaders), walk.database.verx10
        found = CapturedShader(
            stage, generation, address, program, number=number, named_by=named_by
        )
        self._known[stage, code] = found
        self.shaders.append(found)
        return found


def _naming(state: State, stage: str, command: Instruction) -> Naming:
    """The instruction that names the kernel of a stage; of others the action's own."""
    names = (*STAGE_INSTRUCTIONS.get(stage, ()), "3DSTATE_PIPELINED_POINTERS")
    found = next((one for name in names if (one := state.get(name)) is not None), command)
    return Naming(found.name, found.address)


def _listing(code: bytes) -> Iterator[str]:
    """A line for each instruction: its offset and its dwords."""
    offset = 0
    for one in instructions(code):
        words = (one[start : start + 4] for start in range(0, len(one), 4))
        shown = " ".join(f"{int.from_bytes(word, 'little'):08x}" for word in words)
        yield f"{offset:08x}: {shown}\n"
        offset += len(one)
