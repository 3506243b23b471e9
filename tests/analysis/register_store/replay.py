# SPDX-License-Identifier: MIT
"""What tests of the register store share: stores of captures, and a plain model to compare with."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from cffpy.analysis.observer import Observer
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.pipes import PipeRegisters
from cffpy.analysis.register_store.history import State
from cffpy.analysis.register_store.recorder import RegisterRecorder, most_changes
from cffpy.analysis.register_store.store import RegisterStore
from cffpy.analysis.walk import Walk
from cffpy.capture.gpu import Gpu
from cffpy.capture.load import CommandStream
from cffpy.container.open import Content
from cffpy.errors import CffpyError
from cffpy.frame.action import Action
from cffpy.frame.places import PacketLocation
from cffpy.frame.register_write import RegisterWrite
from cffpy.pm4.reader import Payload, packet_name
from cffpy.regdb.database import Database


def quiet(_line: str) -> None:
    """Take a warning."""


class Recorded(NamedTuple):
    """A walk over a capture, and the registers at all of its actions."""

    walk: Walk
    finder: PassFinder
    store: RegisterStore

    @property
    def executed(self) -> list[Action]:
        """The actions that are executed."""
        return [one for one in self.finder.actions if one.execution.is_possible]

    def state(self, action: Action) -> State:
        """The registers at an action."""
        return self.store.state(action, self.walk.machine.database)

    def states(self) -> list[State]:
        """The registers at all actions that are executed."""
        return [self.state(action) for action in self.executed]


def recorder_of(walk: Walk, content: Content) -> tuple[PassFinder, RegisterRecorder]:
    """What is to observe a walk over a capture."""
    finder = PassFinder(walk)
    return finder, RegisterRecorder(walk, finder, most_changes(len(content.data)))


def recorded(
    content: Content, at_once: bool = True, complain: Callable[[str], Any] = quiet
) -> Recorded:
    """The registers of a capture. ``at_once``: stored together wherever that is possible."""
    walk = Walk(whole_groups=at_once, replays_streams=at_once)
    finder, recorder = recorder_of(walk, content)
    walk.observe(finder, recorder)
    with contextlib.suppress(CffpyError):
        walk.run(content, complain)
    return Recorded(walk, finder, recorder.store)


def state_at(content: Content, order: int, complain: Callable[[str], Any] = quiet) -> State | None:
    """The registers at the action of this position; None where it is not executed."""
    found = recorded(content, complain=complain)
    return next((found.state(one) for one in found.executed if one.order == order), None)


def write_text(write: RegisterWrite) -> tuple[object, ...]:
    """Where a register was written, and under which condition."""
    patch = None if write.patched_by is None else write.patched_by.key
    sources = tuple([one.key for one in write.computed_from])
    place = write.place
    about = write.executed, write.condition, write.pipe
    return place.key, str(place), write.packet, write.pass_index, about, patch, sources


def texts(state: State) -> tuple[dict[int, int], dict[int, Any]]:
    """Values, and writes as text."""
    writes = {register: write_text(write) for register, write in state.writes.items()}
    return state.registers, writes


class PlainReplay(Observer):
    """The registers at each action, as the machine has them; the packet of each, one by one.

    A walk with it stores nothing at once and replays nothing.
    """

    def __init__(self, walk: Walk, finder: PassFinder) -> None:
        self._walk, self._finder = walk, finder
        self._patches: dict[int, PacketLocation] = {}
        self._of_pipe: dict[str, dict[int, RegisterWrite]] = {"BR": {}}
        self._pipe = "both"
        #: By ``Action.order``.
        self.states: dict[int, tuple[dict[int, int], dict[int, Any]]] = {}

    def bound(self, gpu: Gpu, database: Database) -> None:
        self._of_pipe = {"BR": self._of_pipe["BR"]}
        self._pipe = "both"

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        if is_new_submit:
            self._patches.clear()

    def memory_written(self, gpuaddr: int, payload: Payload, before: bytes) -> None:
        for address in range(gpuaddr, gpuaddr + 4 * payload.count, 4):
            self._patches[address] = self._walk.packet_location

    def pipe_changes(self, registers: PipeRegisters) -> None:
        if "BV" not in self._of_pipe:
            self._of_pipe["BV"] = dict(self._of_pipe["BR"])
        self._pipe = registers

    def registers_written(self, registers: range, location: PacketLocation, ndwords: int) -> None:
        walk = self._walk
        addresses = range(location.gpuaddr, location.gpuaddr + 4 * ndwords, 4)
        patches = [self._patches[one] for one in addresses if one in self._patches]
        write = RegisterWrite(
            location,
            partial(packet_name, walk.machine.database),
            self._finder.owner,
            walk.executed,
            walk.condition,
            walk.pipe,
            patches[0] if patches else None,
            walk.computation.sources,
        )
        for pipe, writes in self._of_pipe.items():
            if self._pipe in (pipe, "both"):
                writes.update(dict.fromkeys(registers, write))

    def registers_unknown(self, registers: range, location: PacketLocation) -> None:
        self.registers_written(registers, location, 1)

    def action(self, action: Action) -> None:
        if not action.execution.is_possible:
            return
        registers = dict(self._walk.machine.state.registers)
        for port in self._walk.ports.ports:
            registers.pop(port, None)  # its elements have the values
        writes = self._of_pipe["BV" if self._pipe == "BV" else "BR"]
        self.states[action.order] = (
            registers,
            {register: write_text(write) for register, write in writes.items()},
        )


def replayed(content: Content) -> dict[int, tuple[dict[int, int], dict[int, Any]]]:
    """``texts`` of the states at all actions that are executed, by the plain model."""
    walk = Walk(whole_groups=False, replays_streams=False)
    finder = PassFinder(walk)
    replay = PlainReplay(walk, finder)
    walk.observe(finder, replay)
    with contextlib.suppress(CffpyError):
        walk.run(content, quiet)
    return replay.states
