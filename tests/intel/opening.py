# SPDX-License-Identifier: MIT
"""Opens captures of Intel GPUs."""

from __future__ import annotations

import os
from typing import Any

import cffpy
from cffpy.frame.action import Action
from cffpy.frame.passes import Pass
from cffpy.intel.analysis.actions import Uses, is_program
from cffpy.intel.analysis.crash import CrashReport
from cffpy.intel.analysis.draw_state import DrawState
from cffpy.intel.analysis.generated import Generation
from cffpy.intel.analysis.state import Submission
from cffpy.intel.analysis.survey import Survey


class OpenedIntel:
    """What the analyses have found in a capture."""

    def __init__(self, capture: cffpy.Capture) -> None:
        assert capture.intel is not None
        self.capture, self.intel = capture, capture.intel

    @property
    def model(self) -> Survey:
        return self.intel._survey

    @property
    def kind(self) -> str:
        return self.intel.kind

    @property
    def gpu(self) -> cffpy.IntelDevice | None:
        return self.intel.gpu

    @property
    def passes(self) -> list[Pass]:
        return self.model.passes

    @property
    def actions(self) -> list[Action]:
        return self.model.actions

    @property
    def draws(self) -> list[Action]:
        return [action for action in self.actions if is_program(action)]

    @property
    def generations(self) -> list[Generation]:
        return self.model.generations

    @property
    def submissions(self) -> list[Submission]:
        return self.model.run.submissions

    @property
    def problems(self) -> list[str]:
        return [one.text for one in self.capture.problems]

    @property
    def crash(self) -> CrashReport:
        return self.intel.crash._report

    def find(self, name: str | int) -> Action:
        return self.intel._find(name)

    def uses(self, action: Action) -> Uses:
        return self.model.uses[action.order]

    def used_by(self, action: Action) -> DrawState:
        return self.intel._used_by(action)

    def info_lines(self) -> list[str]:
        return list(self.intel._info_lines())


def open_intel(source: str | bytes | os.PathLike[str], **options: Any) -> OpenedIntel:
    """An open capture of an Intel GPU."""
    return OpenedIntel(cffpy.open(source, **options))
