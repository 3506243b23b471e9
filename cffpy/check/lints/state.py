# SPDX-License-Identifier: MIT
"""State that draws need and who wrote it, constants, state without effect."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.event_reads import (
    EFFECTS,
    EventReads,
    event_of,
    next_pass,
    rows_of,
    staleness,
)
from cffpy.analysis.program_facts import CapturedPrograms
from cffpy.analysis.registers import Remembered
from cffpy.check.model import FROM_A3XX, FROM_A6XX, Facts, Report, at_draw, lint
from cffpy.cp.loadstate import CONSTANTS, LOAD_STATE_PACKETS, loaded_state

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from cffpy.analysis.event_reads import ReadRegister, Staleness
    from cffpy.analysis.passes.finder import PassFinder
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

# -- state that events read ------------------------------------------------------------------------
# Whether the registers that draws, dispatches, loads, clears, stores and blits read were written,
# and where (cffpy/analysis/event_reads.py).

#: Events that are kept, at most.
_MAX_KEPT = 1 << 14

#: Names that a text has, at most.
_SHOWN = 3


class ReadState(NamedTuple):
    """A register that an event reads. ``write``: the packet that wrote it, None for none.

    ``meant_for``: the pass of the first action behind the write. ``staleness``: whose value it is,
    where it is not the event's own.
    """

    register: ReadRegister
    write: RegisterWrite | None
    meant_for: int | None
    staleness: Staleness | None


def listed(registers: Sequence[ReadState]) -> str:
    """The names of the first registers, the worst before others, and how many more there are."""
    ranked = sorted(registers, key=lambda state: EFFECTS.index(state.register.effect))
    names = [state.register.name for state in ranked[:_SHOWN]]
    more = len(registers) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


class ReadingEvent(NamedTuple):
    """The first event of a pass, or of a group, that reads these registers."""

    pass_: Pass
    action: Action
    registers: tuple[ReadState, ...]


class _Reads(NamedTuple):
    """The same while the walk runs."""

    pass_: Pass
    action: Action
    registers: tuple[ReadRegister, ...]


class EventState(Facts):
    """Takes, for the first event of each pass that reads a register, what wrote it.

    Not after commands that the capture does not hold: what they wrote is not known.
    """

    needs_registers = True

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self._reads: EventReads
        #: By event and kind of action.
        self._read: dict[tuple[str, str], Remembered[tuple[ReadRegister, ...]]]
        #: Of this pass, by whether it is its binning run: what was read, and the registers that
        #: were looked at. What an event of the pass found its own is so for all that follow.
        self._read_in_pass: set[tuple[bool, tuple[ReadRegister, ...]]] = set()
        self._checked: tuple[set[int], set[int]] = set(), set()
        self._misses_commands = False
        #: The pass of the last action.
        self._pass: int | None = None
        #: The last action that is executed, but for clears of LRZ: a driver begins a pass with one,
        #: in the middle of what it writes.
        self._executed = 0
        self._events: list[_Reads] = []

    def bound(self, gpu: Gpu, database: Database) -> None:
        """The table is the generation's."""
        self._reads, self._read = EventReads(rows_of(gpu.generation)), {}

    def commands_missing(self, gpuaddr: int) -> None:
        """What they wrote is not known."""
        self._misses_commands = True

    def draw_state_group_missing(self, gpuaddr: int) -> None:
        """Neither is what its registers hold."""
        self._misses_commands = True

    def action(self, action: Action) -> None:
        """Take what the table knows."""
        pass_ = self.passes.current
        index = None if pass_ is None else pass_.index
        if index != self._pass:
            self._pass = index
            self._read_in_pass.clear()
            self._checked = set(), set()
            self.registers.ask(self._executed)  # writes before and after it are told apart
        if not action.execution.is_possible:
            return
        if action.kind != "lrz clear":
            self._executed = action.order
        event = event_of(action)
        if pass_ is None or event is None or self._misses_commands:
            return
        registers = self._registers(event, action.kind)
        if (action.binning, registers) in self._read_in_pass:
            return
        self._read_in_pass.add((action.binning, registers))
        checked = self._checked[action.binning]
        new = tuple([register for register in registers if register.offset not in checked])
        if not new or len(self._events) >= _MAX_KEPT:
            return
        checked.update(register.offset for register in new)
        self.registers.ask(action.order)
        self._events.append(_Reads(pass_, action, new))

    def _registers(self, event: str, kind: str) -> tuple[ReadRegister, ...]:
        try:
            read = self._read[event, kind]
        except KeyError:
            compute = partial(self._reads.of, event, kind)
            read = self._read[event, kind] = Remembered(self.walk.machine, compute)
        return read()

    @cached_property
    def events(self) -> list[ReadingEvent]:
        """The events, when the walk has ended."""
        store, actions, passes = self.registers, self.passes.actions, self.passes.found.passes
        after = store.log.actions_after()
        reading = []
        for event in self._events:
            order = event.action.order
            if not store.has(order):
                continue
            entries = store.history(order).snapshot(order).entries
            states = []
            for register in event.registers:
                entry = entries.get(register.offset)
                write = meant_for = None
                if entry is not None:
                    write = store.log.source(entry, is_kept=True).of(register.offset)
                    meant_for = next_pass(actions, after[entry])
                stale = staleness(register, write, meant_for, event.action, passes)
                states.append(ReadState(register, write, meant_for, stale))
            reading.append(ReadingEvent(event.pass_, event.action, tuple(states)))
        return reading


def at_event(event: ReadingEvent, text: str, cause: Hashable) -> Report:
    """A report of an event, which the text begins with unless it is a draw of the program."""
    action = event.action
    if not action.role and action.kind != "resolve":
        return at_draw(event.pass_, action, text, cause)
    where = "" if action.tile_number is None else f" in tile {action.tile_number}"
    return Report(f"{action.role or action.kind}{where}: {text}", cause, action.place, event.pass_)


@lint("CFF003", "warning", needs=(EventState,))
def stale_state(capture: CheckedCapture) -> Iterator[Report]:
    """A draw, load, clear or store uses state that another pass has set.

    First events of each kind in passes that read registers last written in another pass. Not after
    a call of commands that the capture does not hold, and not what was written between passes.
    cffpy state --reads shows all that an event reads.

    Why: Passes are emitted by themselves: which of them runs before, and whether it runs, may
    change, and with it what is drawn.

    Advice: Emit the register in each pass; cffpy state shows which packet wrote it.
    """
    for event in capture.facts(EventState).events:
        stale = [state for state in event.registers if state.staleness == "pass"]
        if stale:
            text = f"{listed(stale)} {_have(stale)} the value of pass {stale[0].meant_for}"
            yield at_event(event, text, (event.pass_.index, event_of(event.action)))


def _have(registers: list[ReadState]) -> str:
    return "has" if len(registers) == 1 else "have"


@lint("CFF051", "warning", needs=(EventState,))
def state_of_another_process(capture: CheckedCapture) -> Iterator[Report]:
    """A draw, dispatch, load, clear, store or blit uses state that an earlier submit has set.

    First events of each kind in passes that read registers which no command of their submit has
    written, but commands of an earlier submit. Not after a call of commands that the capture does
    not hold.

    Why: Submits of other processes may run in between, and the kernel may reset the GPU.

    Advice: Emit the register in each submit; cffpy state shows which packet wrote it.
    """
    for event in capture.facts(EventState).events:
        stale = [state for state in event.registers if state.staleness == "submit"]
        if stale:
            write = stale[0].write
            assert write is not None
            submit = write.place.submit
            text = f"{listed(stale)} {_have(stale)} the value of submit {submit}"
            yield at_event(event, text, (event.pass_.index, event_of(event.action)))


@lint("CFF004", "warning", needs=(EventState,))
def state_never_written(capture: CheckedCapture) -> Iterator[Report]:
    """A draw, dispatch, load, clear, store or blit uses state that no command has set.

    First events of each kind in passes that read registers which no captured command has written
    before. Not after a call of commands that the capture does not hold.

    Why: The GPU uses what another process or the reset has left in the register.

    Advice: Emit the register before the event, in each submit.
    """
    for event in capture.facts(EventState).events:
        missing = [state for state in event.registers if state.staleness == "nobody"]
        if missing:
            verb = "was" if len(missing) == 1 else "were"
            cause = tuple(state.register.name for state in missing)
            yield at_event(event, f"{listed(missing)} {verb} never written", cause)


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
