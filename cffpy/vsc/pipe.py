# SPDX-License-Identifier: MIT
"""The streams of one VSC pipe together: draws with their primitives, totals per bin, findings.

Errors are collected with their location, and decoding continues where that is possible. A draw
stream ends at its first damage: its packets are not aligned. A primitive stream that is damaged
does no harm to others, because the draw stream says where each one lies.

``expand`` goes through a draw stream draw by draw, instance by instance. The stream does not hold
the instance counts of draws that are empty, nor of those whose last instances are. Where the counts
are given they fill this in and are checked; else it stays unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from cffpy.errors import VisibilityStreamError
from cffpy.vsc import draw_stream, primitive_stream
from cffpy.vsc.bits import as_written, count_per_slot, dwords

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cffpy.vsc.draw_stream import DrawPacket
    from cffpy.vsc.primitive_stream import PrimitiveRun


class PrimitivePlace(NamedTuple):
    """Where a primitive stream lies in the pipe's buffer, in dwords."""

    offset: int
    size: int


class InstanceRun(NamedTuple):
    """Instances of a draw, or draws, that cover the same bins.

    ``draw``: the draw, or the first of ``draws`` draws; they count from 0 at the stream's begin.
    More than one draw are empty and of one instance each.
    ``first``: the first instance; ``instances``: how many, None for all remaining ones, a number
    that is not known.
    ``bins``: bitfield of the bins; ``place``: the primitive stream of the instance that has bins.
    ``ends_draw``: no instances of the draw follow.
    ``offset``: of the packet with this visibility, in bits.
    """

    draw: int
    draws: int
    first: int
    instances: int | None
    bins: int
    place: PrimitivePlace | None
    ends_draw: bool
    offset: int


def expand(
    packets: Iterable[DrawPacket], instance_counts: Sequence[int | None] | None = None
) -> Iterator[InstanceRun]:
    """What the packets of a whole stream say, in the order of the draws.

    Few packets may skip billions of draws, so these come as one run.

    ``instance_counts``: one for each draw of the pass, None where it is not known. A draw of 0
    instances counts as one that is empty.

    Raises VisibilityStreamError where the counts and the stream do not agree, where the stream
    ends inside a draw, and what ``packets`` raises, each after what was sound before.
    """
    walk = _Walk(instance_counts)
    for packet in packets:
        if packet.bins:
            yield walk.visible(packet)
        elif packet.more_instances:
            yield walk.skip_instances(packet)
        else:
            yield walk.skip_rest(packet)
            if packet.number > 1:
                yield walk.skip_draws(packet)
    walk.end()


class _Walk:
    """The next instance to report, and the checks against the counts."""

    def __init__(self, counts: Sequence[int | None] | None) -> None:
        self._counts = counts
        self._draw = 0
        self._instance = 0
        self._dwords = 0  # of the primitive streams so far
        self._offset = 0

    def visible(self, packet: DrawPacket) -> InstanceRun:
        """An instance of a draw that covers some bins."""
        count = self._count(packet)
        left = None if count is None else count - self._instance
        if left is not None and (left < 1 or packet.more_instances != (left > 1)):
            more = "more instances follow" if packet.more_instances else "this is the last instance"
            raise self._disagreement(
                f"draw {self._draw}, instance {self._instance}: {more}, but the draw has {count}"
            )
        place = PrimitivePlace(self._dwords, packet.number)
        self._dwords += packet.number
        ends = not packet.more_instances
        run = self._run(1, packet, place, ends)
        self._advance(1, ends)
        return run

    def skip_instances(self, packet: DrawPacket) -> InstanceRun:
        """Empty instances of a draw that continues."""
        count = self._count(packet)
        if count is not None and self._instance + packet.number >= count:
            raise self._disagreement(
                f"draw {self._draw}, instance {self._instance}: {packet.number} instances are"
                f" empty and more follow, but the draw has {count}"
            )
        run = self._run(packet.number, packet, None, False)
        self._advance(packet.number, False)
        return run

    def skip_rest(self, packet: DrawPacket) -> InstanceRun:
        """All remaining instances of a draw are empty."""
        count = self._count(packet)
        run = self._run(None if count is None else count - self._instance, packet, None, True)
        self._advance(0, True)
        return run

    def skip_draws(self, packet: DrawPacket) -> InstanceRun:
        """The empty draws after that, which have one instance each."""
        draws = packet.number - 1
        first, behind = self._draw, self._draw + draws
        if self._counts is not None:
            if behind > len(self._counts):
                raise self._disagreement(
                    f"draws {first} to {behind - 1} are empty, but there are {len(self._counts)}"
                )
            for draw in range(first, behind):
                count = self._counts[draw]
                if count is not None and count > 1:
                    raise self._disagreement(
                        f"draw {draw} is skipped with those before it, but has {count} instances"
                    )
        self._draw = behind
        return InstanceRun(first, draws, 0, 1, 0, None, True, packet.offset)

    def end(self) -> None:
        """The stream is over: is the pass?"""
        if self._instance:
            raise self._disagreement(
                f"the stream ends inside draw {self._draw}, after {self._instance} instances"
            )
        if self._counts is not None and self._draw < len(self._counts):
            raise self._disagreement(
                f"the stream ends after {self._draw} of {len(self._counts)} draws"
            )

    def _count(self, packet: DrawPacket) -> int | None:
        """Instances of the current draw, if known."""
        self._offset = packet.offset
        if self._counts is None:
            return None
        if self._draw >= len(self._counts):
            raise self._disagreement(
                f"the stream continues with draw {self._draw}, but there are {len(self._counts)}"
            )
        return self._counts[self._draw]

    def _run(
        self, instances: int | None, packet: DrawPacket, place: PrimitivePlace | None, ends: bool
    ) -> InstanceRun:
        return InstanceRun(
            self._draw, 1, self._instance, instances, packet.bins, place, ends, packet.offset
        )

    def _advance(self, instances: int, ends: bool) -> None:
        self._instance = 0 if ends else self._instance + instances
        self._draw += ends

    def _disagreement(self, message: str) -> VisibilityStreamError:
        return VisibilityStreamError(message, self._offset)


DRAW_STREAM = "draw stream"
PRIMITIVE_STREAM = "primitive stream"


class StreamFinding(NamedTuple):
    """An error in a stream. ``bit_offset`` counts from the start of the pipe's buffer.

    ``stream``: DRAW_STREAM or PRIMITIVE_STREAM. ``draw``, ``instance``: None if it concerns none.
    """

    stream: str
    bit_offset: int
    draw: int | None
    instance: int | None
    message: str

    def __str__(self) -> str:
        of = "" if self.draw is None else f", draw {self.draw}"
        if self.instance is not None:
            of += f", instance {self.instance}"
        return (
            f"{self.stream}{of}: {self.message}"
            f" (at bit {self.bit_offset}, byte {self.bit_offset // 8:#x})"
        )


class Instances(NamedTuple):
    """Instances as the draw stream has them, and the primitives of one that has bins.

    ``primitives``: how many its primitive stream has, before any damage; ``primitives_per_bin``:
    by slot, how many cover the bin; ``runs``: the stream itself. None where there is no primitive
    stream to decode; ``runs`` also where they are not kept.
    """

    run: InstanceRun
    runs: tuple[PrimitiveRun, ...] | None = None
    primitives: int | None = None
    primitives_per_bin: tuple[int, ...] | None = None


class DrawVisibility(NamedTuple):
    """A draw, or ``draws`` empty draws of one instance each from ``draw`` on.

    ``bins``: all that any instance covers. ``is_whole``: False for a draw inside which the draw
    stream is damaged.
    """

    draw: int
    draws: int
    bins: int
    instances: tuple[Instances, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class PipeVisibility:
    """The decoded streams of a pipe.

    ``is_whole``: the draw stream could be decoded to its end, and fits the counts that were given.
    ``draw_stream_size``: bytes up to its end, as the VSC reports them; None unless it is whole.
    ``primitive_stream_size``: bytes of all primitive streams that the draw stream lists.
    ``draw_count``, ``primitive_count``: draws in the draw stream; primitives in decoded streams.
    ``skipped_primitives``: those of instances without bins, which have no primitive stream; None
    where the counts that are needed are not known.
    ``draws_per_bin``, ``primitives_per_bin``: by slot, how many cover the bin.
    """

    bin_count: int
    draws: tuple[DrawVisibility, ...]
    findings: tuple[StreamFinding, ...]
    is_whole: bool
    draw_stream_size: int | None
    primitive_stream_size: int
    draw_count: int
    primitive_count: int
    skipped_primitives: int | None
    draws_per_bin: tuple[int, ...]
    primitives_per_bin: tuple[int, ...]

    def culled_draws(self, slot: int) -> float | None:
        """The share (0 to 1) of the draws that a bin does not run; None without draws."""
        return _culled(self.draws_per_bin[slot], self.draw_count)

    def culled_primitives(self, slot: int) -> float | None:
        """The share (0 to 1) of the primitives that do not cover a bin.

        Of all that are known: without ``skipped_primitives`` those in primitive streams only.
        None if there are none.
        """
        known = self.primitive_count + (self.skipped_primitives or 0)
        return _culled(self.primitives_per_bin[slot], known)


def decode_pipe(
    draws: bytes | memoryview,
    primitives: bytes | memoryview | None,
    bin_count: int,
    instance_counts: Sequence[int | None] | None = None,
    primitive_counts: Sequence[int | None] | None = None,
    draw_stream_size: int | None = None,
    keep_runs: bool = True,
) -> PipeVisibility:
    """Decode the streams of a pipe; errors are in the findings. ValueError: ``bin_count``.

    ``draws``, ``primitives``: the contents of the pipe's buffers from their begin on, None if
    there is no such buffer. ``draw_stream_size``: bytes, as the VSC has reported them, if known.
    ``instance_counts``, ``primitive_counts``: one for each draw of the pass, None where not known;
    primitives are those of one instance. ``keep_runs``: False saves much memory.
    """
    decoder = _PipeDecoder(primitives, bin_count, primitive_counts, keep_runs)
    return decoder.run(draws, instance_counts, draw_stream_size)


class _PipeDecoder:
    """Gathers draws and findings of one pipe."""

    def __init__(
        self,
        primitives: bytes | memoryview | None,
        bin_count: int,
        primitive_counts: Sequence[int | None] | None,
        keep_runs: bool,
    ) -> None:
        self._bin_count = bin_count
        self._keep_runs = keep_runs
        self._primitive_counts = primitive_counts
        self._findings: list[StreamFinding] = []
        self._draws: list[DrawVisibility] = []
        self._dwords = 0
        self._primitives = None if primitives is None else bytes(primitives)
        if self._primitives and not self._primitives.strip(b"\0"):
            self._find(PRIMITIVE_STREAM, 0, "nothing but zeros: the streams were not written")
            self._primitives = None

    def run(
        self,
        data: bytes | memoryview,
        instance_counts: Sequence[int | None] | None,
        reported: int | None,
    ) -> PipeVisibility:
        if reported is not None and reported > len(data):
            self._find(
                DRAW_STREAM, 0, f"its size should be {reported} bytes, but {len(data)} are captured"
            )
        reader = draw_stream.open_stream(data[:reported], self._bin_count)
        packets = draw_stream.packets(reader, whole=reported is not None)
        is_whole = True
        size = None
        current: list[Instances] = []
        try:
            for run in expand(packets, instance_counts):
                current.append(self._instances(run))
                if run.ends_draw:
                    self._add(current, True)
                    current = []
        except VisibilityStreamError as problem:
            self._find(DRAW_STREAM, problem.bit_offset, problem.reason)
            is_whole = False
            if current:
                self._add(current, False)
        else:
            size = 4 * dwords(reader.position)
            if reported is not None and size != reported:
                self._find(
                    DRAW_STREAM,
                    reader.position,
                    f"it ends after {size} bytes, but its size should be {reported}",
                )
        return self._result(is_whole, size)

    def _add(self, instances: list[Instances], is_whole: bool) -> None:
        bins = 0
        for item in instances:
            bins |= item.run.bins
        first = instances[0].run
        self._draws.append(
            DrawVisibility(first.draw, first.draws, bins, tuple(instances), is_whole)
        )

    def _instances(self, run: InstanceRun) -> Instances:
        """With the primitives, as far as they can be decoded."""
        place = run.place
        if place is None:
            return Instances(run)
        self._dwords = place.offset + place.size
        if self._primitives is None:
            return Instances(run)
        data = self._primitives[4 * place.offset : 4 * (place.offset + place.size)]
        if len(data) < 4 * place.size:
            self._find(
                PRIMITIVE_STREAM,
                32 * place.offset,
                f"{place.size} dwords from dword {place.offset} on, but the buffer has only"
                f" {len(self._primitives) // 4}",
                run,
            )
            if not data:
                return Instances(run)
        reader = primitive_stream.open_stream(data, self._bin_count)
        kept: list[PrimitiveRun] = []
        counts: dict[int, int] = {}  # bins -> primitives that cover just these
        try:
            for item in primitive_stream.runs(reader, self._primitive_count(run.draw)):
                # one by one: those before the damage stay
                counts[item.bins] = counts.get(item.bins, 0) + item.primitives
                if self._keep_runs:
                    kept.append(item)
        except VisibilityStreamError as problem:
            self._find(
                PRIMITIVE_STREAM, 32 * place.offset + problem.bit_offset, problem.reason, run
            )
        else:
            self._check_primitives(run, place, counts, reader.position)
        return Instances(
            run,
            tuple(kept) if self._keep_runs else None,
            sum(counts.values()),
            tuple(count_per_slot(counts.items(), self._bin_count)),
        )

    def _check_primitives(
        self, run: InstanceRun, place: PrimitivePlace, counts: Iterable[int], position: int
    ) -> None:
        """Compare a primitive stream with what the draw stream says of it."""
        size = dwords(position)
        if size != place.size:
            self._find(
                PRIMITIVE_STREAM,
                32 * place.offset + position,
                f"it ends after {size} dwords, but the draw stream says {place.size}",
                run,
            )
        bins = 0
        for covered in counts:
            bins |= covered
        if bins != run.bins:
            self._find(
                PRIMITIVE_STREAM,
                32 * place.offset,
                f"its primitives cover bins {as_written(bins, self._bin_count)}, but the draw"
                f" stream says {as_written(run.bins, self._bin_count)}",
                run,
            )

    def _primitive_count(self, draw: int) -> int | None:
        """Primitives of an instance of a draw, if known."""
        counts = self._primitive_counts
        return counts[draw] if counts is not None and draw < len(counts) else None

    def _skipped_primitives(self, run: InstanceRun) -> int | None:
        """Primitives of instances without bins, if known."""
        if run.bins:
            return 0
        if run.instances is None or self._primitive_counts is None:
            return None
        counts = self._primitive_counts[run.draw : run.draw + run.draws]
        if len(counts) < run.draws:
            return None
        total = 0
        for count in counts:
            if count is None:
                return None
            total += count * run.instances
        return total

    def _result(self, is_whole: bool, size: int | None) -> PipeVisibility:
        instances = [item for draw in self._draws for item in draw.instances]
        per_bin = [item.primitives_per_bin for item in instances if item.primitives_per_bin]
        skipped: int | None = 0
        for item in instances:
            of_item = self._skipped_primitives(item.run)
            skipped = None if skipped is None or of_item is None else skipped + of_item
        return PipeVisibility(
            bin_count=self._bin_count,
            draws=tuple(self._draws),
            findings=tuple(self._findings),
            is_whole=is_whole,
            draw_stream_size=size,
            primitive_stream_size=4 * self._dwords,
            draw_count=sum([draw.draws for draw in self._draws]),
            primitive_count=sum([item.primitives or 0 for item in instances]),
            skipped_primitives=skipped,
            draws_per_bin=tuple(
                count_per_slot(((draw.bins, draw.draws) for draw in self._draws), self._bin_count)
            ),
            primitives_per_bin=tuple(map(sum, zip(*per_bin, strict=True)))
            or (0,) * self._bin_count,
        )

    def _find(
        self, stream: str, bit_offset: int, message: str, run: InstanceRun | None = None
    ) -> None:
        draw, instance = (None, None) if run is None else (run.draw, run.first)
        self._findings.append(StreamFinding(stream, bit_offset, draw, instance, message))


def _culled(visible: int, all_of_them: int) -> float | None:
    return None if not all_of_them else 1 - visible / all_of_them
