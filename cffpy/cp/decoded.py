# SPDX-License-Identifier: MIT
"""Decoded streams: their packets as steps, which need no decoding when a stream runs again.

A frame's IBs run again in each tile. Most walks decode a stream before its first run, too
(``Sink.decodes_first_runs``): its steps take less time than a callback for each packet. A sink that
``takes_writes_at_once`` needs no callback for most packets. So consecutive register writes become
one dictionary, and a draw one step together with the draw-state groups that its packets set: the
registers of all of them are stored at once, then the sink is called with the same ``Draw`` as
before. Every other packet is a step that runs as ever, with its handler.

Steps depend on memory alone: they are kept until memory changes. Which conditional blocks run,
which groups a render mode loads and what limits allow is decided each time. Where a step cannot
take its short way, its packets are decoded again.
"""

from __future__ import annotations

from array import array
from functools import partial

from cffpy.cp.payload import Payload
from cffpy.cp.state import (
    GROUP_DISABLE,
    GROUP_DISABLE_ALL,
    GROUP_LOAD_IMMEDIATE,
    DrawStateGroup,
)
from cffpy.cp.steps import Draws, Passes, Runs, Stores
from cffpy.cp.stored import Step, StoredRegisters
from cffpy.pm4.reader import IDLE, OPCODE, REGISTERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cffpy.capture.memory import Words
    from cffpy.cp.decodes_once import DecodesOnce
    from cffpy.cp.kept_streams import KeptStream, KeptStreams, SameDraw
    from cffpy.cp.machine import Machine
    from cffpy.cp.register_runs import RegisterRuns
    from cffpy.cp.sink import Draw, Sink
    from cffpy.cp.stored import LoadedGroup

    #: A register and its value.
    Written = tuple[int, int]

    #: Its words, its first dword, how many dwords.
    StreamKey = tuple[Words, int, int]

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

        ``writes``: as for ``RegisterRuns``. ``draw``: that of an opcode and its payload.
        """
        self._machine = machine
        self._sink = sink
        self._runs = runs
        self._short_runs = short_runs
        self._writes = writes
        self._draw = draw
        #: Streams of the walk before, or for the one after.
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
            if writes is not None and self._sink.ignores_writes([one[0] for one in writes]):
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
            # the writes around it are one step, also those behind it
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
