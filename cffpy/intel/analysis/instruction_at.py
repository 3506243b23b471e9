# SPDX-License-Identifier: MIT
"""Finds the action of an instruction by the instruction's place, or the first action after it."""

from __future__ import annotations

from cffpy.errors import CaptureError
from cffpy.frame.places import FileOffset, PacketPath
from cffpy.intel.analysis.capture import run_capture
from cffpy.intel.analysis.place import InstructionPlace
from cffpy.intel.analysis.survey import SurveyWalk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.places import PacketName
    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.state import Instruction
    from cffpy.intel.container.memory import AddressSpace
    from cffpy.intel.decoder.batches import Kind
    from cffpy.intel.decoder.database import Database


class _FindWalk(SurveyWalk):
    """Notes how many actions come before the first instruction that covers a place."""

    def __init__(
        self, database: Database, memory: AddressSpace, budget: int, place: PacketName
    ) -> None:
        super().__init__(database, memory, budget)
        self._place = place
        self.before: int | None = None
        #: Distance and place of the nearest other instruction.
        self.nearest: tuple[int, int] | None = None

    def instruction(self, kind: Kind, data: bytes, address: int, pointer: int | None) -> None:
        """Compare its place."""
        if self.before is None:
            self._compare(4 * kind.length, address, self.file_offset(address))
        super().instruction(kind, data, address, pointer)
        if self.before is not None and len(self.actions) > self.before:
            self.stop()

    def acted(self, action: Action, uses: Uses, command: Instruction) -> None:
        """Compare the place of a draw that a shader wrote; others have been compared."""
        if self.before is None:
            self._compare(4 * len(command.words), command.address, command.file_offset)
        super().acted(action, uses, command)

    def _compare(self, size: int, address: int, offset: int | None) -> None:
        place = self._place
        wanted = place.offset if isinstance(place, FileOffset) else place.gpuaddr
        here = offset if isinstance(place, FileOffset) else address
        if here is None:
            return
        if here <= wanted < here + size and self._is_in_stream(address, offset):
            self.before = len(self.actions)
        elif self.nearest is None or abs(here - wanted) < self.nearest[0]:
            self.nearest = abs(here - wanted), here

    def _is_in_stream(self, address: int, offset: int | None) -> bool:
        place = self._place
        if isinstance(place, FileOffset):
            return True
        if isinstance(place, PacketPath):
            path = InstructionPlace(self.stream, address, offset).name
            return (path.stream, path.calls) == (place.stream, place.calls)
        return place.submit in (None, self.stream.submit.submit)


def order_at(content: Content, place: PacketName, directory: str | None = None) -> int:
    """The order of the action at a place, or of the first that is executed after it.

    Raises CaptureError where no instruction is there, or no action follows.
    """
    walks: list[_FindWalk] = []

    def make(database: Database, memory: AddressSpace, budget: int) -> _FindWalk:
        walks.append(_FindWalk(database, memory, budget, place))
        return walks[0]

    run_capture(content, make, directory)
    walk = walks[0] if walks else None
    if walk is None or walk.before is None:
        nearest = None if walk is None else walk.nearest
        plus = "+" if isinstance(place, FileOffset) else ""
        known = "" if nearest is None else f"; the nearest one is at {plus}{nearest[1]:#x}"
        raise CaptureError(f"no packet is executed at {place}{known}")
    if walk.before >= len(walk.actions):
        raise CaptureError(f"no draw follows the packet {place}")
    return walk.before
