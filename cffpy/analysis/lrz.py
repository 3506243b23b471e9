# SPDX-License-Identifier: MIT
"""Whether each draw of a pass uses LRZ, and why not (a5xx to a7xx).

A draw shows in GRAS_LRZ_CNTL whether LRZ is on. The reason is derived: first what the draw's own
state rules out, in the order in which drivers test it, then what an earlier draw of the pass lost,
then what the pass began with. All reasons are one table.

Facts: tu_lrz.cc of turnip, fd6_emit.cc and fd5_emit.c of the Gallium driver, Mesa 25.0.7; turnip of
26.0 keeps LRZ where the older one loses it: after blending with depth write, or a stencil test that
may reject fragments, it still tests LRZ, and does not write it any more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from cffpy.capture.gpu import GENERATIONS
from cffpy.errors import UnsupportedGpu
from cffpy.frame.facts import fact, model, stored
from cffpy.frame.lrz import DepthState, Direction, DrawLrz, Use, Why
from cffpy.frame.objects import ModelObject, Shown
from cffpy.frame.passes import Lrz, Pass
from cffpy.frame.places import DrawName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cffpy.analysis.program_facts import ProgramFacts
    from cffpy.capture.gpu import Generation
    from cffpy.capture.gpu import Lrz as LrzRules
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Passes

    #: The facts of an action's fragment program, None where they are not known.
    Programs = Callable[[Action], ProgramFacts | None]

    #: What ``_Own`` is derived from: state, program, whether the draw writes LRZ, nesting, and the
    #: direction and the loser of writes of the draws before.
    _Inputs = tuple[DepthState, ProgramFacts | None, bool, int, str | None, int | None]

#: Depth functions that no range of LRZ decides; functions for which turnip keeps the range.
_EQUAL = ("FUNC_EQUAL", "FUNC_NEVER")
_ALWAYS = ("FUNC_ALWAYS", "FUNC_NOTEQUAL")


@model("pass_lrz")
class PassLrz(ModelObject):
    """LRZ in a render pass."""

    pass_: Pass = stored("the pass")

    @fact()
    def lrz(self) -> Lrz | None:
        """Its low-resolution depth buffer."""
        return self.pass_.lrz

    draws: list[DrawLrz] = stored("LRZ at each of its draws", default_factory=Shown)
    lost_by: int | None = stored(
        "number of the draw that lost LRZ for the rest of the pass", default=None
    )
    lost_why: Why | None = stored("why that draw lost it", default=None)
    paying: list[int] = stored(
        "numbers of the draws after it that would use LRZ by their own state", default_factory=list
    )
    notes: list[str] = stored("what only the GPU knows, in words", default_factory=list)

    @fact()
    def tests_depth(self) -> bool:
        """Whether any draw has a depth test: only then LRZ matters."""
        return any(draw.action.depth and draw.action.depth.tests_depth for draw in self.draws)

    @fact()
    def tested(self) -> int:
        """How many draws have LRZ on."""
        return sum(draw.use != "off" for draw in self.draws)

    @property
    def lost_name(self) -> DrawName | None:
        """The name of the draw that lost LRZ."""
        return None if self.lost_by is None else DrawName(self.lost_by, self.pass_.index)

    def of_draws(self, wanted: Callable[[Action], bool]) -> PassLrz:
        """The same with some of the draws."""
        draws = [draw for draw in self.draws if wanted(draw.action)]
        numbers = {draw.draw for draw in draws}
        paying = [number for number in self.paying if number in numbers]
        return replace(self, draws=draws, paying=paying)

    def __repr__(self) -> str:
        lost = "" if self.lost_by is None else f", lost by draw {self.lost_name}"
        used = f"{self.tested} of {len(self.draws)} draws"
        return f"<PassLrz of pass {self.pass_.index}: {used}{lost}>"


def _unknown_program(_action: Action) -> None:
    """No facts of any program."""


def lrz_of_passes(frame: Passes, programs: Programs = _unknown_program) -> list[PassLrz]:
    """LRZ in each render pass with draws. Empty up to a4xx, which have no LRZ.

    Without ``programs``, reasons that only instructions show are left out.
    """
    facts = GENERATIONS.get(frame.generation)
    if facts is None or facts.lrz is None:
        return []
    passes = [pass_ for pass_ in frame.passes if pass_.kind == "render" and pass_.draws]
    rules = _Rules(frame, passes, facts, facts.lrz)
    return [_PassFollower(pass_, rules, programs).run() for pass_ in passes]


def _has_fast_clear(gpu: str) -> bool:
    """Whether a GPU has fast clears of LRZ; False for one that is not known."""
    from cffpy.image.devices import device  # lazy: a table of all GPUs

    try:
        return device(gpu).has_lrz_fast_clear
    except UnsupportedGpu:
        return False


class _Rules:
    """What differs between GPUs and drivers."""

    def __init__(
        self, frame: Passes, passes: Iterable[Pass], facts: Generation, lrz: LrzRules
    ) -> None:
        self.tests_kills = lrz.tests_kills
        self.is_for_each_draw = lrz.is_for_each_draw
        #: Keeps the direction in memory, so that the GPU finds a wrong one (a6xx gen3 on, a7xx).
        self.tracks_direction = lrz.tracks_direction or _has_fast_clear(frame.gpu or "")
        #: turnip writes the direction; the Gallium driver never does. None: no draw has LRZ on.
        self.is_turnip: bool | None = None
        if not facts.has_turnip:
            self.is_turnip = False
            return
        states = (draw.depth for pass_ in passes for draw in pass_.draws)
        for state in states:
            if state is not None and state.lrz_enabled:
                self.is_turnip = state.lrz_direction is not None
                if self.is_turnip:
                    break

    @property
    def is_gallium(self) -> bool:
        return self.is_turnip is False


class _Own(NamedTuple):
    """LRZ at a draw, as far as its own state decides."""

    use: Use
    direction: Direction | None
    #: Why LRZ is off; empty where it is on.
    off: tuple[Why, ...]
    #: Why LRZ tests, but does not write.
    reasons: tuple[Why, ...]


class _PassFollower:
    """Follows LRZ over the draws of a pass."""

    def __init__(self, pass_: Pass, rules: _Rules, programs: Programs) -> None:
        self._pass = pass_
        self._rules = rules
        self._programs = programs
        self._result = PassLrz(pass_)
        #: The direction of the last draw that wrote depth.
        self._direction: Direction | None = None
        self._buffer: int | None = None
        self._clears = _later_clears(pass_)
        binning = () if pass_.binning is None else pass_.binning.draws
        #: Draws that write LRZ in the binning run: those of a5xx write it nowhere else.
        self._written_in_binning = {
            draw.number for draw in binning if draw.depth and draw.depth.lrz_writes
        }
        draws = pass_.draws
        #: turnip of 25.0 turns LRZ off in passes with a density map, of 26.0 does not.
        self._has_density = any(tile.density is not None for tile in pass_.tiles) and not any(
            draw.depth.lrz_enabled for draw in draws if draw.depth is not None
        )
        #: The draw after which turnip of 26.0 writes no LRZ.
        self._writes_lost_by: int | None = None
        levels = [draw.level for draw in pass_.draws]
        self._level = min(levels)

    def run(self) -> PassLrz:
        """All draws of the pass."""
        result = self._result
        own: list[tuple[Why, ...]] = []
        last: _Inputs | None = None
        own_state = _Own("off", None, (), ())
        for number, action in enumerate(self._pass.draws):
            state = action.depth
            if state is None:
                continue
            writes = state.lrz_writes or number in self._written_in_binning
            programs, lost_by = self._programs(action), self._writes_lost_by
            inputs = state, programs, writes, action.level, self._direction, lost_by
            if inputs != last:  # most draws are like the one before
                # a draw after a clear is not like the next one
                last = None if self._clears else inputs
                own_state = self._derive(action, state, writes)
            use, direction, off, reasons = own_state
            if lost_by is None and _loses_writes(state):
                self._writes_lost_by = number
            own.append(off)
            result.draws.append(DrawLrz(number, action, use, direction, reasons))
        start = None if result.tested else self._why_invalid()
        if start is None:
            self._find_loser(own)
        self._explain(own, start)
        self._note_start()
        return result

    # -- a draw's own state ---------------------------------------------------------------------

    def _derive(self, action: Action, state: DepthState, writes: bool) -> _Own:
        """What follows from a draw's own state, and from the direction of the draws before it."""
        use = _use(state, writes)
        direction = state.lrz_direction
        if use != "off" and direction is None:
            direction = state.direction
        off = self._why_off(action, state)
        reasons = self._why_no_write(action, state) if use == "test" else ()
        keeps = use != "off" or not off
        if keeps and state.writes_depth and state.direction is not None:
            self._direction = state.direction
        return _Own(use, direction, off if use == "off" else (), reasons)

    def _why_off(self, action: Action, state: DepthState) -> tuple[Why, ...]:
        """What the draw's own state rules out, the first that applies."""
        if self._rules.is_for_each_draw:
            why = self._why_off_alone(action, state)
            return () if why is None else (why,)
        why = (
            self._pass_changes(action, state)
            or self._function(state)
            or self._stencil(state)
            or self._destination(state)
            or self._program(action, state)
        )
        return () if why is None else (why,)

    def _why_off_alone(self, action: Action, state: DepthState) -> Why | None:
        """What rules LRZ out where no earlier draw matters (a5xx)."""
        if not state.tests_depth:
            return Why("no depth test")
        if state.direction is None:
            return Why("equal", (state.depth_func or "unknown").removeprefix("FUNC_"))
        return self._program(action, state)

    def _pass_changes(self, action: Action, state: DepthState) -> Why | None:
        if self._buffer is not None and state.depth_buffer is None:
            return Why("no depth buffer")
        if not state.tests_depth:
            return Why("no depth test")
        if self._buffer is None:
            self._buffer = state.depth_buffer
        elif self._buffer != state.depth_buffer:
            return Why("depth buffer changed")
        if self._clears and self._clears[0] < action.order:
            self._clears.clear()
            return Why("depth cleared")
        may_be_turnip = not self._rules.is_gallium
        if may_be_turnip and not self._rules.tracks_direction and action.level > self._level:
            return Why("secondary")
        return None

    def _function(self, state: DepthState) -> Why | None:
        func = state.depth_func or "unknown"
        name = func.removeprefix("FUNC_")
        locked = self._rules.is_gallium and self._direction is not None
        if func == "FUNC_NEVER" and self._rules.is_gallium:
            return self._change("less", state)  # enabled, as if it were LESS
        if func in _EQUAL:
            if locked and func == "FUNC_EQUAL":
                return Why("no direction", name)
            return Why("equal", name)
        if func in _ALWAYS:
            if locked and not state.writes_depth:
                return Why("no direction", name)
            return Why("always, written" if state.writes_depth else "always", name)
        return self._change(state.direction or name, state)

    def _change(self, direction: str, state: DepthState) -> Why | None:
        """A direction against that of the last draw that wrote depth."""
        if self._direction is None or direction == self._direction:
            return None
        if self._rules.is_gallium:
            return Why("direction, any draw", direction)
        return Why("direction, written" if state.writes_depth else "direction", direction)

    def _stencil(self, state: DepthState) -> Why | None:
        if not state.writes_stencil or all(func == "FUNC_NEVER" for func in state.stencil_funcs):
            return None
        return Why("stencil and depth written" if state.writes_depth else "stencil written")

    def _destination(self, state: DepthState) -> Why | None:
        if state.destination_read is None or not state.writes_depth:
            return None
        return Why("destination read", state.destination_read)

    def _program(self, action: Action, state: DepthState) -> Why | None:
        if self._has_density:
            return Why("density map")
        facts = self._programs(action)
        is_late = state.z_mode in (None, "LATE_Z")
        if state.program_writes_depth and is_late:
            does = "writes depth, stencil or the sample mask"
        elif facts is not None and facts.writes_memory and is_late:
            does = "writes memory and does not demand early tests"
        elif facts is not None and facts.kills and not self._rules.tests_kills:
            does = "may discard fragments"
        else:
            return None
        keeps = self._direction is not None or not self._rules.tracks_direction
        if keeps or self._rules.is_gallium:
            return Why("program", does)
        return Why("program, no direction", does)

    # -- tests without writes -------------------------------------------------------------------

    def _why_no_write(self, action: Action, state: DepthState) -> tuple[Why, ...]:
        reasons: list[Why] = []
        facts = self._programs(action)
        if not state.writes_depth:
            reasons.append(Why("no depth write"))
        if state.destination_read is not None:
            reasons.append(Why("target read", state.destination_read))
        if facts is not None and facts.kills:
            reasons.append(Why("kill"))
        if state.alpha_kills is not None:
            reasons.append(Why("alpha", state.alpha_kills))
        if _may_fail_stencil(state):
            reasons.append(Why("stencil"))
        return tuple(reasons) or (self._why_pass_writes_none(),)

    def _why_pass_writes_none(self) -> Why:
        """Why a draw whose own state lets it write LRZ does not."""
        if self._writes_lost_by is not None and self._rules.is_turnip:
            return Why("writes lost", f"draw {DrawName(self._writes_lost_by, self._pass.index)}")
        if self._pass.mode == "sysmem" and not self._rules.tracks_direction:
            return Why("sysmem")
        return Why("not known")

    # -- the pass as a whole --------------------------------------------------------------------

    def _find_loser(self, own: list[tuple[Why, ...]]) -> None:
        """The first draw that loses LRZ, after which no draw of the pass has it."""
        result = self._result
        on = [index for index, draw in enumerate(result.draws) if draw.use != "off"]
        first = on[-1] + 1 if on else 0
        for index in range(first, len(own)):
            if own[index] and own[index][0].loses:
                result.lost_by = result.draws[index].draw
                result.lost_why = own[index][0]
                return

    def _why_invalid(self) -> Why | None:
        """Why no draw of the pass can have LRZ, regardless of its state."""
        lrz = self._pass.lrz
        if lrz is not None and lrz.disabled:
            return Why("disabled")
        states = (draw.action.depth for draw in self._result.draws)
        bound = any(state is not None and state.lrz_buffer for state in states)
        if (lrz is None or not lrz.address) and not bound:
            return Why("no buffer")
        if (lrz is None or not lrz.cleared) and not self._rules.is_gallium:
            return Why("not cleared")
        return None

    def _explain(self, own: list[tuple[Why, ...]], start: Why | None) -> None:
        """The reasons of draws with LRZ off. ``start``: what holds for all that test depth."""
        result = self._result
        for draw, reasons in zip(result.draws, own, strict=True):
            if draw.use != "off":
                continue
            if start is not None and reasons != (Why("no depth test"),):
                draw.reasons = (start,)
            elif result.lost_by is not None and draw.draw > result.lost_by:
                if not reasons:
                    result.paying.append(draw.draw)
                draw.reasons = (*reasons, Why("lost"))
            else:
                draw.reasons = reasons or (self._why_never(draw),)

    def _why_never(self, draw: DrawLrz) -> Why:
        state, lrz = draw.action.depth, self._pass.lrz
        assert state is not None
        if lrz is None or not lrz.cleared:
            return Why("not cleared")
        if state.z_mode == "LATE_Z":
            return Why("late depth test", state.z_mode)
        return Why("not known" if self._result.tested else "not enabled")

    def _note_start(self) -> None:
        lrz, result = self._pass.lrz, self._result
        if lrz is not None and lrz.disabled and result.tested:
            result.notes.append("LRZ has no effect: the driver marked the buffer as unusable")
        reused = lrz is not None and not lrz.cleared and not lrz.disabled
        if reused and result.tested and self._rules.tracks_direction and self._rules.is_turnip:
            result.notes.append(
                "LRZ of an earlier pass is used again: whether it is valid depends on GPU state"
            )


def _use(state: DepthState, writes: bool) -> Use:
    if not state.lrz_enabled:
        return "off"
    return "test and write" if writes else "test"


def _loses_writes(state: DepthState) -> bool:
    """Whether turnip of 26.0 writes no LRZ after a draw with LRZ of this state."""
    reads = state.writes_depth and state.destination_read is not None
    return state.tests_depth and (reads or _may_fail_stencil(state))


def _may_fail_stencil(state: DepthState) -> bool:
    return state.tests_stencil and any(func != "FUNC_ALWAYS" for func in state.stencil_funcs)


def _later_clears(pass_: Pass) -> list[int]:
    """Positions of clears of depth after the first of the program's draws, in its run."""
    first, last = pass_.draws[0], pass_.draws[-1]
    return [
        operation.action.order
        for run in pass_.runs
        for operation in run.operations
        if operation.kind == "clear"
        and "depth" in (operation.attachment or "")
        and operation.action.execution.is_possible
        and first.order < operation.action.order < last.order
    ]
