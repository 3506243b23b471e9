# SPDX-License-Identifier: MIT
"""The captures of an index build: in folders, archives, lists, by globs; each once."""

from __future__ import annotations

import glob
import os
import tarfile
import zipfile
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cffpy.container.kinds import is_capture_name, is_special_file
from cffpy.errors import CaptureIndexError
from cffpy.index.model import CaptureFile
from cffpy.index.storage import is_url, url_opener
from cffpy.tables.writers import clean_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")

#: Between the path of an archive and that of a capture in it.
MEMBER_MARK = "!"

#: Captures of an archive; bytes that are decompressed to list them; bytes of a list of files.
_MOST_MEMBERS, _MOST_BYTES, _MOST_LIST = 1 << 20, 1 << 36, 1 << 30


@dataclass(slots=True)
class Found:
    """The captures of inputs. ``problems``: paths that could not be read, and why.

    ``unread``: prefixes of locations that could not be listed.
    """

    files: list[CaptureFile] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def find_captures(inputs: Iterable[str | os.PathLike[str]]) -> Found:
    """The captures of inputs, in their order, each location once.

    An input is a capture, a folder (its captures and archives, and those below), a zip or tar
    archive, a glob, a URL that fsspec knows, or ``@LIST``: a file with an input in each line.
    """
    found = Found()
    seen: set[tuple[str, str]] = set()
    for given in inputs:
        root = os.fspath(given)
        found.roots.append(root)
        for file in _of_input(root, root, found):
            key = file.location, file.member
            if key not in seen:
                seen.add(key)
                found.files.append(file)
    return found


def is_archive(path: str) -> bool:
    """Whether a file is an archive of captures, by its name."""
    folded = path.lower()
    if is_capture_name(os.path.basename(folded)):
        return False  # x.rd.zip is a capture
    return folded.endswith((".zip", *_TAR_SUFFIXES))


def _of_input(path: str, root: str, found: Found) -> Iterator[CaptureFile]:
    if path.startswith("@"):
        yield from _of_list(path[1:], root, found)
    elif is_url(path):
        yield from _of_url(path, root, found)
    elif os.path.isdir(path):
        yield from _of_folder(path, root, found)
    elif not os.path.lexists(path) and glob.has_magic(path):
        for match in sorted(glob.glob(path, recursive=True)):
            yield from _of_input(match, root, found)
    else:
        yield from _of_file(path, root, found)


def _of_list(path: str, root: str, found: Found) -> Iterator[CaptureFile]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read(_MOST_LIST).splitlines()
    except OSError as problem:
        _unread(path, problem, found)
        found.unread.append("")  # it is not known which captures it named
        return
    for line in lines:
        if line.strip() and not line.startswith("@"):
            yield from _of_input(line.strip(), root, found)


def _of_folder(path: str, root: str, found: Found) -> Iterator[CaptureFile]:
    def failed(problem: OSError) -> None:
        _unread(str(problem.filename or path), problem, found)

    for folder, folders, names in os.walk(path, onerror=failed):
        folders.sort()
        for name in sorted(names):
            entry = os.path.join(folder, name)
            if (is_capture_name(name) or is_archive(name)) and not is_special_file(entry):
                yield from _of_file(entry, root, found)


def _of_file(path: str, root: str, found: Found) -> Iterator[CaptureFile]:
    try:
        status = os.stat(path)
    except (OSError, ValueError) as problem:
        _unread(path, problem, found)
        # a file that is named has an entry, even if it cannot be read
        yield CaptureFile(clean_text(path), os.path.realpath(path), "", 0, 0, root)
        return
    location = os.path.realpath(path)
    if is_archive(path):
        yield from _members(path, location, status.st_mtime_ns, root, found)
    else:
        yield CaptureFile(clean_text(path), location, "", status.st_size, status.st_mtime_ns, root)


def _unread(path: str, problem: Exception, found: Found) -> None:
    found.problems.append((path, getattr(problem, "strerror", None) or str(problem)))
    found.unread.append(os.path.realpath(path))


def _members(
    path: str, location: str, mtime: int, root: str, found: Found
) -> Iterator[CaptureFile]:
    try:
        for name, size in list_archive(location):
            shown = f"{path}{MEMBER_MARK}{name}"
            yield CaptureFile(clean_text(shown), location, name, size, mtime, root)
    except Exception as problem:  # zipfile and tarfile do not document what they raise
        _unread(path, problem, found)


def list_archive(location: str) -> Iterator[tuple[str, int]]:
    """Paths and sizes of the captures in an archive, in the order in which they are stored."""
    count = 0
    for name, size, position in _entries(location):
        if position > _MOST_BYTES or count >= _MOST_MEMBERS:
            raise CaptureIndexError("the archive is too large: the rest is ignored")
        if is_capture_name(os.path.basename(name)):
            count += 1
            yield name, size


def _entries(location: str) -> Iterator[tuple[str, int, int]]:
    """Path, size and position of each file in an archive."""
    if location.lower().endswith(".zip"):
        with zipfile.ZipFile(location) as archive:
            for one in sorted(archive.infolist(), key=lambda entry: entry.header_offset):
                if not one.is_dir():
                    yield one.filename, one.file_size, one.header_offset
        return
    with tarfile.open(location) as tar:
        while (member := tar.next()) is not None:
            tar.members.clear()  # type: ignore[attr-defined] # all of them are not kept in memory
            if member.isreg():
                yield member.name, member.size, member.offset


def _of_url(url: str, root: str, found: Found) -> Iterator[CaptureFile]:
    url_to_fs = url_opener(url)
    try:
        filesystem, path = url_to_fs(url)
        known = filesystem.find(path, detail=True)
    except Exception as problem:  # each file system has exceptions of its own
        _unread(url, problem, found)
        return
    for object_name, info in sorted(known.items()):
        if object_name == path or is_capture_name(object_name.rpartition("/")[2]):
            location = str(filesystem.unstrip_protocol(object_name))
            yield CaptureFile(
                clean_text(location), location, "", int(info.get("size") or 0), _changed(info), root
            )


def _changed(info: dict[str, Any]) -> int:
    """When an object was changed, in nanoseconds; 0 where its file system has no time."""
    for name in ("mtime", "LastModified", "last_modified", "updated", "created"):
        value = info.get(name)
        if isinstance(value, int | float):
            return int(value * 1e9)
        if isinstance(value, datetime):
            return int(value.timestamp() * 1e9)
    return 0
