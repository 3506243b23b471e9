# SPDX-License-Identifier: MIT
"""Registers at an action, and RegisterWrite: the packet that wrote a value to a register."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cffpy.frame.action import ActionPipe
from cffpy.frame.facts import described, fact
from cffpy.frame.objects import ModelObject
from cffpy.frame.passes import Pass
from cffpy.frame.places import PacketLocation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Set

    from cffpy.frame.action import Action
    from cffpy.frame.execution import Executed
    from cffpy.frame.passes import PassRun

#: Where a value in force at an action was written.
Origin = Literal["this pass", "before the pass", "earlier submit"]


@described(
    "write",
    place="where the packet is",
    pipe="the pipe of the CP that executes it; None where the stream does not say it",
    patched_by="the CP_MEM_WRITE that stored (a part of) the packet: the file has what was there "
    "before",
    computed_from="the packets that the value comes from, where the packet copied it from memory",
)
class RegisterWrite(ModelObject):
    """The packet that wrote a register.

    ``place`` has its ``gpuaddr``, ``file_offset`` (bytes, of the decompressed file) and ``stream``:
    the submit's own commands, an IB, or a draw state group; ``str(place)`` says it in words.
    ``owner``: the pass, or the run of a pass, that it was written in. ``pipe``: as ``Action.pipe``.
    ``patched_by``: the CP_MEM_WRITE that stored (a part of) the packet: the file has what was there
    before. ``computed_from``: the packets that the value comes from, where the packet copied it
    from memory (CP_MEM_TO_REG, CP_SCRATCH_TO_REG, CP_COND_WRITE5).
    """

    __slots__ = (
        "_condition",
        "_packet_name",
        "computed_from",
        "executed",
        "owner",
        "patched_by",
        "pipe",
        "place",
    )

    place: PacketLocation
    pipe: ActionPipe | None
    patched_by: PacketLocation | None
    computed_from: tuple[PacketLocation, ...]

    def __init__(
        self,
        place: PacketLocation,
        packet_name: Callable[[int], str],
        owner: Pass | PassRun | None,
        executed: Executed,
        condition: str | None = None,
        pipe: ActionPipe | None = None,
        patched_by: PacketLocation | None = None,
        computed_from: tuple[PacketLocation, ...] = (),
    ) -> None:
        """``packet_name``: the name of a packet by its header.

        ``condition``: the innermost condition that the packet is executed under, in words.
        """
        self.place = place
        self._packet_name = packet_name
        self.owner = owner
        self.executed = executed
        self._condition = condition
        self.pipe = pipe
        self.patched_by = patched_by
        self.computed_from = computed_from

    @fact()
    def packet(self) -> str:
        """The packet's name; "register write" for a packet of type 0 or 4."""
        place = self.place
        return self._packet_name(place._words.get(place._index))

    @fact()
    def submit(self) -> int:
        """Number of its submit."""
        return self.place.submit

    @fact(name="pass")
    def pass_index(self) -> int | None:
        """Number of the pass that it was written in; None between passes."""
        owner = self.owner
        if owner is None:
            return None
        return owner.index if isinstance(owner, Pass) else owner.pass_index

    @fact()
    def conditional(self) -> bool:
        """Whether only the GPU knows if the packet is executed."""
        return self.executed.is_unknown

    @fact()
    def condition(self) -> str | None:
        """Where only the GPU knows whether the packet is executed: its condition, in words."""
        return self._condition if self.executed.is_unknown else None

    def origin(self, action: Action) -> Origin:
        """Where the value comes from, for an action that it is in force at."""
        if self.place.submit != action.place.submit:
            return "earlier submit"
        same = self.pass_index is not None and self.pass_index == action.pass_index
        return "this pass" if same else "before the pass"

    def of(self, register: int) -> RegisterWrite:
        """The write of a register of it: this one. As of any source of writes."""
        return self

    def by_packet(self, registers: list[int]) -> list[tuple[RegisterWrite, list[int]]]:
        """This one with the registers. As of any source of writes."""
        return [(self, registers)]

    def in_order(self, values: Mapping[int, int], wanted: Set[int]) -> list[RegisterWrite]:
        """This one. As of any source of writes."""
        return [self]

    def __repr__(self) -> str:
        return f"<{self.packet} at {self.place}>"
