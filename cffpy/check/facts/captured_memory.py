# SPDX-License-Identifier: MIT
"""Which memory was captured: IBs that are called, buffers of visibility streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.check.model import Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cffpy.analysis.actions import Action
    from cffpy.analysis.packet_location import PacketLocation
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.passes.model import Pass
    from cffpy.analysis.walk import Walk
    from cffpy.cp.sink import Payload

#: Calls that are kept, at most.
_MAX_CALLS = 1 << 16


class MissingCommands(Facts):
    """``calls``: address, dwords asked for, dwords captured, and where the call is."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self.calls: list[tuple[int, int, int, PacketLocation, Pass | None]] = []

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Calls of IBs."""
        return dict.fromkeys(("CP_INDIRECT_BUFFER", "CP_INDIRECT_BUFFER_PFE"), self._call)

    def _call(self, payload: Payload) -> None:
        machine = self.walk.machine
        needed = 3 if machine.is_64bit else 2
        dwords = payload.dwords()[:needed]
        if len(dwords) < needed:
            return
        *halves, size = dwords
        address = sum(half << 32 * number for number, half in enumerate(halves))
        size &= 0xFFFFF
        place = machine.image.place(address)
        captured = 0 if place is None else max(0, place[0].count - place[1])
        if size and captured < size and len(self.calls) < _MAX_CALLS:
            here = self.walk.packet_location
            self.calls.append((address, size, captured, here, self.passes.current))


class StreamBuffers(Facts):
    """Looks up buffers while the submit's memory is available."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        #: Pass and address -> declared bytes up to the end of the buffer; 0: no buffer.
        self._remaining: dict[tuple[int, int], int] = {}

    def action(self, action: Action) -> None:
        """The streams of a pass are known at its first action."""
        found = self.passes.current
        if found is None or found.visibility is None:
            return
        for address in (found.visibility.draw, found.visibility.primitive):
            if address and (found.index, address) not in self._remaining:
                remaining = self.walk.machine.image.remaining(address)
                self._remaining[found.index, address] = remaining

    def remaining(self, found: Pass, address: int) -> int:
        """Declared bytes from an address to the end of its buffer; 0 where there is none."""
        return self._remaining.get((found.index, address), 0)
