# SPDX-License-Identifier: MIT
"""The first entry of a zip or tar archive, which is what the reference reads of one."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from typing import IO

from cffpy.errors import ContainerError

_STEP = 64 << 10
_TAR_HEADERS = 1 << 20  # bytes in which a tar's first entry must have begun


def steps_of_zip(view: memoryview, name: str) -> Iterator[bytes | str]:
    """The first entry in pieces; a final ``str`` describes an error.

    Raises ContainerError if there is no readable entry.
    """
    import zipfile

    try:
        archive = zipfile.ZipFile(io.BytesIO(view))
        entries = archive.infolist()
        if not entries:
            raise ContainerError(f"{name}: the zip archive is empty")
        entry = archive.open(min(entries, key=lambda info: info.header_offset))
    except ContainerError:
        raise
    except Exception as problem:  # zipfile does not document what it raises for bad archives
        raise ContainerError(f"{name}: zip archive: {problem}") from None
    return _read_steps(entry)


def _read_steps(entry: IO[bytes]) -> Iterator[bytes | str]:
    while True:
        try:
            step = entry.read(_STEP)
        except (OSError, ValueError, EOFError, zlib.error) as problem:
            yield str(problem) or "cut short"
            return
        except Exception as problem:  # zipfile.BadZipFile: a wrong checksum, found at the end
            yield str(problem)
            return
        if not step:
            return
        yield step


def first_of_tar(view: memoryview, name: str) -> memoryview:
    """The part of ``view`` that is the first entry; not copied.

    Raises ContainerError if the first entry is not a file.
    """
    import tarfile

    try:
        with tarfile.open(fileobj=io.BytesIO(view[:_TAR_HEADERS]), mode="r:") as archive:
            entry = archive.next()
    except Exception as problem:  # tarfile does not document what it raises for bad archives
        raise ContainerError(f"{name}: tar archive: {problem}") from None
    if entry is None:
        raise ContainerError(f"{name}: the tar archive is empty")
    if not entry.isreg():
        raise ContainerError(f"{name}: the first entry of the tar archive is not a file")
    return view[entry.offset_data : entry.offset_data + entry.size]
