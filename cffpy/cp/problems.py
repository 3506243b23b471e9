# SPDX-License-Identifier: MIT
"""Damage and truncations of a capture's command streams, each reported once.

Damage: commands that are missing, that call themselves, or that are not packets. What a limit
leaves out is a truncation, not damage.
"""

from __future__ import annotations

from cffpy.container.damage import Damage
from cffpy.limits import Truncation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: Problems that are kept, of damage and of truncations each.
_MOST = 100


def _ignore(_line: str) -> None:
    """Report nothing."""


class Problems:
    """Collects them. ``stream``: the number of the command stream that runs, as in the dump."""

    def __init__(self, report: Callable[[str], None]) -> None:
        """``report`` is called at once with each line that no other callback reports."""
        self.stream = 0
        self._report = report
        self.clear()

    def stop_reporting(self) -> None:
        """Only collect from now on: nothing runs any more."""
        self._report = _ignore

    def clear(self) -> None:
        """Another file begins."""
        self.damage: list[Damage] = []
        self.truncated: list[Truncation] = []
        self._lines: dict[str, None] = {}

    @property
    def lines(self) -> list[str]:
        """Messages for damage and truncations, in order."""
        return list(self._lines)

    def damaged(self, text: str, reported: bool = False) -> None:
        """Note damage. ``text`` has the GPU address. ``reported``: another callback reports it."""
        line = f"stream {self.stream}: {text}"
        if len(self.damage) < _MOST and self._is_new(line, reported):
            self.damage.append(Damage(None, line))

    def truncate(self, limit: str, text: str, reported: bool = False) -> None:
        """Note what a limit leaves out. ``limit``: its name, "" for a fixed one."""
        cut = Truncation(limit, f"stream {self.stream}: {text}")
        if len(self.truncated) < _MOST and self._is_new(str(cut), reported):
            self.truncated.append(cut)

    def _is_new(self, line: str, reported: bool) -> bool:
        if line in self._lines:
            return False
        self._lines[line] = None
        if not reported:
            self._report(line)
        return True
