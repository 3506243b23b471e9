# SPDX-License-Identifier: MIT
"""LRZ and the depth test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.lrz import lrz_of_passes
from cffpy.check.draw_states import DrawStates
from cffpy.check.model import FROM_A5XX, FROM_A6XX, at_draw, at_pass, lint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.lrz import PassLrz
    from cffpy.check.model import CheckedCapture, Report
    from cffpy.frame.lrz import DepthState

#: At most this many draws of a pass are not worth a finding.
_FEW_DRAWS = 5


def _lrz(capture: CheckedCapture) -> list[PassLrz]:
    """LRZ of each render pass, as ``cffpy lrz`` shows it."""
    return lrz_of_passes(capture.model, capture.facts(DrawStates).fragment_program)


@lint("CFF012", "warning", FROM_A5XX, needs=(DrawStates,))
def lrz_off(capture: CheckedCapture) -> Iterator[Report]:
    """A draw with a depth test does not use LRZ, though the pass has it.

    Draws that are off by their own state, in passes that use LRZ or clear it.

    Why: LRZ rejects hidden blocks before the fragment program runs. This draw shades what other
    draws hide.

    Advice: See the reason; cffpy lrz shows all draws of the pass.
    """
    for lrz in capture.once(_lrz):
        if not lrz.tested and not (lrz.pass_.lrz is not None and lrz.pass_.lrz.cleared):
            continue
        for draw in lrz.draws:
            state = draw.action.depth
            if draw.use != "off" or state is None or state.direction is None:
                continue
            why = draw.reasons[0]
            if state.tests_depth and why.key != "lost" and not why.loses:
                text = f"LRZ is off: {why.text}"
                yield at_draw(lrz.pass_, draw.action, text, (lrz.pass_.index, why.key))


@lint("CFF013", "warning", FROM_A5XX, needs=(DrawStates,))
def lrz_lost(capture: CheckedCapture) -> Iterator[Report]:
    """A draw turns LRZ off for the rest of the pass.

    The draw that lost LRZ, where later draws would use it.

    Why: Later draws of the pass are not tested against LRZ, whatever their state is.

    Advice: Draw it last, or in a separate pass; cffpy lrz --json has advice for each reason.
    """
    for lrz in capture.once(_lrz):
        why = lrz.lost_why
        if why is None or lrz.lost_by is None or not lrz.paying or why.key == "depth cleared":
            continue
        draw = lrz.pass_.draws[lrz.lost_by]
        text = f"LRZ is lost: {why.text}; {len(lrz.paying)} later draws would use it"
        yield at_draw(lrz.pass_, draw, text, lrz.pass_.index)


@lint("CFF014", "info", FROM_A6XX)
def no_lrz_buffer(capture: CheckedCapture) -> Iterator[Report]:
    """A pass with a depth test has no LRZ buffer.

    Passes with more than a few draws that test depth with a direction.

    Why: Without LRZ, hidden blocks are shaded unless draws come front to back.

    Advice: Use a depth format that has LRZ, and clear depth at the start of the pass.
    TU_DEBUG=nolrz and FD_MESA_DEBUG=nolrz turn it off.
    """
    for pass_ in capture.render_passes():
        tested = [
            draw
            for draw in pass_.draws
            if draw.depth and draw.depth.tests_depth and draw.depth.direction
        ]
        bound = any(draw.depth and draw.depth.lrz_buffer for draw in tested)
        if len(tested) > _FEW_DRAWS and not bound and (pass_.lrz is None or not pass_.lrz.address):
            yield at_pass(pass_, f"{len(tested)} draws test depth without an LRZ buffer")


@lint("CFF015", "warning", FROM_A6XX, needs=(DrawStates,))
def late_depth_test(capture: CheckedCapture) -> Iterator[Report]:
    """The depth test of many draws comes after the fragment program.

    Draws with LATE_Z and a depth test that can reject fragments.

    Why: With Z_MODE LATE_Z every fragment is shaded before it can be rejected.

    Advice: Do not write depth or discard fragments where it is not needed, or demand early
    fragment tests.
    """
    states = capture.facts(DrawStates)
    for pass_ in capture.render_passes():
        late = [
            draw
            for draw in pass_.draws
            if draw.depth
            and draw.depth.tests_depth
            and draw.depth.z_mode == "LATE_Z"
            and draw.depth.depth_func != "FUNC_ALWAYS"
        ]
        if len(late) <= _FEW_DRAWS:
            continue
        program = states.fragment_program(late[0])
        reason = ""
        if late[0].depth and late[0].depth.program_writes_depth:
            reason = ": the fragment program writes depth"
        elif program is not None and program.writes_memory:
            reason = ": the fragment program writes memory"
        elif program is not None and program.kills:
            reason = ": the fragment program may discard fragments, and LRZ is off"
        text = f"{len(late)} draws have Z_MODE LATE_Z{reason}"
        yield at_draw(pass_, late[0], text, pass_.index)


@lint("CFF042", "warning", FROM_A6XX, needs=(DrawStates,))
def clear_within_pass(capture: CheckedCapture) -> Iterator[Report]:
    """Depth is cleared in a pass after draws.

    Draws at which LRZ is lost by a clear.

    Why: LRZ is not valid from there on: turnip turns it off for the rest of the pass.

    Advice: Clear depth by the load operation of a new pass.
    """
    for lrz in capture.once(_lrz):
        why = lrz.lost_why
        if why is not None and lrz.lost_by is not None and why.key == "depth cleared":
            draw = lrz.pass_.draws[lrz.lost_by]
            text = "depth is cleared before this draw; LRZ is off from here on"
            yield at_draw(lrz.pass_, draw, text, lrz.pass_.index)


#: Depth functions that pass fragments on both sides of what the buffer holds.
_BOTH = ("FUNC_ALWAYS", "FUNC_NOTEQUAL")


@lint("CFF049", "error", FROM_A5XX, needs=(DrawStates,))
def lrz_direction(capture: CheckedCapture) -> Iterator[Report]:
    """LRZ tests in another direction than the depth test.

    Draws that test depth and LRZ, with GREATER or DIR against ZFUNC.

    Why: LRZ rejects blocks whose fragments the depth test would pass: parts are missing.

    Advice: Set GREATER and DIR of GRAS_LRZ_CNTL by the depth function, and turn LRZ off where
    it is ALWAYS or NOTEQUAL.
    """
    states = capture.facts(DrawStates)
    for pass_, draw in capture.draws():
        state = draw.depth
        if state is None or not state.lrz_enabled or not state.tests_depth:
            continue
        if not states.is_complete(draw):
            continue  # one of the registers may be older
        used = _against(state)
        if used is not None:
            func = (state.depth_func or "").removeprefix("FUNC_")
            text = f"the depth function is {func}, and LRZ tests for {used}"
            yield at_draw(pass_, draw, text, (pass_.index, state.depth_func, used))


def _against(state: DepthState) -> str | None:
    """The direction of LRZ that contradicts the depth function; None where none does."""
    for used in (state.lrz_test, state.lrz_direction):
        if used is None:
            continue
        if state.direction is not None and state.direction != used:
            return used
        if state.depth_func in _BOTH and state.lrz_direction is not None:
            return used
    return None
