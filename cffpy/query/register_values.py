# SPDX-License-Identifier: MIT
"""Registers that a filter reads: their changes, recorded in a walk, and their values at actions."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Protocol

from cffpy.analysis.observer import Observer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from cffpy.analysis.pipes import PipeRegisters
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.cp.stored import StoredRegisters
    from cffpy.frame.action import Action
    from cffpy.frame.places import ExecutedStream, PacketLocation
    from cffpy.query.names import Convert, RegisterPlace
    from cffpy.regdb.database import Database

#: Stands for a value that only the GPU knows.
_UNKNOWN = -1


class RegisterChanges(Protocol):
    """The changes of registers: what ``DrawRegisters`` and ``SelectedRegisters`` record."""

    def changes(self, register: int) -> tuple[Sequence[int], Sequence[int]]:
        """Positions of actions (``Action.order``), rising, and the dword's value from each on.

        A value is -1 where only the GPU knows it. Both are empty for what was never written.
        """


class PipeChanges:
    """The changes of each pipe's registers, where BR and BV have registers of their own.

    The values of one action after another differ between the pipes, though nobody writes.
    """

    def __init__(self, last: list[int | None], orders: Mapping[int, Sequence[int]]) -> None:
        """``last``: values at the last action; ``orders``: the changes so far, of both pipes."""
        self._seen = {"BR": last, "BV": last}
        self._filled: dict[str, set[int]] = {"BR": set(), "BV": set()}
        self._orders = {pipe: {one: [*orders[one]] for one in orders} for pipe in self._seen}
        #: The first action of BV, the first one after it that is not, and so on.
        self._turns: list[int] = []

    def fill(self, pipe: PipeRegisters, registers: set[int]) -> None:
        """This pipe, or both, has written registers since its last action."""
        for one in self._seen if pipe == "both" else (pipe,):
            self._filled[one] |= registers

    def act(self, pipe: PipeRegisters, order: int, values: Mapping[int, int | None]) -> None:
        """An action has the values of this pipe; with "both", those of BR."""
        reader = "BV" if pipe == "BV" else "BR"
        if (reader == "BV") != len(self._turns) % 2:
            self._turns.append(order)
        filled, orders, now = self._filled[reader], self._orders[reader], [*values.values()]
        for register, value, last in zip(values, now, self._seen[reader], strict=True):
            if value != last or register in filled:
                orders[register].append(order)
        self._seen[reader] = now
        filled.clear()

    def of(self, register: int, order: int) -> Sequence[int]:
        """The changes of a register that an action has, its pipe's: positions of actions."""
        reader = "BV" if bisect_right(self._turns, order) % 2 else "BR"
        return self._orders[reader].get(register, ())


class SelectedRegisters(Observer):
    """Records some registers at every action that is executed, as changes.

    A walk costs little more with it than without, however many registers change.
    """

    def __init__(self, walk: Walk, choose: Callable[[Database], Iterable[int]], most: int) -> None:
        """``choose``: the registers, by the database of the GPU. ``most``: changes to keep."""
        self._walk = walk
        self._choose = choose
        self._left = most
        self._registers: list[int] = []
        self._last: list[int | None] = []
        self._changes: dict[int, tuple[array[int], array[int]]] = {}
        #: Registers that the GPU has filled since the last action.
        self._filled: set[int] = set()
        #: None while both pipes have the same registers.
        self.pipes: PipeChanges | None = None

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Look up the registers. Those of an earlier GPU of the same file are kept."""
        self.pipes = None
        for register in self._choose(database):
            if register not in self._changes:
                self._changes[register] = array("q"), array("q")
                self._registers.append(register)
                self._last.append(None)

    def pipe_changes(self, registers: PipeRegisters) -> None:
        """What was written is written by the pipe that has executed."""
        if registers == "both" and not self._walk.pipes.are_apart:
            return
        if self.pipes is None:
            orders = {register: orders for register, (orders, _) in self._changes.items()}
            self.pipes = PipeChanges(self._last, orders)
        self.pipes.fill(self._walk.pipes.registers, self._filled)
        self._filled.clear()

    def registers_unknown(self, registers: range, location: PacketLocation) -> None:
        """The GPU fills registers."""
        self._filled.update(one for one in self._registers if one in registers)

    def action(self, action: Action) -> None:
        """Compare with the action before."""
        if not self._registers or not action.execution.is_possible or self._left < 0:
            return
        now = list(map(self._walk.machine.state.registers.get, self._registers))
        if self.pipes is not None:
            pipe = self._walk.pipes.registers
            self.pipes.fill(pipe, self._filled)
            self.pipes.act(pipe, action.order, dict(zip(self._registers, now, strict=True)))
        if now == self._last and not self._filled:
            return
        for register, value, last in zip(self._registers, now, self._last, strict=True):
            if value != last or register in self._filled:
                self._record(register, action.order, _UNKNOWN if value is None else value)
        self._filled.clear()
        self._last = now
        if self._left < 0:
            text = f"filters see the registers of the first {action.order} actions only"
            self._walk.machine.problems.truncate("", text)

    def _record(self, register: int, order: int, value: int) -> None:
        orders, values = self._changes[register]
        orders.append(order)
        values.append(value)
        self._left -= 1

    def changes(self, register: int) -> tuple[Sequence[int], Sequence[int]]:
        """As ``RegisterChanges`` has it."""
        return self._changes.get(register, ((), ()))


class SelectedWrites(SelectedRegisters):
    """The same with writes that change nothing, for filters that ask for writes."""

    def registers_written(self, registers: range, location: PacketLocation, ndwords: int) -> None:
        """Each write counts as a change."""
        self._filled.update(one for one in self._registers if one in registers)

    def registers_stored(
        self, stored: StoredRegisters, stream: ExecutedStream, caller: PacketLocation | None
    ) -> None:
        """The same for registers that are stored at once, so that streams are replayed."""
        registers = stored.registers
        self._filled.update(one for one in self._registers if one in registers)


class Cursor:
    """The value of a register, or of a field of it, at one action after another."""

    __slots__ = ("_begin", "_convert", "_end", "_orders", "_pipes", "_value", "_values", "place")

    def __init__(self, place: RegisterPlace, convert: Convert) -> None:
        self.place = place
        self._convert = convert
        self._orders: Sequence[int] = ()
        self._values: Sequence[int] = ()
        #: ``_value`` is the value of the actions from ``_begin`` up to ``_end``.
        self._begin = self._end = 0
        self._value: int | float | bool | None = None
        self._pipes: PipeChanges | None = None

    def attach(self, changes: RegisterChanges, pipes: PipeChanges | None = None) -> None:
        """Read these changes from now on. ``pipes``: whose registers they are, if there are two."""
        self._pipes = pipes
        self._orders, self._values = changes.changes(self.place.offset)
        if self.place.upper is not None:
            upper = changes.changes(self.place.upper)
            self._join(*upper)
        self._begin = self._end = 0

    def _join(self, orders: Sequence[int], values: Sequence[int]) -> None:
        """Make values of 64 bits, of those of the upper dword."""
        lower = dict(zip(self._orders, self._values, strict=True))
        upper = dict(zip(orders, values, strict=True))
        low = _UNKNOWN
        high = _UNKNOWN if self.place.needs_upper else 0
        joined: list[int] = []
        first = self._orders[0] if self._orders else None
        steps = [] if first is None else sorted({*lower, *(one for one in upper if one >= first)})
        if first is not None:
            earlier = bisect_right(orders, first)
            high = values[earlier - 1] if earlier else high
        for order in steps:
            low = lower.get(order, low)
            high = upper.get(order, high)
            joined.append(_UNKNOWN if _UNKNOWN in (low, high) else low | high << 32)
        self._orders, self._values = steps, joined

    def at(self, order: int) -> int | float | bool | None:
        """The value; None where it is unknown or was never written."""
        if not self._begin <= order < self._end:
            self._seek(order)
        return self._value

    def _seek(self, order: int) -> None:
        orders = self._orders
        position = bisect_right(orders, order)
        self._begin = orders[position - 1] if position else -1
        self._end = orders[position] if position < len(orders) else order + (1 << 62)
        bits = self._values[position - 1] if position else _UNKNOWN
        self._value = None if bits == _UNKNOWN else self._convert(bits)

    def changes(self) -> Iterator[tuple[int, int | None]]:
        """Positions of actions, and the bits from each on; None where only the GPU knows them."""
        for order, bits in zip(self._orders, self._values, strict=True):
            yield order, None if bits == _UNKNOWN else bits

    def bits(self, order: int) -> int | None:
        """The register's value as it was written."""
        position = bisect_right(self._orders, order)
        bits = self._values[position - 1] if position else _UNKNOWN
        return None if bits == _UNKNOWN else bits

    def is_written(self, order: int) -> bool:
        """Whether anything wrote it before this action."""
        orders = next(self._written(order))
        return bool(orders) and orders[0] <= order

    def is_written_since(self, before: int, order: int) -> bool:
        """Whether anything wrote it after the action ``before`` and up to this one."""
        return any(
            bisect_right(orders, before) < bisect_left(orders, order + 1)
            for orders in self._written(order)
        )

    def _written(self, order: int) -> Iterator[Sequence[int]]:
        """Where what the action reads was written, of one or two dwords."""
        if self._pipes is None:
            yield self._orders
            return
        for register in (self.place.offset, self.place.upper):
            if register is not None:
                yield self._pipes.of(register, order)
