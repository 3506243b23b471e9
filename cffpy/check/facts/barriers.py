# SPDX-License-Identifier: MIT
"""Barriers: waits and cache events, and the work between them, in the order of execution."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from cffpy.analysis.registers import Remembered
from cffpy.check.model import Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cffpy.analysis.actions import Action
    from cffpy.analysis.packet_location import PacketLocation
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.passes.model import Pass
    from cffpy.analysis.registers import RegisterReader
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.cp.sink import Payload
    from cffpy.regdb.database import Database

#: "wait": the CP waits for the GPU. "cache": a cache event. "work": a draw, dispatch, blit, resolve
#: or an event or packet that writes memory.
Kind = Literal["wait", "cache", "work"]

#: Steps that are kept, at most.
_MAX_STEPS = 1 << 20

_WAITS = ("CP_WAIT_FOR_IDLE",)
_MEMORY = ("CP_MEM_WRITE", "CP_MEM_TO_MEM", "CP_REG_TO_MEM", "CP_EVENT_WRITE_ZPD")

#: Parts of the names of events that clean, invalidate or flush caches.
_CACHE_EVENTS = ("CACHE", "CCU", "FLUSH")
_NO_CACHE_EVENTS = ("FLUSH_SO", "LRZ_CLEAR", "VS_FETCH_DONE")


class Step(NamedTuple):
    """Something that was executed. ``name``: of the packet or event."""

    kind: Kind
    name: str
    place: PacketLocation
    found: Pass | None
    action: Action | None = None


class Barriers(Facts):
    """``steps``: all of them, in order.

    ``switches``: pairs of positions of successive actions, between which the colour cache changes
    its offset in GMEM (a6xx and a7xx).
    """

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self.steps: list[Step] = []
        self.switches: list[tuple[int, int]] = []
        self._offset: Remembered[int | None]
        #: The last action's position, and the cache's offset there.
        self._last: tuple[int, int | None] | None = None

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Read registers by the generation's names."""
        self._offset = Remembered(self.walk.machine, _cache_offset)

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Waits, and packets that write memory."""
        found: dict[str, Callable[[Payload], None]] = {
            name: partial(self._packet, "wait", name) for name in _WAITS
        }
        found.update({name: partial(self._packet, "work", name) for name in _MEMORY})
        return found

    def event(self, name: str | None) -> None:
        """An event."""
        if name is None:
            return
        is_cache = any(part in name for part in _CACHE_EVENTS)
        is_other = any(part in name for part in _NO_CACHE_EVENTS)
        self._add("cache" if is_cache and not is_other else "work", name)

    def action(self, action: Action) -> None:
        """Work that may be executed."""
        if action.executed.is_possible:
            self._add("work", action.packet, action)
            self._note_offset()

    def _note_offset(self) -> None:
        position, offset = len(self.steps) - 1, self._offset()
        before, known = (position, offset) if self._last is None else self._last
        if position > before and offset != known and None not in (offset, known):
            self.switches.append((before, position))
        self._last = position, offset

    def _packet(self, kind: Kind, name: str, payload: Payload) -> None:
        self._add(kind, name)

    def _add(self, kind: Kind, name: str, action: Action | None = None) -> None:
        if len(self.steps) < _MAX_STEPS:
            place = self.walk.packet_location if action is None else action.place
            self.steps.append(Step(kind, name, place, self.passes.current, action))


def _cache_offset(reader: RegisterReader) -> int | None:
    """Where the colour cache begins in GMEM, in bytes; None where no register tells."""
    name = reader.first("RB_CCU_CNTL2", "RB_CCU_CNTL") or ""
    low = reader.field(name, "COLOR_OFFSET")
    high = reader.field(name, "COLOR_OFFSET_HI")
    return None if low is None else low | (high or 0) << 21
