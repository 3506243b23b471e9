# SPDX-License-Identifier: MIT
"""How a pass is rendered: GMEM or sysmem mode, tiles, binning, visibility streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.layout_check.tilings import avoids_cache
from cffpy.check.draw_states import DrawStates
from cffpy.check.model import FROM_A5XX, FROM_A6XX, Facts, at_pass, lint
from cffpy.errors import UnsupportedGpu
from cffpy.image.devices import device

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.walk import Walk
    from cffpy.check.draw_states import DrawState
    from cffpy.check.model import CheckedCapture, Report
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass


@lint("CFF019", "info", FROM_A6XX)
def gmem_without_cache(capture: CheckedCapture) -> Iterator[Report]:
    """Attachments avoid the part of GMEM that the colour cache uses.

    GMEM passes whose tiles and GMEM offsets are those of the smaller layout only.

    Why: turnip leaves the cache its part of GMEM where a store or resolve is not aligned, or
    not possible by the BLIT event: tiles are smaller.

    Advice: Align the render area to 16 x 4 pixels, and resolve between formats that the event
    can handle.
    """
    try:
        part = device(capture.found.gpu or "")
    except UnsupportedGpu:
        return
    for found in capture.render_passes():
        if found.mode == "gmem" and avoids_cache(part, found):
            text = "the tiles are those of the GMEM layout that avoids the cache"
            yield at_pass(found, text)


#: This many loads and stores for each draw are normal.
_RATIO = 4


@lint("CFF020", "info", FROM_A5XX)
def many_tiles_few_draws(capture: CheckedCapture) -> Iterator[Report]:
    """Loads and stores of tiles outnumber the draws by far.

    GMEM passes with four times as many loads and stores as draws.

    Why: Each tile moves its attachments between GMEM and memory. With few draws that costs more
    than rendering into memory.

    Advice: Merge passes on the same attachments, or render the pass in sysmem mode.
    """
    for found in capture.render_passes():
        moves = sum(
            operation.kind in ("load", "store") and operation.action.execution.is_possible
            for tile in found.tiles
            for operation in tile.operations
        )
        draws = len(found.draws)
        if found.mode == "gmem" and draws and moves > _RATIO * draws:
            text = f"{len(found.tiles)} tiles have {moves} loads and stores for {draws} draws"
            yield at_pass(found, text)


#: By the drivers' rule, passes with at most this many draws are rendered in sysmem.
_FEW = 5


@lint("CFF021", "info", FROM_A6XX, needs=(DrawStates,))
def sysmem_with_many_draws(capture: CheckedCapture) -> Iterator[Report]:
    """A pass with many draws or samples is rendered in sysmem mode.

    Sysmem passes that the rule of turnip and Gallium renders in GMEM.

    Why: Blending, depth tests and samples go to memory for each draw. The drivers choose GMEM
    here unless something prevents it.

    Advice: Look for TU_DEBUG=sysmem or FD_MESA_DEBUG=sysmem, a feedback loop, or a barrier in
    the pass.
    """
    states = capture.facts(DrawStates)
    for found in capture.render_passes():
        draws = found.draws
        many = len(draws) > _FEW or (found.samples or 1) > 1
        if found.mode != "sysmem" or not many or not found.attachments or not draws:
            continue
        taken = [state for state in map(states.of, draws) if state is not None]
        knows_all = all(map(states.is_complete, draws))
        if knows_all and not _needs_sysmem(found, taken):
            text = f"{len(draws)} draws with {found.samples or 1} samples in sysmem mode"
            yield at_pass(found, text)


def _needs_sysmem(found: Pass, states: list[DrawState]) -> bool:
    """Tessellation, transform feedback and layers are always rendered in sysmem mode."""
    tessellates = any(one.stage == "HS" for state in states for one in state.programs)
    feeds = any(state.raster.feeds_back for state in states)
    return tessellates or feeds or (found.layers or 1) > 1 or (found.views or 1) > 1


@lint("CFF022", "info", FROM_A5XX, needs=(DrawStates,))
def needless_binning(capture: CheckedCapture) -> Iterator[Report]:
    """A binning run of a single tile.

    GMEM passes with a binning run and one tile; transform feedback needs the run.

    Drivers use a run for two tiles (Gallium, from a6xx on) or three, and more.

    Why: The binning run executes all vertex programs once more, and there is no other tile
    whose draws could be skipped.

    Advice: Do not force hardware binning for small framebuffers.
    """
    states = capture.facts(DrawStates)
    for found in capture.render_passes():
        if not found.hardware_binning or len(found.tiles) != 1 or not _is_single(found):
            continue
        taken = [state for state in map(states.of, found.draws) if state is not None]
        knows_all = all(map(states.is_complete, found.draws))
        if knows_all and not any(state.raster.feeds_back for state in taken):
            yield at_pass(found, "a binning run for 1 tile")


def _is_single(found: Pass) -> bool:
    """Whether the grid has one tile, too: a capture may end in the first of several."""
    return found.grid is not None and found.grid.width * found.grid.height == 1


@lint("CFF023", "info", FROM_A6XX, needs=(DrawStates,))
def forced_sysmem(capture: CheckedCapture) -> Iterator[Report]:
    """Tessellation or layers force a pass into sysmem mode.

    Sysmem passes with hull programs or several layers.

    Why: Mesa does not render such a pass in GMEM: every draw reads and writes memory.

    Advice: Keep tessellated draws and layered rendering in separate passes.
    """
    states = capture.facts(DrawStates)
    for found in capture.render_passes():
        if found.mode != "sysmem" or not found.attachments:
            continue
        taken = [state for state in map(states.of, found.draws) if state is not None]
        if any(one.stage == "HS" for state in taken for one in state.programs):
            yield at_pass(found, "draws with tessellation in sysmem mode", "tessellation")
        elif (found.layers or 1) > 1:
            yield at_pass(found, f"{found.layers} layers in sysmem mode", "layers")


# -- visibility streams ----------------------------------------------------------------------------


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


#: VSC pipes of parts that are not known.
_PIPES = 32


@lint("CFF044", "error", FROM_A6XX, needs=(StreamBuffers,))
def stream_limits(capture: CheckedCapture) -> Iterator[Report]:
    """The visibility streams do not fit into their buffer.

    Limits above the pitch; buffers that end before the last pipe's part.

    Why: The binning run writes behind the buffer, or the overflow is noticed too late.

    Advice: Make the buffer as large as pipes x pitch, and the limit smaller than the pitch.
    """
    buffers = capture.facts(StreamBuffers)
    all_pipes = _pipes_of(capture.found.gpu)
    for found in capture.render_passes():
        streams = found.visibility_streams
        if streams is None or not found.pipes:
            continue
        pipes = max(pipe.number for pipe in found.pipes) + 1
        for name, base, pitch, limit in (
            ("draw", streams.draw, streams.draw_pitch, streams.draw_limit),
            ("primitive", streams.primitive, streams.primitive_pitch, streams.primitive_limit),
        ):
            if not base or not pitch:
                continue
            there = buffers.remaining(found, base)
            if limit is not None and not _is_limit(limit, pitch, all_pipes, there):
                text = f"the limit of {name} streams is {limit}, their pitch {pitch}"
                yield at_pass(found, text, (name, "limit"))
            if there and pipes * pitch > there:
                text = f"{pipes} {name} streams with pitch {pitch} need more than {there} bytes"
                yield at_pass(found, text, (name, "size"))


def _pipes_of(gpu: str | None) -> int:
    try:
        return device(gpu or "").vsc_pipes
    except UnsupportedGpu:
        return _PIPES


def _is_limit(limit: int, pitch: int, pipes: int, there: int) -> bool:
    """Whether a limit is that of a stream, or the size of the whole buffer, as of older drivers.

    ``there``: bytes of the buffer, 0 where these are not known.
    """
    return limit <= pitch or pipes * pitch <= limit <= (there or limit)
