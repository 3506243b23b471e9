# SPDX-License-Identifier: MIT
"""The steps that streams are decoded to (cffpy.cp.decoded), except those of cffpy.cp.stored.

A step is one packet or several; those of a stream follow each other without a gap.
"""

from __future__ import annotations

from cffpy.cp.stored import Step, StoredRegisters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.cp.payload import Payload
    from cffpy.cp.register_runs import RegisterRuns
    from cffpy.cp.sink import Draw
    from cffpy.cp.state import DrawStateGroup
    from cffpy.cp.stored import LoadedGroup

#: In place of an enable mask: none.
_NO_MASK = -1


class Stores(StoredRegisters):
    """Register writes, which a sink takes as they are."""

    __slots__ = ()

    has_draw = False


class Runs(Step):
    """A packet that is run by its handler. ``following``: after what it is expected to skip."""

    __slots__ = ("opcode", "payload")

    def __init__(self, start: int, following: int, opcode: int, payload: Payload) -> None:
        super().__init__(start, following)
        self.opcode = opcode
        self.payload = payload


class Passes(Runs):
    """A packet that needs no handler: its registers are stored by another step, if it has any.

    It is there because the packets that follow may need its location.
    """

    __slots__ = ()


class Draws(Step):
    """Register writes, draw-state groups that are set, and the draw that loads them.

    Valid where no group is set before. ``registers``, then ``parts``: those of the stream,
    ``written``, and of ``loaded``, the groups that ``enable_mask`` enables;
    ``DecodedStreams.collect`` sets them for a mask, of the groups as ``runs`` has them.
    ``passing``: empty, or for each part its group if packets of it are passed on, else None.
    ``is_decoded``: a group does more than write registers, so that the step is decoded each time.
    """

    __slots__ = (
        "collected",
        "draw",
        "enable_mask",
        "group_dwords",
        "groups",
        "is_decoded",
        "loaded",
        "opcode",
        "parts",
        "passing",
        "payload",
        "registers",
        "runs",
        "size",
        "stored",
        "taken_from",
        "written",
    )

    def __init__(
        self,
        start: int,
        following: int,
        written: dict[int, int],
        groups: list[DrawStateGroup],
        opcode: int,
        payload: Payload,
        draw: Draw,
    ) -> None:
        super().__init__(start, following)
        self.registers = self.written = written
        #: Those of each group, at the first run; then ``registers`` has them, too.
        self.parts: Sequence[dict[int, int]] = ()
        self.passing: Sequence[DrawStateGroup | None] = ()
        self.groups = groups
        self.opcode = opcode
        self.payload = payload
        self.draw = draw
        self.stored: StoredRegisters | None = None
        self.enable_mask = _NO_MASK
        self.loaded: Sequence[LoadedGroup] = ()
        #: Of all loaded groups.
        self.group_dwords = 0
        self.is_decoded = False
        self.runs: RegisterRuns | None = None
        #: How many registers were collected, each as often as it is written.
        self.size = 0
        #: The same draw of another capture, and what that has collected of its groups.
        self.taken_from: Draws | None = None
        self.collected: Sequence[dict[int, int]] = ()

    def use(self, runs: RegisterRuns) -> None:
        """Have the registers of groups collected from these."""
        self.runs = runs
        self.enable_mask = _NO_MASK
        self.is_decoded = False
