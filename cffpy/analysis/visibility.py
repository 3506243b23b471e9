# SPDX-License-Identifier: MIT
"""The visibility of passes: what the streams that a binning run wrote say of a pass's tiles.

A capture holds the memory of one moment. Where several passes of a submit use the same buffers, as
both Mesa drivers have them do, at most one of these wrote what is captured; and a capture that was
taken before the GPU ran holds what an earlier submit wrote. So streams are compared with the
pass's draws, and only streams that fit describe its tiles.

All sizes are bytes. None means that it is not known.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from cffpy.analysis.passes.streams import capacity
from cffpy.capture.gpu import generation_name, generation_of, is_adreno
from cffpy.frame.passes import Pass, Pipe, TileVisibility, VisibilityStreams
from cffpy.frame.visibility import (
    PassVisibility,
    PipeStreams,
    StreamPart,
    VisibleEntry,
    cell_of,
)
from cffpy.vsc.bits import MAX_BINS, slot_bit
from cffpy.vsc.pipe import DRAW_STREAM, decode_pipe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.frame.passes import (
        Passes,
        PipeMemory,
        StreamDraw,
        Tile,
    )
    from cffpy.vsc.pipe import DrawVisibility, PipeVisibility

# -- entries and draws ---------------------------------------------------------------------------

_UNLIMITED = 1 << 64


class Spans:
    """Which entries of a stream of ``entries`` entries are whose: of ``draws`` of the binning run.

    Most draw packets have one entry. Of some only a range is known: draws that only the GPU decides
    on, and multi draws. The number of entries of the whole stream often settles these.

    ``least``, ``most``: entries of all draws together. Where ``entries`` lies outside, the stream
    is not of these draws, and no entry belongs to any.
    """

    def __init__(self, draws: Sequence[StreamDraw], entries: int) -> None:
        self.draws = draws
        least = list(accumulate((draw.least for draw in draws), initial=0))
        most = list(
            accumulate(
                (_UNLIMITED if draw.most is None else draw.most for draw in draws), initial=0
            )
        )
        self.least, self.most = least[-1], most[-1]
        self.fits = self.least <= entries <= self.most
        #: The first entry of each draw, and the end of the last one; None: unknown.
        self.starts: list[int | None] = [None] * len(least)
        #: Draws whose first entry and end are known: (first, end, position), ascending.
        self.known: list[tuple[int, int, int]] = []
        if not self.fits:
            return
        for position, (before, at_most) in enumerate(zip(least, most, strict=True)):
            lowest = max(before, entries - (self.most - at_most))
            highest = min(at_most, entries - (self.least - before))
            if lowest == highest:
                self.starts[position] = lowest
        for position in range(len(draws)):
            first, end = self.starts[position], self.starts[position + 1]
            if first is not None and end is not None and end > first:
                self.known.append((first, end, position))
        self._firsts = [first for first, _, _ in self.known]

    @property
    def limited(self) -> int | None:
        """``most``, or None where nothing limits the entries."""
        return self.most if self.most < _UNLIMITED else None

    def draw_at(self, entry: int) -> StreamDraw | None:
        """The draw that an entry belongs to; None if it is unknown."""
        if not self.known:
            return None
        place = bisect_right(self._firsts, entry) - 1
        if place < 0 or entry >= self.known[place][1]:
            return None
        return self.draws[self.known[place][2]]

    def instances(self, entries: int) -> list[int | None]:
        """Instances of each entry, None where not known."""
        instances: list[int | None] = [None] * entries
        for first, end, position in self.known:
            if end == first + 1:
                instances[first] = self.draws[position].instances
        return instances

    def primitives(self) -> int | None:
        """All primitives of all instances of all draws, None where one's are not known."""
        total = 0
        for position, draw in enumerate(self.draws):
            first, end = self.starts[position], self.starts[position + 1]
            if first is not None and first == end:
                continue
            if draw.most != 1 or draw.primitives is None or draw.instances is None:
                return None
            total += draw.primitives * draw.instances
        return total


# -- tiles and bins ------------------------------------------------------------------------------

#: Number of a tile -> the pipe and the bins that it uses, where nothing contradicts that.
Use = dict[int, tuple["PipeStreams", tuple[int, ...]]]


def tile_slots(tile: Tile) -> tuple[int, ...]:
    """The slots whose visibility a tile takes; several where it covers merged bins."""
    if tile.merged_slots:
        return tile.merged_slots
    return () if tile.slot is None else (tile.slot,)


def give_slots(result: PassVisibility) -> Use:
    """Enter the tiles into their pipes' slots; what does not agree becomes a finding."""
    use: Use = {}
    by_number = {pipe.pipe.number: pipe for pipe in result.pipes}
    for tile in result.pass_.tiles:
        pipe = by_number.get(-1 if tile.pipe is None else tile.pipe)
        if pipe is None:
            result.add_finding(f"tile {tile.number} lies in no VSC pipe")
            continue
        slots = tile_slots(tile)
        for slot in slots:
            pipe.tiles.setdefault(slot, []).append(tile)
        problems = _problems(result, pipe, tile)
        for problem in problems:
            result.add_finding(f"tile {tile.number}: {problem}")
        if not problems:
            use[tile.number] = pipe, slots
    for pipe in result.pipes:
        for slot, tiles in sorted(pipe.tiles.items()):
            if len(tiles) > 1:
                numbers = ", ".join(str(tile.number) for tile in tiles)
                result.add_finding(
                    f"pipe {pipe.pipe.number}: tiles {numbers} have one slot, {slot}"
                )
                for tile in tiles:
                    use.pop(tile.number, None)
    return use


def fill_tiles(result: PassVisibility, use: Use) -> None:
    """What is visible in each tile, as far as it is known."""
    everything: dict[int, int | None] = dict.fromkeys(range(len(result.pass_.draws)))
    for tile in result.pass_.tiles:
        visible: dict[int, int | None] | None = None
        if tile.visibility_override:
            visible = everything if result.entries_known else None
        elif tile.visibility_override is False and tile.number in use:
            pipe, bins = use[tile.number]
            visible = _of_bins(pipe, bins) if pipe.is_trusted else None
        if visible is not None:
            result.by_tile[tile.number] = TileVisibility(tile, visible)


def _problems(result: PassVisibility, pipe: PipeStreams, tile: Tile) -> list[str]:
    """What does not agree about the bin that a tile uses."""
    return [
        *_slot_problems(result, pipe, tile),
        *_address_problems(pipe, tile),
        *_draw_problems(result, tile),
    ]


def _slot_problems(result: PassVisibility, pipe: PipeStreams, tile: Tile) -> Iterator[str]:
    slots, bin_count = tile_slots(tile), pipe.bin_count
    if not slots:
        yield "its slot is unknown"
    if tile.pipe_tiles != bin_count:
        yield f"its pipe should have {tile.pipe_tiles} bins, but has {bin_count}"
    for slot in slots:
        if slot >= bin_count:
            yield f"slot {slot}, but its pipe has {bin_count} bins"
    cell = cell_of(result.pass_, tile)
    if cell is not None and len(slots) == 1:
        column, row = cell.column - pipe.pipe.x, cell.row - pipe.pipe.y
        wanted = row * pipe.pipe.width + column
        if wanted not in slots:
            yield f"slot {slots[0]}, but by its place it has slot {wanted}"


def _address_problems(pipe: PipeStreams, tile: Tile) -> Iterator[str]:
    if tile.streams is None:
        return
    written_addresses = pipe.draw_stream.address, pipe.size_address, pipe.primitive_stream.address
    names = "draw stream", "size", "primitive stream"
    for name, address, written in zip(names, tile.streams, written_addresses, strict=True):
        if address is not None and address != written:
            where = "nowhere" if written is None else f"at {written:#x}"
            yield f"it has its {name} at {address:#x}, the VSC wrote it {where}"


def _draw_problems(result: PassVisibility, tile: Tile) -> Iterator[str]:
    if not result.entries_known or not tile.is_whole:
        return
    actions = [*tile.draws, *(operation.action for operation in tile.operations)]
    count = sum(action.execution.is_possible and action.uses_visibility for action in actions)
    if count != len(result.pass_._stream_draws):
        yield (
            f"it has {count} draw packets that go by streams, the binning run has"
            f" {len(result.pass_._stream_draws)}"
        )


def _of_bins(pipe: PipeStreams, bins: tuple[int, ...]) -> dict[int, int | None] | None:
    """The draws that are visible in bins, with their primitives; None if one is unknown.

    ``bins``: slots in the pipe.
    """
    mask = sum(slot_bit(slot) for slot in bins)
    primitives: dict[int, int | None] = {}
    for entry in pipe.visible:
        if not entry.bitfield & mask:
            continue
        if entry.stream_draw is None:
            return None
        number = entry.draw
        if number is None:
            continue  # the driver's own
        count = entry.primitives[bins[0]] if entry.primitives and len(bins) == 1 else None
        if pipe.primitives_per_bin is None:
            count = None
        before = primitives.get(number, 0)
        primitives[number] = None if before is None or count is None else before + count
    return dict(sorted(primitives.items()))


# -- reading -------------------------------------------------------------------------------------

#: Bytes of draw streams that are decoded of a pipe and of a pass: in memory they become hundreds of
#: times as large. Entries of a stream that are compared with draws.
MAX_PIPE_BYTES = 1 << 18
MAX_PASS_BYTES = 1 << 19
_MAX_ENTRIES = 1 << 20

#: Bytes that one reader decodes in all, where a byte of a draw stream counts more: it costs more.
BUDGET = 1 << 28
_DRAW_BYTE_COST = 16


class VisibilityReader:
    """Decodes the streams of a capture's passes; what it decodes in all has a limit."""

    def __init__(self, passes: Passes, budget: int = BUDGET) -> None:
        """``passes``: all of the capture, which tell who shares a stream.

        ``budget``: bytes to decode in all, of which a byte of a draw stream counts 16.
        """
        self._last: PassVisibility | None = None
        self._found = passes
        self._budget = budget
        self._users: dict[tuple[int, int], list[int]] = {}
        for pass_ in passes.passes:
            if pass_.visibility_streams is not None and pass_.visibility_streams.draw:
                key = pass_.submit, pass_.visibility_streams.draw
                self._users.setdefault(key, []).append(pass_.index)

    def of(self, pass_: Pass) -> PassVisibility:
        """The visibility of a pass; read once where the pass before was the same.

        Decoded streams may be large, so the streams of one pass are kept. Actions and tiles are
        asked about in the order of passes.
        """
        last = self._last
        if last is None or last.pass_ is not pass_:
            last = self._last = self.read(pass_)
        return last

    def read(self, pass_: Pass) -> PassVisibility:
        """The visibility of a pass, decoded."""
        result = PassVisibility(pass_)
        streams = pass_.visibility_streams
        if not pass_.hardware_binning:
            result.reason = "no hardware binning"
        else:
            result.reason = undecoded_format(self._found.generation)
            if result.reason is None and streams is None:
                result.reason = "not decoded: the place of the streams is unknown"
        if result.reason is not None or streams is None:
            _place(result)
            return result
        result.entries_known = pass_.binning is not None and pass_.binning.is_whole
        draws = Spans(pass_._stream_draws, 0)
        result.least_entries, result.most_entries = draws.least, draws.limited
        users = self._users.get((pass_.submit, streams.draw or 0), ())
        result.shared_with = [index for index in users if index != pass_.index]
        left = MAX_PASS_BYTES
        for pipe in pass_.pipes:
            memory = pass_._stream_memory.get(pipe.number)
            pipe_streams = _undecoded(pass_, pipe, streams, memory)
            if memory is not None and self._has_stream(pipe_streams, memory, left):
                draws_of = pass_._stream_draws if result.entries_known else None
                left -= self._decode(pipe_streams, memory, draws_of)
            result.pipes.append(pipe_streams)
        use = give_slots(result)
        fill_tiles(result, use)
        return result

    def _has_stream(self, pipe: PipeStreams, memory: PipeMemory, left: int) -> bool:
        """Whether there is something to decode, and not too much. ``left``: bytes for the pass."""
        room, size = pipe.draw_stream.capacity, memory.size
        if size and room is not None and size > room:
            pipe.state = "overflowed"
            pipe.reason = f"the draw stream has {size} bytes, its limit is {room}"
            return False
        if memory.draw is None:
            return False
        if not _is_written(memory.draw):
            pipe.state = "not written"
            if size:
                pipe.add_finding(f"its size should be {size} bytes, but all are zero")
            return False
        pipe.state = "not decoded"
        if pipe.bin_count > MAX_BINS:
            pipe.reason = f"a pipe of {pipe.bin_count} bins; the format has {MAX_BINS}"
        elif size and size > MAX_PIPE_BYTES:
            pipe.reason = f"a draw stream of {size} bytes; more than {MAX_PIPE_BYTES} are too many"
        elif (size or 0) > left or left <= 0 or self._budget <= 0:
            pipe.reason = "there is too much before it"
        else:
            return True
        return False

    def _decode(
        self, pipe: PipeStreams, memory: PipeMemory, draws: Sequence[StreamDraw] | None
    ) -> int:
        """Decode a pipe's streams, compare them with the draws (None: not known).

        Returns how many bytes the draw stream had.
        """
        assert memory.draw is not None
        size = memory.size or None
        _check_size(pipe, memory.size)
        data = memory.draw[: size or MAX_PIPE_BYTES]
        # alone first: it gives the number of entries and primitive streams
        alone = decode_pipe(data, None, pipe.bin_count, draw_stream_size=size)
        taken = len(data) if alone.draw_stream_size is None else alone.draw_stream_size
        self._budget -= taken * _DRAW_BYTE_COST
        primitives = self._primitives(pipe, memory, alone)
        spans = None
        if draws is not None and alone.is_whole and alone.draw_count <= _MAX_ENTRIES:
            spans = _spans(pipe, draws, alone.draw_count)
        decoded = None
        if spans is not None and spans.fits:
            counts = spans.instances(alone.draw_count)
            decoded = decode_pipe(data, primitives, pipe.bin_count, counts, None, size, False)
            if not decoded.is_whole:
                pipe.fits = False
                pipe.add_finding(f"{decoded.findings[-1]}: so it is not of this pass's draws")
                decoded = None
        if decoded is None and not primitives:
            decoded = alone
        elif decoded is None:
            decoded = decode_pipe(
                data, primitives, pipe.bin_count, None, None, size, keep_runs=False
            )
        _note_damage(pipe, decoded)
        _summarise(pipe, decoded, spans, primitives is not None)
        return taken

    def _primitives(
        self, pipe: PipeStreams, memory: PipeMemory, alone: PipeVisibility
    ) -> memoryview | None:
        """The primitive streams, b"" where there should be none; None where they are not usable."""
        size = pipe.primitive_stream.size = alone.primitive_stream_size
        room = pipe.primitive_stream.capacity
        if not size:
            return memoryview(b"")
        if room is not None and size > room and alone.is_whole:
            pipe.state = "overflowed"
            pipe.reason = f"the primitive streams have {size} bytes, their limit is {room}"
            return None
        if memory.primitive is None:
            return None
        if not _is_written(memory.primitive):
            pipe.add_finding(f"primitive streams of {size} bytes, but all are zero")
            return None
        if size > self._budget:
            pipe.add_finding(f"primitive streams of {size} bytes: there is too much before them")
            return None
        self._budget -= size
        return memory.primitive[:size]


def _place(result: PassVisibility) -> None:
    """Where the streams of each pipe are, whose format is not known."""
    pass_ = result.pass_
    streams = pass_.visibility_streams
    if streams is None or not pass_.hardware_binning:
        return
    result.entries_known = False
    for pipe in pass_.pipes:
        memory = pass_._stream_memory.get(pipe.number)
        placed = _undecoded(pass_, pipe, streams, memory)
        if memory is not None and memory.draw is not None:
            placed.state = "not decoded" if _is_written(memory.draw) else "not written"
        if placed.state == "not decoded":
            placed.reason = "its format is not known"
        result.pipes.append(placed)
    if any(tile.pipe_tiles for tile in pass_.tiles):
        give_slots(result)


def _check_size(pipe: PipeStreams, size: int | None) -> None:
    """Compare the size that the capture has of a draw stream that is not all zero, in bytes."""
    if size == 0:
        pipe.add_finding("its size should be 0 bytes, but not all are zero")
    elif size is not None and size == pipe.draw_stream.capacity:
        pipe.add_finding("it is as large as its limit: drivers take it to have overflowed")


def _spans(pipe: PipeStreams, draws: Sequence[StreamDraw], entries: int) -> Spans:
    """The entries of each draw, if the streams are those of these draws."""
    spans = Spans(draws, entries)
    pipe.fits = spans.fits
    if not spans.fits:
        pipe.add_finding(_other_draws(entries, spans))
    return spans


def _note_damage(pipe: PipeStreams, decoded: PipeVisibility) -> None:
    # damage of the draw stream first: it explains others
    for finding in sorted(decoded.findings, key=lambda finding: finding.stream != DRAW_STREAM):
        pipe.add_finding(str(finding))
    if pipe.state != "overflowed":
        pipe.state = "damaged" if decoded.findings else "decoded"


def undecoded_format(generation: int) -> str | None:
    """Why the streams of a generation are not decoded; None where they are."""
    if not is_adreno(generation) or generation_of(generation).decodes_visibility:
        return None
    return f"not decoded ({generation_name(generation)} format)"


def _is_written(stream: memoryview) -> bool:
    """Whether a bit is set: a stream has one soon."""
    return bool(bytes(stream[:MAX_PIPE_BYTES]).strip(b"\0"))


def _undecoded(
    pass_: Pass, pipe: Pipe, streams: VisibilityStreams, memory: PipeMemory | None
) -> PipeStreams:
    """Where a pipe's streams are."""

    def part(base: int | None, pitch: int | None, limit: int | None) -> StreamPart:
        known = base is not None and pitch is not None
        address = (base or 0) + pipe.number * (pitch or 0) if known else None
        return StreamPart(address, capacity(pitch, limit), 0)

    draw = part(streams.draw, streams.draw_pitch, streams.draw_limit)
    if pipe.stream is not None:
        draw = StreamPart(pipe.stream, pipe.stream_limit, 0)
    pipe_streams = PipeStreams(
        pass_,
        pipe,
        draw,
        part(streams.primitive, streams.primitive_pitch, streams.primitive_limit),
        None if streams.sizes is None else streams.sizes + 4 * pipe.number,
    )
    if memory is not None:
        pipe_streams.draw_stream.size = memory.size
        pipe_streams.draw_stream.captured = len(memory.draw or b"")
        pipe_streams.primitive_stream.captured = len(memory.primitive or b"")
    if not pipe_streams.draw_stream.address or not pipe_streams.draw_stream.capacity:
        pipe_streams.reason = "the place of its draw stream is unknown"
    return pipe_streams


def _other_draws(entries: int, spans: Spans) -> str:
    most = spans.limited
    wanted = str(spans.least) if spans.least == most else f"{spans.least} to {most or 'any number'}"
    return f"it has {entries} draws, but the binning run executed {wanted}: it is not of this pass"


def _summarise(
    pipe: PipeStreams, decoded: PipeVisibility, spans: Spans | None, has_primitives: bool
) -> None:
    """Keep sums of a decoded pipe, which as a whole is large."""
    pipe.entries = decoded.draw_count
    pipe.entries_per_bin = decoded.draws_per_bin
    if has_primitives:
        pipe.primitives_per_bin = decoded.primitives_per_bin
        pipe.primitives = decoded.primitive_count
    compares = spans is not None and pipe.fits is True
    for draw in decoded.draws:
        if draw.bins:
            owner = spans.draw_at(draw.draw) if spans is not None and compares else None
            counts = _per_bin(draw, pipe.bin_count)
            entry = VisibleEntry(draw.draw, counts, draw.bins, owner)
            pipe.visible.append(entry)
            if owner is not None and owner.primitives is not None and has_primitives:
                _compare_primitives(pipe, draw, owner.primitives)
    if spans is not None and compares and has_primitives:
        total = spans.primitives()
        if total is not None and pipe.fits:
            pipe.primitives, pipe.primitives_whole = total, True


def _per_bin(draw: DrawVisibility, bin_count: int) -> tuple[int, ...] | None:
    """Primitives of all instances of a draw, by slot."""
    counts = [0] * bin_count
    for item in draw.instances:
        if not item.run.bins:
            continue
        if item.primitives_per_bin is None:
            return None
        counts = [total + more for total, more in zip(counts, item.primitives_per_bin, strict=True)]
    return tuple(counts)


def _compare_primitives(pipe: PipeStreams, draw: DrawVisibility, wanted: int) -> None:
    for item in draw.instances:
        if item.primitives is not None and item.primitives != wanted and pipe.state == "decoded":
            pipe.fits = False
            pipe.add_finding(
                f"draw {draw.draw}, instance {item.run.first}: {item.primitives} primitives in its"
                f" stream, but the draw has {wanted}"
            )
