# SPDX-License-Identifier: MIT
"""What the draws of a report have bound, as changes: descriptors with fields, data with its bytes.

Columns as those of registers: for each place (a texture of a stage, a slot of a set, a vertex
buffer), the draws at which it changes, or at which its use does. Data is cut to what a table can
show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.frame.binding import Descriptor, Slot
from cffpy.frame.faces import facts_document
from cffpy.reports.columns import NONE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.frame.action import Action
    from cffpy.frame.binding import Binding, Contents, Flags
    from cffpy.reports.columns import Cuts
    from cffpy.reports.pictures import PictureList

#: Maximum of: facts of draws that are read; distinct ones; bytes of one, and of all.
_MAX_STEPS, _MAX_VALUES, _MAX_BYTES, _MAX_ALL_BYTES = 6_000_000, 300_000, 4096, 8 << 20


class _Place:
    """One place where something is bound."""

    def __init__(self, where: Slot) -> None:
        self.head = where._asdict()
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
        self._places: dict[Slot, _Place] = {}
        #: By the id of what is bound, and how a draw uses it.
        self._known: dict[tuple[int, Flags | None], int] = {}
        #: Keeps contents alive, so that their ids are not reused.
        self._kept: list[Contents] = []
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
        bindings = draw.bindings
        self._steps -= len(bindings)
        index = draw.pass_index
        for binding in bindings:
            if binding._where not in self._places:
                self._places[binding._where] = _Place(binding._where)
            place = self._places[binding._where]
            place.use(number, index, self._value(binding, draw.submit))
            place.seen = number
        for place in self._places.values():
            if place.seen != number:
                place.set(number, NONE)

    def _value(self, binding: Binding, submit: int) -> int:
        key = id(binding._contents), binding._flags
        known = self._known.get(key)
        if known is None:
            self._kept.append(binding._contents)
            value = self._document(binding, submit)
            text = tuple(sorted((name, repr(part)) for name, part in value.items()))
            known = self._same.setdefault(text, len(self._values))
            if known == len(self._values):
                self._values.append(value)
            self._known[key] = known
        return known

    def _document(self, binding: Binding, submit: int) -> dict[str, Any]:
        """The facts of what is bound, without those that say nothing; its picture, its bytes.

        The packet, the dwords and the fields are shorter than elsewhere: there are many.
        """
        value = {
            name: part
            for name, part in facts_document(binding).items()
            if name not in Slot._fields and part not in (None, [], {})
        }
        if binding.place is not None:
            value["place"] = str(binding.place)
        if isinstance(binding, Descriptor):
            value["dwords"] = bytes(binding.data or b"").hex()
            value["fields"] = [
                [field.name, field.low, field.high, field.text] for field in binding.fields.values()
            ]
            if binding.kind == "texture":
                value["picture"] = self._pictures.of_texture(submit, binding)
        elif binding.data is not None:
            shown = binding.data[:_MAX_BYTES]
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
                if "address" in self._values[value]:
                    yield place.head, draw, self._values[value]

    def to_dict(self) -> dict[str, Any]:
        """The places with their columns, and the distinct values."""
        return {
            "places": [place.to_dict() for place in self._places.values()],
            "values": self._values,
        }
