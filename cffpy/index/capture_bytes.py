# SPDX-License-Identifier: MIT
"""Reads the stored bytes of captures: files, members of archives, objects of fsspec."""

from __future__ import annotations

import os
import tarfile
import zipfile
from typing import IO, TYPE_CHECKING, Any

from cffpy.errors import ContainerError
from cffpy.index.storage import is_url
from cffpy.limits import hint

if TYPE_CHECKING:
    from types import TracebackType

    from cffpy.index.model import CaptureFile


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
        found = self._archive.extractfile(file.member)
        if found is None:
            raise ContainerError(f"{file.name}: it is not a file")
        stream: IO[bytes] = found
        return stream

    def _close(self) -> None:
        if self._archive is not None:
            self._archive.close()
        self._archive, self._opened = None, ""
