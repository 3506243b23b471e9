# SPDX-License-Identifier: MIT
"""Which packet gave each register its value, and which values are left over from earlier.

Only executed packets count: a block that is skipped writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cffpy.analysis.conditions import Executed
from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.model import Pass

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.analysis.actions import Action
    from cffpy.analysis.packet_location import PacketLocation
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.passes.model import PassRun
    from cffpy.analysis.walk import Walk
    from cffpy.capture.load import CommandStream
    from cffpy.cp.sink import Payload
    from cffpy.regdb.database import Database

#: Where a value in force at a draw was written.
Origin = Literal["this pass", "before the pass", "earlier submit"]


@dataclass(slots=True, frozen=True, eq=False)
class Write:
    """The packet that wrote a value.

    ``owner``: the pass, or the run of one, that it was written in.
    """

    place: PacketLocation
    owner: Pass | PassRun | None
    executed: Executed = Executed.YES
    condition: str | None = None
    #: The CP_MEM_WRITE that stored (a part of) the packet: the file has what was there before.
    patched_by: PacketLocation | None = None

    @property
    def pass_index(self) -> int | None:
        """Index of the pass that it was written in; None between passes."""
        owner = self.owner
        if owner is None:
            return None
        return owner.index if isinstance(owner, Pass) else owner.pass_index

    def origin(self, action: Action) -> Origin:
        """Where the value comes from, for an action that it is in force at."""
        if self.place.submit.submit != action.place.submit.submit:
            return "earlier submit"
        same = self.pass_index is not None and self.pass_index == action.pass_index
        return "this pass" if same else "before the pass"


@dataclass(slots=True)
class State:
    """All registers at an action: values as dwords, and what wrote each.

    A register with a write but no value was filled by the GPU: its value is unknown.
    """

    action: Action
    database: Database
    registers: dict[int, int]
    writes: dict[int, Write]

    @property
    def written(self) -> list[int]:
        """All registers that were written, also those whose value is unknown."""
        return [*self.registers, *(other for other in self.writes if other not in self.registers)]


@dataclass(slots=True)
class Inherited:
    """The registers of earlier submits in force at a submit's first draw or dispatch."""

    submit: int
    state: State
    registers: list[int] = field(default_factory=list)


class Provenance(Observer):
    """Knows the packet that wrote each register.

    ``writes`` changes at ``registers_written`` and ``registers_unknown``; other observers may read
    it at any other event.
    """

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        self._walk = walk
        self._passes = passes
        #: Register -> the packet that wrote it last.
        self.writes: dict[int, Write] = {}
        #: Address of a dword that CP_MEM_WRITE stored -> the last such packet.
        self._patches: dict[int, PacketLocation] = {}

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """The buffers of a submit are new."""
        if is_new_submit:
            self._patches.clear()

    def memory_written(self, gpuaddr: int, payload: Payload, before: bytes) -> None:
        """Remember the address: it may be that of commands."""
        location = self._walk.packet_location
        if len(self._patches) < _MAX_PATCHES:
            for address in range(gpuaddr, gpuaddr + 4 * payload.count, 4):
                self._patches[address] = location

    def registers_written(self, registers: range, location: PacketLocation, ndwords: int) -> None:
        """Remember the packet."""
        walk, passes = self._walk, self._passes
        owner = passes.run or passes.current
        patched_by = self._patched_by(location, ndwords) if self._patches else None
        write = Write(location, owner, walk.executed, walk.condition, patched_by)
        for register in registers:
            self.writes[register] = write

    def registers_unknown(self, registers: range, location: PacketLocation) -> None:
        """Remember the packet: it is a write, too."""
        self.registers_written(registers, location, 1)

    def take_writes(self) -> dict[int, Write]:
        """``writes``, which is empty from then on: for an observer that keeps changes."""
        writes, self.writes = self.writes, {}
        return writes

    def _patched_by(self, location: PacketLocation, ndwords: int) -> PacketLocation | None:
        addresses = range(location.gpuaddr, location.gpuaddr + 4 * ndwords, 4)
        found = (self._patches[address] for address in addresses if address in self._patches)
        return next(found, None)


#: Dwords of a submit that CP_MEM_WRITE stored and that are remembered, about.
_MAX_PATCHES = 1 << 20


class StateTaker(Observer):
    """Passes the state at each executed action that is ``wanted`` to ``take``."""

    def __init__(
        self,
        walk: Walk,
        provenance: Provenance,
        wanted: Callable[[Action], bool],
        take: Callable[[State], None],
    ) -> None:
        self._walk = walk
        self._provenance = provenance
        self._wanted = wanted
        self._take = take

    def action(self, action: Action) -> None:
        """Take the state where it is wanted."""
        if action.executed.is_possible and self._wanted(action):
            machine = self._walk.machine
            registers = dict(machine.state.registers)
            self._take(State(action, machine.database, registers, dict(self._provenance.writes)))


class Inheritance(StateTaker):
    """Keeps, for each submit, what its first draw or dispatch sees of earlier submits.

    Copies are not considered: their registers are set for them alone. Which registers a draw
    uses is not known: all that hold an old value are listed.
    """

    def __init__(self, walk: Walk, provenance: Provenance) -> None:
        super().__init__(walk, provenance, self._is_first, self._keep)
        self.inherited: list[Inherited] = []
        self._listed = 0
        self._is_full = False
        self._seen: set[int] = set()

    def _is_first(self, action: Action) -> bool:
        submit = action.place.submit.submit
        if action.kind not in ("draw", "dispatch") or submit in self._seen:
            return False
        if self._listed >= self._walk.machine.limits.elements:
            if not self._is_full:
                text = f"{self._listed} registers are listed; those of later submits are not"
                self._walk.machine.problems.truncate("elements", text)
            self._is_full = True
            return False
        self._seen.add(submit)
        return True

    def _keep(self, state: State) -> None:
        submit = state.action.place.submit.submit
        old = [
            register
            for register, write in state.writes.items()
            if write.place.submit.submit != submit
        ]
        if old:
            old.sort()
            self._listed += len(old)
            # a register's text may need the other half of a pair
            near = {other for register in old for other in (register - 1, register, register + 1)}
            state.registers = {r: value for r, value in state.registers.items() if r in near}
            state.writes = {register: state.writes[register] for register in old}
            self.inherited.append(Inherited(submit, state, old))
