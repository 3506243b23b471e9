# SPDX-License-Identifier: MIT
"""State that instructions set, in filters: what a name stands for, and what reads it at draws.

``query.instructions`` looks the names up, for captures of Intel GPUs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.query.names import Words

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable
    from typing import Protocol

    from cffpy.frame.binding import Binding
    from cffpy.frame.field import FieldValue
    from cffpy.query.syntax import Path

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
        self._state, self._slot, self._field = state, slot, field

    def at(self, order: int) -> bool | int | float | None:
        """The value at a draw of the program; None where it is unknown or was not set."""
        state, field = self._state(), self._field
        if state is None:
            return None
        found = state.state_value(self._slot, None if field.is_whole else field.name, order)
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
