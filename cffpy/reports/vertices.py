# SPDX-License-Identifier: MIT
"""The vertex attributes of a report's draws: distinct lists, which draws name by their index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.api.vertices import is_vertex_register
from cffpy.frame.faces import facts_document
from cffpy.regdb.register_text import RegisterText
from cffpy.reports.words import NONE, Interned

if TYPE_CHECKING:
    from array import array

    from cffpy.api.capture import Capture
    from cffpy.api.vertices import VertexAttribute
    from cffpy.frame.action import Action


#: A value that only the GPU knows, or none.
_UNKNOWN = -1


class AttributeSets:
    """Asks for the attributes of a draw only where something that they depend on was written."""

    def __init__(self, capture: Capture) -> None:
        self._registers = capture.draw_registers
        self._capture = capture
        #: Positions of draws before which a register changed that attributes depend on.
        self._changed: set[int] | None = None
        self._sets: Interned[tuple[VertexAttribute, ...]] = Interned()
        #: The attributes of the last draw, its program, and whether something changed since.
        self._last = NONE
        self._program: tuple[int, int | None] | None = None
        self._is_stale = True

    def add(self, draw: Action) -> int:
        """The index of a draw's attributes; -1 for what draws no vertices. Draws in order."""
        order = draw.order
        if not self._registers.has(order):
            return NONE
        if self._changed is None:
            self._changed = self._changes()
        self._is_stale |= order in self._changed
        if draw.kind != "draw":
            return NONE
        program = draw.submit, draw.program_addresses.get("VS")
        if self._is_stale or program != self._program:
            self._program, self._is_stale = program, False
            self._last = self._sets.add(tuple(draw.attributes))
        return self._last

    def _changes(self) -> set[int]:
        text = RegisterText(self._capture.registers.database)
        found = set()
        for offset in self._registers.all_registers():
            if is_vertex_register(text.name(offset)):
                last = _UNKNOWN
                for order, value in zip(*self._registers.changes(offset), strict=True):
                    if value != last:
                        found.add(order)
                        last = value
        return found

    def document(self, number: int) -> list[dict[str, Any]]:
        """The attributes of an index."""
        return [] if number == NONE else list(map(facts_document, self._sets.values[number]))

    def documents(self) -> list[list[dict[str, Any]]]:
        """Those of all indices."""
        return [self.document(number) for number in range(len(self._sets))]


class DrawAttributes(NamedTuple):
    """The attributes of all draws of a report: the list of each by its index, and the lists."""

    numbers: array[int]
    sets: list[list[dict[str, Any]]]


class KnownAttributes:
    """As AttributeSets, where the attributes of all draws are known."""

    def __init__(self, found: DrawAttributes) -> None:
        self._next = iter(found.numbers)
        self._sets = found.sets

    def add(self, draw: Action) -> int:
        """The index of a draw's attributes. Draws in order."""
        return next(self._next)

    def document(self, number: int) -> list[dict[str, Any]]:
        """The attributes of an index."""
        return [] if number == NONE else self._sets[number]
