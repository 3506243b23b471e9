# SPDX-License-Identifier: MIT
"""The packets of a capture as they are executed: in IBs, draw-state groups and every tile.

``packets_from`` has those of a place such as ``0x10002018``, ``next_action`` the action of a
packet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.observer import StopWalk
from cffpy.analysis.walk import Walk
from cffpy.cp.session import is_compositor
from cffpy.errors import CaptureError
from cffpy.frame.places import FileOffset, PacketAddress, PacketPath
from cffpy.pm4.reader import read_header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.memory import Words
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import WriteOutcome
    from cffpy.frame.action import Action
    from cffpy.frame.execution import Executed
    from cffpy.frame.places import PacketLocation, PacketName
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


# -- packets of a place ----------------------------------------------------------------------------

#: The longest packet: type 7 and type 3 have 14 bits for the dwords after the header.
_MAX_PACKET_BYTES = 4 << 14


def next_action(
    actions: Iterable[Action], packets: Iterator[ExecutedPacket], place: PacketName
) -> Action:
    """The action of the packet at a place, or the first one that is executed after it.

    Raises CaptureError where no packet is there, or no action follows.
    """
    first: dict[tuple[int, ...], Action] = {}
    for candidate in actions:
        first.setdefault(candidate.place.key, candidate)
    for packet in packets_from(packets, place):
        action = first.get(packet.place.key)
        if action is not None:
            return action
    raise CaptureError(f"no draw follows the packet {place}")


def packets_from(packets: Iterator[ExecutedPacket], place: PacketName) -> Iterator[ExecutedPacket]:
    """The packet of a place as it is first executed, then those after it.

    Raises CaptureError where no packet is there.
    """
    nearest: ExecutedPacket | None = None
    for packet in packets:
        if _is_at(packet, place):
            yield packet
            break
        nearest = _nearer(nearest, packet, place)
    else:
        known = "" if nearest is None else f"; the nearest one is at {_spelt(nearest, place)}"
        raise CaptureError(f"no packet is executed at {place}{known}")
    yield from packets


def _is_at(packet: ExecutedPacket, place: PacketName) -> bool:
    """Whether a packet covers the place."""
    location = packet.place
    if isinstance(place, FileOffset):
        distance = place.offset - (location.file_offset or 0)
    else:
        distance = place.gpuaddr - location.gpuaddr
    if not 0 <= distance < _MAX_PACKET_BYTES:
        return False
    _, _, size = read_header(location._words.get(location._index))
    if distance >= 4 * size:
        return False
    if isinstance(place, FileOffset):
        return True
    if isinstance(place, PacketAddress):
        return place.submit in (None, location.submit)
    path = location.name
    return (path.stream, path.calls) == (place.stream, place.calls)


def _nearer(
    nearest: ExecutedPacket | None, packet: ExecutedPacket, place: PacketName
) -> ExecutedPacket:
    if nearest is None:
        return packet
    return packet if _distance(packet, place) < _distance(nearest, place) else nearest


def _distance(packet: ExecutedPacket, place: PacketName) -> int:
    if isinstance(place, FileOffset):
        return abs((packet.place.file_offset or 0) - place.offset)
    return abs(packet.place.gpuaddr - place.gpuaddr)


def _spelt(packet: ExecutedPacket, place: PacketName) -> str:
    if isinstance(place, FileOffset):
        return str(FileOffset(packet.place.file_offset or 0))
    if isinstance(place, PacketPath):
        return str(packet.place.name._replace(file_offset=None))
    return str(PacketAddress(packet.place.gpuaddr))
