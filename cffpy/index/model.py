# SPDX-License-Identifier: MIT
"""The values of an index: captures to decode, tasks, their outcomes, snapshots."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from cffpy.capture.gpu import is_adreno
from cffpy.editions.folders import edition_name, resolve_edition
from cffpy.regdb import store

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")

#: The number rises when older readers cannot read the files of an index.
SCHEMA = "cffpy.index/1"

#: Names of partitions: nothing else is a folder of the index.
_PART_NAME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{8}")


class CaptureFile(NamedTuple):
    """A capture that was found. ``name``: as users see it. ``location``: absolute path or URL.

    ``member``: its path in the archive at ``location``, "" for no archive. ``size``: stored bytes.
    ``mtime``: nanoseconds since 1970. ``root``: the input by which it was found. ``known_digest``:
    of the stored bytes when they were decoded last, "" if they have to be decoded in any case.
    """

    name: str
    location: str
    member: str
    size: int
    mtime: int
    root: str
    known_digest: str = ""


class Settings(NamedTuple):
    """How the captures of an index are decoded. ``limits``: names and numbers that were chosen.

    ``register_db``: directory of an edition, None for the bundled one. ``lints``: run all lints.
    ``memory``: bytes that a worker may allocate, 0 for any number.
    """

    register_db: str | None = None
    gpu: str | None = None
    limits: tuple[tuple[str, int], ...] = ()
    lints: bool = True
    memory: int = 0

    @property
    def key(self) -> str:
        """Equal for settings that give equal rows."""
        return json.dumps([self.register_db, self.gpu, sorted(self.limits), self.lints])


class EditionNames:
    """The names of the editions that decode captures where one edition is chosen."""

    def __init__(self, register_db: str | None) -> None:
        self._register_db = register_db
        self._names: dict[int | None, str] = {}

    def of(self, generation: int | None) -> str:
        """The edition of a generation, that which is chosen where a capture shows none."""
        name = self._names.get(generation)
        if name is None:
            directory = self._register_db
            if is_adreno(generation):
                directory = store.decoding(directory, f"A{generation}XX")
            name = self._names[generation] = edition_name(resolve_edition(directory))
        return name


class Task(NamedTuple):
    """Captures that become one partition. ``url``: where the index is. ``number``: 31 bits."""

    number: int
    captures: tuple[CaptureFile, ...]
    url: str
    settings: Settings

    @property
    def bytes(self) -> int:
        """Stored bytes of its captures."""
        return sum(capture.size for capture in self.captures)


class Done(NamedTuple):
    """A task whose partition is stored. ``seconds``: processor time that it took."""

    task: Task
    captures: int
    failed: int
    seconds: float


class Lost(NamedTuple):
    """A capture that killed each worker that decoded it."""

    task: Task
    reason: str


@dataclass(slots=True)
class IndexedCapture:
    """The outcome of a capture: a row of the table ``files``.

    ``error``: why it could not be decoded, in one line, or None. ``problems``: damage, warnings and
    what limits left out. ``digest``: SHA-256 of the decompressed bytes, ``stored_digest`` of the
    stored ones. ``driver``: "turnip", "gallium"; None where the capture does not show it.
    ``seconds``: processor time. ``memory``: most bytes that the worker has used so far.
    ``first_row``, ``rows``: its draws among those of the partition.
    """

    name: str
    location: str
    member: str
    root: str
    size: int
    mtime: int
    part: str = ""
    stored_digest: str = ""
    digest: str | None = None
    gpu: str | None = None
    generation: int | None = None
    driver: str | None = None
    edition: str = ""
    settings: str = ""
    schema: str = ""
    problems: list[str] = field(default_factory=list)
    error: str | None = None
    seconds: float = 0.0
    memory: int = 0
    first_row: int = 0
    rows: int = 0
    #: In a journal: the bytes are those that were decoded before; only size and time are new.
    is_same: bool = False

    @classmethod
    def of(cls, file: CaptureFile) -> IndexedCapture:
        """The entry of a capture that was not read yet."""
        return cls(file.name, file.location, file.member, file.root, file.size, file.mtime)

    @property
    def status(self) -> str:
        """One of "failed", "damaged", "ok"."""
        return "failed" if self.error is not None else "damaged" if self.problems else "ok"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(slots=True)
class Part:
    """A partition: its folder, the number in its keys, and the rows of each table it has."""

    name: str
    number: int
    tables: dict[str, int]

    @property
    def folder(self) -> str:
        """Where it is, in the index."""
        return f"parts/{self.name}"

    def path(self, table: str) -> str:
        """The file of a table, in the index."""
        return f"{self.folder}/{table}.parquet"

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Part:
        """Raises KeyError, TypeError or ValueError for what is not a partition."""
        name = str(document["name"])
        if name and not _PART_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not the name of a partition")
        tables = {str(table): int(rows) for table, rows in dict(document["tables"]).items()}
        return cls(name, int(document["number"]), tables)


@dataclass(slots=True)
class Journal:
    """A partition that a task has finished and no snapshot has yet."""

    part: Part
    entries: list[IndexedCapture]

    def to_bytes(self) -> bytes:
        """The bytes of the journal's file."""
        document = {
            "schema": SCHEMA,
            "part": asdict(self.part),
            "entries": [entry.to_dict() for entry in self.entries],
        }
        return json.dumps(document).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Journal | None:
        """None for a file of another version, or for any other file."""
        try:
            document = json.loads(data)
            if document["schema"] != SCHEMA:
                return None
            entries = [IndexedCapture(**entry) for entry in document["entries"]]
            return cls(Part.from_document(document["part"]), entries)
        except (ValueError, KeyError, TypeError):
            return None


@dataclass(slots=True)
class Snapshot:
    """The state of an index that readers see. ``number`` rises with each build."""

    number: int
    parts: list[Part]
    #: Fingerprint of the tables that its partitions have.
    schema: str
    settings: Settings
    time: str = ""
    captures: int = 0

    def path(self, name: str) -> str:
        """A file of the snapshot, in the index."""
        return f"snapshots/{self.number:08d}/{name}"

    def to_bytes(self) -> bytes:
        """The file that makes it valid."""
        document = {
            "schema": SCHEMA,
            "tables": self.schema,
            "number": self.number,
            "time": self.time,
            "captures": self.captures,
            "settings": self.settings._asdict(),
            "parts": [asdict(part) for part in self.parts],
        }
        return json.dumps(document, indent=1).encode()

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Snapshot:
        """Raises KeyError, TypeError or ValueError for other documents."""
        settings = dict(document["settings"])
        settings["limits"] = tuple((str(name), int(n)) for name, n in settings["limits"])
        register_db = settings["register_db"]
        if register_db is not None and not isinstance(register_db, str):
            raise TypeError("the edition is not a path")
        return cls(
            int(document["number"]),
            [Part.from_document(part) for part in document["parts"]],
            str(document["tables"]),
            Settings(**settings),
            str(document["time"]),
            int(document["captures"]),
        )


class Call(Protocol):
    """Calls a function without arguments, possibly in a process of its own."""

    def __call__(self, work: Callable[[], _Result]) -> _Result:
        """What the function returns, which can be pickled; raises what it raises."""
        ...
