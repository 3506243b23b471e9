# SPDX-License-Identifier: MIT
"""The vertex attributes of a report's draws: distinct lists, which draws name by their index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.api.vertices import is_vertex_register
from cffpy.regdb.register_text import RegisterText
from cffpy.reports.words import NONE, Interned

if TYPE_CHECKING:
    from cffpy.api.capture import Capture
    from cffpy.api.passes import Draw
    from cffpy.api.vertices import VertexAttribute


class AttributeSets:
    """Asks for the attributes of a draw only where something that they depend on was written."""

    def __init__(self, capture: Capture) -> None:
        self._history = capture.history
        self._text: RegisterText | None = None
        self._capture = capture
        #: Offset of a register -> whether attributes depend on it.
        self._matters: dict[int, bool] = {}
        self._sets: Interned[tuple[VertexAttribute, ...]] = Interned()
        #: The attributes of the last draw, its program, and whether something changed since.
        self._last = NONE
        self._program: tuple[int, int | None] | None = None
        self._is_stale = True
        #: The values of the registers that matter, as far as they were written.
        self._values: dict[int, int | None] = {}

    def add(self, draw: Draw) -> int:
        """The index of a draw's attributes; -1 for what draws no vertices. Draws in order."""
        order = draw.order
        if not self._history.has(order):
            return NONE
        for offset in self._history.written_since(order):
            if self._is_read(offset):
                value = self._history.value(offset, order)
                self._is_stale |= self._values.get(offset) != value
                self._values[offset] = value
        if draw.kind != "draw":
            return NONE
        program = draw.submit, draw.program_addresses.get("VS")
        if self._is_stale or program != self._program:
            self._program, self._is_stale = program, False
            self._last = self._sets.add(tuple(draw.attributes))
        return self._last

    def _is_read(self, offset: int) -> bool:
        known = self._matters.get(offset)
        if known is None:
            if self._text is None:
                self._text = RegisterText(self._capture.registers.database)
            known = self._matters[offset] = is_vertex_register(self._text.name(offset))
        return known

    def to_list(self) -> list[list[list[Any]]]:
        """Of each: number, format, buffer, offset, stride, whether it is instanced."""
        return [[list(one) for one in found] for found in self._sets.values]
