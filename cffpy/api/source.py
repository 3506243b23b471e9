# SPDX-License-Identifier: MIT
"""Source: the file behind a Capture, and each thing that is computed of it, once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.observer import Observer
from cffpy.analysis.queries import find_lrz, state_at, walk_with_history
from cffpy.api.memory import Memory
from cffpy.api.registers import Registers
from cffpy.api.state import HistoryAt, RegisterState, StateAt
from cffpy.capture.load import CommandStream, read_records
from cffpy.capture.memory import MemoryImage
from cffpy.capture.summary import CaptureSummary, summarise
from cffpy.errors import CaptureError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.analysis.actions import Action
    from cffpy.analysis.lrz import PassLrz
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.register_history import RegisterHistory
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream as Stream
    from cffpy.container.open import Content
    from cffpy.regdb.database import Database

    Progress = Callable[[int, int], None]

#: A progress callback is called at each command stream, and after so many actions.
_ACTIONS_PER_REPORT = 1024


class Walked(NamedTuple):
    """What one walk over the commands has found."""

    finder: PassFinder
    history: RegisterHistory
    database: Database | None
    #: Lines of warning, such as that a GPU is not known.
    warnings: list[str]


class _Reporter(Observer):
    """Calls a progress callback while a walk runs."""

    def __init__(self, content: Content, progress: Progress) -> None:
        self._content = content
        self._progress = progress
        self._actions = 0

    def stream_begins(self, stream: Stream, is_new_submit: bool) -> None:
        self._report()

    def action(self, action: Action) -> None:
        self._actions += 1
        if self._actions % _ACTIONS_PER_REPORT == 0:
            self._report()

    def finished(self) -> None:
        size = len(self._content.data)
        self._progress(size, size)

    def _report(self) -> None:
        self._progress(self._content.position, len(self._content.data))


class Source:
    """A file's content, how it is to be decoded, and the results."""

    def __init__(
        self,
        content: Content,
        gpu: Gpu | None,
        register_db: str | None,
        progress: Progress | None,
    ) -> None:
        self._content: Content | None = content
        self.given_gpu = gpu
        self.register_db = register_db
        self._progress = progress
        self._registers: Registers | None = None
        self._last_state: tuple[int, RegisterState] | None = None

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
        """Release the file and all results."""
        self._content = self._last_state = self._registers = None
        for name in ("summary", "memories", "walked", "lrz"):
            self.__dict__.pop(name, None)

    @cached_property
    def summary(self) -> CaptureSummary:
        """What sections say: GPU, submits, buffers. Commands are not decoded for it."""
        return summarise(self.content)

    @cached_property
    def memories(self) -> list[Memory]:
        """The memory of each submit that has command streams."""
        found: list[Memory] = []
        image = MemoryImage()
        for record in read_records(self.content.sections(), image):
            if isinstance(record, CommandStream) and record.submit == len(found):
                found.append(Memory(image.copy()))
        return found

    def memory(self, submit: int) -> Memory:
        """The memory of a submit; empty where there is none of this number."""
        memories = self.memories
        return memories[submit] if submit < len(memories) else Memory(MemoryImage())

    @cached_property
    def walked(self) -> Walked:
        """The passes, actions and registers: one walk over the commands."""
        content = self.content
        warnings: list[str] = []
        reporters = () if self._progress is None else (_Reporter(content, self._progress),)
        finder, history = walk_with_history(
            content, warnings.append, self.register_db, self.given_gpu, reporters
        )
        machine = finder.walk.machine
        database = machine.database if finder.found.generation else None
        return Walked(finder, history, database, warnings)

    @cached_property
    def lrz(self) -> list[PassLrz]:
        """LRZ of each render pass."""
        (_, found), _ = find_lrz(self.content, _ignore, self.register_db, self.given_gpu)
        return found

    @property
    def registers(self) -> Registers:
        """The registers of the capture's GPU. Raises CaptureError where no commands were run."""
        if self._registers is None:
            self._registers = Registers(self._database())
        return self._registers

    def _database(self) -> Database:
        database = self.walked.database
        if database is None:
            raise CaptureError(f"{self.content.name}: no commands were decoded")
        return database

    def state(self, action: Action) -> RegisterState:
        """The registers at an action. One that is not the program's draw costs a walk."""
        history = self.walked.history
        if history.has(action.order):
            at = HistoryAt(history, action.order)
            return RegisterState(at, self.registers, self._database(), action)
        if self._last_state is not None and self._last_state[0] == action.order:
            return self._last_state[1]
        found = state_at(self.content, action.order, _ignore, self.register_db, self.given_gpu)
        if found is None:
            raise CaptureError(f"{action.packet} at {action.place} is not executed")
        state = RegisterState(StateAt(found), self.registers, self._database(), action)
        self._last_state = action.order, state
        return state


def _ignore(_line: str) -> None:
    """Take a warning that the first walk gave."""
