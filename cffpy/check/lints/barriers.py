# SPDX-License-Identifier: MIT
"""Waits, cache events and the work between them; signals between the pipes."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from cffpy.analysis.attachments import cache_offset
from cffpy.analysis.registers import Remembered
from cffpy.capture.gpu import generation_of
from cffpy.check.draw_states import DrawTextures
from cffpy.check.model import (
    FROM_A5XX,
    FROM_A6XX,
    FROM_A7XX,
    ONLY_A7XX,
    Facts,
    Report,
    at_draw,
    lint,
)
from cffpy.frame.execution import Executed
from cffpy.frame.passes import FLAGS_FILL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.check.model import CheckedCapture
    from cffpy.frame.action import Action
    from cffpy.frame.execution import PipeWait
    from cffpy.frame.passes import Pass
    from cffpy.frame.places import ExecutedStream, PacketLocation
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database

# -- waits and cache events in the order of execution ----------------------------------------------
#: "wait": the CP waits for the GPU. "cache": a cache event. "work": a draw, dispatch, blit, resolve
#: or an event or packet that writes memory. "unknown": what the caches hold afterwards is not
#: known: another process or the CPU may have written memory, another pipe of the CP goes on, the
#: colour cache has another place, or commands run that the capture does not hold.
Kind = Literal["wait", "cache", "work", "unknown"]

#: Steps that are kept, at most.
_MAX_STEPS = 1 << 20

_WAITS = ("CP_WAIT_FOR_IDLE",)
_MEMORY = (
    "CP_MEM_WRITE",
    "CP_MEM_WRITE_CNTR",
    "CP_MEM_TO_MEM",
    "CP_MEMCPY",
    "CP_REG_TO_MEM",
    "CP_REG_TO_MEM_OFFSET_MEM",
    "CP_REG_TO_MEM_OFFSET_REG",
    "CP_COND_WRITE",
    "CP_COND_WRITE5",
    "CP_MODIFY_TIMESTAMP",
    "CP_RECORD_PFP_TIMESTAMP",
    "CP_PERFCOUNTER_ACTION",
    "CP_EVENT_WRITE_CFL",
    "CP_EVENT_WRITE_SHD",
    "CP_EVENT_WRITE_ZPD",
)
_UNKNOWN = (
    "CP_WAIT_REG_MEM",
    "CP_WAIT_MEM_GTE",
    "CP_WAIT_TIMESTAMP",
    "CP_WAIT_TWO_REGS",
    "CP_WAIT_UNTIL_READ",
    "CP_THREAD_CONTROL",
    "CP_SET_THREAD_BOTH",
    "CP_SET_THREAD_BR",
    "CP_SET_THREAD_BV",
    "CP_BV_BR_COUNT_OPS",
    "CP_CONTEXT_SWITCH_YIELD",
)
_EVENTS = ("CP_EVENT_WRITE", "CP_EVENT_WRITE7")

#: Parts of the names of events that clean, invalidate or flush caches.
_CACHE_EVENTS = ("CLEAN", "INVALIDATE", "CACHE_RESET", "FLUSH", "PC_CCU_RESOLVE_TS")
_NO_CACHE_EVENTS = ("FLUSH_SO",)


class Step(NamedTuple):
    """Something that was executed. ``name``: of the packet or event.

    ``place``: None for a command stream that is missing as a whole: no packet of ``submit`` runs.
    ``writes``: a cache event that writes memory, too, as events with a timestamp do.
    ``is_certain``: False where only the GPU knows whether it is executed.
    """

    kind: Kind
    name: str
    submit: CommandStream
    place: PacketLocation | None
    pass_: Pass | None
    action: Action | None = None
    writes: bool = False
    is_certain: bool = True


class Barriers(Facts):
    """``steps``: all of them, in order.

    ``switches``: pairs of positions of successive actions, between which the colour cache changes
    its offset in GMEM (a6xx and a7xx).
    """

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self.steps: list[Step] = []
        self.switches: list[tuple[int, int]] = []
        self._offset: Remembered[int | None]
        #: The last action's position, and the cache's offset there.
        self._last: tuple[int, int | None] | None = None
        #: Whether the event packet that runs has an address; the cache's offset at the last event.
        self._event_writes = False
        self._offset_then: int | None = None

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Read registers by the generation's names."""
        self._offset = Remembered(self.walk.machine, cache_offset)

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Waits, and packets that write memory."""
        handlers: dict[str, Callable[[Payload], None]] = dict.fromkeys(_EVENTS, self._event_packet)
        kinds: tuple[tuple[Kind, tuple[str, ...]], ...] = (
            ("wait", _WAITS),
            ("work", _MEMORY),
            ("unknown", _UNKNOWN),
        )
        for kind, names in kinds:
            handlers.update({name: partial(self._packet, kind, name) for name in names})
        return handlers

    def _event_packet(self, payload: Payload) -> None:
        """Behind the event it has an address, or nothing."""
        self._event_writes = payload.count > 1

    def commands_missing(self, gpuaddr: int) -> None:
        """What they do is not known."""
        self._add("unknown", "commands")

    def event(self, name: str | None) -> None:
        """An event: one of a cache, or work that it does."""
        if name is None:
            return
        is_cache = any(part in name for part in _CACHE_EVENTS)
        is_other = any(part in name for part in _NO_CACHE_EVENTS)
        if not is_cache or is_other:
            self._add("work", name)
            return
        with self.walk.pipes.read_br():  # the cache is BR's
            offset = self._offset()
        if offset != self._offset_then:
            self._offset_then = offset
            self._add("unknown", "another offset of the cache")
        self._add("cache", name, writes=self._event_writes)

    def action(self, action: Action) -> None:
        """Work that may be executed."""
        if action.execution.is_possible:
            self._add("work", action.packet, action)
            if self.walk.pipes.registers != "BV":  # which renders nothing
                self._note_offset()

    def _note_offset(self) -> None:
        position, offset = len(self.steps) - 1, self._offset()
        before, known = (position, offset) if self._last is None else self._last
        if position > before and offset != known and None not in (offset, known):
            self.switches.append((before, position))
        self._last = position, offset

    def _packet(self, kind: Kind, name: str, payload: Payload) -> None:
        self._add(kind, name)

    def _add(
        self, kind: Kind, name: str, action: Action | None = None, writes: bool = False
    ) -> None:
        if len(self.steps) < _MAX_STEPS:
            walk = self.walk
            place = action.place if action else walk.packet_location if walk.runs_packets else None
            is_certain, pass_ = walk.executed is Executed.YES, self.passes.current
            self.steps.append(
                Step(kind, name, walk.current_stream, place, pass_, action, writes, is_certain)
            )


#: Parts of the names of events that empty the colour cache; of a7xx, one that cleans all caches.
_EMPTYING = ("CCU_FLUSH_COLOR", "CCU_CLEAN_COLOR", "CCU_INVALIDATE_COLOR", "CACHE_FLUSH_TS")


@lint("CFF025", "error", FROM_A6XX, needs=(Barriers,))
def cache_mode_switch(capture: CheckedCapture) -> Iterator[Report]:
    """The colour cache changes its place in GMEM while it holds pixels.

    Switches between rendering in sysmem and in GMEM mode, by the offset of the cache, without any
    event that empties it; on a6xx also without a wait. That a range was written through another
    cache, by copies and programs, captures do not hold.

    Why: Rendering in sysmem and in GMEM mode use different parts of GMEM as cache
    (RB_CCU_CNTL). What the cache holds at a switch is written to a wrong place, or lost.

    Advice: Between the modes emit PC_CCU_FLUSH_COLOR_TS or CCU_CLEAN_COLOR after sysmem
    rendering, PC_CCU_INVALIDATE_COLOR, and on a6xx CP_WAIT_FOR_IDLE; for depth likewise.
    """
    barriers = capture.facts(Barriers)
    for before, after in barriers.switches:
        steps = barriers.steps[before + 1 : after]
        step = barriers.steps[after]
        missing = _missing_between(steps, generation_of(capture.generation).has_resolve_cache)
        if missing is not None:
            text = f"the mode of the colour cache changes without {missing} before"
            yield Report(text, missing, step.place, step.pass_, step.action)


def _missing_between(steps: list[Step], is_a7xx: bool) -> str | None:
    """What is missing between two actions with another mode, in words."""
    emptying = _EMPTYING if is_a7xx else _EMPTYING[:3]
    names = [step.name for step in steps]
    if not any(part in name for name in names for part in emptying):
        return "a clean or invalidate of the cache"
    if not is_a7xx and not any(step.kind == "wait" for step in steps):
        return "CP_WAIT_FOR_IDLE"
    return None


#: Fewer waits in a pass are not worth a finding.
_FEW_WAITS = 5


@lint("CFF027", "warning", FROM_A6XX, needs=(Barriers,))
def dense_waits(capture: CheckedCapture) -> Iterator[Report]:
    """Most draws of a pass wait until the GPU is idle.

    Passes in which more than half of the draws that follow another one wait for it. What costs is a
    wait between two draws that could overlap: it is counted where nothing but waits and cache
    events lies between two draws of one run. A wait after a query or a write of memory is for its
    result; a wait in a row with another one, or between passes or tiles, has nothing to drain. Up
    to a5xx Mesa's drivers wait before every draw.

    Why: CP_WAIT_FOR_IDLE lets a draw finish before the next begins, so that nothing overlaps.

    Advice: Remove waits that no data depends on. TU_DEBUG=syncdraw adds one for each draw.
    """
    steps = capture.facts(Barriers).steps
    at = {step.action.order: place for place, step in enumerate(steps) if step.action}
    for pass_ in capture.render_passes():
        pairs, waiting = 0, []
        for run in pass_.runs:
            draws = [draw for draw in run.draws if draw.order in at]
            for before, draw in pairwise(draws):
                pairs += 1
                if _waits(steps[at[before.order] + 1 : at[draw.order]]):
                    waiting.append(draw)
        if len(waiting) > max(_FEW_WAITS, pairs // 2):
            yield _dense_waits(pass_, waiting[0], len(waiting), pairs)


def _waits(between: list[Step]) -> bool:
    """Whether the GPU becomes idle between two draws for nothing but the second of them."""
    kinds = {step.kind for step in between}
    return "wait" in kinds and kinds <= {"wait", "cache"}


def _dense_waits(pass_: Pass, draw: Action, waits: int, pairs: int) -> Report:
    text = f"{waits} of {pairs} draws that follow a draw wait until the GPU is idle"
    return at_draw(pass_, draw, text, pass_.index)


@lint("CFF028", "info", FROM_A5XX, needs=(Barriers,))
def redundant_flush(capture: CheckedCapture) -> Iterator[Report]:
    """A cache is cleaned or invalidated twice between two draws.

    Cache events of one name with nothing between that could fill the cache. An event with a
    timestamp is a fence, whose write is what it is for. Where a run of draws begins or ends the GPU
    drains in any case: drivers clean a cache that is clean there, once a pass. Nothing is known of
    what runs before a command stream or an IB, and after a wait for memory, on another pipe of the
    CP, or with the cache in another place.

    Why: The second event has nothing to do, but the draws on both sides of it do not overlap.

    Advice: Collect barriers and emit each event once.
    """
    seen: dict[str, ExecutedStream | None] = {}
    repeated: list[Step] = []
    before: Step | None = None
    for step in capture.facts(Barriers).steps:
        if step.kind in ("work", "unknown") or step.writes:
            seen.clear()
        if step.kind == "unknown":
            before = None
        elif step.action is not None:
            if _is_one_run(before, step):
                yield from map(_repeated, repeated)
            before = step
            repeated.clear()
        elif step.kind == "cache" and step.is_certain and not step.writes:
            stream = _stream(step.place)
            if stream is not None and seen.get(step.name) is stream:
                repeated.append(step)
            seen[step.name] = stream


def _repeated(step: Step) -> Report:
    text = f"{step.name} again, without work since the last"
    return Report(text, step.name, step.place, step.pass_)


def _is_one_run(step: Step | None, other: Step) -> bool:
    """Whether two actions are the program's, in one run of one pass of a command stream."""
    if step is None or step.action is None or other.action is None:
        return False
    if step.submit is not other.submit or step.pass_ is not other.pass_:
        return False
    if step.action.number is None or other.action.number is None:
        return False
    one_run = step.action.tile_number, step.action.binning
    return one_run == (other.action.tile_number, other.action.binning)


def _stream(place: PacketLocation | None) -> ExecutedStream | None:
    """The execution of an IB, or the command stream, that a packet is in."""
    stream = None if place is None else place.stream
    while stream is not None and stream.kind == "block" and stream.caller is not None:
        stream = stream.caller.stream
    return stream


# -- reads of memory whose last write may still be in a cache --------------------------------------
# Reads of memory whose last write may still be in a cache (a6xx and a7xx). Rendering in sysmem
# mode and CP_BLIT write through the colour or depth cache, BLIT events of a7xx through the resolve
# cache. A clean event writes it to memory; textures are read through another cache, which has to
# be invalidated afterwards. Facts: the barrier rules of turnip, Mesa 25.0.7.

#: Kind of memory -> events that clean its cache. CACHE_FLUSH events of a7xx clean all of them.
_CLEANS = {
    "color": ("PC_CCU_FLUSH_COLOR_TS", "CCU_CLEAN_COLOR", "CCU_FLUSH_COLOR"),
    "depth": ("PC_CCU_FLUSH_DEPTH_TS", "CCU_CLEAN_DEPTH", "CCU_FLUSH_DEPTH"),
    "resolve": ("CCU_RESOLVE_CLEAN", "PC_CCU_RESOLVE_TS", "CCU_CLEAN_COLOR", "CACHE_CLEAN"),
}
_INVALIDATES = ("CACHE_INVALIDATE", "CACHE_INVALIDATE7")


class UncleanRead(NamedTuple):
    """A texture that is read too early. ``missing``: the event, as text."""

    action: Action
    pass_: Pass | None
    address: int
    written_by: str
    missing: str


class _Write(NamedTuple):
    """A range that was written: when, through which cache, and by what."""

    at: int
    kind: str
    by: str


class _Caches:
    """When caches were cleaned last, and the texture cache invalidated after that."""

    def __init__(self) -> None:
        #: Kind -> position of the last clean; of the last clean that an invalidation follows.
        self._cleaned = dict.fromkeys(_CLEANS, -1)
        self._visible = dict.fromkeys(_CLEANS, -1)

    def event(self, at: int, name: str) -> None:
        for kind, cleans in _CLEANS.items():
            if any(clean in name for clean in cleans):
                self._cleaned[kind] = at
        if name in _INVALIDATES:
            self._visible.update(self._cleaned)

    def missing(self, write: _Write) -> str | None:
        """The event that is missing between a write and now."""
        if self._cleaned[write.kind] < write.at:
            return _CLEANS[write.kind][0]
        return _INVALIDATES[0] if self._visible[write.kind] < write.at else None


def _unclean_reads(capture: CheckedCapture) -> Iterator[UncleanRead]:
    """Textures of executed draws and dispatches that are read from memory too early."""
    textures = capture.facts(DrawTextures)
    writes = _operation_writes(capture)
    written: dict[int, _Write] = {}
    caches = _Caches()
    for at, step in enumerate(capture.facts(Barriers).steps):
        action = step.action
        if step.kind == "cache":
            caches.event(at, step.name)
        if action is None:
            continue
        for _, texture in textures.images(action):
            write = written.get(texture.address)
            missing = None if write is None else caches.missing(write)
            if write is not None and missing is not None:
                yield UncleanRead(action, step.pass_, texture.address, write.by, missing)
        for address, kind, by in (*writes.get(action.order, ()), *_drawn(step.pass_, action)):
            written[address] = _Write(at, kind, by)


def _drawn(pass_: Pass | None, action: Action) -> Iterator[tuple[int, str, str]]:
    """What a draw in sysmem mode writes."""
    if action.kind == "draw" and pass_ is not None and pass_.mode == "sysmem":
        for target in action.targets:
            if target.address and target.write_mask:
                kind = "color" if target.name.startswith("color") else "depth"
                yield target.address, kind, "a draw in sysmem mode"


def _operation_writes(capture: CheckedCapture) -> dict[int, list[tuple[int, str, str]]]:
    """Action -> what it writes: address, kind of cache, and by what."""
    has_resolve_cache = generation_of(capture.generation).has_resolve_cache
    writes: dict[int, list[tuple[int, str, str]]] = {}
    for pass_ in capture.render_passes():
        for run in pass_.runs:
            for operation in run.operations:
                address, order = operation.address, operation.action.order
                if not address or operation.kind == "load":
                    continue
                if operation.how in ("CP_BLIT", FLAGS_FILL):
                    writes.setdefault(order, []).append((address, "color", "CP_BLIT"))
                elif operation.kind == "store" and has_resolve_cache:
                    writes.setdefault(order, []).append((address, "resolve", "BLIT event"))
    return writes


@lint("CFF024", "error", FROM_A6XX, needs=(DrawTextures, Barriers))
def missing_clean(capture: CheckedCapture) -> Iterator[Report]:
    """An image is sampled before the cache that holds it was cleaned.

    Textures of executed draws whose memory is still in the cache.

    Why: Rendering in sysmem mode and CP_BLIT write through the colour and depth cache. Until it
    is cleaned, and the texture cache invalidated, memory holds older pixels.

    Advice: Emit PC_CCU_FLUSH_COLOR_TS or CCU_CLEAN_COLOR (for depth: _DEPTH), then
    CACHE_INVALIDATE, between the write and the draw.
    """
    for read in capture.once(_unclean_reads):
        if read.written_by != "BLIT event":
            text = (
                f"the texture at {read.address:#x} was written by {read.written_by};"
                f" {read.missing} is missing"
            )
            cause = read.address, read.missing
            yield Report(text, cause, read.action.place, read.pass_, read.action)


@lint("CFF026", "warning", ONLY_A7XX, needs=(DrawTextures, Barriers))
def missing_resolve_clean(capture: CheckedCapture) -> Iterator[Report]:
    """An image is sampled before the stores of BLIT events were cleaned.

    Textures of executed draws whose memory BLIT events stored since the last clean.

    Why: On a7xx the stores of tiles go through a separate cache.

    Advice: Emit CCU_RESOLVE_CLEAN and CACHE_INVALIDATE after the pass that stores.
    """
    for read in capture.once(_unclean_reads):
        if read.written_by == "BLIT event":
            text = (
                f"the texture at {read.address:#x} was stored by BLIT event;"
                f" {read.missing} is missing"
            )
            cause = read.address, read.missing
            yield Report(text, cause, read.action.place, read.pass_, read.action)


# -- pipes -----------------------------------------------------------------------------------------


@lint("CFF050", "error", FROM_A7XX)
def wait_without_signal(capture: CheckedCapture) -> Iterator[Report]:
    """A pipe, BR or BV, waits for something that nobody signals, or that it may miss.

    Waits that are executed, and that hold in no order of the pipes or not in all; no commands are
    missing.

    Why: The pipes run on their own up to a wait. Without a signal that the other pipe reaches
    first, the GPU hangs there. It may hang, too, where a packet writes over the value that is
    waited for, and nothing keeps that packet back until the pipe has seen the value.

    Advice: Have the other pipe write the value or time stamp, or count, before it waits itself;
    look at what CP_THREAD_CONTROL says about the packet that signals. Have the packet that writes
    over a value wait until the other pipe has gone on.
    """
    passes = {pass_.index: pass_ for pass_ in capture.passes}
    for wait in capture.model.waits:
        if wait.state in ("never", "race") and not capture.is_of_other_gpu(wait.place):
            pass_ = None if wait.pass_index is None else passes.get(wait.pass_index)
            text = f"{wait.pipe} waits for {wait.wanted}, and {_why_it_hangs(wait)}"
            yield Report(text, (wait.pipe, wait.wanted, wait.state), wait.place, pass_)


def _why_it_hangs(wait: PipeWait) -> str:
    if wait.state == "never":
        return "nobody signals it before"
    if wait.overwritten is None:
        return "hangs if the other pipe is first"
    pipe, place = wait.overwritten
    return f"{pipe} may write over it before, at {place}"
