# SPDX-License-Identifier: MIT
"""DecodesOnce: what is known of packets before they run, for streams that are kept decoded."""

from __future__ import annotations

from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cffpy.cp.machine import Machine
    from cffpy.cp.payload import Payload
    from cffpy.cp.sink import Draw
    from cffpy.cp.state import DrawStateGroup
    from cffpy.pm4.reader import Packets

    #: A register and its value.
    Written = tuple[int, int]

    #: (Register, value) of a packet, by the readers of the GPU's packets.
    PacketWrites = Callable[[Packets, Payload], Sequence[Written]]


class DecodesOnce(ValueObject):
    """What is known of a packet before it runs; each None for packets of other kinds.

    ``writes`` returns (register, value) of a packet that does no more than write registers; it gets
    the readers of packets, so that it can be called without the machine.
    ``draw`` makes the Draw of a packet that counts it and changes no other state. State that only
    the dump shows (``CpState.needs_wfi``, ``CpState.draws``) does not count. ``groups`` yields
    the changes to draw-state groups. ``skips`` returns the dwords that it may run as a block.
    ``equal_draws``: packets with equal dwords are the same draw, whatever memory holds, so that
    they may share one ``Draw``. ``is_of_packet``: the draw and what sinks keep with it depend on no
    memory but the packet and the dwords behind it.
    """

    __slots__ = ("draw", "equal_draws", "groups", "is_of_packet", "skips", "writes")

    def __init__(
        self,
        draw: Callable[[Machine, Payload], Draw] | None = None,
        groups: Callable[[Machine, Payload], Iterator[DrawStateGroup]] | None = None,
        skips: Callable[[Machine, Payload], int | None] | None = None,
        writes: PacketWrites | None = None,
        equal_draws: bool = False,
        is_of_packet: bool = False,
    ) -> None:
        self.draw = draw
        self.groups = groups
        self.skips = skips
        self.writes = writes
        self.equal_draws = equal_draws
        self.is_of_packet = equal_draws or is_of_packet
