# SPDX-License-Identifier: MIT
"""Output files: written completely or not at all, and never over an input file."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from cffpy.cli.output import PagedOutput, write_all
from cffpy.errors import CffpyError
from cffpy.output_files import written_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.row_readers import BytesLike


def write_output(path: str, pieces: Iterable[BytesLike], read: Iterable[str]) -> None:
    """Write a file, or standard output for ``-``. ``read``: the files that the pieces come from.

    On failure no file is created, and an existing one is not changed. Raises CffpyError if the file
    is one of those read, or a link, OSError with the name of the file.
    """
    if path == "-":
        with PagedOutput(pager=False) as stream:
            for piece in pieces:
                write_all(stream, piece)
        return
    refuse_inputs(path, read)
    with written_file(path) as file:
        for piece in pieces:
            file.write(piece)


def write_lines_to(path: str, lines: Iterable[str], read: Iterable[str]) -> None:
    """As ``write_output``, for a text file."""
    write_output(path, (f"{line}\n".encode("utf-8", "backslashreplace") for line in lines), read)


def refuse_inputs(path: str, read: Iterable[str]) -> None:
    """Raise CffpyError if ``path`` is one of the input files, or the file of standard input."""
    for name in read:
        with suppress(OSError, ValueError, AttributeError):
            if _is_standard_input(path) if name == "-" else os.path.samefile(path, name):
                raise CffpyError(f"{path}: the output file is also an input file")


def _is_standard_input(path: str) -> bool:
    """Whether standard input is redirected from this file."""
    status = os.fstat(sys.stdin.fileno())
    return stat.S_ISREG(status.st_mode) and os.path.samestat(os.stat(path), status)


def capture_file(path: str, pieces: Iterable[BytesLike], size: int) -> Iterable[BytesLike]:
    """A capture's ``size`` bytes as stored in ``path``: compressed if its name ends in ``.gz``."""
    if not path.endswith(".gz"):
        return pieces
    from cffpy.container.writer import gzip_pieces

    return gzip_pieces(pieces, size)
