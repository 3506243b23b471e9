# SPDX-License-Identifier: MIT
"""Bindings: what each of the program's draws has bound, as the comparison's recording has it.

A recording has facts as changes from draw to draw. Here each fact has its changes by draw, so that
those in force at one draw are found by binary searches, and memory grows with what changes.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from cffpy.analysis.diff.descriptors import DrawSlots, SetSlot, UsedDescriptors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.diff.facts import Fact, FactKey
    from cffpy.analysis.diff.model import DrawRecord, Recording


class Bindings:
    """The facts of a recording by draw. ``order`` is ``Action.order`` of a draw of the program."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._used = UsedDescriptors(recording.descriptors)
        #: Fact -> draws at which it changed, and what it is from then on; None: it is not there.
        self._changes: dict[FactKey, tuple[list[int], list[Fact | None]]] = {}
        for order in sorted(recording.records):
            for key, fact in recording.records[order].facts.items():
                orders, facts = self._changes.setdefault(key, ([], []))
                orders.append(order)
                facts.append(fact)

    def of_draw(self, order: int) -> Iterator[tuple[FactKey, Fact]]:
        """The facts in force at a draw; none at an action that was not recorded."""
        record = self._recording.records.get(order)
        if record is None:
            return
        for key, (orders, facts) in self._changes.items():
            position = bisect_right(orders, order) - 1
            fact = facts[position] if position >= 0 else None
            if fact is not None:
                yield key, fact
        yield from self._of_sets(record)

    def _of_sets(self, record: DrawRecord) -> Iterator[tuple[FactKey, Fact]]:
        """Descriptors of bindless sets that the draw can use."""
        sets = self._recording.sets
        if sets is None:
            return
        used = DrawSlots([self._used.of(record.shaders, record.prefetched)])
        for number, place in record.sets.items():
            _, parts = sets.read(place)
            for (kind, slot), fact in parts:
                key = kind, SetSlot(number, slot)
                if used.holds(key):
                    yield key, fact
