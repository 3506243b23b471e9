# SPDX-License-Identifier: MIT
"""Action: one execution of a draw, dispatch, blit, copy, or event that moves pixels or clears LRZ.

The same draw of a program is executed in the binning run and in every tile: one Action each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from cffpy.cp.draw_values import DRAW_PACKETS
from cffpy.frame.attachment import Attachment
from cffpy.frame.facts import Address, described, model, stored
from cffpy.frame.place import PacketLocation
from cffpy.frame.transfer import Role, Transfer, TransferEnd

if TYPE_CHECKING:
    from cffpy.analysis.depth_state import DepthState
    from cffpy.cp.draw_values import DrawValues
    from cffpy.frame.execution import Executed

#: "blit": CP_BLIT, the 2D engine. "resolve": a BLIT event, between GMEM and memory. "copy": a
#: packet that copies memory.
ActionKind = Literal["draw", "dispatch", "blit", "resolve", "lrz clear", "copy"]

#: The pipe of the command processor that executes something. "unknown": only the GPU decides which.
ActionPipe = Literal["BR", "BV", "both", "unknown"]

#: Packets and events that are actions, but no draws.
KINDS: dict[str, ActionKind] = {
    "CP_BLIT": "blit",
    "CP_EXEC_CS": "dispatch",
    "CP_EXEC_CS_INDIRECT": "dispatch",
    "CP_RUN_OPENCL": "dispatch",
    "EVENT:BLIT": "resolve",
    "EVENT:LRZ_CLEAR": "lrz clear",
}

#: Packets that copy memory without the 2D engine. Mesa counts and adds query results by them.
MEMORY_COPIES = ("CP_MEM_TO_MEM", "CP_MEMCPY")

_EVENTS = tuple(name for name in KINDS if name.startswith("EVENT:"))

#: All packets of actions.
_PACKETS = (
    *sorted(DRAW_PACKETS),
    *sorted(KINDS.keys() - {*_EVENTS}),
    "CP_EVENT_WRITE",
    *MEMORY_COPIES,
)

#: Draws whose packet has the address and the number of the indices.
_INDEXED_PACKETS = ("CP_DRAW_INDX_OFFSET", "CP_DRAW_INDX")

#: Driver-made rectangles: clears, loads and stores.
RECTANGLES = "DI_PT_RECTLIST"

#: SOURCE_SELECT (pc_di_src_sel): the indices are in the packet.
_IN_PACKET = 1


@described("groups", x="in x", y="in y", z="in z")
class Groups(NamedTuple):
    """The work groups of a dispatch."""

    x: int
    y: int
    z: int

    def __str__(self) -> str:
        return f"{self.x}x{self.y}x{self.z}"


@described("program", stage="the stage: VS, FS, CS, ...", gpuaddr="GPU address")
class StageProgram(NamedTuple):
    """A shader program that an action runs."""

    stage: str
    gpuaddr: Address

    def __str__(self) -> str:
        return f"{self.stage}:{self.gpuaddr:#x}"


@dataclass(slots=True, eq=False)
class PacketFacts:
    """What the packet of an action says, the same object at each of its executions.

    What an indirect draw reads in memory is a part of it. See the facts of Action.
    """

    kind: ActionKind
    packet: str
    primitive: str | None
    vertices: int | None = None
    instances: int | None = None
    indexed: bool = False
    indirect: bool = False
    #: The packets that have stored the parameters of an indirect draw or dispatch; none where they
    #: are as captured, or not known.
    parameters_from: tuple[PacketLocation, ...] = ()
    groups: Groups | None = None
    #: What the packet of a draw says.
    values: DrawValues | None = None
    #: The packet of a dispatch, a blit or an indirect draw after its header, with 0 for addresses
    #: and for what other members have. It may end early.
    dwords: tuple[int, ...] = ()


@model("action")
class Action:
    """One execution of a draw, dispatch, blit, clear, load, store or copy."""

    kind: ClassVar[ActionKind]

    packet_facts: PacketFacts
    order: int = stored("position among all actions of the capture", is_key=True, kw_only=True)
    pass_index: int | None = stored(
        "number of its pass; None outside of all passes", name="pass", default=None
    )
    number: int | None = stored(
        "number among the program's draws, dispatches or copies of its pass, which is the same for "
        "all its executions; None for what the driver adds",
        name="draw",
        default=None,
    )
    dump_draw: int | None = stored(
        "its number in cffpy dump; None for what the dump does not number", kw_only=True
    )
    tile_number: int | None = stored(
        "position of its tile in the order of execution; None outside of tiles",
        name="tile",
        default=None,
    )
    binning: bool = stored("it is executed in a binning run", default=False)
    role: Role = stored(
        "what a driver does with it; empty for a draw or dispatch of the program", default=""
    )
    #: Whether it is executed.
    execution: Executed = field(kw_only=True)
    condition: str | None = stored("the condition that this depends on, in words", default=None)
    pipe: ActionPipe | None = stored(
        "the pipe of the CP that executes it, unknown where the GPU decides; None where there is "
        "one pipe, or the stream does not say it",
        default=None,
    )
    level: int = stored("nesting of IBs and draw state groups around its packet", kw_only=True)
    programs: tuple[StageProgram, ...] = stored("the shader programs that it runs", default=())
    targets: tuple[Attachment, ...] = stored("the buffers that it renders to", default=())
    transfers: tuple[Transfer, ...] = stored(
        "what it copies, fills, clears, loads or stores: one for each attachment", default=()
    )
    place: PacketLocation = stored("where its packet is", kw_only=True)
    #: Of an LRZ clear: index of the pass that uses the buffer. It may stand before that pass.
    clears_lrz_of: int | None = None
    #: Depth, stencil, blend and LRZ state of a draw in a render pass.
    depth: DepthState | None = None

    # -- what its packet says -------------------------------------------------------------------

    @property
    def packet(self) -> str:
        """Name of its packet."""
        return self.packet_facts.packet

    @property
    def primitive(self) -> str | None:
        """Primitive type of a draw; kind of a blit, dispatch or event."""
        return self.packet_facts.primitive

    @property
    def vertices(self) -> int | None:
        """Vertices or indices of each instance; None where only the GPU knows them."""
        return self.packet_facts.vertices

    @property
    def instances(self) -> int | None:
        """Instances; None where only the GPU knows them."""
        return self.packet_facts.instances

    @property
    def groups(self) -> Groups | None:
        """Work groups of a dispatch; None where only the GPU knows them."""
        return self.packet_facts.groups

    @property
    def indexed(self) -> bool:
        """Whether it reads indices."""
        return self.packet_facts.indexed

    @property
    def indirect(self) -> bool:
        """Whether its numbers are in memory."""
        return self.packet_facts.indirect

    @property
    def values(self) -> DrawValues | None:
        """The values of the packet of a draw."""
        return self.packet_facts.values

    @property
    def dwords(self) -> tuple[int, ...]:
        """See ``PacketFacts.dwords``."""
        return self.packet_facts.dwords

    @property
    def parameters_from(self) -> tuple[PacketLocation, ...]:
        """The packets that have stored the parameters of an indirect draw or dispatch."""
        return self.packet_facts.parameters_from

    @property
    def uses_visibility(self) -> bool:
        """Whether a draw uses the visibility stream: VIS_CULL of its draw initiator.

        Others (some of the driver's own rectangles) neither write nor read an entry.
        """
        values = self.packet_facts.values
        return values is not None and values.uses_visibility

    @property
    def first_index(self) -> int | None:
        """FIRST_INDX of CP_DRAW_INDX_OFFSET; None for draws without indices."""
        values = self.packet_facts.values
        return None if values is None or not self.indexed else values.first_index

    @property
    def initiator(self) -> int | None:
        """The draw initiator, a dword of a draw's packet; None where there is none."""
        values = self.packet_facts.values
        return None if values is None else values.initiator

    @property
    def viz_query(self) -> int | None:
        """VIZ_QUERY, the dword before the draw initiator; None where the packet has none."""
        values = self.packet_facts.values
        return None if values is None else values.viz_query

    @property
    def indices_within(self) -> int | None:
        """How many indices there are, where that is fewer than the draw would read; else None.

        None for several draws of one packet, too: ``vertices`` is their sum.
        """
        values = self.values
        if values is None or not self.indexed or self.vertices is None:
            return None
        if values.draws != 1:
            return None
        if values.max_indices is None or values.source == _IN_PACKET:
            return None
        needed = (values.first_index or 0) + self.vertices
        return values.max_indices if values.max_indices < needed else None

    @property
    def index_region(self) -> tuple[int, int, int] | None:
        """GPU address of the first index that a draw reads, number of indices, bytes of each.

        None where the packet of the draw does not have the address.
        """
        values = self.values
        if not self.indexed or self.vertices is None or values is None:
            return None
        if self.packet not in _INDEXED_PACKETS or values.index_base is None:
            return None
        size = values.index_bytes
        return values.index_base + size * (values.first_index or 0), self.vertices, size

    @property
    def unknown_parameters(self) -> int | None:
        """GPU address of the parameters of a draw, if these were not captured."""
        values = self.values
        return None if values is None or self.vertices is not None else values.indirect

    @property
    def indirect_indices(self) -> tuple[int, int] | None:
        """GPU address and size in bytes of the indices of a draw whose counts are in memory."""
        values = self.values
        if values is None or not self.indexed or not self.indirect:
            return None
        if values.index_base is None or values.max_indices is None:
            return None
        return values.index_base, values.max_indices * values.index_bytes

    # -- what it moves --------------------------------------------------------------------------

    @property
    def source(self) -> TransferEnd | None:
        """Where the first of its transfers reads; None for a fill, and without transfers."""
        return self.transfers[0].source if self.transfers else None

    @property
    def destination(self) -> TransferEnd | None:
        """Where the first of its transfers writes; None without transfers."""
        return self.transfers[0].destination if self.transfers else None


class Draw(Action):
    """A draw: of the program, or a rectangle of the driver, which clears, loads or stores."""

    __slots__ = ()
    kind = "draw"


class Dispatch(Action):
    """A dispatch of work groups."""

    __slots__ = ()
    kind = "dispatch"


class Blit(Action):
    """CP_BLIT: a copy, fill or resolve by the 2D engine."""

    __slots__ = ()
    kind = "blit"


class Copy(Action):
    """A packet that copies memory."""

    __slots__ = ()
    kind = "copy"


class Event(Action):
    """An event that moves pixels or clears."""

    __slots__ = ()


class Resolve(Event):
    """A BLIT event: a clear, load, store or resolve between GMEM and memory."""

    __slots__ = ()
    kind = "resolve"


class Clear(Event):
    """An LRZ_CLEAR event."""

    __slots__ = ()
    kind = "lrz clear"


#: The class of each kind.
CLASSES: dict[ActionKind, type[Action]] = {
    one.kind: one for one in (Draw, Dispatch, Blit, Copy, Resolve, Clear)
}
