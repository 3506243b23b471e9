# SPDX-License-Identifier: MIT
"""Vertices and indices that draws read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.inputs.facts import InputFact, largest_index
from cffpy.analysis.passes.tracker import is_program_draw
from cffpy.check.draw_states import DrawStates
from cffpy.check.model import FROM_A5XX, CheckedCapture, Facts, Report, at_draw, lint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.walk import Walk
    from cffpy.frame.action import Action

# -- the last vertex of a draw ---------------------------------------------------------------------
# The last vertex that each of the program's draws reads; also of indexed draws.

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
        return largest_index(InputFact(None, data, address), size)


@lint("CFF035", "error", FROM_A5XX, needs=(DrawStates, LastVertices))
def vertex_buffer_too_small(capture: CheckedCapture) -> Iterator[Report]:
    """A draw reads vertices behind the end of a buffer.

    Draws whose last vertex is known; indices are read where they were captured.

    Why: Fetches beyond SIZE return zeros, or fault: vertices collapse.

    Advice: Check the number of vertices, the stride and the size that is bound.
    """
    states, last_vertices = capture.facts(DrawStates), capture.facts(LastVertices)
    for pass_, draw in capture.draws():
        state, last = states.of(draw), last_vertices.of(draw)
        if state is None or last is None or last < 0:
            continue
        what = f"vertex {last}" if draw.indexed else f"{last + 1} vertices"
        for fetch in state.fetches:
            needed = fetch.stride * last + fetch.end
            if fetch.address and not fetch.instanced and fetch.size < needed:
                text = (
                    f"vertex buffer {fetch.number} has {fetch.size} bytes;"
                    f" {what} with stride {fetch.stride} need"
                    f"{'s' if draw.indexed else ''} {needed}"
                )
                yield at_draw(pass_, draw, text, (pass_.index, fetch.number, fetch.address))


@lint("CFF036", "error", FROM_A5XX, needs=(DrawStates,))
def attribute_without_buffer(capture: CheckedCapture) -> Iterator[Report]:
    """A vertex attribute is fetched from no buffer.

    Fetches with address 0 that a decode entry of the program uses.

    Why: The fetch unit reads address 0: zeros, or a fault.

    Advice: Bind a vertex buffer for each attribute that the program uses.
    """
    states = capture.facts(DrawStates)
    for pass_, draw in capture.draws():
        state = states.of(draw)
        for fetch in () if state is None else state.fetches:
            if not fetch.address and fetch.end:
                # written so where the program binds nothing: Vulkan's nullDescriptor
                what = "is null: address and size are 0" if fetch.is_null else "has address 0"
                text = f"vertex buffer {fetch.number} {what}"
                cause = pass_.index, fetch.number, fetch.is_null
                report = at_draw(pass_, draw, text, cause)
                yield report._replace(severity="info") if fetch.is_null else report


@lint("CFF048", "error")
def too_few_indices(capture: CheckedCapture) -> Iterator[Report]:
    """A draw has more indices than its packet says there are (MAX_INDICES).

    Indexed draws whose first index and count exceed MAX_INDICES; up to a4xx, INDX_SIZE.

    Why: The GPU reads no index behind that limit, and takes 0 instead: primitives collapse.

    Advice: Check the size of the index buffer that is bound, and the count of the draw.
    """
    for pass_, draw in capture.draws():
        there = draw.indices_within
        if there is not None:
            first = draw.first_index or 0
            behind = f" from index {first} on" if first else ""
            text = f"{draw.vertices} indices{behind}, and there are {there}"
            yield at_draw(pass_, draw, text, (pass_.index, there))
