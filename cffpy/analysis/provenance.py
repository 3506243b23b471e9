# SPDX-License-Identifier: MIT
"""Which packet gave each register its value, and which values are left over from earlier.

Only what is executed counts: values that a skipped block would write are not in force.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cffpy.analysis.passes.finder import PassFinder, run
from cffpy.analysis.passes.model import Pass
from cffpy.limits import MAX_ELEMENTS, hint, limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.analysis.actions import Action
    from cffpy.analysis.packet_location import PacketLocation
    from cffpy.analysis.passes.model import Run
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.capture.memory import Words
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.cp.sink import Payload
    from cffpy.regdb.database import Database

#: Where a value comes from, seen from a draw.
Origin = Literal["this pass", "before the pass", "earlier submit"]


@dataclass(slots=True, frozen=True, eq=False)
class Write:
    """The packet that wrote a value. ``executed`` is None where only the GPU knows whether.

    ``owner``: the pass, or the run of one, that it was written in.
    """

    place: PacketLocation
    owner: Pass | Run | None
    executed: bool | None = True
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
    """What a submit's first draw or dispatch sees of earlier submits."""

    submit: int
    state: State
    registers: list[int] = field(default_factory=list)


class ProvenanceFinder(PassFinder):
    """Also remembers the write of each register; hands states to ``wanted`` and ``taken``."""

    def __init__(self, wanted: Callable[[Action], bool], taken: Callable[[State], None]) -> None:
        super().__init__()
        self._wanted = wanted
        self._taken = taken
        #: Register -> the packet that wrote it last.
        self.writes: dict[int, Write] = {}
        #: Address of a dword that CP_MEM_WRITE stored -> the last such packet.
        self._patches: dict[int, PacketLocation] = {}

    def submit(self, submit: CommandStream) -> None:
        """Other buffers come with another submit."""
        if submit.submit != self._last_submit:
            self._patches.clear()
        super().submit(submit)

    def memory_written(self, gpuaddr: int, payload: Payload, before: bytes) -> None:
        """Remember where, since commands may lie there."""
        super().memory_written(gpuaddr, payload, before)
        place = self.packet_place
        if len(self._patches) < _MAX_PATCHES:
            for address in range(gpuaddr, gpuaddr + 4 * payload.count, 4):
                self._patches[address] = place

    def write(self, register: int, values: list[int], words: Words, index: int, level: int) -> int:
        """Registers are about to be written by the packet at ``index``."""
        if self.executed is not False:
            place = self.place(words, index)
            self._note(range(register, register + len(values)), place, len(values) + 1)
        return super().write(register, values, words, index, level)

    def register(self, register: int, value: int, level: int) -> None:
        """A register that a packet with an opcode writes."""
        super().register(register, value, level)
        if self.executed is not False:
            self._note(range(register, register + 1), self.packet_place)

    def read_modify_write(self, register: int, mask: int, bits: int, level: int) -> None:
        """CP_REG_RMW writes it too."""
        self.register(register, bits, level)

    def registers_unknown(self, register: int, count: int) -> None:
        """The packet that runs makes them unknown."""
        if self.executed is not False:
            self._note(range(register, register + count), self.packet_place)

    def act(self, action: Action) -> None:
        """Take the state where it is wanted."""
        super().act(action)
        if action.executed is not False and self._wanted(action):
            machine = self.machine
            registers = dict(machine.state.registers)
            self._taken(State(action, machine.database, registers, dict(self.writes)))

    def _note(self, registers: range, place: PacketLocation, ndwords: int = 1) -> None:
        """``ndwords``: of the packet, as far as the registers' values are in it."""
        tracker = self.tracker
        owner = None if tracker is None else tracker.run or tracker.current
        patched_by = None
        if self._patches:
            addresses = range(place.gpuaddr, place.gpuaddr + 4 * ndwords, 4)
            found = (self._patches[address] for address in addresses if address in self._patches)
            patched_by = next(found, None)
        write = Write(place, owner, self.executed, self.condition, patched_by)
        for register in registers:
            self.writes[register] = write
        self.note_write(registers, write)

    def note_write(self, registers: range, write: Write) -> None:
        """Registers have been written; for subclasses."""


#: Dwords of a submit that CP_MEM_WRITE stored and that are remembered, about.
_MAX_PATCHES = 1 << 20


class _Found(Exception):
    """The state that was looked for has been taken."""


def state_at(
    content: Content,
    order: int,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> State | None:
    """The state at the action of this position (``Action.order``), or None."""
    found: list[State] = []

    def take(state: State) -> None:
        found.append(state)
        raise _Found

    finder = ProvenanceFinder(lambda action: action.order == order, take)
    try:
        run(finder, content, complain, register_db, gpu)
    except _Found:
        return found[0]
    return None


class InheritanceFinder(ProvenanceFinder):
    """Keeps, for each submit, what its first draw or dispatch sees of earlier submits.

    What copies see is theirs alone. Which registers a draw heeds is not known: all that hold an old
    value are listed.
    """

    def __init__(self) -> None:
        super().__init__(self._is_first, self._take)
        self.inherited: list[Inherited] = []
        self._listed = 0
        self._is_full = False
        self._max_listed = limit("elements", MAX_ELEMENTS)
        self._seen: set[int] = set()

    def forget_submits(self) -> None:
        """Another file follows, whose submits are numbered anew: nothing of this one is told."""
        self.inherited = []
        self._listed = 0
        self.writes.clear()
        self._seen.clear()
        self._last_submit = -1

    def _is_first(self, action: Action) -> bool:
        submit = action.place.submit.submit
        if action.kind not in ("draw", "dispatch") or submit in self._seen:
            return False
        if self._listed >= self._max_listed:
            if not self._is_full:
                text = f"{self._listed} registers are listed; those of later submits are not"
                self.machine.problems.leave_out(f"{text} {hint('elements')}")
            self._is_full = True
            return False
        self._seen.add(submit)
        return True

    def _take(self, state: State) -> None:
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


def inherited_registers(
    content: Content,
    complain: Callable[[str], None],
    register_db: str | None = None,
    gpu: Gpu | None = None,
) -> tuple[list[Inherited], list[Damage]]:
    """The registers that each submit inherits from earlier ones, and the capture's damage."""
    finder = InheritanceFinder()
    damage = run(finder, content, complain, register_db, gpu)
    for line in finder.found.left_out:
        complain(f"{content.name}: {line}")
    return finder.inherited, damage
