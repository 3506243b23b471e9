# SPDX-License-Identifier: MIT
"""VisibilityReader: what the streams that a binning run wrote say of a pass's tiles.

A capture holds the memory of one moment. Where several passes of a submit use the same buffers, as
both Mesa drivers have them do, at most one of these wrote what is captured; and a capture that was
taken before the GPU ran holds what an earlier submit wrote. So streams are compared with the
pass's draws, and only streams that fit describe its tiles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.passes.streams import capacity
from cffpy.analysis.stream_spans import Spans
from cffpy.analysis.stream_tiles import fill_tiles, give_slots
from cffpy.analysis.visibility_model import (
    Findings,
    PassVisibility,
    PipeStreams,
    StreamPart,
    VisibleEntry,
)
from cffpy.capture.gpu import generation_name, generation_of, is_adreno
from cffpy.frame.passes import TileVisibility
from cffpy.vsc.bits import MAX_BINS
from cffpy.vsc.pipe import DRAW_STREAM, decode_pipe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.frame.passes import (
        Pass,
        Passes,
        Pipe,
        PipeMemory,
        StreamDraw,
        VisibilityStreams,
    )
    from cffpy.vsc.pipe import DrawVisibility, PipeVisibility

__all__ = [
    "Findings",
    "PassVisibility",
    "PipeStreams",
    "StreamPart",
    "TileVisibility",
    "VisibilityReader",
    "VisibleEntry",
]

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

    def __init__(self, found: Passes, budget: int = BUDGET) -> None:
        """``budget``: bytes to decode in all, of which a byte of a draw stream counts 16."""
        self._found = found
        self._budget = budget
        self._users: dict[tuple[int, int], list[int]] = {}
        for one in found.passes:
            if one.visibility_streams is not None and one.visibility_streams.draw:
                key = one.submit, one.visibility_streams.draw
                self._users.setdefault(key, []).append(one.index)

    def read(self, one: Pass) -> PassVisibility:
        """The visibility of a pass."""
        result = PassVisibility(one)
        streams = one.visibility_streams
        if not one.hardware_binning:
            result.reason = "no hardware binning"
        else:
            result.reason = undecoded_format(self._found.generation)
            if result.reason is None and streams is None:
                result.reason = "not decoded: the place of the streams is unknown"
        if result.reason is not None or streams is None:
            return result
        result.draws_known = one.binning is not None and one.binning.is_whole
        draws = Spans(one.stream_draws, 0)
        result.least_draws, result.most_draws = draws.least, draws.limited
        users = self._users.get((one.submit, streams.draw or 0), ())
        result.shared_with = [index for index in users if index != one.index]
        left = MAX_PASS_BYTES
        for pipe in one.pipes:
            found = _undecoded(streams, pipe, one.stream_memory.get(pipe.number))
            memory = one.stream_memory.get(pipe.number)
            if memory is not None and self._has_stream(found, memory, left):
                draws_of = one.stream_draws if result.draws_known else None
                left -= self._decode(found, memory, draws_of)
            result.pipes.append(found)
        use = give_slots(result)
        fill_tiles(result, use)
        return result

    def _has_stream(self, pipe: PipeStreams, memory: PipeMemory, left: int) -> bool:
        """Whether there is something to decode, and not too much. ``left``: bytes for the pass."""
        room, size = pipe.draw.capacity, memory.size
        if size and room is not None and size > room:
            pipe.state = "overflowed"
            pipe.reason = f"the draw stream has {size} bytes, its limit is {room}"
            return False
        if memory.draw is None:
            return False
        if not _is_written(memory.draw):
            pipe.state = "not written"
            if size:
                pipe.findings.add(f"its size should be {size} bytes, but all are zero")
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
                pipe.findings.add(f"{decoded.findings[-1]}: so it is not of this pass's draws")
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
        size = pipe.primitive.size = alone.primitive_stream_size
        room = pipe.primitive.capacity
        if not size:
            return memoryview(b"")
        if room is not None and size > room and alone.is_whole:
            pipe.state = "overflowed"
            pipe.reason = f"the primitive streams have {size} bytes, their limit is {room}"
            return None
        if memory.primitive is None:
            return None
        if not _is_written(memory.primitive):
            pipe.findings.add(f"primitive streams of {size} bytes, but all are zero")
            return None
        if size > self._budget:
            pipe.findings.add(f"primitive streams of {size} bytes: there is too much before them")
            return None
        self._budget -= size
        return memory.primitive[:size]


def _check_size(pipe: PipeStreams, size: int | None) -> None:
    """Compare the size that the capture has of a draw stream that is not all zero, in bytes."""
    if size == 0:
        pipe.findings.add("its size should be 0 bytes, but not all are zero")
    elif size is not None and size == pipe.draw.capacity:
        pipe.findings.add("it is as large as its limit: drivers take it to have overflowed")


def _spans(pipe: PipeStreams, draws: Sequence[StreamDraw], entries: int) -> Spans:
    """The entries of each draw, if the streams are those of these draws."""
    spans = Spans(draws, entries)
    pipe.fits = spans.fits
    if not spans.fits:
        pipe.findings.add(_other_draws(entries, spans))
    return spans


def _note_damage(pipe: PipeStreams, decoded: PipeVisibility) -> None:
    # damage of the draw stream first: it explains others
    for finding in sorted(decoded.findings, key=lambda one: one.stream != DRAW_STREAM):
        pipe.findings.add(str(finding))
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


def _undecoded(streams: VisibilityStreams, pipe: Pipe, memory: PipeMemory | None) -> PipeStreams:
    """Where a pipe's streams are."""

    def part(base: int | None, pitch: int | None, limit: int | None) -> StreamPart:
        known = base is not None and pitch is not None
        address = (base or 0) + pipe.number * (pitch or 0) if known else None
        return StreamPart(address, capacity(pitch, limit), 0)

    found = PipeStreams(
        pipe,
        part(streams.draw, streams.draw_pitch, streams.draw_limit),
        part(streams.primitive, streams.primitive_pitch, streams.primitive_limit),
        None if streams.sizes is None else streams.sizes + 4 * pipe.number,
    )
    if memory is not None:
        found.draw.size = memory.size
        found.draw.captured = len(memory.draw or b"")
        found.primitive.captured = len(memory.primitive or b"")
    if not found.draw.address or not found.draw.capacity:
        found.reason = "the place of its draw stream is unknown"
    return found


def _other_draws(entries: int, spans: Spans) -> str:
    most = spans.limited
    wanted = str(spans.least) if spans.least == most else f"{spans.least} to {most or 'any number'}"
    return f"it has {entries} draws, but the binning run executed {wanted}: it is not of this pass"


def _summarise(
    pipe: PipeStreams, decoded: PipeVisibility, spans: Spans | None, has_primitives: bool
) -> None:
    """Keep sums of a decoded pipe, which as a whole is large."""
    pipe.entries = decoded.draw_count
    pipe.draws_per_bin = decoded.draws_per_bin
    if has_primitives:
        pipe.primitives_per_bin = decoded.primitives_per_bin
        pipe.primitives = decoded.primitive_count
    compares = spans is not None and pipe.fits is True
    for draw in decoded.draws:
        if draw.bins:
            owner = spans.draw_at(draw.draw) if spans is not None and compares else None
            entry = VisibleEntry(draw.draw, owner, draw.bins, _per_bin(draw, pipe.bin_count))
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
            pipe.findings.add(
                f"draw {draw.draw}, instance {item.run.first}: {item.primitives} primitives in its"
                f" stream, but the draw has {wanted}"
            )
