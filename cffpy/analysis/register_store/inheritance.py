# SPDX-License-Identifier: MIT
"""Inheritance: the registers of earlier submits that a submit's first draw sees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cffpy.analysis.register_store.state import LoggedWrites, State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.analysis.register_store.store import RegisterStore
    from cffpy.cp.machine import Machine
    from cffpy.frame.action import Action
    from cffpy.regdb.database import Database


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
            submit = action.place.submit.submit
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
