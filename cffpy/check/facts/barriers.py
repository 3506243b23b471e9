# SPDX-License-Identifier: MIT
"""Barriers: waits and cache events, and the work between them, in the order of execution."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from cffpy.analysis.registers import Remembered
from cffpy.check.model import Facts
from cffpy.frame.execution import Executed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.registers import RegisterReader
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.cp.sink import Payload
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.frame.place import PacketLocation
    from cffpy.regdb.database import Database

#: "wait": the CP waits for the GPU. "cache": a cache event. "work": a draw, dispatch, blit, resolve
#: or an event or packet that writes memory. "unknown": what the caches hold afterwards is not
#: known: another process or the CPU may have written memory, another pipe of the CP goes on, the
#: colour cache has another place, or commands run that the capture does not hold.
Kind = Literal["wait", "cache", "work", "unknown"]

#: Steps that are kept, at most.
_MAX_STEPS = 1 << 20

_WAITS = ("CP_WAIT_FOR_IDLE",)
_MEMORY = (
    "CP_MEM_WRITE",
    "CP_MEM_WRITE_CNTR",
    "CP_MEM_TO_MEM",
    "CP_MEMCPY",
    "CP_REG_TO_MEM",
    "CP_REG_TO_MEM_OFFSET_MEM",
    "CP_REG_TO_MEM_OFFSET_REG",
    "CP_COND_WRITE",
    "CP_COND_WRITE5",
    "CP_MODIFY_TIMESTAMP",
    "CP_RECORD_PFP_TIMESTAMP",
    "CP_PERFCOUNTER_ACTION",
    "CP_EVENT_WRITE_CFL",
    "CP_EVENT_WRITE_SHD",
    "CP_EVENT_WRITE_ZPD",
)
_UNKNOWN = (
    "CP_WAIT_REG_MEM",
    "CP_WAIT_MEM_GTE",
    "CP_WAIT_TIMESTAMP",
    "CP_WAIT_TWO_REGS",
    "CP_WAIT_UNTIL_READ",
    "CP_THREAD_CONTROL",
    "CP_SET_THREAD_BOTH",
    "CP_SET_THREAD_BR",
    "CP_SET_THREAD_BV",
    "CP_BV_BR_COUNT_OPS",
    "CP_CONTEXT_SWITCH_YIELD",
)
_EVENTS = ("CP_EVENT_WRITE", "CP_EVENT_WRITE7")

#: Parts of the names of events that clean, invalidate or flush caches.
_CACHE_EVENTS = ("CLEAN", "INVALIDATE", "CACHE_RESET", "FLUSH", "PC_CCU_RESOLVE_TS")
_NO_CACHE_EVENTS = ("FLUSH_SO",)


class Step(NamedTuple):
    """Something that was executed. ``name``: of the packet or event.

    ``place``: None for a command stream that is missing as a whole: no packet of ``submit`` runs.
    ``writes``: a cache event that writes memory, too, as those with a timestamp do.
    ``is_certain``: False where only the GPU knows whether it is executed.
    """

    kind: Kind
    name: str
    submit: CommandStream
    place: PacketLocation | None
    found: Pass | None
    action: Action | None = None
    writes: bool = False
    is_certain: bool = True


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
        #: Whether the event packet that runs has an address; the cache's offset at the last event.
        self._event_writes = False
        self._offset_then: int | None = None

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Read registers by the generation's names."""
        self._offset = Remembered(self.walk.machine, _cache_offset)

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Waits, and packets that write memory."""
        found: dict[str, Callable[[Payload], None]] = dict.fromkeys(_EVENTS, self._event_packet)
        kinds: tuple[tuple[Kind, tuple[str, ...]], ...] = (
            ("wait", _WAITS),
            ("work", _MEMORY),
            ("unknown", _UNKNOWN),
        )
        for kind, names in kinds:
            found.update({name: partial(self._packet, kind, name) for name in names})
        return found

    def _event_packet(self, payload: Payload) -> None:
        """Behind the event it has an address, or nothing."""
        self._event_writes = payload.count > 1

    def commands_missing(self, gpuaddr: int) -> None:
        """What they do is not known."""
        self._add("unknown", "commands")

    def event(self, name: str | None) -> None:
        """An event."""
        if name is None:
            return
        is_cache = any(part in name for part in _CACHE_EVENTS)
        is_other = any(part in name for part in _NO_CACHE_EVENTS)
        if not is_cache or is_other:
            self._add("work", name)
            return
        with self.walk.pipes.read_br():  # the cache is BR's
            offset = self._offset()
        if offset != self._offset_then:
            self._offset_then = offset
            self._add("unknown", "another offset of the cache")
        self._add("cache", name, writes=self._event_writes)

    def action(self, action: Action) -> None:
        """Work that may be executed."""
        if action.execution.is_possible:
            self._add("work", action.packet, action)
            if self.walk.pipes.registers != "BV":  # which renders nothing
                self._note_offset()

    def _note_offset(self) -> None:
        position, offset = len(self.steps) - 1, self._offset()
        before, known = (position, offset) if self._last is None else self._last
        if position > before and offset != known and None not in (offset, known):
            self.switches.append((before, position))
        self._last = position, offset

    def _packet(self, kind: Kind, name: str, payload: Payload) -> None:
        self._add(kind, name)

    def _add(
        self, kind: Kind, name: str, action: Action | None = None, writes: bool = False
    ) -> None:
        if len(self.steps) < _MAX_STEPS:
            walk = self.walk
            place = action.place if action else walk.packet_location if walk.runs_packets else None
            is_certain, found = walk.executed is Executed.YES, self.passes.current
            self.steps.append(
                Step(kind, name, walk.current_stream, place, found, action, writes, is_certain)
            )


def _cache_offset(reader: RegisterReader) -> int | None:
    """Where the colour cache begins in GMEM, in bytes; None where no register tells."""
    name = reader.first("RB_CCU_CNTL2", "RB_CCU_CNTL") or ""
    low = reader.field(name, "COLOR_OFFSET")
    high = reader.field(name, "COLOR_OFFSET_HI")
    return None if low is None else low | (high or 0) << 21
