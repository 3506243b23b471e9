# SPDX-License-Identifier: MIT
"""State that draws need and who wrote it, constants, state without effect."""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.passes.tracker import is_program_draw
from cffpy.analysis.program_facts import CapturedPrograms
from cffpy.analysis.registers import Remembered
from cffpy.check.model import FROM_A3XX, FROM_A5XX, FROM_A6XX, Facts, Report, at_draw, lint
from cffpy.cp.loadstate import CONSTANTS, LOAD_STATE_PACKETS, loaded_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.registers import RegisterReader
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.check.model import CheckedCapture
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass, PassRun
    from cffpy.frame.places import PacketLocation
    from cffpy.frame.register_write import RegisterWrite
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database

# -- state that a draw needs -----------------------------------------------------------------------
# Whether the registers that draws cannot do without were written, and where. A draw
# needs the viewport and scissors, the description of each target that it writes, and the programs
# of its stages. Which other registers it reads is not known.

_MAX_TARGETS = 8
_STAGES = ("VS", "HS", "DS", "GS", "FS")

#: First draws that are kept, at most.
_MAX_KEPT = 1 << 14

#: Names that a text has, at most.
_SHOWN = 3

#: Ends of names of registers that say where a target lies in memory.
_IN_MEMORY = ("].PITCH", "].BASE", "_BUFFER_PITCH", "_BUFFER_BASE")


class NeededRegister(NamedTuple):
    """A register that a draw needs. ``write``: the packet that wrote it, None for none.

    ``was_used``: something was drawn between the write and the pass of the draw.
    """

    name: str
    write: RegisterWrite | None
    was_used: bool


def listed(registers: Sequence[NeededRegister]) -> str:
    """The names of the first registers, and how many more there are."""
    names = [register.name for register in registers[:_SHOWN]]
    more = len(registers) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


class NeedyDraw(NamedTuple):
    """The first draw of a pass that needs these registers."""

    pass_: Pass
    draw: Action
    registers: tuple[NeededRegister, ...]
    #: Whether commands that ran before it were not captured.
    misses_commands: bool


class _Needs(NamedTuple):
    """The first draw of a pass with these needs: names and offsets of registers.

    ``begin``: position of the first action of the pass.
    """

    pass_: Pass
    draw: Action
    begin: int
    registers: list[tuple[str, int]]
    misses_commands: bool


class NeededState(Facts):
    """Takes, for the first draw of each pass with the same needs, what wrote each register."""

    needs_registers = True

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self._names: Remembered[tuple[str, ...]]
        self._names_in_gmem: Remembered[tuple[str, ...]]
        self._seen: set[tuple[int, tuple[str, ...]]] = set()
        self._misses_commands = False
        #: The pass of the last action, and position of its first one.
        self._pass: int | None = None
        self._begin = 0
        #: The last action that is executed.
        self._executed = 0
        self._draws: list[_Needs] = []

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Read registers by the generation's names."""
        self._names = Remembered(self.walk.machine, _needed)
        self._names_in_gmem = Remembered(self.walk.machine, _needed_in_gmem)

    def commands_missing(self, gpuaddr: int) -> None:
        """What they wrote is not known."""
        self._misses_commands = True

    def draw_state_group_missing(self, gpuaddr: int) -> None:
        """Neither is what its registers hold."""
        self._misses_commands = True

    def action(self, action: Action) -> None:
        """Take one of the program's draws outside of binning runs."""
        pass_ = self.passes.current
        index = None if pass_ is None else pass_.index
        if index != self._pass:
            self._pass, self._begin = index, action.order
            self.registers.ask(self._executed)  # writes before and after it are told apart
        if action.execution.is_possible:
            self._executed = action.order
        if pass_ is None or pass_.kind != "render" or action.binning:
            return
        if not action.execution.is_possible or not is_program_draw(action):
            return
        names = self._names_in_gmem() if pass_.mode == "gmem" else self._names()
        key = pass_.index, names
        if key in self._seen or len(self._seen) >= _MAX_KEPT:
            return
        self._seen.add(key)
        self.registers.ask(action.order)
        offset = self.walk.machine.names.register_offset
        needed = [(name, offset(name)) for name in names]
        self._draws.append(_Needs(pass_, action, self._begin, needed, self._misses_commands))

    @cached_property
    def draws(self) -> list[NeedyDraw]:
        """The first draws of each pass with the same needs, when the walk has ended."""
        store, drawn = self.registers, self._drawn_before()
        after = store.log.actions_after()
        needy = []
        for needs in self._draws:
            order = needs.draw.order
            if not store.has(order):
                continue
            entries = store.history(order).snapshot(order).entries
            registers = []
            for name, offset in needs.registers:
                entry = entries.get(offset)
                if entry is None:
                    registers.append(NeededRegister(name, None, False))
                else:
                    write = store.log.source(entry, is_kept=True).of(offset)
                    registers.append(
                        NeededRegister(name, write, drawn[after[entry]] < drawn[needs.begin])
                    )
            needy.append(
                NeedyDraw(needs.pass_, needs.draw, tuple(registers), needs.misses_commands)
            )
        return needy

    def _drawn_before(self) -> list[int]:
        """By ``Action.order``: how many actions before it are executed."""
        drawn = accumulate(action.execution.is_possible for action in self.passes.actions)
        return [0, *drawn]


def _needed(reader: RegisterReader) -> tuple[str, ...]:
    """The names of the registers that a draw needs now, as the generation has them."""
    return tuple(name for name in _candidates(reader) if reader.offset(name))


def _needed_in_gmem(reader: RegisterReader) -> tuple[str, ...]:
    """The same in a GMEM pass, where targets lie in GMEM.

    Where registers have both places of a target (a6xx and later), those of memory are not used: the
    vendor's driver leaves them as they are.
    """
    names = _needed(reader)
    if not reader.offset("RB_MRT[0].BASE_GMEM"):
        return names
    return tuple(name for name in names if not name.endswith(_IN_MEMORY))


def _candidates(reader: RegisterReader) -> Iterator[str]:
    discard = reader.first("PC_RASTER_CNTL", "VPC_RAST_CNTL") or ""
    if not reader.flag(discard, "DISCARD"):
        yield from _raster()
        yield from _colours(reader)
        yield from _depth(reader)
    for stage in _STAGES:
        if reader.flag(f"SP_{stage}_CONFIG", "ENABLED"):
            yield f"SP_{stage}_OBJ_START"
            yield f"SP_{stage}_CTRL_REG0"


def _raster() -> Iterator[str]:
    for axis in "XY":
        for part in ("SCALE", "OFFSET"):
            yield f"GRAS_CL_VPORT[0].{axis}{part}"
            yield f"GRAS_CL_VPORT_{axis}{part}_0"
            yield f"PA_CL_VPORT_{axis}{part}"
    for corner in ("TL", "BR"):
        yield f"GRAS_SC_SCREEN_SCISSOR[0].{corner}"
        yield f"GRAS_SC_VIEWPORT_SCISSOR[0].{corner}"
        yield f"GRAS_SC_SCREEN_SCISSOR_{corner}"


def _colours(reader: RegisterReader) -> Iterator[str]:
    count = reader.field("RB_FS_OUTPUT_CNTL1", "MRT")
    if count is None:
        count = reader.field("RB_FS_OUTPUT_CNTL", "MRT")
    for index in range(min(count or 0, _MAX_TARGETS)):
        target = f"RB_MRT[{index}]"
        yield f"{target}.CONTROL"
        if reader.field(f"{target}.CONTROL", "COMPONENT_ENABLE") == 0:
            continue
        for part in ("BUF_INFO", "PITCH", "BASE", "BASE_LO"):
            yield f"{target}.{part}"
        if reader.flag(f"{target}.CONTROL", "BLEND"):
            yield f"{target}.BLEND_CONTROL"


def _depth(reader: RegisterReader) -> Iterator[str]:
    depth = reader.first("RB_DEPTH_CNTL", "RB_DEPTH_CONTROL") or ""
    test = "Z_TEST_ENABLE" if reader.field(depth, "Z_TEST_ENABLE") is not None else "Z_ENABLE"
    if depth and reader.flag(depth, test):
        yield depth
        yield from ("RB_DEPTH_BUFFER_INFO", "RB_DEPTH_BUFFER_PITCH", "RB_DEPTH_BUFFER_BASE")


@lint("CFF003", "warning", FROM_A5XX, needs=(NeededState,))
def stale_state(capture: CheckedCapture) -> Iterator[Report]:
    """A draw uses a target, viewport or program that another pass has set.

    First draws of passes with registers last written in another pass or submit. Known are the
    registers without which nothing can be drawn: viewport, scissors, targets, the depth buffer of a
    depth test, programs. Not after a call of commands that the capture does not hold, and not what
    was written between passes.

    Why: Passes are emitted by themselves: which of them runs before, and whether it runs, may
    change, and with it the target or the program of the draw.

    Advice: Emit the register in each pass; cffpy state shows which packet wrote it.
    """
    for needy in capture.facts(NeededState).draws:
        if needy.misses_commands:
            continue
        stale = [each for each in needy.registers if _is_stale(capture, each, needy)]
        if stale:
            text = f"{listed(stale)} {_have(stale)} the value of {_where(stale[0])}"
            yield at_draw(needy.pass_, needy.draw, text, needy.pass_.index)


def _is_stale(capture: CheckedCapture, register: NeededRegister, needy: NeedyDraw) -> bool:
    """Whether it was written for another render pass, or in an earlier submit.

    What is written between passes may be meant for all that follow.
    """
    write = register.write
    if write is None or not register.was_used:
        return False
    if write.origin(needy.draw) == "earlier submit":
        return True
    index = write.pass_index
    if index is None or index == needy.pass_.index:
        return False
    return capture.passes[index].kind == "render"


def _have(registers: list[NeededRegister]) -> str:
    return "has" if len(registers) == 1 else "have"


def _where(register: NeededRegister) -> str:
    write = register.write
    assert write is not None
    if write.pass_index is None:
        return f"submit {write.place.submit.submit}"
    return f"pass {write.pass_index}"


@lint("CFF004", "warning", needs=(NeededState,))
def state_never_written(capture: CheckedCapture) -> Iterator[Report]:
    """A draw uses a target, viewport or program that no command has set.

    First draws of passes with registers that no captured command has written before: those without
    which nothing can be drawn. Not after a call of commands that the capture does not hold.

    Why: The GPU uses what another process or the reset has left in the register.

    Advice: Emit the register before the draw, in each submit.
    """
    for needy in capture.facts(NeededState).draws:
        missing = [register for register in needy.registers if register.write is None]
        if missing and not needy.misses_commands:
            verb = "was" if len(missing) == 1 else "were"
            cause = tuple(register.name for register in missing)
            text = f"{listed(missing)} {verb} never written"
            yield at_draw(needy.pass_, needy.draw, text, cause)


# -- constants -------------------------------------------------------------------------------------
# Constants that packets load between draws (a6xx and later).

#: Loads between two draws, and cases of each kind, that are kept at most.
_MAX_LOADS, _MAX_CASES = 256, 4096


class Load(NamedTuple):
    """Constants for a stage: vectors of four from ``first`` to ``end``."""

    stage: str
    first: int
    end: int
    place: PacketLocation


class ConstantLoads(Facts):
    """``beyond``: loads that end behind CONSTLEN at a draw that uses the stage, but for a program
    without constants. ``twice``: loads of which a later one, before any draw, replaces a part.
    """

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self.beyond: list[tuple[Load, int, Action, Pass | None]] = []
        self.twice: list[tuple[Load, Load, Pass | None]] = []
        self._programs = CapturedPrograms(walk)
        self._loads: list[Load] = []
        self._run: PassRun | None = None

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Packets that load state, constants among it."""
        return dict.fromkeys(LOAD_STATE_PACKETS, self._load)

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """Loads of another submit, or of another capture that was joined, are for no draw here."""
        if is_new_submit:
            self._loads.clear()

    def _load(self, payload: Payload) -> None:
        if not payload.count:
            return
        loaded = loaded_state(self.walk.machine, payload)
        if loaded.kind != CONSTANTS or not loaded.units:
            return
        if self.passes.run is not self._run:
            self._run = self.passes.run
            self._loads.clear()
        here = self.walk.packet_location
        load = Load(loaded.stage, loaded.first, loaded.first + loaded.units, here)
        for other in self._loads:
            overlaps = other.first < load.end and load.first < other.end
            if other.stage == load.stage and overlaps and len(self.twice) < _MAX_CASES:
                self.twice.append((other, load, self.passes.current))
                break
        if len(self._loads) < _MAX_LOADS:
            self._loads.append(load)

    def action(self, action: Action) -> None:
        """Loads before a draw or dispatch are for it."""
        if action.kind not in ("draw", "dispatch"):
            return
        if not action.execution.is_possible:
            return
        stages = dict(action.programs)
        if action.binning:
            stages.pop(
                "FS", None
            )  # does not run; registers may hold the program of an earlier draw
        used = [load for load in self._loads if load.stage in stages]
        field = self.walk.registers.field
        for load in used:
            length = field(f"HLSQ_{load.stage}_CNTL", "CONSTLEN")
            if length is None or load.end <= length or len(self.beyond) >= _MAX_CASES:
                continue
            # turnip loads a vector of zeros for a program that reads no constants
            if length or self._reads_constants(stages[load.stage]):
                self.beyond.append((load, length, action, self.passes.current))
        is_dispatch = action.kind == "dispatch"
        self._loads = [load for load in self._loads if (load.stage == "CS") != is_dispatch]

    def _reads_constants(self, address: int) -> bool:
        """Whether a program reads constants; False where it was not captured."""
        program = self._programs.at(address)
        return program is not None and program.reads_constants


@lint("CFF001", "error", FROM_A6XX, needs=(ConstantLoads,))
def constants_beyond_length(capture: CheckedCapture) -> Iterator[Report]:
    """Constants are loaded beyond the length of the program.

    Loads for a stage that the next draw or dispatch uses. Not a load for a program that reads no
    constants, for which turnip loads a vector of zeros, and none for the fragment stage in a
    binning run, which does not run it.

    Why: The program sees CONSTLEN vectors of constants. What is loaded behind them is lost, or
    lands in the constants of another stage.

    Advice: Load no more constants than HLSQ_xS_CNTL.CONSTLEN has, or make it larger.
    """
    for load, length, action, pass_ in capture.facts(ConstantLoads).beyond:
        text = f"{load.stage} constants {load.first} to {load.end - 1} with CONSTLEN {length}"
        cause = load.stage, load.first, load.end, length
        yield Report(text, cause, load.place, pass_, action)


@lint("CFF002", "warning", FROM_A3XX, needs=(ConstantLoads,))
def constants_twice(capture: CheckedCapture) -> Iterator[Report]:
    """Constants are loaded twice before a draw.

    Loads that overlap, without a draw or dispatch between.

    Why: The first load is wasted: the second overwrites it before anything reads it.

    Advice: Load each constant once before the draw that uses it.
    """
    for first, second, pass_ in capture.facts(ConstantLoads).twice:
        text = (
            f"{second.stage} constants {second.first} to {second.end - 1} replace"
            f" {first.first} to {first.end - 1}, which no draw has used"
        )
        cause = None if pass_ is None else pass_.index, second.stage
        yield Report(text, cause, second.place, pass_)


# -- state without effect --------------------------------------------------------------------------


@lint("CFF043", "info", FROM_A3XX)
def idle_state(capture: CheckedCapture) -> Iterator[Report]:
    """Blending or the stencil test is on, but has no effect.

    Draws whose blending gives the source, or whose stencil test never rejects or writes.

    Why: Blending reads the target, and both may turn LRZ writes off, though the result is the
    same.

    Advice: Turn off blending with factors ONE and ZERO, and a stencil test with ALWAYS and
    KEEP.
    """
    for pass_, draw in capture.draws():
        depth = draw.depth
        if depth is None:
            continue
        if depth.idle_blends:
            numbers = ", ".join(map(str, depth.idle_blends))
            text = f"blending of color {numbers} with factors ONE and ZERO"
            yield at_draw(pass_, draw, text, (pass_.index, "blend", depth.idle_blends))
        if depth.tests_stencil and not depth.stencil_has_effect:
            text = "the stencil test is ALWAYS and writes nothing"
            yield at_draw(pass_, draw, text, (pass_.index, "stencil"))
