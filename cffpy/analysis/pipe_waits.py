# SPDX-License-Identifier: MIT
"""PipeWaits: what the pipes BR and BV wait for, and the packets of the other pipe that signal it.

A pipe waits for a value on the chip or in memory (CP_WAIT_REG_MEM), for a time stamp
(CP_WAIT_TIMESTAMP), for a count of the other pipe (CP_BV_BR_COUNT_OPS), or until the other one is
at the same packet (CP_THREAD_CONTROL with SYNC_THREADS). CP_EVENT_WRITE7 writes values and time
stamps, and counts; CP_MEM_WRITE writes memory. At the end of each submit both
pipes are followed as they run: each up to a wait that does not hold yet, then the other one. Where
neither can go on, a wait has no signal: the GPU hangs there. Facts: turnip of October 2025, the
kernel's driver, and adreno_pm4.xml.

What is not known holds: a value that the GPU writes, and all after commands that were not captured.
Waits for a register (CP_WAIT_REG_EQ, CP_WAIT_REG_MEM) are for the GPU, not for the other pipe.
CP_WAIT_MEM_GTE and CP_WAIT_TWO_REGS are packets of a6xx alone, which has one pipe.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.computation import holds
from cffpy.analysis.observer import Observer
from cffpy.cp.payload import Payload
from cffpy.frame.execution import Executed
from cffpy.frame.pipe_waits import PipeSignal, PipeWait, SinglePipe, WaitKind
from cffpy.pm4.fields import Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from cffpy.analysis.walk import Walk
    from cffpy.capture.load import CommandStream
    from cffpy.frame.place import PacketLocation

_OTHER: dict[SinglePipe, SinglePipe] = {"BR": "BV", "BV": "BR"}

_EVENT = Fields(
    "CP_EVENT_WRITE7",
    "WRITE_SRC",
    "WRITE_DST",
    "WRITE_ENABLED",
    "INC_BV_COUNT",
    "INC_BR_COUNT",
)
_EVENT_ON_CHIP = Fields(
    "CP_EVENT_WRITE7", "ONCHIP_ADDR_0", "PAYLOAD_0", "PAYLOAD_1", variant="EV_DST_ONCHIP"
)
_EVENT_IN_MEMORY = Fields("CP_EVENT_WRITE7", "1", "PAYLOAD_0", "PAYLOAD_1", variant="EV_DST_RAM")
_USER_VALUE, _USER_VALUE_OF_64_BITS, _TIMESTAMP_SUM = 0, 1, 2  # WRITE_SRC, event_write_src

_WAIT_REG_MEM = Fields(
    "CP_WAIT_REG_MEM", "FUNCTION", "SIGNED_COMPARE", "POLL", "POLL_ADDR", "REF", "MASK"
)
_POLL_MEMORY, _POLL_ON_CHIP = 1, 3

_WAIT_TIMESTAMP = Fields("CP_WAIT_TIMESTAMP", "WAIT_VALUE_SRC", "WAIT_DST")
_STAMP_ON_CHIP = Fields(
    "CP_WAIT_TIMESTAMP", "ONCHIP_ADDR_0", "SRC_0", "SRC_1", variant="TS_WAIT_ONCHIP"
)
_STAMP_IN_MEMORY = Fields("CP_WAIT_TIMESTAMP", "ADDR", "SRC_0", "SRC_1", variant="TS_WAIT_RAM")
_WAIT_FOR_32_BITS, _WAIT_FOR_64_BITS, _WAIT_FOR_SUM = 0, 1, 2  # ts_wait_value_src

_MODIFY_TIMESTAMP = Fields("CP_MODIFY_TIMESTAMP", "ADD", "OP")
_CLEAR_TIMESTAMP = 0

_COUNT = Fields("CP_BV_BR_COUNT_OPS", "OP")
_COUNT_OFFSET = Fields("CP_BV_BR_COUNT_OPS", "BR_OFFSET")
_CLEAR_COUNTS, _SET_OFFSET, _BR_WAITS, _BV_WAITS = 1, 2, 3, 4

#: CP_RESET_CONTEXT_STATE, by the descriptions of Mesa 25.3; those of 25.0 have two bits otherwise.
_RESETS_VALUES, _RESETS_COUNTS, _RESETS_STAMPS = 1 << 0, 1 << 2, 1 << 3

_SYNC_THREADS = Fields("CP_THREAD_CONTROL", "SYNC_THREADS")

_AT_LEAST, _ALL_BITS, _64_BITS = 5, (1 << 32) - 1, (1 << 64) - 1
_COMPARISONS = {1: "<", 2: "<=", 3: "=", 4: "!=", 5: ">=", 6: ">"}

#: Packets of a submit that are followed, and values of one address that are kept; packets that
#: write memory.
_MAX_STEPS, _MAX_VALUES, _MAX_MEMORY_WRITES = 1 << 16, 1 << 8, 1 << 16

_MEM_WRITE = Fields("CP_MEM_WRITE", "ADDR")
#: Dwords of an address in CP_MEM_WRITE.
_ADDRESS_DWORDS = 2

#: Where a value is: on the chip or not, and its address there.
_Cell = tuple[bool, int]


class _Value(NamedTuple):
    """A value of a cell; None: one that the GPU knows. ``is_wide``: all 64 bits of it are known."""

    value: int | None
    signal: PipeSignal | None
    is_wide: bool = False


class _Step:
    """Something that a pipe does. Returns whether the pipe can go on."""

    __slots__ = ("is_sure", "pipe", "place")

    def __init__(self, pipe: SinglePipe, place: PacketLocation, is_sure: bool) -> None:
        self.pipe = pipe
        self.place = place
        self.is_sure = is_sure

    def run(self, chip: _Chip) -> bool:
        """Do it."""
        raise NotImplementedError


class _Store(_Step):
    """A value is stored; None: one that the GPU knows. ``is_sum``: the sum of the time stamps."""

    __slots__ = ("cell", "is_sum", "is_wide", "value")

    def __init__(
        self, step: _Given, cell: _Cell, value: int | None, is_sum: bool, is_wide: bool
    ) -> None:
        super().__init__(*step)
        self.cell = cell
        self.value = value
        self.is_sum = is_sum
        self.is_wide = is_wide

    def run(self, chip: _Chip) -> bool:
        value = chip.stamps[self.pipe] if self.is_sum else self.value
        self._store(chip, self.cell, value, self.is_wide)
        return True

    def _store(self, chip: _Chip, cell: _Cell, value: int | None, is_wide: bool = False) -> None:
        values, signal = chip.values_of(cell), PipeSignal(self.pipe, self.place)
        if len(values) < _MAX_VALUES:
            values.append(_Value(value, signal, is_wide))
        else:
            values[-1] = _Value(None, signal)
        if self.is_sure:
            chip.seen[self.pipe, cell] = len(values) - 1


class _MemoryWrite(_Store):
    """A packet writes ``data`` to memory. Only what a pipe waits for counts."""

    __slots__ = ("address", "data")

    def __init__(self, step: _Given, address: int, data: Payload) -> None:
        super().__init__(step, (False, address), None, False, False)
        self.address = address
        self.data = data

    def run(self, chip: _Chip) -> bool:
        data, first = self.data, self.address
        for address in chip.awaited:
            if first <= address < first + 4 * data.captured:
                at = data.index + (address - first) // 4
                self._store(chip, (False, address), data.words.data[at])
        return True


class _Stamp(_Step):
    """The time stamp of a pipe is increased, or cleared (``added`` is None)."""

    __slots__ = ("added",)

    def __init__(self, step: _Given, added: int | None) -> None:
        super().__init__(*step)
        self.added = added

    def run(self, chip: _Chip) -> bool:
        before = chip.stamps[self.pipe]
        if not self.is_sure or self.added is None or before is None:
            chip.stamps[self.pipe] = 0 if self.is_sure and self.added is None else None
        else:
            chip.stamps[self.pipe] = before + self.added
        return True


class _Increment(_Step):
    """The count of ``counted`` is increased."""

    __slots__ = ("counted",)

    def __init__(self, step: _Given, counted: SinglePipe) -> None:
        super().__init__(*step)
        self.counted = counted

    def run(self, chip: _Chip) -> bool:
        chip.counts[self.counted].append(PipeSignal(self.pipe, self.place))
        return True


class _Reset(_Step):
    """Counts begin anew, with BR ahead by ``offset``; None: only the counts are cleared."""

    __slots__ = ("offset",)

    def __init__(self, step: _Given, offset: int | None) -> None:
        super().__init__(*step)
        self.offset = offset

    def run(self, chip: _Chip) -> bool:
        if self.offset is not None:
            chip.offset = self.offset if self.is_sure else None
        elif self.is_sure:
            for counted in chip.counts.values():
                counted.clear()
        return True


class _Forget(_Step):
    """What values on the chip are is not known any more."""

    __slots__ = ()

    def run(self, chip: _Chip) -> bool:
        chip.forget_chip()
        return True


class _Wait(_Step):
    """``PipeWait``, and how it is tried."""

    __slots__ = ("takes_unknown", "wait")

    def __init__(self, step: _Given, wait: PipeWait) -> None:
        super().__init__(*step)
        self.wait = wait
        #: The other pipe cannot go on, either: it stores no value before that is known to hold.
        self.takes_unknown = False

    def give_up(self, is_open: bool) -> None:
        """It cannot hold any more. ``is_open``: what would signal it may be missing."""
        is_memory = self.wait.kind == "memory"  # which the processor may write, too
        self.wait.state = "never" if self.is_sure and not is_open and not is_memory else "unknown"

    def _holds(self, signal: PipeSignal | None) -> bool:
        self.wait.signal = signal
        self.wait.state = "held before" if signal is None else "signalled"
        return True


class _Barrier(_Wait):
    """Until the other pipe is at the same packet."""

    __slots__ = ("number",)

    def __init__(self, step: _Given, wait: PipeWait, number: int) -> None:
        """``number``: how many such packets come before."""
        super().__init__(step, wait)
        self.number = number

    def run(self, chip: _Chip) -> bool:
        chip.arrived[self.pipe] = max(chip.arrived[self.pipe], self.number + 1)
        if chip.arrived[_OTHER[self.pipe]] <= self.number:
            return False
        return self._holds(PipeSignal(_OTHER[self.pipe], self.place))


class _ValueWait(_Wait):
    """For a value. ``reference``: None for the sum of the time stamps."""

    __slots__ = ("cell", "function", "mask", "reference", "signed")

    def __init__(
        self,
        step: _Given,
        wait: PipeWait,
        cell: _Cell,
        comparison: tuple[int, int, int | None, int],
    ) -> None:
        super().__init__(step, wait)
        self.cell = cell
        self.function, self.signed, self.reference, self.mask = comparison

    def run(self, chip: _Chip) -> bool:
        reference = chip.stamps[self.pipe] if self.reference is None else self.reference
        values, key = chip.values_of(self.cell), (self.pipe, self.cell)
        first, found = chip.seen.get(key, 0), None
        is_wide = self.mask > _ALL_BITS
        for position in range(first, len(values)):
            value, _, is_whole = values[position]
            if value is not None and reference is not None:
                if holds(self.function, self.signed, value, reference, self.mask):
                    found = position
                    break
                if is_whole or not is_wide:
                    continue
            found = position if found is None else found  # unless one is known to hold
        if found is None or (values[found].value is None and not self.takes_unknown):
            return False
        if self.is_sure:
            chip.seen[key] = found
        return self._holds(values[found].signal)


class _CountWait(_Wait):
    """For the count of the other pipe."""

    __slots__ = ()

    def run(self, chip: _Chip) -> bool:
        done, awaited = chip.counts[self.pipe], chip.counts[_OTHER[self.pipe]]
        ahead = 0
        if self.pipe == "BV":
            if chip.offset is None:
                self.wait.state = "unknown"
                return True
            ahead = chip.offset
        position = len(done) - ahead
        if position < 0:
            return self._holds(None)
        return position < len(awaited) and self._holds(awaited[position])


#: What all steps have: pipe, place, whether it is sure to be executed.
_Given = tuple[SinglePipe, "PacketLocation", bool]


class _Chip:
    """What both pipes see."""

    def __init__(self) -> None:
        #: By cell: values, one after another, with what wrote them. Zero at first.
        self._values: dict[_Cell, list[_Value]] = {}
        #: By pipe and cell: the first of its values that the pipe may still see.
        self.seen: dict[tuple[SinglePipe, _Cell], int] = {}
        self.stamps: dict[SinglePipe, int | None] = {"BR": 0, "BV": 0}
        self.counts: dict[SinglePipe, list[PipeSignal]] = {"BR": [], "BV": []}
        self.offset: int | None = None
        self._first: int | None = 0
        #: Addresses in memory that a pipe waits for.
        self.awaited: Collection[int] = ()
        #: How many ``_Barrier`` a pipe has come to.
        self.arrived: dict[SinglePipe, int] = {"BR": 0, "BV": 0}

    def values_of(self, cell: _Cell) -> list[_Value]:
        """The values of a cell."""
        if cell not in self._values:
            first = self._first if cell[0] else None
            self._values[cell] = [_Value(first, None, is_wide=first is not None)]
        return self._values[cell]

    def forget_chip(self) -> None:
        """What is on the chip is not known any more."""
        self._values = {cell: values for cell, values in self._values.items() if not cell[0]}
        self.seen = {key: at for key, at in self.seen.items() if not key[1][0]}
        self._first = None

    def forget(self) -> None:
        """Commands are missing."""
        self._values.clear()
        self.seen.clear()
        self._first = None
        self.offset = None
        for counted in self.counts.values():
            counted.clear()

    def end_submit(self) -> None:
        """Keep the last value of each cell."""
        self._values = {cell: values[-1:] for cell, values in self._values.items()}
        self.seen.clear()


class PipeWaits(Observer):
    """Collects ``waits``, in the order of the stream."""

    def __init__(self, walk: Walk, pass_now: Callable[[], int | None]) -> None:
        """``pass_now``: index of the pass that is open, or else of the next one."""
        self._walk = walk
        self._pass_now = pass_now
        self._steps: list[_Step] = []
        #: Of these steps, how many write memory, and how many ``_Barrier`` each pipe has.
        self._memory_writes = self._barriers = 0
        self._chip = _Chip()
        #: Commands of the submit are missing.
        self._is_open = False
        self._found: list[PipeWait] = []
        self._is_full = False

    @property
    def waits(self) -> list[PipeWait]:
        """Those that the other pipe signals, or nobody: not those for what a pipe does itself."""
        return [
            one
            for one in self._found
            if one.signal is None or one.signal.pipe != one.pipe
            if one.kind != "memory" or one.signal is not None
        ]

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """What waits in a submit is signalled in it, or was before."""
        if is_new_submit:
            self.finished()

    def commands_missing(self, gpuaddr: int) -> None:
        """They may signal anything."""
        self._is_open = True

    def commands_damaged(self, text: str) -> None:
        """The same."""
        self._is_open = True

    def finished(self) -> None:
        """A submit has ended: follow both pipes through it."""
        steps, self._steps = self._steps, []
        self._memory_writes = 0
        if steps:
            awaited = (one.cell for one in steps if isinstance(one, _ValueWait))
            self._chip.awaited = dict.fromkeys(at for on_chip, at in awaited if not on_chip)
            _follow(steps, self._chip, self._is_open)
            self._chip.end_submit()
        if self._is_open:
            self._chip.forget()
        self._is_open = False

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Of all packets that wait or signal."""
        return {
            "CP_EVENT_WRITE7": self._event,
            "CP_WAIT_REG_MEM": self._wait_for_value,
            "CP_WAIT_TIMESTAMP": self._wait_for_stamp,
            "CP_MODIFY_TIMESTAMP": self._modify_stamp,
            "CP_BV_BR_COUNT_OPS": self._count,
            "CP_RESET_CONTEXT_STATE": self._reset,
            "CP_THREAD_CONTROL": self._meet,
            "CP_MEM_WRITE": self._write_memory,
        }

    # -- packets ------------------------------------------------------------------------------

    def _given(self) -> list[_Given]:
        """Who executes the packet: one of the pipes, or each of them."""
        walk = self._walk
        if walk.pipe is None:
            return []
        if len(self._steps) - self._memory_writes >= _MAX_STEPS:
            self._is_open = True  # what follows is not known
            if not self._is_full:
                self._is_full = True
                text = f"waits between pipes after the first {_MAX_STEPS:,} steps of a submit"
                walk.machine.problems.truncate("", f"{text} are not followed")
            return []
        is_sure = walk.executed is Executed.YES and walk.pipe != "unknown"
        registers, place = walk.pipes.registers, walk.packet_location
        if registers == "both":
            return [("BR", place, is_sure), ("BV", place, is_sure)]
        return [(registers, place, is_sure)]

    def _event(self, payload: Payload) -> None:
        packets = self._walk.machine.packets
        source, on_chip, stores, counts_bv, counts_br = payload.read(packets[_EVENT])
        stores &= payload.count > 1
        if not (stores or counts_bv or counts_br):
            return
        counts: dict[SinglePipe, int] = {"BV": counts_bv, "BR": counts_br}
        counted = [pipe for pipe, is_counted in counts.items() if is_counted]
        for given in self._given():
            if stores:
                self._store(given, payload, source, bool(on_chip))
            for pipe in counted:
                if self._is_single or pipe == given[0]:
                    self._steps.append(_Increment(given, pipe))

    def _store(self, given: _Given, payload: Payload, source: int, on_chip: bool) -> None:
        fields = _EVENT_ON_CHIP if on_chip else _EVENT_IN_MEMORY
        address, value, upper = payload.read(self._walk.machine.packets[fields])
        is_wide = source == _USER_VALUE_OF_64_BITS
        known = value if source == _USER_VALUE else value | upper << 32 if is_wide else None
        is_sum = source == _TIMESTAMP_SUM
        self._steps.append(_Store(given, (on_chip, address), known, is_sum, is_wide))

    @property
    def _is_single(self) -> bool:
        """Whether one pipe executes alone: then it counts for either."""
        return self._walk.pipes.registers != "both"

    def _wait_for_value(self, payload: Payload) -> None:
        values = payload.read(self._walk.machine.packets[_WAIT_REG_MEM])
        function, signed, poll, address, reference, mask = values
        if poll not in (_POLL_MEMORY, _POLL_ON_CHIP) or function not in _COMPARISONS:
            return
        bits = "" if mask == _ALL_BITS else f" & {mask:#x}"
        wanted = f"{bits} {_COMPARISONS[function]} {reference:#x}"
        self._add_wait(poll == _POLL_ON_CHIP, address, wanted, (function, signed, reference, mask))

    def _wait_for_stamp(self, payload: Payload) -> None:
        packets = self._walk.machine.packets
        source, on_chip = payload.read(packets[_WAIT_TIMESTAMP])
        fields = _STAMP_ON_CHIP if on_chip else _STAMP_IN_MEMORY
        address, value, upper = payload.read(packets[fields])
        if source == _WAIT_FOR_SUM:
            sums = _AT_LEAST, 0, None, _ALL_BITS
            self._add_wait(bool(on_chip), address, " >= the time stamp", sums)
        elif source == _WAIT_FOR_32_BITS:
            comparison = _AT_LEAST, 1, value, _ALL_BITS
            self._add_wait(bool(on_chip), address, f" >= {value:#x}", comparison)
        elif source == _WAIT_FOR_64_BITS:
            value |= upper << 32
            comparison = _AT_LEAST, 0, value, _64_BITS
            self._add_wait(bool(on_chip), address, f" >= {value:#x}", comparison)

    def _add_wait(
        self, on_chip: bool, address: int, wanted: str, how: tuple[int, int, int | None, int]
    ) -> None:
        kind: WaitKind = "on-chip" if on_chip else "memory"
        text = f"{kind} value {address:#x}{wanted}"
        for given in self._given():
            wait = PipeWait(given[0], kind, text, given[1], self._pass_now(), address)
            self._found.append(wait)
            self._steps.append(_ValueWait(given, wait, (on_chip, address), how))

    def _modify_stamp(self, payload: Payload) -> None:
        added, operation = payload.read(self._walk.machine.packets[_MODIFY_TIMESTAMP])
        for given in self._given():
            self._steps.append(_Stamp(given, None if operation == _CLEAR_TIMESTAMP else added))

    def _count(self, payload: Payload) -> None:
        packets = self._walk.machine.packets
        (operation,) = payload.read(packets[_COUNT])
        for given in self._given():
            if operation == _CLEAR_COUNTS:
                self._steps.append(_Reset(given, None))
            elif operation == _SET_OFFSET:
                (offset,) = payload.read(packets[_COUNT_OFFSET])
                self._steps.append(_Reset(given, offset))
            elif operation in (_BR_WAITS, _BV_WAITS):
                waits: SinglePipe = "BR" if operation == _BR_WAITS else "BV"
                if given[0] != waits:
                    continue  # of both, one waits; of one alone, the packet means nothing
                text = f"count of {_OTHER[waits]}"
                wait = PipeWait(waits, "count", text, given[1], self._pass_now())
                self._found.append(wait)
                self._steps.append(_CountWait(given, wait))

    def _reset(self, payload: Payload) -> None:
        bits = payload.words.data[payload.index] if payload.captured else 0
        for given in self._given():
            if bits & _RESETS_VALUES:
                self._steps.append(_Forget(*given))
            if bits & _RESETS_COUNTS:
                self._steps.append(_Reset(given, None))
            if bits & _RESETS_STAMPS:
                self._steps.append(_Stamp(given, None))

    def _meet(self, payload: Payload) -> None:
        (syncs,) = payload.read(self._walk.machine.packets[_SYNC_THREADS])
        if not syncs or not self._given():
            return
        place, is_sure = self._walk.packet_location, self._walk.executed is Executed.YES
        for pipe in _OTHER:  # whichever executes what follows
            text = f"{_OTHER[pipe]} to be at the same packet"
            wait = PipeWait(pipe, "packet", text, place, self._pass_now())
            self._found.append(wait)
            self._steps.append(_Barrier((pipe, place, is_sure), wait, self._barriers))
        self._barriers += 1

    def _write_memory(self, payload: Payload) -> None:
        """A signal, if a pipe waits for what lies there."""
        if payload.captured <= _ADDRESS_DWORDS or self._memory_writes >= _MAX_MEMORY_WRITES:
            return
        (address,) = payload.read(self._walk.machine.packets[_MEM_WRITE])
        first = payload.index + _ADDRESS_DWORDS
        data = Payload(payload.words, first, payload.count - _ADDRESS_DWORDS)
        for given in self._given():
            self._memory_writes += 1
            self._steps.append(_MemoryWrite(given, address, data))


def _follow(steps: list[_Step], chip: _Chip, is_open: bool) -> None:
    """Run the steps of both pipes, each as far as it can, until all are done."""
    queues = [deque(step for step in steps if step.pipe == pipe) for pipe in _OTHER]
    order = {id(step): number for number, step in enumerate(steps)}
    while True:
        if _go_on(queues, chip):
            continue
        stuck = [queue[0] for queue in queues if queue]
        if not stuck:
            return
        if _take_unknown(stuck):
            continue
        # where both wait, the one that may not be executed, or else the first in the stream
        step = min(stuck, key=lambda one: (one.is_sure, order[id(one)]))
        assert isinstance(step, _Wait)
        step.give_up(is_open)
        for queue in queues:
            if queue and queue[0] is step:
                queue.popleft()


def _go_on(queues: list[deque[_Step]], chip: _Chip) -> bool:
    """Run each pipe up to a wait that does not hold. Returns whether any has moved."""
    moved = False
    for queue in queues:
        while queue and queue[0].run(chip):
            queue.popleft()
            moved = True
    return moved


def _take_unknown(stuck: list[_Step]) -> bool:
    """Have waits hold by values that are not known. Returns whether any may hold by that now."""
    waits = [step for step in stuck if isinstance(step, _Wait) and not step.takes_unknown]
    for wait in waits:
        wait.takes_unknown = True
    return bool(waits)
