# SPDX-License-Identifier: MIT
"""PipeWaits: what the pipes BR and BV wait for, and the packets of the other pipe that signal it.

A pipe waits for a value on the chip or in memory (CP_WAIT_REG_MEM), for a time stamp
(CP_WAIT_TIMESTAMP), for a count of the other pipe (CP_BV_BR_COUNT_OPS), or until the other one is
at the same packet (CP_THREAD_CONTROL with SYNC_THREADS). CP_EVENT_WRITE7 writes values and time
stamps, and counts; CP_MEM_WRITE writes memory. At the end of each submit both
pipes are followed in all orders in which they may run (cffpy.analysis.pipe_orders). Facts: turnip
of October 2025, the kernel's driver, and adreno_pm4.xml.

What is not known holds: a value that the GPU writes, and all after commands that were not captured.
Waits for a register (CP_WAIT_REG_EQ, CP_WAIT_REG_MEM) are for the GPU, not for the other pipe.
CP_WAIT_MEM_GTE and CP_WAIT_TWO_REGS are packets of a6xx alone, which has one pipe.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from cffpy.analysis.observer import Observer
from cffpy.analysis.pipe_orders import (
    OTHER_PIPE,
    Barrier,
    ClearCounts,
    CountWait,
    ForgetChip,
    Increment,
    PipeOrders,
    SetOffset,
    Store,
    ValueWait,
)
from cffpy.frame.execution import Executed, PipeWait, SinglePipe, WaitKind
from cffpy.pm4.reader import Fields, Payload

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cffpy.analysis.pipe_orders import Step
    from cffpy.analysis.walk import Walk
    from cffpy.capture.load import CommandStream
    from cffpy.frame.places import PacketLocation

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
_CLEAR_TIMESTAMP, _ADD_TO_LOCAL = 0, 2

_COUNT = Fields("CP_BV_BR_COUNT_OPS", "OP")
_COUNT_OFFSET = Fields("CP_BV_BR_COUNT_OPS", "BR_OFFSET")
_CLEAR_COUNTS, _SET_OFFSET, _BR_WAITS, _BV_WAITS = 1, 2, 3, 4

#: CP_RESET_CONTEXT_STATE, by the descriptions of Mesa 25.3; those of 25.0 have two bits otherwise.
_RESETS_VALUES, _RESETS_COUNTS, _RESETS_STAMPS = 1 << 0, 1 << 2, 1 << 3

_SYNC_THREADS = Fields("CP_THREAD_CONTROL", "SYNC_THREADS")

_AT_LEAST, _ALL_BITS, _64_BITS = 5, (1 << 32) - 1, (1 << 64) - 1
_COMPARISONS = {1: "<", 2: "<=", 3: "=", 4: "!=", 5: ">=", 6: ">"}

#: Steps of a submit that are followed, and of its packets that write memory.
_MAX_STEPS, _MAX_MEMORY_WRITES = 1 << 16, 1 << 16

#: Values in the data of one packet that a pipe waits for, at most.
_MAX_AWAITED = 1 << 8

_MEM_WRITE = Fields("CP_MEM_WRITE", "ADDR")
#: Dwords of an address in CP_MEM_WRITE.
_ADDRESS_DWORDS = 2

#: What all steps have: pipe, place, whether it is sure to be executed.
_Given = tuple[SinglePipe, "PacketLocation", bool]


class PipeWaits(Observer):
    """Collects ``waits``, in the order of the stream."""

    def __init__(self, walk: Walk, pass_now: Callable[[], int | None]) -> None:
        """``pass_now``: index of the pass that is open, or else of the next one."""
        self._walk = walk
        self._pass_now = pass_now
        self._steps: list[Step] = []
        #: Of these steps, those that write memory, from this address on.
        self._memory_writes: list[tuple[Store, int, Payload]] = []
        #: How many ``Barrier`` each pipe has.
        self._barriers = 0
        #: By pipe: the sum of its time stamps; None: not known.
        self._stamps: dict[SinglePipe, int | None] = {"BR": 0, "BV": 0}
        self._orders = PipeOrders()
        #: Commands of the submit are missing.
        self._is_open = False
        self._found: list[PipeWait] = []
        self._is_full = False

    @property
    def waits(self) -> list[PipeWait]:
        """Those that the other pipe signals, or nobody: not those for what a pipe does itself."""
        return [
            wait
            for wait in self._found
            if wait.signal is None or wait.signal.pipe != wait.pipe or wait.state == "race"
            if wait.kind != "memory" or wait.signal is not None
        ]

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """What waits in a submit is signalled in it, or was before."""
        if is_new_submit:
            self.finished()

    def commands_missing(self, gpuaddr: int) -> None:
        """Missing commands may signal anything."""
        self._is_open = True

    def commands_damaged(self, text: str) -> None:
        """Damaged commands may signal anything."""
        self._is_open = True

    def finished(self) -> None:
        """A submit has ended: follow both pipes through it."""
        steps, self._steps = self._steps, []
        self._barriers = 0
        if steps:
            self._find_awaited(steps)
            if not self._orders.follow(steps, self._is_open):
                text = "not all orders of the pipes BR and BV are followed: some waits are unknown"
                self._walk.machine.problems.truncate("", text)
        if self._is_open:
            self._orders.forget()
            self._stamps = {"BR": None, "BV": None}
        self._is_open = False

    def _find_awaited(self, steps: list[Step]) -> None:
        """Give the packets that write memory the values that a pipe waits for."""
        writes, self._memory_writes = self._memory_writes, []
        awaited = {step.cell for step in steps if isinstance(step, ValueWait)}
        addresses = sorted(address for is_on_chip, address in awaited if not is_on_chip)
        for store, first, data in writes:
            begin = bisect_left(addresses, first)
            end = bisect_left(addresses, first + 4 * data.captured)
            store.set_values(
                {
                    (False, at): (data.words.data[data.index + (at - first) // 4], False)
                    for at in addresses[begin : min(end, begin + _MAX_AWAITED)]
                }
            )

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Of all packets that wait or signal."""
        return {
            "CP_EVENT_WRITE7": self._event,
            "CP_WAIT_REG_MEM": self._wait_for_value,
            "CP_WAIT_TIMESTAMP": self._wait_for_stamp,
            "CP_MODIFY_TIMESTAMP": self._modify_stamp,
            "CP_GLOBAL_TIMESTAMP": self._set_stamp,
            "CP_LOCAL_TIMESTAMP": self._set_stamp,
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
        if len(self._steps) - len(self._memory_writes) >= _MAX_STEPS:
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
                    self._steps.append(Increment(*given, pipe))

    def _store(self, given: _Given, payload: Payload, source: int, on_chip: bool) -> None:
        fields = _EVENT_ON_CHIP if on_chip else _EVENT_IN_MEMORY
        address, value, upper = payload.read(self._walk.machine.packets[fields])
        is_wide = source == _USER_VALUE_OF_64_BITS
        known = value if source == _USER_VALUE else value | upper << 32 if is_wide else None
        if source == _TIMESTAMP_SUM:
            known = self._stamps[given[0]]
        self._steps.append(Store(*given, {(on_chip, address): (known, is_wide)}))

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
            self._add_wait(bool(on_chip), address, " >= the time stamp", None)
        elif source == _WAIT_FOR_32_BITS:
            comparison = _AT_LEAST, 1, value, _ALL_BITS
            self._add_wait(bool(on_chip), address, f" >= {value:#x}", comparison)
        elif source == _WAIT_FOR_64_BITS:
            value |= upper << 32
            comparison = _AT_LEAST, 0, value, _64_BITS
            self._add_wait(bool(on_chip), address, f" >= {value:#x}", comparison)

    def _add_wait(
        self, on_chip: bool, address: int, wanted: str, how: tuple[int, int, int, int] | None
    ) -> None:
        """``how``: function, whether signed, reference, mask; None: for the pipe's time stamp."""
        kind: WaitKind = "on-chip" if on_chip else "memory"
        text = f"{kind} value {address:#x}{wanted}"
        for given in self._given():
            comparison = how or (_AT_LEAST, 0, self._stamps[given[0]], _ALL_BITS)
            wait = PipeWait(given[0], kind, text, given[1], self._pass_now(), address)
            self._found.append(wait)
            self._steps.append(ValueWait(*given, wait, (on_chip, address), comparison))

    def _modify_stamp(self, payload: Payload) -> None:
        added, operation = payload.read(self._walk.machine.packets[_MODIFY_TIMESTAMP])
        if operation not in (_CLEAR_TIMESTAMP, _ADD_TO_LOCAL):
            self._set_stamp(payload)
            return
        for pipe, _, is_sure in self._given():
            before = self._stamps[pipe] if is_sure else None
            after = None if before is None else before + added
            self._stamps[pipe] = 0 if is_sure and operation == _CLEAR_TIMESTAMP else after

    def _set_stamp(self, payload: Payload) -> None:
        """The global time stamp changes; when the other pipe sees it, nobody knows."""
        if self._given():
            self._stamps = {"BR": None, "BV": None}
            self._is_open = True

    def _count(self, payload: Payload) -> None:
        packets = self._walk.machine.packets
        (operation,) = payload.read(packets[_COUNT])
        for given in self._given():
            if operation == _CLEAR_COUNTS:
                self._steps.append(ClearCounts(*given))
            elif operation == _SET_OFFSET:
                (offset,) = payload.read(packets[_COUNT_OFFSET])
                self._steps.append(SetOffset(*given, offset))
            elif operation in (_BR_WAITS, _BV_WAITS):
                waits: SinglePipe = "BR" if operation == _BR_WAITS else "BV"
                if given[0] != waits:
                    continue  # of both, one waits; of one alone, the packet means nothing
                text = f"count of {OTHER_PIPE[waits]}"
                wait = PipeWait(waits, "count", text, given[1], self._pass_now())
                self._found.append(wait)
                self._steps.append(CountWait(*given, wait))

    def _reset(self, payload: Payload) -> None:
        bits = payload.words.data[payload.index] if payload.captured else 0
        for given in self._given():
            if bits & _RESETS_VALUES:
                self._steps.append(ForgetChip(*given))
            if bits & _RESETS_COUNTS:
                self._steps.append(ClearCounts(*given))
            if bits & _RESETS_STAMPS:
                self._stamps[given[0]] = 0 if given[2] else None

    def _meet(self, payload: Payload) -> None:
        (syncs,) = payload.read(self._walk.machine.packets[_SYNC_THREADS])
        if not syncs or not self._given():
            return
        place, is_sure = self._walk.packet_location, self._walk.executed is Executed.YES
        for pipe in OTHER_PIPE:  # whichever executes what follows
            text = f"{OTHER_PIPE[pipe]} to be at the same packet"
            wait = PipeWait(pipe, "packet", text, place, self._pass_now())
            self._found.append(wait)
            self._steps.append(Barrier(pipe, place, is_sure, wait, self._barriers))
        self._barriers += 1

    def _write_memory(self, payload: Payload) -> None:
        """A signal, if a pipe waits for what lies there."""
        if payload.captured <= _ADDRESS_DWORDS or len(self._memory_writes) >= _MAX_MEMORY_WRITES:
            return
        (address,) = payload.read(self._walk.machine.packets[_MEM_WRITE])
        first = payload.index + _ADDRESS_DWORDS
        data = Payload(payload.words, first, payload.count - _ADDRESS_DWORDS)
        for given in self._given():
            store = Store(*given, {})
            self._memory_writes.append((store, address, data))
            self._steps.append(store)
