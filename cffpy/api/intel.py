# SPDX-License-Identifier: MIT
"""Intel: what only captures of Intel GPUs have: AUB files, i915 error states, Xe devcoredumps."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from cffpy.analysis.summary import CaptureSummary
from cffpy.api.places import draw_name_of
from cffpy.container.kinds import intel_kind, kind_of
from cffpy.errors import CaptureError, ContainerError
from cffpy.frame.faces import facts_document
from cffpy.frame.objects import unknown_key
from cffpy.frame.places import no_draw, no_pass
from cffpy.frame.submit import Stream, Submit
from cffpy.intel.analysis.actions import is_program
from cffpy.intel.analysis.draw_state import states_of_actions, values_of
from cffpy.intel.analysis.survey import survey
from cffpy.intel.views import info as info_view
from cffpy.intel.views import passes as passes_view
from cffpy.intel.views import state as state_view

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.frame.register_write import Origin
    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.capture import Device
    from cffpy.intel.analysis.crash import CrashReport
    from cffpy.intel.analysis.draw_state import DrawState, SetValue
    from cffpy.intel.analysis.generated import Generation
    from cffpy.intel.analysis.state import Submission
    from cffpy.intel.analysis.survey import Survey


class IntelState:
    """What an action uses: kernels, binding tables, samplers, buffers, state, registers."""

    def __init__(self, model: DrawState) -> None:
        """Use ``Intel.state``."""
        #: The object that the command uses.
        self.model = model

    @property
    def action(self) -> Action:
        """The action."""
        return self.model.action

    def __getitem__(self, slot: str) -> dict[str, str]:
        """The fields of the instruction that set a slot ("3DSTATE_PS"), as text.

        Raises UnknownName, which is a KeyError, where none has.
        """
        from cffpy.intel.decoder.text import field_texts

        command = self.model.state.slots.get(slot)
        if command is None:
            raise unknown_key(slot, self.model.state.slots, "instruction that was set")
        return dict(field_texts(self.model.state.database, command.group, command.words))

    @property
    def slots(self) -> list[str]:
        """The names that have been set."""
        return sorted(self.model.state.slots)

    def values(self) -> list[SetValue]:
        """All that is set: the instructions that set state, then the registers."""
        return list(values_of(self.model.state))

    def origin(self, one: SetValue) -> Origin:
        """Where a value was set: "this pass", "before the pass" or "earlier submit"."""
        action, command = self.action, one.command
        if command.submit != action.submit:
            return "earlier submit"
        of = action.pass_
        is_inside = of is not None and command.after > of.draws[0].order
        return "this pass" if is_inside else "before the pass"

    def uses_lines(self) -> list[str]:
        """Kernels, tables, sets, samplers and buffers, as ``cffpy state`` prints them."""
        return list(state_view.uses_lines(self.model))

    def lines(self, names: Sequence[str] = ()) -> list[str]:
        """The text of ``cffpy state``; ``names``: patterns of instructions and registers."""
        return list(state_view.lines(self.model, names))

    def to_dict(self, names: Sequence[str] = ()) -> dict[str, Any]:
        """The document of ``cffpy state --json``, without its schema."""
        return state_view.document(self.model, names)


class IntelReport:
    """What the page of an Intel capture shows."""

    def __init__(self, document: dict[str, Any]) -> None:
        """Use ``Intel.report``."""
        self._document = document

    def page(self) -> bytes:
        """The page of ``cffpy report``, in UTF-8: one HTML file that needs nothing else."""
        from cffpy.views.intel_report_html import page

        return page(self._document)

    def to_dict(self) -> dict[str, Any]:
        """The document of ``cffpy report --json``, without its schema."""
        return self._document

    @property
    def cut(self) -> list[str]:
        """What was left out, as text."""
        cut: list[str] = self._document["cut"]
        return cut

    def __repr__(self) -> str:
        return f"<IntelReport: {len(self._document['passes'])} passes>"


class Intel:
    """What only captures of Intel GPUs have: ``Capture.intel``.

    The commands are run when something is first asked for, once.
    """

    def __init__(self, content: Content, register_db: str | None) -> None:
        """Use ``Capture.intel``. Raises ContainerError for another kind of file."""
        if intel_kind(content.data) is None:
            kind = kind_of(content.data)
            raise ContainerError(f"{content.name}: not a capture of an Intel GPU, but {kind}")
        self.content = content
        self._register_db = register_db

    @cached_property
    def model(self) -> Survey:
        """The object that the commands use. Raises UnsupportedGpu for an unknown device."""
        return survey(self.content, self._register_db)

    @cached_property
    def summary(self) -> CaptureSummary:
        """Device, submissions and damage, as ``cffpy info --json`` shows them."""
        content, run = self.content, self.model.run
        device, process = run.device, run.application or None
        return CaptureSummary(
            content.name,
            content.compression,
            content.file_size,
            len(content.data),
            device,
            pci_id=None if device is None else device.pci_id,
            processes=[] if process is None else [process],
            submits=[_submit(one, process) for one in run.submissions],
            damage=[*content.faults, *run.damage],
            kind=run.kind,
        )

    @property
    def kind(self) -> str:
        """What the file is: "AUB file", "i915 error state" or "Xe devcoredump"."""
        return self.model.run.kind

    @property
    def gpu(self) -> Device | None:
        """The device: ``pci_id``, ``name``, ``verx10`` (125 for 12.5); None if no line names it."""
        return self.model.run.device

    @property
    def submissions(self) -> list[Submission]:
        """Its submissions: ``number``, ``engine``, ``address``, ``dwords``."""
        return self.model.run.submissions

    @property
    def passes(self) -> list[Pass]:
        """Its render passes and runs of dispatches."""
        return self.model.passes

    @property
    def actions(self) -> list[Action]:
        """All draws, dispatches, clears and copies, those of the driver too."""
        return self.model.actions

    @property
    def draws(self) -> list[Action]:
        """The program's draws and dispatches."""
        return [action for action in self.actions if is_program(action)]

    @property
    def generations(self) -> list[Generation]:
        """The calls whose draws a shader writes."""
        return self.model.generations

    @property
    def problems(self) -> list[str]:
        """Damage of the file and of its commands, and what limits leave out."""
        return [str(one) for one in (*self.content.faults, *self.model.run.damage)]

    def uses(self, action: Action) -> Uses:
        """Kernels, binding tables, depth buffer: what an action uses, as Intel GPUs have it."""
        return self.model.uses[action.order]

    def find(self, name: str | int) -> Action:
        """The action of a name: "p0:3", "#57" or 57. Raises UsageError, CaptureError."""
        wanted = draw_name_of(name)
        index, number = wanted.pass_index, wanted.number
        if index is None:
            if number >= len(self.actions):
                raise no_draw(wanted, len(self.actions))
            return self.actions[number]
        if index >= len(self.passes):
            raise no_pass(index, len(self.passes))
        draws = self.passes[index].draws
        if number >= len(draws):
            raise no_draw(wanted, len(draws))
        return draws[number]

    def state(self, name: str | int) -> IntelState:
        """What an action uses. Runs the commands before it again. Raises CaptureError."""
        return self.states([self.find(name)])[0]

    def states(self, actions: Sequence[Action]) -> list[IntelState]:
        """What each of these actions uses. Runs the commands before the last one again, once."""
        orders = frozenset(one.order for one in actions)
        found = states_of_actions(self.content, orders, self._register_db)
        for one in actions:
            found[one.order].action = one
        return [IntelState(found[one.order]) for one in actions]

    @cached_property
    def crash(self) -> CrashReport:
        """The report on an error state or devcoredump: position, action in flight, fault.

        Raises CaptureError for an AUB file.
        """
        from cffpy.intel.analysis.capture import AUB
        from cffpy.intel.analysis.crash import analyse

        if self.kind == AUB:
            raise CaptureError(f"{self.content.name}: not a GPU crash dump, but an AUB file")
        return analyse(self.content, self._register_db)

    def report(self, compare: Intel | None = None) -> IntelReport:
        """The report of the capture: passes, draws with what they use, surfaces, batches.

        ``compare``: another capture; the report has what differs from it. The commands of both are
        run again. Raises UnsupportedGpu for an unknown device.
        """
        from cffpy.intel.analysis.comparison import compare as compare_captures
        from cffpy.intel.views import report as view
        from cffpy.intel.views.report import Report

        found = Report(self.content, view.uses_document, self._register_db)
        self.keep(found.found)
        compared = None
        if compare is not None:
            compared = compare_captures(compare.content, self.content, self._register_db)
        return IntelReport(view.document(found, facts_document(self.summary), compared))

    def keep(self, found: Survey) -> None:
        """Use what another run over the commands has found, unless there is a result already."""
        self.__dict__.setdefault("model", found)

    def info_lines(self) -> Iterator[str]:
        """What ``cffpy info`` shows of the capture."""
        yield from info_view.lines(self.model, self.content)

    def submission_rows(self) -> list[tuple[str, ...]]:
        """The table of ``cffpy info``: headings, then a row for each submission."""
        return [info_view.HEADINGS, *info_view.rows(self.model)]

    def pass_lines(self, one: Pass) -> list[str]:
        """What ``cffpy passes`` shows besides of a pass: generated draws, flushes before it."""
        return list(passes_view.details(one, self.model))

    def __repr__(self) -> str:
        return f"<Intel {self.content.name}>"


def _submit(one: Submission, process: str | None) -> Submit:
    """A submission as a submit, whose only stream it is. All of it was captured."""
    length = one.ndwords
    stream = Stream(
        one.number, one.number, one.gpuaddr, length, length, process, one.engine, one.offset
    )
    return Submit(one.number, process, [stream])
