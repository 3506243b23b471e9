# SPDX-License-Identifier: MIT
"""How deep and how much streams may nest: not endlessly, whatever a capture holds.

None of these limits is met in a sound capture; the reference crashes or runs on for ever.
"""

from __future__ import annotations

from cffpy.cp.state import MOST_DRAW_LEVELS
from cffpy.limits import hint, limit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.capture.memory import Words

#: Streams nested deeper than this are not followed (the limit "depth"). The hardware has 3 levels
#: (ring, IB1, IB2); the reference crashes some levels later.
MAX_DEPTH = 8

#: Dwords that the streams within one submit may have in all, each counted as often as it runs
#: (the limit "commands").
MAX_NESTED_DWORDS = 1 << 28

#: For analyses, whose output need not grow with what runs (the same limit): dwords of all
#: streams of a capture, submits' own included, for a small file; so many more for each of its own.
#: A file's commands run as often as there are tiles, 200 of them in large frames, but are only a
#: part of it: of sound captures of 60 tiles, this was 10 times their dwords. A stream costs as much
#: as some dwords, however short it is.
MAX_ANALYSED_DWORDS = 1 << 22
ANALYSED_FACTOR = 256
STREAM_COST = 64

#: The only reason that is no limit, but damage of the capture.
CALLS_ITSELF = "call themselves"

_TOO_DEEP = f"are nested too deeply {hint('depth')}"
_TOO_MANY = f"come after too many others{{}} {hint('commands')}"


class Nesting:
    """Decides of each stream whether it is run."""

    def __init__(self) -> None:
        self._max_depth = limit("depth", MAX_DEPTH, MOST_DRAW_LEVELS - 1)
        self._max_nested = limit("commands", MAX_NESTED_DWORDS)
        self._nested_left = 0
        self._left: int | None = None

    def limit_capture(self, size: int) -> None:
        """Bound what runs of all submits together from now on. ``size``: of the file, in bytes."""
        default = MAX_ANALYSED_DWORDS + ANALYSED_FACTOR * (size // 4)
        self._left = limit("commands", default)

    def refusal(
        self,
        streams: list[tuple[Words, int, int]],
        blocks: int,
        stream: tuple[Words, int, int] | None,
        dwords: int,
    ) -> str | None:
        """Why a stream is not run within the active ones, in words; None where it is.

        So many of them are ``blocks``, which do not count for the depth. ``stream``: its words,
        first dword, dwords; None for one that may be among the active ones already. ``dwords`` of
        it were captured.
        """
        if self._left is not None:
            self._left -= dwords + STREAM_COST
            if self._left < 0:
                return _TOO_MANY.format("")
        if not streams:
            self._nested_left = self._max_nested
            return None
        if stream in streams:
            return CALLS_ITSELF
        if len(streams) - blocks >= self._max_depth:
            return _TOO_DEEP
        self._nested_left -= dwords
        return _TOO_MANY.format(" of this submit") if self._nested_left < 0 else None

    def is_exhausted(self, depth: int) -> bool:
        """Whether no more streams are run within ``depth`` others, blocks not counted."""
        spent = self._nested_left < 0 or (self._left is not None and self._left < 0)
        return spent or depth >= self._max_depth
