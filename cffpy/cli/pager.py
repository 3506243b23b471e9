# SPDX-License-Identifier: MIT
"""A pager: a process that shows on the terminal what is written to it."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.row_readers import BytesLike

_LESS_FLAGS = "FRSMKX"  # as the reference: quit if short, raw colours, chop lines, keep the screen

#: Exit codes of a shell that cannot run the command, or does not find it.
_NOT_STARTED = (126, 127)

#: Bytes that are kept in case the pager did not start: what a pipe holds at most (Linux: 1 MiB).
_KEPT = 1 << 20


class Pager:
    """The pager's input as a raw file. Without a pager that starts, ``show`` takes the data.

    A shell starts the command, so that a missing pager is noticed only when its pipe breaks: then
    ``show`` gets what was written until then.
    """

    def __init__(
        self,
        command: str | None,
        show: Callable[[BytesLike], object],
        begins: Callable[[], object],
    ) -> None:
        """``begins``: called before the first data. ``command``: None for no pager."""
        self._show = show
        self._begins = begins
        #: Whether anything was written.
        self.has_data = False
        self._process: subprocess.Popen[bytes] | None = None
        self._written = bytearray()
        self._interrupt = signal.getsignal(signal.SIGINT)
        if command is None:
            return
        environment = dict(os.environ)
        environment.setdefault("LESS", _LESS_FLAGS)
        try:
            self._process = subprocess.Popen(
                command, shell=True, stdin=subprocess.PIPE, env=environment
            )
        except OSError:
            return
        # Ctrl-C belongs to the pager, which stops its own search or following with it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def write(self, data: BytesLike) -> int:
        """Write all of ``data``; its size. Raises BrokenPipeError when the user quit the pager."""
        if not self.has_data:
            self._begins()
            self.has_data = True
        if self._process is None:
            self._show(data)
            return len(data)
        if len(self._written) <= _KEPT:
            self._written += data
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except BrokenPipeError:
            if not self._falls_back():
                raise
        return len(data)

    def close(self) -> None:
        """Wait until the user quits the pager."""
        if self._process is not None:
            self._falls_back()

    def _falls_back(self) -> bool:
        """Wait for the end of the pager; whether it never ran, and the terminal took its place."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.close()
        code = process.wait()
        signal.signal(signal.SIGINT, self._interrupt)
        self._process = None
        if code not in _NOT_STARTED or len(self._written) > _KEPT:
            return False
        self._show(self._written)
        return True
