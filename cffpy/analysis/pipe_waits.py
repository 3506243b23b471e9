# SPDX-License-Identifier: MIT
"""PipeWaits: what the pipes BR and BV wait for, and the packets of the other pipe that signal it.

A pipe waits for a value on the chip or in memory (CP_WAIT_REG_MEM), for a time stamp
(CP_WAIT_TIMESTAMP), or for a count of the other pipe (CP_BV_BR_COUNT_OPS). CP_EVENT_WRITE7 writes
values and time stamps, and counts. At the end of each submit both pipes are followed as they run:
each up to a wait that does not hold yet, then the other one. Where neither can go on, a wait has no
signal: the GPU hangs there. Facts: turnip of October 2025, and adreno_pm4.xml.

What is not known holds: a value that the GPU writes, and all after commands that were not captured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.computation import holds
from cffpy.analysis.observer import Observer
from cffpy.frame.execution import Executed
from cffpy.frame.pipe_waits import PipeSignal, PipeWait, SinglePipe, WaitKind
from cffpy.pm4.fields import Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cffpy.analysis.walk import Walk
    from cffpy.capture.load import CommandStream
    from cffpy.cp.sink import Payload
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
_EVENT_ON_CHIP = Fields("CP_EVENT_WRITE7", "ONCHIP_ADDR_0", "PAYLOAD_0", variant="EV_DST_ONCHIP")
_EVENT_IN_MEMORY = Fields("CP_EVENT_WRITE7", "1", "PAYLOAD_0", variant="EV_DST_RAM")
_USER_VALUE, _TIMESTAMP_SUM = 0, 2  # WRITE_SRC, event_write_src

_WAIT_REG_MEM = Fields(
    "CP_WAIT_REG_MEM", "FUNCTION", "SIGNED_COMPARE", "POLL", "POLL_ADDR", "REF", "MASK"
)
_POLL_MEMORY, _POLL_ON_CHIP = 1, 3

_WAIT_TIMESTAMP = Fields("CP_WAIT_TIMESTAMP", "WAIT_VALUE_SRC", "WAIT_DST")
_STAMP_ON_CHIP = Fields("CP_WAIT_TIMESTAMP", "ONCHIP_ADDR_0", "SRC_0", variant="TS_WAIT_ONCHIP")
_STAMP_IN_MEMORY = Fields("CP_WAIT_TIMESTAMP", "ADDR", "SRC_0", variant="TS_WAIT_RAM")
_WAIT_FOR_32_BITS, _WAIT_FOR_SUM = 0, 2  # WAIT_VALUE_SRC, ts_wait_value_src

_MODIFY_TIMESTAMP = Fields("CP_MODIFY_TIMESTAMP", "ADD", "OP")
_CLEAR_TIMESTAMP = 0

_COUNT = Fields("CP_BV_BR_COUNT_OPS", "OP")
_COUNT_OFFSET = Fields("CP_BV_BR_COUNT_OPS", "BR_OFFSET")
_CLEAR_COUNTS, _SET_OFFSET, _BR_WAITS, _BV_WAITS = 1, 2, 3, 4

_RESET = Fields("CP_RESET_CONTEXT_STATE", "CLEAR_ON_CHIP_TS")

_EQUAL, _AT_LEAST, _ALL_BITS = 3, 5, 0xFFFFFFFF
_COMPARISONS = {1: "<", 2: "<=", 3: "=", 4: "!=", 5: ">=", 6: ">"}

#: Packets of a submit that are followed, and values of one address that are kept.
_MAX_STEPS, _MAX_VALUES = 1 << 16, 1 << 8

#: Where a value is: on the chip or not, and its address there.
_Cell = tuple[bool, int]


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

    __slots__ = ("cell", "is_sum", "value")

    def __init__(self, step: _Given, cell: _Cell, value: int | None, is_sum: bool) -> None:
        super().__init__(*step)
        self.cell = cell
        self.value = value
        self.is_sum = is_sum

    def run(self, chip: _Chip) -> bool:
        value = chip.stamps[self.pipe] if self.is_sum else self.value
        values = chip.values_of(self.cell)
        if len(values) < _MAX_VALUES:
            values.append((value, PipeSignal(self.pipe, self.place)))
        else:
            values[-1] = None, PipeSignal(self.pipe, self.place)
        if self.is_sure:
            chip.seen[self.pipe, self.cell] = len(values) - 1
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
    """Nothing is known of values any more."""

    __slots__ = ()

    def run(self, chip: _Chip) -> bool:
        chip.forget()
        return True


class _Wait(_Step):
    """``PipeWait``, and how it is tried."""

    __slots__ = ("wait",)

    def __init__(self, step: _Given, wait: PipeWait) -> None:
        super().__init__(*step)
        self.wait = wait

    def give_up(self, is_open: bool) -> None:
        """It cannot hold any more. ``is_open``: what would signal it may be missing."""
        is_memory = self.wait.kind == "memory"  # which the processor may write, too
        self.wait.state = "never" if self.is_sure and not is_open and not is_memory else "unknown"

    def _holds(self, signal: PipeSignal | None) -> bool:
        self.wait.signal = signal
        self.wait.state = "held before" if signal is None else "signalled"
        return True


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
        for position in range(first, len(values)):
            value, _ = values[position]
            if value is None or reference is None:
                found = position if found is None else found  # unless one is known to hold
            elif holds(self.function, self.signed, value, reference, self.mask):
                found = position
                break
        if found is None:
            return False
        if self.is_sure:
            chip.seen[key] = found
        return self._holds(values[found][1])


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
        self._values: dict[_Cell, list[tuple[int | None, PipeSignal | None]]] = {}
        #: By pipe and cell: the first of its values that the pipe may still see.
        self.seen: dict[tuple[SinglePipe, _Cell], int] = {}
        self.stamps: dict[SinglePipe, int | None] = {"BR": 0, "BV": 0}
        self.counts: dict[SinglePipe, list[PipeSignal]] = {"BR": [], "BV": []}
        self.offset: int | None = None
        self._first: int | None = 0

    def values_of(self, cell: _Cell) -> list[tuple[int | None, PipeSignal | None]]:
        """The values of a cell."""
        if cell not in self._values:
            self._values[cell] = [(self._first if cell[0] else None, None)]
        return self._values[cell]

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
        if steps:
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
        }

    # -- packets ------------------------------------------------------------------------------

    def _given(self) -> list[_Given]:
        """Who executes the packet: one of the pipes, or each of them."""
        walk = self._walk
        if walk.pipe is None:
            return []
        if len(self._steps) >= _MAX_STEPS:
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
        address, value = payload.read(self._walk.machine.packets[fields])
        known = value if source == _USER_VALUE else None
        self._steps.append(_Store(given, (on_chip, address), known, source == _TIMESTAMP_SUM))

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
        address, value = payload.read(packets[_STAMP_ON_CHIP if on_chip else _STAMP_IN_MEMORY])
        if source == _WAIT_FOR_SUM:
            sums = _AT_LEAST, 0, None, _ALL_BITS
            self._add_wait(bool(on_chip), address, " >= the time stamp", sums)
        elif source == _WAIT_FOR_32_BITS:
            comparison = _AT_LEAST, 0, value, _ALL_BITS
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
        (clears,) = payload.read(self._walk.machine.packets[_RESET])
        if clears:
            self._steps.extend(_Forget(*given) for given in self._given())


def _follow(steps: list[_Step], chip: _Chip, is_open: bool) -> None:
    """Run the steps of both pipes, each as far as it can, until all are done."""
    queues: dict[SinglePipe, list[_Step]] = {
        pipe: [step for step in steps if step.pipe == pipe] for pipe in _OTHER
    }
    at: dict[SinglePipe, int] = dict.fromkeys(queues, 0)
    order = {id(step): number for number, step in enumerate(steps)}
    while True:
        moved = False
        for pipe, queue in queues.items():
            while at[pipe] < len(queue) and queue[at[pipe]].run(chip):
                at[pipe] += 1
                moved = True
        if moved:
            continue
        stuck = [queue[at[pipe]] for pipe, queue in queues.items() if at[pipe] < len(queue)]
        if not stuck:
            return
        # where both wait, the one that may not be executed, or else the first in the stream
        step = min(stuck, key=lambda one: (one.is_sure, order[id(one)]))
        assert isinstance(step, _Wait)
        step.give_up(is_open)
        at[step.pipe] += 1
