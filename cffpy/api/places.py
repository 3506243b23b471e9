# SPDX-License-Identifier: MIT
"""What a place covers: of ``p3:17``, ``s2``, ``0x10002018`` submits, passes, actions, packets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.passes.finder import action_named
from cffpy.api.arguments import expect
from cffpy.api.selection import choose_draws, choose_passes
from cffpy.frame.places import (
    BinningName,
    DrawName,
    DrawRange,
    FileOffset,
    PacketAddress,
    PacketPath,
    PassName,
    RunName,
    ShaderName,
    SubmitName,
    TileName,
    no_binning_run,
    no_pass,
    no_shader,
    no_submit,
    no_tile,
    parse_draw_name,
    parse_place,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cffpy.api.source import Source
    from cffpy.check.model import Report
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.frame.places import Place
    from cffpy.frame.shader import CapturedShader
    from cffpy.query.filters import Filter

#: Passes that an error lists.
_LISTED = 20


class _Matching:
    """The passes, and the program's draws by pass and number, for which a filter holds."""

    def __init__(self, source: Source, query: Filter) -> None:
        passes = source.walk(registers=True).finder.found.passes  # for both questions
        self.passes = frozenset(one.index for one, _ in choose_passes(source, passes, query))
        draws = [draw for pass_ in passes for draw in pass_.draws]
        chosen = choose_draws(source, draws, query)
        self.draws = frozenset((one.pass_index, one.number) for one, _ in chosen)


def place_of(place: str | int | Place) -> Place:
    """The place of a text. A number is that of a draw of the dump. Raises UsageError."""
    if isinstance(place, tuple):
        return place
    expect("a place", place, (str, int), 'a text, as in "p3:17"')
    return parse_place(place) if isinstance(place, str) else DrawName(place)


def draw_name_of(name: str | int) -> DrawName:
    """The same of one draw."""
    expect("a draw", name, (str, int), 'a text, as in "p3:17"')
    return DrawName(name) if isinstance(name, int) else parse_draw_name(name)


class Scope:
    """The part of a capture that a place covers, and for which a filter holds.

    All of it where there is neither.
    """

    def __init__(self, source: Source, place: Place | None, query: Filter | None = None) -> None:
        """Decodes the commands. Raises CaptureError where the capture has no such place."""
        self._source = source
        self.place = place
        self._holds: Callable[[Action], bool] | None = None
        self._passes: frozenset[int] | None = None
        self._matching: _Matching | None = None
        if place is not None:
            self._holds = self._holder(place)
            self._passes = frozenset(self._pass_indices(place))
        if query is not None:
            self._matching = _Matching(source, query)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return self._holds is None and self._matching is None

    @property
    def is_of_draws(self) -> bool:
        """Whether it may leave out draws of a pass."""
        of_passes = isinstance(self.place, SubmitName | PassName | None)
        return not of_passes or self._matching is not None

    def has_pass(self, index: int) -> bool:
        """Whether a pass is, or contains, the place; the filter holds for it or for a draw."""
        if self._matching is not None and index not in self._matching.passes:
            return False
        return self._passes is None or index in self._passes

    def has_action(self, action: Action) -> bool:
        """Whether an action (of the model) is part of the place, and of a draw that matches."""
        name = action.pass_index, action.number
        if self._matching is not None and name not in self._matching.draws:
            return False
        return self._holds is None or self._holds(action)

    def has(self, action: Action | None, pass_: Pass | None, submit: int | None) -> bool:
        """Whether what is said of an action, else of a pass, else of a submit, belongs to it."""
        if self.is_whole:
            return True
        if action is not None:
            return self.has_action(action)
        if pass_ is not None:
            return self.has_pass(pass_.index) and not (self.place and self.is_of_draws)
        return isinstance(self.place, SubmitName) and submit == self.place.number

    def has_report(self, report: Report) -> bool:
        """Whether what a lint reports belongs to it."""
        submit = None if report.place is None else report.place.submit
        return self.has(report.draw, report.pass_, submit)

    def has_tile(self, pass_index: int, number: int) -> bool:
        """Whether a tile is the place, or part of it."""
        place = self.place
        if isinstance(place, TileName):
            return place == TileName(number, pass_index)
        return self.has_pass(pass_index)

    @property
    def start(self) -> tuple[int, int | None] | None:
        """The first pass of it, and the draw where it is about one; None where no pass is."""
        if not self.is_of_draws:
            indices = range(len(self._found_passes()))
            return next(((index, None) for index in indices if self.has_pass(index)), None)
        named = ((action.pass_index, action.number) for action in self.actions())
        return next(((index, draw) for index, draw in named if index is not None), None)

    @property
    def is_of_single_actions(self) -> bool:
        """Whether the place names executions, of whatever: draws of the dump, a packet."""
        place = self.place
        if isinstance(place, DrawName | DrawRange):
            return place.pass_index is None
        return isinstance(place, PacketAddress | FileOffset | PacketPath)

    @property
    def is_of_executions(self) -> bool:
        """Whether the place tells executions of a draw apart, as a tile or a binning run does,
        too.
        """
        return self.is_of_single_actions or isinstance(self.place, RunName)

    def uses(self, shader: CapturedShader) -> bool:
        """Whether an action of it runs a shader."""
        if self.is_whole:
            return True
        if isinstance(self.place, ShaderName):
            return shader.number == self.place.number
        used = dict(shader.where)
        numbers = (
            (action.dump_draw, used.get(action.place.submit, ()))
            for action in self.actions()
            if action.dump_draw is not None
        )
        return any(first <= number <= last for number, of in numbers for first, last in of)

    def actions(self) -> list[Action]:
        """The actions (of the model) of the place, in order."""
        return [one for one in self._all() if self.has_action(one)]

    @property
    def orders(self) -> frozenset[int]:
        """Which of all actions are its own: ``Action.order``."""
        return frozenset(action.order for action in self.actions())

    @property
    def dump_draws(self) -> frozenset[int] | None:
        """The numbers of its actions in the dump; None where nothing is left out."""
        if self.is_whole:
            return None
        numbers = (action.dump_draw for action in self.actions())
        return frozenset(number for number in numbers if number is not None)

    # -- what is there ----------------------------------------------------------------------

    def _all(self) -> list[Action]:
        return self._source.walked.finder.actions

    def _found_passes(self) -> list[Pass]:
        return self._source.model.passes

    def _pass_indices(self, place: Place) -> Iterable[int]:
        if isinstance(place, SubmitName):
            return (pass_.index for pass_ in self._found_passes() if pass_.submit == place.number)
        if isinstance(place, PassName):
            return (place.number,)
        indices = (one.pass_index for one in self._all() if self.has_action(one))
        return (index for index in indices if index is not None)

    def _holder(self, place: Place) -> Callable[[Action], bool]:
        """Tells whether an action is part of the place. Raises CaptureError."""
        if isinstance(place, SubmitName):
            count = len(self._source.summary.submits)
            if place.number >= count:
                raise no_submit(place.number, count)
            return lambda action: action.place.submit == place.number
        if isinstance(place, PassName):
            self._check_pass(place.number)
            return lambda action: action.pass_index == place.number
        if isinstance(place, TileName):
            self._check_tile(place)
            return lambda action: (action.tile_number, action.pass_index) == place
        if isinstance(place, BinningName):
            self._check_binning_run(place)
            return lambda action: action.binning and action.pass_index == place.pass_index
        if isinstance(place, DrawName | DrawRange):
            return self._holder_of_draws(place)
        if isinstance(place, ShaderName):
            return self._holder_of_shader(place)
        order = self._source.next_action(place).order
        return lambda action: action.order == order

    def _check_pass(self, index: int) -> Pass:
        passes = self._found_passes()
        if index >= len(passes):
            raise no_pass(index, len(passes))
        return passes[index]

    def _check_tile(self, name: TileName) -> None:
        pass_ = self._check_pass(name.pass_index)
        if name.number < len(pass_.tiles):
            return
        raise no_tile(
            name, len(pass_.tiles), "" if pass_.tiles else tiled_passes(self._found_passes())
        )

    def _check_binning_run(self, name: BinningName) -> None:
        if self._check_pass(name.pass_index).binning is None:
            raise no_binning_run(name, binned_passes(self._found_passes()))

    def _holder_of_draws(self, place: DrawName | DrawRange) -> Callable[[Action], bool]:
        numbers = _numbers(place)
        index = place.pass_index
        finder = self._source.walked.finder
        for number in {numbers[0], numbers[-1]}:
            action_named(finder, DrawName(number, index))
        if index is None:
            return lambda action: action.dump_draw is not None and action.dump_draw in numbers
        return lambda action: (
            action.pass_index == index and action.number is not None and action.number in numbers
        )

    def _holder_of_shader(self, place: ShaderName) -> Callable[[Action], bool]:
        shaders = self._source.collected.shaders
        if place.number >= len(shaders):
            raise no_shader(place.number, len(shaders))
        used: set[tuple[int, int]] = set()
        for submit, ranges in shaders[place.number].where:
            used.update((submit, n) for first, last in ranges for n in range(first, last + 1))
        return lambda action: (
            action.dump_draw is not None and (action.place.submit, action.dump_draw) in used
        )


def _numbers(place: DrawName | DrawRange) -> range:
    if isinstance(place, DrawRange):
        return place.numbers
    return range(place.number, place.number + 1)


def tiled_passes(passes: Iterable[Pass]) -> str:
    """For an error: which passes have tiles."""
    tiled = [pass_ for pass_ in passes if pass_.tiles]
    if not tiled:
        return "; no pass is rendered in tiles"
    return f"; passes with tiles: {passes_text([one.index for one in tiled])}"


def binned_passes(passes: Iterable[Pass]) -> str:
    """For an error: which passes have a binning run."""
    binned = [pass_.index for pass_ in passes if pass_.binning is not None]
    return f"; passes with one: {passes_text(binned)}" if binned else "; no pass has one"


def passes_text(indices: list[int]) -> str:
    """The first passes of many, for an error: ``p1, p3``."""
    more = f" and {len(indices) - _LISTED} more" if len(indices) > _LISTED else ""
    return ", ".join(f"p{one}" for one in indices[:_LISTED]) + more
