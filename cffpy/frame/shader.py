# SPDX-License-Identifier: MIT
"""Programs that draws and dispatches run, with the numbers of their listings; all of a capture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.frame.facts import Address, described, fact, model, stored
from cffpy.frame.objects import ModelObject, Shown
from cffpy.frame.places import DrawRange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cffpy.isa.statistics import Statistics

#: In a class whose fact ``bytes`` is a number.
Code = bytes


class Program:
    """What lies at a place: the bytes up to the stop rule, and their listing."""

    __slots__ = ("code", "instructions", "statistics", "text")

    def __init__(
        self, code: bytes, instructions: int, text: str, statistics: Statistics | None
    ) -> None:
        self.code = code
        self.instructions = instructions
        self.text = text
        #: The numbers of the listing's Stats block; None on a2xx, which has none.
        self.statistics = statistics

    def __repr__(self) -> str:
        return f"<Program: {self.instructions} instructions, {len(self.code)} bytes>"


@model("naming", frozen=True)
class Naming:
    """What names a program: a register or a packet."""

    name: str = stored("name of the register or packet")
    packet: Address = stored("GPU address of the packet that writes it, or of the packet itself")


@described("uses", is_value=False, submit="number of the submit")
class SubmitUses(NamedTuple):
    """The draws and dispatches of a submit that run a program."""

    submit: int
    #: Ranges of draws of the dump as [first, last]; draws may have no number.
    ranges: list[list[int]]

    @fact()
    def dump_draws(self) -> list[DrawRange]:
        """Their numbers in ``cffpy dump``, as rising ranges."""
        return [DrawRange(first, last) for first, last in self.ranges]


@model("program")
class Shader(ModelObject):
    """A program of a stage, such as ``draw.shaders["FS"]``.

    Two are equal if stage, generation and bytes are.
    """

    stage: str = stored(
        "VS, HS, DS, GS, FS or CS; unknown where the packet does not say it; of Intel GPUs PS for"
        " FS, TASK, MESH, up to gen5 CLIP and SF"
    )
    generation: int = stored("generation of the GPU: 7 for a7xx, 125 for gen12.5 of Intel")
    gpuaddr: Address = stored("GPU address of its first instruction, at its first use")
    _program: Program

    @fact()
    def bytes(self) -> int:
        """Size of its instructions."""
        return len(self._program.code)

    @fact()
    def instructions(self) -> int:
        """How many instructions are listed."""
        return self._program.instructions

    @fact()
    def half_registers(self) -> int | None:
        """Half registers; None on a2xx, as are all that follow from the listing's Stats block."""
        return self._number("half")

    @fact()
    def full_registers(self) -> int | None:
        """Full registers."""
        return self._number("full")

    @fact()
    def constlen(self) -> int | None:
        """Constants, in vectors of 4 dwords."""
        return self._number("constlen")

    @fact()
    def ss(self) -> int | None:
        """Instructions with (ss)."""
        return self._number("ss")

    @fact()
    def sy(self) -> int | None:
        """Instructions with (sy)."""
        return self._number("sy")

    @fact()
    def sstall(self) -> int | None:
        """Cycles that instructions with (ss) wait, estimated."""
        return self._number("sstall")

    @fact()
    def instr(self) -> int | None:
        """Cycles of all instructions with their repeats and nops."""
        return self._number("instr")

    @fact()
    def nops(self) -> int | None:
        """Cycles of nops."""
        return self._number("nops")

    @fact()
    def non_nops(self) -> int | None:
        """Cycles of other instructions than nops."""
        return self._number("non_nops")

    @fact()
    def mov(self) -> int | None:
        """Moves that do not convert."""
        return self._number("mov")

    @fact()
    def cov(self) -> int | None:
        """Moves that convert."""
        return self._number("cov")

    @fact()
    def last_baryf(self) -> int | None:
        """Cycle of the last bary.f."""
        return self._number("last_baryf")

    @fact()
    def cat0(self) -> int | None:
        """Cycles of instructions of category 0."""
        return self._category(0)

    @fact()
    def cat1(self) -> int | None:
        """Cycles of instructions of category 1."""
        return self._category(1)

    @fact()
    def cat2(self) -> int | None:
        """Cycles of instructions of category 2."""
        return self._category(2)

    @fact()
    def cat3(self) -> int | None:
        """Cycles of instructions of category 3."""
        return self._category(3)

    @fact()
    def cat4(self) -> int | None:
        """Cycles of instructions of category 4."""
        return self._category(4)

    @fact()
    def cat5(self) -> int | None:
        """Cycles of instructions of category 5."""
        return self._category(5)

    @fact()
    def cat6(self) -> int | None:
        """Cycles of instructions of category 6."""
        return self._category(6)

    @fact()
    def cat7(self) -> int | None:
        """Cycles of instructions of category 7."""
        return self._category(7)

    @fact()
    def digest(self) -> str:
        """SHA-256 of its instructions."""
        from hashlib import sha256  # lazily: it takes 4 MB

        return sha256(self._program.code).hexdigest()

    @fact(cost="large")
    def listing(self) -> str:
        """Its instructions as text, as ``cffpy disasm`` prints them."""
        return self._program.text

    @property
    def code(self) -> Code:
        """The bytes of its instructions."""
        return self._program.code

    @property
    def statistics(self) -> Statistics | None:
        """Counts of registers, stalls and kinds of instructions; None on a2xx."""
        return self._program.statistics

    def _number(self, name: str) -> int | None:
        statistics = self._program.statistics
        return None if statistics is None else getattr(statistics, name)

    def _category(self, number: int) -> int | None:
        statistics = self._program.statistics
        return None if statistics is None else statistics.categories[number]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Shader):
            return NotImplemented
        mine = self.stage, self.generation, self.code
        return mine == (other.stage, other.generation, other.code)

    def __hash__(self) -> int:
        return hash((self.stage, self.generation, self.code))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._summary}>"

    @property
    def _summary(self) -> str:
        size = f"{self.instructions} instructions, {self.bytes} bytes"
        return f"{self.stage} at {self.gpuaddr:#x}, {size}"

    def _repr_html_(self) -> str:
        from html import escape  # lazily: only notebooks ask

        return f"<b>{escape(repr(self))}</b><pre>{escape(self.listing)}</pre>"


@model("shader")
class CapturedShader(Shader):
    """A distinct program of a stage, and where it is used."""

    number: int = stored("number of the program in the capture, by first use", is_key=True)
    named_by: Naming = stored("what named it first")
    uses: int = stored("draws and dispatches of the dump that run it, in every tile", default=0)
    where: list[SubmitUses] = stored(
        "the draws and dispatches of each submit that run it", default_factory=list
    )
    where_is_complete: bool = stored("all of these are listed; there may be too many", default=True)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} sh{self.number} {self._summary}>"

    def use(self, submit: int, draw: int | None, may_grow: bool) -> bool:
        """Count a use by a draw (None: one without number); True if the places grew in number.

        They do so only where ``may_grow``.
        """
        self.uses += 1
        ranges = self.where[-1].ranges if self.where and self.where[-1].submit == submit else None
        if ranges and draw is not None and ranges[-1][1] == draw - 1:
            ranges[-1][1] = draw
            return False
        if draw is None and ranges is not None:
            return False
        if not may_grow:
            self.where_is_complete = False
            return False
        if ranges is None:
            ranges = []
            self.where.append(SubmitUses(submit, ranges))
        if draw is not None:
            ranges.append([draw, draw])
        return True

    def to_dict(self, listing: bool = True) -> dict[str, Any]:
        """Its object in the document of ``cffpy shaders --json``."""
        from cffpy.frame.faces import facts_document  # lazily: text does without

        return facts_document(self, ("listing",) if listing else ())


class Shaders(Shown["CapturedShader"]):
    """The distinct programs of a capture, in the order of their first use."""

    def __init__(self, name: str, shaders: Iterable[CapturedShader], left_out: int) -> None:
        super().__init__(shaders)
        self._name = name
        #: Programs that are not listed, because there were too many.
        self.left_out = left_out

    def of(self, wanted: Callable[[CapturedShader], bool]) -> Shaders:
        """The shaders for which ``wanted`` holds, with their numbers."""
        shown = Shaders(self._name, (), self.left_out)
        shown.extend(filter(wanted, self))
        return shown

    def to_dict(self, listings: bool = True) -> dict[str, Any]:
        """The document of ``cffpy shaders --json``, without its schema."""
        return {
            "file": self._name,
            "shaders": [shader.to_dict(listings) for shader in self],
            "left_out": self.left_out,
        }

    def _repr_html_(self) -> str:
        from cffpy.frame.faces import html_table

        rows = (
            (shader.number, shader.stage, f"{shader.gpuaddr:#x}", shader.instructions, shader.uses)
            for shader in self
        )
        return html_table(("shader", "stage", "address", "instructions", "uses"), rows)
