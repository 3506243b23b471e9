# SPDX-License-Identifier: MIT
"""ProgressReporter: reports how much of a capture a walk has read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.observer import Observer

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.capture.load import CommandStream
    from cffpy.container.open import Content
    from cffpy.frame.action import Action

    #: Takes the bytes of the decompressed file that were read, and its size.
    Progress = Callable[[int, int], None]

#: A progress callback is called at each command stream, and after this number of actions.
_ACTIONS_PER_REPORT = 1024


class ProgressReporter(Observer):
    """Calls a progress callback while a walk runs."""

    def __init__(self, content: Content, progress: Progress) -> None:
        self._content = content
        self._progress = progress
        self._actions = 0

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """Report at each command stream."""
        self._report()

    def action(self, action: Action) -> None:
        """Report after a number of actions, too: a stream may be long."""
        self._actions += 1
        if self._actions % _ACTIONS_PER_REPORT == 0:
            self._report()

    def finished(self) -> None:
        """Report that all was read."""
        size = len(self._content.data)
        self._progress(size, size)

    def _report(self) -> None:
        self._progress(self._content.position, len(self._content.data))
