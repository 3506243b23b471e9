# SPDX-License-Identifier: MIT
"""Output files: each appears under its name whole or not at all, and no link is written through."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

from cffpy.errors import CffpyError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Errors of file systems that cannot sync.
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP)

#: Characters of the name of a file in that of its temporary file.
_NAME = 99


@contextmanager
def written_file(
    path: str, *, must_be_new: bool = False, has_guessed_name: bool = False
) -> Iterator[BinaryIO]:
    """A binary file that takes the name ``path`` when the block ends.

    It is written under a temporary name beside it, synced, and renamed. Where the block raises, no
    file is made, and an existing one stays as it is. An existing file keeps its mode. Devices and
    pipes are written directly, also by a link such as /dev/stdout.

    ``must_be_new``: an existing file is an error. ``has_guessed_name``: of many files with names
    that others can guess: the file takes the place of whatever has its name, and is not synced.
    Raises CffpyError for a link otherwise, OSError with ``path``.
    """
    temporary = _temporary(path)
    with _named_errors(path, temporary):
        mode = 0o666 if has_guessed_name else _mode(path, must_be_new)
        if mode is None:
            with open(path, "wb") as file:
                yield file
            return
        # must not exist, not even as a link
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(temporary, flags, mode)
        try:
            with open(descriptor, "wb") as file:
                yield file
                file.flush()
                if not has_guessed_name:
                    _sync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise


@contextmanager
def staged_output(path: str) -> Iterator[str]:
    """Where to write a file, or a folder with a slash at its end, that takes the name ``path``.

    For libraries that write files by name. The files lie in a temporary folder beside ``path``
    until the block ends, then they are synced and renamed. Where the block raises, nothing is left.
    Raises OSError with ``path``, also where it exists already.
    """
    final = path.rstrip("/" + os.sep) or path
    folder = _temporary(final)
    with _named_errors(path, folder):
        os.mkdir(folder)
        try:
            staged = os.path.join(folder, os.path.basename(final))
            yield staged + path[len(final) :]
            _sync_all(staged)
            if os.path.lexists(final):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
            os.rename(staged, final)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _temporary(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name[:_NAME]}.{os.getpid()}")


@contextmanager
def _named_errors(path: str, temporary: str) -> Iterator[None]:
    """Errors of the temporary file name the output."""
    try:
        yield
    except OSError as problem:
        name = problem.filename
        if name is None or (isinstance(name, str) and name.startswith(temporary)):
            problem.filename = path
        raise


def _mode(path: str, must_be_new: bool) -> int | None:
    """The mode of a regular file or of a new one; None for devices and pipes."""
    try:
        status: os.stat_result | None = os.stat(path)
    except FileNotFoundError:
        status = None
    if status is not None and not stat.S_ISREG(status.st_mode):
        return None
    if os.path.islink(path):
        raise CffpyError(f"{path} is a link: name the file itself, {os.path.realpath(path)}")
    if status is None:
        return 0o666
    if must_be_new:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    return stat.S_IMODE(status.st_mode)


def _sync_all(path: str) -> None:
    """Sync a file, or the files of a folder."""
    folders = os.walk(path) if os.path.isdir(path) else [("", (), (path,))]
    for folder, _, names in folders:
        for name in names:
            descriptor = os.open(os.path.join(folder, name), os.O_RDWR)
            try:
                _sync(descriptor)
            finally:
                os.close(descriptor)


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as problem:
        if problem.errno not in _NO_SYNC:
            raise
