# SPDX-License-Identifier: MIT
"""PassEvents: the waits, cache events and barriers between passes."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from cffpy.analysis.observer import Observer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.walk import Walk
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.pm4.reader import Payload

#: Packets by which the CP waits.
_WAITS = ("CP_WAIT_FOR_IDLE", "CP_WAIT_FOR_ME", "CP_WAIT_MEM_WRITES", "CP_WAIT_REG_MEM")

#: Parts of the names of events that clean, invalidate or flush caches.
_CACHES = ("CACHE", "CCU", "FLUSH")


class PassEvents(Observer):
    """``before``: index of a pass -> names of what is executed between it and the pass before.

    Between passes is what no pass is open for, and what follows the last action of a pass.
    """

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        self._walk = walk
        self._passes = passes
        self.before: dict[int, Counter[str]] = {}
        self._pending: Counter[str] = Counter()
        self._pass: Pass | None = None

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """The waits."""
        return {name: partial(self._packet, name) for name in _WAITS}

    def event(self, name: str | None) -> None:
        """An event of a cache."""
        if name is not None and any(part in name for part in _CACHES):
            self._pending[name] += 1

    def action(self, action: Action) -> None:
        """What came before it counts where the action is the first of its pass."""
        current = self._passes.current
        if current is not self._pass and self._pending:
            self._keep(current)
        self._pass = current
        if self._pending:
            self._pending = Counter()

    def _keep(self, current: Pass | None) -> None:
        if current is not None:
            self.before.setdefault(current.index, Counter()).update(self._pending)

    def _packet(self, name: str, _payload: Payload) -> None:
        self._pending[name] += 1
