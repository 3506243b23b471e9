# SPDX-License-Identifier: MIT
"""How deep streams may nest and how much may run, for any capture.

Undamaged captures stay below these limits (cffpy.limits). The reference has none: it crashes or
does not end.
"""

from __future__ import annotations

from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.capture.memory import Words
    from cffpy.limits import CaptureLimits

#: A stream costs as much as this many dwords, however short it is.
STREAM_COST = 64


class Refusal(ValueObject):
    """Why a stream is not run, in words. ``limit``: the name of the limit, "" for damage."""

    __slots__ = ("limit", "reason")

    def __init__(self, limit: str, reason: str) -> None:
        self.limit = limit
        self.reason = reason


CALLS_ITSELF = Refusal("", "call themselves")
UNDER_TOO_MANY_CONDITIONS = Refusal("", "are under too many conditions")
_TOO_DEEP = Refusal("depth", "are nested too deeply")
_TOO_MANY = Refusal("commands", "come after too many others")
_TOO_MANY_OF_SUBMIT = Refusal("commands", "come after too many others of this submit")


class Nesting:
    """Decides for each stream whether it is run."""

    def __init__(self, limits: CaptureLimits) -> None:
        self.set_limits(limits, bounds_capture=False)

    def set_limits(self, limits: CaptureLimits, bounds_capture: bool) -> None:
        """A capture begins. ``bounds_capture``: bound all its streams together as well."""
        self._limits = limits
        self._nested_left = 0
        self._left = limits.analysed_dwords if bounds_capture else None

    def refusal(
        self,
        streams: list[tuple[Words, int, int]],
        blocks: int,
        stream: tuple[Words, int, int] | None,
        dwords: int,
    ) -> Refusal | None:
        """Why a stream is not run within the active ``streams``; None where it is.

        ``blocks``: how many of these are blocks, which do not count for the depth. ``stream``: its
        words, first dword, dwords; None for one that may be active already. ``dwords``: how many
        of it were captured.
        """
        if self._left is not None:
            self._left -= dwords + STREAM_COST
            if self._left < 0:
                return _TOO_MANY
        if not streams:
            self._nested_left = self._limits.nested_dwords
            return None
        if stream in streams:
            return CALLS_ITSELF
        if len(streams) - blocks >= self._limits.depth:
            return _TOO_DEEP
        self._nested_left -= dwords
        return _TOO_MANY_OF_SUBMIT if self._nested_left < 0 else None

    def take(self, depth: int, streams: int, dwords: int) -> bool:
        """Count ``streams`` streams of ``dwords`` in all, if none of them would be refused.

        They run within ``depth`` others, blocks not counted.
        """
        cost = dwords + streams * STREAM_COST
        if depth >= self._limits.depth or self._nested_left < dwords:
            return False
        if self._left is not None:
            if self._left < cost:
                return False
            self._left -= cost
        self._nested_left -= dwords
        return True

    def is_exhausted(self, depth: int) -> bool:
        """Whether no more streams are run within ``depth`` others, blocks not counted."""
        spent = self._nested_left < 0 or (self._left is not None and self._left < 0)
        return spent or depth >= self._limits.depth
