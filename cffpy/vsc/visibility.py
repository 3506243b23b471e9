# SPDX-License-Identifier: MIT
"""What a draw stream says draw by draw and instance by instance, and where primitive streams lie.

The stream does not hold the instance counts of draws that are empty, nor of those whose last
instances are. Where the counts are given they fill this in and are checked; else it stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from cffpy.errors import VisibilityStreamError
from cffpy.vsc.draw_stream import DrawPacket


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
