# SPDX-License-Identifier: MIT
"""LastVertices: the last vertex that each of the program's draws reads; also of indexed draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.diff.facts import Fact, largest_index
from cffpy.analysis.passes.tracker import is_program_draw
from cffpy.check.model import Facts

if TYPE_CHECKING:
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.walk import Walk
    from cffpy.frame.action import Action

#: Bytes that an index may have.
_SIZES = (1, 2, 4)

#: Bytes of indices that are read of a capture, and regions that are remembered, at most.
_MAX_BYTES, _MAX_REGIONS = 16 << 20, 1 << 16


class LastVertices(Facts):
    """Reads index buffers while the submit's memory is available."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        self._last: dict[int, int] = {}
        #: Region of indices -> the largest of them, while the memory stays as it is.
        self._largest: dict[tuple[int, int, int], int | None] = {}
        self._epoch = -1
        self._left = _MAX_BYTES

    def action(self, action: Action) -> None:
        """Find the largest index of one of the program's draws, in any run."""
        if action.kind != "draw" or action.indirect or not action.vertices:
            return
        if not is_program_draw(action):
            return
        last = action.vertices - 1
        if action.indexed:
            region = action.index_region
            largest = None if region is None else self._largest_of(region)
            if largest is None:
                return
            last = largest
        offset = self.walk.registers.value("VFD_INDEX_OFFSET") or 0
        self._last[action.order] = last + (offset - (1 << 32) if offset >> 31 else offset)

    def of(self, draw: Action) -> int | None:
        """The number of the last vertex, base vertex included; None where it is not known."""
        return self._last.get(draw.order)

    def _largest_of(self, region: tuple[int, int, int]) -> int | None:
        image = self.walk.machine.image
        if image.epoch != self._epoch or len(self._largest) >= _MAX_REGIONS:
            self._epoch = image.epoch
            self._largest.clear()
        if region not in self._largest:
            self._largest[region] = self._read(*region)
        return self._largest[region]

    def _read(self, address: int, count: int, size: int) -> int | None:
        """The largest captured index but the one that restarts primitives: all bits set."""
        buffer = self.walk.machine.image.find(address)
        if buffer is None or size not in _SIZES:
            return None
        start = address - buffer.gpuaddr
        data = buffer.contents[start : start + min(count * size, self._left)]
        self._left -= len(data)
        return largest_index(Fact(None, data, address), size)
