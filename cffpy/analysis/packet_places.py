# SPDX-License-Identifier: MIT
"""The packets of a place such as ``0x10002018``, and the action of a packet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.errors import CaptureError
from cffpy.frame.places import FileOffset, PacketAddress, PacketPath
from cffpy.pm4.reader import read_header

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.packets import ExecutedPacket
    from cffpy.frame.action import Action
    from cffpy.frame.places import PacketName

#: The longest packet: type 7 and type 3 have 14 bits for the dwords after the header.
_MAX_PACKET_BYTES = 4 << 14


def next_action(
    actions: Iterable[Action], packets: Iterator[ExecutedPacket], place: PacketName
) -> Action:
    """The action of the packet at a place, or the first one that is executed after it.

    Raises CaptureError where no packet is there, or no action follows.
    """
    first: dict[tuple[int, ...], Action] = {}
    for one in actions:
        first.setdefault(one.place.key, one)
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
    _, _, size = read_header(location.words.get(location.index))
    if distance >= 4 * size:
        return False
    if isinstance(place, FileOffset):
        return True
    if isinstance(place, PacketAddress):
        return place.submit in (None, location.submit.submit)
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
