# SPDX-License-Identifier: MIT
"""What is said on standard error about a file: each line once, and not endlessly many."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MOST = 50


class Complaints:
    """Passes lines on to ``complain``; those that repeat, and those behind the first 50, it keeps.

    A stream that a capture lacks may be called from every draw.
    """

    def __init__(self, complain: Callable[[str], None]) -> None:
        self._complain = complain
        self._told: set[str] = set()

    def __call__(self, line: str) -> None:
        """Say a line."""
        if line in self._told or len(self._told) > _MOST:
            return
        if len(self._told) == _MOST:
            line = "there is more like this"
        self._told.add(line)
        self._complain(line)

    def start_file(self) -> None:
        """Another file: it may have the same faults."""
        self._told.clear()
