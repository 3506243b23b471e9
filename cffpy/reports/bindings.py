# SPDX-License-Identifier: MIT
"""What the draws of a report have bound, as changes: descriptors with fields, data with its bytes.

Columns as those of registers: for each place (a texture of a stage, a slot of a set, a vertex
buffer), the draws at which it changes, or at which its use does. Data is cut to what a table can
show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.api.bindings import DataBuffer, Descriptor
from cffpy.reports.words import NONE
from cffpy.views.model_documents import hexadecimal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.inputs.draw_descriptors import Flags
    from cffpy.analysis.inputs.facts import Fact, FactKey
    from cffpy.api.bindings import Bound
    from cffpy.frame.action import Action
    from cffpy.reports.pictures import PictureList
    from cffpy.reports.words import Cuts

#: Maximum of: facts of draws that are read; distinct ones; bytes of one, and of all.
_MAX_STEPS, _MAX_VALUES, _MAX_BYTES, _MAX_ALL_BYTES = 6_000_000, 300_000, 4096, 8 << 20

#: Facts that are not bindings: the parameters of the draw itself, its shaders, addresses of a3xx
#: textures, which their descriptors have.
_OTHER = ("draw", "shader", "texture address", "storage address")

#: Kinds whose bytes tables show.
_DATA = ("uniform data", "vertex buffer", "index buffer", "constants", "push constants")


class _Place:
    """One place where something is bound."""

    def __init__(self, key: FactKey, bound: Bound) -> None:
        one = bound.binding(key)
        self.head = {"kind": one.kind, "stage": one.stage, "set": one.set, "slot": one.slot}
        self.draws: list[int] = []
        self.value: list[int] = []
        self.last = NONE
        #: The draw at which it was seen last.
        self.seen = NONE
        #: The first draw of each pass with a value, and each at which it changes; the value.
        self.uses: list[tuple[int, int]] = []
        self._pass: int | None = None

    def use(self, draw: int, found_pass: int | None, value: int) -> None:
        """A draw of a pass has a value."""
        if value != self.last or found_pass != self._pass:
            self.uses.append((draw, value))
            self._pass = found_pass
        self.set(draw, value)

    def set(self, draw: int, value: int) -> None:
        if value != self.last:
            self.draws.append(draw)
            self.value.append(value)
            self.last = value

    def to_dict(self) -> dict[str, Any]:
        return {**self.head, "draws": self.draws, "value": self.value}


class BindingColumns:
    """Collects what draws have bound."""

    def __init__(self, pictures: PictureList, cuts: Cuts) -> None:
        self._pictures = pictures
        self._cuts = cuts
        self._places: dict[FactKey, _Place] = {}
        #: By the id of a fact, and how a draw uses it.
        self._known: dict[tuple[int, Flags | None], int] = {}
        #: Keeps facts alive, so that their ids are not reused.
        self._kept: list[Fact] = []
        self._values: list[dict[str, Any]] = []
        self._same: dict[tuple[object, ...], int] = {}
        self._steps, self._bytes = _MAX_STEPS, _MAX_ALL_BYTES

    def add(self, number: int, draw: Action) -> None:
        """Record what a draw has bound. Call in the order of draws. ``number``: in the report."""
        if self._steps < 0 or len(self._values) >= _MAX_VALUES:
            self._cuts.note(f"what draws from {number:,} on have bound")
            for place in self._places.values():
                place.set(number, NONE)
            return
        bound = draw.bound
        self._steps -= len(bound.facts)
        index = draw.pass_index
        for key, fact in bound.facts.items():
            if key[0] in _OTHER:
                continue
            if key not in self._places:
                self._places[key] = _Place(key, bound)
            place = self._places[key]
            place.use(number, index, self._value(key, fact, bound, draw.submit))
            place.seen = number
        for place in self._places.values():
            if place.seen != number:
                place.set(number, NONE)

    def _value(self, key: FactKey, fact: Fact, bound: Bound, submit: int) -> int:
        flags = bound.flags(key)
        found = id(fact), flags
        known = self._known.get(found)
        if known is None:
            self._kept.append(fact)
            value = self._document(key, fact, bound, submit)
            text = tuple(sorted((name, repr(part)) for name, part in value.items()))
            known = self._same.setdefault(text, len(self._values))
            if known == len(self._values):
                self._values.append(value)
            self._known[found] = known
        return known

    def _document(self, key: FactKey, fact: Fact, bound: Bound, submit: int) -> dict[str, Any]:
        one = bound.binding(key)
        value: dict[str, Any] = {
            "gpuaddr": hexadecimal(one.gpuaddr),
            "place": None if one.place is None else str(one.place),
        }
        if bound.flags(key) is not None:
            value |= {"enabled": one.enabled, "used": one.used, "sure": one.sure}
            value |= {"reads": one.reads, "writes": one.writes, "stages": list(one.stages)}
        if isinstance(one, Descriptor):
            value["fields"] = [
                [field.name, field.low, field.high, field.text] for field in one.fields.values()
            ]
            if one.elements is not None:
                value["elements"] = one.elements
            if one.kind == "texture":
                value["picture"] = self._pictures.of_texture(submit, one)
            value["dwords"] = "" if fact.data is None else bytes(fact.data).hex()
            return value
        if isinstance(one, DataBuffer) and one.offset:
            value["offset"] = hexadecimal(one.offset)
        data = fact.data
        value["bytes"] = None if data is None else len(data)
        if data is not None and key[0] in _DATA:
            shown = data[:_MAX_BYTES]
            self._bytes -= len(shown)
            if self._bytes < 0:
                self._cuts.note("contents of buffers that many draws later read")
            else:
                value["data"] = bytes(shown).hex()
        return value

    def addresses(self) -> Iterator[tuple[dict[str, Any], int, dict[str, Any]]]:
        """Each binding that has an address: its place, the first draw with it, and its value.

        Of each pass that has it.
        """
        for place in self._places.values():
            for draw, value in place.uses:
                if self._values[value]["gpuaddr"] is not None:
                    yield place.head, draw, self._values[value]

    def to_dict(self) -> dict[str, Any]:
        """The places with their columns, and the distinct values."""
        return {
            "places": [place.to_dict() for place in self._places.values()],
            "values": self._values,
        }
