# SPDX-License-Identifier: MIT
"""A progress bar on standard error for long work.

Work that takes less than a second shows no bar and imports nothing.
"""

from __future__ import annotations

import os
import stat
import sys

from cffpy.cli.output import is_terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from threading import Event, Thread

    from cffpy.cli.output import PagedOutput
    from cffpy.container.open import Content

_PATIENCE = 1.0  # seconds without a bar
_PERIOD = 0.2  # seconds between updates


class progress:  # noqa: N801 - used as a function: with progress("Reading"): ...
    """Shows a bar while a block runs: the share of ``content`` that was read, if given.

    Shown only if standard error is a terminal and standard output is not a pipe, whose reader may
    write to the same terminal. ``patience``: seconds before the bar appears. ``output``: what the
    block writes to; once the terminal has some of it, it is the text's, or the pager's, without a
    bar.
    """

    def __init__(
        self,
        label: str,
        content: Content | None = None,
        patience: float = _PATIENCE,
        output: PagedOutput | None = None,
    ) -> None:
        self._shown = label, content, patience
        self._output = output
        self._done: Event | None = None
        self._thread: Thread | None = None

    def __enter__(self) -> None:
        if not is_terminal(sys.stderr) or _is_pipe():
            return
        if self._output is not None:
            if self._output.is_shown:
                return
            self._output.before_data = self.stop
        import threading

        self._done = threading.Event()
        arguments = (*self._shown, self._done)
        self._thread = threading.Thread(target=_show, name="progress", args=arguments, daemon=True)
        self._thread.start()

    def __exit__(self, *_problem: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Take the bar away, and show none any more."""
        if self._done is not None and self._thread is not None:
            self._done.set()
            self._thread.join()


def _is_pipe() -> bool:
    try:
        mode = os.fstat(sys.stdout.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _show(label: str, content: Content | None, patience: float, done: Event) -> None:
    if done.wait(patience):
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from cffpy.views.plain_text import visible

    columns = TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn()
    with Progress(
        *columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task(visible(label), total=len(content.data) if content else None)
        while not done.wait(_PERIOD):
            if content is not None:
                bar.update(task, completed=content.position)
