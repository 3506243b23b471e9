# SPDX-License-Identifier: MIT
"""Source: the file behind a Capture and all results, each computed once.

Imports are made where they are used: a command needs few of them.
"""

from __future__ import annotations

import gc
from functools import cached_property, partial
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from cffpy.api.walking import Walked, alone, uncollected
from cffpy.capture.memory import MemoryImage
from cffpy.editions.folders import AUTO
from cffpy.errors import CaptureError, UsageError
from cffpy.frame.submit import Memory, Problem, memories_of, problem_of_damage
from cffpy.limits import Truncation
from cffpy.pm4.descriptions import Descriptions

_Result = TypeVar("_Result")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

    from cffpy.analysis.diff.recording import Recording, Shared
    from cffpy.analysis.driver.calls import Calls
    from cffpy.analysis.driver.reading import DriverReading
    from cffpy.analysis.driver.state_groups import GroupNames, GroupsAtDraws
    from cffpy.analysis.driver.timestamps import Times
    from cffpy.analysis.inputs.bindings import Bindings
    from cffpy.analysis.layout_check.checks import LayoutChecks
    from cffpy.analysis.lrz import PassLrz
    from cffpy.analysis.packets import ExecutedPacket
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.queries import PassWalk, ProgressReporter
    from cffpy.analysis.register_store.draws import DrawRegisters, WritePlaces, Writes
    from cffpy.analysis.register_store.store import Inherited, RegisterStore
    from cffpy.analysis.shaders import ProgramReader, ShaderCollector
    from cffpy.analysis.structure_text import StructureText
    from cffpy.analysis.summary import CaptureSummary
    from cffpy.analysis.visibility import VisibilityReader
    from cffpy.api.pictures import Pictures
    from cffpy.capture.gpu import Gpu
    from cffpy.check.model import Lint, Report
    from cffpy.check.runner import Checked
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.cp.machine import Machine
    from cffpy.frame.action import Action
    from cffpy.frame.barrier import Barrier
    from cffpy.frame.binding import Binding, BindingKind, Bound, VertexAttribute
    from cffpy.frame.device import DeviceReport
    from cffpy.frame.driver import CalledStream, Driver, ProbableCall, StateGroup
    from cffpy.frame.gpu_query import GpuQuery
    from cffpy.frame.lrz import DrawLrz
    from cffpy.frame.objects import Found, SelectionKind
    from cffpy.frame.passes import Pass, Passes, Tile
    from cffpy.frame.pictures import NamedImage
    from cffpy.frame.places import DrawName, PacketLocation, PacketName
    from cffpy.frame.register_state import RegisterState
    from cffpy.frame.render_mode import ModeChoice
    from cffpy.frame.shader import Shader
    from cffpy.frame.stream_out import StreamOut
    from cffpy.frame.timing import TimeSpan, Timestamp
    from cffpy.frame.visibility import PassVisibility
    from cffpy.intel.analysis.state_history import StateHistory
    from cffpy.query.filters import BoundFilter, Filter
    from cffpy.query.search import PendingFilter
    from cffpy.regdb.database import Database
    from cffpy.regdb.registers import Registers
    from cffpy.tables.lines import LineOptions
    from cffpy.views.cffdump.packet_text import PacketText

    Progress = Callable[[int, int], None]
    #: (Content, warnings, edition, GPU) -> what is found, and the damage.
    _Query = Callable[
        [Content, Callable[[str], None], str | None, Gpu | None], tuple[_Result, list[Damage]]
    ]


class Source:
    """A file's content, how it is to be decoded, and the results.

    The ``Answers`` of its passes and actions.
    """

    def __init__(
        self,
        content: Content,
        gpu: Gpu | None,
        register_db: str | None,
        progress: Progress | None,
        descriptions: Descriptions | None = None,
    ) -> None:
        """``register_db``: a directory, None, or ``AUTO``.

        ``descriptions``: those that captures share, of any edition.
        """
        self._content: Content | None = content
        if register_db == AUTO:
            from cffpy.analysis.needed_edition import decoding_edition  # lazy: few ask

            register_db = decoding_edition(register_db, content, gpu)
        self.given_gpu, self.register_db = gpu, register_db
        self._progress = progress
        self._descriptions = (descriptions or Descriptions(register_db)).of(register_db)
        self._walked: Walked | None = None
        #: Passes of walks that ended with the pass of a draw.
        self._first_passes: list[Passes] = []
        self._shared: Shared | None = None
        self.lock = RLock()  # of methods that are ``alone``
        self._asked: tuple[str | None, BoundFilter | None] | None = None
        #: The registers of the last filter that a walk was made for.
        self._recorded: PendingFilter | None = None
        self._registers: Registers | None = None
        self.last_state: RegisterState | None = None
        self._last_bound: tuple[int, Bound] | None = None
        self._shaders: dict[tuple[int, str, int], Shader | None] = {}
        #: Whether something was made that has the capture's memory and refers to itself.
        self.has_cycles = False
        self.problems: list[Problem] = []

    @property
    def is_closed(self) -> bool:
        """Whether ``close`` was called."""
        return self._content is None

    @property
    def content(self) -> Content:
        """The decompressed file. Raises UsageError for a capture that was closed."""
        if self._content is None:
            raise UsageError("the capture is closed")
        return self._content

    def close(self) -> None:
        """Release the file and all results, also the registers of states that are in use."""
        if (known := self._walked) is not None:
            known.finder.found.release()
            if known.store is not None:
                known.store.release()
        for passes in self._first_passes:
            passes.release()
        self._first_passes.clear()
        self._content = self._registers = self._walked = self._asked = None
        self._shared = self._recorded = None
        self._shaders.clear()
        self.forget(*_CACHED)

    @cached_property
    def summary(self) -> CaptureSummary:
        """GPU, submits and buffers, from the sections. No commands are decoded."""
        from cffpy.analysis.summary import summarise  # lazily: walks do without

        return summarise(self.content)

    @cached_property
    def memories(self) -> list[Memory]:
        """The memory of each submit."""
        return memories_of(self.content, len(self.summary.submits))

    def passes_of_submit(self, submit: int) -> list[Pass]:
        """The passes of a submit, in order."""
        return [pass_ for pass_ in self.model.passes if pass_.submit == submit]

    def memory(self, submit: int) -> Memory:
        """The memory of a submit; empty where there is none of this number."""
        memories = self.memories
        return memories[submit] if submit < len(memories) else Memory(MemoryImage(), submit)

    @property
    def _reporters(self) -> tuple[ProgressReporter, ...]:
        """What calls the progress callback during a walk, if there is one."""
        if self._progress is None:
            return ()
        from cffpy.analysis.queries import ProgressReporter

        return (ProgressReporter(self.content, self._progress),)

    # -- walks over the commands ----------------------------------------------------------------

    def _new_walk(self, is_recorded: bool = False) -> tuple[PassWalk, list[str]]:
        """A walk that other observers can be attached to, and the warnings that it will have.

        ``is_recorded``: one of them makes a recording, which has cycles.
        """
        from cffpy.analysis.queries import PassWalk

        self.has_cycles = self.has_cycles or is_recorded
        warnings: list[str] = []
        how = warnings.append, self.register_db, self.given_gpu, self._descriptions
        walk = PassWalk(self.content, *how)
        walk.observe(*self._reporters)
        return walk, warnings

    def _keep(self, walked: Walked) -> Walked:
        """The passes that were found; they ask this for what the walk did not find."""
        self._walked = walked
        walked.finder.found.bind(self)
        return walked

    def visibility(self, of: Pass) -> PassVisibility:
        """What the captured visibility streams say of a pass. Kept for the last pass only."""
        return self.visibilities.of(of)

    def events_before(self, of: Pass) -> Mapping[str, int]:
        """Waits and cache events between the pass before and this one: name -> how many."""
        return self.pass_events.get(of.index, {})

    def filter(self, where: str | None, columns: str | None = None) -> Filter:
        """A filter of an expression and names of columns. Raises FilterError."""
        from cffpy.query.filters import Filter

        return Filter(where, columns)

    def choose(
        self, kind: SelectionKind, items: Iterable[Any], query: Filter
    ) -> list[tuple[Any, Found]]:
        """The items for which a filter holds, each with the values of its names."""
        from cffpy.api.selection import CHOOSERS

        with query.lock:  # several threads may ask one filter
            return CHOOSERS[kind](self, items, query)

    @property
    def model(self) -> Passes:
        """The passes and actions: one walk over the commands."""
        return self.walked.finder.found

    @property
    def walked(self) -> Walked:
        """The passes, actions and registers: one walk over the commands."""
        return self.walk() if self._walked is None else self._walked

    @alone
    def walk(self, registers: bool = True) -> Walked:
        """Decode the commands. ``registers``: record those at the program's draws, too."""
        known = self._walked
        if known is not None and (known.store is not None or not registers):
            return known
        from cffpy.analysis.queries import find_passes, walk_with_registers

        store, warnings = None, list[str]()
        how = warnings.append, self.register_db, self.given_gpu, self._reporters, self._descriptions
        with uncollected():
            if registers:
                finder, store = walk_with_registers(self.content, *how)
            else:
                finder, _ = find_passes(self.content, *how)
        problems = self._note(warnings, finder.found.damage)
        if known is not None:  # whose passes and actions may be in use
            finder = known.finder
        return self._keep(Walked(finder, store, problems))

    def walk_for_tables(self, take: Callable[[Writes], None] | None = None) -> None:
        """As ``RegisterRecorder.pass_on`` has it: to ``take``, or to ``Walked.places``."""
        from cffpy.analysis.register_store.draws import WritePlaces

        walk, warnings = self._new_walk()
        with uncollected():
            recorder, places = walk.record_registers(), WritePlaces()
            recorder.pass_on(take or places.add)
            walk.run()
        problems = self._note(warnings, walk.finder.found.damage)
        self._keep(Walked(walk.finder, recorder.store, problems, places))

    def walk_whole(
        self,
        lints: Sequence[Lint],
        with_lrz: bool = True,
        with_recording: bool = False,
        writes: WritePlaces | None = None,
        with_registers: bool = True,
    ) -> Checked:
        """One walk for registers, bindings and lints; the result of the lints. The others are kept.

        ``with_lrz``: also ``lrz``, ``pass_events``, queries and stream-out; ``with_recording``:
        ``recording``, which takes more memory. ``writes`` gets all writes of registers: see
        ``walk_for_tables``.
        """
        from cffpy.analysis.diff.recording import PendingRecording, Recording
        from cffpy.analysis.gpu_queries import GpuQueryFinder
        from cffpy.analysis.inputs.bindings import Bindings
        from cffpy.analysis.inputs.recording import PendingInputs
        from cffpy.analysis.lrz import lrz_of_passes
        from cffpy.analysis.program_facts import FragmentPrograms
        from cffpy.analysis.queries import PassEvents
        from cffpy.analysis.stream_out import StreamOutFinder
        from cffpy.check.runner import PendingCheck

        walk, warnings = self._new_walk(is_recorded=True)
        with uncollected():
            store = None
            if writes is not None:
                recorder = walk.record_registers()
                recorder.pass_on(writes.add)
                store = recorder.store
            elif with_registers:
                store = walk.registers
            programs = FragmentPrograms(walk.walk, self.register_db)
            events = PassEvents(walk.walk, walk.finder)
            recording = PendingRecording(walk) if with_recording else PendingInputs(walk)
            check = PendingCheck(walk, lints)
            queries = GpuQueryFinder(walk.walk, walk.finder)
            written = StreamOutFinder(walk.walk, walk.finder)
            walk.observe(*((programs, events, queries, written) if with_lrz else ()))
            damage = walk.run()
            found = recording.finish()
        if isinstance(found, Recording):
            self.__dict__["recording"] = found
        self.__dict__["bindings"] = Bindings(found)
        problems = self._note(warnings, damage, found.passes.truncated)
        finder = walk.finder if self._walked is None else self._walked.finder
        self._keep(Walked(finder, store, problems, writes))
        if with_lrz:
            self.__dict__["lrz"] = lrz_of_passes(finder.found, programs.of)
            self.__dict__["pass_events"] = events.before
            self.__dict__["gpu_queries"] = queries.queries(*self._memories_after)
            self.__dict__["stream_out"] = written.draws(*self._memories_after)
        return check.finish(self)

    def ask(
        self, query: Filter, at_draws: bool = False, is_lenient: bool = False
    ) -> BoundFilter | None:
        """A filter with the registers that it reads; None where there are no commands.

        ``at_draws``: it is asked about the program's draws only. Decodes the commands, unless what
        was decoded before has these registers. Raises FilterError for a name that the GPU does not
        have; ``is_lenient``: its value is unknown instead.
        """
        found = self._ask(query, at_draws, is_lenient)
        if found is not None:
            found.use(self)
        return found

    def _ask(self, query: Filter, at_draws: bool, is_lenient: bool) -> BoundFilter | None:
        from cffpy.query.search import find_passes_for

        known = self._walked
        if known is not None and known.database is not None:
            bound = query.bind(known.database, is_lenient)
            if not bound.registers:
                return bound
            if known.store is not None and at_draws:
                bound.attach(known.store.draws)
                return bound
            if known.store is not None and known.store.has_all:
                bound.attach_store(known.store)
                return bound
        recorded = self._recorded
        if recorded is not None and recorded.is_of(query, is_lenient):
            return recorded.finish()
        warnings: list[str] = []
        how = warnings.append, self.register_db, self.given_gpu, self._reporters
        finder, pending, damage = find_passes_for(query, self.content, *how, is_lenient)
        problems = self._note(warnings, damage)
        if known is None:
            self._keep(Walked(finder, None, problems))
        self._recorded = pending
        return pending.finish()

    def record_for(self, query: Filter) -> BoundFilter | None:
        """A filter with the registers that it reads at the program's draws; and ``recording``.

        Both come from one walk, unless the capture is recorded already. None and FilterError: as
        for ``ask``.
        """
        if self._asked is not None and self._asked[0] == query.where:
            return self._asked[1]
        if "recording" in self.__dict__:
            return self.ask(query, at_draws=True)
        from cffpy.analysis.diff.recording import PendingRecording
        from cffpy.query.search import PendingFilter

        walk, warnings = self._new_walk(is_recorded=True)
        with uncollected():
            recording, asked = PendingRecording(walk), PendingFilter(walk, query)
            walk.run()
            found = self.__dict__["recording"] = recording.finish()
        found.passes.bind(self)
        problems = self._note(warnings, found.damage, found.passes.truncated)
        if self._walked is None:
            self._keep(Walked(walk.finder, None, problems))
        bound = asked.finish()
        if bound is not None:
            bound.use(self)
        self._asked = query.where, bound
        return bound

    def write_lines(self, options: LineOptions, emit: Callable[[str], object]) -> None:
        """Emit the lines of the capture: a walk. See ``Capture.write_lines``."""
        from cffpy.tables.lines import write_lines

        warnings: list[str] = []
        how = warnings.append, self.register_db, self.given_gpu
        _, damage = write_lines(self.content, self.content.name, options, emit, *how)
        self._note(warnings, damage)

    def _find(self, query: _Query[_Result]) -> tuple[_Result, list[Problem]]:
        """The result of a walk, and its problems, which are noted."""
        warnings: list[str] = []
        found, damage = query(self.content, warnings.append, self.register_db, self.given_gpu)
        return found, self._note(warnings, damage)

    def _find_with_passes(self, query: _Query[tuple[PassFinder, _Result]]) -> _Result:
        """The result of a walk that finds the passes, too: they serve where none were found yet."""
        (finder, found), problems = self._find(query)
        if self._walked is None:
            self._keep(Walked(finder, None, problems))
        else:
            finder.found.bind(self)
        return found

    def _note(
        self,
        warnings: list[str],
        damage: Iterable[Damage],
        truncated: Iterable[Truncation] | None = None,
    ) -> list[Problem]:
        """The problems of something that was decoded; also noted in ``problems``."""
        cuts = self.content.truncated if truncated is None else truncated
        found = [
            *(Problem("warning", line) for line in dict.fromkeys(warnings)),
            *map(problem_of_damage, damage),
            # parts of the file that are left out count as damage, too
            *(Problem("truncated", str(cut)) for cut in cuts if cut.limit != "bytes"),
        ]
        self.problems += [problem for problem in found if problem not in self.problems]
        return found

    def note_truncated(self, text: str) -> None:
        """Report that a result leaves something out, in one line."""
        self.content.note_truncated([Truncation("", text)])
        self._note([], [])

    @cached_property
    def inherited(self) -> list[Inherited]:
        """What submits inherit from earlier ones: a walk."""
        from cffpy.analysis.register_store.queries import inherited_registers

        return self._find(inherited_registers)[0]

    @cached_property
    def collected(self) -> ShaderCollector:
        """The shaders, by a separate run that follows the commands as the dump does."""
        from cffpy.analysis.shaders import collect_shaders

        warnings: list[str] = []
        found, damage = collect_shaders(
            self.content, warnings.append, self.register_db, self.given_gpu, self._descriptions
        )
        if found.left_out:
            self.note_truncated(f"too many shaders: {found.left_out} are not shown")
        self._note(warnings, damage)
        return found

    def record_with(self, other: Source, shared: Shared) -> None:
        """Have both recorded with the same descriptions, and with what they share."""
        self._descriptions = other._descriptions
        self._shared = other._shared = shared

    def record(self) -> None:
        """Decode what a comparison needs: a walk, unless that was done."""
        _ = self.recording

    @cached_property
    def recording(self) -> Recording:
        """What each draw depends on, as comparisons need it: a walk."""
        from cffpy.analysis.diff.recording import record

        warnings: list[str] = []
        how = warnings.append, self.register_db, self.given_gpu
        self.has_cycles = True
        with uncollected():
            found = record(self.content, *how, descriptions=self._descriptions, shared=self._shared)
        found.passes.bind(self)
        self._shared = None  # it holds the walk
        self._note(warnings, found.damage, found.passes.truncated)
        return found

    @cached_property
    def bindings(self) -> Bindings:
        """What all draws have bound, and the passes: a walk, unless the capture is recorded."""
        from cffpy.analysis.inputs.bindings import Bindings
        from cffpy.analysis.inputs.recording import PendingInputs

        if "recording" in self.__dict__:
            return Bindings(self.recording)
        walk, warnings = self._new_walk(is_recorded=True)
        with uncollected():
            recording = PendingInputs(walk)
            damage = walk.run()
            found = recording.finish()
        problems = self._note(warnings, damage, found.passes.truncated)
        if self._walked is None:
            self._keep(Walked(walk.finder, None, problems))
        return Bindings(found)

    def forget(self, *names: str) -> None:
        """Release results by their names in ``_CACHED``, or "registers": those at draws, or "walk":
        also passes and all that is found with them, of which nothing must be in use. They are found
        again on request.
        """
        self._last_bound = self.last_state = None
        if "walk" in names:
            if self._walked is not None:
                self._walked.finder.found.release()
            self._walked = self._registers = self._recorded = None
        if "registers" in names and self._walked is not None:
            self._walked = self._walked._replace(store=None, places=None)
        for name in (*names, *(_OF_WALKS if "walk" in names else ())):
            found = self.__dict__.pop(name, None)
            if name == "recording" and found is not None:
                found.passes.release()
            if name == "layout_checks" and found is not None:
                found._passes.release()
        if "walk" in names and self.has_cycles:
            gc.collect()

    def descriptors(
        self, order: int, kind: BindingKind, only_used: bool = True
    ) -> list[Binding] | None:
        """The bindings of a draw, by ``Action.order``; None where it was not recorded."""
        return self.bindings.of_kind(order, kind, only_used)

    def drawn_state(self) -> StateHistory | None:
        """None: state is in registers."""

    @cached_property
    def structures(self) -> StructureText:
        """Decodes packets and descriptors of the capture's GPU."""
        from cffpy.analysis.structure_text import StructureText

        return StructureText(self.database)

    def pictures(self, submit: int) -> Pictures:
        """Makes pictures of the memory of a submit."""
        from cffpy.api.pictures import Pictures

        return Pictures(lambda: self.walk(registers=False).finder.walk.machine, self.memory(submit))

    def images(self, of: Action | Pass) -> list[NamedImage]:
        """The images that an action uses, or the attachments of a pass."""
        from cffpy.api.pictures import images_of_action, images_of_pass
        from cffpy.frame.passes import Pass

        pictures = self.pictures(of.submit)
        if isinstance(of, Pass):
            return images_of_pass(pictures, of, of.attachments)
        return images_of_action(pictures, of)

    def attributes(self, action: Action) -> list[VertexAttribute]:
        """The vertex attributes of a draw."""
        from cffpy.api.vertices import attributes_of

        return attributes_of(self, action)

    def bound(self, action: Action) -> Bound:
        """What a draw of the program has bound. Kept for the last draw only."""
        from cffpy.frame.binding import Bound

        last = self._last_bound
        if last is None or last[0] != action.order:
            if not action.is_counted:
                name = action.name or action.packet
                raise CaptureError(
                    f"what {name} at {action.place.gpuaddr:#x} has bound is not recorded: ask the"
                    " draw in Pass.draws"
                )
            found = Bound(self._bindings_of(action))
            last = self._last_bound = action.order, found
        return last[1]

    def _bindings_of(self, action: Action) -> list[Binding]:
        from cffpy.api.pictures import Pictures

        # of the machine, not of this object, which keeps the result: without a cycle, a capture
        # that nobody holds is freed at once
        machine = self.walk(registers=False).finder.walk.machine
        pictures = Pictures(lambda: machine, self.memory(action.place.submit))
        return self.bindings.bindings_of(action.order, pictures)

    @property
    def fetches_by_program(self) -> bool:
        """Whether programs fetch their vertices themselves, as on a2xx."""
        return self.walked.finder.walk.machine.gpu.facts.instruction_set == "a2xx"

    def shader(self, submit: int, stage: str, gpuaddr: int) -> Shader | None:
        """The program at an address; None where none was captured."""
        from cffpy.frame.shader import Shader

        key = submit, stage, gpuaddr
        if key not in self._shaders:
            program, data = None, self.memory(submit).rest(gpuaddr)
            generation = self.model.generation
            if data is not None:
                program = self.programs.program(generation, stage, data)
            found = None if program is None else Shader(stage, generation, gpuaddr, program)
            self._shaders[key] = found
        return self._shaders[key]

    @cached_property
    def programs(self) -> ProgramReader:
        """Reads programs by the instruction sets of the edition."""
        from cffpy.analysis.shaders import ProgramReader

        return ProgramReader(self._descriptions.disassemblers)

    @cached_property
    def visibilities(self) -> VisibilityReader:
        """What visibility streams say of passes and tiles."""
        from cffpy.analysis.visibility import VisibilityReader

        return VisibilityReader(self.model)

    # -- registers ------------------------------------------------------------------------------

    def packet_text(self) -> PacketText:
        """Makes the dump's text of single packets. Raises CaptureError as ``database``."""
        from cffpy.views.cffdump.packet_text import PacketText

        assert self.database
        self.has_cycles = True
        return PacketText(self.walked.finder.walk.machine.gpu, self.register_db)

    def packets(self) -> Iterator[ExecutedPacket]:
        """The packets as they are executed: a walk each time."""
        from cffpy.analysis.packets import PacketWalk

        warnings: list[str] = []

        def finished(_machine: Machine, damage: list[Damage]) -> None:
            self._note(warnings, damage)

        how = warnings.append, self.register_db, self.given_gpu
        return PacketWalk().iter_packets(self.content, *how, finished)

    def next_action(self, place: PacketName) -> Action:
        """The action of a packet, or the first one that is executed after it.

        Raises CaptureError where no packet is there, or no action follows.
        """
        from cffpy.analysis.packets import next_action

        return next_action(self.walked.finder.actions, self.packets(), place)

    def check(
        self, lints: Sequence[Lint], wanted: Callable[[Report], bool] | None = None
    ) -> Checked:
        """The findings of lints: a walk. ``wanted``: see ``check_capture``."""
        from cffpy.check.runner import check_capture

        warnings: list[str] = []
        how = warnings.append, self.register_db, self.given_gpu
        checked = check_capture(self.content, *how, lints=lints, wanted=wanted, answers=self)
        self._note(warnings, checked.damage)
        return checked

    @cached_property
    def layout_checks(self) -> LayoutChecks:
        """Images, LRZ buffers and tiles compared with layouts: a walk."""
        from cffpy.analysis.queries import find_layouts

        return self._find_with_passes(find_layouts)

    def layout_checks_of(self, orders: Set[int], has_pass: Callable[[int], bool]) -> LayoutChecks:
        """The same of some actions and passes: another walk."""
        from cffpy.analysis.queries import find_layouts

        return self._find_with_passes(partial(find_layouts, orders=orders, has_pass=has_pass))

    @cached_property
    def device(self) -> DeviceReport:
        """What the commands show of the GPU: a walk."""
        from cffpy.analysis.device_inference import find_device

        return self._find(find_device)[0]

    @cached_property
    def pass_events(self) -> Mapping[int, Mapping[str, int]]:
        """What is executed between passes: a walk."""
        from cffpy.analysis.queries import find_pass_events

        return self._find(find_pass_events)[0].before

    @cached_property
    def barriers(self) -> list[Barrier]:
        """What cleans caches, invalidates and waits, and the hazards between: two walks."""
        from cffpy.analysis.barriers import barriers_of, find_barriers

        recorder = self._find_with_passes(find_barriers)
        return barriers_of(self.model, recorder, self.bindings, self._has_pointers)

    def _has_pointers(self, action: Action) -> bool:
        """Whether a program of an action may use memory that nothing binds, or is not known."""
        from cffpy.analysis.barriers import uses_pointers

        shaders = (self.shader(action.submit, *program) for program in action.programs)
        return any(shader is None or uses_pointers(shader.listing) for shader in shaders)

    def barriers_in(self, of: Pass) -> list[Barrier]:
        """The barriers while a pass is open."""
        from cffpy.frame.objects import Shown

        return Shown(barrier for barrier in self.barriers if barrier.pass_ == of.index)

    @cached_property
    def mode_choices(self) -> Mapping[int, ModeChoice]:
        """Why each render pass is in its mode, by the index of the pass: a walk."""
        from cffpy.analysis.driver.render_mode import mode_choices
        from cffpy.analysis.queries import find_mode_inputs

        inputs = self._find_with_passes(find_mode_inputs)
        is_turnip = "tu-dump" in self.summary.processes  # turnip names itself in RD_CMD
        driver = "turnip" if is_turnip else self.driver().name
        choices = mode_choices(self.model, inputs, driver)
        return {choice.index: choice for choice in choices}

    def mode_choice(self, of: Pass) -> ModeChoice | None:
        """Why a render pass is in its mode; None for other passes."""
        return self.mode_choices.get(of.index)

    @cached_property
    def lrz(self) -> list[PassLrz]:
        """LRZ of each render pass: a walk."""
        from cffpy.analysis.lrz import lrz_of_passes
        from cffpy.analysis.queries import find_fragment_programs

        programs = self._find_with_passes(find_fragment_programs)
        return lrz_of_passes(self.model, programs.of)

    @cached_property
    def gpu_queries(self) -> list[GpuQuery]:
        """The queries of the driver, with their captured results: a walk."""
        from cffpy.analysis.queries import find_gpu_queries

        return self._find_with_passes(find_gpu_queries).queries(*self._memories_after)

    @property
    def _memories_after(self) -> tuple[Callable[[], list[Memory]], bool]:
        """The memory of each submit, and whether it is from after the commands ran: of crash dumps.

        It is made where something asks for it.
        """
        return (lambda: self.memories), bool(self.content.origin)

    @cached_property
    def stream_out(self) -> list[StreamOut]:
        """The program's draws with stream-out: a walk."""
        from cffpy.analysis.queries import find_stream_out

        return self._find_with_passes(find_stream_out).draws(*self._memories_after)

    @cached_property
    def _draws_that_write(self) -> set[tuple[int | None, int | None]]:
        """(pass, draw) of those that stream-out writes of."""
        return {(one.action.pass_index, one.action.number) for one in self.stream_out if one.writes}

    def has_stream_out(self, draw: Action) -> bool | None:
        """Whether a draw of the program writes its vertices to buffers."""
        return (draw.pass_index, draw.number) in self._draws_that_write

    @cached_property
    def _queries_of_draws(self) -> dict[tuple[int, int | None], list[int]]:
        """(pass, draw), and (pass, None) -> numbers of queries."""
        found: dict[tuple[int, int | None], list[int]] = {}
        for query in self.gpu_queries:
            for index, draws in query.counted.items():
                for draw in (None, *draws):
                    found.setdefault((index, draw), []).append(query.number)
        return found

    def queries_of(self, of: Action | Pass) -> list[int]:
        """Numbers of the queries of the driver that count a draw, or a draw of a pass."""
        from cffpy.frame.passes import Pass

        if isinstance(of, Pass):
            return self._queries_of_draws.get((of.index, None), [])
        if of.pass_index is None or of.number is None:
            return []
        return self._queries_of_draws.get((of.pass_index, of.number), [])

    @cached_property
    def _lrz_of_draws(self) -> dict[tuple[int, int], DrawLrz]:
        return {(one.pass_.index, draw.draw): draw for one in self.lrz for draw in one.draws}

    def lrz_at(self, action: Action) -> DrawLrz | None:
        """What a draw of the program does with LRZ; None for what has none."""
        index, number = action.pass_index, action.number
        if index is None or number is None:
            return None
        return self._lrz_of_draws.get((index, number))

    @cached_property
    def _group_names(self) -> GroupNames:
        """Names draw-state groups: a walk as far as the first draws that load some."""
        from cffpy.analysis.driver.state_groups import read_group_names

        return read_group_names(self.content, self.given_gpu, self._descriptions)

    @cached_property
    def _driver_reading(self) -> DriverReading:
        from cffpy.analysis.driver.reading import read_driver

        how = self.register_db, self.given_gpu, self._descriptions
        return read_driver(self.content, self._group_names, *how)

    def driver(self) -> Driver:
        """The driver that wrote the capture: a walk."""
        return self._driver_reading.driver

    def called_streams(self, submit: int) -> list[CalledStream]:
        """The streams of a submit and what they call, with their roles: a walk."""
        from cffpy.frame.objects import Shown

        return Shown(one for one in self._driver_reading.streams if one.submit == submit)

    def streams_of_pass(self, of: Pass) -> list[CalledStream]:
        """The command streams of a pass, with their roles: a walk."""
        from cffpy.frame.objects import Shown

        own = {self.stream_of(action) for run in of.runs for action in run.draws}
        outer = {stream.number for stream in own if stream is not None}
        return Shown(
            stream
            for stream in self._driver_reading.streams
            if of.index in stream.passes or (stream.level == 0 and stream.number in outer)
        )

    def stream_of(self, action: Action) -> CalledStream | None:
        """The stream of a submit that an action is in, or the IB that this stream calls: a walk."""
        return self._driver_reading.stream_of(action.place.path)

    @cached_property
    def _times(self) -> Times:
        from cffpy.analysis.driver.timestamps import read_times

        is_crash_dump = bool(self.content.origin)  # whose memory is from after the commands ran
        how = self.register_db, self.given_gpu, self._descriptions
        return read_times(self.content, self.memories, is_crash_dump, *how)

    def timestamps(self) -> list[Timestamp]:
        """The packets that store the GPU's time: a walk."""
        return self._times.timestamps

    def time_of_pass(self, of: Pass) -> TimeSpan | None:
        """The timestamps around a pass: a walk."""
        return self._times.of_pass(of)

    def time_of_tile(self, of: Tile) -> TimeSpan | None:
        """The timestamps around a tile: a walk."""
        return self._times.of_tile(of)

    @cached_property
    def _calls(self) -> Calls:
        from cffpy.analysis.driver.calls import Calls

        return Calls(self.walk(registers=False).finder.found, self.driver())

    def call_of(self, action: Action) -> ProbableCall | None:
        """The call of the program that made an action: a walk."""
        return self._calls.of(action)

    def state_group_at(self, place: PacketLocation) -> StateGroup | None:
        """The draw-state group that a packet is in; None of a packet in no group."""
        group = place.stream.state_group
        return None if group is None else self._group_names.group_at(place._words, group)

    @cached_property
    def _groups_at_draws(self) -> GroupsAtDraws:
        from cffpy.analysis.driver.state_groups import find_groups_at_draws

        return find_groups_at_draws(self.content, self.register_db, self.given_gpu)

    def state_groups(self, action: Action) -> list[StateGroup]:
        """The draw-state groups that a draw loads: a walk for all draws."""
        from cffpy.analysis.driver.state_groups import told_by_pipelines
        from cffpy.frame.objects import Shown

        memory = self.memory(action.submit)._image
        loaded = self._groups_at_draws.get(action.dump_draw, ())
        groups = [self._group_names.group(memory, *group) for group in loaded]
        return Shown(told_by_pipelines(groups, memory))

    @property
    def registers(self) -> Registers:
        """The registers of the capture's GPU. Raises CaptureError where no commands were run."""
        from cffpy.regdb.registers import Registers

        if self._registers is None:
            self._registers = Registers(self.database)
        return self._registers

    @property
    def draw_registers(self) -> DrawRegisters:
        """The registers at all of the program's draws, as changes."""
        store = self.walk().store
        assert store is not None
        return store.draws

    @property
    def database(self) -> Database:
        """The descriptions of the GPU. Raises CaptureError where no commands were run."""
        database = self.walked.database
        if database is None:
            raise CaptureError(f"{self.content.name}: no commands were decoded")
        return database

    def state(self, action: Action) -> RegisterState:
        """The registers at an action. Raises CaptureError for an action that is not executed."""
        last = self.last_state  # scripts ask again and again
        return last if last is not None and last.action is action else self._state(action)

    @alone
    def _state(self, action: Action) -> RegisterState:
        if action.kind == "copy":
            raise CaptureError(f"registers at {action.packet} are not recorded")
        last = self.last_state
        if last is not None and last.action.order == action.order:
            return last
        store = (self._walked or self.walk()).store or self.walk().store
        assert store is not None
        return self._state_of(store, action)

    def states(self, actions: Sequence[Action]) -> Iterator[RegisterState]:
        """The registers at several actions, one after the other."""
        return map(self.state, actions)

    def problems_of_file(self) -> list[Problem]:
        """The damage of the file, where its commands cannot be decoded."""
        return [problem_of_damage(one) for one in self.summary.damage]

    def draw_lines(self, draws: Set[int]) -> Callable[[int], Sequence[str]]:
        """The registers of draws, by their numbers in the dump, in lines that can be compared.

        Decodes the capture once more.
        """
        from cffpy.views.diff_unified import dumped_lines

        lines = dumped_lines(self.content, draws, self.register_db, self.given_gpu)
        return lambda draw: lines.get(draw, ())

    #: Whether ``cffpy dump`` reads the file.
    has_dump = True

    def pass_lines(self, pass_: Pass) -> list[str]:
        """What ``cffpy passes`` shows of a pass besides its facts."""
        return []

    def uses_lines(self, action: Action) -> list[str]:
        """What an action uses that neither bindings nor registers say, as lines."""
        return []

    def has_state(self, action: Action) -> bool:
        """Whether registers at an action are known: not where a condition skips it."""
        return bool(action.executed)

    def state_by_name(self, name: DrawName) -> RegisterState:
        """The registers at a draw. Commands after its pass are not decoded for it.

        Raises CaptureError where there is no such draw, or where it is not executed.
        """
        from cffpy.analysis.passes.finder import find_draw
        from cffpy.analysis.register_store.queries import state_of_draw
        from cffpy.regdb.registers import Registers

        if self._walked is not None:
            return self.state(find_draw(self._walked.finder, name))
        warnings: list[str] = []
        how = warnings.append, self.register_db, self.given_gpu
        finder, store, damage = state_of_draw(self.content, name, *how)
        self._note(warnings, damage)
        finder.found.bind(self)
        self._first_passes.append(finder.found)
        if self._registers is None and finder.found.generation:
            self._registers = Registers(finder.walk.machine.database)
        action = find_draw(finder, name)
        if not action.execution.is_possible:
            raise CaptureError(f"draw {name} is not executed")
        return self._state_of(store, action)

    def _state_of(self, store: RegisterStore, action: Action) -> RegisterState:
        from cffpy.analysis.register_store.queries import registers_at
        from cffpy.analysis.register_store.register_state import LoggedState

        if not action.execution.is_possible:
            raise CaptureError(f"{action.packet} at {action.place} is not executed")
        order, registers = action.order, self._registers or self.registers
        if not store.has(order):  # it has too many writes to be kept for all actions
            how = (lambda _warned: None), self.register_db, self.given_gpu
            store = registers_at(self.content, order, *how)
        history = store.history(order)
        self.last_state = LoggedState(history, order, registers, registers.database, action)
        return self.last_state


#: Results that are computed once.
_OF_WALKS = (
    "recording",
    "bindings",
    "lrz",
    "_lrz_of_draws",
    "_group_names",
    "_driver_reading",
    "_calls",
    "_times",
    "_groups_at_draws",
    "barriers",
    "mode_choices",
    "pass_events",
    "gpu_queries",
    "_queries_of_draws",
    "stream_out",
    "_draws_that_write",
    "layout_checks",
    "device",
    "visibilities",
)
_CACHED = (
    *_OF_WALKS,
    "summary",
    "memories",
    "inherited",
    "collected",
    "structures",
    "programs",
)
