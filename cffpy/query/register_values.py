# SPDX-License-Identifier: MIT
"""Cursor: the values of a register that a filter reads, at one action after another."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.query.names import Convert, RegisterPlace

#: Stands for a value that only the GPU knows.
_UNKNOWN = -1


class RegisterChanges(Protocol):
    """The changes of registers: of a pipe's history, of draws, of stored rows."""

    def changes(self, register: int) -> tuple[Sequence[int], Sequence[int]]:
        """Positions of actions (``Action.order``), rising, and the dword's value from each on.

        A value is -1 where only the GPU knows it. Both are empty for what was never written.
        """


class Turns(Protocol):
    """Which changes actions see, where pipes have registers of their own: a ``RegisterStore``."""

    def turn(self, order: int) -> tuple[RegisterChanges, int, int]:
        """The changes that an action sees; the first action around it that sees them, the end."""

    def last_action(self, order: int, before: int) -> int:
        """The last action up to ``before`` that sees the same changes as ``order``; -1: none."""


class Cursor:
    """The value of a register, or of a field of it, at one action after another."""

    __slots__ = (
        "_begin",
        "_convert",
        "_end",
        "_of_pipes",
        "_orders",
        "_turns",
        "_value",
        "_values",
        "place",
    )

    def __init__(self, place: RegisterPlace, convert: Convert) -> None:
        self.place = place
        self._convert = convert
        self._orders: Sequence[int] = ()
        self._values: Sequence[int] = ()
        #: ``_value`` is the value of the actions from ``_begin`` up to ``_end``.
        self._begin = self._end = 0
        self._value: int | float | bool | None = None
        #: Whose changes are read where there are two pipes; those that were read, by ``id``.
        self._turns: Turns | None = None
        self._of_pipes: dict[int, tuple[Sequence[int], Sequence[int]]] = {}

    def attach(self, changes: RegisterChanges, turns: Turns | None = None) -> None:
        """Read these changes from now on. ``turns``: those of pipes are read in their place."""
        self._turns, self._of_pipes = turns, {}
        self._orders, self._values = self._read(changes)
        self._begin = self._end = 0

    def _read(self, changes: RegisterChanges) -> tuple[Sequence[int], Sequence[int]]:
        lower = changes.changes(self.place.offset)
        if self.place.upper is None:
            return lower
        return self._join(*lower, *changes.changes(self.place.upper))

    def _join(
        self,
        lower_orders: Sequence[int],
        lower_values: Sequence[int],
        orders: Sequence[int],
        values: Sequence[int],
    ) -> tuple[Sequence[int], Sequence[int]]:
        """The changes of 64 bits, of those of both dwords."""
        lower = dict(zip(lower_orders, lower_values, strict=True))
        upper = dict(zip(orders, values, strict=True))
        low = _UNKNOWN
        high = _UNKNOWN if self.place.needs_upper else 0
        joined: list[int] = []
        first = lower_orders[0] if lower_orders else None
        steps = [] if first is None else sorted({*lower, *(one for one in upper if one >= first)})
        if first is not None:
            earlier = bisect_right(orders, first)
            high = values[earlier - 1] if earlier else high
        for order in steps:
            low = lower.get(order, low)
            high = upper.get(order, high)
            joined.append(_UNKNOWN if _UNKNOWN in (low, high) else low | high << 32)
        return steps, joined

    def at(self, order: int) -> int | float | bool | None:
        """The value; None where it is unknown or was never written."""
        if not self._begin <= order < self._end:
            self._seek(order)
        return self._value

    def _seek(self, order: int) -> None:
        begin, end = -1, order + (1 << 62)
        if self._turns is not None:
            begin, end = self._turn(self._turns, order)
        orders = self._orders
        position = bisect_right(orders, order)
        self._begin = max(begin, orders[position - 1]) if position else begin
        self._end = min(end, orders[position]) if position < len(orders) else end
        bits = self._values[position - 1] if position else _UNKNOWN
        self._value = None if bits == _UNKNOWN else self._convert(bits)

    def _turn(self, turns: Turns, order: int) -> tuple[int, int]:
        """Read what an action sees; the first action that sees the same, and the end."""
        changes, begin, end = turns.turn(order)
        known = self._of_pipes.get(id(changes))
        if known is None:  # ``turns`` keeps the object
            known = self._of_pipes[id(changes)] = self._read(changes)
        self._orders, self._values = known
        return begin, end

    def changes(self) -> Iterator[tuple[int, int | None]]:
        """Positions of actions, and the bits from each on; None where only the GPU knows them."""
        for order, bits in zip(self._orders, self._values, strict=True):
            yield order, None if bits == _UNKNOWN else bits

    def is_written(self, order: int) -> bool:
        """Whether anything wrote it before this action."""
        orders = self._written(order)
        return bool(orders) and orders[0] <= order

    def is_written_since(self, before: int, order: int) -> bool:
        """Whether anything wrote it after the action ``before`` and up to this one.

        Of an action of one pipe, what this pipe has written since its last action up to ``before``.
        """
        orders = self._written(order)
        if self._turns is not None:
            before = self._turns.last_action(order, before)
        return bisect_right(orders, before) < bisect_left(orders, order + 1)

    def _written(self, order: int) -> Sequence[int]:
        """Where what the action reads was written."""
        if self._turns is not None:
            self.at(order)
        return self._orders
