# SPDX-License-Identifier: MIT
"""The draws of a report by columns: their facts, shaders, vertex attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.api.vertices import is_vertex_register
from cffpy.frame.action import Action
from cffpy.frame.faces import facts_document
from cffpy.frame.fact_columns import FactColumns, ValueColumn
from cffpy.frame.facts import model_of
from cffpy.regdb.register_text import RegisterText
from cffpy.reports.columns import NONE, Interned
from cffpy.reports.documents import OF_DRAWS_LARGE
from cffpy.views.draws import ends_cells

if TYPE_CHECKING:
    from array import array

    from cffpy.api.capture import Capture
    from cffpy.api.vertices import VertexAttribute
    from cffpy.frame.passes import Pass
    from cffpy.frame.shader import Shader
    from cffpy.reports.columns import Cuts

#: Draws of a report; passes whose visibility streams are decoded for it; characters of all
#: listings of shaders.
MAX_DRAWS, _MAX_VISIBILITY, _MAX_LISTINGS = 60_000, 400, 24_000_000


class Programs:
    """The distinct shaders of the draws, with their listings."""

    def __init__(self, cuts: Cuts) -> None:
        self._cuts = cuts
        self._shaders: Interned[Shader] = Interned()
        self._left = _MAX_LISTINGS

    def add(self, draw: Action) -> tuple[int | None, ...]:
        """The numbers of the shaders that a draw runs; None for what was not captured."""
        found = draw.shaders
        return tuple(
            [
                self._shaders.add(found[stage]) if stage in found else None
                for stage, _ in draw.programs
            ]
        )

    def to_list(self) -> list[dict[str, Any]]:
        """Each shader with statistics and its listing."""
        return [self._shader(number, one) for number, one in enumerate(self._shaders.values)]

    def _shader(self, number: int, shader: Shader) -> dict[str, Any]:
        listing: str | None = shader.listing
        self._left -= len(listing or "")
        if self._left < 0:
            self._cuts.note(f"listings of shaders from {number} on")
            listing = None
        return {"shader": number, **facts_document(shader), "listing": listing}


class DrawColumns:
    """Collects the draws of a capture. ``orders``: position of each draw -> its row here."""

    def __init__(self, attributes: AttributeSets | KnownAttributes, cuts: Cuts) -> None:
        self._cuts = cuts
        self._attributes = attributes
        #: Passes whose streams may still be decoded.
        self._left = _MAX_VISIBILITY
        self.orders: dict[int, int] = {}
        self.programs = Programs(cuts)
        self._facts = FactColumns(model_of(Action), OF_DRAWS_LARGE)
        self._shaders = ValueColumn()
        self._source, self._destination = ValueColumn(), ValueColumn()
        self._attribute_sets = ValueColumn()
        self._visible = ValueColumn()
        #: Of each row, the number of its pass.
        self.passes: list[int] = []

    @property
    def is_full(self) -> bool:
        """Whether no further draw is taken."""
        return len(self.orders) >= MAX_DRAWS

    def add(self, one: Pass) -> tuple[list[int], int]:
        """Add the draws of a pass.

        The row of the first, and how many were taken; their visible primitives together.
        """
        first, visible = len(self.orders), 0
        is_decoded = self._is_decoded(one)
        for draw in one.draws:
            if self.is_full:
                self._cuts.note(f"draws after the first {MAX_DRAWS:,}")
                break
            self.orders[draw.order] = len(self.orders)
            self.passes.append(one.index)
            self._add(draw)
            seen = draw.visible_primitives if is_decoded else None
            self._visible.append(seen)
            visible += seen or 0
        return [first, len(self.orders) - first], visible

    def _is_decoded(self, one: Pass) -> bool:
        """Whether the visibility streams of a pass are decoded."""
        if not one.stream_memory or not one.tiles:
            return False
        self._left -= 1
        if self._left < 0:
            self._cuts.note(f"visible primitives of passes from {one.index} on")
        return self._left >= 0

    def _add(self, draw: Action) -> None:
        self._facts.add(draw)
        shaders = self.programs.add(draw)
        self._shaders.append_made(shaders, lambda: list(shaders))
        attributes = self._attributes.add(draw)
        self._attribute_sets.append_made(attributes, lambda: self._attributes.document(attributes))
        source, destination = ends_cells(draw)
        self._source.append(source or None)
        self._destination.append(destination or None)

    def to_document(self) -> dict[str, Any]:
        """The columns."""
        own = {
            "visible_primitives": self._visible,
            "shaders": self._shaders,
            "attributes": self._attribute_sets,
            "source": self._source,
            "destination": self._destination,
        }
        return {
            **self._facts.to_document(),
            **{name: column.to_document() for name, column in own.items()},
        }


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
