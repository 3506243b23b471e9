# SPDX-License-Identifier: MIT
"""Output files: written completely or not at all, and never over an input file."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

from cffpy.cli.output import PagedOutput, write_all
from cffpy.errors import CffpyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.layout import BytesLike


def write_output(path: str, pieces: Iterable[BytesLike], read: Iterable[str]) -> None:
    """Write a file, or standard output for ``-``. ``read``: the files that the pieces come from.

    On failure no file is created, and an existing one is not changed. Raises CffpyError if the file
    is one of those read, OSError with the name of the file.
    """
    if path == "-":
        with PagedOutput(pager=False) as stream:
            for piece in pieces:
                write_all(stream, piece)
        return
    refuse_inputs(path, read)
    with _replacing(path) as file:
        for piece in pieces:
            file.write(piece)


def write_lines_to(path: str, lines: Iterable[str], read: Iterable[str]) -> None:
    """As ``write_output``, for a text file."""
    write_output(path, (f"{line}\n".encode("utf-8", "backslashreplace") for line in lines), read)


def refuse_inputs(path: str, read: Iterable[str]) -> None:
    """Raise CffpyError if ``path`` is one of the input files."""
    for name in read:
        with suppress(OSError, ValueError):
            if name != "-" and os.path.samefile(path, name):
                raise CffpyError(f"{path}: the output file is also an input file")


def capture_file(path: str, data: BytesLike) -> BytesLike:
    """A capture's bytes as stored in ``path``: compressed if its name ends in ``.gz``."""
    if not path.endswith(".gz"):
        return data
    from cffpy.container.writer import gzip_bytes

    return gzip_bytes(data)


@contextmanager
def _replacing(path: str) -> Iterator[BinaryIO]:
    """A temporary file that replaces ``path`` at the end; devices are written directly."""
    path = os.path.realpath(path)
    mode = 0o666
    try:
        status = os.stat(path)
    except FileNotFoundError:
        pass
    else:
        if not stat.S_ISREG(status.st_mode):
            with open(path, "wb") as file:
                yield file
            return
        if not os.access(path, os.W_OK):
            raise PermissionError(13, os.strerror(13), path)
        mode = stat.S_IMODE(status.st_mode)
    temporary = os.path.join(os.path.dirname(path), f".{os.path.basename(path)[:99]}.{os.getpid()}")
    try:
        # must not exist, not even as a link
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(temporary, flags, mode)
    except OSError as problem:
        problem.filename = path
        raise
    try:
        with open(descriptor, "wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException as problem:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(problem, OSError) and problem.filename in (None, temporary):
            problem.filename = path
        raise
