# SPDX-License-Identifier: MIT
"""The draws of a report: a column for each property of the program's draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.frame.faces import facts_document
from cffpy.reports.words import NONE, Interned, WordColumn
from cffpy.views.draws import ends_cells

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cffpy.analysis.lrz import PassLrz
    from cffpy.frame.action import Action
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.passes import Pass
    from cffpy.frame.shader import Shader
    from cffpy.reports.vertices import AttributeSets, KnownAttributes
    from cffpy.reports.words import Cuts

#: Draws of a report; passes whose visibility streams are decoded for it; characters of all
#: listings of shaders.
MAX_DRAWS, _MAX_VISIBILITY, _MAX_LISTINGS = 60_000, 400, 24_000_000


class Programs:
    """The distinct shaders of the draws, with their listings."""

    def __init__(self, cuts: Cuts) -> None:
        self._cuts = cuts
        self._shaders: Interned[Shader] = Interned()
        self._sets: Interned[tuple[tuple[str, str, int], ...]] = Interned()
        self._left = _MAX_LISTINGS

    def add(self, draw: Action) -> int:
        """The index of what a draw runs: stages, addresses, shaders."""
        found = draw.shaders
        return self._sets.add(
            tuple(
                (stage, f"{address:#x}", self._shaders.add(found[stage]) if stage in found else -1)
                for stage, address in draw.program_addresses.items()
            )
        )

    @property
    def sets(self) -> list[list[tuple[str, str, int]]]:
        """Stage, address and number of the shader (-1: not captured) of each program of a draw."""
        return [list(one) for one in self._sets.values]

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


def primitives_of(passes: Iterable[Pass], cuts: Cuts) -> dict[int, int]:
    """Position of a draw -> its primitives in all tiles, by the captured visibility streams."""
    found: dict[int, int] = {}
    left = _MAX_VISIBILITY
    for one in passes:
        if not one.stream_memory or not one.tiles:
            continue
        left -= 1
        if left < 0:
            cuts.note(f"visible primitives of passes from {one.index} on")
            break
        numbers = {draw.number: draw.order for draw in one.draws}
        for tile in one.visibility.tiles:
            for number, count in tile.primitives.items():
                order = numbers.get(number)
                if order is not None and count is not None:
                    found[order] = found.get(order, 0) + count
    return found


class DrawColumns:
    """Collects the draws of a capture. ``orders``: position of each draw -> its number here."""

    def __init__(
        self,
        lrz: Sequence[PassLrz],
        primitives: Mapping[int, int],
        attributes: AttributeSets | KnownAttributes,
        cuts: Cuts,
    ) -> None:
        self._cuts = cuts
        self._attributes = attributes
        self._primitives = primitives
        self._lrz = {draw.action.order: draw for one in lrz for draw in one.draws}
        self.orders: dict[int, int] = {}
        self.programs = Programs(cuts)
        self._targets: Interned[tuple[tuple[str, str | None, str | None], ...]] = Interned()
        self._words = {
            name: WordColumn()
            for name in (
                "kind",
                "role",
                "packet",
                "primitive",
                "condition",
                "lrz",
                "pipe",
                "stream",
                "source",
                "destination",
            )
        }
        self._columns: dict[str, list[Any]] = {
            name: []
            for name in (
                "pass",
                "number",
                "dump",
                "vertices",
                "instances",
                "groups",
                "executed",
                "indexed",
                "indirect",
                "gpuaddr",
                "file_offset",
                "visible",
                "programs",
                "targets",
                "attributes",
            )
        }

    @property
    def is_full(self) -> bool:
        """Whether no further draw is taken."""
        return len(self.orders) >= MAX_DRAWS

    def add(self, draws: Iterable[Action]) -> tuple[int, int]:
        """Add the draws of a pass; the number of the first, and how many were taken."""
        first = len(self.orders)
        for draw in draws:
            if self.is_full:
                self._cuts.note(f"draws after the first {MAX_DRAWS:,}")
                break
            self.orders[draw.order] = len(self.orders)
            self._add(draw)
        return first, len(self.orders) - first

    def _add(self, draw: Action) -> None:
        columns, words = self._columns, self._words
        columns["pass"].append(NONE if draw.pass_index is None else draw.pass_index)
        columns["number"].append(draw.number)
        columns["dump"].append(draw.dump_draw)
        columns["vertices"].append(draw.vertices)
        columns["instances"].append(draw.instances)
        columns["groups"].append(draw.groups)
        columns["executed"].append(draw.execution.value)
        columns["indexed"].append(int(draw.indexed))
        columns["indirect"].append(int(draw.indirect))
        columns["gpuaddr"].append(f"{draw.place.gpuaddr:#x}")
        columns["file_offset"].append(draw.place.file_offset)
        columns["visible"].append(self._primitives.get(draw.order))
        columns["programs"].append(self.programs.add(draw))
        columns["targets"].append(self._targets.add(tuple(map(_target, draw.targets))))
        columns["attributes"].append(self._attributes.add(draw))
        words["kind"].append(draw.kind)
        words["role"].append(draw.role)
        words["packet"].append(draw.packet)
        words["primitive"].append(draw.primitive)
        words["condition"].append(draw.condition)
        words["pipe"].append(draw.pipe)
        words["lrz"].append(self._lrz_text(draw.order))
        source, destination = ends_cells(draw)
        words["source"].append(source or None)
        words["destination"].append(destination or None)
        words["stream"].append(draw.place.name.streams_text)

    def _lrz_text(self, order: int) -> str | None:
        found = self._lrz.get(order)
        if found is None:
            return None
        reasons = "; ".join(why.text for why in found.reasons)
        return f"{found.use}: {reasons}" if reasons else found.use

    def to_dict(self) -> dict[str, Any]:
        """The columns, and the distinct lists of programs, targets and vertex attributes."""
        return {
            **self._columns,
            **{name: column.to_dict() for name, column in self._words.items()},
            "program_sets": self.programs.sets,
            "target_sets": [list(one) for one in self._targets.values],
            "attribute_sets": self._attributes.to_list(),
        }


def _target(target: Attachment) -> tuple[str, str | None, str | None]:
    address = None if target.address is None else f"{target.address:#x}"
    return target.name, target.format, address
