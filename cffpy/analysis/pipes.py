# SPDX-License-Identifier: MIT
"""Pipes: which pipe of a command processor executes what, and the registers of each.

The command processor of a7xx and later has two pipes: BR renders, BV bins. CP_THREAD_CONTROL says
which of them executes what follows; with CONCURRENT_BIN_DISABLE, BR executes all. Each has its own
registers, draw-state groups, render mode and predicates. Facts: turnip of October 2025, and
adreno_pm4.xml.

A stream that never leaves "both" has one set of registers, the machine's, and costs nothing. At
the first packet for one pipe alone BV gets a copy; from then on a switch puts the objects of one
pipe in the place of those of the other, without copying. What is written for both is collected in
an ``Overlay`` over the registers of BR, and done to those of BV, too, when a packet leaves "both".
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from cffpy.cp.packets.mode import chooses_groups, marker_mode
from cffpy.cp.state import Overlay
from cffpy.pm4.reader import Fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.cp.machine import Machine
    from cffpy.cp.state import DrawStateGroup
    from cffpy.pm4.reader import Payload

#: The pipe that executes something. "unknown": only the GPU decides which one it is.
Pipe = Literal["BR", "BV", "both", "unknown"]
#: Whose registers are written. Where the GPU decides, commands count as executed.
PipeRegisters = Literal["BR", "BV", "both"]

#: All words of ``Pipe``.
PIPES: tuple[Pipe, ...] = ("BR", "BV", "both", "unknown")

_THREAD_CONTROL = Fields("CP_THREAD_CONTROL", "THREAD", "CONCURRENT_BIN_DISABLE")
_THREADS: dict[int, PipeRegisters] = {1: "BR", 2: "BV", 3: "both"}


def thread_of(machine: Machine, payload: Payload) -> PipeRegisters | None:
    """The pipe that executes what follows a CP_THREAD_CONTROL; None for one that is not known."""
    thread, is_disabled = payload.read(machine.packets[_THREAD_CONTROL])
    return "BR" if is_disabled else _THREADS.get(thread)


class _Groups(list["DrawStateGroup | None"]):
    """Draw-state groups of BR while both pipes execute, and which of them were set or disabled."""

    def __init__(self, groups: list[DrawStateGroup | None]) -> None:
        super().__init__(groups)
        self.changed: set[int] = set()

    def __setitem__(self, at: int | slice, value: object) -> None:  # type: ignore[override]
        self.changed.update(range(len(self))[at] if isinstance(at, slice) else (at,))
        super().__setitem__(at, value)  # type: ignore[call-overload]


class _State:
    """What one pipe has for itself."""

    __slots__ = ("enable_mask", "groups", "registers", "render_mode")

    def __init__(self, machine: Machine, is_copy: bool) -> None:
        state = machine.state
        self.registers = dict(state.registers) if is_copy else state.registers
        self.groups: list[DrawStateGroup | None] = [*state.groups] if is_copy else state.groups
        self.enable_mask = state.enable_mask
        self.render_mode = state.render_mode

    def loads_otherwise(self, other: _State) -> bool:
        """Whether a draw loads other groups in the other state."""
        return self.enable_mask != other.enable_mask or self.groups != other.groups


class Pipes:
    """Follows which pipe executes, and keeps the state of the other one."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        #: The pipe that executes now. None: no packet has said it.
        self.pipe: Pipe | None = None
        #: Whose registers the machine has now.
        self.registers: PipeRegisters = "both"
        #: Whether the pipes have had different registers at any time.
        self.are_apart = False
        self._br: _State
        self._bv: _State
        #: While both execute: whether the render mode was set, and the enable mask with it.
        self._sets_mode = self._sets_mask = False

    @property
    def reader(self) -> Literal["BR", "BV"]:
        """Whose registers are read now; where both pipes execute, those of BR."""
        return "BV" if self.registers == "BV" else "BR"

    def marker(self, payload: Payload) -> None:
        """Note the mode that CP_SET_MARKER sets, and the groups that it chooses."""
        mode = marker_mode(self._machine, payload)
        if mode is not None:
            self._sets_mode = True
            self._sets_mask |= chooses_groups(self._machine, mode)

    def select(self, wanted: PipeRegisters) -> None:
        """Have the machine read and write the registers of a pipe, or write both."""
        if wanted == self.registers:
            return
        state = self._machine.state
        if not self.are_apart:
            self.are_apart = True
            self._br, self._bv = _State(self._machine, False), _State(self._machine, True)
        elif self.registers == "both":
            self._leave_both()
        else:
            left = self._br if self.registers == "BR" else self._bv
            left.enable_mask, left.render_mode = state.enable_mask, state.render_mode
        self.registers = wanted
        entered = self._bv if wanted == "BV" else self._br
        state.registers, state.groups = entered.registers, entered.groups
        state.enable_mask, state.render_mode = entered.enable_mask, entered.render_mode
        if wanted == "both":
            state.registers = Overlay(entered.registers)
            state.groups = _Groups(entered.groups)
            self._sets_mode = self._sets_mask = False
        state.pipes_differ = wanted == "both" and self._br.loads_otherwise(self._bv)

    def _leave_both(self) -> None:
        """Do to the state of both what was done while both executed."""
        state, br, bv = self._machine.state, self._br, self._bv
        registers, groups = state.registers, state.groups
        assert isinstance(registers, Overlay)
        assert isinstance(groups, _Groups)
        registers.apply_to(br.registers, bv.registers)
        for number in groups.changed:
            br.groups[number] = bv.groups[number] = groups[number]
        if self._sets_mode:
            br.render_mode = bv.render_mode = state.render_mode
        if self._sets_mask:
            br.enable_mask = bv.enable_mask = state.enable_mask

    @contextmanager
    def read_br(self) -> Iterator[None]:
        """Read the registers of BR for a moment: nothing may be executed."""
        state, registers = self._machine.state, self._machine.state.registers
        if self.registers == "BV":
            state.registers = self._br.registers
        try:
            yield
        finally:
            state.registers = registers
