# SPDX-License-Identifier: MIT
"""Batches: the captures of a build as tasks, largest first, of a size that adapts to their speed.

A task should take some seconds: then partitions are few, and little is lost with a worker. Towards
the end tasks become smaller, so that all workers finish at the same time.
"""

from __future__ import annotations

import random
from itertools import groupby
from typing import TYPE_CHECKING

from cffpy.index.model import CaptureFile, Done, Settings, Task

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Seconds of processor time that a task should take, and at least: its processes take 0.25 s to
#: start, and many small partitions make queries slow. Captures that it has at most.
_SECONDS, _LEAST_SECONDS, _MOST_CAPTURES = 10.0, 1.0, 256
#: Fixed cost of a capture, in bytes; seconds for a byte, as a first guess.
_OVERHEAD, _GUESS = 64 << 10, 1.5e-6
#: Members of a compressed archive that are decoded together: each task reads the archive from the
#: start.
_MEMBERS = 64
_COMPRESSED = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")

#: Captures that stay together.
_Unit = tuple[CaptureFile, ...]


class Batches:
    """An iterator of tasks. ``note`` records how long a task took."""

    def __init__(
        self, files: Iterable[CaptureFile], index: str, settings: Settings, workers: int
    ) -> None:
        self._units = sorted(_units(files), key=_weight)  # taken from the end
        self._index = index
        self._settings = settings
        self._workers = workers
        self._left = sum(map(_weight, self._units))
        self._weight = self._seconds = 0.0
        self._numbers: set[int] = set()

    def __iter__(self) -> Iterator[Task]:
        return self

    def __next__(self) -> Task:
        if not self._units:
            raise StopIteration
        most = min(_SECONDS / self._rate, self._left / (2 * self._workers))
        most = max(most, _LEAST_SECONDS / self._rate)
        captures: list[CaptureFile] = []
        weight = 0
        while self._units and (not captures or weight + _weight(self._units[-1]) <= most):
            if captures and len(captures) + len(self._units[-1]) > _MOST_CAPTURES:
                break
            unit = self._units.pop()
            weight += _weight(unit)
            captures += unit
        self._left -= weight
        return Task(self._number(), tuple(captures), self._index, self._settings)

    def note(self, done: Done) -> None:
        """Take the time of a task that has ended."""
        self._weight += _weight(done.task.captures)
        self._seconds += done.seconds

    @property
    def _rate(self) -> float:
        """Seconds for a byte; the overhead of captures counts as bytes."""
        if self._weight <= 0:
            return _GUESS
        return max(self._seconds, 1e-3) / self._weight

    def _number(self) -> int:
        while (number := random.getrandbits(31)) in self._numbers:
            pass
        self._numbers.add(number)
        return number


def _weight(unit: _Unit) -> int:
    return sum(one.size + _OVERHEAD for one in unit)


def _units(files: Iterable[CaptureFile]) -> Iterator[_Unit]:
    """Each file alone, members of compressed archives in groups in their order."""

    def archive(file: CaptureFile) -> str:
        packed = file.member and file.location.lower().endswith(_COMPRESSED)
        return file.location if packed else ""

    for location, group in groupby(files, archive):
        members = tuple(group)
        step = _MEMBERS if location else 1
        for first in range(0, len(members), step):
            yield members[first : first + step]
