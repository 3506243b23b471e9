# SPDX-License-Identifier: MIT
"""``cffpy.build_index``: claims an index, has an engine run the tasks of a build, publishes it.

Captures are tasks, largest first, of a size that adapts to their speed. A task should take some
seconds: then partitions are few, and little is lost with a worker. Towards the end tasks become
smaller, so that all workers finish at the same time.

Only one process builds an index at a time. Locally its claim is a lock that the system releases
when the process ends for any reason. In an object store it is an object with a token and a time. It
is valid for ten minutes after its last renewal; it is checked again before a snapshot is published.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import socket
import time
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.api.arguments import expect_path, given_edition, given_gpu, given_limits, given_paths
from cffpy.api.find import processors
from cffpy.capture.gpu import Gpu
from cffpy.errors import CaptureIndexError, UsageError
from cffpy.frame.faces import facts_document
from cffpy.frame.facts import described, model, stored
from cffpy.index.engines import DaskEngine, LocalEngine, SerialEngine
from cffpy.index.inputs import find_captures
from cffpy.index.model import (
    CaptureFile,
    Done,
    EditionNames,
    IndexedCapture,
    Journal,
    Part,
    Settings,
    Task,
)
from cffpy.index.snapshots import Catalog, Contents, clean_up, publish
from cffpy.index.storage import LocalStorage, storage_at
from cffpy.index.tables import fingerprint
from cffpy.limits import VARIABLES, Limits
from cffpy.tables.writers import check_libraries, clean_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from cffpy.index.engines import Engine, Outcome
    from cffpy.index.inputs import Found
    from cffpy.index.model import Snapshot
    from cffpy.index.storage import Storage

    #: Called with how many captures were decoded, and how many will be.
    Progress = Callable[[int, int], object]

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
    return sum(file.size + _OVERHEAD for file in unit)


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


_NAME = "claim.json"

#: Seconds for which a claim in an object store is valid, and after which it is renewed.
_LIFETIME, _RENEWAL = 600.0, 60.0
#: Seconds after which a claim is read back: of two made at the same time, the later one is valid.
_SETTLING = 1.0


@contextmanager
def claimed(storage: Storage, now: Callable[[], float] = time.time) -> Iterator[Callable[[], None]]:
    """Hold the claim; yields a function that renews it, to be called regularly.

    Raises CaptureIndexError where another builder has it, also from the function.
    """
    held = _local(storage) if isinstance(storage, LocalStorage) else _remote(storage, now)
    with held as renew:
        yield renew


@contextmanager
def _local(storage: LocalStorage) -> Iterator[Callable[[], None]]:
    try:
        os.makedirs(storage.url, exist_ok=True)
        file = open(storage.path("lock"), "a+b")  # noqa: SIM115 - open as long as the lock is held
    except OSError as problem:
        raise CaptureIndexError(f"{storage.url}: {problem.strerror or problem}") from None
    with file:
        if not _lock(file.fileno()):
            raise CaptureIndexError(f"{storage.url}: another process builds this index")
        yield _nothing


def _nothing() -> None:
    """A local lock needs no renewal."""


def _lock(handle: int) -> bool:
    """Lock a file without waiting; False where another process has locked it."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _remote(storage: Storage, now: Callable[[], float]) -> Iterator[Callable[[], None]]:
    token = secrets.token_hex(8)
    known = _read(storage)
    if known is not None and now() - known[1] < _LIFETIME:
        raise _taken(storage, known[2])
    renewed = now()

    def write() -> None:
        nonlocal renewed
        renewed = now()
        document = {"token": token, "time": renewed, "host": socket.gethostname()}
        storage.write(_NAME, json.dumps(document).encode())

    def renew() -> None:
        if now() - renewed < _RENEWAL:
            return
        check()
        write()

    def check() -> None:
        found = _read(storage)
        if found is None or found[0] != token:
            raise _taken(storage, "" if found is None else found[2])

    write()
    time.sleep(_SETTLING)
    check()
    try:
        yield renew
    finally:
        found = _read(storage)
        if found is not None and found[0] == token:
            storage.delete(_NAME)


def _taken(storage: Storage, host: str) -> CaptureIndexError:
    where = f" on {host}" if host else ""
    return CaptureIndexError(f"{storage.url}: another process{where} builds this index")


def _read(storage: Storage) -> tuple[str, float, str] | None:
    """Token, time and host of the claim; None without one."""
    data = storage.read(_NAME)
    if data is None:
        return None
    try:
        document = json.loads(data)
        return str(document["token"]), float(document["time"]), str(document["host"])
    except (ValueError, KeyError, TypeError):
        return None


@described(
    "unread", is_value=False, file="the input or the capture", error="why it could not be read"
)
class Unread(NamedTuple):
    """What a build could not read."""

    file: str
    error: str


@model("build")
class BuildReport:
    """What a build of an index did: cffpy index build --json."""

    index: str = stored("folder or URL of the index")
    snapshot: int = stored("number of the published state", default=0)
    captures: int = stored("captures in the index now", default=0)
    decoded: int = stored("captures that this build decoded", default=0)
    failed: int = stored("captures of these that could not be decoded", default=0)
    damaged: int = stored("captures of these that have problems", default=0)
    resumed: int = stored("captures that an earlier, unfinished build decoded", default=0)
    unchanged: int = stored("captures that are as they were", default=0)
    removed: int = stored("captures that are gone", default=0)
    bytes: int = stored("size of the decoded captures", "bytes", default=0)
    seconds: float = stored("processor time of all tasks", "seconds", default=0.0)
    elapsed: float = stored("wall-clock time", "seconds", default=0.0)
    problems: list[Unread] = stored("inputs that could not be read", default_factory=list)
    failures: list[Unread] = stored("captures that could not be decoded", default_factory=list)
    notes: list[str] = stored("what else happened, in words", default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The document of ``cffpy index build --json``."""
        return facts_document(self)


def build_index(
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    index: str | os.PathLike[str],
    *,
    lints: bool = True,
    verify: bool = False,
    jobs: int | None = None,
    scheduler: str | None = None,
    memory: int | None = None,
    gpu: str | int | Gpu | None = None,
    register_db: str | None = None,
    limits: Limits | Mapping[str, int] | None = None,
    progress: Progress | None = None,
) -> BuildReport:
    """Build an index of captures, or bring it up to date.

    ``inputs``: captures, folders, zip and tar archives, globs, URLs of fsspec, ``@LIST``: a file
    with an input in each line. Captures that are unchanged are not decoded again; those that are
    gone from these inputs are removed; those of other inputs stay. ``index``: a folder or a URL.

    ``lints``: run all lints, for ``check``. ``verify``: read all that is stored first, and decode
    the captures of damaged partitions again; those of missing ones are in any case. ``jobs``:
    worker processes, None for one a processor, 0 for none: this process. ``scheduler``: address of
    a Dask scheduler, whose workers are used. ``memory``: bytes that each worker may allocate, by
    default its part of the machine's.

    Problems of a capture are in its entry and raise nothing. Raises CaptureIndexError where
    the index cannot be used or written, or another process builds it; UsageError for wrong
    arguments; MissingLibrary without the extras ``data`` and ``cluster``.
    """
    sources, directory = given_paths("inputs", inputs), given_edition(register_db)
    expect_path("index", index)
    numbers = given_limits(limits)
    given_gpu(gpu)  # raises before anything is built
    check_libraries(["pyarrow", "duckdb"])
    if scheduler is not None and jobs is not None:
        raise UsageError("a scheduler has its own workers: jobs cannot be chosen")
    chosen = ((name, getattr(numbers, name)) for name in VARIABLES)
    kept = tuple((name, number) for name, number in chosen if number is not None)
    given = f"a{gpu.generation}xx" if isinstance(gpu, Gpu) else None if gpu is None else str(gpu)
    count = processors() if jobs is None else jobs
    settings = Settings(directory, given, kept, lints, _memory(memory, max(1, count)))
    storage = storage_at(os.fspath(index))
    begin = time.monotonic()
    with claimed(storage) as renew:
        builder = _Builder(storage, settings, renew, progress, verify)
        if scheduler is not None:
            engine: Engine = DaskEngine(scheduler)
        else:
            engine = LocalEngine(count) if count else SerialEngine()
        builder.build(find_captures(sources), engine)
    builder.report.elapsed = round(time.monotonic() - begin, 3)
    return builder.report


def _memory(given: int | None, workers: int) -> int:
    if given is not None:
        return given
    if not hasattr(os, "sysconf"):  # Windows
        return 0
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0
    return size * 4 // 5 // workers


class _Builder:
    """One build: what is known, what is decoded, what is published."""

    def __init__(
        self,
        storage: Storage,
        settings: Settings,
        renew: Callable[[], None],
        progress: Progress | None,
        verify: bool,
    ) -> None:
        """``verify``: read the stored tables, and replace those that are damaged."""
        self.report = BuildReport(storage.url)
        self._catalog = Catalog(storage)
        self._settings = settings
        self._renew = renew
        self._progress = progress
        self._verify = verify
        #: Whether something of the newest snapshot is damaged, so that there must be another one.
        self._is_damaged = False
        self._editions = EditionNames(settings.register_db)
        self._schema = fingerprint()
        self._old: Snapshot | None = None
        #: Entries by name, as they are known so far.
        self._entries: dict[str, IndexedCapture] = {}
        self._made_with: dict[str, list[IndexedCapture]] = {}
        self._parts: dict[str, Part] = {}
        #: Journals that were read.
        self._read: set[str] = set()

    def build(self, found: Found, engine: Engine) -> None:
        """Decode what is new, publish it."""
        report = self.report
        report.problems = [Unread._make(problem) for problem in found.problems]
        self._read_known()
        before = dict(self._entries)
        wanted = self._plan(found)
        batches = Batches(wanted, self._catalog.storage.url, self._settings, max(1, engine.workers))
        self._tell(0, len(wanted))
        done = 0
        for outcome in engine.run(batches):
            done += self._take(outcome, batches)
            self._renew()
            self._tell(done, len(wanted))
        self._read_journals()
        self._finish(before, len(wanted), engine)

    def _tell(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(done, total)

    # -- what is known --------------------------------------------------------------------------

    def _read_known(self) -> None:
        try:
            self._old = self._catalog.newest()
            entries = {} if self._old is None else self._catalog.entries(self._old)
        except CaptureIndexError as problem:
            self.report.notes.append(f"{problem}; all captures are decoded again")
            self._old, entries = None, {}
        if self._old is not None:
            if self._old.schema != self._schema:
                self.report.notes.append(
                    f"the tables are those of another version ({self._old.schema}); "
                    "all captures are decoded again"
                )
            self._parts = {part.name: part for part in self._old.parts}
            self._drop_lost(self._old, entries)
        for entry in entries.values():
            self._add(entry)
        known = len(self._made_with)
        self._read_journals()
        resumed = list(self._made_with.values())[known:]
        self.report.resumed = sum(map(len, resumed))

    def _drop_lost(self, old: Snapshot, entries: dict[str, IndexedCapture]) -> None:
        """Leave out partitions that are missing or damaged: their captures are decoded again."""
        lost = self._catalog.lost(old.parts, self._verify)
        self._is_damaged = bool(lost) or (self._verify and not self._catalog.has_sound_sums(old))
        for name in lost:
            del self._parts[name]
        if lost:
            count = "1 partition" if len(lost) == 1 else f"{len(lost)} partitions"
            text = f"{count} damaged or missing: the captures are decoded again"
            self.report.notes.append(text)
        for entry in entries.values():
            if entry.part in lost:
                entry.schema = ""  # nothing that is stored can be used

    def _add(self, entry: IndexedCapture) -> None:
        self._entries[entry.name] = entry
        if entry.part:
            self._made_with.setdefault(entry.part, []).append(entry)

    def _read_journals(self) -> None:
        """Take the partitions of tasks that have ended, also those of a build that did not."""
        for name, journal in self._catalog.journals(self._read):
            self._read.add(name)
            if all(map(self._is_usable, journal.entries)):
                if journal.part.name:
                    self._parts[journal.part.name] = journal.part
                self._take_journal(journal)

    def _take_journal(self, journal: Journal) -> None:
        for entry in journal.entries:
            known = self._entries.get(entry.name)
            if not entry.is_same:
                self._add(entry)
            elif known is not None and known.stored_digest == entry.stored_digest:
                known.size, known.mtime = entry.size, entry.mtime
                known.root = entry.root

    def _is_usable(self, entry: IndexedCapture) -> bool:
        """Whether an entry has the tables and settings of this build."""
        return (entry.schema, entry.settings, entry.edition) == (
            self._schema,
            self._settings.key,
            self._editions.of(entry.generation),
        )

    # -- what is to be done ---------------------------------------------------------------------

    def _plan(self, found: Found) -> list[CaptureFile]:
        """The captures that have to be decoded. Entries of missing ones are dropped."""
        wanted = []
        names = set()
        for file in found.files:
            names.add(file.name)
            known = self._entries.get(file.name)
            if known is None or not self._is_usable(known):
                wanted.append(file)
            elif known.error is not None and not known.stored_digest:
                wanted.append(file)  # it was not read
            elif (known.size, known.mtime, known.location) == (
                file.size,
                file.mtime,
                clean_text(file.location),
            ):
                known.root = file.root
            elif known.size == file.size:
                wanted.append(file._replace(known_digest=known.stored_digest))
            else:
                wanted.append(file)
        for name in [name for name in self._entries if name not in names]:
            entry = self._entries[name]
            if self._is_gone(entry, found):
                del self._entries[name]
                self.report.removed += 1
            elif not self._is_usable(entry):
                wanted.append(_file_of(entry))
        return wanted

    def _is_gone(self, entry: IndexedCapture, found: Found) -> bool:
        """Whether an entry belongs to these inputs, and those that may contain it were read."""
        if entry.root not in found.roots:
            return False
        return not any(
            entry.location == prefix or entry.location.startswith(prefix.rstrip(os.sep) + os.sep)
            for prefix in found.unread
        )

    def _take(self, outcome: Outcome, batches: Batches) -> int:
        """Count an outcome; returns its number of captures."""
        report = self.report
        if isinstance(outcome, Done):
            batches.note(outcome)
            report.seconds += outcome.seconds
            report.bytes += outcome.task.bytes
            return outcome.captures
        for file in outcome.task.captures:
            entry = IndexedCapture.of(file)
            entry.error = outcome.reason
            entry.schema, entry.settings = self._schema, self._settings.key
            entry.edition = self._editions.of(None)
            journal = Journal(Part("", outcome.task.number, {}), [entry])
            name = f"journal/{outcome.task.number:08x}.json"
            self._catalog.storage.write(name, journal.to_bytes())
        return len(outcome.task.captures)

    # -- what was done --------------------------------------------------------------------------

    def _finish(self, before: dict[str, IndexedCapture], wanted: int, engine: Engine) -> None:
        report = self.report
        new = [entry for name, entry in self._entries.items() if before.get(name) is not entry]
        report.decoded = len(new)
        report.unchanged = len(self._entries) - len(new)
        report.failures = [Unread(one.name, one.error) for one in new if one.error is not None]
        report.failed = len(report.failures)
        report.damaged = sum(one.status == "damaged" for one in new)
        report.captures = len(self._entries)
        report.seconds = round(report.seconds, 3)
        old = self._old
        if old is not None:
            journaled = set(self._parts) - {part.name for part in old.parts}
            changes = wanted or journaled or report.removed or self._is_damaged
            if not changes and old.schema == self._schema:
                report.snapshot = old.number
                clean_up(self._catalog)
                return
        contents = Contents(self._entries, list(self._parts.values()), self._made_with)
        numbers = self._catalog.numbers()
        number = numbers[-1] + 1 if numbers else 1
        self._renew()
        snapshot = publish(self._catalog, contents, self._settings, number, engine)
        report.snapshot = snapshot.number
        clean_up(self._catalog)


def _file_of(entry: IndexedCapture) -> CaptureFile:
    return CaptureFile(
        entry.name, entry.location, entry.member, entry.size, entry.mtime, entry.root
    )
