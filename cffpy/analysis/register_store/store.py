# SPDX-License-Identifier: MIT
"""RegisterStore: the registers at all actions of a capture, recorded once.

``Inheritance`` finds in it which registers of earlier submits a submit's first draw sees.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cffpy.analysis.register_store.draws import DrawRegisters
from cffpy.analysis.register_store.history import LoggedWrites, RegisterHistory, State
from cffpy.analysis.register_store.log import BR, DROPPED, RegisterLog

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.analysis.register_store.history import Changes
    from cffpy.analysis.register_store.log import Reader
    from cffpy.cp.machine import Machine
    from cffpy.frame.action import Action
    from cffpy.regdb.database import Database


class RegisterStore:
    """What the registers hold at each action, and which packets wrote them.

    A ``RegisterRecorder`` fills it in a walk. Values are kept for each pipe of the command
    processor: ``history`` has those that an action sees. ``draws``: the program's draws, each once,
    as tables and reports need them.
    """

    def __init__(self) -> None:
        self.log = RegisterLog()
        self.draws = DrawRegisters(self.log)
        self._histories = {BR: RegisterHistory(self.log, BR, self.draws.orders)}
        self.draws.use(self._histories[BR])
        #: The first action that is not recorded: there were too many changes.
        self.end = sys.maxsize
        self._has_draws_only = False
        #: Where not all are recorded, the actions whose registers are asked for.
        self.asked: list[int] = []

    def ask(self, order: int) -> None:
        """The registers at this action will be asked for. While the walk runs, at that action."""
        self.asked.append(order)

    def keep_draws_only(self) -> None:
        """Only the program's draws are recorded, without writes. Before the walk."""
        self._has_draws_only = self.draws.is_complete = True
        self._histories[BR].use(self.draws.rows)

    def use(self, rows: dict[Reader, dict[int, Changes]]) -> None:
        """These are the changes of all registers, by who sees them; the log has no entries."""
        for reader, changes in rows.items():
            self._histories[reader] = history = RegisterHistory(self.log, reader)
            history.use(changes)

    def has(self, order: int) -> bool:
        """Whether the registers at this action (``Action.order``) are known."""
        return self.draws.has(order) if self._has_draws_only else self.has_entries(order)

    @property
    def has_all(self) -> bool:
        """Whether the registers at all actions are known."""
        return not self._has_draws_only and self.end == sys.maxsize and DROPPED not in self.log.ends

    def has_entries(self, order: int) -> bool:
        """Whether the log has all that was written before an action."""
        ends = self.log.ends
        return order < min(len(ends), self.end) and ends[order] != DROPPED

    def history(self, order: int) -> RegisterHistory:
        """The registers that an action sees, at all actions: those of its pipe."""
        return self.turn(order)[0]

    def turn(self, order: int) -> tuple[RegisterHistory, int, int]:
        """The same; the first action around it that sees these registers, and the end."""
        reader, first, end = self.log.turn_of(order)
        if reader not in self._histories:
            self._histories[reader] = RegisterHistory(self.log, reader)
        return self._histories[reader], first, end

    def last_action(self, order: int, before: int) -> int:
        """The last action up to ``before`` of the pipe of another action; -1 for none."""
        return self.log.last_action(self.log.reader_of(order), before)

    def state(self, action: Action, database: Database) -> State:
        """All registers at an action."""
        return self.history(action.order).state(action, database)

    def release(self) -> None:
        """Forget everything: the capture is closed, but its states may still be held.

        Afterwards, questions about registers raise UsageError.
        """
        for history in self._histories.values():
            history.release()
        self.draws.release()
        self.log = RegisterLog()


@dataclass(slots=True)
class Inherited:
    """The registers of earlier submits in force at a submit's first draw or dispatch."""

    submit: int
    state: State
    registers: list[int] = field(default_factory=list)


class Inheritance:
    """For each submit, what its first draw or dispatch sees of earlier submits.

    Copies are not considered: their registers are set for them alone. Which registers a draw
    uses is not known: all that hold an old value are listed. ``is_cut``: there were more than the
    machine's limit of elements, and registers of later submits are not listed.
    """

    def __init__(self, store: RegisterStore, actions: Iterable[Action], machine: Machine) -> None:
        """``machine``: of the walk, with the descriptions of the GPU."""
        self.inherited: list[Inherited] = []
        self.listed = 0
        self.is_cut = False
        seen: set[int] = set()
        for action in actions:
            submit = action.place.submit
            if (
                submit in seen
                or action.kind not in ("draw", "dispatch")
                or not action.execution.is_possible
                or not store.has(action.order)
            ):
                continue
            if self.listed >= machine.limits.elements:
                self.is_cut = True
                break
            seen.add(submit)
            self._add(store, action, submit, machine.database)

    def _add(self, store: RegisterStore, action: Action, submit: int, database: Database) -> None:
        log, snapshot = store.log, store.history(action.order).snapshot(action.order)
        old = sorted(
            register
            for register, entry in snapshot.entries.items()
            if log.submit_of(entry, register) != submit
        )
        if not old:
            return
        self.listed += len(old)
        state = store.state(action, database)
        # a register's text may need the other half of a pair
        near = {other for register in old for other in (register - 1, register, register + 1)}
        state.registers = {
            register: value for register, value in state.registers.items() if register in near
        }
        entries = {register: snapshot.entries[register] for register in old}
        state.writes = LoggedWrites(entries, log)
        self.inherited.append(Inherited(submit, state, old))
