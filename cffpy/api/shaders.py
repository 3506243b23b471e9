# SPDX-License-Identifier: MIT
"""Shader, CapturedShader, Shaders: programs, their listings and statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cffpy.analysis import shaders
    from cffpy.analysis.shaders import Naming, Program, SubmitUses
    from cffpy.isa.statistics import Statistics
    from cffpy.views.shaders import ShadersDocument


class Shader:
    """A program of a stage, such as ``draw.shaders["FS"]``."""

    __slots__ = ("_program", "generation", "gpuaddr", "stage")

    def __init__(self, stage: str, generation: int, gpuaddr: int, program: Program) -> None:
        #: "VS", "HS", "DS", "GS", "FS" or "CS".
        self.stage = stage
        #: 6 for a6xx.
        self.generation = generation
        #: GPU address of its first instruction.
        self.gpuaddr = gpuaddr
        self._program = program

    @property
    def code(self) -> bytes:
        """The bytes of its instructions."""
        return self._program.code

    @property
    def listing(self) -> str:
        """The instructions as text, as ``cffpy disasm`` prints them."""
        return self._program.text

    @property
    def instructions(self) -> int:
        """How many instructions it has."""
        return self._program.instructions

    @property
    def statistics(self) -> Statistics | None:
        """Counts of registers, stalls and kinds of instructions; None on a2xx."""
        return self._program.statistics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Shader):
            return NotImplemented
        mine = self.stage, self.generation, self.code
        return mine == (other.stage, other.generation, other.code)

    def __hash__(self) -> int:
        return hash((self.stage, self.generation, self.code))

    def __repr__(self) -> str:
        text = f"{self.instructions} instructions, {len(self.code)} bytes"
        return f"<{type(self).__name__} {self.stage} at {self.gpuaddr:#x}, {text}>"

    def _repr_html_(self) -> str:
        from html import escape  # lazy: only notebooks ask

        return f"<b>{escape(repr(self))}</b><pre>{escape(self.listing)}</pre>"


class CapturedShader(Shader):
    """A distinct program of a capture, with the draws and dispatches that use it."""

    __slots__ = ("model", "number")

    def __init__(self, found: shaders.Shader) -> None:
        super().__init__(found.stage, found.generation, found.gpuaddr, found.program)
        #: Its position in ``Capture.shaders``.
        self.number = found.number
        #: The object that the commands use; its shape may change.
        self.model = found

    @property
    def uses(self) -> int:
        """Draws and dispatches of the dump that run it, in every tile."""
        return self.model.uses

    @property
    def where(self) -> list[SubmitUses]:
        """For each submit, the ranges of draws of the dump that run it: ``submit``, ``ranges``."""
        return self.model.where

    @property
    def named_by(self) -> Naming:
        """The register or packet that named it first: ``name``, ``packet`` (GPU address)."""
        return self.model.named_by

    def to_dict(self, listing: bool = True) -> dict[str, Any]:
        """Its object in the document of ``cffpy disasm --all --json``."""
        from cffpy.frame.faces import facts_document

        return facts_document(self.model, ("listing",) if listing else ())


class Shaders(list[CapturedShader]):
    """The distinct programs of a capture, in the order of their first use."""

    def __init__(self, name: str, found: Iterable[shaders.Shader], left_out: int) -> None:
        super().__init__(map(CapturedShader, found))
        self._name = name
        #: Programs that are not listed, because there were too many.
        self.left_out = left_out

    def of(self, wanted: Callable[[CapturedShader], bool]) -> Shaders:
        """Some of them, with their numbers."""
        shown = Shaders(self._name, (), self.left_out)
        shown.extend(one for one in self if wanted(one))
        return shown

    def to_dict(self, listings: bool = True) -> ShadersDocument:
        """The document of ``cffpy disasm --all --json``, without its schema."""
        return {
            "file": self._name,
            "shaders": [one.to_dict(listings) for one in self],
            "left_out": self.left_out,
        }

    def _repr_html_(self) -> str:
        from cffpy.frame.notebook import table

        rows = (
            (one.number, one.stage, f"{one.gpuaddr:#x}", one.instructions, one.uses) for one in self
        )
        return table(("shader", "stage", "address", "instructions", "uses"), rows)
