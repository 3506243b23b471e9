# SPDX-License-Identifier: MIT
"""Where the files of an index are: a local folder, or any path that fsspec knows.

A file appears as a whole or not at all: locally it is written under another name, synchronised and
renamed; an object store makes an object visible when it is complete.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from cffpy.errors import CaptureIndexError, MissingLibrary

if TYPE_CHECKING:
    from collections.abc import Iterator


class Storage(Protocol):
    """The files of an index, by names such as ``parts/1a2b/draws.parquet``.

    All methods raise CaptureIndexError where the file system fails.
    """

    #: The path or URL, and for pyarrow: None, or the file system of fsspec.
    url: str
    filesystem: Any

    def path(self, name: str) -> str:
        """The path of a file, for ``filesystem``."""
        ...

    def names(self, folder: str) -> list[str]:
        """Names of the files and folders in a folder, sorted; empty where it is not there."""
        ...

    def read(self, name: str) -> bytes | None:
        """The bytes of a file; None where it is not there."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Write or replace a file."""
        ...

    def put(self, path: str, name: str) -> None:
        """Move a local file here."""
        ...

    def put_folder(self, path: str, name: str) -> None:
        """Move a local folder of files here."""
        ...

    def delete(self, name: str) -> None:
        """Delete a file or a folder; nothing happens where it is not there."""
        ...

    def scratch(self) -> Any:  # noqa: ANN401
        """A context manager: a local folder for files that ``put`` takes."""
        ...


def is_url(path: str) -> bool:
    """Whether a path is one for fsspec."""
    return "://" in path


def is_index(path: str) -> bool:
    """Whether a path is that of an index: a folder with snapshots."""
    if is_url(path):
        return bool(storage_at(path).names("snapshots"))
    return os.path.isdir(os.path.join(path, "snapshots")) and os.path.exists(
        os.path.join(path, "lock")
    )


def url_opener(url: str) -> Any:  # noqa: ANN401 - a function of fsspec
    """``url_to_fs`` of fsspec. Raises MissingLibrary for this URL."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingLibrary.of(f"{url}: this needs", "fsspec", "cluster") from None
    return url_to_fs


def storage_at(path: str) -> Storage:
    """The storage of a path. Raises MissingLibrary for a URL without fsspec."""
    if path.startswith("file://"):
        path = path[len("file://") :]
    return RemoteStorage(path) if is_url(path) else LocalStorage(path)


@contextmanager
def reported(path: str) -> Iterator[None]:
    """Raise CaptureIndexError for errors of the file system, with the path."""
    try:
        yield
    except OSError as problem:
        # pyarrow's text has several sentences
        text = os.strerror(problem.errno) if problem.errno else str(problem)
        raise CaptureIndexError(f"{path}: {text}") from problem


class LocalStorage:
    """A folder of this machine, in which files appear whole."""

    filesystem = None

    def __init__(self, folder: str) -> None:
        self.url = os.path.abspath(folder)

    def path(self, name: str) -> str:
        """The path of a file of the folder."""
        return os.path.join(self.url, name)

    def names(self, folder: str) -> list[str]:
        """The names in a folder; none where there is no such folder."""
        path = self.path(folder)
        with reported(path):
            try:
                return sorted(os.listdir(path))
            except (FileNotFoundError, NotADirectoryError):
                return []

    def read(self, name: str) -> bytes | None:
        """The bytes of a file; None where it is not there."""
        path = self.path(name)
        with reported(path):
            try:
                with open(path, "rb") as file:
                    return file.read()
            except (FileNotFoundError, NotADirectoryError):
                return None

    def write(self, name: str, data: bytes) -> None:
        """Write a file beside its place, then move it there: readers see the old or the new one."""
        with self.scratch() as folder:
            temporary = os.path.join(folder, "file")
            with reported(self.path(name)), open(temporary, "wb") as file:
                file.write(data)
            self.put(temporary, name)

    def put(self, path: str, name: str) -> None:
        """Synchronise and rename a file. ``path`` is in the folder of ``scratch``."""
        target = self.path(name)
        with reported(target):
            _synchronise(path, os.O_RDWR)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.replace(path, target)
            _synchronise(os.path.dirname(target), os.O_RDONLY)

    def put_folder(self, path: str, name: str) -> None:
        """Synchronise and rename a folder. ``path`` is in the folder of ``scratch``."""
        target = self.path(name)
        with reported(target):
            for file in os.listdir(path):
                _synchronise(os.path.join(path, file), os.O_RDWR)
            _synchronise(path, os.O_RDONLY)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.replace(path, target)
            _synchronise(os.path.dirname(target), os.O_RDONLY)

    def delete(self, name: str) -> None:
        """Delete a file or a folder; a link itself, not what it leads to."""
        path = self.path(name)
        with reported(path):
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            elif os.path.lexists(path):
                os.remove(path)

    @contextmanager
    def scratch(self) -> Iterator[str]:
        """A folder of the same file system, so that files can be renamed."""
        folder = os.path.join(self.url, "scratch", os.urandom(8).hex())
        with reported(folder):
            os.makedirs(folder)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _synchronise(path: str, flags: int) -> None:
    """Fsync a file; of a folder, where the system can."""
    try:
        handle = os.open(path, flags)
    except PermissionError:
        if flags == os.O_RDONLY:  # Windows opens no folders
            return
        raise
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class RemoteStorage:
    """A folder of a file system of fsspec."""

    def __init__(self, url: str) -> None:
        url_to_fs = url_opener(url)
        self.url = url.rstrip("/")
        try:
            self.filesystem, self._root = url_to_fs(self.url)
        except (ValueError, ImportError, OSError) as problem:
            raise CaptureIndexError(f"{url}: {problem}") from None

    def path(self, name: str) -> str:
        """The path of a file below the root, as the file system takes it."""
        return f"{self._root}/{name}"

    def names(self, folder: str) -> list[str]:
        """The names in a folder as the store has them now; fsspec would remember older ones."""
        path = self.path(folder)
        with reported(path):
            try:
                self.filesystem.invalidate_cache()
                paths = self.filesystem.ls(path, detail=False)
            except (FileNotFoundError, NotADirectoryError):
                return []
        return sorted(one.rstrip("/").rpartition("/")[2] for one in paths)

    def read(self, name: str) -> bytes | None:
        """The bytes of an object; None where it is not there."""
        path = self.path(name)
        with reported(path):
            try:
                data: bytes = self.filesystem.cat_file(path)
                return data
            except FileNotFoundError:
                return None

    def write(self, name: str, data: bytes) -> None:
        """Write an object in one piece."""
        path = self.path(name)
        with reported(path):
            self.filesystem.makedirs(path.rpartition("/")[0], exist_ok=True)
            self.filesystem.pipe_file(path, data)

    def put(self, path: str, name: str) -> None:
        """Upload a local file, which stays where it is."""
        target = self.path(name)
        with reported(target):
            self.filesystem.makedirs(target.rpartition("/")[0], exist_ok=True)
            self.filesystem.put_file(path, target)

    def put_folder(self, path: str, name: str) -> None:
        """Upload the files of a folder, one after the other."""
        for file in os.listdir(path):
            self.put(os.path.join(path, file), f"{name}/{file}")

    def delete(self, name: str) -> None:
        """Delete an object, or all below a folder."""
        path = self.path(name)
        with reported(path):
            try:
                self.filesystem.rm(path, recursive=True)
            except FileNotFoundError:
                return

    @contextmanager
    def scratch(self) -> Iterator[str]:
        """A temporary folder of this machine, from which files are uploaded."""
        import tempfile  # lazily: commands ask of each file whether it is an index

        with tempfile.TemporaryDirectory(prefix="cffpy-index-") as folder:
            yield folder
