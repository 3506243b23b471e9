# SPDX-License-Identifier: MIT
"""How a pass is rendered: GMEM or sysmem mode, tiles, binning, visibility streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.layout_check.comparison import avoids_cache
from cffpy.check.draw_states import DrawStates
from cffpy.check.model import FROM_A5XX, FROM_A6XX, Facts, at_pass, lint

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

    GMEM passes whose tiles and GMEM offsets are those of the smaller layout only. With some sizes
    both layouts, or that of the Gallium driver, agree.

    Why: turnip leaves the cache its part of GMEM where a store or resolve is not aligned, or
    not possible by the BLIT event: tiles are smaller.

    Advice: Align the render area to 16 x 4 pixels, and resolve between formats that the event
    can handle.
    """
    for pass_ in capture.render_passes():
        if capture.part is None or pass_.mode != "gmem":
            continue
        if avoids_cache(capture.part, pass_):
            text = "the tiles are those of the GMEM layout that avoids the cache"
            yield at_pass(pass_, text)


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
    for pass_ in capture.render_passes():
        moves = sum(
            operation.kind in ("load", "store") and operation.action.execution.is_possible
            for tile in pass_.tiles
            for operation in tile.operations
        )
        draws = len(pass_.draws)
        if pass_.mode == "gmem" and draws and moves > _RATIO * draws:
            text = f"{len(pass_.tiles)} tiles have {moves} loads and stores for {draws} draws"
            yield at_pass(pass_, text)


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
    for pass_ in capture.render_passes():
        draws = pass_.draws
        many = len(draws) > _FEW or (pass_.samples or 1) > 1
        if pass_.mode != "sysmem" or not many or not pass_.attachments or not draws:
            continue
        taken = [state for state in map(states.of, draws) if state is not None]
        knows_all = all(map(states.is_complete, draws))
        if knows_all and not _needs_sysmem(pass_, taken):
            text = f"{len(draws)} draws with {pass_.samples or 1} samples in sysmem mode"
            yield at_pass(pass_, text)


def _needs_sysmem(pass_: Pass, states: list[DrawState]) -> bool:
    """Tessellation, transform feedback and layers are always rendered in sysmem mode."""
    tessellates = any(program.stage == "HS" for state in states for program in state.programs)
    feeds = any(state.raster.feeds_back for state in states)
    return tessellates or feeds or (pass_.layers or 1) > 1 or (pass_.views or 1) > 1


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
    for pass_ in capture.render_passes():
        if not pass_.hardware_binning or len(pass_.tiles) != 1 or not _is_single(pass_):
            continue
        taken = [state for state in map(states.of, pass_.draws) if state is not None]
        knows_all = all(map(states.is_complete, pass_.draws))
        if knows_all and not any(state.raster.feeds_back for state in taken):
            yield at_pass(pass_, "a binning run for 1 tile")


def _is_single(pass_: Pass) -> bool:
    """Whether the grid has one tile, too: a capture may end in the first of several."""
    return pass_.grid is not None and pass_.grid.width * pass_.grid.height == 1


@lint("CFF023", "info", FROM_A6XX, needs=(DrawStates,))
def forced_sysmem(capture: CheckedCapture) -> Iterator[Report]:
    """Tessellation or layers force a pass into sysmem mode.

    Sysmem passes with hull programs or several layers.

    Why: Mesa does not render such a pass in GMEM: every draw reads and writes memory.

    Advice: Keep tessellated draws and layered rendering in separate passes.
    """
    states = capture.facts(DrawStates)
    for pass_ in capture.render_passes():
        if pass_.mode != "sysmem" or not pass_.attachments:
            continue
        taken = [state for state in map(states.of, pass_.draws) if state is not None]
        if any(program.stage == "HS" for state in taken for program in state.programs):
            yield at_pass(pass_, "draws with tessellation in sysmem mode", "tessellation")
        elif (pass_.layers or 1) > 1:
            yield at_pass(pass_, f"{pass_.layers} layers in sysmem mode", "layers")


# -- visibility streams ----------------------------------------------------------------------------


class StreamBuffers(Facts):
    """Looks up buffers while the submit's memory is available."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        super().__init__(walk, passes)
        #: Pass and address -> declared bytes up to the end of the buffer; 0: no buffer.
        self._remaining: dict[tuple[int, int], int] = {}

    def action(self, action: Action) -> None:
        """The streams of a pass are known at its first action."""
        pass_ = self.passes.current
        if pass_ is None or pass_.visibility_streams is None:
            return
        for address in (pass_.visibility_streams.draw, pass_.visibility_streams.primitive):
            if address and (pass_.index, address) not in self._remaining:
                remaining = self.walk.machine.image.remaining(address)
                self._remaining[pass_.index, address] = remaining

    def remaining(self, pass_: Pass, address: int) -> int:
        """Declared bytes from an address to the end of its buffer; 0 where there is none."""
        return self._remaining.get((pass_.index, address), 0)


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
    all_pipes = _PIPES if capture.part is None else capture.part.vsc_pipes
    for pass_ in capture.render_passes():
        streams = pass_.visibility_streams
        if streams is None or not pass_.pipes:
            continue
        pipes = max(pipe.number for pipe in pass_.pipes) + 1
        for name, base, pitch, limit in (
            ("draw", streams.draw, streams.draw_pitch, streams.draw_limit),
            ("primitive", streams.primitive, streams.primitive_pitch, streams.primitive_limit),
        ):
            if not base or not pitch:
                continue
            there = buffers.remaining(pass_, base)
            if limit is not None and not _is_limit(limit, pitch, all_pipes, there):
                text = f"the limit of {name} streams is {limit}, their pitch {pitch}"
                yield at_pass(pass_, text, (name, "limit"))
            if there and pipes * pitch > there:
                text = f"{pipes} {name} streams with pitch {pitch} need more than {there} bytes"
                yield at_pass(pass_, text, (name, "size"))


def _is_limit(limit: int, pitch: int, pipes: int, there: int) -> bool:
    """Whether a limit is the size of a stream, or of the whole buffer, as of older drivers.

    ``there``: bytes of the buffer, 0 where these are not known.
    """
    return limit <= pitch or pipes * pitch <= limit <= (there or limit)
