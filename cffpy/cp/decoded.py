# SPDX-License-Identifier: MIT
"""Decoded streams: their packets as steps, which need no decoding when a stream runs again.

A step is one packet or several; those of a stream follow each other without a gap. A frame's IBs
run again in each tile. Most walks decode a stream before its first run, too
(``Sink.decodes_first_runs``): its steps take less time than a callback for each packet. A sink that
``takes_writes_at_once`` needs no callback for most packets. So consecutive register writes become
one dictionary, and a draw one step together with the draw-state groups that its packets set: the
registers of all of them are stored at once, then the sink is called with the same ``Draw`` as
before. Every other packet is a step that runs as ever, with its handler.

Steps depend on memory alone: they are kept until memory changes. Which conditional blocks run,
which groups a render mode loads and what limits allow is decided each time. Where a step cannot
take its short way, its packets are decoded again.

``KeptStreams`` keeps the decoded streams of one capture for a walk over another capture like it.
Where both have the same commands at the same address, the steps are taken over instead of being
decoded again: of a stream from draw to draw, of a draw what its groups write. All that depends on
other memory, or on where the file has the commands, is decoded anew.
"""

from __future__ import annotations

from array import array
from functools import partial

from cffpy.cp.state import GROUP_DISABLE, GROUP_DISABLE_ALL, GROUP_LOAD_IMMEDIATE, DrawStateGroup
from cffpy.cp.stored import Step, StoredRegisters
from cffpy.pm4.reader import IDLE, OPCODE, REGISTERS, Payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.memory import MemoryImage, Words
    from cffpy.cp.machine import Machine
    from cffpy.cp.runner import DecodesOnce
    from cffpy.cp.sink import Draw, Sink
    from cffpy.cp.stored import LoadedGroup, RegisterRuns

    #: A register and its value.
    Written = tuple[int, int]

    #: Its words, its first dword, how many dwords.
    StreamKey = tuple[Words, int, int]

    #: The draw of a step that is taken over, whose packet is now this one.
    SameDraw = Callable[["Draws", Payload], Draw]

    #: What a group writes; None if its draw has to be decoded. ``bool``: its packets are passed on.
    OtherPart = Callable[[LoadedGroup, bool], dict[int, int] | None]

#: In place of an enable mask: none.
_NO_MASK = -1


class Stores(StoredRegisters):
    """Register writes, which a sink takes as they are."""

    __slots__ = ()

    has_draw = False


class Runs(Step):
    """A packet that is run by its handler. ``following``: after what it is expected to skip."""

    __slots__ = ("opcode", "payload")

    def __init__(self, start: int, following: int, opcode: int, payload: Payload) -> None:
        super().__init__(start, following)
        self.opcode = opcode
        self.payload = payload


class Passes(Runs):
    """A packet that needs no handler: its registers are stored by another step, if it has any.

    It is there because the packets that follow may need its location.
    """

    __slots__ = ()


class Draws(Step):
    """Register writes, draw-state groups that are set, and the draw that loads them.

    Valid where no group is set before. ``registers``, then ``parts``: registers of the stream,
    ``written``, and of ``loaded``, the groups that ``enable_mask`` enables;
    ``DecodedStreams.collect`` sets them for a mask, of the groups as ``runs`` has them.
    ``passing``: empty, or for each part its group if packets of it are passed on, else None.
    ``is_decoded``: a group does more than write registers, so that the step is decoded each time.
    """

    __slots__ = (
        "collected",
        "draw",
        "enable_mask",
        "group_dwords",
        "groups",
        "is_decoded",
        "loaded",
        "opcode",
        "parts",
        "passing",
        "payload",
        "registers",
        "runs",
        "size",
        "stored",
        "taken_from",
        "written",
    )

    def __init__(
        self,
        start: int,
        following: int,
        written: dict[int, int],
        groups: list[DrawStateGroup],
        opcode: int,
        payload: Payload,
        draw: Draw,
    ) -> None:
        super().__init__(start, following)
        self.registers = self.written = written
        #: Those of each group, at the first run; then ``registers`` has them, too.
        self.parts: Sequence[dict[int, int]] = ()
        self.passing: Sequence[DrawStateGroup | None] = ()
        self.groups = groups
        self.opcode = opcode
        self.payload = payload
        self.draw = draw
        self.stored: StoredRegisters | None = None
        self.enable_mask = _NO_MASK
        self.loaded: Sequence[LoadedGroup] = ()
        #: Of all loaded groups.
        self.group_dwords = 0
        self.is_decoded = False
        self.runs: RegisterRuns | None = None
        #: How many registers were collected, each as often as it is written.
        self.size = 0
        #: The same draw of another capture, and what that has collected of its groups.
        self.taken_from: Draws | None = None
        self.collected: Sequence[dict[int, int]] = ()

    def use(self, runs: RegisterRuns) -> None:
        """Have the registers of groups collected from these."""
        self.runs = runs
        self.enable_mask = _NO_MASK
        self.is_decoded = False


#: Dwords of all streams that are kept decoded, and registers of their draws, at most; and streams
#: whose first run is noted.
MAX_DWORDS, MAX_SEEN = 1 << 19, 1 << 16


#: Flags of groups that are not simply set.
_SPECIAL = GROUP_DISABLE_ALL | GROUP_DISABLE | GROUP_LOAD_IMMEDIATE


class DecodedStreams:
    """The decoded streams of one machine. ``read`` and ``known`` count streams, as they run."""

    def __init__(
        self,
        machine: Machine,
        sink: Sink,
        runs: RegisterRuns,
        short_runs: RegisterRuns,
        writes: Callable[[int, Payload], Sequence[Written] | None],
        draw: Callable[[int, Payload], Draw],
        kept: KeptStreams | None = None,
    ) -> None:
        """``short_runs``: of groups whose packets are skipped, or passed to the sink.

        ``writes``: as for ``RegisterRuns``. ``draw``: makes the Draw of an opcode and its payload.
        """
        self._machine = machine
        self._sink = sink
        self._runs = runs
        self._short_runs = short_runs
        self._writes = writes
        self._draw = draw
        #: Streams of the walk before, or for the walk after it.
        self._kept = kept
        self._once: Sequence[DecodesOnce | None] = ()
        self._epoch = -1
        self._known: dict[StreamKey, list[Step]] = {}
        self._seen: set[StreamKey] = set()
        self._dwords = 0
        #: How many streams were decoded, and how often one of them ran without being decoded.
        self.read = 0
        self.known = 0

    def bind(self, once: Sequence[DecodesOnce | None]) -> None:
        """Decode for the GPU that the machine is bound to. ``once``: by opcode."""
        self._once = once
        self.forget()
        if self._kept is not None:
            self._kept.bind(self._machine.gpu, self._runs)

    def forget(self) -> None:
        """Memory has changed, or packets mean something else."""
        self._known.clear()
        self._seen.clear()
        self._dwords = 0

    def release(self) -> None:
        """No stream runs any more: let the machine and the sink go. The counters stay."""
        self.forget()
        del self._machine, self._sink, self._writes, self._draw

    def steps(self, words: Words, index: int, ndwords: int) -> Sequence[Step]:
        """The steps of a stream that runs; none of one that is too long.

        None at its first run either, unless the sink has first runs decoded.
        """
        if self._epoch != self._machine.image.epoch:
            self._epoch = self._machine.image.epoch
            self.forget()
        key = (words, index, ndwords)
        known = self._known.get(key)
        if known is not None:
            self.known += 1
            return known
        if key not in self._seen and not self._sink.decodes_first_runs:
            if len(self._seen) < MAX_SEEN:
                self._seen.add(key)
            return ()
        if ndwords > MAX_DWORDS:
            return ()
        if self._dwords + ndwords > MAX_DWORDS:
            self._known.clear()
            self._dwords = 0
        self._dwords += max(1, ndwords)
        self.read += 1
        steps = self._known[key] = self._decode(words, index, min(index + ndwords, words.count))
        return steps

    def collect(self, step: Draws, enable_mask: int, has_modes: bool) -> bool:
        """Collect the registers of a draw's groups; False if they do more, or there are too many.

        ``has_modes``: whether a group is loaded only in modes that its own mask has.
        """
        known = step.taken_from
        if known is not None and self._take(step, known, enable_mask):
            return True
        return self._collect(step, enable_mask, has_modes)

    def _collect(self, step: Draws, enable_mask: int, has_modes: bool) -> bool:
        """They are ``step.parts``: many draws run only once."""
        runs = step.runs or self._runs
        find_place, of_group = self._machine.image.place, runs.of_group
        ignores_writes = self._sink.ignores_group_writes
        parts: list[dict[int, int]] = []
        passing: list[DrawStateGroup | None] = []
        size = len(step.written)
        loaded: list[LoadedGroup] = []
        dwords = 0
        for group in step.groups:
            ndwords = group.ndwords
            if not ndwords or (has_modes and not group.enable_mask & enable_mask):
                continue
            place = find_place(group.gpuaddr)
            if place is None:
                step.is_decoded = True
                return False
            words, index = place
            written, passed = of_group(words, index, ndwords), None
            if written is None and runs is self._runs:
                written, passed = self._short_runs.of_group(words, index, ndwords), group
            if written is None or not ignores_writes(written):
                step.is_decoded = True
                return False
            parts.append(written)
            passing.append(passed)
            size += len(written)
            loaded.append((group.group_id, words, index, ndwords))
            dwords += ndwords
        self._dwords += size
        if self._dwords > MAX_DWORDS:
            step.is_decoded = True
            return False
        step.size = size
        if self._kept is not None:
            step.collected = parts
        step.registers, step.parts, step.enable_mask = step.written, parts, enable_mask
        step.loaded, step.group_dwords = loaded, dwords
        step.passing = passing if any(passing) else ()
        step.stored = None
        return True

    def _take(self, step: Draws, known: Draws, enable_mask: int) -> bool:
        """Collect what ``known``, the same draw of another capture, has collected.

        False where it has done so for another mask, or where its groups are no longer alike.
        """
        kept, runs = self._kept, step.runs or self._runs
        if kept is None or known.is_decoded or known.enable_mask != enable_mask:
            return False
        if (known.runs is kept.runs) != (runs is self._runs):
            return False
        groups = kept.groups(known, self._machine.image, partial(self._part, runs))
        if groups is None:
            return False
        loaded, parts = groups
        size = known.size if parts is None else sum(map(len, parts), len(step.written))
        if self._dwords + size > MAX_DWORDS:
            return False
        if parts is None:
            step.registers, step.parts = known.registers, known.parts
        else:
            step.registers, step.parts = step.written, parts
        step.loaded, step.group_dwords = loaded, known.group_dwords
        step.passing, step.enable_mask, step.size = known.passing, enable_mask, size
        step.stored = None
        self._dwords += size
        kept.draws_taken += 1
        return True

    def _part(
        self, runs: RegisterRuns, group: LoadedGroup, is_passed: bool
    ) -> dict[int, int] | None:
        """The registers of a group; None if ``is_passed`` does not hold, or they do not suffice."""
        _, words, index, ndwords = group
        written = runs.of_group(words, index, ndwords)
        if is_passed:
            is_whole = written is not None
            written = None if is_whole else self._short_runs.of_group(words, index, ndwords)
        is_ignored = written is not None and self._sink.ignores_group_writes(written)
        return written if is_ignored else None

    def merge(self, step: Draws) -> None:
        """Have all registers of a draw in ``step.registers``."""
        registers = dict(step.written)
        for part in step.parts:
            registers.update(part)
        step.registers, step.parts = registers, ()

    def stored(self, words: Words, step: Draws) -> StoredRegisters:
        """The registers of a draw of a stream in ``words``, with where they were written."""
        if step.stored is None:
            runs, end = step.runs or self._runs, step.payload.index - 1
            step.stored = StoredRegisters(step.registers, runs, step.loaded, words, step.start, end)
        return step.stored

    # -- decoding ---------------------------------------------------------------------------

    def _decode(self, words: Words, index: int, end: int) -> list[Step]:
        """The packets of ``words[index:end]`` up to the first that is damaged or too long."""
        headers, data = self._machine.headers, words.data
        ignores_writes = self._sink.ignores_writes
        plan, kept, first = _Plan(index, words, self._runs), self._kept, index
        known = None
        if kept is not None and kept.is_complete:
            known = kept.find(words, index, end - index)
        elif kept is not None:
            plan.set_marks()
        while index < end:
            if known is not None and plan.start == index:
                index = plan.take(known, first, self._same_draw)
                if index >= end:
                    break
            kind, number, size = headers[data[index]]
            following = index + size
            if following > end:
                break
            if kind == REGISTERS:
                if ignores_writes(range(number, number + size - 1)):
                    values = data[index + 1 : following].tolist()
                    plan.store(index, following, enumerate(values, number))
                else:
                    plan.add(Step(index, following))
            elif kind == OPCODE:
                following = self._add(plan, number, Payload(words, index + 1, size - 1))
            elif kind != IDLE:
                break
            index = following
        steps = plan.finish()
        if kept is not None and plan.marks is not None:
            kept.add(words, first, end - first, steps, plan.marks)
        return steps

    def _same_draw(self, step: Draws, payload: Payload) -> Draw:
        """The draw of a step of another capture, in this one."""
        once = self._once[step.opcode]
        is_same = once is not None and once.is_of_packet
        return step.draw if is_same else self._draw(step.opcode, payload)

    def _add(self, plan: _Plan, opcode: int, payload: Payload) -> int:
        """Add a packet with an opcode. Returns where the next one begins."""
        start, following = payload.index - 1, payload.index + payload.count
        machine, once = self._machine, self._once[opcode]
        if once is not None and once.draw is not None and self._sink.ignores_packet(opcode):
            plan.draw(following, opcode, payload, self._draw(opcode, payload))
            return following
        step = Runs(start, following, opcode, payload)
        if once is not None and once.groups is not None:
            ignored = self._sink.ignores_packet(opcode)
            if ignored and plan.set_groups(step, once.groups(machine, payload)):
                return following
        elif once is not None and once.skips is not None:
            step.following += once.skips(machine, payload) or 0
        else:
            writes = self._writes(opcode, payload)
            if writes is not None and self._sink.ignores_writes([write[0] for write in writes]):
                plan.store(start, following, writes)
                plan.passed = Passes(start, following, opcode, payload)
                return following
        plan.add(step)
        return step.following


class _Plan:
    """Steps as they are made. What may become part of a draw waits."""

    def __init__(self, start: int, words: Words, runs: RegisterRuns) -> None:
        """``words``: of the stream. ``runs`` reads its packets."""
        self._words = words
        self._runs = runs
        self._steps: list[Step] = []
        #: Where the last step ends.
        self.start = start
        #: As of a ``KeptStream``, if they are asked for.
        self.marks: array[int] | None = None
        #: Steps that are made if no draw follows, and what they do if one does.
        self._waiting: list[Step] = []
        self._written: dict[int, int] = {}
        self._groups: dict[int, DrawStateGroup] = {}
        #: The last packet with an opcode since the last step, if it is not run.
        self.passed: Passes | None = None

    def store(self, start: int, following: int, writes: Iterable[Written]) -> None:
        """Registers are written that the sink does not observe."""
        last = self._waiting[-1] if self._waiting else None
        if type(last) is not Stores:
            last = Stores({}, self._runs, (), self._words, start)
            self._waiting.append(last)
        last.following = following
        registers, written = last.registers, self._written
        for register, value in writes:
            registers[register] = written[register] = value

    def set_groups(self, step: Runs, groups: Iterable[DrawStateGroup]) -> bool:
        """A packet changes draw-state groups; False if one of them is loaded at once.

        Then no draw may take the groups that are known here: ``add`` the step.
        """
        changed = self._groups
        for group in groups:
            flags = group.flags
            if not flags & _SPECIAL:
                changed[group.group_id] = group
            elif flags & GROUP_DISABLE_ALL:
                changed.clear()
            elif flags & GROUP_DISABLE:
                changed.pop(group.group_id, None)
            else:
                return False
        self.passed = None
        self._waiting.append(step)
        return True

    def draw(self, following: int, opcode: int, payload: Payload, draw: Draw) -> None:
        """A draw, together with what waits for it."""
        groups = [self._groups[number] for number in sorted(self._groups)]
        step = Draws(self.start, following, self._written, groups, opcode, payload, draw)
        self._steps.append(step)
        self._restart(following)

    def add(self, step: Step) -> None:
        """A separate step: pending writes become steps before it."""
        self._end_waiting()
        self._steps.append(step)
        self._restart(step.following)

    def finish(self) -> list[Step]:
        """The steps of the whole stream, in order; no more can be added."""
        self._end_waiting()
        return self._steps

    def _end_waiting(self) -> None:
        """No draw follows what waits."""
        self._steps += self._waiting
        if self.passed is not None:
            # the writes around it are one step, also the writes behind it
            self.passed.following = self._waiting[-1].following
            self._steps.append(self.passed)

    def set_marks(self) -> None:
        """Have ``marks``. Before the first step."""
        self.marks = array("L", (self.start, 0))

    def take(self, known: KeptStream, first: int, same_draw: SameDraw) -> int:
        """Take over the steps of equal dwords; see ``KeptStream.take``."""
        at = known.take(self._words, first, self.start, self._runs, same_draw, self._steps)
        if at != self.start:
            self._restart(at)
        return at

    def _restart(self, start: int) -> None:
        self.start = start
        if self.marks is not None:
            self.marks.extend((start, len(self._steps)))
        self._waiting = []
        self._written = {}
        self._groups = {}
        self.passed = None


#: Dwords of all streams that are kept, at most.
MAX_KEPT = 1 << 19

#: Dwords behind packets that decoding may read: behind a packet that is too short, for example.
_BEHIND = 16


class KeptStream:
    """A decoded stream, whose dwords begin at ``index`` of ``data``, as they were then.

    ``marks``: dwords where a step begins that depends on nothing before it, each with the position
    of that step in ``steps``.
    """

    __slots__ = ("_data", "_index", "_marks", "_next", "_steps")

    def __init__(
        self, data: memoryview, index: int, steps: Sequence[Step], marks: array[int]
    ) -> None:
        self._data = data
        self._index = index
        self._steps = steps
        self._marks = marks
        #: Where the next part is expected in ``marks``.
        self._next = 0

    def begin(self) -> None:
        """Another stream begins, which may have the same parts."""
        self._next = 0

    def take(
        self,
        words: Words,
        first: int,
        start: int,
        runs: RegisterRuns,
        same_draw: SameDraw,
        steps: list[Step],
    ) -> int:
        """Add to ``steps`` the steps of all equal dwords from ``start`` on.

        The other stream begins at ``first`` of ``words``; ``runs`` reads its packets. Returns the
        index of the first dword that has no step.
        """
        moved = first - self._index
        at, marks, data, others = self._next, self._marks, self._data, words.data
        last = len(marks) - 2
        while at < last and marks[at] + moved < start:
            at += 2
        while at < last and marks[at] + moved == start:
            following = marks[at + 2] + moved
            behind = following + _BEHIND
            kept = data[start - moved : behind - moved].tobytes()
            if kept != others[start:behind].tobytes():
                break
            for step in self._steps[marks[at + 1] : marks[at + 3]]:
                steps.append(_moved(step, words, moved, runs, same_draw))
            start = following
            at += 2
        self._next = at
        return start


class KeptStreams:
    """Streams by address and size, in the order in which they were decoded.

    Two walks share it, with the same observers and descriptions: the first one, up to ``end_walk``,
    adds its streams, and the second one finds them.
    """

    def __init__(self) -> None:
        #: Whether the first walk is over.
        self.is_complete = False
        #: What the groups of the first walk were read with, if their packets were passed on.
        self.runs: RegisterRuns | None = None
        self._gpu: Gpu | None = None
        self._streams: dict[tuple[int, int], list[KeptStream]] = {}
        #: How often a stream was asked for.
        self._asked: dict[tuple[int, int], int] = {}
        self._dwords = 0
        #: While packets of groups are passed on, and while they are not.
        self._groups: tuple[dict[LoadedGroup, _Group], ...] = {}, {}
        self._epoch = -1
        #: How many draws of the second walk had their groups taken over.
        self.draws_taken = 0

    def bind(self, gpu: Gpu, runs: RegisterRuns) -> None:
        """The walk decodes for this GPU from now on. ``runs``: as the member."""
        if not self.is_complete:
            self._gpu, self.runs = gpu, runs
        if not self.is_complete or gpu != self._gpu:
            self._streams.clear()

    def end_walk(self) -> None:
        """One of the two walks is over; after the second one, nothing is kept."""
        if self.is_complete:
            self._streams.clear()
            self._forget_groups()
        self.is_complete = True

    def add(
        self, words: Words, index: int, ndwords: int, steps: Sequence[Step], marks: array[int]
    ) -> None:
        """Keep a stream of the first walk, if there is room.

        Not one in memory that a packet has written to, and so may write to again.
        """
        self._dwords += ndwords
        if self._dwords <= MAX_KEPT and words.data.readonly:
            stream = KeptStream(words.data, index, steps, marks)
            self._streams.setdefault((words.address + 4 * index, ndwords), []).append(stream)

    def find(self, words: Words, index: int, ndwords: int) -> KeptStream | None:
        """The stream at the same address that the first walk decoded, of several in their order."""
        key = words.address + 4 * index, ndwords
        streams = self._streams.get(key)
        if streams is None:
            return None
        number = self._asked[key] = self._asked.get(key, -1) + 1
        stream = streams[min(number, len(streams) - 1)]
        stream.begin()
        return stream

    def groups(
        self, draw: Draws, image: MemoryImage, other_part: OtherPart
    ) -> tuple[list[LoadedGroup], Sequence[dict[int, int]] | None] | None:
        """The groups that an equal draw loads, and their registers: None where all are the same.

        ``draw``: of the first walk. None where the equal draw has to be collected itself.
        """
        if self._epoch != image.epoch:
            self._epoch = image.epoch
            self._forget_groups()
        known = self._groups[draw.runs is self.runs]
        loaded: list[LoadedGroup] = []
        parts: list[dict[int, int]] | None = None
        for position, group in enumerate(draw.loaded):
            now = known.get(group)
            if now is None:
                now = known[group] = _Group(group, image)
            if now.loaded is None:
                return None
            loaded.append(now.loaded)
            if now.is_equal:
                continue
            if now.registers is None:
                is_passed = bool(draw.passing and draw.passing[position])
                now.registers = other_part(now.loaded, is_passed)
                if now.registers is None:
                    return None
            if parts is None:
                parts = [*draw.collected]
            parts[position] = now.registers
        return loaded, parts

    def _forget_groups(self) -> None:
        for known in self._groups:
            known.clear()


class _Group:
    """A group of the first walk, and what is at its address now.

    ``loaded``: None where there is no memory. ``registers``: of another group, once asked for.
    """

    __slots__ = ("is_equal", "loaded", "registers")

    def __init__(self, group: LoadedGroup, image: MemoryImage) -> None:
        number, words, index, ndwords = group
        place = image.place(words.address + 4 * index)
        self.registers: dict[int, int] | None = None
        self.loaded: LoadedGroup | None = None
        self.is_equal = False
        if place is not None:
            others, at = place
            self.loaded = number, others, at, ndwords
            kept = words.data[index : index + ndwords].tobytes()
            is_equal = kept == others.data[at : at + ndwords].tobytes()
            self.is_equal = is_equal and words.data.readonly


def _moved(step: Step, words: Words, moved: int, runs: RegisterRuns, same_draw: SameDraw) -> Step:
    """The step of equal dwords, ``moved`` by so many dwords, of another buffer."""
    start, following = step.start + moved, step.following + moved
    if isinstance(step, Draws):
        payload = Payload(words, step.payload.index + moved, step.payload.count)
        draw = same_draw(step, payload)
        draws = Draws(start, following, step.written, step.groups, step.opcode, payload, draw)
        draws.taken_from = step
        return draws
    if isinstance(step, Stores):
        return Stores(step.registers, runs, (), words, start, following)
    if isinstance(step, Runs):
        payload = Payload(words, step.payload.index + moved, step.payload.count)
        return type(step)(start, following, step.opcode, payload)
    return Step(start, following)
