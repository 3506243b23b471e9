# SPDX-License-Identifier: MIT
"""Barriers: packets that clean caches, invalidate caches and wait, and the hazards that they guard.

``BarrierRecorder`` walks: it joins packets in a row to barriers, and numbers all that happens.
``barriers_of`` lists what actions read and write, and looks between a write and the next access of
the same memory for the barriers that clean, invalidate and wait. Memory that programs address
themselves, and what the command processor reads, is not followed: barriers beside it are unknown.

Facts: tu6_emit_flushes, vk2tu_access and tu_flush_for_access of turnip, freedreno_gpu_event.h,
fd6_emit.h, fd5_emit.h, fd4_emit.c, fd3_emit.c and fd2_emit.c of the Gallium driver; Mesa 25.0.7 and
25.3. CLEAN of a7xx was FLUSH before; FLUSH of a7xx cleans and invalidates.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.attachments import cache_offset
from cffpy.analysis.observer import Observer
from cffpy.analysis.pass_cost import bytes_of_format
from cffpy.analysis.queries import PassWalk
from cffpy.analysis.registers import Remembered
from cffpy.frame.barrier import (
    Barrier,
    Cache,
    Function,
    Hazard,
    HazardKind,
    MemoryAccess,
    Part,
)
from cffpy.frame.execution import Executed
from cffpy.frame.objects import Shown
from cffpy.frame.places import name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cffpy.analysis.inputs.bindings import Bindings
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.attachment import Attachment, TransferEnd
    from cffpy.frame.barrier import Wait
    from cffpy.frame.binding import Binding, BindingKind
    from cffpy.frame.passes import Pass, Passes
    from cffpy.frame.places import PacketLocation
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database

# -- what packets and events do --------------------------------------------------------------------

_ALL: tuple[Cache, ...] = ("color", "depth", "texture")

#: Up to a4xx the caches of the render backend are cleaned together.
_OLD_EVENTS = {
    "CACHE_FLUSH": Function(_ALL),
    "CACHE_FLUSH_TS": Function(_ALL),
    "CACHE_FLUSH_AND_INV_EVENT": Function(_ALL, _ALL),
    "CACHE_FLUSH_AND_INV_TS_EVENT": Function(_ALL, _ALL),
    "RB_DONE_TS": Function(waits="idle"),
}
_EVENTS = {
    "CACHE_FLUSH_TS": Function(("texture",)),
    "CACHE_INVALIDATE": Function((), ("texture",)),
    "PC_CCU_FLUSH_COLOR_TS": Function(("color",)),
    "PC_CCU_FLUSH_DEPTH_TS": Function(("depth",)),
    "PC_CCU_INVALIDATE_COLOR": Function((), ("color",)),
    "PC_CCU_INVALIDATE_DEPTH": Function((), ("depth",)),
    "PC_CCU_RESOLVE_TS": Function(("resolve",)),
    "LRZ_FLUSH": Function(("lrz",)),
    "LRZ_CACHE_INVALIDATE": Function((), ("lrz",)),
    "RB_DONE_TS": Function(waits="idle"),
}
_NEW_EVENTS = {
    **_EVENTS,
    "CACHE_FLUSH_TS": Function((*_ALL, "resolve")),
    "CACHE_CLEAN": Function(("texture",)),
    "CACHE_FLUSH7": Function(("texture",), ("texture",)),
    "CACHE_INVALIDATE7": Function((), ("texture",)),
    "CACHE_RESET": Function((), ("texture",)),
    "CCU_CLEAN_COLOR": Function(("color",)),
    "CCU_CLEAN_DEPTH": Function(("depth",)),
    "CCU_FLUSH_COLOR": Function(("color",), ("color",)),
    "CCU_FLUSH_DEPTH": Function(("depth",), ("depth",)),
    "CCU_INVALIDATE_COLOR": Function((), ("color",)),
    "CCU_INVALIDATE_DEPTH": Function((), ("depth",)),
    "CCU_RESOLVE_CLEAN": Function(("resolve",)),
}
_BY_TRACKER = {"a2xx": _OLD_EVENTS, "a3xx": _OLD_EVENTS, "a4xx": _OLD_EVENTS, "a5xx": _EVENTS}

_PACKETS: dict[str, Function] = {
    "CP_WAIT_FOR_IDLE": Function(waits="idle"),
    "CP_WAIT_FOR_ME": Function(waits="front end"),
    "CP_WAIT_MEM_WRITES": Function(waits="CP writes"),
    "CP_WAIT_REG_MEM": Function(waits="value"),
    "CP_WAIT_MEM_GTE": Function(waits="value"),
    "CP_WAIT_TIMESTAMP": Function(waits="value"),
    "CP_CCHE_INVALIDATE": Function((), ("texture",)),
}
#: Registers that discard the cache through which programs read (a2xx to a5xx).
_REGISTERS = (
    "TC_CNTL_STATUS",
    "UCHE_CACHE_INVALIDATE0_REG",
    "UCHE_INVALIDATE0",
    "UCHE_CACHE_INVALIDATE",
)
_INVALIDATE = Function((), ("texture",))

#: Waits for what the command processor writes or reads, which is not followed.
_OF_CP: tuple[Wait, ...] = ("front end", "CP writes", "value")


# -- the walk --------------------------------------------------------------------------------------

#: Barriers, and executions of them, that are kept.
_MAX_BARRIERS, _MAX_EXECUTIONS = 1 << 14, 1 << 18

#: Dwords between packets of one barrier, at most.
_MAX_GAP = 24


class BarrierRecorder(Observer):
    """``barriers``, and ``executions``: pairs of what happened before, and the barrier's number.

    ``times``: by ``Action.order``, what happened before the action. Time counts actions and
    barriers. ``modes``: barriers before which the colour cache gets another place in GMEM.
    """

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        self._walk = walk
        self._passes = passes
        self.barriers: list[Barrier] = []
        self.executions: list[tuple[int, int]] = []
        self.times: array[int] = array("q")
        self.modes: set[int] = set()
        self.missing: set[int] = set()
        self._known: dict[tuple[object, ...], int] = {}
        self._functions: Mapping[str, Function] = _EVENTS
        self._offset: Remembered[int | None]
        self._last_offset: int | None = None
        self._now = 0
        #: The barrier that grows: names, functions, its first and its last packet, its pass.
        self._names: list[str] = []
        self._does: list[Function] = []
        self._first: PacketLocation | None = None
        self._last: PacketLocation | None = None
        self._pass: int | None = None
        self._is_sure = True
        #: Barriers since the last action.
        self._since: list[int] = []

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Read packets by the generation's names."""
        tracker = gpu.facts.tracker
        newest = _NEW_EVENTS if gpu.facts.has_compression_bits else _EVENTS
        self._functions = _BY_TRACKER.get(tracker, newest)
        self._offset = Remembered(self._walk.machine, cache_offset)
        for name in _REGISTERS:
            offset = self._walk.registers.offset(name)
            if offset:
                self._walk.watch(offset, partial(self._add, name, _INVALIDATE))

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Of all packets that wait."""
        return {name: partial(self._packet, name) for name in _PACKETS}

    def _packet(self, name: str, _payload: Payload) -> None:
        self._add(name, _PACKETS[name])

    def event(self, name: str | None) -> None:
        """An event of a cache."""
        function = self._functions.get(name or "")
        if name is not None and function is not None:
            self._add(name, function)

    def _add(self, name: str, function: Function) -> None:
        walk = self._walk
        if not walk.runs_packets:
            return
        place = walk.packet_location
        if self._last is not None and not _follows(self._last, place):
            self._close()
        if self._first is None:
            self._first = place
            current = self._passes.current
            self._pass = None if current is None else current.index
            self._is_sure = True
        self._last = place
        self._is_sure &= walk.executed is Executed.YES
        if len(self._names) < 64:
            self._names.append(name)
            self._does.append(function)

    def _close(self) -> None:
        """The barrier ends: it is a new one, or another execution of a known one."""
        first, names = self._first, tuple(self._names)
        functions, is_sure = tuple(self._does), self._is_sure
        self._first = self._last = None
        self._names, self._does = [], []
        if first is None:
            return
        key = first.submit, self._pass, first.gpuaddr, names
        number = self._known.get(key)
        if number is None:
            if len(self.barriers) >= _MAX_BARRIERS:
                self._walk.machine.problems.truncate(
                    "", f"barriers after the first {_MAX_BARRIERS:,} are left out"
                )
                return
            number = self._known[key] = len(self.barriers)
            submit = first.submit
            self.barriers.append(
                Barrier(number, submit, self._pass, first, names, functions, 0, not is_sure)
            )
        self.barriers[number].times += 1
        self._since.append(number)
        if len(self.executions) < _MAX_EXECUTIONS:
            self.executions.append((self._now, number))
        self._now += 1

    def action(self, action: Action) -> None:
        """An action ends a barrier."""
        self._close()
        while len(self.times) <= action.order:
            self.times.append(self._now)
        self._now += 1
        if not action.execution.is_possible:
            return
        offset = self._offset()
        if offset is not None and self._last_offset not in (None, offset):
            self.modes.update(self._since)
        self._last_offset = self._last_offset if offset is None else offset
        self._since = []

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """A command stream ends a barrier."""
        self._close()
        if is_new_submit:
            self._since = []

    def commands_missing(self, gpuaddr: int) -> None:
        """What they read and write is not known."""
        self.missing.add(self._walk.current_stream.submit)

    def finished(self) -> None:
        """The last barrier ends."""
        self._close()


def find_barriers(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[tuple[PassFinder, BarrierRecorder], list[Damage]]:
    """The passes, the packets that clean caches, invalidate and wait, and the capture's damage."""
    walk = PassWalk(content, complain, register_db, gpu)
    recorder = BarrierRecorder(walk.walk, walk.finder)
    walk.observe(recorder)
    damage = walk.run()
    return (walk.finder, recorder), damage


def _follows(last: PacketLocation, place: PacketLocation) -> bool:
    """Whether a packet is close behind another one, in the same stream."""
    if last._words is not place._words:
        return False
    return 0 <= place._index - last._index <= _MAX_GAP


# -- what actions read and write -------------------------------------------------------------------


class _Access(NamedTuple):
    """``size``: None: not known. ``cache``: "" for what moves without one that is known."""

    time: int
    address: int
    size: int | None
    writes: bool
    cache: Cache
    what: str
    stage: str
    access: str
    action: Action
    is_sure: bool = True

    @property
    def end(self) -> int:
        return self.address + (self.size or 1)

    def meets(self, other: _Access) -> bool:
        return self.address < other.end and other.address < self.end

    @property
    def shown(self) -> MemoryAccess:
        name = name_of(self.action)
        text = None if name is None else str(name)
        return MemoryAccess(self.what, self.stage, self.access, text, self.action.place)


_SHADER_STAGES = {
    "VS": "VERTEX_SHADER",
    "HS": "TESSELLATION_CONTROL_SHADER",
    "DS": "TESSELLATION_EVALUATION_SHADER",
    "GS": "GEOMETRY_SHADER",
    "FS": "FRAGMENT_SHADER",
    "CS": "COMPUTE_SHADER",
}
#: What draws read besides descriptors: kind -> stage, access.
_DATA: dict[BindingKind, tuple[str, str]] = {
    "uniform data": ("", "UNIFORM_READ"),
    "vertex buffer": ("VERTEX_ATTRIBUTE_INPUT", "VERTEX_ATTRIBUTE_READ"),
    "index buffer": ("INDEX_INPUT", "INDEX_READ"),
}

#: Instructions that read or write memory by an address of the program.
_POINTERS = re.compile(r"\b(?:ldg|stg|atomic\.g)\.")


def uses_pointers(listing: str) -> bool:
    """Whether a program reads or writes memory that nothing binds."""
    return _POINTERS.search(listing) is not None


#: Accesses of a capture that are looked at.
_MAX_ACCESSES = 1 << 20


class _Accesses:
    """Lists the accesses of all actions, in order; ``opaque``: times of what cannot be seen."""

    def __init__(
        self,
        frame: Passes,
        recorder: BarrierRecorder,
        bindings: Bindings,
        has_pointers: Callable[[Action], bool],
    ) -> None:
        self._frame = frame
        self._has_pointers = has_pointers
        self._pointers: dict[tuple[object, ...], bool] = {}
        self._times = recorder.times
        self._bindings = bindings
        self.found: list[_Access] = []
        self.opaque: list[tuple[int, int, str]] = []
        self._lists: dict[BindingKind, tuple[list[int], list[list[Binding] | None]]] = {}

    def run(self) -> None:
        kinds: tuple[BindingKind, ...] = ("texture", "storage", *_DATA)
        for kind in kinds:
            orders: list[int] = []
            values: list[list[Binding] | None] = []
            for order, bound in self._bindings.lists(kind):
                orders.append(order)
                values.append(bound)
            self._lists[kind] = orders, values
        for pass_ in self._frame.passes:
            for draw in pass_.draws:
                if draw.execution.is_possible and len(self.found) < _MAX_ACCESSES:
                    self._of_draw(draw, pass_)
            if pass_.kind == "render":
                self._of_operations(pass_)
        for copy in self._frame.memory_copies:
            if copy.execution.is_possible:
                self._of_transfers(copy)
        self.found.sort(key=lambda access: access.time)

    def _time(self, action: Action) -> int:
        order = max(0, action.order)
        return self._times[order] if order < len(self._times) else 0

    def _of_draw(self, draw: Action, pass_: Pass) -> None:
        if draw.kind in ("draw", "dispatch"):
            self._of_bindings(draw)
        if draw.kind == "draw" and pass_.mode == "sysmem":
            for target in draw.targets:
                self._of_target(draw, target, pass_)
        self._of_transfers(draw)

    def _of_bindings(self, draw: Action) -> None:
        time = self._time(draw)
        programs = draw.submit, draw.programs
        if programs not in self._pointers:
            self._pointers[programs] = self._has_pointers(draw)
        if self._pointers[programs]:
            self.opaque.append((time, draw.submit, "memory that programs address themselves"))
        if not self._bindings.has(draw.order):
            self.opaque.append((time, draw.submit, "what draws or dispatches have bound"))
            return
        for kind, (orders, values) in self._lists.items():
            position = bisect_right(orders, draw.order) - 1
            bound = values[position] if position >= 0 else ()
            if bound is None:
                self.opaque.append((time, draw.submit, "bindless sets that are too large"))
                continue
            for binding in bound:
                self._of_binding(time, draw, kind, binding)

    def _of_binding(self, time: int, draw: Action, kind: BindingKind, binding: Binding) -> None:
        address = binding.address
        if not address:
            return
        stage, access = _DATA.get(kind, ("", ""))
        if not stage:
            stages = binding.stages or ((binding.stage,) if binding.stage else ())
            stage = _SHADER_STAGES.get(stages[-1] if stages else "", "ALL_GRAPHICS")
        what = f"{kind} {binding.label}"
        is_sure = kind in _DATA or binding.sure
        size = binding.size if kind in _DATA else _descriptor_size(binding)
        start = address + (binding.first_byte if kind in _DATA else 0)
        add = partial(_Access, time, start, size)
        if binding.reads:
            access = access or (
                "SHADER_SAMPLED_READ" if kind == "texture" else "SHADER_STORAGE_READ"
            )
            self.found.append(add(False, "texture", what, stage, access, draw, is_sure))
        if binding.writes:
            write = "SHADER_STORAGE_WRITE"
            self.found.append(add(True, "texture", what, stage, write, draw, is_sure))

    def _of_target(self, draw: Action, target: Attachment, pass_: Pass) -> None:
        is_colour = target.name.startswith("color")
        writes = bool(target.write_mask) if is_colour else True
        if not is_colour and draw.depth is not None:
            writes = draw.depth.writes_depth or draw.depth.writes_stencil
        if not target.address or (is_colour and target.write_mask == 0):
            return
        size = _image_size(target.pitch, _height(pass_))
        cache: Cache = "color" if is_colour else "depth"
        access = _attachment_access(is_colour, writes)
        stage = "COLOR_ATTACHMENT_OUTPUT" if is_colour else "LATE_FRAGMENT_TESTS"
        given = self._time(draw), target.address, size, writes, cache, target.name, stage, access
        self.found.append(_Access(*given, draw))

    def _of_operations(self, pass_: Pass) -> None:
        height = _height(pass_)
        for operation in pass_.rendered_operations:
            if not operation.address or operation.kind == "unknown":
                continue
            if operation.kind == "clear" and pass_.mode == "gmem":
                continue
            is_colour = not (operation.attachment or "").startswith(("depth", "stencil"))
            writes = operation.kind != "load"
            is_event = operation.how == "BLIT event"
            cache: Cache = "resolve" if is_event and writes else "color"
            stage = "COLOR_ATTACHMENT_OUTPUT" if is_colour else "LATE_FRAGMENT_TESTS"
            what = f"{operation.kind} of {operation.attachment or 'an attachment'}"
            size = _image_size(operation.pitch, height)
            access = _attachment_access(is_colour, writes)
            if not writes:
                cache = "texture"
            given = self._time(operation.action), operation.address, size, writes, cache
            self.found.append(_Access(*given, what, stage, access, operation.action))

    def _of_transfers(self, action: Action) -> None:
        time = self._time(action)
        is_cp = action.kind == "copy"
        for moved in action.transfers:
            for end in (moved.source, *moved.added):
                if end is not None and end.address:
                    read = partial(_Access, time, end.address, _end_size(end), False, "texture")
                    words = "source of a copy", "TRANSFER", "TRANSFER_READ"
                    self.found.append(read(*words, action))
            end = moved.destination
            if end is not None and end.address:
                cache: Cache = "texture" if is_cp else "color"
                what = "destination of a copy" if moved.source else "fill"
                given = time, end.address, _end_size(end), True, cache
                self.found.append(_Access(*given, what, "TRANSFER", "TRANSFER_WRITE", action))


def _attachment_access(is_colour: bool, writes: bool) -> str:
    prefix = "COLOR_ATTACHMENT" if is_colour else "DEPTH_STENCIL_ATTACHMENT"
    return f"{prefix}_{'WRITE' if writes else 'READ'}"


def _height(pass_: Pass) -> int | None:
    return None if pass_.framebuffer is None else pass_.framebuffer.height


def _image_size(pitch: int | None, height: int | None) -> int | None:
    return pitch * height if pitch and height else None


def _end_size(end: TransferEnd) -> int | None:
    if end.size is not None:
        return end.size
    bottom = end.height or (None if end.rectangle is None else end.rectangle.bottom)
    if bottom == 1 and end.rectangle is not None:
        pixel = bytes_of_format(end.format)
        return None if pixel is None else pixel * end.rectangle.right
    return _image_size(end.pitch, bottom)


def _descriptor_size(binding: Binding) -> int | None:
    """Bytes of the first level of an image, or of a buffer; None where they are not known."""
    if binding.elements is not None:
        pixel = bytes_of_format(binding.format)
        return None if pixel is None else pixel * binding.elements
    field = binding.fields.get("PITCH")
    pitch = field.value if field is not None else None
    return _image_size(pitch if isinstance(pitch, int) else None, binding.height)


# -- hazards ---------------------------------------------------------------------------------------

#: Hazards of a barrier, and accesses of one range of memory, that are kept.
_MAX_HAZARDS, _MAX_OPEN = 64, 16


class _Region:
    """Accesses of memory that overlaps, as far as later accesses may meet them."""

    __slots__ = ("reads", "writes")

    def __init__(self) -> None:
        #: With the caches through which each write was read or written since.
        self.writes: list[tuple[_Access, set[Cache]]] = []
        self.reads: list[_Access] = []


class _Functions:
    """When each cache is cleaned and invalidated, and when the GPU waits, by whom."""

    def __init__(self, recorder: BarrierRecorder) -> None:
        self._by_part: dict[tuple[Part, str], tuple[list[int], list[int]]] = {}
        for time, number in recorder.executions:
            for part, name in _parts_of(recorder.barriers[number]):
                times, numbers = self._by_part.setdefault((part, name), ([], []))
                times.append(time)
                numbers.append(number)

    def first(self, part: Part, name: str, after: int, before: int) -> tuple[int, int] | None:
        """The first execution of a part between two times: its time, and its barrier."""
        times, numbers = self._by_part.get((part, name), ([], []))
        position = bisect_right(times, after)
        if position == len(times) or times[position] >= before:
            return None
        return times[position], numbers[position]


def _parts_of(barrier: Barrier) -> Iterator[tuple[Part, str]]:
    for cache in barrier.cleans:
        yield "clean", cache
    for cache in barrier.invalidates:
        yield "invalidate", cache
    if "idle" in barrier.waits:
        yield "wait", "idle"


def barriers_of(
    frame: Passes,
    recorder: BarrierRecorder,
    bindings: Bindings,
    has_pointers: Callable[[Action], bool],
) -> list[Barrier]:
    """The barriers of a capture, with the hazards that they guard.

    ``has_pointers``: whether programs of an action may read or write memory that nothing binds.
    """
    accesses = _Accesses(frame, recorder, bindings, has_pointers)
    accesses.run()
    functions = _Functions(recorder)
    for hazard, guards in _hazards(accesses.found, functions):
        for number, parts in guards.items():
            found = recorder.barriers[number].hazards
            if len(found) < _MAX_HAZARDS:
                found.append(hazard(parts))
    _judge(recorder, accesses)
    return Shown(recorder.barriers)


def _regions(accesses: list[_Access]) -> Iterator[tuple[_Access, _Region]]:
    """The accesses in order, each with the region of all that may overlap it."""
    by_start = sorted({(access.address, access.end) for access in accesses})
    starts: list[int] = []
    regions: list[_Region] = []
    end = -1
    for start, behind in by_start:
        if start >= end:
            starts.append(start)
            regions.append(_Region())
        end = max(end, behind)
    for access in accesses:
        yield access, regions[bisect_right(starts, access.address) - 1]


_Guards = dict[int, tuple[Part, ...]]


def _hazards(
    accesses: list[_Access], functions: _Functions
) -> Iterator[tuple[Callable[[tuple[Part, ...]], Hazard], _Guards]]:
    """Each hazard that some barrier guards, and what each of these barriers contributes."""
    for access, region in _regions(accesses):
        pairs: list[tuple[HazardKind, _Access]] = []
        for write, seen in region.writes:
            if access.cache not in seen and write.meets(access):
                seen.add(access.cache)
                pairs.append(("write after write" if access.writes else "read after write", write))
        if access.writes:
            pairs += [("write after read", read) for read in region.reads if read.meets(access)]
            _write(region, access)
        else:
            _read(region, access)
        for kind, first in pairs:
            guards = _guards(kind, first, access, functions)
            if guards:
                yield partial(_hazard, kind, first, access), guards


def _write(region: _Region, access: _Access) -> None:
    region.writes = [
        one
        for one in region.writes
        if not (access.address <= one[0].address and one[0].end <= access.end)
    ][-_MAX_OPEN:]
    region.writes.append((access, {access.cache}))
    region.reads = [
        read
        for read in region.reads
        if not (access.address <= read.address and read.end <= access.end)
    ]


def _read(region: _Region, access: _Access) -> None:
    """The last read through a cache of a range is the one that a later write must not overtake."""
    same = access.address, access.size, access.cache
    region.reads = [read for read in region.reads if (read.address, read.size, read.cache) != same][
        -_MAX_OPEN:
    ]
    region.reads.append(access)


def _guards(kind: HazardKind, first: _Access, second: _Access, functions: _Functions) -> _Guards:
    """Barriers between two accesses, each with what it contributes: the first one of each part."""
    guards: dict[int, list[Part]] = {}
    after, before = first.time, second.time
    needed: list[tuple[Part, str]] = []
    if kind != "write after read" and first.cache != second.cache:
        needed.append(("clean", first.cache))
        needed.append(("invalidate", second.cache))
    needed.append(("wait", "idle"))
    done = after
    for part, name in needed:
        found = functions.first(part, name, max(after, done - 1), before)
        if found is None:
            continue
        time, number = found
        done = max(done, time)
        guards.setdefault(number, []).append(part)
    return {number: tuple(parts) for number, parts in guards.items()}


def _hazard(kind: HazardKind, first: _Access, second: _Access, parts: tuple[Part, ...]) -> Hazard:
    address = max(first.address, second.address)
    is_known = first.size is not None and second.size is not None
    size = min(first.end, second.end) - address if is_known else None
    is_sure = first.is_sure and second.is_sure
    return Hazard(kind, address, size, first.shown, second.shown, parts, is_sure)


def _judge(recorder: BarrierRecorder, accesses: _Accesses) -> None:
    """What each barrier is for."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for access in accesses.found:
        submit = access.action.submit
        first.setdefault(submit, access.time)
        last[submit] = access.time
    opaque: dict[int, str] = {}
    for time, submit, text in accesses.opaque:
        first[submit] = min(first.get(submit, time), time)
        last[submit] = max(last.get(submit, time), time)
        opaque.setdefault(submit, text)
    opaque.update(dict.fromkeys(recorder.missing, "commands that were not captured"))
    executed: dict[int, list[int]] = {}
    for time, number in recorder.executions:
        executed.setdefault(number, []).append(time)
    for barrier in recorder.barriers:
        times = executed.get(barrier.number, [])
        begin, end = first.get(barrier.submit), last.get(barrier.submit)
        if barrier.hazards:
            barrier.guards = "hazards"
        elif barrier.number in recorder.modes:
            barrier.guards = "cache mode"
        elif begin is None or end is None or all(not begin < time <= end for time in times):
            barrier.guards = "outside"
        else:
            barrier.unknown = _why_unknown(barrier, opaque.get(barrier.submit))
            barrier.guards = "nothing" if barrier.unknown is None else "unknown"


def _why_unknown(barrier: Barrier, opaque: str | None) -> str | None:
    if opaque is not None:
        return opaque
    if any(wait in _OF_CP for wait in barrier.waits):
        return "what the command processor reads and writes"
    if not barrier.cleans and not barrier.invalidates:
        return "registers that are written while nothing runs"
    return "low-resolution depth" if "lrz" in (*barrier.cleans, *barrier.invalidates) else None
