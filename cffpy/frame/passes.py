# SPDX-License-Identifier: MIT
"""Passes, tiles, and what loads, clears and stores their attachments.

Trackers (``cffpy.analysis.passes``) fill these objects. None: the stream does not have it. What
takes more than the walk of the trackers is asked of ``Answers``, which a capture implements.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from cffpy.errors import UsageError
from cffpy.frame.action import ActionPipe
from cffpy.frame.attachment import Attachment
from cffpy.frame.barrier import Barrier
from cffpy.frame.density import Density
from cffpy.frame.driver import CalledStream, Driver, ProbableCall, StateGroup
from cffpy.frame.execution import PipeWait
from cffpy.frame.facts import Address, described, fact, model, stored
from cffpy.frame.geometry import Cell, Point, Rectangle, Size
from cffpy.frame.objects import ModelObject, Selection, Shown
from cffpy.frame.places import DrawRange, PacketLocation
from cffpy.frame.render_mode import Mode, ModeChoice
from cffpy.frame.timing import TimeSpan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cffpy.container.damage import Damage
    from cffpy.frame.action import Action
    from cffpy.frame.binding import Bound, VertexAttribute
    from cffpy.frame.lrz import DrawLrz
    from cffpy.frame.objects import Found, SelectionKind
    from cffpy.frame.pictures import CapturedImage, NamedImage, Picture, Pictures
    from cffpy.frame.register_state import RegisterState
    from cffpy.frame.shader import Shader
    from cffpy.frame.submit import Memory
    from cffpy.frame.visibility import PassVisibility
    from cffpy.limits import Truncation

#: "render": a pass with a framebuffer. "compute", "transfer": dispatches or copies between passes.
PassKind = Literal["render", "compute", "transfer"]
#: Whether the pipe BV bins while BR still renders what came before (a7xx): the GPU may decide.
Concurrent = Literal["yes", "no", "decided by the GPU"]
#: What an operation does to an attachment. "store" also resolves samples where "resolves" is set.
#: "resolve": of Intel, what is kept beside an image is written into it, or the other way round.
OperationKind = Literal["load", "clear", "store", "copy", "resolve", "unknown"]
#: ``Operation.how`` of a clear that fills the UBWC flags of an attachment, not its pixels. What it
#: writes is a pattern of the flags, no clear value.
FLAGS_FILL = "CP_BLIT into flags"


#: What visibility streams do in a tile: decide which draws are visible; are there and ignored;
#: were never made, so all draws are visible; or it is unknown which.
Visibility = Literal["streams", "ignored", "none", "unknown"]


@model("operation")
class Operation(ModelObject):
    """A load, clear or store of an attachment, once executed (or not: see its action).

    One action may be several operations: a rectangle that loads several buffers.
    """

    kind: OperationKind = stored("what it does to the attachment; a store may resolve samples, too")
    attachment: str | None = stored(
        "color 0, depth, stencil or depth+stencil; None where it is unknown"
    )
    how: str = stored(
        "BLIT event, CP_BLIT, CP_BLIT into flags, rectangle draw, or fast clear (of a20x: a "
        "rectangle draw, too)"
    )
    action: Action
    address: Address | None = stored(
        "GPU address in memory that a store writes, or a load reads", default=None
    )
    source: Address | None = stored("GPU address that a copy reads", default=None)
    gmem: Address | None = stored(
        "offset in GMEM; of a CP_BLIT that reads GMEM the address, where it is not known at which "
        "GMEM begins",
        "bytes",
        default=None,
    )
    colour: str | None = stored(
        "the colour buffer that the registers put there when it was executed", default=None
    )
    format: str | None = stored("format of the pixels", default=None)
    tiling: str | None = stored("tile mode in memory", default=None)
    pitch: int | None = stored("size of a row in memory", "bytes", default=None)
    layer_pitch: int | None = stored("from one layer to the next in memory", "bytes", default=None)
    flags: Address | None = stored("GPU address of the UBWC flags", default=None)
    buffer_id: int | None = stored(
        "BUFFER_ID of a BLIT event, which some drivers leave at 0", default=None
    )
    resolves: bool = stored("samples are averaged, or one of them is taken", default=False)
    clear_value: tuple[Address, ...] | None = stored(
        "dwords of the clear value, as the registers hold them", default=None
    )
    depth_value: Address | None = stored(
        "bits of the float that a rectangle (a3xx, a4xx) clears depth to", default=None
    )
    stencil_value: int | None = stored(
        "what a rectangle (a3xx, a4xx) clears stencil to", default=None
    )
    components: int | None = stored(
        "of a clear by event: bits of the components of the colour that it clears", default=None
    )
    scissor: Rectangle | None = stored(
        "pixels that may be touched; of a CP_BLIT what it fills", default=None
    )
    limit: Rectangle | None = stored(
        "a CP_BLIT of GMEM touches nothing outside of this", default=None
    )
    source_rectangle: Rectangle | None = stored("pixels that a CP_BLIT reads", default=None)

    @fact()
    def tile(self) -> int | None:
        """Position of its tile in the order of execution; None outside of tiles."""
        return self.action.tile_number

    @fact()
    def binning(self) -> bool:
        """Whether it is executed in a binning run."""
        return self.action.binning

    @fact()
    def pipe(self) -> ActionPipe | None:
        """The pipe of the CP that executes it: BR, BV, both, unknown; None where there is one."""
        return self.action.pipe

    @fact()
    def executed(self) -> bool | None:
        """Whether it is executed; None where only the GPU knows."""
        return None if self.action.execution.is_unknown else self.action.execution.is_possible

    @fact()
    def condition(self) -> str | None:
        """The condition that ``executed`` depends on, in words."""
        return self.action.condition

    @fact()
    def dump_draw(self) -> int | None:
        """Its number in ``cffpy dump``; None for what the dump does not number."""
        return self.action.dump_draw

    @fact()
    def place(self) -> PacketLocation:
        """Where its packet is."""
        return self.action.place


@model("run")
class PassRun(ModelObject):
    """One execution of a pass's commands: the binning run, a tile, or all of a sysmem pass."""

    place: PacketLocation = stored("where its first packet is")
    cp_pipe: ActionPipe | None = stored(
        "the pipe of the CP that executes it, unknown where the GPU decides; None where there is "
        "one pipe, or the stream does not say it",
        default=None,
    )
    draws: list[Action] = field(default_factory=Shown)
    operations: list[Operation] = stored(
        "loads, clears and stores in order, also those that are not executed", default_factory=Shown
    )
    #: All commands that it calls were captured and followed.
    is_whole: bool = True
    #: Index of the pass that it is a run of, as far as is known by then: where the offset of a tile
    #: shows that it is another pass's, that is after the tile's first packets.
    pass_index: int = 0

    @property
    def possible_operations(self) -> list[Operation]:
        """The operations that are executed, or may be."""
        return Shown(
            operation for operation in self.operations if operation.action.execution.is_possible
        )


@model("tile")
class Tile(PassRun):
    """A tile of a GMEM pass.

    A draw is *emitted* in a tile if the stream calls it there, *visible* if the visibility stream
    says that it draws, *executed* if the conditions hold that it is under.
    """

    number: int = stored("position in the order of execution", is_key=True, default=0)
    #: ``pass_``, set by ``Passes.bind``.
    owner: Pass | None = field(default=None, repr=False)

    @fact()
    def pass_(self) -> Pass:
        """The pass that it is a tile of."""
        if self.owner is None:
            raise UsageError("the capture is closed")
        return self.owner

    @fact(unit="pixels")
    def rectangle(self) -> Rectangle | None:
        """The part of the framebuffer that it renders: its area without what sticks out."""
        size, area = self.pass_.framebuffer, self.area_in(self.pass_)
        if area is None or size is None:
            return area
        return area.common(Rectangle(0, 0, size.width, size.height))

    @fact()
    def cell(self) -> Cell | None:
        """Its place in the grid of bins; None where the stream has no sizes."""
        size, corner = self.pass_.bin_size, self.window_offset
        if corner is None and self.window_scissor is not None:
            corner = Point(self.window_scissor.left, self.window_scissor.top)
        if size is None or corner is None or not size.width or not size.height:
            return None
        return Cell(corner.x // size.width, corner.y // size.height)

    @fact()
    def bins(self) -> tuple[Cell, ...]:
        """The bins that it merges, in the order of their slots; empty for a single bin."""
        return self.bins_in(self.pass_)

    window_scissor: Rectangle | None = stored(
        "its rectangle as the scissor has it; drivers may let the last column and row stick out, "
        "and of merged bins it is the whole framebuffer",
        "pixels",
        default=None,
    )
    window_offset: Point | None = stored("the window offset", "pixels", default=None)
    pipe: int | None = stored("VSC pipe whose stream it uses", default=None)
    slot: int | None = stored("its slot in the VSC pipe", default=None)
    pipe_tiles: int | None = stored("tiles of the VSC pipe", default=None)
    merged_slots: tuple[int, ...] = stored(
        "slots whose visibility it combines, where it covers several bins (a7xx)", default=()
    )

    @fact()
    def visibility(self) -> Visibility:
        """What visibility streams do in it: "streams" decide which draws are visible, are
        "ignored", or were never made: "none".
        """
        if not self.pass_.hardware_binning:
            return "none"
        if self.visibility_override is None:
            return "unknown"
        return "ignored" if self.visibility_override else "streams"

    visibility_override: bool | None = stored(
        "the visibility stream is ignored, every draw is executed; None: not known", default=None
    )
    #: Addresses of the pipe's draw stream, its size, and the primitive streams.
    streams: tuple[int | None, int | None, int | None] | None = None

    @fact()
    def draw_stream_address(self) -> Address | None:
        """GPU address of the pipe's draw stream."""
        return None if self.streams is None else self.streams[0]

    @fact()
    def size_address(self) -> Address | None:
        """GPU address at which the size of the draw stream is."""
        return None if self.streams is None else self.streams[1]

    @fact()
    def primitive_stream_address(self) -> Address | None:
        """GPU address of the pipe's primitive streams."""
        return None if self.streams is None else self.streams[2]

    @fact()
    def emitted(self) -> int:
        """How many of the program's draws the stream calls in it."""
        return len(self.program_draws)

    @fact(cost="walk")
    def visible(self) -> int | None:
        """How many of the emitted draws the visibility stream draws; None where that is unknown."""
        answers = [self.shows(draw) for draw in self.program_draws]
        return None if None in answers else sum(map(bool, answers))

    @fact()
    def executed(self) -> int | None:
        """How many emitted draws' conditions hold; None where only the GPU knows."""
        return None if self.conditional_draws else self.emitted

    @fact(cost="walk")
    def primitives(self) -> int | None:
        """How many primitives of visible draws cover it; None where no stream says that."""
        captured = self.captured_visibility
        return captured.total_primitives if captured and self.visibility == "streams" else None

    @fact()
    def conditional_draws(self) -> int:
        """Draws of the program under a condition that only the GPU knows."""
        return sum(draw.execution.is_unknown for draw in self.program_draws)

    @fact()
    def condition(self) -> str | None:
        """The first condition of these draws, in words."""
        unknown = (draw for draw in self.program_draws if draw.execution.is_unknown)
        return next((draw.condition for draw in unknown), None)

    @fact(cost="large")
    def time(self) -> TimeSpan | None:
        """The timestamps around it, and how long it took; None where the stream has none."""
        answers = None if self.pass_._frame is None else self.pass_._frame.answers
        return None if answers is None else answers.time_of_tile(self)

    density: Density | None = stored(
        "where the commands of its draws are patched for a fragment density map: the scales",
        default=None,
    )

    def bins_in(self, pass_: Pass) -> tuple[Cell, ...]:
        """``bins``, also while the pass is found."""
        # slots go row by row through the rectangle of the pipe
        pipe = next((pipe for pipe in pass_.pipes if pipe.number == self.pipe), None)
        if pipe is None or not self.merged_slots:
            return ()
        places = (divmod(slot, pipe.width) for slot in self.merged_slots)
        return tuple([Cell(pipe.x + column, pipe.y + row) for row, column in places])

    def area_in(self, pass_: Pass) -> Rectangle | None:
        """The bins that it merges, else its scissor; also while the pass is found.

        The scissors of the last column and row may be whole bins; of merged bins it is the whole
        framebuffer.
        """
        bins = self.bins_in(pass_)
        if not bins or pass_.bin_size is None:
            return self.window_scissor
        width, height = pass_.bin_size.width, pass_.bin_size.height
        corners = [(cell.column * width, cell.row * height) for cell in bins]
        return Rectangle.around([Rectangle(x, y, x + width, y + height) for x, y in corners])

    @property
    def actions(self) -> list[Action]:
        """What is executed in it, draws and operations, in order."""
        by_order = {action.order: action for action in self.draws}
        by_order.update((operation.action.order, operation.action) for operation in self.operations)
        return Shown(by_order[order] for order in sorted(by_order))

    def to_dict(self) -> dict[str, Any]:
        """Its object in the document of ``cffpy tiles --json``."""
        from cffpy.frame.faces import facts_document  # lazily: text does without

        return facts_document(self)

    @property
    def program_draws(self) -> list[Action]:
        """The executions of the program's draws in it, in order."""
        return Shown(draw for draw in self.draws if draw.number is not None)

    @property
    def captured_visibility(self) -> TileVisibility | None:
        """What the captured visibility streams say of it; None where they say nothing."""
        frame = self.pass_._frame
        answers = None if frame is None else frame.answers
        return None if answers is None else answers.visibility(self.pass_).by_tile.get(self.number)

    def shows(self, draw: Action) -> bool | None:
        """Whether it is visible that a draw of the program is executed in it; None: unknown."""
        visibility = self.visibility
        if visibility in ("ignored", "none"):
            return True
        captured = None if visibility == "unknown" else self.captured_visibility
        if captured is None:
            return None
        return draw.number in captured.primitives or not draw.uses_visibility

    def of_kind(self, *kinds: str) -> list[Operation]:
        """The operations of these kinds, without operations that are certainly not executed."""
        return Shown(operation for operation in self.possible_operations if operation.kind in kinds)

    def __repr__(self) -> str:
        return f"<Tile {self.number}, {self.window_scissor}>"


@described(
    "visible_draw",
    is_value=False,
    draw="number among the program's draws of the pass",
    primitives="its primitives that cover the tile; None where that is unknown",
)
class VisibleDraw(NamedTuple):
    """A draw of the program that is visible in a tile."""

    draw: int
    primitives: int | None


@model("tile_visibility")
class TileVisibility(ModelObject):
    """What is visible in a tile: by the visibility streams, or all draws where it ignores them."""

    tile: Tile = stored("number of the tile")
    #: Numbers of the program's draws that are visible, ascending -> see ``VisibleDraw``.
    primitives: dict[int, int | None]

    @fact()
    def draws(self) -> list[VisibleDraw]:
        """The draws of the program that are visible in it."""
        return Shown(VisibleDraw(draw, count) for draw, count in self.primitives.items())

    @property
    def total_primitives(self) -> int | None:
        """Of all its draws; None where one's are not known."""
        total = 0
        for count in self.primitives.values():
            if count is None:
                return None
            total += count
        return total


@model("pipe")
class Pipe(ModelObject):
    """A VSC pipe and its rectangle in the grid of bins."""

    number: int = stored("number of the VSC pipe", is_key=True)
    x: int = stored("its first column in the grid", "bins")
    y: int = stored("its first row in the grid", "bins")
    width: int = stored("its columns", "bins")
    height: int = stored("its rows", "bins")
    stream: Address | None = stored(
        "GPU address of its visibility stream, where each pipe has a register for that (a3xx to "
        "a5xx)",
        default=None,
    )
    stream_limit: int | None = stored(
        "what it may write there, where it has a register of its own for that",
        "bytes",
        default=None,
    )

    def holds(self, column: int, row: int) -> bool:
        """Whether the tile is the pipe's."""
        return self.x <= column < self.x + self.width and self.y <= row < self.y + self.height


@model("streams", is_value=True)
class VisibilityStreams(ModelObject):
    """Where the visibility streams of a pass are."""

    draw: Address | None = stored("GPU address of the draw streams", default=None)
    draw_pitch: int | None = stored(
        "from one pipe's draw stream to the next", "bytes", default=None
    )
    draw_limit: int | None = stored("what a pipe may write there", "bytes", default=None)
    primitive: Address | None = stored("GPU address of the primitive streams", default=None)
    primitive_pitch: int | None = stored(
        "from one pipe's primitive streams to the next", "bytes", default=None
    )
    primitive_limit: int | None = stored("what a pipe may write there", "bytes", default=None)
    sizes: Address | None = stored("GPU address of the sizes of the draw streams", default=None)


class StreamDraw(NamedTuple):
    """A draw packet of a binning run that has entries in the draw streams.

    ``least``, ``most``: how many entries, None: no limit is known. ``instances``: of each,
    ``primitives``: of each instance; None where not known.
    """

    action: Action
    least: int
    most: int | None
    instances: int | None
    primitives: int | None


class PipeMemory(NamedTuple):
    """What a capture has of a VSC pipe's buffers: their bytes, and the size that was written.

    The bytes may be fewer than a pipe may write, where a buffer was cut; None: not captured.
    """

    draw: memoryview | None
    primitive: memoryview | None
    size: int | None


@model("lrz", is_value=True)
class Lrz(ModelObject):
    """Low-resolution depth of a pass."""

    address: Address | None = stored("GPU address of the buffer", default=None)
    cleared: bool = stored("it is cleared for the pass", default=False)
    #: The event that clears it, which may stand before the pass.
    clear: Action | None = field(default=None, repr=False)
    second: Address | None = stored(
        "GPU address of the second buffer: BV fills one for a pass while BR reads the other (a7xx)",
        default=None,
    )
    clear_depth: float | None = stored(
        "the depth that a fast clear sets, where a register has it (a7xx)", default=None
    )

    @fact()
    def clear_pipe(self) -> ActionPipe | None:
        """The pipe of the CP that clears it, unknown where the GPU decides; None where nothing
        clears it for the pass, or the stream does not say it.
        """
        return None if self.clear is None else self.clear.pipe

    disabled: bool = stored("the driver made the buffer unusable for the whole pass", default=False)
    used: bool = stored("a draw uses it", default=False)
    off_draws: tuple[DrawRange, ...] = stored(
        "the program's draws that have it off (ENABLE of GRAS_LRZ_CNTL), as rising ranges; empty "
        "where no draw of the pass has it on",
        default=(),
    )


@described(
    "total",
    number="the sum over the draws of which it is known",
    known="draws that are counted",
    unknown="draws of which only the GPU knows it",
)
class DrawTotal(NamedTuple):
    """A sum over the program's draws of a pass."""

    number: int
    known: int
    unknown: int


@model("pass")
class Pass:
    """A render pass, or a group of dispatches or copies between render passes."""

    index: int = stored("number of the pass in the capture", is_key=True)
    kind: PassKind = stored("a pass with a framebuffer, or dispatches or copies between passes")
    submit: int = stored("number of its submit")
    streams: list[int] = stored("numbers of the command streams that it lies in")
    first: PacketLocation = stored("where its first packet is")
    last: PacketLocation = stored("where its last packet is")
    mode: Mode | None = stored("how a render pass is rendered", default=None)
    hardware_binning: bool = stored("it has a binning run", default=False)
    concurrent: Concurrent | None = stored(
        "whether the pipe BV bins it while BR renders what came before (a7xx); of a sysmem pass, "
        "whether BV clears its LRZ; None where the stream names no pipes",
        default=None,
    )
    framebuffer: Size | None = stored("size of the framebuffer", "pixels", default=None)
    framebuffer_limit: Size | None = stored(
        "the framebuffer is at most this, where its size is unknown", "pixels", default=None
    )
    render_area: Rectangle | None = stored(
        "the part of the framebuffer that is rendered to", "pixels", default=None
    )
    render_area_rounded: bool = stored(
        "the area is rounded outwards to blocks of 16 x 4", default=False
    )
    layers: int | None = stored("layers of the framebuffer; views are counted apart", default=None)
    views: int | None = stored("views of the framebuffer", default=None)
    samples: int | None = stored("samples of a pixel", default=None)
    attachments: list[Attachment] = stored(
        "the buffers that its draws render to", default_factory=list
    )
    bin_size: Size | None = stored("size of a bin", "pixels", default=None)
    grid: Size | None = stored("columns and rows of bins", default=None)
    pipes: list[Pipe] = stored("the VSC pipes in use", default_factory=list)
    visibility_streams: VisibilityStreams | None = stored("its visibility streams", default=None)

    @fact()
    def binning_pipe(self) -> ActionPipe | None:
        """The pipe of the CP that executes the binning run, unknown where the GPU decides; None
        without one, and where there is one pipe, or the stream does not say it.
        """
        return None if self.binning is None else self.binning.cp_pipe

    #: Draws of the binning run with entries in the streams; what the capture has of the streams, by
    #: the number of the pipe.
    _stream_draws: list[StreamDraw] = field(default_factory=list)
    _stream_memory: dict[int, PipeMemory] = field(default_factory=dict)
    binning: PassRun | None = None
    #: The tiles in the order of execution; empty in sysmem mode.
    tiles: Selection[Tile] = field(default_factory=partial(Selection, "tiles"))
    #: All of a sysmem pass, or of a group.
    direct: PassRun | None = None
    #: The program's draws, dispatches or copies, each once, in their order.
    draws: Selection[Action] = field(default_factory=partial(Selection, "draws"))
    lrz: Lrz | None = stored("its low-resolution depth buffer", default=None)
    waits: list[PipeWait] = stored(
        "what the pipes BR and BV wait for in it, and before it since the last pass (a7xx)",
        default_factory=list,
    )
    markers: tuple[str, ...] = stored(
        "debug markers that are open around it, outermost first", default=()
    )
    unknown: list[str] = stored("what could not be found out, in words", default_factory=list)
    #: The passes that it is one of; set by ``Passes.bind``.
    _frame: Passes | None = field(default=None, repr=False)

    @fact()
    def tile_count(self) -> int:
        """How many tiles are executed."""
        return len(self.tiles)

    @fact()
    def draw_count(self) -> int:
        """How many draws of the program, dispatches or copies it has, each counted once."""
        return len(self.draws)

    @fact()
    def dump_draws(self) -> list[int | None]:
        """The numbers of these in ``cffpy dump``, of their first execution there."""
        return Shown(draw.dump_draw for draw in self.draws)

    @fact()
    def operations(self) -> list[Operation]:
        """Loads, clears and stores of all its runs, in order."""
        return Shown(operation for run in self.runs for operation in run.operations)

    @fact()
    def loads(self) -> int:
        """Loads that are executed, or may be, over all tiles."""
        return self._count("load")

    @fact()
    def clears(self) -> int:
        """Clears that are executed, or may be, over all tiles."""
        return self._count("clear")

    @fact()
    def stores(self) -> int:
        """Stores that are executed, or may be, over all tiles."""
        return self._count("store")

    def _count(self, kind: OperationKind) -> int:
        return sum(operation.kind == kind for operation in self.rendered_operations)

    @property
    def rendered_operations(self) -> Iterator[Operation]:
        """Operations that may be executed, in tiles or in sysmem mode: not in a binning run."""
        for run in self.runs:
            if run is not self.binning:
                yield from run.possible_operations

    @fact(cost="large")
    def driver(self) -> Driver | None:
        """The driver that wrote the capture, as far as its streams tell."""
        return None if self._or_none is None else self._or_none.driver()

    @fact(cost="large")
    def called_streams(self) -> list[CalledStream]:
        """The command streams that it is made of, and what the driver has each for: those of the
        submit that its actions lie in, and those that are called in it.
        """
        return [] if self._or_none is None else self._or_none.streams_of_pass(self)

    @fact(cost="large")
    def time(self) -> TimeSpan | None:
        """The timestamps around it, and how long it took; None where the stream has none."""
        return None if self._or_none is None else self._or_none.time_of_pass(self)

    @fact()
    def density_map(self) -> bool:
        """Whether a fragment density map scales its tiles."""
        return any(tile.density is not None for tile in self.tiles)

    @property
    def runs(self) -> list[PassRun]:
        """Binning run, tiles and direct run, in the order of execution."""
        runs: Shown[PassRun] = Shown() if self.binning is None else Shown([self.binning])
        runs.extend(self.tiles)
        if self.direct is not None:
            runs.append(self.direct)
        return runs

    @fact()
    def vertices(self) -> DrawTotal:
        """Vertices, or indices, of the program's draws, of one instance each."""
        return _total(draw._packet_facts.vertices for draw in self.draws if draw.kind == "draw")

    @fact()
    def instances(self) -> DrawTotal:
        """Instances of the program's draws."""
        return _total(draw._packet_facts.instances for draw in self.draws if draw.kind == "draw")

    @fact(cost="large")
    def barriers(self) -> list[Barrier]:
        """The packets in it that clean caches, invalidate caches and wait, and what they guard."""
        return self._answers.barriers_in(self)

    @fact(cost="large")
    def mode_choice(self) -> ModeChoice | None:
        """Why it is in its mode, and what the driver's autotuner counts; None for what is no render
        pass.
        """
        return None if self.kind != "render" else self._answers.mode_choice(self)

    @property
    def _or_none(self) -> Answers | None:
        """The answers, where a capture gives them."""
        return None if self._frame is None else self._frame.answers

    @property
    def _answers(self) -> Answers:
        if self._frame is None:
            raise UsageError("the capture is closed")
        return self._frame.asked

    @fact(cost="large")
    def queries(self) -> list[int]:
        """Numbers of the queries, as in cffpy passes --queries, that count a draw of it."""
        return Shown(self._answers.queries_of(self))

    @property
    def visibility(self) -> PassVisibility:
        """The visibility streams: ``pipes``, and what is visible in ``tiles``.

        ``reason`` says why there are none to decode. Kept for one pass of the capture at a time.
        """
        return self._answers.visibility(self)

    @property
    def images(self) -> list[NamedImage]:
        """Its attachments, with what the capture has of their contents."""
        return self._answers.images(self)

    def image(self, attachment: str = "color 0") -> CapturedImage:
        """The image of an attachment, by its name, as in "color 0", "depth".

        Raises PictureError where its memory is not known.
        """
        return self._answers.pictures(self.submit).attachment(self, attachment)

    def picture(
        self,
        attachment: str = "color 0",
        layer: int = 0,
        **options: Any,  # noqa: ANN401
    ) -> Picture:
        """What the capture has of an attachment, from before its commands ran.

        See ``CapturedImage.picture``.
        """
        return self.image(attachment).picture(0, layer, **options)

    @property
    def events_before(self) -> dict[str, int]:
        """Waits and cache events between the pass before and this one: name -> how many.

        Found for all passes together, by a walk over the commands.
        """
        return dict(self._answers.events_before(self))

    def to_dict(self) -> dict[str, Any]:
        """Its object in the document of ``cffpy passes --json``."""
        from cffpy.frame.faces import facts_document  # lazily: text does without

        return facts_document(self)

    def __repr__(self) -> str:
        words = [f"Pass {self.index}", self.kind, self.mode or "", str(self.framebuffer or "")]
        return f"<{' '.join(filter(None, words))}, {len(self.draws)} draws>"

    def _repr_html_(self) -> str:
        from cffpy.frame.faces import html_table

        rows = [(d.name, d.primitive, d.vertices, d.instances, d.place) for d in self.draws]
        head = f"<b>{repr(self)[1:-1]}</b>"
        return head + html_table(("draw", "primitive", "vertices", "instances", "packet"), rows)

    @property
    def has_runs(self) -> bool:
        """Whether any run of it has begun."""
        return self.binning is not None or self.direct is not None or bool(self.tiles)

    @property
    def actions(self) -> list[Action]:
        """Everything that is executed in it, each once, in order."""
        by_order = {
            action.order: action
            for run in self.runs
            for action in (*run.draws, *(operation.action for operation in run.operations))
        }
        return Shown(by_order[order] for order in sorted(by_order))


def _total(numbers: Iterable[int | None]) -> DrawTotal:
    total = list(numbers)
    known = [number for number in total if number is not None]
    return DrawTotal(sum(known), len(known), len(total) - len(known))


@dataclass(slots=True)
class SubmitPasses:
    """The passes of one submit: of all command streams that see the same buffers."""

    number: int
    passes: list[Pass] = field(default_factory=list)


@dataclass(slots=True)
class Passes:
    """What a capture holds. ``truncated``: what limits left out.

    ``has_absolute_streams``: tiles name visibility streams by addresses (a6xx and later).
    """

    generation: int = 0
    gpu: str | None = None
    has_absolute_streams: bool = False
    #: All passes and groups in order.
    passes: list[Pass] = field(default_factory=list)
    #: All waits of the pipes BR and BV, also waits behind the last pass.
    waits: list[PipeWait] = field(default_factory=list)
    #: All actions, in order.
    actions: list[Action] = field(default_factory=list, repr=False)
    #: Packets that copy memory, in order; not among ``actions``. The ``order`` of each is that of
    #: the action before it, -1 without.
    memory_copies: list[Action] = field(default_factory=list, repr=False)
    #: Answers what takes more than the walk; None: nobody does, and facts that need it are unknown.
    answers: Answers | None = field(default=None, repr=False)
    damage: list[Damage] = field(default_factory=list)
    truncated: list[Truncation] = field(default_factory=list)
    #: Index of a pass -> number of a draw -> its executions; of passes that were asked for.
    _executions: dict[int, dict[int, list[Action]]] = field(default_factory=dict, repr=False)

    @property
    def problems(self) -> list[str]:
        """Why this may not be all: damage and truncations, in words."""
        return [*map(str, self.damage), *map(str, self.truncated)]

    @property
    def submits(self) -> list[SubmitPasses]:
        """The passes by their submits; submits without passes are left out."""
        submits: list[SubmitPasses] = []
        for pass_ in self.passes:
            if not submits or submits[-1].number != pass_.submit:
                submits.append(SubmitPasses(pass_.submit))
            submits[-1].passes.append(pass_)
        return submits

    @property
    def transfers(self) -> list[Action]:
        """All actions that move something, in order, packets that copy memory among them."""
        actions = [action for action in self.actions if action.transfers]
        return sorted([*actions, *self.memory_copies], key=lambda action: action.order)

    @property
    def asked(self) -> Answers:
        """``answers``. Raises UsageError where there are none."""
        if self.answers is None:
            raise UsageError("the capture is closed")
        return self.answers

    def executions(self, index: int, number: int) -> list[Action]:
        """All executions of a draw of the program in a pass, which is searched once for all."""
        known = self._executions.get(index)
        if known is None:
            known = self._executions[index] = {}
            for action in self.passes[index].actions:
                if action.number is not None:
                    known.setdefault(action.number, []).append(action)
        return known.get(number, [])

    def bind(self, answers: Answers | None) -> None:
        """Passes, tiles and actions know what they are part of, which facts of them need.

        Passes that nobody asks are not bound: they are freed without a search for cycles.
        """
        self.answers = answers
        self._part_of(self)

    def release(self) -> None:
        """Undo ``bind``: nobody asks any more, and all is freed at once."""
        self.answers = None
        self._executions.clear()
        self._part_of(None)

    def _part_of(self, frame: Passes | None) -> None:
        for pass_ in self.passes:
            pass_._frame = pass_.draws._frame = pass_.tiles._frame = frame
            for tile in pass_.tiles:
                tile.owner = None if frame is None else pass_
        for actions in (self.actions, self.memory_copies):
            for action in actions:
                action._frame = frame


class Answers(Protocol):
    """A capture that computes what is asked for, and keeps it.

    Each method raises UsageError where the capture is closed.
    """

    def state(self, action: Action) -> RegisterState:
        """The registers at an action."""

    def bound(self, action: Action) -> Bound:
        """What a draw of the program has bound."""

    def attributes(self, action: Action) -> list[VertexAttribute]:
        """The vertex attributes of a draw."""

    def shader(self, submit: int, stage: str, gpuaddr: int) -> Shader | None:
        """The program at an address; None where none was captured."""

    def memory(self, submit: int) -> Memory:
        """The memory of a submit, as captured."""

    def pictures(self, submit: int) -> Pictures:
        """Makes pictures of the memory of a submit."""

    def images(self, of: Action | Pass) -> list[NamedImage]:
        """The images that an action uses, or the attachments of a pass."""

    def visibility(self, of: Pass) -> PassVisibility:
        """What the captured visibility streams say of a pass."""

    def lrz_at(self, action: Action) -> DrawLrz | None:
        """What a draw of the program does with LRZ; None for what has none."""

    def driver(self) -> Driver:
        """The driver that wrote the capture."""

    def streams_of_pass(self, of: Pass) -> list[CalledStream]:
        """The command streams of a pass, with their roles."""

    def stream_of(self, action: Action) -> CalledStream | None:
        """The stream of a submit that an action is in, or the IB that this stream calls."""

    def time_of_pass(self, of: Pass) -> TimeSpan | None:
        """The timestamps around a pass."""

    def time_of_tile(self, of: Tile) -> TimeSpan | None:
        """The timestamps around a tile."""

    def call_of(self, action: Action) -> ProbableCall | None:
        """The call of the program that made an action."""

    def state_groups(self, action: Action) -> list[StateGroup]:
        """The draw-state groups that a draw loads."""

    def state_group_at(self, place: PacketLocation) -> StateGroup | None:
        """The draw-state group that a packet is in; None of a packet in no group."""

    def events_before(self, of: Pass) -> Mapping[str, int]:
        """Waits and cache events between the pass before and this one: name -> how many."""

    def queries_of(self, of: Action | Pass) -> list[int]:
        """Numbers of the queries of the driver that count a draw, or a draw of a pass."""

    def has_stream_out(self, draw: Action) -> bool | None:
        """Whether a draw of the program writes its vertices to buffers; None: not known."""

    def barriers_in(self, of: Pass) -> list[Barrier]:
        """The barriers while a pass is open."""

    def mode_choice(self, of: Pass) -> ModeChoice | None:
        """Why a render pass is in its mode; None for other passes, and for Intel."""

    def filter(self, where: str | None, columns: str | None = None) -> Any:  # noqa: ANN401
        """A ``Filter`` of an expression and names of columns. Raises FilterError."""

    def choose(
        self,
        kind: SelectionKind,
        items: Iterable[Any],
        query: Any,  # noqa: ANN401 - a Filter
    ) -> list[tuple[Any, Found]]:
        """The items for which a filter holds, each with the values of its names."""
