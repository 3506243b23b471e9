# SPDX-License-Identifier: MIT
"""Intel: what only captures of Intel GPUs have: AUB files, i915 error states, Xe devcoredumps."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from cffpy.analysis.summary import CaptureSummary
from cffpy.api.places import draw_name_of
from cffpy.container.kinds import intel_kind, kind_of
from cffpy.errors import CaptureError, ContainerError
from cffpy.frame.places import no_draw, no_pass
from cffpy.frame.submit import Stream, Submit
from cffpy.intel.analysis.draw_state import states_of_actions
from cffpy.intel.analysis.survey import survey
from cffpy.intel.views import texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.intel.analysis.capture import IntelDevice
    from cffpy.intel.analysis.crash import CrashReport
    from cffpy.intel.analysis.draw_state import DrawState
    from cffpy.intel.analysis.state import Submission
    from cffpy.intel.analysis.survey import Survey
    from cffpy.intel.views.crash import CrashDocument


class Intel:
    """What only captures of Intel GPUs have: ``Capture.intel``.

    The commands are run when something is first asked for, once.
    """

    def __init__(self, content: Content, register_db: str | None) -> None:
        """Use ``Capture.intel``. Raises ContainerError for another kind of file."""
        if intel_kind(content.data) is None:
            kind = kind_of(content.data)
            raise ContainerError(f"{content.name}: not a capture of an Intel GPU, but {kind}")
        self._content = content
        self._register_db = register_db
        #: What actions use, by ``Action.order``: those that were asked for last.
        self._used: dict[int, DrawState] = {}

    @cached_property
    def _survey(self) -> Survey:
        """What one run over the commands has found. Raises UnsupportedGpu for an unknown device."""
        return survey(self._content, self._register_db)

    @cached_property
    def _summary(self) -> CaptureSummary:
        """Device, submissions and damage, as ``cffpy info --json`` shows them."""
        content, run = self._content, self._survey.run
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
        return self._survey.run.kind

    @property
    def gpu(self) -> IntelDevice | None:
        """The device: ``pci_id``, ``name``, ``verx10`` (125 for 12.5); None if no line names it."""
        return self._survey.run.device

    def _find(self, name: str | int) -> Action:
        """The action of a name: "p0:3", "#57" or 57. Raises UsageError, CaptureError."""
        wanted = draw_name_of(name)
        index, number = wanted.pass_index, wanted.number
        if index is None:
            if number >= len(self._survey.actions):
                raise no_draw(wanted, len(self._survey.actions))
            return self._survey.actions[number]
        if index >= len(self._survey.passes):
            raise no_pass(index, len(self._survey.passes))
        draws = self._survey.passes[index].draws
        if number >= len(draws):
            raise no_draw(wanted, len(draws))
        return draws[number]

    def _used_by(self, action: Action) -> DrawState:
        """What an action uses. The commands before it are run again, unless ``_prepare`` did."""
        if action.order not in self._used:
            self._prepare([action])
        return self._used[action.order]

    def _is_prepared(self, order: int) -> bool:
        """Whether what an action uses is read: not where actions have too many descriptors."""
        return order in self._used

    def _prepare(self, actions: Sequence[Action]) -> None:
        """Read what these actions use, by one run over the commands before the last one."""
        self._used = states_of_actions(
            self._content, frozenset(one.order for one in actions), self._register_db
        )

    @cached_property
    def crash(self) -> IntelCrash:
        """The report on an error state or devcoredump: position, action in flight, fault.

        Raises CaptureError for an AUB file.
        """
        from cffpy.intel.analysis.capture import AUB
        from cffpy.intel.analysis.crash import analyse

        if self.kind == AUB:
            raise CaptureError(f"{self._content.name}: not a GPU crash dump, but an AUB file")
        return IntelCrash(analyse(self._content, self._register_db))

    def _keep(self, found: Survey) -> None:
        """Use what another run over the commands has found, unless there is a result already."""
        self.__dict__.setdefault("_survey", found)

    def _info_lines(self) -> Iterator[str]:
        """What ``cffpy info`` shows of the capture."""
        yield from texts.info_lines(self._survey, self._content)

    def _submission_rows(self) -> list[tuple[str, ...]]:
        """The table of ``cffpy info``: headings, then a row for each submission."""
        return [texts.SUBMISSION_HEADINGS, *texts.submission_rows(self._survey)]

    def __repr__(self) -> str:
        return f"<Intel {self._content.name}>"


class IntelCrash:
    """The report on an error state or devcoredump of an Intel GPU: ``Capture.intel.crash``."""

    def __init__(self, report: CrashReport) -> None:
        """Use ``Capture.intel``."""
        self._report = report

    def lines(self) -> list[str]:
        """The page of ``cffpy crash``, without the name of the file."""
        from cffpy.intel.views.crash import lines

        return list(lines(self._report))

    def to_dict(self) -> CrashDocument:
        """The document of ``cffpy crash --json``, without its schema."""
        from cffpy.intel.views.crash import document

        return document(self._report)

    def __repr__(self) -> str:
        position = self._report.position
        at = "position unknown" if position is None else f"at {position.name} {position.address:#x}"
        return f"<IntelCrash: {at}>"


def _submit(one: Submission, process: str | None) -> Submit:
    """A submission as a submit, whose only stream it is. All of it was captured."""
    length = one.ndwords
    stream = Stream(
        one.number, one.number, one.gpuaddr, length, length, process, one.engine, one.offset
    )
    return Submit(one.number, process, [stream])
