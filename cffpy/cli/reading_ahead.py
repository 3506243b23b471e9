# SPDX-License-Identifier: MIT
"""Opens a capture in a thread while the main thread imports what decodes it.

Decompression holds the interpreter's lock for a small part of its time only. So where two
processors are free, a dump or an analysis starts earlier by the time of the imports or of the
decompression, whichever is shorter. The thread is started by ``_thread``, which is built in:
importing threading takes longer than decompressing a small capture.
"""

from __future__ import annotations

import _thread
import os

from cffpy.container.open import open_capture

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.container.open import Content
    from cffpy.limits import Limits

#: Bytes of a file. A smaller one is opened in less time than two threads lose by taking turns.
_WORTH_A_THREAD = 1 << 13


def read_ahead(path: str, limits: Limits) -> ReadingAhead | None:
    """Open a capture from now on; None for what is not worth a thread, or is not a file."""
    try:
        is_worth = os.path.isfile(path) and os.path.getsize(path) >= _WORTH_A_THREAD
    except OSError:  # gone since: opening it reports that
        return None
    return ReadingAhead(path, limits) if is_worth else None


class ReadingAhead:
    """A capture that is being opened, from when this object is made.

    ``take`` returns it, or raises what opening it raised.
    """

    def __init__(self, path: str, limits: Limits) -> None:
        self._path = path
        self._limits = limits
        self._opened: Content | None = None
        self._problem: BaseException | None = None
        self._done = _thread.allocate_lock()
        self._done.acquire()
        _thread.start_new_thread(self._open, ())

    def _open(self) -> None:
        try:
            self._opened = open_capture(self._path, self._limits)
        except BaseException as problem:  # raised by ``take``
            self._problem = problem
        finally:
            self._done.release()

    def take(self) -> Content:
        """Wait for the capture. Call it once."""
        self._done.acquire()
        opened, self._opened = self._opened, None
        if self._problem is not None:
            raise self._problem
        assert opened is not None
        return opened
