# SPDX-License-Identifier: MIT
"""What reads the values that a filter names, at one action after another.

``Cursor`` reads a register. ``SlotCursor`` reads a field of an instruction that sets state, or a
register, of an Intel capture; ``query.instructions`` looks these names up.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from cffpy.query.names import Words

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cffpy.frame.binding import Binding
    from cffpy.frame.field import FieldValue
    from cffpy.query.names import Convert, RegisterPlace
    from cffpy.query.syntax import Path

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
        "_convert",
        "_of_pipes",
        "_orders",
        "_turns",
        "_value",
        "_values",
        "begin",
        "bits",
        "end",
        "place",
    )

    def __init__(self, place: RegisterPlace, convert: Convert) -> None:
        self.place = place
        self._convert = convert
        self._orders: Sequence[int] = ()
        self._values: Sequence[int] = ()
        #: ``_value`` is the value of the actions from ``begin`` up to ``end``, ``bits`` are its
        #: bits: -1 where only the GPU knows them, None where nothing wrote them.
        self.begin = self.end = 0
        self.bits: int | None = None
        self._value: int | float | bool | None = None
        #: Whose changes are read where there are two pipes; those that were read, by ``id``.
        self._turns: Turns | None = None
        self._of_pipes: dict[int, tuple[Sequence[int], Sequence[int]]] = {}

    def attach(self, changes: RegisterChanges, turns: Turns | None = None) -> None:
        """Read these changes from now on. ``turns``: those of pipes are read in their place."""
        self._turns, self._of_pipes = turns, {}
        self._orders, self._values = self._read(changes)
        self.begin = self.end = 0

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
        if not self.begin <= order < self.end:
            self.seek(order)
        return self._value

    def seek(self, order: int) -> None:
        """Go to an action: ``begin``, ``end`` and ``bits`` are of what it sees."""
        begin, end = -1, order + (1 << 62)
        if self._turns is not None:
            begin, end = self._turn(self._turns, order)
        orders = self._orders
        position = bisect_right(orders, order)
        self.begin = max(begin, orders[position - 1]) if position else begin
        self.end = min(end, orders[position]) if position < len(orders) else end
        self.bits = bits = self._values[position - 1] if position else None
        self._value = None if bits is None or bits == _UNKNOWN else self._convert(bits)

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


class DrawnState(Protocol):
    """What instructions have set at the draws of a capture."""

    def state_value(self, slot: str, field: str | None, order: int) -> FieldValue | int | None:
        """A field of a slot or a register at a draw of the program, by ``Action.order``.

        Without a name of a field the register. None where it is unknown or was not set.
        """

    def slots(self, pattern: re.Pattern[str]) -> Iterable[str]:
        """The slots whose whole names match."""


class StateField(NamedTuple):
    """A field that a name stands for. ``path``: the name in the filter.

    ``name`` is that of the description. ``kind``: what it is compared as, "bool" or "number".
    ``is_hex``: its numbers are addresses or bits. ``values``: numbers with names. ``is_whole``: it
    is a whole register.
    """

    path: str
    name: str
    kind: str = "number"
    is_hex: bool = False
    values: tuple[tuple[int, str], ...] = ()
    is_whole: bool = False

    @property
    def words(self) -> Words | None:
        """The words that stand for values of it."""
        if self.kind == "bool":
            return Words({"true": 1, "false": 0}, self.path)
        if not self.values:
            return None
        return Words({text: number for number, text in self.values}, self.path)

    def read(self, value: FieldValue) -> bool | int | float:
        """The value of a field; of an enum the number."""
        found = value.value
        if not isinstance(found, str):
            return found
        try:
            return float(found)  # no finite number
        except ValueError:
            return value.raw

    def shown(self, value: int | float | bool) -> int | float | bool | str:
        """The value as documents have it: of an enum by name."""
        return next((text for number, text in self.values if number == value), value)


class SlotCursor:
    """Reads a field of a slot, or a register, at draws."""

    def __init__(
        self, state: Callable[[], DrawnState | None], slot: str, field: StateField
    ) -> None:
        self._state, self.slot, self._field = state, slot, field

    def at(self, order: int) -> bool | int | float | None:
        """The value at a draw of the program; None where it is unknown or was not set."""
        state, field = self._state(), self._field
        if state is None:
            return None
        found = state.state_value(self.slot, None if field.is_whole else field.name, order)
        return found if found is None or isinstance(found, int) else field.read(found)


class StateNames:
    """The names of state that instructions set: see ``query.instructions.InstructionNames``."""

    chip: str

    def has(self, name: str) -> bool:
        """Whether an instruction that sets state, or a register, has this name."""
        raise NotImplementedError

    def value_aliases(self, word: str) -> tuple[str, ...]:
        """There are none."""
        return ()

    def find(self, path: Path) -> tuple[StateField, list[SlotCursor], re.Pattern[str] | None]:
        """The field of a name, what reads it, and a pattern where it is one of several slots.

        Raises FilterError with the column and the nearest names.
        """
        raise NotImplementedError

    def cursors(self, pattern: re.Pattern[str], field: StateField) -> list[SlotCursor]:
        """What reads a field of each slot that matches."""
        raise NotImplementedError

    def descriptor_field(
        self, path: Path, kind: str, name: str
    ) -> tuple[StateField, Callable[[Binding], Any]]:
        """A field of descriptors of a kind, and what reads it. Raises FilterError."""
        raise NotImplementedError
