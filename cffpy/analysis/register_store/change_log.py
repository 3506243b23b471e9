# SPDX-License-Identifier: MIT
"""ChangeLog: what is written between two actions, for the recording of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from cffpy.analysis.register_store.observer import WriteObserver
from cffpy.analysis.register_store.writes import UNKNOWN, StoredWrites, joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.pipes import PipeRegisters
    from cffpy.analysis.register_store.writes import Change, WriteSource
    from cffpy.analysis.walk import Walk
    from cffpy.cp.stored import StoredRegisters
    from cffpy.frame.place import PacketLocation, Stream

#: Writes that are collected before they are joined.
_MAX_LOGGED = 4096


class ChangeLog(WriteObserver):
    """Collects what is written, in order, until it is taken.

    Each pipe has registers of its own: once they are apart, what an action takes is what its own
    pipe has written since its last one.
    """

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self._log: list[tuple[Mapping[int, int] | Iterable[int], WriteSource]] = []
        #: Whether values of some entry are not in it: those of the others were stored with it.
        self._lacks_values = False
        #: Whether a value that was taken is ``UNKNOWN``.
        self.has_unknown = False
        #: By pipe: what it had written when another one began to execute. None: one register set.
        self._left: dict[PipeRegisters, list[Change]] | None = None

    def registers_stored(
        self, stored: StoredRegisters, stream: Stream, caller: PacketLocation | None
    ) -> None:
        """Note them together: most writes of a walk come here."""
        if self._patches or len(self._log) >= _MAX_LOGGED:
            super().registers_stored(stored, stream, caller)
            return
        walk = self._walk
        self._together = None
        owner = self._passes.owner
        circumstances = self._packet_name, owner, walk.executed, walk.condition, walk.pipe
        source = StoredWrites(stored, stream, caller, circumstances)
        if stored.has_parts:
            self._log.extend([(part, source) for part in stored.parts if part])
        elif stored.registers:
            self._log.append((stored.registers, source))

    def note(self, registers: Mapping[int, int] | Iterable[int], source: WriteSource) -> None:
        """Remember the write."""
        self._together = None
        if len(self._log) >= _MAX_LOGGED:
            self._log = [joined(self._settled())]
        self._log.append((registers, source))
        if not isinstance(registers, dict):
            self._lacks_values = True

    def pipe_changes(self, registers: PipeRegisters) -> None:
        """Take the values of the pipe that has executed."""
        if registers == "both" and not self._walk.pipes.are_apart:
            return
        written = self._settled()
        if self._left is None:
            self._left = {"BR": written, "BV": [*written]}
        else:
            self._leave(self._left, written)

    def _leave(self, left: dict[PipeRegisters, list[Change]], written: list[Change]) -> None:
        """Add what was written to what the pipes have left."""
        executes = self._walk.pipes.registers
        for pipe in left if executes == "both" else (executes,):
            left[pipe] += written
            if len(left[pipe]) > _MAX_LOGGED:
                left[pipe] = [joined(left[pipe])]

    def take(self) -> list[Change]:
        """What the pipe of the action has written since its last call, with the values now.

        Of two changes of a register, the later one counts. Dictionaries are shared: do not change
        them.
        """
        written = self._settled()
        if self._left is None:
            return written
        self._leave(self._left, written)
        reader = self._walk.pipes.reader
        taken, self._left[reader] = self._left[reader], []
        return taken

    def _settled(self) -> list[Change]:
        """What was written since the last call, with the values as they are now."""
        log, self._log = self._log, []
        if not self._lacks_values:
            return cast("list[Change]", log)
        self._lacks_values = False
        self._together = None
        get = self._walk.machine.state.registers.get
        found: list[Change] = []
        for entry in log:
            registers, source = entry
            if isinstance(registers, dict):  # stored, so that all values are known
                found.append(cast("Change", entry))
            else:
                values = {register: get(register, UNKNOWN) for register in registers}
                if UNKNOWN in values.values():
                    self.has_unknown = True
                found.append((values, source))
        return found
