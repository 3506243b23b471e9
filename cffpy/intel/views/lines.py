# SPDX-License-Identifier: MIT
"""Lines of Intel captures: one for each field of an instruction, register write and action.

The columns are those of ``cffpy lines`` for Adreno.
"""

from __future__ import annotations

from cffpy.intel.analysis.capture import run_capture
from cffpy.intel.analysis.survey import Survey, SurveyWalk
from cffpy.intel.decoder.text import field_values
from cffpy.intel.views.texts import describe_counts, describe_what

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.field import FieldValue
    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.state import Instruction, Submission
    from cffpy.intel.container.memory import AddressSpace
    from cffpy.intel.decoder.groups import Database

REGISTERS, PACKETS, DRAWS = "registers", "packets", "draws"
_LOADS = ("MI_LOAD_REGISTER_IMM", "MI_LOAD_REGISTER_MEM", "MI_LOAD_REGISTER_REG")
#: Instructions that wait for the action that they belong to.
_MAX_WAITING = 1 << 14


class _LineWalk(SurveyWalk):
    """Emits lines; those before an action have its pass and its number."""

    def __init__(
        self,
        database: Database,
        memory: AddressSpace,
        budget: int,
        file: str,
        only: frozenset[str],
        emit: Callable[[str], object],
        only_of: frozenset[int] | None,
    ) -> None:
        super().__init__(database, memory, budget)
        self._file = file
        self._only = only
        self._only_of = only_of
        self._emit = emit
        self._waiting: list[Instruction] = []
        self._texts: dict[tuple[str, tuple[int, ...]], list[tuple[str, int, str]]] = {}

    def begin_submission(self, submission: Submission) -> None:
        """What waits belongs to no action."""
        self.finish()
        super().begin_submission(submission)

    def state_set(self, command: Instruction) -> None:
        """Keep an instruction until its action comes."""
        kind = REGISTERS if command.name in _LOADS else PACKETS
        if kind in self._only:
            self._waiting.append(command)
            if len(self._waiting) >= _MAX_WAITING:
                self.finish()

    def acted(self, action: Action, uses: Uses, command: Instruction) -> None:
        """Write what belongs to the action, and its own line."""
        super().acted(action, uses, command)
        if self._only_of is not None and action.order not in self._only_of:
            self._waiting.clear()
            return
        index = "" if action.pass_index is None else str(action.pass_index)
        self.write(index, str(action.order))
        if DRAWS in self._only:
            row = (command.name, describe_what(action), "", describe_counts(action, uses))
            self._row(command, index, str(action.order), row)

    def finish(self) -> None:
        """Write what waits, which belongs to no action."""
        if self._only_of is None:
            self.write("", "")
        self._waiting.clear()

    def write(self, index: str, draw: str) -> None:
        """Write the lines of what waits."""
        for command in self._waiting:
            key = command.name, command.words
            texts = self._texts.get(key)
            if texts is None:
                fields = field_values(self.database, command.group, command.words)
                texts = self._texts[key] = [
                    (field.name, _number(field), field.text) for field in fields
                ]
                if len(self._texts) > _MAX_WAITING:
                    self._texts = {key: texts}
            for name, value, text in texts:
                self._row(command, index, draw, (command.name, name, f"{value:08x}", text))
        self._waiting.clear()

    def _row(self, command: Instruction, index: str, draw: str, row: tuple[str, ...]) -> None:
        at = f"{command.address:#x}"
        place = (self._file, str(command.submit), "0", at, "", index, draw)
        self._emit("\t".join((*place, *row)) + "\n")


def _number(field: FieldValue) -> int:
    """The bits of a field; of an address with the zeros below its lowest bit."""
    return field.value if type(field.value) is int else field.raw


def write_lines(
    content: Content,
    file: str,
    only: frozenset[str],
    emit: Callable[[str], object],
    directory: str | None = None,
    only_of: frozenset[int] | None = None,
) -> Survey:
    """Emit the lines of a capture; what was found. Raises UnsupportedGpu.

    ``only_of``: orders of the actions whose lines are emitted; None for all lines.
    """

    def make(database: Database, memory: AddressSpace, budget: int) -> _LineWalk:
        return _LineWalk(database, memory, budget, file, only, emit, only_of)

    run = run_capture(content, make, directory)
    if isinstance(run.walk, _LineWalk):
        run.walk.finish()
    return Survey(run)
