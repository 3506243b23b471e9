# SPDX-License-Identifier: MIT
"""Action: one execution of a draw, dispatch, blit, copy, or event that moves pixels or clears LRZ.

A draw of the program is executed in the binning run and in every tile: an Action for each. The
packets and instructions that are actions are named at the head of the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from cffpy.errors import UsageError
from cffpy.frame.attachment import Attachment, Role, Transfer, TransferEnd
from cffpy.frame.binding import Binding, Constants, DataBuffer, Descriptor
from cffpy.frame.driver import CalledStream, ProbableCall, StateGroup
from cffpy.frame.facts import Address, described, fact, model, stored
from cffpy.frame.objects import ByStage, Shown
from cffpy.frame.places import PacketLocation, name_of

if TYPE_CHECKING:
    from cffpy.frame.binding import Bound, VertexAttribute
    from cffpy.frame.draw_values import DrawValues
    from cffpy.frame.execution import Executed
    from cffpy.frame.lrz import DepthState, DrawLrz
    from cffpy.frame.passes import Answers, Pass, Passes, Tile
    from cffpy.frame.pictures import NamedImage
    from cffpy.frame.register_state import RegisterState
    from cffpy.frame.shader import Shader
    from cffpy.frame.submit import Memory

#: Packets of Adreno GPUs that draw.
DRAW_PACKETS = frozenset(
    (
        "CP_DRAW_AUTO",
        "CP_DRAW_INDIRECT",
        "CP_DRAW_INDIRECT_MULTI",
        "CP_DRAW_INDX",
        "CP_DRAW_INDX_2",
        "CP_DRAW_INDX_BIN",
        "CP_DRAW_INDX_INDIRECT",
        "CP_DRAW_INDX_OFFSET",
    )
)

#: Instructions of Intel GPUs that draw, and that start work groups.
DRAW_INSTRUCTIONS = frozenset(
    ("3DPRIMITIVE", "3DPRIMITIVE_EXTENDED", "3DMESH_1D", "3DMESH_3D", "EXECUTE_INDIRECT_DRAW")
)
DISPATCH_INSTRUCTIONS = frozenset(
    ("GPGPU_WALKER", "COMPUTE_WALKER", "EXECUTE_INDIRECT_DISPATCH", "MEDIA_OBJECT_WALKER")
)

#: The instruction of Intel GPUs that clears or resolves depth, stencil, or hierarchical depth.
HIZ_OPERATION = "3DSTATE_WM_HZ_OP"

#: Instructions of the 2D engine of Intel GPUs.
BLIT_INSTRUCTIONS = (
    "XY_BLOCK_COPY_BLT",
    "XY_COLOR_BLT",
    "XY_FAST_COLOR_BLT",
    "XY_SETUP_BLT",
    "XY_SRC_COPY_BLT",
    "XY_TEXT_IMMEDIATE_BLT",
)

#: Topologies of draws of Intel GPUs.
TOPOLOGIES = (
    "LINELIST",
    "LINELIST_ADJ",
    "LINELOOP",
    "LINESTRIP",
    "LINESTRIP_ADJ",
    "LINESTRIP_BF",
    "LINESTRIP_CONT",
    "LINESTRIP_CONT_BF",
    *(f"PATCHLIST_{points}" for points in range(1, 33)),
    "POINTLIST",
    "POINTLIST_BF",
    "POLYGON",
    "QUADLIST",
    "QUADSTRIP",
    "RECTLIST",
    "TRIFAN",
    "TRIFAN_NOSTIPPLE",
    "TRILIST",
    "TRILIST_ADJ",
    "TRISTRIP",
    "TRISTRIP_ADJ",
    "TRISTRIP_REVERSE",
)

#: "blit": CP_BLIT, the 2D engine; XY_... of Intel. "resolve": a BLIT event, between GMEM and
#: memory. "copy": a packet that copies memory. "HiZ operation": 3DSTATE_WM_HZ_OP of Intel.
ActionKind = Literal["draw", "dispatch", "blit", "resolve", "lrz clear", "copy", "HiZ operation"]

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

#: What a HiZ operation does, in its ``primitive``: one of these, or several with commas.
HIZ_OPERATIONS = ("depth clear", "stencil clear", "depth resolve", "HiZ resolve")

_EVENTS = tuple(name for name in KINDS if name.startswith("EVENT:"))

#: All packets of actions.
_PACKETS = (
    *sorted(DRAW_PACKETS),
    *sorted(KINDS.keys() - {*_EVENTS}),
    "CP_EVENT_WRITE",
    *MEMORY_COPIES,
    *sorted(DRAW_INSTRUCTIONS),
    *sorted(DISPATCH_INSTRUCTIONS),
    HIZ_OPERATION,
    *BLIT_INSTRUCTIONS,
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


@described(
    "generated",
    call="number of the call that generates it, among those of the capture",
    item="its item in the call's indirect data",
    ring_pass="which filling of the call's ring it belongs to",
    is_predicted="its commands are not in memory: its counts are those of the indirect data",
)
class Generated(NamedTuple):
    """The origin of a draw whose commands a shader writes (Intel)."""

    call: int
    item: int
    ring_pass: int
    is_predicted: bool

    def __str__(self) -> str:
        return f"{'predicted' if self.is_predicted else 'generated'} {self.call}:{self.item}"


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
    #: Of a draw of Intel.
    first: int | None = None
    first_instance: int | None = None
    base_vertex: int | None = None
    generated: Generated | None = None

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


class IndexBuffer(NamedTuple):
    """The indices that a draw reads: address of the first, their number, bytes of each."""

    gpuaddr: int
    indices: int
    bytes_per_index: int


@model("action")
class Action:
    """One execution of a draw, dispatch, blit, clear, load, store or copy.

    A draw of the program is executed in the binning run and in every tile: one Action each, with
    the same ``number``. ``Pass.draws`` has one of them, ``executions`` all.
    """

    kind: ClassVar[ActionKind]

    _packet_facts: PacketFacts
    order: int = stored("position among all actions of the capture", is_key=True, kw_only=True)

    @fact()
    def name(self) -> str | None:
        """The name that commands take: p3:17 for draw 17 of the program in pass 3, else #62, its
        number in cffpy dump.
        """
        name = name_of(self)
        return None if name is None else str(name)

    @fact()
    def submit(self) -> int:
        """Number of its submit."""
        return self.place.submit

    pass_index: int | None = stored(
        "number of its pass; None outside of all passes", name="pass", default=None
    )
    number: int | None = stored(
        "number among the program's draws, dispatches or copies of its pass, the same for all its "
        "executions; None for what the driver adds",
        name="draw",
        default=None,
    )
    dump_draw: int | None = stored(
        "its number in cffpy dump; of Intel GPUs, which cffpy dump does not take, its position "
        "among all actions; None for what the dump does not number",
        kw_only=True,
    )
    tile_number: int | None = stored(
        "position of its tile in the order of execution; None in a binning run and in sysmem mode",
        name="tile",
        default=None,
    )
    binning: bool = stored("it is executed in a binning run", default=False)

    @fact(name="kind")
    def _kind(self) -> ActionKind:
        """What it is: "blit" by the 2D engine (CP_BLIT, XY_...), "resolve" by a BLIT event, "copy"
        by a packet that copies memory, "HiZ operation" by 3DSTATE_WM_HZ_OP.
        """
        return self.kind

    role: Role = stored(
        "what a driver does with it; empty for a draw or dispatch of the program", default=""
    )

    @fact(words=_PACKETS)
    def packet(self) -> str:
        """Name of its packet."""
        return self._packet_facts.packet

    @fact(
        words=("compute", "COMPUTE", *_EVENTS, *TOPOLOGIES, *HIZ_OPERATIONS),
        enums=("pc_di_primtype", "cp_blit_cmd"),
    )
    def primitive(self) -> str | None:
        """Primitive type of a draw; kind of a blit, dispatch, event or HiZ operation."""
        return self._packet_facts.primitive

    @fact()
    def vertices(self) -> int | None:
        """Vertices or indices of each instance; None where only the GPU knows them."""
        return self._packet_facts.vertices

    @fact()
    def instances(self) -> int | None:
        """Instances; None where only the GPU knows them."""
        return self._packet_facts.instances

    @fact()
    def first(self) -> int | None:
        """First vertex or index; None where its packet does not say it."""
        first = self._packet_facts.first
        return self.first_index if first is None else first

    @fact()
    def first_instance(self) -> int | None:
        """First instance; None where its packet does not say it."""
        return self._packet_facts.first_instance

    @fact()
    def base_vertex(self) -> int | None:
        """What is added to indices; None where its packet does not say it."""
        return self._packet_facts.base_vertex

    @fact()
    def generated(self) -> Generated | None:
        """Of a draw whose commands a shader writes (Intel): where it comes from."""
        return self._packet_facts.generated

    @fact()
    def groups(self) -> Groups | None:
        """Work groups of a dispatch; None where only the GPU knows them."""
        return self._packet_facts.groups

    @fact()
    def indexed(self) -> bool:
        """Whether it reads indices."""
        return self._packet_facts.indexed

    @fact()
    def indirect(self) -> bool:
        """Whether its numbers are in memory. They are what packets of its submit have stored, else
        what was captured, which is the memory before the submit ran. A program of the submit may
        have stored others.
        """
        return self._packet_facts.indirect

    #: Whether it is executed.
    execution: Executed = field(kw_only=True)

    @fact()
    def emitted(self) -> bool:
        """Whether the stream calls it, and no condition surely skips it."""
        return self.execution.is_possible

    @fact(cost="large")
    def visible(self) -> bool | None:
        """Whether the visibility stream draws it in its tile; None in a binning run, outside of
        passes, and where that is unknown.
        """
        if self.binning or self.pass_index is None:
            return None
        tile = self.tile
        return True if tile is None else tile.shows(self)

    @fact(cost="large")
    def visible_primitives(self) -> int | None:
        """How many of its primitives the visibility streams draw, in all tiles of its pass
        together; None where a stream of the pass does not say it.
        """
        found = self.pass_
        if found is None or not self.uses_visibility or not found.tiles or not found._stream_memory:
            return None
        answers = self._open_frame.answers
        if answers is None:
            return None
        total, seen = 0, answers.visibility(found).by_tile
        for tile in found.tiles:
            captured = seen.get(tile.number)
            if captured is None or tile.visibility != "streams":
                return None
            count = captured.primitives.get(self.number or 0, 0)
            if count is None:
                return None
            total += count
        return total

    @fact(cost="large", words=("test and write", "test", "off"))
    def lrz(self) -> str | None:
        """What it does with LRZ; None of what is no draw of a render pass, and where the GPU has no
        LRZ.
        """
        found = self._lrz
        return None if found is None else found.use

    @fact(cost="large")
    def lrz_reasons(self) -> list[str]:
        """Why LRZ is off for it, or why it does not write LRZ; empty where it tests and writes."""
        found = self._lrz
        return [] if found is None else [why.text for why in found.reasons]

    @fact(cost="large")
    def stream(self) -> CalledStream | None:
        """The stream of its submit that it is in, or the IB that this stream calls, and what the
        driver has it for.
        """
        answers = self._open_frame.answers
        return None if answers is None else answers.stream_of(self)

    @fact(cost="large")
    def call(self) -> ProbableCall | None:
        """The call of the program that made it; None where the driver is not known, or nothing
        tells.
        """
        answers = self._open_frame.answers
        return None if answers is None else answers.call_of(self)

    @fact(cost="large")
    def state_groups(self) -> list[StateGroup]:
        """The draw-state groups that it loads, by number, each with the driver's name of it; none
        of what is no draw, and of what the dump does not number.
        """
        answers = self._open_frame.answers
        if answers is None or self.dump_draw is None:
            return []
        return answers.state_groups(self)

    def state_group_at(self, place: PacketLocation) -> StateGroup | None:
        """The draw-state group that a packet of its capture is in; None of a packet in no group,
        and of an action of a walk, which is in no frame.
        """
        answers = None if self._frame is None else self._frame.answers
        return None if answers is None else answers.state_group_at(place)

    @fact(cost="large")
    def stream_out(self) -> bool | None:
        """Whether it writes its vertices to buffers (transform feedback) in any run of its pass;
        None of what is no draw of the program.
        """
        answers = self._open_frame.answers
        if self.kind != "draw" or self.number is None or answers is None:
            return None
        return answers.has_stream_out(self)

    @fact(cost="large")
    def queries(self) -> list[int]:
        """Numbers of the queries, as in cffpy passes --queries, that count the draw."""
        answers = self._open_frame.answers
        return [] if answers is None else answers.queries_of(self)

    @fact()
    def executed(self) -> bool | None:
        """Whether the conditions hold that it is under; None where only the GPU knows."""
        executed: bool | None = self.execution.value
        return executed

    condition: str | None = stored(
        "the condition that its execution depends on, in words", default=None
    )
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
    #: The passes of its capture, which ``Passes.bind`` sets.
    _frame: Passes | None = field(default=None, repr=False)

    # -- what its packet says -------------------------------------------------------------------

    @property
    def _values(self) -> DrawValues | None:
        """The values of the packet of a draw."""
        return self._packet_facts.values

    @property
    def dwords(self) -> tuple[int, ...]:
        """See ``PacketFacts.dwords``."""
        return self._packet_facts.dwords

    @property
    def parameters_from(self) -> tuple[PacketLocation, ...]:
        """The packets that have stored the parameters of an indirect draw or dispatch."""
        return self._packet_facts.parameters_from

    @property
    def uses_visibility(self) -> bool:
        """Whether a draw uses the visibility stream: VIS_CULL of its draw initiator.

        Others (some of the driver's own rectangles) neither write nor read an entry.
        """
        values = self._packet_facts.values
        return values is not None and values.uses_visibility

    @property
    def first_index(self) -> int | None:
        """FIRST_INDX of CP_DRAW_INDX_OFFSET; None for draws without indices."""
        values = self._packet_facts.values
        return None if values is None or not self.indexed else values.first_index

    @property
    def initiator(self) -> int | None:
        """The draw initiator, a dword of a draw's packet; None where there is none."""
        values = self._packet_facts.values
        return None if values is None else values.initiator

    @property
    def viz_query(self) -> int | None:
        """VIZ_QUERY, the dword before the draw initiator; None where the packet has none."""
        values = self._packet_facts.values
        return None if values is None else values.viz_query

    @property
    def indices_within(self) -> int | None:
        """How many indices there are, where that is fewer than the draw would read; else None.

        None for several draws of one packet, too: ``vertices`` is their sum.
        """
        return self._packet_facts.indices_within

    @property
    def index_region(self) -> tuple[int, int, int] | None:
        """GPU address of the first index that a draw reads, number of indices, bytes of each.

        None where the packet of the draw does not have the address.
        """
        return self._packet_facts.index_region

    @property
    def unknown_parameters(self) -> int | None:
        """GPU address of the parameters of a draw, if these were not captured."""
        values = self._values
        return None if values is None or self.vertices is not None else values.indirect

    @property
    def indirect_indices(self) -> tuple[int, int] | None:
        """GPU address and size in bytes of the indices of a draw whose counts are in memory."""
        values = self._values
        if values is None or not self.indexed or not self.indirect:
            return None
        if values.index_base is None or values.max_indices is None:
            return None
        return values.index_base, values.max_indices * values.index_bytes

    @property
    def index_buffer(self) -> IndexBuffer | None:
        """The indices, where the packet has their address."""
        region = self.index_region
        return None if region is None else IndexBuffer(*region)

    @property
    def program_addresses(self) -> dict[str, int]:
        """GPU address of the program of each stage that runs: "VS", "FS", "CS", ..."""
        return ByStage(self.programs)

    # -- what it moves --------------------------------------------------------------------------

    @property
    def source(self) -> TransferEnd | None:
        """Where the first of its transfers reads; None for a fill, and without transfers."""
        return self.transfers[0].source if self.transfers else None

    @property
    def destination(self) -> TransferEnd | None:
        """Where the first of its transfers writes; None without transfers."""
        return self.transfers[0].destination if self.transfers else None

    # -- what it is part of ---------------------------------------------------------------------

    @property
    def _open_frame(self) -> Passes:
        if self._frame is None:
            raise UsageError("the capture is closed")
        return self._frame

    @property
    def _answers(self) -> Answers:
        return self._open_frame.asked

    @property
    def _lrz(self) -> DrawLrz | None:
        """LRZ at it; None also where nobody answers: in the report on a crash."""
        answers = self._open_frame.answers
        return None if answers is None else answers.lrz_at(self)

    @property
    def pass_(self) -> Pass | None:
        """Its pass; None outside of all."""
        frame, index = self._open_frame, self.pass_index
        return None if index is None else frame.passes[index]

    @property
    def tile(self) -> Tile | None:
        """The tile that it is executed in; None in a binning run and in sysmem mode."""
        pass_, number = self.pass_, self.tile_number
        return None if pass_ is None or number is None else pass_.tiles[number]

    @property
    def is_counted(self) -> bool:
        """Whether it is the execution that ``Pass.draws`` has, for which resources are recorded."""
        number, pass_ = self.number, self.pass_
        return number is not None and pass_ is not None and pass_.draws[number] is self

    @property
    def executions(self) -> list[Action]:
        """All executions of a draw of the program: in the binning run and in tiles."""
        if self.number is None or self.pass_index is None:
            return Shown([self])
        return self._open_frame.executions(self.pass_index, self.number)

    # -- what its capture answers ---------------------------------------------------------------

    @property
    def state(self) -> RegisterState:
        """The registers at the action, as its pipe has them.

        Raises CaptureError for one that is not executed, and for a packet that copies memory.
        """
        return self._answers.state(self)

    @property
    def memory(self) -> Memory:
        """The memory of its submit, as captured."""
        return self._answers.memory(self.submit)

    @property
    def shaders(self) -> dict[str, Shader]:
        """The program of each stage that runs, where it was captured: ``shaders["FS"]``."""
        shader, submit = self._answers.shader, self.submit
        shaders = ((stage, shader(submit, stage, gpuaddr)) for stage, gpuaddr in self.programs)
        return ByStage((stage, program) for stage, program in shaders if program is not None)

    @property
    def _bound(self) -> Bound:
        """What is behind ``textures`` and the others.

        Raises CaptureError for an execution that is not in ``Pass.draws``: what it has bound is not
        recorded.
        """
        return self._answers.bound(self)

    @fact(cost="large")
    def bindings(self) -> list[Binding]:
        """What it has bound: descriptors, also those that it does not use, and the data that it
        reads, by kind, stage or set, and slot.
        """
        return self._bound.bindings

    @property
    def descriptors(self) -> list[Descriptor]:
        """All its descriptors, by kind, stage or set, and slot: also those that it does not use.

        A slot is ``bound`` if it has a descriptor, ``enabled`` if the count registers include it,
        ``used`` if a program of the stages that run reads, samples or writes it. Of a bindless set,
        whose length is not recorded, only those that are or may be used. Where the use cannot be
        known, a slot counts as used, and is not ``sure``.
        """
        return self._bound.all_descriptors()

    @property
    def textures(self) -> list[Descriptor]:
        """The textures that it uses, by stage or set and slot; all that are bound: ``descriptors``.

        Instructions of its programs name them; where an index is in a register, all enabled ones
        of the stage, or all of the set that look like textures.
        """
        return self._bound.descriptors("texture")

    @property
    def samplers(self) -> list[Descriptor]:
        """The samplers that it uses; see ``textures``."""
        return self._bound.descriptors("sampler")

    @property
    def storage(self) -> list[Descriptor]:
        """The storage buffers and images that it uses: ``reads``, ``writes``; see ``textures``.

        Up to a5xx, each has descriptors of two kinds: "storage" and "storage size".
        """
        return self._bound.descriptors("storage", "storage size")

    @property
    def uniform_buffers(self) -> list[DataBuffer]:
        """The captured data of the uniform buffers that it uses; see ``textures``."""
        return self._bound.buffers("uniform data")

    @property
    def vertex_buffers(self) -> list[DataBuffer]:
        """The captured data that it can fetch as vertices."""
        return self._bound.buffers("vertex buffer")

    @property
    def constants(self) -> list[Constants]:
        """The constants that packets loaded, by stage and slot, and push constants."""
        return self._bound.constants()

    @property
    def attributes(self) -> list[VertexAttribute]:
        """Its vertex attributes: ``format``, ``buffer``, ``offset``, ``stride``, ``instanced``.

        Empty for what draws no vertices.
        """
        return self._answers.attributes(self)

    @property
    def images(self) -> list[NamedImage]:
        """Its textures and targets, and what it copies, with their captured contents.

        Of an execution that is not in ``Pass.draws``, what it copies.
        """
        return self._answers.images(self)

    # -- faces ----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Its object in the document of ``cffpy draws --json``."""
        from cffpy.frame.faces import facts_document  # lazily: text does without

        return facts_document(self)

    def __repr__(self) -> str:
        words = [type(self).__name__, self.name or "", self.role, self.primitive or self.packet]
        if self.vertices is not None:
            words.append(f"{self.vertices} vertices")
        return f"<{' '.join(filter(None, words))} at {self.place.gpuaddr:#x}>"

    def _repr_html_(self) -> str:
        from cffpy.frame.faces import html_table

        document = self.to_dict()
        document["place"] = str(self.place)
        return html_table(("", ""), document.items())


class Draw(Action):
    """A draw: of the program, or a rectangle of the driver, which clears, loads or stores."""

    __slots__ = ()
    kind = "draw"


class Dispatch(Action):
    """A dispatch of work groups."""

    __slots__ = ()
    kind = "dispatch"


class Blit(Action):
    """A copy, fill or resolve by the 2D engine: CP_BLIT, or XY_... of Intel."""

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
    """Clears the LRZ buffer, by an LRZ_CLEAR event."""

    __slots__ = ()
    kind = "lrz clear"


class HizOperation(Action):
    """3DSTATE_WM_HZ_OP of Intel: a clear or resolve of depth, stencil or hierarchical depth."""

    __slots__ = ()
    kind = "HiZ operation"


#: The class of each kind.
CLASSES: dict[ActionKind, type[Action]] = {
    one.kind: one for one in (Draw, Dispatch, Blit, Copy, Resolve, Clear, HizOperation)
}
