# SPDX-License-Identifier: MIT
"""RegisterCursor: goes through the writes of a log once, from action to action of one pipe."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from cffpy.analysis.register_store.log import BR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.analysis.register_store.log import Reader, RegisterLog
    from cffpy.frame.register_write import RegisterWrite

#: Entries between two actions from which on it pays to look for those that write the same.
_MANY = 64


class RegisterCursor:
    """A place in a log, behind what an action has seen.

    Two readers of a log, say a comparison of draws and one of clears, have a cursor each.
    """

    def __init__(self, log: RegisterLog, reader: Reader = BR) -> None:
        self._log = log
        self._spans: list[range] | None = log.spans(reader) if log.switches else None
        self._starts = [span.start for span in self._spans or ()]
        #: The first entry that was not passed.
        self._position = 0
        #: Register -> the entry with its last write, of the entries before ``_noted``.
        self._entries: dict[int, int] = {}
        self._noted = 0

    def go_to(self, order: int) -> list[dict[int, int]]:
        """Go on to an action (``Action.order``): what was written since then, in order.

        Each is register -> value, or UNKNOWN, and shared: do not change it. Of entries with the
        same registers, as tiles have them, the last one counts. Empty for an earlier action.
        """
        log, begin = self._log, self._position
        end = log.ends[order]
        if end <= begin:
            return []
        self._position = end
        entries = log.entries
        if end - begin <= _MANY and self._is_in_one_span(begin, end):
            return [one.registers for one in entries[begin:end]]
        return [entries[at].registers for at in self._distinct(begin, end)]

    def entry(self, register: int) -> int | None:
        """The log's entry with the last write of a register; None where there is none."""
        self._note()
        return self._entries.get(register)

    def write(self, register: int) -> RegisterWrite | None:
        """The last write of a register; None where there is none."""
        entry = self.entry(register)
        return None if entry is None else self._log.source(entry, is_kept=True).of(register)

    def _note(self) -> None:
        """Find the last writes up to the position: few are asked for, so it is done late."""
        begin, self._noted = self._noted, self._position
        entries, found = self._log.entries, self._entries
        for at in self._distinct(begin, self._position):
            found.update(dict.fromkeys(entries[at].registers, at))

    def _is_in_one_span(self, begin: int, end: int) -> bool:
        """Whether all entries between two are of the pipe."""
        spans = self._spans
        if spans is None:
            return True
        at = bisect_right(self._starts, begin) - 1
        return at >= 0 and end <= spans[at].stop

    def _distinct(self, begin: int, end: int) -> Sequence[int]:
        """The entries between two; of those with the same registers the last one."""
        entries = self._log.entries
        last = {id(entries[at].registers): at for part in self._parts(begin, end) for at in part}
        return sorted(last.values())

    def _parts(self, begin: int, end: int) -> list[range]:
        if self._spans is None:
            return [range(begin, end)]
        parts = []
        for span in self._spans[max(bisect_right(self._starts, begin) - 1, 0) :]:
            if span.start >= end:
                break
            parts.append(range(max(span.start, begin), min(span.stop, end)))
        return parts
