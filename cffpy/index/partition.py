# SPDX-License-Identifier: MIT
"""The task of a build: decodes some captures, stores one partition and its journal.

The same function runs in worker processes of one machine and on the workers of a cluster. The
journal is written last: without it, the files of the partition belong to no build.
"""

from __future__ import annotations

import gc
import json
import os
import secrets
import time
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.analysis.crash.opening import check_capture
from cffpy.analysis.register_writes import WritePlaces
from cffpy.api.export import write_capture
from cffpy.api.source import Source
from cffpy.api.walking import uncollected
from cffpy.capture.gpu import parse_gpu
from cffpy.check.registry import chosen_lints
from cffpy.container.open import open_bytes
from cffpy.cp.descriptions import Descriptions
from cffpy.errors import CaptureIndexError, CffpyError
from cffpy.index.capture_bytes import CaptureReader
from cffpy.index.draw_rows import ROW_BITS, Drawn, draw_rows, state_rows, write_rows
from cffpy.index.model import Done, EditionNames, Entry, Journal, Task
from cffpy.index.part_writer import PartWriter
from cffpy.index.resource_rows import BoundLists, program_rows
from cffpy.index.storage import storage_at
from cffpy.index.tables import (
    BOUND,
    DRAWS,
    FINDINGS,
    KEYED,
    LISTS,
    RUN,
    STATES,
    WRITES,
    fingerprint,
)
from cffpy.index.worker_memory import bound_memory, peak_memory
from cffpy.limits import Limits
from cffpy.tables.schema import DEFAULT_TABLES, TABLES
from cffpy.views.check import finding_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.analysis.passes.model import Passes
    from cffpy.check.model import Lint
    from cffpy.check.runner import Checked
    from cffpy.index.model import CaptureFile

    Row = tuple[Any, ...]


#: Stored bytes after which the garbage collector runs.
_COLLECTED = 1 << 20


class _Unwritable(Exception):
    """Rows of a capture could not be made; some may be written, so the partition is begun again."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason


def build_part(task: Task) -> Done:
    """Decode the captures of a task and store their rows.

    Raises CaptureIndexError where the index cannot be written, MissingLibrary without the extra
    ``data``. Problems of a capture are in its entry.
    """
    begin = time.process_time()
    storage = storage_at(task.url)
    failed: dict[str, str] = {}
    bound_memory(task.settings.memory)
    while True:
        with storage.scratch() as folder:
            maker = _PartMaker(task, os.path.join(folder, "part"), failed)
            try:
                maker.run()
            except _Unwritable as problem:
                failed[problem.name] = problem.reason
                continue
            name = f"{task.number:08x}-{secrets.token_hex(4)}"
            part = maker.writer.store(storage, name, task.number)
        break
    for entry in maker.entries:
        entry.part = name if entry.error is None and not entry.is_same else ""
    journal = Journal(part, maker.entries)
    storage.write(f"journal/{task.number:08x}.json", journal.to_bytes())
    errors = sum(entry.error is not None for entry in maker.entries)
    return Done(task, len(maker.entries), errors, time.process_time() - begin)


class _Decoded(NamedTuple):
    """A capture whose commands were decoded. ``checked``: None without lints."""

    source: Source
    checked: Checked | None


class _PartMaker:
    """Decodes the captures of a task and writes their rows."""

    def __init__(self, task: Task, folder: str, failed: dict[str, str]) -> None:
        """``failed``: captures that are left out, and why."""
        settings = task.settings
        self.entries: list[Entry] = []
        self.writer = PartWriter(folder)
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
        for table in KEYED:
            self.writer.sort(table)

    def _entry(self, file: CaptureFile, reader: CaptureReader) -> Entry:
        begin = time.process_time()
        entry = Entry.of(file)
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

    def _collect(self, entry: Entry) -> None:
        """Collect garbage rarely: it costs as much as decoding a small capture."""
        self._uncollected += entry.size
        if self._uncollected >= _COLLECTED:
            gc.collect()
            self._uncollected = 0

    def _decode(self, file: CaptureFile, entry: Entry, reader: CaptureReader) -> None:
        data, entry.size, entry.mtime = reader.read(file)
        entry.stored_digest = sha256(data).hexdigest()
        if entry.stored_digest == file.known_digest:
            entry.is_same = True
            return
        content = check_capture(open_bytes(data, file.name, self._limits))
        content.move_to_file()
        source = Source(content, self._gpu, self._settings.register_db, None, self._descriptions)
        try:
            checked = source.walk_whole(self._lints, with_lrz=False, writes=WritePlaces())
            _ = source.collected
            self._describe(entry, source)
            try:
                self._write(entry, _Decoded(source, checked if self._lints else None))
            except CaptureIndexError:
                raise
            except Exception as problem:
                reason = f"internal error: {type(problem).__name__}: {problem}"
                raise _Unwritable(file.name, reason) from problem
        finally:
            source.close()

    def _describe(self, entry: Entry, source: Source) -> None:
        walked = source.walked
        found = walked.finder.found
        entry.digest = source.content.digest()
        entry.gpu = found.gpu
        entry.generation = found.generation or None
        entry.edition = self._editions.of(entry.generation)
        entry.driver = _driver(source.summary.processes, found)
        entry.problems = [problem.line for problem in walked.problems]

    def _write(self, entry: Entry, decoded: _Decoded) -> None:
        source, writer = decoded.source, self.writer
        writer.generation = entry.generation
        tables = [TABLES[name] for name in DEFAULT_TABLES]
        write_capture(source, writer, tables, dict.fromkeys(DEFAULT_TABLES, 0))
        if decoded.checked is not None:
            writer.write(FINDINGS, _finding_rows(entry.name, decoded.checked))
        walked = source.walked
        if entry.generation is None or walked.history is None:
            return
        drawn: list[Drawn] = []
        rows = draw_rows(walked.finder, entry.name, entry.generation, self._key, drawn)
        writer.write(DRAWS, rows)
        entry.first_row = self._key & ((1 << ROW_BITS) - 1)
        entry.rows = drawn[0].rows
        self._key += drawn[0].rows
        history = walked.history
        writer.write(STATES, state_rows(history, drawn[0]))
        writer.write(WRITES, write_rows(history, drawn[0]))
        writer.write(BOUND, self._lists.rows(source.bindings, drawn[0]))
        writer.write(LISTS, self._lists.take())
        passes = walked.finder.found.passes
        draws = (draw for one in passes for draw in one.program_draws)
        writer.write(RUN, program_rows(entry.name, draws, source))


def _driver(processes: Iterable[str], found: Passes) -> str | None:
    """The driver that made the commands, where the capture shows it.

    Fact: turnip of Mesa 25.0.7 names itself where it writes captures (RD_CMD). Of the drivers of
    a6xx and later, only the Gallium driver gives tiles the addresses of visibility streams; turnip
    and the vendor's driver give offsets (CP_SET_BIN_DATA5_OFFSET).
    """
    if "tu-dump" in processes:
        return "turnip"
    return "gallium" if found.has_absolute_streams else None


def _finding_rows(name: str, checked: Checked) -> Iterator[Row]:
    for finding in checked.findings:
        document = finding_document(finding)
        yield (
            name,
            document["id"],
            document["name"],
            document["severity"],
            document["text"],
            document["count"],
            document["pass"],
            document["draw"],
            json.dumps(document),
        )
