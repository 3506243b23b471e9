# SPDX-License-Identifier: MIT
"""The registers at all draws of a report as changes, and the dump around the packets of these.

A value at a draw is found by a binary search among the changes of its register, as in
``DrawRegisters``, of which these are the columns with decoded texts. A large capture has all of it
made in a child process (``register_part``): registers, and what draws have bound, need as much
memory each as the capture itself.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.analysis.register_store.draws import NO_WRITE, RegisterWrites
from cffpy.frame.faces import facts_document
from cffpy.frame.fact_columns import FactColumns, ValueColumn
from cffpy.frame.facts import model_of
from cffpy.frame.places import PacketLocation
from cffpy.pm4.reader import packet_name
from cffpy.regdb.registers import RegisterText
from cffpy.regdb.rows import offset_of
from cffpy.regdb.subjects import Subjects
from cffpy.reports.columns import NONE, Cuts, HexColumn, Interned, JsonList, json_text
from cffpy.reports.documents import ValueTypes
from cffpy.reports.draws import MAX_DRAWS, MAX_PASSES, AttributeSets, DrawAttributes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cffpy.analysis.register_store.draws import Circumstances, DrawRegisters
    from cffpy.api.capture import Capture
    from cffpy.capture.memory import Words
    from cffpy.frame.places import ExecutedStream
    from cffpy.frame.submit import Problem
    from cffpy.limits import Truncation
    from cffpy.regdb.database import Database

#: Packets before and after a packet that wrote a register.
_AROUND = 3

#: Packets that are read before pages of a mapped capture are released.
_READ = 1 << 12

#: Packets of a report, and characters of their distinct texts, at most.
_MAX_PACKETS, _MAX_CHARACTERS = 400_000, 24_000_000


class DumpFragments:
    """Collects the packets that wrote registers, and those around them.

    A row is a packet. Rows are in the order of memory; ``follows`` tells whether a row is the
    packet after that of the row before, so that the page can show what is around a packet.
    """

    def __init__(self, capture: Capture, cuts: Cuts) -> None:
        self._capture = capture
        self._cuts = cuts
        self._text = capture._source.packet_text()
        #: Words by id, in the order in which they came, each with the number of a submit.
        self._words: dict[int, tuple[Words, int]] = {}
        #: Id of the words -> indices of the packets in them that are rows.
        self._indices: dict[int, set[int]] = {}
        self._starts: dict[tuple[int, int, int], array[int]] = {}
        #: Id of the words -> the first of their rows, and the packets in them that are rows.
        self._rows: dict[int, tuple[int, array[int]]] = {}
        self._count = 0
        self._read = 0

    def add(self, place: PacketLocation) -> bool:
        """Take a packet and those around it; False where there are too many."""
        if self._count >= _MAX_PACKETS:
            self._cuts.note(f"dumps of packets, but for {_MAX_PACKETS:,}")
            return False
        self._release_pages()
        words, index = place._words, place._index
        key = id(words)
        if key not in self._words:
            self._words[key] = words, place.submit
            self._indices[key] = set()
        indices = self._indices[key]
        before = len(indices)
        indices.add(index)
        starts = self._packets_of(place)
        at = bisect_left(starts, index)
        if at < len(starts) and starts[at] == index:
            indices.update(starts[max(0, at - _AROUND) : at + _AROUND + 1])
        self._count += len(indices) - before
        return True

    def _packets_of(self, place: PacketLocation) -> array[int]:
        """The packets of the stream that a packet is in."""
        stream = place.stream
        while stream.kind == "block" and stream.caller is not None:
            stream = stream.caller.stream
        words = place._words
        first = (stream.gpuaddr - words.address) // 4
        key = id(words), first, stream.ndwords
        packets = self._starts.get(key)
        if packets is None:
            known = 0 <= first <= place._index
            starts = self._text.starts(words, first, stream.ndwords) if known else []
            packets = self._starts[key] = array("I", starts)
        return packets

    def _release_pages(self) -> None:
        """Have few pages in memory; to be called for each packet."""
        self._read += 1
        if self._read % _READ == 0:
            self._capture._source.content.release_pages()

    def row(self, words: Words, index: int) -> int:
        """The row of a packet that was taken. Valid after ``to_dict``."""
        first, indices = self._rows[id(words)]
        return first + bisect_left(indices, index)

    def to_dict(self) -> dict[str, Any]:
        """The columns."""
        texts: Interned[str] = Interned()
        left = _MAX_CHARACTERS
        lines, rows, follows = array("i"), array("i"), array("b")
        addresses: list[int] = []
        offsets = array("Q")
        for key, (words, submit) in self._words.items():
            self._text.use_memory(self._capture.submits[submit].memory._image)
            end = -1
            indices = array("I", sorted(self._indices.pop(key)))
            self._rows[key] = len(lines), indices
            for index in indices:
                self._release_pages()
                packet = self._text.of(words, index)
                if left < 0:
                    self._cuts.note("texts of many packets")
                    packet = packet._replace(lines="", rows="")
                known = len(texts)
                lines.append(texts.add(packet.lines))
                rows.append(texts.add(packet.rows))
                left -= len(packet.lines) + len(packet.rows) if len(texts) > known else 0
                addresses.append(words.address + 4 * index)
                offsets.append(words.file_offset + 4 * index)
                follows.append(int(index == end))
                end = index + packet.size
        return {
            "digits": self._text.digits,
            "texts": texts.values,
            "lines": lines,
            "rows": rows,
            "gpuaddr": HexColumn(addresses),
            "file_offset": HexColumn(offsets),
            "follows": follows,
        }


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
        self._stream = ValueColumn()
        #: Of each write the index of its stream; the streams, and their indices by identity.
        self._path = array("I")
        self._streams: list[ExecutedStream] = []
        self._known_streams: dict[int, int] = {}
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
        self._which.append(self._words.add(place._words))
        self._index.append(place._index)
        columns = self._columns
        header = place._words.get(place._index)
        columns["packet"].append(packet_name(self._database, header))
        columns["submit"].append(place.submit)
        columns["pass"].append(shared.pass_index)
        columns["condition"].append(shared.condition)
        self._stream.append(place.number)
        self._path.append(self._stream_number(place.stream))
        self._patched.add(shared.patched_by)
        computed = shared.computed_from
        self._computed.append_made(
            tuple(map(id, computed)), lambda: list(map(facts_document, computed))
        )
        self._has_dump.append(self._fragments.add(place))

    def _stream_number(self, stream: ExecutedStream) -> int:
        """The index of a stream, which lives as long as the writes that were found."""
        number = self._known_streams.get(id(stream))
        if number is None:
            number = self._known_streams[id(stream)] = len(self._streams)
            self._streams.append(stream)
        return number

    def _paths(self) -> dict[str, Any]:
        """The column of the streams that lead to packets."""
        texts: Interned[str] = Interned()
        numbers = array("I")
        for stream in self._streams:
            parts = [facts_document(step) for step in stream.path if step.kind != "block"]
            numbers.append(texts.add(json_text(parts)))
        index = array("I", (numbers[number] for number in self._path))
        return {"values": JsonList(texts.values), "index": index}

    def _places(self) -> Iterator[tuple[Words, int]]:
        words = self._words.values
        return (
            (words[which], index) for which, index in zip(self._which, self._index, strict=True)
        )

    def to_dict(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The columns, and the fragments of the dump. ``dump``: the packet's row in these."""
        paths = self._paths()
        self._found = None  # fragments need its memory
        self._known = array("i")
        self._known_streams.clear()
        self._streams.clear()
        fragments = self._fragments.to_dict()
        patched = self._patched.to_document()
        return {
            **{name: column.to_document() for name, column in self._columns.items()},
            "place.stream": self._stream.to_document(),
            "place.path": paths,
            "place.gpuaddr": HexColumn(
                [words.address + 4 * index for words, index in self._places()]
            ),
            "place.file_offset": HexColumn(
                array("Q", (words.file_offset + 4 * index for words, index in self._places()))
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
            "values": JsonList(list(map(json_text, rows))),
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
    drawn = capture._take_draw_registers() if releases else capture._source.draw_registers
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


class RegisterPart(NamedTuple):
    """``registers`` and ``dump`` of the document, as the caller wants them.

    ``cuts``: what was left out. ``problems``, ``truncated``: of the capture, by then.
    """

    registers: object
    dump: object
    attributes: DrawAttributes
    cuts: list[str]
    problems: list[Problem]
    truncated: list[Truncation]

    def report_problems(self, capture: Capture) -> None:
        """Have the problems reported with those of what a capture finds itself, before them."""
        capture._source.problems.extend(self.problems)
        capture._source.content.note_truncated(self.truncated)


def register_part(capture: Capture, keep: Callable[[object], object]) -> RegisterPart:
    """Decode the commands; nothing else uses the capture. ``keep``: makes a member of the result.

    Raises CaptureError where the capture has no commands.
    """
    cuts, writes = Cuts(), RegisterWrites()
    capture._source.walk_for_tables(writes.add)
    orders, attributes = _draws(capture)
    registers: object = {"types": [], "columns": [], "writes": None}
    dump: object = None
    if orders:
        registers, dump = register_columns(capture, orders, cuts, releases=True, found=writes)
    del writes
    kept = keep(registers), keep(dump)
    problems = list(capture._source.problems)
    return RegisterPart(*kept, attributes, cuts.texts, problems, list(capture.truncated))


def _draws(capture: Capture) -> tuple[dict[int, int], DrawAttributes]:
    """``Action.order`` of each draw -> its number in the report; their attributes."""
    orders: dict[int, int] = {}
    sets, numbers = AttributeSets(capture), array("i")
    draws = chain.from_iterable(pass_.draws for pass_ in capture.passes[:MAX_PASSES])
    for draw in islice(draws, MAX_DRAWS):
        orders[draw.order] = len(orders)
        numbers.append(sets.add(draw))
    return orders, DrawAttributes(numbers, sets.documents())
