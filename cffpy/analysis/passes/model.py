# SPDX-License-Identifier: MIT
"""The results of ``find_passes``: passes, tiles, loads, clears and stores.

Sizes and rectangles are pixels. None means that the stream does not hold it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.analysis.actions import Action
    from cffpy.analysis.attachments import Attachment
    from cffpy.analysis.draw_names import DrawRange
    from cffpy.analysis.packet_location import PacketLocation
    from cffpy.analysis.passes.density import Density
    from cffpy.analysis.passes.geometry import Rectangle, Size
    from cffpy.analysis.pipe_waits import PipeWait
    from cffpy.container.damage import Damage
    from cffpy.limits import Truncation

#: "render": a pass with a framebuffer. "compute", "transfer": dispatches or copies between passes.
PassKind = Literal["render", "compute", "transfer"]
Mode = Literal["sysmem", "gmem"]
#: Whether the pipe BV bins while BR still renders what came before (a7xx): the GPU may decide.
Concurrent = Literal["yes", "no", "decided by the GPU"]
#: What an operation does to an attachment. "store" also resolves samples where "resolve" is set.
OperationKind = Literal["load", "clear", "store", "copy", "unknown"]
#: ``Operation.how`` of a clear that fills the UBWC flags of an attachment, not its pixels. What it
#: writes is a pattern of the flags, no clear value.
FLAGS_FILL = "CP_BLIT into flags"


@dataclass(slots=True)
class Operation:
    """A load, clear or store of an attachment, once executed (or not: see its action).

    One action may be several operations: a rectangle that loads several buffers.
    """

    kind: OperationKind
    #: "color 0", "depth", "stencil", "depth+stencil"; None if unknown.
    attachment: str | None
    #: "BLIT event", "CP_BLIT", FLAGS_FILL, "rectangle draw", "fast clear" (of a20x: a rectangle
    #: draw, too).
    how: str
    action: Action
    #: In memory: where to, or where a load comes from; the source of a copy.
    address: int | None = None
    source: int | None = None
    #: Offset in GMEM, in bytes; of a CP_BLIT, whose ``source`` is an address in GMEM, that address
    #: where it is not known at which GMEM begins.
    gmem: int | None = None
    #: The colour buffer that the registers put there when it was executed.
    colour: str | None = None
    format: str | None = None
    tiling: str | None = None
    #: Bytes a row, and from one layer to the next, in memory; the address of its UBWC flags.
    pitch: int | None = None
    layer_pitch: int | None = None
    flags: int | None = None
    #: BUFFER_ID of a BLIT event, which some drivers leave at 0.
    buffer_id: int | None = None
    #: Samples are averaged, or one of them is taken.
    resolves: bool = False
    #: Dwords of the clear value, as the registers hold them; of a clear by event as if of colour,
    #: which components.
    clear_value: tuple[int, ...] | None = None
    #: Of a rectangle (a3xx, a4xx), whose ``clear_value`` is a colour: depth, as a float's bits, and
    #: stencil.
    depth_value: int | None = None
    stencil_value: int | None = None
    components: int | None = None
    #: What may be touched; of a CP_BLIT what it fills.
    scissor: Rectangle | None = None
    #: A CP_BLIT of GMEM touches nothing outside of this.
    limit: Rectangle | None = None
    #: What a CP_BLIT reads, where it reads pixels.
    source_rectangle: Rectangle | None = None


@dataclass(slots=True)
class PassRun:
    """One execution of a pass's commands: the binning run, a tile, or all of a sysmem pass."""

    place: PacketLocation
    draws: list[Action] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    #: All commands that it calls were captured and followed.
    is_whole: bool = True
    #: Index of the pass that it is a run of, as far as is known by then: where the offset of a tile
    #: shows that it is another pass's, that is after the tile's first packets.
    pass_index: int = 0


@dataclass(slots=True)
class Tile(PassRun):
    """One tile of a GMEM pass. ``number``: its position in the order of execution."""

    number: int = 0
    #: Its rectangle as the scissor has it; drivers may let the last column and row stick out.
    rectangle: Rectangle | None = None
    window_offset: tuple[int, int] | None = None
    #: VSC pipe whose stream it uses, its slot in the pipe, and the tiles of the pipe.
    pipe: int | None = None
    slot: int | None = None
    pipe_tiles: int | None = None
    #: Slots whose visibility it combines, where it covers several bins (a7xx).
    merged_slots: tuple[int, ...] = ()
    #: True: the visibility stream is ignored, every draw is executed. None: not known.
    visibility_override: bool | None = None
    #: Addresses of the pipe's draw stream, its size, and the primitive streams.
    streams: tuple[int | None, int | None, int | None] | None = None
    #: Where the commands of its draws are patched for a fragment density map.
    density: Density | None = None


@dataclass(slots=True, frozen=True)
class Pipe:
    """A VSC pipe and its rectangle, in tiles."""

    number: int
    x: int
    y: int
    width: int
    height: int

    def holds(self, column: int, row: int) -> bool:
        """Whether the tile is the pipe's."""
        return self.x <= column < self.x + self.width and self.y <= row < self.y + self.height


@dataclass(slots=True)
class VisibilityStreams:
    """Addresses of the streams of a pass; the parts of the pipes are ``pitch`` bytes apart.

    ``limit``: bytes that a pipe may write.
    """

    draw: int | None = None
    draw_pitch: int | None = None
    draw_limit: int | None = None
    primitive: int | None = None
    primitive_pitch: int | None = None
    primitive_limit: int | None = None
    sizes: int | None = None


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


@dataclass(slots=True)
class Lrz:
    """Low-resolution depth of a pass.

    ``off_draws``: the program's draws that have it off (ENABLE of GRAS_LRZ_CNTL), as rising ranges;
    () where no draw of the pass has it on.
    """

    address: int | None = None
    cleared: bool = False
    #: The second buffer: BV fills one for a pass while BR reads the other (a7xx); None for none.
    second: int | None = None
    #: The depth that a fast clear sets, where a register has it (a7xx).
    clear_depth: float | None = None
    #: The event that clears it, which may stand before the pass.
    clear: Action | None = field(default=None, repr=False)
    #: The driver made the buffer unusable for the whole pass.
    disabled: bool = False
    used: bool = False
    off_draws: tuple[DrawRange, ...] = ()


class DrawTotal(NamedTuple):
    """A sum over the program's draws of a pass. ``unknown``: draws of which only the GPU knows it.

    ``known``: those that are counted.
    """

    number: int
    known: int
    unknown: int


@dataclass(slots=True)
class Pass:
    """A pass, or a group of dispatches or copies between passes."""

    index: int
    kind: PassKind
    submit: int
    #: Numbers of the command streams that it lies in.
    streams: list[int]
    first: PacketLocation
    last: PacketLocation
    mode: Mode | None = None
    hardware_binning: bool = False
    #: Of a7xx, where the stream says which of the pipes BR and BV executes what; None: it does not.
    concurrent: Concurrent | None = None
    framebuffer: Size | None = None
    #: The framebuffer is at most this, where ``framebuffer`` is unknown.
    framebuffer_limit: Size | None = None
    render_area: Rectangle | None = None
    #: The area is rounded outwards to blocks of 16 x 4.
    render_area_rounded: bool = False
    #: Layers of the framebuffer; views are counted apart.
    layers: int | None = None
    views: int | None = None
    samples: int | None = None
    attachments: list[Attachment] = field(default_factory=list)
    bin_size: Size | None = None
    grid: Size | None = None
    pipes: list[Pipe] = field(default_factory=list)
    visibility: VisibilityStreams | None = None
    #: Draws of the binning run with entries in the streams; what the capture has of the streams, by
    #: the number of the pipe.
    stream_draws: list[StreamDraw] = field(default_factory=list)
    stream_memory: dict[int, PipeMemory] = field(default_factory=dict)
    binning: PassRun | None = None
    tiles: list[Tile] = field(default_factory=list)
    #: All of a sysmem pass, or of a group.
    direct: PassRun | None = None
    #: The program's draws, each once, in their order.
    program_draws: list[Action] = field(default_factory=list)
    lrz: Lrz | None = None
    #: What the pipes BR and BV wait for in it, and before it since the last pass (a7xx).
    waits: list[PipeWait] = field(default_factory=list)
    #: Debug markers that are open around it, outermost first.
    markers: tuple[str, ...] = ()
    #: What could not be found out, in words.
    unknown: list[str] = field(default_factory=list)

    @property
    def runs(self) -> list[PassRun]:
        """Binning run, tiles and direct run, in the order of execution."""
        runs: list[PassRun] = [] if self.binning is None else [self.binning]
        runs.extend(self.tiles)
        return runs if self.direct is None else [*runs, self.direct]

    @property
    def vertices(self) -> DrawTotal:
        """Vertices, or indices, of the program's draws, of one instance each."""
        return _total(draw.vertices for draw in self.program_draws if draw.kind == "draw")

    @property
    def instances(self) -> DrawTotal:
        """Instances of the program's draws."""
        return _total(draw.instances for draw in self.program_draws if draw.kind == "draw")

    @property
    def has_runs(self) -> bool:
        """Whether any run of it has begun."""
        return self.binning is not None or self.direct is not None or bool(self.tiles)

    @property
    def actions(self) -> list[Action]:
        """Everything that is executed in it, each once, in order."""
        found = {
            action.order: action
            for run in self.runs
            for action in (*run.draws, *(operation.action for operation in run.operations))
        }
        return [found[order] for order in sorted(found)]


def _total(numbers: Iterable[int | None]) -> DrawTotal:
    found = list(numbers)
    known = [number for number in found if number is not None]
    return DrawTotal(sum(known), len(known), len(found) - len(known))


@dataclass(slots=True)
class SubmitPasses:
    """The passes of one submit: of all command streams that see the same buffers."""

    number: int
    passes: list[Pass] = field(default_factory=list)


@dataclass(slots=True)
class Passes:
    """What a capture holds. ``truncated``: what limits left out.

    ``has_absolute_streams``: tiles name visibility streams by addresses (a6xx and later).
    ``waits``: all of the pipes BR and BV, also those that stand behind the last pass.
    """

    generation: int = 0
    gpu: str | None = None
    has_absolute_streams: bool = False
    submits: list[SubmitPasses] = field(default_factory=list)
    waits: list[PipeWait] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    truncated: list[Truncation] = field(default_factory=list)

    @property
    def problems(self) -> list[str]:
        """Why this may not be all: damage and truncations, in words."""
        return [*map(str, self.damage), *map(str, self.truncated)]

    @property
    def passes(self) -> list[Pass]:
        """All passes and groups in order."""
        return [found for submit in self.submits for found in submit.passes]
