# SPDX-License-Identifier: MIT
"""What lints of several topics read of draws, and of dispatches.

DrawStates: scissors, viewport, vertex fetches and programs at each of the program's draws; of
dispatches, the programs. DrawTextures: the textures that programs use, and their buffers.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.bound_textures import BoundTextures
from cffpy.analysis.passes.tracker import is_program_draw
from cffpy.analysis.program_facts import FragmentPrograms, ProgramFacts
from cffpy.analysis.registers import RegisterReader, Remembered
from cffpy.check.model import Facts
from cffpy.cp.loadstate import DIRECT, LOAD_STATE_PACKETS, SHADER, loaded_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.frame.action import Action
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database

_FETCHES = 32
_STAGES = ("VS", "HS", "DS", "GS", "FS")

#: Inclusive corners: left, top, right, bottom.
Corners = tuple[int, int, int, int]


class RasterState(NamedTuple):
    """Rectangles are inclusive; None where registers do not show them."""

    screen: Corners | None
    viewport: Corners | None
    #: XSCALE and YSCALE of the first viewport, in pixels.
    scale: tuple[float, float] | None
    #: Nothing is rasterised; transform feedback writes; samples are counted by a query.
    discards: bool
    feeds_back: bool
    counts_samples: bool

    @property
    def clipped(self) -> Corners | None:
        """The intersection of both scissors; may be empty (right < left)."""
        known = [corners for corners in (self.screen, self.viewport) if corners is not None]
        if not known:
            return None
        return (
            max(corners[0] for corners in known),
            max(corners[1] for corners in known),
            min(corners[2] for corners in known),
            min(corners[3] for corners in known),
        )


class Fetch(NamedTuple):
    """A vertex buffer. Sizes in bytes; ``end``: of the last attribute in an element.

    ``is_null``: address and size were written as 0.
    """

    number: int
    address: int
    size: int
    stride: int
    end: int
    instanced: bool
    is_null: bool


class StageProgram(NamedTuple):
    """The program of a stage: address, size in units of ``program_dwords``, private memory.

    ``private``: bytes that each fiber spills to, 0 where the program does not spill.
    """

    stage: str
    address: int
    units: int
    private: int


class DrawState(NamedTuple):
    """The state of a draw. ``unset``: stages of which no command has said whether they run."""

    raster: RasterState
    fetches: tuple[Fetch, ...]
    programs: tuple[StageProgram, ...]
    unset: tuple[str, ...]


class DrawStates(Facts):
    """Takes the state of each draw of the program."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self._programs = FragmentPrograms(walk)
        self._states: dict[int, DrawState] = {}
        self._raster: Remembered[RasterState]
        self._fetches: Remembered[tuple[Fetch, ...]]
        self._stages: Remembered[tuple[StageProgram, ...]]
        self._compute: Remembered[tuple[StageProgram, ...]]
        #: Whether registers say if dispatches have a program; None: they do not.
        self._has_compute: Remembered[bool | None]
        #: Programs of dispatches, by order; dispatches that have none, as registers say.
        self._dispatched: dict[int, tuple[StageProgram, ...]] = {}
        self._without_program: set[int] = set()
        self._unset: Remembered[tuple[str, ...]]
        self._joined: dict[DrawState, DrawState] = {}
        #: (stage, address of its program) -> bytes captured from there on, of the first draw.
        self.captured: dict[tuple[int, str, int], int] = {}
        #: a3xx, a4xx: stages whose program was in a packet, so that the address does not count.
        self._in_packets: set[str] = set()
        self._may_lie_in_packets = False
        #: Whether commands were called that were not captured; draws before that.
        self._misses_commands = False
        self._complete: set[int] = set()

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Read registers by the generation's names."""
        machine = self.walk.machine
        self._raster = Remembered(machine, _raster)
        self._fetches = Remembered(machine, _fetches)
        self._in_packets.clear()
        self._may_lie_in_packets = not self.walk.registers.offset("SP_VS_CONFIG")
        find_stages = _old_stages if self._may_lie_in_packets else _stages
        self._stages = Remembered(machine, partial(find_stages, _STAGES))
        self._compute = Remembered(machine, partial(find_stages, ("CS",)))
        self._has_compute = Remembered(machine, _has_compute)
        self._unset = Remembered(machine, _unset_stages)

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Packets that may hold programs."""
        return dict.fromkeys(LOAD_STATE_PACKETS, self._load) if self._may_lie_in_packets else {}

    def _load(self, payload: Payload) -> None:
        loaded = loaded_state(self.walk.machine, payload)
        if loaded.kind == SHADER and loaded.source == DIRECT:
            self._in_packets.add(loaded.stage)
        elif loaded.kind == SHADER:
            self._in_packets.discard(loaded.stage)

    def commands_missing(self, gpuaddr: int) -> None:
        """What they wrote is not known."""
        self._misses_commands = True

    def draw_state_group_missing(self, gpuaddr: int) -> None:
        """Neither is what its registers hold."""
        self._misses_commands = True

    def action(self, action: Action) -> None:
        """Take the state of one of the program's draws, in any run, or of a dispatch."""
        if action.kind == "dispatch" and action.execution.is_possible:
            self._take_dispatch(action)
        if action.kind != "draw" or not is_program_draw(action):
            return
        if not self._misses_commands:
            self._complete.add(action.order)
        self._programs.action(action)
        programs = self._stages()
        if self._in_packets:
            programs = tuple([each for each in programs if each.stage not in self._in_packets])
        state = DrawState(self._raster(), self._fetches(), programs, self._unset())
        self._states[action.order] = self._joined.setdefault(state, state)
        self._look_up(action, state.programs)

    def _take_dispatch(self, action: Action) -> None:
        if not self._misses_commands:
            self._complete.add(action.order)
            if self._has_compute() is False:
                self._without_program.add(action.order)
        programs = self._dispatched[action.order] = self._compute()
        self._look_up(action, programs)

    def _look_up(self, action: Action, programs: Iterable[StageProgram]) -> None:
        """How much of the programs was captured, while the submit's memory is available."""
        submit = action.place.submit
        for program in programs:
            key = (submit, program.stage, program.address)
            if key not in self.captured:
                place = self.walk.machine.image.place(program.address)
                self.captured[key] = 0 if place is None else 4 * (place[0].count - place[1])

    def of(self, draw: Action) -> DrawState | None:
        """The state of a draw."""
        return self._states.get(draw.order)

    def programs(self, action: Action) -> tuple[StageProgram, ...]:
        """The programs of a draw or dispatch."""
        state = self.of(action)
        return self._dispatched.get(action.order, ()) if state is None else state.programs

    def lacks_program(self, dispatch: Action) -> bool:
        """Whether registers say that a dispatch has no program; all commands were captured."""
        return dispatch.order in self._without_program

    def is_complete(self, draw: Action) -> bool:
        """Whether all commands before the draw were captured."""
        return draw.order in self._complete

    def fragment_program(self, draw: Action) -> ProgramFacts | None:
        """What the draw's fragment program does; None where it is not known."""
        return self._programs.of(draw)

    def captured_bytes(self, draw: Action, program: StageProgram) -> int:
        """Bytes of a program's buffer that were captured from its start on."""
        return self.captured.get((draw.place.submit, program.stage, program.address), 0)


# -- raster ---------------------------------------------------------------------------------------


def _raster(reader: RegisterReader) -> RasterState:
    feeds = reader.field("VPC_SO_STREAM_CNTL", "STREAM_ENABLE")
    if feeds is None:
        feeds = reader.field("VPC_SO_BUF_CNTL", "BUF0")  # a5xx
    discard = reader.first("PC_RASTER_CNTL", "VPC_RAST_CNTL") or ""
    counts = reader.field("RB_SAMPLE_COUNT_CONTROL", "COPY")
    return RasterState(
        _corners(reader, "GRAS_SC_SCREEN_SCISSOR"),
        _corners(reader, "GRAS_SC_VIEWPORT_SCISSOR"),
        viewport_pair(reader, "SCALE"),
        reader.flag(discard, "DISCARD"),
        bool(feeds),
        bool(counts),
    )


def _corners(reader: RegisterReader, name: str) -> Corners | None:
    for low, high in (
        (f"{name}[0].TL", f"{name}[0].BR"),
        (f"{name}_TL_0", f"{name}_BR_0"),
        (f"{name}_TL", f"{name}_BR"),
    ):
        if reader.offset(low):
            corners = [reader.field(name, axis) for name in (low, high) for axis in "XY"]
            if None in corners:
                return None
            left, top, right, bottom = (corner or 0 for corner in corners)
            return left, top, right, bottom
    return None


def viewport_pair(reader: RegisterReader, part: str) -> tuple[float, float] | None:
    """X and Y of the first viewport. ``part``: "SCALE" or "OFFSET", in pixels."""
    pair = []
    for axis in "XY":
        name = reader.first(
            f"GRAS_CL_VPORT[0].{axis}{part}",
            f"GRAS_CL_VPORT_{axis}{part}_0",
            f"GRAS_CL_VPORT_{axis}{part}",
            f"PA_CL_VPORT_{axis}{part}",
        )
        value = None if name is None else reader.number(name)
        if value is None:
            return None
        pair.append(value)
    return pair[0], pair[1]


# -- vertex data ----------------------------------------------------------------------------------


def _fetches(reader: RegisterReader) -> tuple[Fetch, ...]:
    """The vertex buffers that a decode entry of the program names (a5xx and later)."""
    count = reader.field("VFD_CONTROL_0", "FETCH_CNT")
    decodes = reader.field("VFD_CONTROL_0", "DECODE_CNT")
    if count is None:
        count = decodes = reader.field("VFD_CONTROL_0", "VTXCNT")
    if count is None or not reader.offset("VFD_DECODE[0].INSTR"):
        return ()
    ends = _attribute_ends(reader, min(decodes or 0, _FETCHES))
    fetches = []
    for index in range(min(count, _FETCHES)):
        name = f"VFD_FETCH[{index}]"
        if index not in ends:
            continue
        address, size = reader.address(f"{name}.BASE"), reader.value(f"{name}.SIZE")
        stride = reader.field(f"{name}.STRIDE") or 0
        is_null = address == 0 and size == 0
        fetches.append(Fetch(index, address or 0, size or 0, stride, *ends[index], is_null))
    return tuple(fetches)


def _attribute_ends(reader: RegisterReader, decodes: int) -> dict[int, tuple[int, bool]]:
    """Vertex buffer -> where its last attribute ends in an element, whether it is instanced."""
    ends: dict[int, tuple[int, bool]] = {}
    for number in range(decodes):
        decode = f"VFD_DECODE[{number}].INSTR"
        index = reader.field(decode, "IDX") or 0
        mask = reader.field(f"VFD_DEST_CNTL[{number}].INSTR", "WRITEMASK")
        if not mask:
            continue
        offset = reader.field(decode, "OFFSET") or 0
        size = _bytes(reader.enum(decode, "FORMAT"))
        before, instanced = ends.get(index, (0, False))
        ends[index] = max(before, offset + size), instanced or reader.flag(decode, "INSTANCED")
    return ends


def _bytes(name: str | None) -> int:
    """Bytes of a vertex format, by the bits in its name; 0 where unknown."""
    if name is None:
        return 0
    bits = [int(part) for part in name.split("_")[1:] if part.isdecimal()]
    return sum(bits) // 8


# -- programs -------------------------------------------------------------------------------------


def _stages(stages: Iterable[str], reader: RegisterReader) -> tuple[StageProgram, ...]:
    """The programs of the ``stages`` that are enabled (a5xx and later)."""
    programs = []
    for stage in stages:
        if not reader.flag(f"SP_{stage}_CONFIG", "ENABLED"):
            continue
        address = reader.address(f"SP_{stage}_OBJ_START")
        if address is None:
            continue  # it was never written: CFF004
        units = reader.value(f"SP_{stage}_INSTRLEN")
        if units is None:
            units = reader.value(f"HLSQ_{stage}_INSTRLEN")
        private = reader.field(f"SP_{stage}_PVT_MEM_PARAM", "MEMSIZEPERITEM") or 0
        programs.append(StageProgram(stage, address & ~0xF, units or 0, private))
    return tuple(programs)


def _unset_stages(reader: RegisterReader) -> tuple[str, ...]:
    """Stages whose configuration was never written."""
    return tuple([stage for stage in _STAGES if reader.value(f"SP_{stage}_CONFIG") is None])


def _has_compute(reader: RegisterReader) -> bool | None:
    """Whether the stage of dispatches is enabled; None where no register says so."""
    enabled = reader.field("SP_CS_CONFIG", "ENABLED")
    return None if enabled is None else bool(enabled)


def _old_stages(stages: Iterable[str], reader: RegisterReader) -> tuple[StageProgram, ...]:
    """The programs of the ``stages`` that have a length (a3xx, a4xx)."""
    programs = []
    for stage in stages:
        control = f"HLSQ_{stage}_CONTROL_REG"
        units = reader.field(control, "INSTRLENGTH")
        if not units or (stage not in ("VS", "FS", "CS") and not reader.flag(control, "ENABLED")):
            continue
        start = reader.first(f"SP_{stage}_OBJ_START", f"SP_{stage}_OBJ_START_REG")
        address = None if start is None else reader.address(start)
        if address is not None:  # else it was never written
            programs.append(StageProgram(stage, address & ~0xF, units, 0))
    return tuple(programs)


class DrawTextures(BoundTextures, Facts):
    """The textures that programs use, as a fact of lints."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        Facts.__init__(self, walk, passes)
        BoundTextures.__init__(self, walk)
