# SPDX-License-Identifier: MIT
"""Passes and draws of a report: their facts, by columns where there are many; LRZ of passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.analysis.pass_cost import bytes_of_format
from cffpy.api.vertices import is_vertex_register
from cffpy.frame.action import Action
from cffpy.frame.faces import facts_document
from cffpy.frame.fact_columns import FactColumns, ValueColumn
from cffpy.frame.facts import model_of
from cffpy.frame.passes import Tile
from cffpy.regdb.registers import RegisterText
from cffpy.reports.columns import NONE, Interned
from cffpy.reports.documents import (
    OF_DRAWS_LARGE,
    OF_LRZ_ELSEWHERE,
    OF_PASS_ELSEWHERE,
    OF_RUN_ELSEWHERE,
)
from cffpy.views.draws import ends_cells
from cffpy.views.lrz import buffer_text, summary_text
from cffpy.views.passes import operation_text, size_text, title

if TYPE_CHECKING:
    from array import array

    from cffpy.analysis.lrz import PassLrz
    from cffpy.api.capture import Capture
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.binding import VertexAttribute
    from cffpy.frame.passes import Pass
    from cffpy.frame.shader import Shader
    from cffpy.reports.columns import Cuts
    from cffpy.reports.pictures import PictureList

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
        shaders = draw.shaders
        return tuple(
            [
                self._shaders.add(shaders[stage]) if stage in shaders else None
                for stage, _ in draw.programs
            ]
        )

    def to_list(self) -> list[dict[str, Any]]:
        """Each shader with statistics and its listing."""
        return [self._shader(number, shader) for number, shader in enumerate(self._shaders.values)]

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

    def add(self, pass_: Pass) -> tuple[list[int], int]:
        """Add the draws of a pass.

        The row of the first, and how many were taken; their visible primitives together.
        """
        first, visible = len(self.orders), 0
        is_decoded = self._is_decoded(pass_)
        for draw in pass_.draws:
            if self.is_full:
                self._cuts.note(f"draws after the first {MAX_DRAWS:,}")
                break
            self.orders[draw.order] = len(self.orders)
            self.passes.append(pass_.index)
            self._add(draw)
            seen = draw.visible_primitives if is_decoded else None
            self._visible.append(seen)
            visible += seen or 0
        return [first, len(self.orders) - first], visible

    def _is_decoded(self, pass_: Pass) -> bool:
        """Whether the visibility streams of a pass are decoded."""
        if not pass_._stream_memory or not pass_.tiles:
            return False
        self._left -= 1
        if self._left < 0:
            self._cuts.note(f"visible primitives of passes from {pass_.index} on")
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
        self._registers = capture._source.draw_registers
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
        changed = set()
        for offset in self._registers.all_registers():
            if is_vertex_register(text.name(offset)):
                last = _UNKNOWN
                for order, value in zip(*self._registers.changes(offset), strict=True):
                    if value != last:
                        changed.add(order)
                        last = value
        return changed

    def document(self, number: int) -> list[dict[str, Any]]:
        """The attributes of an index."""
        return [] if number == NONE else list(map(facts_document, self._sets.values[number]))

    def documents(self) -> list[list[dict[str, Any]]]:
        """The documents of all programs, by their indices."""
        return [self.document(number) for number in range(len(self._sets))]


class DrawAttributes(NamedTuple):
    """The attributes of all draws of a report: the list of each by its index, and the lists."""

    numbers: array[int]
    sets: list[list[dict[str, Any]]]


class KnownAttributes:
    """As AttributeSets, where the attributes of all draws are known."""

    def __init__(self, attributes: DrawAttributes) -> None:
        self._next = iter(attributes.numbers)
        self._sets = attributes.sets

    def add(self, draw: Action) -> int:
        """The index of a draw's attributes. Draws in order."""
        return next(self._next)

    def document(self, number: int) -> list[dict[str, Any]]:
        """The attributes of an index."""
        return [] if number == NONE else self._sets[number]


#: Passes of a report; tiles of a pass, and of all passes.
MAX_PASSES, _MAX_PASS_TILES, _MAX_TILES = 5000, 4096, 60_000


class PassDocuments:
    """Makes the object of each pass."""

    def __init__(self, pictures: PictureList, cuts: Cuts) -> None:
        """``pictures`` makes those of attachments."""
        self._pictures = pictures
        self._cuts = cuts
        self._tiles_left = _MAX_TILES

    def of(self, pass_: Pass, rows: list[int], visible: int) -> dict[str, Any]:
        """A pass. ``rows``: of its draws; ``visible``: their primitives. See ReportedPass."""
        made_here = ("attachments", "operations")
        return {
            **facts_document(pass_, without=(*OF_PASS_ELSEWHERE, *made_here)),
            "title": title(pass_),
            "framebuffer_text": size_text(pass_),
            "attachments": [self._attachment(pass_, target) for target in pass_.attachments],
            "operations": _operations(pass_),
            "tiles": self._tiles(pass_),
            "events_before": dict(sorted(pass_.events_before.items())),
            "visible_primitives": visible,
            "rows": rows,
        }

    def _attachment(self, pass_: Pass, target: Attachment) -> dict[str, Any]:
        size, bins = bytes_of_format(target.format), pass_.bin_size
        gmem_bytes = None
        if target.gmem is not None and size is not None and bins is not None:
            gmem_bytes = size * bins.width * bins.height * (pass_.samples or 1)
        return {
            **facts_document(target),
            "gmem_bytes": gmem_bytes,
            "picture": self._pictures.of_attachment(pass_, target),
        }

    def _tiles(self, pass_: Pass) -> dict[str, Any] | None:
        if not pass_.tiles:
            return None
        columns = FactColumns(model_of(Tile), without=OF_RUN_ELSEWHERE)
        most = min(_MAX_PASS_TILES, self._tiles_left)
        if len(pass_.tiles) > most:
            self._cuts.note(f"tiles of pass {pass_.index} after the first {most:,}")
        for tile in pass_.tiles[:most]:
            columns.add(tile)
        self._tiles_left -= min(most, len(pass_.tiles))
        return columns.to_document()


def lrz_document(lrz: PassLrz) -> dict[str, Any]:
    """LRZ in a pass; its draws have theirs."""
    texts = {"buffer": buffer_text(lrz), "summary": summary_text(lrz)}
    return {**facts_document(lrz, without=OF_LRZ_ELSEWHERE), **texts}


def _operations(pass_: Pass) -> list[dict[str, Any]]:
    """Loads, clears, stores: equal ones of all tiles are one entry."""
    grouped: dict[tuple[str | None, str, str], dict[str, Any]] = {}
    for run in pass_.runs:
        for operation in run.possible_operations:
            text = operation_text(operation)
            key = operation.attachment, operation.kind, text
            row = grouped.get(key)
            if row is None:
                own = {"text": text, "times": 0, "in_binning": 0}
                row = grouped[key] = {**facts_document(operation), **own}
            row["in_binning" if run is pass_.binning else "times"] += 1
    return list(grouped.values())
