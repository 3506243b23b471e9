# SPDX-License-Identifier: MIT
"""The packets of a capture as they are executed: in IBs, draw-state groups and every tile."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.observer import StopWalk
from cffpy.analysis.walk import Walk
from cffpy.cp.session import is_compositor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.memory import Words
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import WriteOutcome
    from cffpy.frame.execution import Executed
    from cffpy.frame.places import PacketLocation
    from cffpy.pm4.reader import Payload

#: Packets of one command stream that are kept.
MAX_PACKETS = 1 << 22


class ExecutedPacket(NamedTuple):
    """One execution of a packet. ``executed``: NO in a block whose condition fails."""

    place: PacketLocation
    executed: Executed
    condition: str | None


class PacketWalk(Walk):
    """A walk that lists the packets of a command stream at a time."""

    def __init__(self) -> None:
        super().__init__(whole_groups=False, replays_streams=False)
        self._packets: list[ExecutedPacket] = []
        self._left_out = 0

    def write(
        self, register: int, values: list[int], words: Words, index: int, level: int
    ) -> WriteOutcome:
        """A register-write packet."""
        self._keep(words, index)
        return super().write(register, values, words, index, level)

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        """A packet with an opcode."""
        super().packet(opcode, payload, level)
        self._keep(payload.words, payload.index - 1)

    def _keep(self, words: Words, index: int) -> None:
        if len(self._packets) >= MAX_PACKETS:
            self._left_out += 1
            return
        place = self.location(words, index)
        self._packets.append(ExecutedPacket(place, self.executed, self.condition))

    def iter_packets(
        self,
        content: Content,
        complain: Callable[[str], None],
        register_db: str | None = None,
        gpu: Gpu | None = None,
        finished: Callable[[Machine, list[Damage]], None] = lambda _machine, _damage: None,
    ) -> Iterator[ExecutedPacket]:
        """The packets, stream by stream. ``finished`` receives the damage after the last one."""
        session = self.open_session(complain, register_db, gpu)
        damage: list[Damage] = []
        session.set_limits(content)
        session.start_file()
        records = session.records(content.sections(damage), is_compositor)
        try:
            while True:
                try:
                    record = next(records, None)
                except StopWalk as stop:
                    session.machine.problems.truncate(stop.limit, str(stop))
                    record = None
                packets, self._packets = self._packets, []
                yield from packets
                if record is None:
                    break
            if self._left_out:
                text = f"{self._left_out} packets of streams with more than {MAX_PACKETS:,}"
                session.machine.problems.truncate("", text)
            finished(session.machine, session.finish(content, damage))
        finally:
            self.end_session(session)
