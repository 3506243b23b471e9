# SPDX-License-Identifier: MIT
"""IntelSource: the results of a file with commands of an Intel GPU; ``source_of`` chooses.

It fills the same model as Source. What Intel GPUs do not have, or what is not done for them, is
refused by name.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from cffpy.api.source import Source
from cffpy.api.walking import Walked, alone
from cffpy.container.kinds import intel_file_error, intel_kind
from cffpy.errors import CaptureError
from cffpy.frame.driver import Driver
from cffpy.frame.submit import Problem, problem_of_damage
from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence, Set
    from weakref import WeakValueDictionary

    from cffpy.analysis.lrz import PassLrz
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.register_store.draws import WritePlaces, Writes
    from cffpy.analysis.summary import CaptureSummary
    from cffpy.api.intel import Intel
    from cffpy.api.intel_programs import IntelPrograms
    from cffpy.api.intel_state import WordsByName
    from cffpy.api.pictures import CapturedImage
    from cffpy.api.source import Progress
    from cffpy.capture.gpu import Gpu
    from cffpy.check.model import Lint, Report
    from cffpy.check.runner import Checked
    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.barrier import Barrier
    from cffpy.frame.binding import Binding
    from cffpy.frame.driver import CalledStream, StateGroup
    from cffpy.frame.gpu_query import GpuQuery
    from cffpy.frame.passes import Pass, Passes, Tile
    from cffpy.frame.places import DrawName, PacketLocation, PacketName
    from cffpy.frame.register_state import RegisterState
    from cffpy.frame.render_mode import ModeChoice
    from cffpy.frame.shader import Shader
    from cffpy.frame.stream_out import StreamOut
    from cffpy.frame.timing import Timestamp
    from cffpy.intel.analysis.bindings import DrawBindings
    from cffpy.intel.analysis.comparison import Recorded
    from cffpy.intel.analysis.state_history import StateHistory
    from cffpy.pm4.descriptions import Descriptions
    from cffpy.query.filters import BoundFilter, Filter
    from cffpy.tables.lines import LineOptions

_NONE = "Intel GPUs have none"
_NOT_DONE = "not available for captures of Intel GPUs"
_DESCRIPTIONS = f"descriptions of registers: {_NOT_DONE}; see cffpy db show --gpu"

#: What is asked of a Source, and why an Intel capture does not answer.
REFUSED = {
    "attributes": f"vertex attributes: {_NOT_DONE}",
    "database": _DESCRIPTIONS,
    "device": f"properties of the GPU: {_NOT_DONE}",
    "draw_registers": f"columns of registers: {_NONE}",
    "fetches_by_program": f"vertex attributes: {_NOT_DONE}",
    "images": f"images: {_NOT_DONE}",
    "inherited": f"inherited registers: {_NONE}",
    "layout_checks": f"layout checks: {_NOT_DONE}",
    "layout_checks_of": f"layout checks: {_NOT_DONE}",
    "memories": f"buffers: {_NONE}; memory is that of pages",
    "memory": f"buffers: {_NONE}; memory is that of pages",
    "packet_text": f"packets: {_NONE}; see cffpy aubinator",
    "packets": f"packets: {_NONE}; see cffpy lines",
    "pass_events": f"events of the CP: {_NONE}",
    "pictures": f"images: {_NOT_DONE}",
    "programs": f"shaders: {_NOT_DONE}; see cffpy aubinator",
    "record_with": f"comparisons of registers: {_NONE}",
    "recording": f"comparisons of registers: {_NONE}",
    "registers": _DESCRIPTIONS,
    "structures": _DESCRIPTIONS,
}


class _Refused:
    """An attribute that raises CaptureError when it is asked for."""

    def __init__(self, why: str) -> None:
        self._why = why

    def __get__(self, owner: Source | None, kind: type) -> Any:  # noqa: ANN401
        if owner is None:
            return self
        raise CaptureError(f"{owner.content.name}: {self._why}")


class _Found:
    """Passes and actions, as a PassFinder has them when its walk has ended."""

    def __init__(self, found: Passes) -> None:
        self.found = found
        self.actions, self.memory_copies = found.actions, found.memory_copies


class _NoImages:
    """The ``Images`` of descriptors."""

    def texture(self, kind: str, _domain: str | None, _dwords: Sequence[int]) -> CapturedImage:
        """Raises PictureError: layouts of Intel GPUs are not described."""
        from cffpy.image.texels import PictureError

        raise PictureError(f"image of a {kind}: {_NOT_DONE}")


class IntelWalked(Walked):
    """What one run over the commands has found."""

    @property
    def database(self) -> None:
        """None: registers are not those of an Adreno."""
        return


class IntelSource(Source):
    """A file of an Intel GPU and its results; the ``Answers`` of its passes and actions."""

    _intel: Intel | None = None

    @property
    def intel(self) -> Intel:
        """What only Intel captures have."""
        if self._intel is None:
            from cffpy.api.intel import Intel

            self._intel = Intel(self.content, self.register_db)
        return self._intel

    def walk(self, registers: bool = True) -> Walked:
        """Run the commands, once. ``registers``: means nothing, since there are none at draws."""
        from cffpy.frame.passes import Passes

        if self._walked is None:
            survey = self.intel._survey
            device = survey.run.device
            found = Passes(
                generation=0 if device is None else device.generation,
                gpu=None if device is None else device.name,
                passes=survey.passes,
                actions=survey.actions,
                damage=survey.run.damage,
            )
            damage = (*self.content.faults, *survey.run.damage)
            problems = [_problem(one) for one in damage]
            self.problems += problems
            self._keep(IntelWalked(cast("PassFinder", _Found(found)), None, problems))
        assert self._walked is not None  # it was kept
        return self._walked

    @property
    def gpu_queries(self) -> list[GpuQuery]:
        """None: instructions that count for queries are not told apart."""
        return []

    @property
    def stream_out(self) -> list[StreamOut]:
        """None: see 3DSTATE_STREAMOUT of the state."""
        return []

    def has_stream_out(self, draw: Action) -> bool | None:
        """None: instructions that set it are in the state."""
        return None

    @property
    def summary(self) -> CaptureSummary:
        """Device, submissions and damage. The commands are run for it."""
        return self.intel._summary

    def write_lines(self, options: LineOptions, emit: Callable[[str], object]) -> None:
        """Emit the lines of the capture: its commands are run again."""
        from cffpy.intel.views.lines import write_lines

        kinds, file = frozenset(options.kinds), visible(self.content.name)
        survey = write_lines(
            self.content, file, kinds, emit, self.register_db, only_of=options.draws
        )
        self.intel._keep(survey)
        self.walk()  # which notes the problems

    def _ask(self, query: Filter, at_draws: bool, is_lenient: bool) -> BoundFilter:
        self.walk()
        run = self.intel._survey.run.walk
        return query.bind_for_intel(None if run is None else run.database, is_lenient)

    def drawn_state(self) -> StateHistory:
        """What instructions have set at the program's draws."""
        return self.history

    @cached_property
    def collected(self) -> IntelPrograms:  # type: ignore[override]
        """The kernels: the commands are run for them."""
        from cffpy.api.intel_programs import IntelPrograms

        found = IntelPrograms(self.content, self.register_db)
        self.intel._keep(found.survey)
        if found.left_out:
            self.note_truncated(f"too many shaders: {found.left_out} are not shown")
        self.walk()  # which notes the problems
        return found

    def shader(self, submit: int, stage: str, gpuaddr: int) -> Shader | None:
        """The kernel at an address; None where none was captured, or is run."""
        from cffpy.frame.shader import Shader

        program = self.collected.at.get((submit, stage, gpuaddr))
        generation = self.model.generation
        return None if program is None else Shader(stage, generation, gpuaddr, program)

    @cached_property
    def lrz(self) -> list[PassLrz]:
        """None: Intel GPUs have no LRZ."""
        return []

    def driver(self) -> Driver:
        """Not known: only drivers of Adreno GPUs are."""
        return Driver(None, None, None, None)

    def called_streams(self, submit: int) -> list[CalledStream]:
        """None: only streams of Adreno GPUs have roles."""
        return []

    def streams_of_pass(self, of: Pass) -> list[CalledStream]:
        """None: only streams of Adreno GPUs have roles."""
        return []

    def stream_of(self, action: Action) -> None:
        """None: only streams of Adreno GPUs have roles."""

    def timestamps(self) -> list[Timestamp]:
        """Not read: those of Intel GPUs."""
        return []

    def time_of_pass(self, of: Pass) -> None:
        """Not read: timestamps of Intel GPUs."""

    def time_of_tile(self, of: Tile) -> None:
        """Intel GPUs have no tiles."""

    def call_of(self, action: Action) -> None:
        """Not known: only drivers of Adreno GPUs are."""

    def state_groups(self, action: Action) -> list[StateGroup]:
        """None: there are no draw-state groups."""
        return []

    def state_group_at(self, place: PacketLocation) -> None:
        """None: there are no draw-state groups."""

    def lrz_at(self, action: Action) -> None:
        """None: Intel GPUs have no LRZ."""

    @cached_property
    def history(self) -> StateHistory:
        """What instructions set at all actions: the commands are run for it."""
        from cffpy.intel.analysis.state_history import StateHistory

        found = StateHistory(self.content, self.register_db)
        self.intel._keep(found.survey)
        found.survey = self.intel._survey  # the passes are the same
        if found.end is not None:
            self.note_truncated("too many values of registers: the last ones are left out")
        self.walk()
        return found

    @alone
    def _state(self, action: Action) -> RegisterState:
        from cffpy.api.intel_state import InstructionState

        history = self.history
        if not history.has(action.order):
            raise CaptureError(f"registers at {action.packet} are not recorded: too many changes")
        database = history.database
        assert database is not None  # there is an action
        how = self.intel._used_by, self._shared_words
        self.last_state = InstructionState(history, action, database, *how)
        return self.last_state

    def _shared_words(
        self, version: tuple[int, ...], made: Callable[[], WordsByName]
    ) -> WordsByName:
        found = self._words.get(version)
        if found is None:
            found = self._words[version] = made()
        return found

    @cached_property
    def _words(self) -> WeakValueDictionary[tuple[int, ...], WordsByName]:
        from weakref import WeakValueDictionary

        return WeakValueDictionary()

    def states(self, actions: Sequence[Action]) -> Iterator[RegisterState]:
        """See Source: what the actions use is read by one run."""
        self.intel._prepare(actions)
        return map(self.state, actions)

    def problems_of_file(self) -> list[Problem]:
        """None: the commands are what tells damage."""
        return []

    def draw_lines(self, draws: Set[int]) -> Callable[[int], Sequence[str]]:
        """What is set at draws: a line for each field, and each register."""
        from cffpy.api.intel_state import StateLines

        return StateLines(self.history)

    has_dump = False

    def pass_lines(self, one: Pass) -> list[str]:
        """Hierarchical depth, calls that generate draws, flushes before the pass."""
        from cffpy.intel.views.texts import pass_lines

        return list(pass_lines(one, self.intel._survey))

    def uses_lines(self, action: Action) -> list[str]:
        """Kernels, binding tables, descriptor sets, buffers."""
        from cffpy.intel.views.texts import uses_lines

        return list(uses_lines(self.intel._used_by(action)))

    def has_state(self, action: Action) -> bool:
        """True: the predicate decides about actions alone."""
        return True

    def state_by_name(self, name: DrawName) -> RegisterState:
        """What holds at a draw. Raises CaptureError where there is no such draw."""
        _ = self.history  # which has the passes, too
        return self.state(self.intel._find(str(name)))

    @cached_property
    def bindings(self) -> DrawBindings:  # type: ignore[override]
        """What the program's draws have bound: the commands are run for it."""
        from cffpy.intel.analysis.bindings import DrawBindings

        found = DrawBindings(self.content, self.register_db, _NoImages())
        self.intel._keep(found.survey)
        if found.left_out:
            self.note_truncated(f"too much is bound: {found.left_out:,} draws are left out")
        self.walk()
        return found

    def _bindings_of(self, action: Action) -> list[Binding]:
        return self.bindings.bindings_of(action.order)

    @cached_property
    def compared(self) -> Recorded:
        """What the program's draws use, as a comparison needs it: the commands are run for it."""
        from cffpy.intel.analysis.comparison import Recorded

        found = Recorded(self.content, self.register_db)
        self.intel._keep(found.survey)
        self.walk()
        return found

    def record(self) -> None:
        """Run the commands for a comparison."""
        _ = self.compared

    def record_for(self, query: Filter) -> BoundFilter:
        """As ``record``; the filter, for the program's draws."""
        self.record()
        bound = self._ask(query, at_draws=True, is_lenient=False)
        bound.use(self)
        return bound

    def next_action(self, place: PacketName) -> Action:
        """As of Source; the commands up to there are run again."""
        from cffpy.intel.analysis.survey import order_at

        return self.intel._survey.actions[order_at(self.content, place, self.register_db)]

    def check(
        self, lints: Sequence[Lint], wanted: Callable[[Report], bool] | None = None
    ) -> Checked:
        """No findings: no lint is about Intel GPUs, which a warning says."""
        from cffpy.check.runner import Checked

        self._note([f"{self.content.name}: no lint is about Intel GPUs: nothing is checked"], [])
        return Checked(self.model, [], [])

    def walk_whole(
        self,
        lints: Sequence[Lint],
        with_lrz: bool = True,
        with_recording: bool = False,
        writes: WritePlaces | None = None,
        with_registers: bool = True,
    ) -> Checked:
        """As ``walk``; there are no findings."""
        from cffpy.check.runner import Checked

        return Checked(self.model, [], [])

    def walk_for_tables(self, take: Callable[[Writes], None] | None = None) -> None:
        """As ``walk``."""
        self.walk()

    def events_before(self, of: Pass) -> Mapping[str, int]:
        """What is flushed and waited for between the pass before and this one: how often."""
        counts: dict[str, int] = {}
        for flush in self.intel._survey.flushes[of.index]:
            for word in flush.does:
                counts[word] = counts.get(word, 0) + 1
        return counts

    @cached_property
    def barriers(self) -> list[Barrier]:
        """None: flushes of Intel are lines of passes."""
        return []

    @cached_property
    def mode_choices(self) -> Mapping[int, ModeChoice]:
        """None: there are no tiles to choose."""
        return {}

    def close(self) -> None:
        """Release the file and all results."""
        self._intel = None
        for name in ("compared", "history", "_words"):
            self.__dict__.pop(name, None)
        super().close()


for _name, _why in REFUSED.items():
    setattr(IntelSource, _name, _Refused(_why))


def _problem(one: Any) -> Problem:  # noqa: ANN401
    from cffpy.container.damage import Damage

    return problem_of_damage(one) if isinstance(one, Damage) else Problem("damage", str(one))


def source_of(
    content: Content,
    gpu: Gpu | None,
    register_db: str | None,
    progress: Progress | None,
    descriptions: Descriptions | None = None,
) -> Source:
    """The source of a file, by what the file is.

    Raises ContainerError for what is no capture, IntelFileError for one of Intel with a ``gpu``.
    """
    if intel_kind(content.data) is None:
        from cffpy.analysis.crash.opening import check_capture

        return Source(check_capture(content), gpu, register_db, progress, descriptions)
    from cffpy.editions.folders import AUTO

    if gpu is not None:
        raise intel_file_error(content)
    return IntelSource(content, None, None if register_db == AUTO else register_db, progress)
