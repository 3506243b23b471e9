# SPDX-License-Identifier: MIT
"""What a report on a crash dump consists of: statements, each with its evidence, in sections.

A section declares what its statements say as facts. Actions and passes are those of the capture
that the dump holds, by the numbers that ``cffpy draws`` and ``cffpy passes`` show of the dump.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from cffpy.analysis.crash.context import Evidence, RingCall
from cffpy.analysis.crash.flight import AddressUse, TextureUse
from cffpy.analysis.crash.position import CpLevel, CpPacket, Method
from cffpy.analysis.crash.status import QueueState, SqeState, StatusRegister
from cffpy.frame.action import Action
from cffpy.frame.attachment import Attachment
from cffpy.frame.facts import Address, described, fact, model, stored
from cffpy.frame.geometry import Size
from cffpy.frame.objects import ModelObject
from cffpy.frame.passes import Pass, PassKind
from cffpy.frame.places import PacketLocation
from cffpy.frame.render_mode import Mode
from cffpy.frame.shader import CapturedShader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.crash.context import CrashContext
    from cffpy.analysis.crash.flight import Flight
    from cffpy.analysis.crash.position import CpPosition

#: What may be why a GPU hangs.
SuspicionKind = Literal[
    "error",
    "page-fault",
    "header",
    "wait",
    "threads",
    "sqe",
    "ib",
    "opcode",
    "shader",
    "descriptor",
    "pointer",
]


@model("statement")
class Statement(ModelObject):
    """A sentence of a report, and where it comes from."""

    text: str = stored("the sentence")
    is_unknown: bool = stored(
        "it says that something is not known", name="unknown", default=False, kw_only=True
    )
    evidence: tuple[Evidence, ...] = stored("where it comes from", default=())


@model("suspicion")
class Suspicion(ModelObject):
    """Something that may be why the GPU hangs."""

    kind: SuspicionKind = stored("what is suspicious, the same words in all reports")
    text: str = stored("what is suspicious in this dump")
    reasons: tuple[str, ...] = stored("why it may be the cause, in words", default=())
    evidence: tuple[Evidence, ...] = stored("where it comes from", default=())


@model("crash_section")
class Section(ModelObject):
    """A part of a report."""

    #: What it goes by in documents, and its heading.
    name: ClassVar[str]
    title: ClassVar[str]

    statements: list[Statement] = stored(
        "what it says, in words", default_factory=list, kw_only=True
    )

    def say(self, text: str, evidence: Iterable[Evidence] = ()) -> None:
        """Add a statement with the lines and addresses that prove it."""
        self.statements.append(Statement(text, tuple(evidence)))

    def say_unknown(self, text: str) -> None:
        """Say that something is not known."""
        self.statements.append(Statement(text, is_unknown=True))


@model("crash_hang")
class Hang(Section):
    """What hangs, in a sentence."""

    name = "hang"
    title = "what hangs"

    packet: CpPacket | None = stored(
        "the packet that the CP is at; None where it is unknown", default=None
    )
    action: Action | None = stored(
        "the action that the CP is at, else the one that was sent last", default=None
    )
    exact: bool = stored("the CP is at this action", default=False)


@described("dump_line", is_value=False, text="what it says", line="its number, from 1")
class DumpLine(NamedTuple):
    """A line of a dump; of a binary dump, a text in it."""

    text: str
    line: int


@model("crash_dump")
class DumpHead(Section):
    """What the dump is of."""

    name = "dump"
    title = "dump"

    gpu: str | None = stored("name of the GPU; None where the dump does not tell it", default=None)
    generation: int | None = stored("generation of the GPU: 7 for a7xx", default=None)
    header: dict[str, DumpLine] = stored("the lines of the dump's head", default_factory=dict)
    skipped_lines: int = stored(
        "lines that were skipped, since they do not have the form of their section", default=0
    )
    problems: list[str] = stored("the first of these, in words", default_factory=list)


@model("fault_use", is_value=False)
class FaultUse(ModelObject):
    """A use by a draw in flight that may have touched the address of the page fault."""

    use: AddressUse = stored("what names the address, or the nearest one below")
    action: Action = stored("number of the draw, among all actions")
    sure: bool = stored("the address is known to lie in it")

    @property
    def draw_text(self) -> str:
        """The draw, in words."""
        return f"{self.action.primitive or self.action.packet} at {self.action.place.gpuaddr:#x}"


@model("crash_fault")
class Fault(Section):
    """What the MMU says of a page fault."""

    name = "fault"
    title = "fault"

    address: Address | None = stored(
        "GPU address of the page fault; None where the dump reports none", default=None
    )
    details: dict[str, DumpLine] = stored(
        "what the dump says of it, by the dump's names", default_factory=dict
    )
    where: str | None = stored("where the address lies among the buffers, in words", default=None)
    page_table: str | None = stored(
        "what the page table says of the address, in words", default=None
    )
    users: list[FaultUse] = stored(
        "what draws in flight use at or below the address", default_factory=list
    )


@model("crash_ring", is_value=False)
class RingState(ModelObject):
    """A ring buffer."""

    ring: int = stored("its number")
    gpuaddr: Address = stored("GPU address of its first dword")
    dwords: int = stored("its length", "dwords")
    rptr: int = stored("the read pointer", "dwords")
    wptr: int = stored("the write pointer", "dwords")
    last_fence: int | None = stored("the fence of the last submit")
    retired_fence: int | None = stored("the fence of the last submit that is finished")
    read: bool = stored("the CP reads it")


@model("crash_rings")
class Rings(Section):
    """How far rings are executed."""

    name = "rings"
    title = "rings"

    rings: list[RingState] = stored("the rings of the dump", default_factory=list)
    calls: list[RingCall] = stored(
        "the IBs that the ring calls after the last fence that is known to be retired",
        default_factory=list,
    )


@model("crash_position")
class PositionSection(Section):
    """Where the CP is in the commands."""

    name = "position"
    title = "where the CP is"

    method: Method = stored(
        "how it is known: by the registers, by following calls back from the fetcher (look-ahead),"
        " by an inferred size of IB1; empty where it is unknown",
        default="",
    )
    levels: list[CpLevel] = stored("the streams that it is in, from outside", default_factory=list)
    unknown: list[str] = stored("what is not known of it, in words", default_factory=list)


@model("crash_in_flight")
class InFlight(Section):
    """Actions that may still be executed."""

    name = "in_flight"
    title = "in flight"

    at: Action | None = stored("the action that the CP is at", default=None)
    next: Action | None = stored("the first action after the CP's position", default=None)
    sent: list[int] = stored(
        "the last actions that were sent and may not be finished", default_factory=list
    )
    sent_count: int = stored("how many were sent and may not be finished", default=0)
    waited: PacketLocation | None = stored(
        "the last wait for idle that the CP has passed", default=None
    )
    actions: list[Action] = stored("all these actions, in order", default_factory=list)


@model("crash_pass")
class PassSection(Section):
    """The pass that the CP is in."""

    name = "pass"
    title = "pass"

    pass_: Pass | None = stored("number of the pass; None where it is unknown", default=None)

    @fact()
    def kind(self) -> PassKind | None:
        """A pass with a framebuffer, or dispatches or copies between passes."""
        return None if self.pass_ is None else self.pass_.kind

    @fact()
    def mode(self) -> Mode | None:
        """How a render pass is rendered."""
        return None if self.pass_ is None else self.pass_.mode

    @fact(unit="pixels")
    def framebuffer(self) -> Size | None:
        """Size of the framebuffer."""
        return None if self.pass_ is None else self.pass_.framebuffer

    @fact()
    def attachments(self) -> list[Attachment]:
        """The buffers that its draws render to."""
        return [] if self.pass_ is None else self.pass_.attachments

    @fact()
    def unknown(self) -> list[str]:
        """What could not be found out of it, in words."""
        return [] if self.pass_ is None else self.pass_.unknown


@model("draw_program", is_value=False)
class DrawProgram(ModelObject):
    """A program of the draw."""

    stage: str = stored("the stage: VS, FS, CS, ...")
    gpuaddr: Address = stored("GPU address of its first instruction")
    where: str = stored("where the address lies among the buffers, in words")
    shader: CapturedShader | None = stored(
        "number of the program, as cffpy shaders shows it; None where the dump does not have it",
        default=None,
    )

    @fact()
    def instructions(self) -> int | None:
        """How many instructions are listed."""
        return None if self.shader is None else self.shader.instructions

    @fact()
    def full_registers(self) -> int | None:
        """Full registers."""
        return None if self.shader is None else self.shader.full_registers

    @fact()
    def half_registers(self) -> int | None:
        """Half registers."""
        return None if self.shader is None else self.shader.half_registers

    @fact()
    def constlen(self) -> int | None:
        """Constants, in vectors of 4 dwords."""
        return None if self.shader is None else self.shader.constlen


@described(
    "draw_data",
    is_value=False,
    name="what it is: constants, a buffer and its slot",
    size="its size in bytes; None where the dump does not have it",
)
class DrawData(NamedTuple):
    """Data that the draw reads."""

    name: str
    size: int | None


@model("crash_shaders")
class ShadersSection(Section):
    """The programs of the draw, and what they read."""

    name = "shaders"
    title = "shaders of the draw"

    action: Action | None = stored("number of the draw, among all actions", default=None)
    shaders: list[DrawProgram] = stored("its programs", default_factory=list)
    textures: list[TextureUse] = stored(
        "the texture descriptors that it uses or may use", default_factory=list
    )
    constants: list[DrawData] = stored("data that packets load for it", default_factory=list)


@model("crash_status")
class StatusSection(Section):
    """What status registers say of the units of the GPU."""

    name = "status"
    title = "status"

    registers: list[StatusRegister] = stored("the registers", default_factory=list)
    sqe: list[SqeState] = stored("the threads of the SQE", default_factory=list)


@model("crash_gmu")
class GmuSection(Section):
    """Registers, messages and queues of the GMU, which controls the power of the GPU."""

    name = "gmu"
    title = "GMU"

    registers: list[StatusRegister] = stored("its registers", default_factory=list)
    queues: list[QueueState] = stored("the queues between driver and GMU", default_factory=list)


@model("crash_lacks")
class LacksSection(Section):
    """What the dump does not have."""

    name = "lacks"
    title = "what the dump lacks"

    missing: list[str] = stored("sections that it does not have", default_factory=list)
    other_sections: list[str] = stored("sections that are not known", default_factory=list)
    buffers: int = stored("how many buffers it lists", default=0)
    buffers_without_contents: int = stored("how many of these have no contents", default=0)
    shader_blocks: list[str] = stored(
        "the kinds of shader memory that it has", default_factory=list
    )


@described(
    "snapshot_section",
    is_value=False,
    type="number of its type",
    name="name of its type",
    offset="its offset in the file, in bytes",
    size="its size in bytes, with its header, as far as it is there",
)
class SnapshotSection(NamedTuple):
    """A section of a KGSL snapshot."""

    type: Address
    name: str
    offset: Address
    size: int


@model("crash_sections")
class SnapshotSections(Section):
    """The sections of a KGSL snapshot."""

    name = "sections"
    title = "sections of the snapshot"

    sections: list[SnapshotSection] = stored("the sections, in order", default_factory=list)


@model("crash")
class CrashReport(ModelObject):
    """The report on a GPU crash dump: ``cffpy crash --json``."""

    file: str = stored("the dump")
    suspicious: list[Suspicion] = stored("what may be the cause, the likeliest first")
    hang: Hang = stored("what hangs")
    dump: DumpHead = stored("what the dump is of")
    fault: Fault = stored("what the MMU says of a page fault")
    rings: Rings = stored("how far rings are executed")
    position: PositionSection = stored("where the CP is in the commands")
    in_flight: InFlight = stored("actions that may still be executed")
    pass_: PassSection = stored("the pass that the CP is in")
    shaders: ShadersSection = stored("the programs of the draw, and what they read")
    status: StatusSection = stored("what status registers say of the units of the GPU")
    gmu: GmuSection = stored("what the GMU says")
    lacks: LacksSection = stored("what the dump does not have")
    sections: SnapshotSections | None = stored(
        "the sections of a KGSL snapshot; None for other dumps"
    )
    context: CrashContext
    cp: CpPosition
    flight: Flight | None
    #: Damage of the file, and lines that were skipped.
    problems: list[str]

    @property
    def parts(self) -> Iterator[Section]:
        """The sections, in the order of the report."""
        yield from (self.hang, self.dump, self.fault, self.rings, self.position, self.in_flight)
        yield from (self.pass_, self.shaders, self.status, self.gmu, self.lacks)
        if self.sections is not None:
            yield self.sections
