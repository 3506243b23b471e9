# SPDX-License-Identifier: MIT
"""PipeOrders: which waits of the pipes BR and BV hold, in all orders in which both may run.

Each pipe runs its own steps in order; how far the other one is by then is left to the GPU. So all
orders are followed, as states: how far each pipe is, and what the values that pipes wait for may
be. A pipe at a wait that does not hold stays there; a state from which neither pipe can go on is a
hang. A wait is

- "never" if it holds in no order: it is passed over then, where neither pipe can go on, so that
  what comes after it is followed, too;
- a "race" if it holds in some order, and in another one its pipe hangs there, since a packet has
  written over the value before this pipe has seen it;
- "signalled", or "held before", if it holds in all orders.

A hang with both pipes in a wait is charged to the wait that no packet behind the other one
signals: the other wait would go on with it.

What is not known holds: a value that the GPU writes, a packet that may not be executed. A value
that may be one of several is all of them. An order that needs such luck proves no race; but a wait
that does not hold with all of it never holds. Where one pipe's step touches nothing that the other
pipe still reads or writes, it is done first: no other order differs (a persistent set).
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.computation import holds
from cffpy.frame.execution import PipeSignal, PipeWait, SinglePipe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from cffpy.frame.places import PacketLocation

#: Of each pipe, the other one.
OTHER_PIPE: dict[SinglePipe, SinglePipe] = {"BR": "BV", "BV": "BR"}

#: States of a capture that are followed: this many, and so many more for each step. A state counts
#: once more for each of so many values in it.
_STATES, _STATES_OF_STEP, _VALUES_OF_STATE = 1 << 16, 1 << 3, 1 << 4

#: Versions that a cell may have at a time; of more, none is known.
_VERSIONS = 1 << 4

#: Packets that are looked at to see whether a pipe that hangs has a signal yet to come.
_LOOKED_AT = 1 << 6

_ALL_BITS = (1 << 32) - 1

#: Where a value is: on the chip or not, and its address there.
Cell = tuple[bool, int]


class Version:
    """A value of a cell, of one store: equal values of other stores are others.

    ``value``: None for one that the GPU knows. ``is_wide``: all 64 bits of it are known.
    """

    __slots__ = ("is_wide", "signal", "value")

    def __init__(self, value: int | None, signal: PipeSignal | None, is_wide: bool = False) -> None:
        self.value = value
        self.signal = signal
        self.is_wide = is_wide


#: What a cell may hold: one of these.
_Versions = frozenset[Version]

_NOT_KNOWN: _Versions = frozenset((Version(None, None),))


class Count:
    """How often a count was increased; each has the one before. Equal ones are the same object."""

    __slots__ = ("_next", "before", "least", "most", "signal")

    def __init__(self, before: Count | None, signal: PipeSignal | None, is_sure: bool) -> None:
        self.before = before
        self.signal = signal
        self.most: int = 0 if before is None else before.most + 1
        #: Increases that are sure to be executed. None: others have come before, unknown how many.
        self.least: int | None = 0
        if before is not None:
            self.least = None if before.least is None else before.least + is_sure
        self._next: dict[Increment, Count] = {}

    def increased(self, step: Increment) -> Count:
        """The count after a step."""
        count = self._next.get(step)
        if count is None:
            count = self._next[step] = Count(self, step.signal, step.is_sure)
        return count

    def increase(self, position: int) -> PipeSignal | None:
        """The packet of an increase, which there is."""
        count = self
        while count.most > position + 1 and count.before is not None:
            count = count.before
        return count.signal


def _unknown_count() -> Count:
    count = Count(None, None, False)
    count.least = None
    return count


class Memory(NamedTuple):
    """What both pipes see. ``offset``: by how many BV may be ahead of BR; None: not known."""

    cells: tuple[_Versions, ...]
    counts: tuple[Count, Count]
    offset: int | None


_PIPES: tuple[SinglePipe, SinglePipe] = ("BR", "BV")
_COUNTED: dict[SinglePipe, int] = {"BR": 0, "BV": 1}

#: What ``Step.reads`` and ``Step.writes`` have for the counts and their offset.
_COUNT_KEYS: tuple[Cell, Cell, Cell] = ((False, -1), (False, -2), (False, -3))


class Outcome(NamedTuple):
    """A pipe goes on. ``is_lucky``: only if what is not known is as it has to be."""

    memory: Memory
    is_lucky: bool = False


class Step:
    """Something that a pipe does."""

    __slots__ = ("is_sure", "pipe", "place")

    reads: tuple[Cell, ...] = ()
    writes: tuple[Cell, ...] = ()

    def __init__(self, pipe: SinglePipe, place: PacketLocation, is_sure: bool) -> None:
        """``is_sure``: it is executed, whatever the GPU decides."""
        self.pipe = pipe
        self.place = place
        self.is_sure = is_sure

    @property
    def signal(self) -> PipeSignal:
        """This step as what another pipe waits for."""
        return PipeSignal(self.pipe, self.place)

    def only(self, cells: Mapping[Cell, int]) -> None:
        """Of what it writes, these cells count: those that a pipe waits for."""

    def run(self, state: State, orders: PipeOrders) -> Outcome | None:
        """Do it; None: the pipe cannot go on yet."""
        raise NotImplementedError


class Store(Step):
    """A packet stores values in cells."""

    __slots__ = ("versions", "writes")

    def __init__(
        self,
        pipe: SinglePipe,
        place: PacketLocation,
        is_sure: bool,
        values: Mapping[Cell, tuple[int | None, bool]],
    ) -> None:
        """``values``: of each cell; None for one that the GPU knows. True: of 64 bits."""
        super().__init__(pipe, place, is_sure)
        self.set_values(values)

    def set_values(self, values: Mapping[Cell, tuple[int | None, bool]]) -> None:
        """Have the packet store other values."""
        self.versions = {
            cell: Version(value, self.signal, is_wide) for cell, (value, is_wide) in values.items()
        }

    def only(self, cells: Mapping[Cell, int]) -> None:
        self.writes = tuple(cell for cell in self.versions if cell in cells)

    def run(self, state: State, orders: PipeOrders) -> Outcome:
        index, memory = orders.index, state.memory
        cells = list(memory.cells)
        for cell in self.writes:
            at, new = index[cell], self.versions[cell]
            cells[at] = frozenset((new,)) if self.is_sure else _either(cells[at], new)
        return Outcome(memory._replace(cells=tuple(cells)))


class ForgetChip(Step):
    """What values on the chip are is not known any more."""

    __slots__ = ("writes",)

    def only(self, cells: Mapping[Cell, int]) -> None:
        self.writes = tuple(cell for cell in cells if _is_on_chip(cell))

    def run(self, state: State, orders: PipeOrders) -> Outcome:
        memory = state.memory
        cells = [
            versions
            if not _is_on_chip(cell)
            else _NOT_KNOWN
            if self.is_sure
            else versions | _NOT_KNOWN
            for cell, versions in zip(orders.index, memory.cells, strict=True)
        ]
        return Outcome(memory._replace(cells=tuple(cells)))


class Increment(Step):
    """The count of ``counted`` is increased."""

    __slots__ = ("counted", "writes")

    def __init__(
        self, pipe: SinglePipe, place: PacketLocation, is_sure: bool, counted: SinglePipe
    ) -> None:
        super().__init__(pipe, place, is_sure)
        self.counted = _COUNTED[counted]
        self.writes = (_COUNT_KEYS[self.counted],)

    def run(self, state: State, orders: PipeOrders) -> Outcome:
        counts = [*state.memory.counts]
        counts[self.counted] = counts[self.counted].increased(self)
        return Outcome(state.memory._replace(counts=(counts[0], counts[1])))


class ClearCounts(Step):
    """Begins the counts of both pipes anew."""

    __slots__ = ()
    writes = _COUNT_KEYS[:2]

    def run(self, state: State, orders: PipeOrders) -> Outcome:
        cleared = orders.zero if self.is_sure else orders.unknown_count
        return Outcome(state.memory._replace(counts=(cleared, cleared)))


class SetOffset(Step):
    """BV may be ahead of BR by ``offset``."""

    __slots__ = ("offset",)
    writes = _COUNT_KEYS[2:]

    def __init__(self, pipe: SinglePipe, place: PacketLocation, is_sure: bool, offset: int) -> None:
        super().__init__(pipe, place, is_sure)
        self.offset = offset

    def run(self, state: State, orders: PipeOrders) -> Outcome:
        return Outcome(state.memory._replace(offset=self.offset if self.is_sure else None))


class WaitStep(Step):
    """``PipeWait``, and how it is tried."""

    __slots__ = ("first", "first_by_luck", "is_over", "overwritten", "wait")

    def __init__(
        self, pipe: SinglePipe, place: PacketLocation, is_sure: bool, wait: PipeWait
    ) -> None:
        # what lies in memory may be written by the processor, too
        super().__init__(pipe, place, is_sure and wait.kind != "memory")
        self.wait = wait
        #: The signals by which it holds in the first order that there is: at most one of each.
        self.first: list[PipeSignal | None] = []
        self.first_by_luck: list[PipeSignal | None] = []
        #: What has written over the value in an order in which the pipe hangs here, if any does.
        self.overwritten: list[PipeSignal | None] = []
        #: It never holds, and is passed over.
        self.is_over = False

    @property
    def holds_at_all(self) -> bool:
        """Whether the wait holds in some order."""
        return bool(self.first or self.first_by_luck)

    def has_signal_among(self, steps: Iterable[Step]) -> bool:
        """Whether one of the steps of the other pipe may be what it waits for."""
        raise NotImplementedError

    def hangs(self, state: State, orders: PipeOrders) -> None:
        """Its pipe hangs here in some order. Keep what has written the value, in the first one."""
        if not self.overwritten:
            self.overwritten.append(self._overwriter(state, orders))

    def _overwriter(self, state: State, orders: PipeOrders) -> PipeSignal | None:
        """The packet that has written the value for which it does not hold."""
        return None

    def _pass(
        self,
        state: State,
        memory: Memory,
        is_lucky: bool,
        *signal: PipeSignal | None,
    ) -> Outcome:
        """It holds, by this signal, or nobody knows by which."""
        by_luck = is_lucky or state.is_lucky
        kept = self.first_by_luck if by_luck else self.first
        if not kept:
            kept.extend(signal)
        return Outcome(memory, is_lucky)

    def _stay(self, state: State) -> Outcome | None:
        """It does not hold. One that may not be executed is passed."""
        return None if self.is_sure else Outcome(state.memory, is_lucky=True)

    def settle(self, is_complete: bool) -> None:
        """Say how it ends. ``is_complete``: all that may signal it is known."""
        wait = self.wait
        if not self.holds_at_all:
            wait.state = "never" if self.is_over and is_complete else "unknown"
            return
        (wait.signal,) = self.first or self.first_by_luck
        wait.state = "held before" if wait.signal is None else "signalled"
        if is_complete and self.overwritten:
            wait.state = "race" if self.first else "unknown"
            (wait.overwritten,) = self.overwritten if self.first else (None,)


class ValueWait(WaitStep):
    """A wait for a value on the chip or in memory."""

    __slots__ = ("cell", "function", "mask", "reads", "reference", "signed")

    def __init__(
        self,
        pipe: SinglePipe,
        place: PacketLocation,
        is_sure: bool,
        wait: PipeWait,
        cell: Cell,
        comparison: tuple[int, int, int | None, int],
    ) -> None:
        """``comparison``: function, whether signed, reference (None: not known), mask."""
        super().__init__(pipe, place, is_sure, wait)
        self.cell = cell
        self.reads = (cell,)
        self.function, self.signed, self.reference, self.mask = comparison

    def holds_for(self, version: Version) -> bool | None:
        """Whether it holds; None: it may."""
        value = version.value
        if value is None or self.reference is None:
            return None
        if holds(self.function, self.signed, value, self.reference, self.mask):
            return True
        return None if self.mask > _ALL_BITS and not version.is_wide else False

    def run(self, state: State, orders: PipeOrders) -> Outcome | None:
        memory, at = state.memory, orders.index[self.cell]
        versions = memory.cells[at]
        possible = [version for version in versions if self.holds_for(version) is not False]
        if not possible:
            return self._stay(state)
        surest = max(
            possible, key=lambda candidate: (self.holds_for(candidate) is True, _order(candidate))
        )
        is_lucky = len(possible) < len(versions) or None in map(self.holds_for, possible)
        if self.is_sure and len(possible) < len(versions):
            cells = list(memory.cells)
            cells[at] = frozenset(possible)
            memory = memory._replace(cells=tuple(cells))
        return self._pass(state, memory, is_lucky, surest.signal)

    def has_signal_among(self, steps: Iterable[Step]) -> bool:
        return any(
            not isinstance(step, Store) or self.holds_for(step.versions[self.cell]) is not False
            for step in steps
        )

    def _overwriter(self, state: State, orders: PipeOrders) -> PipeSignal | None:
        return max(state.memory.cells[orders.index[self.cell]], key=_order).signal


def _order(version: Version) -> tuple[int, int]:
    """To choose one of several versions, always the same one."""
    signal = version.signal
    return (-1, 0) if signal is None else (signal.place.gpuaddr, version.value or 0)


class CountWait(WaitStep):
    """For the count of the other pipe."""

    __slots__ = ()
    reads = _COUNT_KEYS

    def run(self, state: State, orders: PipeOrders) -> Outcome | None:
        memory = state.memory
        done, awaited = (
            memory.counts[_COUNTED[pipe]] for pipe in (self.pipe, OTHER_PIPE[self.pipe])
        )
        ahead = memory.offset if self.pipe == "BV" else 0
        if ahead is None or done.least is None or awaited.least is None:
            return Outcome(memory, is_lucky=True)
        position = done.most - ahead
        if position < 0:
            return self._pass(state, memory, False, None)
        if awaited.most <= done.least - ahead:
            return self._stay(state)
        is_lucky = awaited.least <= position
        return self._pass(state, memory, is_lucky, awaited.increase(position))

    def has_signal_among(self, steps: Iterable[Step]) -> bool:
        awaited = _COUNTED[OTHER_PIPE[self.pipe]]
        return any(isinstance(step, Increment) and step.counted == awaited for step in steps)


class Barrier(WaitStep):
    """Until the other pipe is at the same packet."""

    __slots__ = ("number",)

    def __init__(
        self,
        pipe: SinglePipe,
        place: PacketLocation,
        is_sure: bool,
        wait: PipeWait,
        number: int,
    ) -> None:
        """``number``: how many such packets come before."""
        super().__init__(pipe, place, is_sure, wait)
        self.number = number

    def run(self, state: State, orders: PipeOrders) -> Outcome | None:
        other = OTHER_PIPE[self.pipe]
        if state.positions[_COUNTED[other]] < orders.barriers[other][self.number]:
            return self._stay(state)
        return self._pass(state, state.memory, False, PipeSignal(other, self.place))

    def has_signal_among(self, steps: Iterable[Step]) -> bool:
        return True  # since the other pipe is not there yet


class State:
    """How far both pipes are. ``is_lucky``: only if what is not known is as it has to be."""

    __slots__ = ("is_lucky", "memory", "positions")

    def __init__(self, positions: tuple[int, int], memory: Memory, is_lucky: bool) -> None:
        self.positions = positions
        self.memory = memory
        self.is_lucky = is_lucky


class _Queue:
    """The steps of one pipe, and where it reads and writes each cell."""

    def __init__(self, steps: list[Step]) -> None:
        self.steps = steps
        self._last_read: dict[Cell, int] = {}
        self._writes: dict[Cell, list[int]] = {}
        for number, step in enumerate(steps):
            self._last_read.update(dict.fromkeys(step.reads, number))
            for cell in step.writes:
                self._writes.setdefault(cell, []).append(number)

    def is_done_with(self, step: Step, position: int) -> bool:
        """Whether none of the steps from ``position`` on meets this step of the other pipe."""
        reads, writes = self._last_read, self._writes
        return all(reads.get(cell, -1) < position for cell in step.writes) and all(
            cell not in writes or writes[cell][-1] < position
            for cell in (*step.reads, *step.writes)
        )

    def writers(self, cells: Iterable[Cell], position: int) -> Iterator[Step]:
        """The steps from ``position`` on that write these cells: the first of each."""
        for cell in cells:
            numbers = self._writes.get(cell, [])
            first = bisect_left(numbers, position)
            for number in numbers[first : first + _LOOKED_AT]:
                yield self.steps[number]


class PipeOrders:
    """Follows the submits of a capture, one after another."""

    def __init__(self) -> None:
        self.zero, self.unknown_count = Count(None, None, False), _unknown_count()
        #: By cell: what it holds between submits. Those on the chip are zero at first.
        self._kept: dict[Cell, _Versions] = {}
        self._first = frozenset((Version(0, None, is_wide=True),))
        self._counts = self.zero, self.zero
        self._offset: int | None = None  # not set yet
        self._states_left = _STATES
        #: Of each cell that a pipe of this submit waits for, its position in ``Memory.cells``.
        self.index: dict[Cell, int] = {}
        #: By pipe: the position of each ``Barrier`` in the steps of the pipe.
        self.barriers: dict[SinglePipe, list[int]] = {}

    def forget(self) -> None:
        """Commands are missing: nothing is known any more."""
        self._kept.clear()
        self._first = _NOT_KNOWN
        self._counts = self.unknown_count, self.unknown_count
        self._offset = None

    def follow(self, steps: Sequence[Step], is_open: bool) -> bool:
        """Settle the waits of a submit; whether all orders were followed.

        ``is_open``: commands of it are missing, which may signal anything.
        """
        self.zero = Count(None, None, False)
        waits = [step for step in steps if isinstance(step, WaitStep)]
        awaited = {cell for step in waits for cell in step.reads}.difference(_COUNT_KEYS)
        self.index = {cell: at for at, cell in enumerate(sorted(awaited))}
        queues = self._queues(steps)
        cells = tuple(self._held(cell) for cell in self.index)
        first = State((0, 0), Memory(cells, self._counts, self._offset), is_open)
        search = _Search(self, queues, self._states_left + _STATES_OF_STEP * len(steps))
        search.run(first, waits)
        self._states_left = max(0, search.left)
        for step in waits:
            step.settle(search.is_complete and not is_open)
        self._keep_others(steps)
        self._keep(search.last)
        return search.is_complete

    def _queues(self, steps: Sequence[Step]) -> tuple[_Queue, _Queue]:
        """Of each pipe. What no pipe of the submit waits for is left out."""
        for step in steps:
            step.only(self.index)
        kept = [step for step in steps if step.writes or isinstance(step, WaitStep)]
        queues = {pipe: [step for step in kept if step.pipe == pipe] for pipe in _PIPES}
        self.barriers = {
            pipe: [at for at, step in enumerate(queue) if isinstance(step, Barrier)]
            for pipe, queue in queues.items()
        }
        return _Queue(queues["BR"]), _Queue(queues["BV"])

    def _held(self, cell: Cell) -> _Versions:
        return self._kept.get(cell, self._first if _is_on_chip(cell) else _NOT_KNOWN)

    def _keep_others(self, steps: Sequence[Step]) -> None:
        """What cells that no pipe of the submit waits for hold at its end."""
        writers: dict[Cell, set[SinglePipe]] = {}
        for step in steps:
            if isinstance(step, Store):
                for cell in step.versions.keys() - self.index.keys():
                    pipes = writers.setdefault(cell, set())
                    pipes.add(step.pipe)
                    new = step.versions[cell]
                    is_last = step.is_sure and len(pipes) == 1
                    held = frozenset((new,)) if is_last else _either(self._held(cell), new)
                    self._kept[cell] = held
        if any(isinstance(step, ForgetChip) for step in steps):
            self._first = _NOT_KNOWN
            self._kept = {cell: kept for cell, kept in self._kept.items() if not _is_on_chip(cell)}

    def _keep(self, last: Sequence[Memory]) -> None:
        """What all else is at the end of a submit."""
        for cell, at in self.index.items():
            versions = frozenset().union(*(memory.cells[at] for memory in last))
            self._kept[cell] = versions if len(versions) <= _VERSIONS else _NOT_KNOWN
        counts = {memory.counts for memory in last}
        offsets = {memory.offset for memory in last}
        unknown = self.unknown_count, self.unknown_count
        self._counts = counts.pop() if len(counts) == 1 else unknown
        self._offset = offsets.pop() if len(offsets) == 1 else None


def _either(versions: _Versions, new: Version) -> _Versions:
    return versions | {new} if len(versions) < _VERSIONS else _NOT_KNOWN


def _is_on_chip(cell: Cell) -> bool:
    return cell[0]


class _Search:
    """Follows all orders of two queues of steps."""

    def __init__(self, orders: PipeOrders, queues: tuple[_Queue, _Queue], budget: int) -> None:
        self._orders = orders
        self._queues = queues
        self._end = len(queues[0].steps), len(queues[1].steps)
        #: States that may still be followed.
        self.left = budget
        self._cost = 1 + len(orders.index) // _VALUES_OF_STATE
        #: By how many steps are done: the states to go on with. Equal ones are one.
        self._layers: dict[int, dict[tuple[tuple[int, int], Memory], State]] = {}
        #: Those in which neither pipe can go on, and one of them is not done.
        self._hangs: list[State] = []
        self._ends: list[Memory] = []
        self.is_complete = True

    @property
    def last(self) -> list[Memory]:
        """What memory may be at last: where all orders hang, as it is then."""
        return self._ends or [state.memory for state in self._hangs]

    def run(self, first: State, waits: Sequence[WaitStep]) -> None:
        """Until all orders have ended. ``waits``: in the order of the stream."""
        numbers = {step: number for number, step in enumerate(waits)}
        self._add(first.positions, first.memory, first.is_lucky)
        self._run_layers()
        while (over := self._to_pass_over(numbers)) is not None:
            over.is_over = True
            hangs, self._hangs = self._hangs, []
            for state in hangs:
                self.left -= 1
                if self._head(state, _COUNTED[over.pipe]) is over:
                    self._advance(state, _COUNTED[over.pipe], Outcome(state.memory))
                else:
                    self._hangs.append(state)
            self._run_layers()
        for state in self._hangs:
            if not state.is_lucky:
                for step in self._causes(state):
                    step.hangs(state, self._orders)

    def _add(self, positions: tuple[int, int], memory: Memory, is_lucky: bool) -> None:
        layer = self._layers.setdefault(sum(positions), {})
        known = layer.get((positions, memory))
        if known is None:
            self.left -= self._cost
            layer[positions, memory] = State(positions, memory, is_lucky)
        elif not is_lucky:
            known.is_lucky = False

    def _run_layers(self) -> None:
        """Follow all states to their ends. A step leads to the next layer."""
        while self._layers:
            states = self._layers.pop(min(self._layers))
            for state in states.values():
                self._expand(state)
                if self.left < 0:  # one order from here on
                    self.is_complete = False
                    del self._hangs[:-1]
                    break

    def _expand(self, state: State) -> None:
        outcomes: list[tuple[int, Outcome]] = []
        for pipe in (0, 1):
            step = self._head(state, pipe)
            outcome = None if step is None else step.run(state, self._orders)
            if step is None or outcome is None:
                continue
            other = 1 - pipe
            if not outcome.is_lucky and self._queues[other].is_done_with(
                step, state.positions[other]
            ):
                outcomes = [(pipe, outcome)]
                break
            outcomes.append((pipe, outcome))
        for pipe, outcome in outcomes:
            self._advance(state, pipe, outcome)
        if not outcomes and state.positions == self._end:
            self._ends.append(state.memory)
        elif not outcomes:
            self._hangs.append(state)

    def _advance(self, state: State, pipe: int, outcome: Outcome) -> None:
        br, bv = state.positions
        positions = (br + 1, bv) if pipe == 0 else (br, bv + 1)
        self._add(positions, outcome.memory, state.is_lucky or outcome.is_lucky)

    def _head(self, state: State, pipe: int) -> Step | None:
        position, steps = state.positions[pipe], self._queues[pipe].steps
        return steps[position] if position < len(steps) else None

    def _stuck(self, state: State) -> Iterator[tuple[WaitStep, bool]]:
        """The waits of a hang, and whether the other pipe has a signal for it behind its own."""
        for pipe in (0, 1):
            step, other = self._head(state, pipe), 1 - pipe
            if isinstance(step, WaitStep):
                rest = self._queues[other].writers(step.reads, state.positions[other])
                yield step, step.has_signal_among(rest)

    def _causes(self, state: State) -> list[WaitStep]:
        stuck = list(self._stuck(state))
        causes = [step for step, has_signal in stuck if not has_signal]
        return causes or [step for step, _ in stuck]

    def _to_pass_over(self, numbers: Mapping[WaitStep, int]) -> WaitStep | None:
        """Of the waits that have held in no order: one that hangs by itself, else the first.

        Of each pipe there is one at most, since nothing behind it was reached.
        """
        stuck: dict[WaitStep, bool] = {}
        for state in self._hangs:
            for step, has_signal in self._stuck(state):
                if not step.holds_at_all or not self.is_complete:
                    stuck[step] = has_signal and stuck.get(step, True)
        return min(stuck, key=lambda step: (stuck[step], numbers[step]), default=None)
