# SPDX-License-Identifier: MIT
"""What the driver has each command stream for: draws, tile stores, secondary command buffers ...

A stream does not say what it is for. It follows from what it contains, from where it is called
(in a binning run, in tiles, outside of passes), and from its neighbours in memory. Only streams
that a submit has, and IBs that these call, have roles: what lies deeper belongs to its caller.

Facts: tu_cmd_buffer.cc and tu_autotune.cc of turnip, freedreno_batch.h and the gmem code of each
generation of freedreno, Mesa 25.0.7.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from cffpy.analysis.observer import Observer
from cffpy.cp.loadstate import LOAD_STATE_PACKETS
from cffpy.frame.driver import CalledStream
from cffpy.frame.passes import Tile
from cffpy.pm4.reader import OPCODE, REGISTERS, Fields, read_header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.walk import Walk
    from cffpy.capture.load import CommandStream
    from cffpy.frame.action import Action
    from cffpy.frame.driver import Certainty, Driver, DriverName, StreamRole
    from cffpy.frame.passes import Passes, PassRun
    from cffpy.pm4.reader import Payload

_CALL = Fields("CP_INDIRECT_BUFFER", "IB_BASE", "IB_SIZE")
_AMBLE = Fields("CP_SET_AMBLE", "ADDR", "cffdump:DWORDS", "TYPE")

#: amble_type -> the role; others are the kernel's.
_AMBLES: dict[int, StreamRole] = {0: "preamble", 1: "bin preamble", 2: "postamble"}

#: Where a stream is called.
_Phase = Literal["binning", "tile", "direct", "between"]

#: Streams that are noted, and calls of a capture whose order is.
_MOST_STREAMS, _MOST_CALLS = 1 << 16, 1 << 18

#: Registers that a stream without actions writes, from which on it sets static state.
_STATIC_WRITES = 48

#: Packets of pairs of a register and its value.
_REGISTER_BUNCHES = ("CP_CONTEXT_REG_BUNCH", "CP_CONTEXT_REG_BUNCH2")

#: Packets of a fence at most.
_FENCE_PACKETS = 4

#: The driver's own name for a role.
_NAMES: dict[str, dict[StreamRole, str]] = {
    "turnip": {
        "command buffer": "cs",
        "draws": "draw_cs",
        "secondary command buffer": "draw_cs",
        "tile store": "tile_store_cs",
        "draw epilogue": "draw_epilogue_cs",
        "fence": "fence_cs",
    },
    "freedreno": {
        "command buffer": "gmem",
        "static state": "restore",
        "draws": "draw",
        "binning": "binning",
        "tile load": "tile_loads",
        "tile clear": "subpass_clears",
        "tile store": "tile_store",
        "tile epilogue": "tile_epilogue",
        "prologue": "prologue",
        "copies": "draw",
    },
}

#: Number of the submit's stream, address, dwords, nesting.
_Key = tuple[int, int, int, int]


class _Call(NamedTuple):
    """A call of a stream. ``run``: the run of a pass that was open."""

    key: _Key
    run: PassRun | None


@dataclass(slots=True)
class _Stream:
    """A stream, and what is known of it after the walk."""

    number: int
    submit: int
    gpuaddr: int
    dwords: int
    level: int
    role: StreamRole | None = None
    rule: str | None = None
    certainty: Certainty | None = None
    calls: int = 0
    passes: dict[int, None] = field(default_factory=dict)
    phases: set[_Phase] = field(default_factory=set)
    #: What its actions are: the kinds of the program's, the roles of the driver's.
    actions: set[str] = field(default_factory=set)
    packets: set[str] = field(default_factory=set)
    packet_count: int = 0
    writes: int = 0

    @property
    def end(self) -> int:
        """The address after its last dword."""
        return self.gpuaddr + 4 * self.dwords

    def say(self, role: StreamRole, rule: str, certainty: Certainty = "sure") -> None:
        """It has this role, unless it has another one."""
        if self.role is None:
            self.role, self.rule, self.certainty = role, rule, certainty


class StreamCalls(Observer):
    """The streams of a capture, and the calls that a submit's own streams make."""

    def __init__(self, walk: Walk, finder: PassFinder) -> None:
        self._walk = walk
        self._finder = finder
        self.streams: dict[_Key, _Stream] = {}
        self.calls: list[_Call] = []

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        names = ("CP_INDIRECT_BUFFER", "CP_INDIRECT_BUFFER_PFD")
        return {**dict.fromkeys(names, self._called), "CP_SET_AMBLE": self._named_as_amble}

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        self._note(stream.gpuaddr, stream.ndwords, 0)

    def _called(self, payload: Payload) -> None:
        if self._walk.level == 0:
            gpuaddr, ndwords = payload.read(self._walk.machine.packets[_CALL])
            stream = self._note(gpuaddr, ndwords, 1)
            if stream is not None and len(self.calls) < _MOST_CALLS:
                self.calls.append(_Call(_key(stream), self._finder.run))

    def _named_as_amble(self, payload: Payload) -> None:
        gpuaddr, ndwords, kind = payload.read(self._walk.machine.packets[_AMBLE])
        role = _AMBLES.get(kind)
        if role is not None and ndwords and gpuaddr:
            stream = self._note(gpuaddr, ndwords, 1)
            if stream is not None:
                stream.say(role, "CP_SET_AMBLE names it so")

    def _note(self, gpuaddr: int, ndwords: int, level: int) -> _Stream | None:
        submitted = self._walk.current_stream
        key = submitted.number, gpuaddr, ndwords, level
        stream = self.streams.get(key)
        if stream is None:
            if len(self.streams) >= _MOST_STREAMS:
                return None
            stream = _Stream(submitted.number, submitted.submit, gpuaddr, ndwords, level)
            self.streams[key] = stream
            self._read(stream)
        stream.calls += 1
        return stream

    def _read(self, stream: _Stream) -> None:
        """Note the packets of a stream."""
        machine = self._walk.machine
        place = machine.image.place(stream.gpuaddr)
        if place is None:
            return
        words, index = place
        end = min(index + stream.dwords, words.count)
        while index < end:
            kind, number, size = read_header(words.get(index))
            if kind == REGISTERS:
                stream.writes += size - 1
            elif kind == OPCODE:
                name = machine.packet_names[number] or f"{number:#x}"
                stream.packets.add(name)
                if name in _REGISTER_BUNCHES:
                    stream.writes += (size - 1) // 2
            stream.packet_count += 1
            index += max(1, size)


def _key(stream: _Stream) -> _Key:
    return stream.number, stream.gpuaddr, stream.dwords, stream.level


def called_streams(calls: StreamCalls, passes: Passes, driver: Driver) -> list[CalledStream]:
    """The streams with their roles, those of a submit before what they call, in order."""
    streams = calls.streams
    _add_actions(streams, passes)
    by_run = _add_runs(calls, passes)
    if driver.name == "turnip":
        for sequence in (*by_run, *_of_submits(streams)):
            _find_secondaries(sequence)
    for stream in streams.values():
        _judge(stream, driver.name)
    for callees in _of_callers(calls):
        _join_parts(callees)
        _judge_by_order(callees, driver.name)
    names = {} if driver.name is None else _NAMES[driver.name]
    return [
        CalledStream(
            stream.number,
            stream.submit,
            stream.gpuaddr,
            stream.dwords,
            stream.level,
            stream.role,
            None if stream.role is None else names.get(stream.role),
            stream.rule,
            stream.certainty,
            stream.calls,
            tuple(stream.passes),
        )
        for stream in streams.values()
    ]


def _add_actions(streams: Mapping[_Key, _Stream], passes: Passes) -> None:
    """Note what is executed in each stream, and in the IBs that it calls."""
    for action in passes.actions:
        path = action.place.path[:2]
        for level, part in enumerate(path):
            stream = streams.get((part._submitted.number, part.gpuaddr, part.ndwords, level))
            if stream is not None:
                stream.actions.add(_label(action))


def _label(action: Action) -> str:
    if action.number is not None and action.kind in ("draw", "dispatch"):
        return action.kind
    return action.role or action.kind


def _add_runs(calls: StreamCalls, passes: Passes) -> list[list[_Stream]]:
    """Note the passes and phases that streams are called in; the calls of each run, in order."""
    runs: dict[int, tuple[int, _Phase]] = {}
    for pass_ in passes.passes:
        for run in pass_.runs:
            phase: _Phase = "direct" if pass_.kind == "render" else "between"
            if run is pass_.binning:
                phase = "binning"
            elif isinstance(run, Tile):
                phase = "tile"
            runs[id(run)] = pass_.index, phase
    by_run: dict[int, list[_Stream]] = {}
    for call in calls.calls:
        stream = calls.streams[call.key]
        index, phase = runs.get(id(call.run), (None, "between"))
        stream.phases.add(phase)
        if index is not None:
            stream.passes[index] = None
            by_run.setdefault(id(call.run), []).append(stream)
    return list(by_run.values())


def _of_submits(streams: Mapping[_Key, _Stream]) -> Iterable[list[_Stream]]:
    """The streams of each submit."""
    submits: dict[int, list[_Stream]] = {}
    for stream in streams.values():
        if stream.level == 0:
            submits.setdefault(stream.submit, []).append(stream)
    return submits.values()


def _of_callers(calls: StreamCalls) -> Iterable[list[_Stream]]:
    """What each of the submits' streams calls, in order, each once."""
    callers: dict[int, dict[_Key, _Stream]] = {}
    for call in calls.calls:
        callers.setdefault(call.key[0], {})[call.key] = calls.streams[call.key]
    return [list(called.values()) for called in callers.values()]


def _find_secondaries(sequence: Sequence[_Stream]) -> None:
    """Streams between two parts of another one, which are neighbours in memory."""
    ends: dict[int, int] = {}
    for position, stream in enumerate(sequence):
        before = ends.get(stream.gpuaddr)
        if before is not None:
            for between in sequence[before + 1 : position]:
                if "draw" in between.actions or between.level == 0:
                    rule = "it lies elsewhere than the parts before and after it, which are one"
                    between.say("secondary command buffer", rule)
        ends = {} if before is not None else ends
        ends[stream.end] = position


def _judge(stream: _Stream, driver: DriverName | None) -> None:
    """Say what a stream is for, as far as its contents and phases tell."""
    if stream.level == 0:
        _judge_submitted(stream)
        return
    actions = stream.actions
    if "draw" in actions:
        if stream.phases == {"binning"}:
            stream.say("binning", "it has draws, and only the binning run calls it")
        else:
            stream.say("draws", "it has draws of the program")
    elif "dispatch" in actions:
        stream.say("compute", "it has dispatches")
    elif "store" in actions:
        stream.say("tile store", "it stores attachments, and has no draws")
    elif actions and actions <= {"load", "clear"}:
        _judge_loads(stream, driver)
    elif actions:
        stream.say("copies", "it copies or fills memory", "likely")


def _judge_submitted(stream: _Stream) -> None:
    quiet = {"CP_EVENT_WRITE", "CP_EVENT_WRITE7", "CP_MEM_WRITE", "CP_WAIT_FOR_IDLE"}
    is_fence = 0 < stream.packet_count <= _FENCE_PACKETS and not stream.writes
    if is_fence and stream.packets and stream.packets <= quiet and not stream.actions:
        stream.say("fence", "it does nothing but write to memory when what came before is done")
    else:
        stream.say("command buffer", "the submit names it")


def _judge_loads(stream: _Stream, driver: DriverName | None) -> None:
    if driver == "turnip":
        stream.say("draws", "turnip begins the commands of draws with clears and loads")
    elif "load" in stream.actions:
        stream.say("tile load", "it loads attachments, and has no draws")
    else:
        stream.say("tile clear", "it clears attachments, and has no draws")


def _join_parts(callees: Sequence[_Stream]) -> None:
    """A stream without actions that continues draws or tile stores in memory is one of them."""
    ends: dict[int, _Stream] = {}
    for stream in callees:
        before = ends.get(stream.gpuaddr)
        if before is not None and not stream.actions:
            if before.role == "draws":
                stream.say("draws", "it continues the commands of draws in memory")
            elif before.role == "tile store":
                stream.say("tile store", "it continues the commands of tile stores in memory")
        ends[stream.end] = stream


def _judge_by_order(callees: Sequence[_Stream], driver: DriverName | None) -> None:
    """What the order of the calls of a stream tells."""
    first = callees[0]
    if not first.actions and first.writes >= _STATIC_WRITES:
        first.say("static state", "it is called first, and only writes registers", "likely")
    rendering = [at for at, one in enumerate(callees) if one.role in ("draws", "tile store")]
    for stream in callees[: rendering[0] if rendering else 0]:
        if stream.role == "copies":
            stream.role, stream.rule = "prologue", "it is called before the draws of its pass"
    for stream in callees:
        if not stream.actions:
            _judge_without_actions(stream, driver)


def _judge_without_actions(stream: _Stream, driver: DriverName | None) -> None:
    is_in_tiles = stream.phases <= {"tile", "direct"} and bool(stream.passes)
    if is_in_tiles and _writes_memory(stream):
        if driver == "freedreno":
            stream.say("tile epilogue", "a tile calls it, and it has no draws", "likely")
        elif driver == "turnip" and stream.calls == len(stream.passes):
            rule = "it is called once, after the draws of its pass"
            stream.say("draw epilogue", rule, "likely")
    if stream.writes or not stream.packets.isdisjoint(LOAD_STATE_PACKETS):
        stream.say("state", "it sets registers or loads state, and does no more", "likely")


#: Packets that write to memory.
_TO_MEMORY = ("CP_MEM_WRITE", "CP_MEM_TO_MEM", "CP_REG_TO_MEM", "CP_EVENT_WRITE", "CP_EVENT_WRITE7")


def _writes_memory(stream: _Stream) -> bool:
    return not stream.packets.isdisjoint(_TO_MEMORY)
