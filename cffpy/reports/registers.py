# SPDX-License-Identifier: MIT
"""The registers at all draws of a report, as changes: for each register, the draws that change it.

A value at a draw is found by a binary search among the changes of its register, as in
``DrawRegisters``, of which these are the columns with decoded texts.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from cffpy.analysis.register_store.columns import NO_WRITE, RegisterWrites
from cffpy.frame.faces import facts_document
from cffpy.frame.fact_columns import FactColumns, ValueColumn
from cffpy.frame.facts import model_of
from cffpy.frame.places import PacketLocation
from cffpy.pm4.reader import packet_name
from cffpy.regdb.ports import offset_of
from cffpy.regdb.register_text import RegisterText
from cffpy.regdb.subjects import Subjects
from cffpy.reports.dump_fragments import DumpFragments
from cffpy.reports.filter_names import ValueTypes
from cffpy.reports.words import NONE, HexColumn, Interned, JsonList

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cffpy.analysis.register_store.columns import Circumstances
    from cffpy.analysis.register_store.draws import DrawRegisters
    from cffpy.api.capture import Capture
    from cffpy.capture.memory import Words
    from cffpy.regdb.database import Database
    from cffpy.reports.words import Cuts

#: Changes of registers, and distinct packets that wrote them, that a report has.
MAX_CHANGES, MAX_WRITES = 2_000_000, 400_000


class Writes:
    """The packets that wrote registers: a column for each property."""

    def __init__(
        self, found: RegisterWrites, database: Database, fragments: DumpFragments, cuts: Cuts
    ) -> None:
        self._found: RegisterWrites | None = found
        self._database = database
        self._fragments = fragments
        self._cuts = cuts
        #: Number of a write in ``found`` -> its number here; those here -> whether it has a dump.
        self._known = array("i", [NONE]) * len(found)
        #: Of those here: which words the packet is in, and its first dword there.
        self._which, self._index = array("i"), array("I")
        self._words: Interned[Words] = Interned()
        self._has_dump = bytearray()
        self._columns = {name: ValueColumn() for name in ("packet", "submit", "pass", "condition")}
        self._stream, self._path = ValueColumn(), ValueColumn()
        self._patched = FactColumns(model_of(PacketLocation))
        self._computed = ValueColumn()

    def add(self, number: int) -> int:
        """The index of a write by its number; -1 for none, or where there are too many."""
        if number == NO_WRITE:
            return NONE
        known = self._known[number]
        if known == NONE:
            known = len(self._index)
            if known >= MAX_WRITES:
                self._cuts.note(f"packets that wrote registers, but for {MAX_WRITES:,}")
                return NONE
            self._known[number] = known
            assert self._found is not None, "add after to_dict"
            self._append(*self._found.write(number))
        return known

    def _append(self, place: PacketLocation, shared: Circumstances) -> None:
        self._which.append(self._words.add(place.words))
        self._index.append(place.index)
        columns = self._columns
        header = place.words.get(place.index)
        columns["packet"].append(packet_name(self._database, header))
        columns["submit"].append(place.submit.submit)
        columns["pass"].append(shared.pass_index)
        columns["condition"].append(shared.condition)
        self._stream.append(place.number)
        # streams live as long as the writes that were found
        self._path.append_made(id(place.stream), lambda: list(map(facts_document, place.path)))
        self._patched.add(shared.patched_by)
        computed = shared.computed_from
        self._computed.append_made(
            tuple(map(id, computed)), lambda: list(map(facts_document, computed))
        )
        self._has_dump.append(self._fragments.add(place))

    def _places(self) -> Iterator[tuple[Words, int]]:
        words = self._words.values
        return (
            (words[which], index) for which, index in zip(self._which, self._index, strict=True)
        )

    def to_dict(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The columns, and the fragments of the dump. ``dump``: the packet's row in these."""
        self._found = None  # fragments need its memory
        self._known = array("i")
        fragments = self._fragments.to_dict()
        patched = self._patched.to_document()
        return {
            **{name: column.to_document() for name, column in self._columns.items()},
            "place.stream": self._stream.to_document(),
            "place.path": self._path.to_document(),
            "place.gpuaddr": HexColumn(
                words.address + 4 * index for words, index in self._places()
            ),
            "place.file_offset": HexColumn(
                words.file_offset + 4 * index for words, index in self._places()
            ),
            **{f"patched_by.{name}": column for name, column in patched.items()},
            "computed_from": self._computed.to_document(),
            "dump": array(
                "i",
                (
                    self._fragments.row(*place) if has_dump else NONE
                    for place, has_dump in zip(self._places(), self._has_dump, strict=True)
                ),
            ),
        }, fragments


class _Column:
    """The changes of one register."""

    def __init__(self, offset: int, text: RegisterText, types: ValueTypes) -> None:
        self._offset = offset
        self._text = text
        self._types = types
        self._is_wide = text.is_wide(offset)
        self._values: Interned[int] = Interned()
        self._fields: Interned[tuple[str, int, int]] = Interned()
        self.draws, self.value, self.write = array("i"), array("i"), array("i")

    def append(self, draw: int, value: int | None, write: int) -> None:
        self.draws.append(draw)
        self.value.append(NONE if value is None else self._values.add(value))
        self.write.append(write)

    def to_dict(self, topic: str | None) -> dict[str, Any]:
        rows = [self._value_row(value) for value in self._values.values]
        name = self._text.name(self._offset)
        return {
            "offset": offset_of(self._offset),
            "name": name,
            "bits": 64 if self._is_wide else 32,
            "topic": topic,
            "type": self._types.add(name),
            "fields": [
                [*field, self._types.add(f"{name}.{field[0]}")] for field in self._fields.values
            ],
            "values": JsonList(rows),
            "draws": self.draws,
            "value": self.value,
            "write": self.write,
        }

    def _value_row(self, value: int) -> list[Any]:
        """The value in hex; its text, None where that is the same; field -> its text."""
        digits = f"{value:#x}"
        dwords = {self._offset: value & 0xFFFFFFFF, self._offset + 1: value >> 32}
        text = self._text.text(self._offset, dwords)
        fields = {
            str(self._fields.add((field.name, field.low, field.high))): field.text
            for field in self._text.field_values(self._offset, dwords)
        }
        row: list[Any] = [digits, None if text == digits else text]
        return [*row, fields] if fields else row


def register_columns(
    capture: Capture,
    draws: Mapping[int, int],
    cuts: Cuts,
    releases: bool = False,
    found: RegisterWrites | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The columns of all registers and of the packets that wrote them; fragments of the dump.

    ``draws``: ``Action.order`` of a draw -> its number in the report. ``releases``: as for
    ``document``. ``found``: the writes that the walk has passed on, if it has. Raises
    CaptureError where no commands were run.
    """
    database = capture.registers.database
    text, subjects = RegisterText(database), Subjects.open(database)
    fragments = DumpFragments(capture, cuts)
    drawn = capture.take_draw_registers() if releases else capture.draw_registers
    if found is None:
        found = RegisterWrites()
        for sources in drawn.written():
            found.add(sources)
    if releases:
        drawn.forget_writes()
    writes = Writes(found, database, fragments, cuts)
    columns = []
    types = ValueTypes(database)
    left = MAX_CHANGES
    for offset in text.listed(drawn.all_registers()):
        column = _Column(offset, text, types)
        changes = _wide_changes if text.is_wide(offset) else _changes
        for order, value, write in changes(drawn, found, offset):
            draw = draws.get(order)
            if draw is not None:
                column.append(draw, value, writes.add(write))
        left -= len(column.draws)
        if left < 0:
            cuts.note(f"registers from {text.name(offset)} on: more than {MAX_CHANGES:,} changes")
            break
        if column.draws:
            columns.append(column.to_dict(subjects.register(offset).topic))
    del drawn, found
    packets, dump = writes.to_dict()
    return {"types": types.to_list(), "columns": columns, "writes": packets}, dump


#: Position of a draw, the value from it on (None: only the GPU knows it), the number of its write.
_Change = tuple[int, int | None, int]


def _changes(drawn: DrawRegisters, found: RegisterWrites, offset: int) -> Iterator[_Change]:
    orders, values = drawn.changes(offset)
    for order, number, write in zip(orders, values, found.of(offset), strict=True):
        yield order, None if number < 0 else number, write


def _wide_changes(drawn: DrawRegisters, found: RegisterWrites, offset: int) -> Iterator[_Change]:
    """Of a register of 64 bits, by the changes of both halves."""
    both = {*drawn.changes(offset)[0], *drawn.changes(offset + 1)[0]}
    for order in sorted(both):
        low, high = drawn.value(offset, order), drawn.value(offset + 1, order)
        write = found.at(offset, order, drawn)
        if write == NO_WRITE:
            continue
        if low is not None and high is None and found.at(offset + 1, order, drawn) != NO_WRITE:
            low = None
        value = None if low is None else low | (high or 0) << 32
        yield order, value, write
