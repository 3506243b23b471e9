# SPDX-License-Identifier: MIT
"""The task of a build: reads and decodes some captures, stores one partition and its journal.

The same function runs in worker processes of one machine and on the workers of a cluster. The
journal is written last: without it, the files of the partition belong to no build. A task has two
parts, with a file of rows in between: what decodes does without pyarrow.
"""

from __future__ import annotations

import gc
import json
import os
import secrets
import tarfile
import time
import zipfile
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar

from cffpy.analysis.register_store.draws import WritePlaces
from cffpy.api.export import is_large, write_capture
from cffpy.api.intel_source import source_of
from cffpy.api.walking import uncollected
from cffpy.capture.gpu import parse_gpu
from cffpy.check.registry import chosen_lints
from cffpy.container.open import open_bytes
from cffpy.errors import CaptureError, CaptureIndexError, CffpyError, ContainerError
from cffpy.index.draw_rows import (
    ROW_BITS,
    BoundLists,
    Drawn,
    draw_rows,
    instruction_rows,
    program_rows,
    state_rows,
    write_rows,
)
from cffpy.index.model import Done, EditionNames, IndexedCapture, Journal, Task
from cffpy.index.part_writer import PartWriter
from cffpy.index.storage import is_url, reported, storage_at
from cffpy.index.tables import (
    BOUND,
    DRAWS,
    FINDINGS,
    INSTRUCTIONS,
    KEYED,
    LISTS,
    OWN,
    RUN,
    STATES,
    WRITES,
    fingerprint,
)
from cffpy.index.worker_process import bound_memory, peak_memory
from cffpy.limits import Limits, hint
from cffpy.pm4.descriptions import Descriptions
from cffpy.tables.schema import DEFAULT_TABLES, TABLES
from cffpy.tables.spool import RowSpool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType

    from cffpy.api.source import Source
    from cffpy.check.model import Lint
    from cffpy.check.runner import Checked
    from cffpy.frame.passes import Passes
    from cffpy.frame.submit import Problem
    from cffpy.index.model import Call, CaptureFile
    from cffpy.row_readers import BytesLike

    Row = tuple[Any, ...]


class ChangedWhileRead(ContainerError):
    """A file had another size or time after it was read."""


class CaptureReader:
    """A context manager that reads one capture after another; the last archive stays open.

    Bytes are read and not mapped: a mapped file that becomes shorter ends the process.
    """

    def __init__(self, most: int) -> None:
        """``most``: bytes of a capture; longer ones are an error."""
        self._most = most
        self._archive: Any = None
        self._opened = ""

    def __enter__(self) -> CaptureReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._close()

    def read(self, file: CaptureFile) -> tuple[bytes, int, int]:
        """The stored bytes; size and time of the file that they are of.

        Raises ContainerError; ChangedWhileRead where the file changed twice while it was read.
        """
        try:
            if file.member:
                return self._bounded(file, self._member(file)), file.size, file.mtime
            if is_url(file.location):
                return self._object(file), file.size, file.mtime
            return self._file(file)
        except ContainerError:
            raise
        except Exception as problem:  # zipfile and file systems raise undocumented ones
            text = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
            raise ContainerError(f"{file.name}: {text}") from None

    def _file(self, file: CaptureFile) -> tuple[bytes, int, int]:
        for _ in range(2):
            with open(file.location, "rb") as stream:
                before = os.fstat(stream.fileno())
                data = self._bounded(file, stream)
            after = os.stat(file.location)
            state = before.st_size, before.st_mtime_ns
            if state == (after.st_size, after.st_mtime_ns) and len(data) == before.st_size:
                return data, *state
        raise ChangedWhileRead(f"{file.name}: it changes while it is read")

    def _bounded(self, file: CaptureFile, stream: IO[bytes]) -> bytes:
        data = stream.read(self._most + 1)
        if len(data) > self._most:
            raise ContainerError(f"{file.name}: more than {self._most} bytes {hint('bytes')}")
        return data

    def _object(self, file: CaptureFile) -> bytes:
        from fsspec.core import url_to_fs

        filesystem, path = url_to_fs(file.location)
        with filesystem.open(path, "rb") as stream:
            return self._bounded(file, stream)

    def _member(self, file: CaptureFile) -> IO[bytes]:
        if self._opened != file.location:
            self._close()
            is_zip = file.location.lower().endswith(".zip")
            self._archive = (zipfile.ZipFile if is_zip else tarfile.open)(file.location)
            self._opened = file.location
        if isinstance(self._archive, zipfile.ZipFile):
            return self._archive.open(file.member)
        member = self._archive.extractfile(file.member)
        if member is None:
            raise ContainerError(f"{file.name}: it is not a file")
        stream: IO[bytes] = member
        return stream

    def _close(self) -> None:
        if self._archive is not None:
            self._archive.close()
        self._archive, self._opened = None, ""


_Result = TypeVar("_Result")


#: Tables that are written when registers are known, and with them all problems; and the others.
_LAST = [TABLES["registers"], TABLES["problems"]]
_FIRST = [TABLES[name] for name in DEFAULT_TABLES if TABLES[name] not in _LAST]

#: The temporary file, for errors.
_SPOOL = "the temporary file for rows"

#: Stored bytes after which the garbage collector runs.
_COLLECTED = 1 << 20


class _Unwritable(Exception):
    """Rows of a capture could not be made; some may be written, so the partition is begun again."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name = name
        self.reason = reason

    @classmethod
    def of(cls, name: str, problem: Exception) -> _Unwritable:
        """The error of a capture for an exception, in words for users."""
        if isinstance(problem, MemoryError):
            return cls(name, "out of memory")
        if isinstance(problem, CffpyError):
            return cls(name, str(problem))
        return cls(name, f"internal error: {type(problem).__name__}: {problem}")


def _call_here(work: Callable[[], _Result]) -> _Result:
    return work()


def build_part(task: Task, call: Call = _call_here) -> Done:
    """Decode the captures of a task and store their rows.

    ``call`` calls each part of it. Raises CaptureIndexError where the index cannot be written,
    MissingLibrary without the extra ``data``. Problems of a capture are in its entry.
    """
    failed: dict[str, str] = {}
    bound_memory(task.settings.memory)
    with reported(_SPOOL), RowSpool() as spool:
        while True:
            try:
                entries, later, seconds = call(partial(_decode, task, spool, failed))
                for large in later:
                    entries[large.number] = call(partial(_write_registers, task, spool, large))
                    seconds += entries[large.number].seconds - large.entry.seconds
                seconds += call(partial(_store, task, spool, entries))
                break
            except _Unwritable as problem:
                failed[problem.name] = problem.reason
    errors = sum(entry.error is not None for entry in entries)
    return Done(task, len(entries), errors, seconds)


class _Later(NamedTuple):
    """A large capture whose registers are not written yet: they have a process of their own.

    ``number``: in the task. ``problems``: those that were found so far.
    """

    number: int
    entry: IndexedCapture
    drawn: Drawn | None
    problems: list[Problem]


def _decode(
    task: Task, spool: RowSpool, failed: dict[str, str]
) -> tuple[list[IndexedCapture], list[_Later], float]:
    """Write the rows of a task to a file; the entries, and seconds of processor time.

    ``failed``: captures that are left out, and why. Raises _Unwritable.
    """
    begin = time.process_time()
    spool.clear()
    maker = _RowMaker(task, spool, failed)
    maker.run()
    spool.close()
    return maker.entries, maker.later, time.process_time() - begin


def _write_registers(task: Task, spool: RowSpool, later: _Later) -> IndexedCapture:
    """Write the rest of the rows of a large capture; its entry. Raises _Unwritable."""
    begin = time.process_time()
    spool.go_on()
    _RowMaker(task, spool, {}).write_later(later)
    spool.close()
    later.entry.seconds += round(time.process_time() - begin, 6)
    later.entry.memory = max(later.entry.memory, peak_memory())
    return later.entry


def _store(task: Task, spool: RowSpool, entries: list[IndexedCapture]) -> float:
    """Store a partition with the rows of a file, and its journal; seconds of processor time."""
    begin = time.process_time()
    storage = storage_at(task.url)
    name = f"{task.number:08x}-{secrets.token_hex(4)}"
    generations = {entry.name: entry.generation for entry in entries}
    with storage.scratch() as folder:
        writer = PartWriter(os.path.join(folder, "part"), generations)
        try:
            spool.pass_on(writer, {**TABLES, **OWN})
        except CffpyError:
            raise
        except Exception as problem:
            raise _Unwritable.of(spool.capture, problem) from problem
        writer.add_values()
        for table in KEYED:
            writer.sort(table)
        part = writer.store(storage, name, task.number)
    for entry in entries:
        entry.part = name if entry.error is None and not entry.is_same else ""
    journal = Journal(part, entries)
    storage.write(f"journal/{task.number:08x}.json", journal.to_bytes())
    return time.process_time() - begin


class _RowMaker:
    """Decodes the captures of a task and writes their rows."""

    def __init__(self, task: Task, spool: RowSpool, failed: dict[str, str]) -> None:
        """``failed``: captures that are left out, and why."""
        settings = task.settings
        self.entries: list[IndexedCapture] = []
        self.later: list[_Later] = []
        self._spool = spool
        self._task = task
        self._failed = failed
        self._settings = settings
        self._limits = Limits(**dict(settings.limits))
        self._gpu = None if settings.gpu is None else parse_gpu(settings.gpu)
        self._editions = EditionNames(settings.register_db)
        self._schema = fingerprint()
        self._lints: list[Lint] = chosen_lints() if settings.lints else []
        self._key = task.number << ROW_BITS
        self._uncollected = 0
        self._lists = BoundLists()
        self._descriptions = Descriptions(settings.register_db)

    def run(self) -> None:
        """Decode all captures. Raises _Unwritable."""
        with CaptureReader(self._limits.stored_bytes) as reader:
            for file in self._task.captures:
                self.entries.append(self._entry(file, reader))

    def _entry(self, file: CaptureFile, reader: CaptureReader) -> IndexedCapture:
        begin = time.process_time()
        entry = IndexedCapture.of(file)
        entry.edition, entry.schema = self._editions.of(None), self._schema
        entry.settings = self._settings.key
        try:
            if file.name in self._failed:
                entry.error = self._failed[file.name]
            else:
                with uncollected(is_kept=False):
                    self._decode(file, entry, reader)
        except (_Unwritable, CaptureIndexError):
            raise
        except CffpyError as problem:
            entry.error = str(problem)
        except MemoryError:
            entry.error = "out of memory"
        except Exception as problem:  # the other captures are still wanted
            entry.error = f"internal error: {type(problem).__name__}: {problem}"
        finally:
            self._collect(entry)
        entry.seconds = round(time.process_time() - begin, 6)
        entry.memory = peak_memory()
        return entry

    def _collect(self, entry: IndexedCapture) -> None:
        """Collect garbage rarely: it costs as much as decoding a small capture."""
        self._uncollected += entry.size
        if self._uncollected >= _COLLECTED:
            gc.collect()
            self._uncollected = 0

    def _decode(self, file: CaptureFile, entry: IndexedCapture, reader: CaptureReader) -> None:
        data, entry.size, entry.mtime = reader.read(file)
        entry.stored_digest = sha256(data).hexdigest()
        if entry.stored_digest == file.known_digest:
            entry.is_same = True
            return
        source = self._source(file, data)
        del data
        try:
            self._write(entry, source, self._walk(entry, source))
        finally:
            source.close()

    def _source(self, file: CaptureFile, data: BytesLike) -> Source:
        content = open_bytes(data, file.name, self._limits)
        edition = self._settings.register_db
        source = source_of(content, self._gpu, edition, None, self._descriptions)
        source.content.move_to_file()
        return source

    def write_later(self, later: _Later) -> None:
        """Write the registers of a large capture. Raises _Unwritable."""
        file, entry = self._task.captures[later.number], later.entry
        with CaptureReader(self._limits.stored_bytes) as reader, _attributed(entry.name):
            data, _, _ = reader.read(file)
            if sha256(data).hexdigest() != entry.stored_digest:
                raise CaptureError("it changed while it was read")
            source = self._source(file, data)
            del data
            try:
                source.problems += later.problems
                source.walk_for_tables()
                more = [problem.line for problem in source.walked.problems]
                entry.problems += [line for line in more if line not in entry.problems]
                self._spool.begin(entry.name)
                self._write_last(source, later.drawn)
            finally:
                source.close()

    def _walk(self, entry: IndexedCapture, source: Source) -> Checked:
        """Decode a capture, a large one without its registers."""
        whole = not is_large(source.content)
        writes = WritePlaces() if whole else None
        checked = source.walk_whole(self._lints, False, writes=writes, with_registers=whole)
        _ = source.collected
        self._describe(entry, source)
        return checked

    def _describe(self, entry: IndexedCapture, source: Source) -> None:
        walked = source.walked
        passes = walked.finder.found
        entry.digest = source.content.digest()
        entry.gpu = passes.gpu
        entry.generation = passes.generation or None
        entry.edition = self._editions.of(entry.generation)
        entry.driver = _driver(source.summary.processes, passes)
        entry.problems = [problem.line for problem in walked.problems]

    def _write(self, entry: IndexedCapture, source: Source, checked: Checked) -> None:
        """Write all rows; of a large capture all but those of registers."""
        with _attributed(entry.name):
            self._spool.begin(entry.name)
            write_capture(source, self._spool, _FIRST, dict.fromkeys(DEFAULT_TABLES, 0))
            if self._lints:
                self._spool.write(FINDINGS, _finding_rows(entry.name, checked))
            drawn = self._write_draws(entry, source)
            if not is_large(source.content):
                self._write_last(source, drawn)
                return
        self.later.append(_Later(len(self.entries), entry, drawn, source.problems))

    def _write_last(self, source: Source, drawn: Drawn | None) -> None:
        """Write what needs the registers at all draws, and all problems."""
        write_capture(source, self._spool, _LAST, dict.fromkeys(DEFAULT_TABLES, 0))
        store = source.walked.store
        if drawn is not None and store is not None:
            self._spool.write(STATES, state_rows(store.draws, drawn))
            self._spool.write(WRITES, write_rows(store.draws, drawn))
        history = None if drawn is None else source.drawn_state()
        if drawn is not None and history is not None:
            self._spool.write(INSTRUCTIONS, instruction_rows(history, drawn))

    def _write_draws(self, entry: IndexedCapture, source: Source) -> Drawn | None:
        """Write what filters need of draws; None where there are no commands."""
        if entry.generation is None:
            return None
        finder, spool = source.walked.finder, self._spool
        made: list[Drawn] = []
        spool.write(DRAWS, draw_rows(finder, entry.name, entry.generation, self._key, made))
        drawn = made[0]
        entry.first_row = self._key & ((1 << ROW_BITS) - 1)
        entry.rows = drawn.rows
        self._key += drawn.rows
        spool.write(BOUND, self._lists.rows(source.bindings, drawn))
        spool.write(LISTS, self._lists.take())
        draws = (draw for pass_ in finder.found.passes for draw in pass_.draws)
        spool.write(RUN, program_rows(entry.name, draws, source))
        return drawn


@contextmanager
def _attributed(name: str) -> Iterator[None]:
    """Raise _Unwritable for what goes wrong while rows of a capture are written."""
    try:
        with reported(_SPOOL):
            yield
    except CaptureIndexError:
        raise
    except Exception as problem:
        raise _Unwritable.of(name, problem) from problem


def _driver(processes: Iterable[str], passes: Passes) -> str | None:
    """The driver that made the commands, where the capture shows it.

    Fact: turnip of Mesa 25.0.7 names itself where it writes captures (RD_CMD). Of the drivers of
    a6xx and later, only the Gallium driver gives tiles the addresses of visibility streams; turnip
    and the vendor's driver give offsets (CP_SET_BIN_DATA5_OFFSET).
    """
    if "tu-dump" in processes:
        return "turnip"
    return "gallium" if passes.has_absolute_streams else None


def _finding_rows(name: str, checked: Checked) -> Iterator[Row]:
    for finding in checked.findings:
        document = finding.to_dict()
        yield (
            name,
            document["id"],
            document["name"],
            document["severity"],
            document["text"],
            document["count"],
            document["pass"],
            document["draw_name"],
            json.dumps(document),
        )
