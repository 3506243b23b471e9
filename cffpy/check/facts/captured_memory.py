# SPDX-License-Identifier: MIT
"""Which memory was captured: IBs that are called, buffers of visibility streams, of indices.

Where a capture lists buffers that are not commands, as a full capture does (RD_DUMP full), it lists
all of them: drivers put each buffer of the submit into it. Render targets are never in the others.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from cffpy.check.model import Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.walk import Walk
    from cffpy.cp.sink import Payload
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.frame.place import PacketLocation

#: Calls and addresses that are kept, at most.
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
        if found is None or found.visibility_streams is None:
            return
        for address in (found.visibility_streams.draw, found.visibility_streams.primitive):
            if address and (found.index, address) not in self._remaining:
                remaining = self.walk.machine.image.remaining(address)
                self._remaining[found.index, address] = remaining

    def remaining(self, found: Pass, address: int) -> int:
        """Declared bytes from an address to the end of its buffer; 0 where there is none."""
        return self._remaining.get((found.index, address), 0)


class DeclaredMemory(Facts):
    """Which buffers the indices of draws lie in, and whether a capture lists all buffers."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        #: Submit and address of indices -> declared bytes up to the end of the buffer; 0: none.
        self._remaining: dict[tuple[int, int], int] = {}
        #: Submit -> address of a target -> whether it lies in a buffer.
        self._targets: dict[int, dict[int, bool]] = {}
        #: Address of what is copied to -> whether it lies in a buffer.
        self._copied: dict[int, bool] = {}

    def action(self, action: Action) -> None:
        """Look up indices and targets while the submit's memory is available."""
        if not action.execution.is_possible:
            return
        image, submit = self.walk.machine.image, action.place.submit.submit
        for address in self._written(action):
            known = self._targets.setdefault(submit, {})
            if address and address not in known and len(known) < _MAX_CALLS:
                known[address] = image.remaining(address) > 0
        for transfer in action.transfers:
            address = None if transfer.destination is None else transfer.destination.address
            if address and len(self._copied) < _MAX_CALLS:
                self._copied[address] = image.remaining(address) > 0
        first = _first_index(action)
        if first is not None and len(self._remaining) < _MAX_CALLS:
            key = submit, first
            if key not in self._remaining:
                self._remaining[key] = image.remaining(first)

    def _written(self, action: Action) -> Iterator[int | None]:
        """Addresses of what an action renders to, stores or clears."""
        for target in action.targets:
            yield target.address
        run = self.passes.run
        if run is not None and run.operations and run.operations[-1].action is action:
            yield run.operations[-1].address

    def indices(self, draw: Action) -> int | None:
        """Declared bytes from a draw's first index to the end of its buffer; 0: no buffer.

        None where the draw has no indices in memory.
        """
        first = _first_index(draw)
        return None if first is None else self._remaining.get((_submit(draw), first))

    def is_full(self, draw: Action) -> bool:
        """Whether the capture lists all buffers of the draw's submit: most targets are in one.

        A submit without targets, of dispatches alone, is taken to be as the others; where none has
        any, what is copied to counts.
        """
        every = chain.from_iterable(of.values() for of in self._targets.values())
        candidates = (self._targets.get(_submit(draw), {}).values(), every, self._copied.values())
        known = next((found for one in candidates if (found := [*one])), [])
        return bool(known) and 2 * sum(known) > len(known)


def _first_index(draw: Action) -> int | None:
    """The address of the first index; of an indirect draw, that of all indices."""
    found = draw.index_region or draw.indirect_indices
    return None if found is None else found[0]


def _submit(draw: Action) -> int:
    return draw.place.submit.submit
