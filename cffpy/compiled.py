# SPDX-License-Identifier: MIT
"""Compiled descriptions: built once from their sources and cached, loaded in milliseconds.

A compiled file is a header and one part per generation; only the requested part is read. In a
wheel it is included and trusted. In a checkout, or for another edition, it is in the user's cache
directory; it is used as long as names, sizes and times of the sources are unchanged, or else their
content is. If anything is wrong with a cached file, the descriptions are compiled again. Deleting
the cache is always safe.

Header and parts are marshal data. That is not safe against manipulated data, so a cached file is
used only if nobody else could have written it: file and directory belong to the user, and no one
else may write to them. Checksums, verified first, detect accidental damage. The directory is
created with mode 0700; files are written to a temporary name and renamed.
"""

from __future__ import annotations

import marshal
import os
import sys
import zlib

from cffpy._data import data_path, is_checkout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from io import FileIO
    from typing import Any

_MAGIC = b"CFFPYDB3"
_FIXED = len(_MAGIC) + 8  # the magic, the header's length and its checksum
_FIRST_READ = 4096  # bytes; mostly holds the whole header
_MAX_HEADER = 1 << 20

_OTHERS_MAY_WRITE = 0o022


def cache_directory() -> str | None:
    """The user's cache directory for cffpy, or None where ``CFFPY_CACHE=off``."""
    chosen = os.environ.get("CFFPY_CACHE", "")
    if chosen == "off":
        return None
    if chosen:
        return chosen
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # the XDG specification: a relative path is ignored
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "cffpy")


def packaged_path(kind: str) -> str:
    """Path of the compiled descriptions of this kind in a wheel."""
    return data_path("compiled", f"{kind}.bin")


def load(
    kind: str,
    schema: int,
    sources: Sequence[str],
    compile_sources: Callable[[], Mapping[str, bytes]],
    part: str,
) -> bytes | None:
    """A part of the compiled form of ``sources`` (paths): cached, or by ``compile_sources``.

    ``kind``: "registers" or "isa". ``schema``: version of the compiled format, to be raised when it
    changes. Returns None if the part does not exist.
    """
    directory = cache_directory()
    if directory is None:
        return compile_sources().get(part)
    problem = _problem_of(directory)
    if problem is not None:
        _warn(directory, problem)
        return compile_sources().get(part)
    signature = _signature(sources)
    where = zlib.crc32("\0".join([os.path.abspath(path) for path in sources]).encode())
    path = os.path.join(directory, f"{kind}-{where:08x}.bin")
    cached = _CompiledFile.open(path, schema)
    if cached is not None:
        fresh = cached.header["signature"] == signature
        if fresh or cached.header["digest"] == _digest(sources):
            parts = cached.parts([part] if fresh else list(cached.header["parts"]))
            if parts is not None:
                if not fresh:
                    _write(path, schema, signature, cached.header["digest"], parts)
                return parts.get(part)
    compiled = compile_sources()
    _write(path, schema, signature, _digest(sources), compiled)
    return compiled.get(part)


def load_packaged(kind: str, schema: int, part: str) -> bytes | None:
    """A part of the compiled form in the wheel; empty if the form has no such part.

    None in a checkout and for another Python than the wheel was built with: there is no form.
    """
    if is_checkout():
        return None
    cached = _CompiledFile.open(packaged_path(kind), schema, is_built_in=True)
    parts = None if cached is None else cached.parts([part])
    return None if parts is None else parts.get(part, b"")


def write_packaged(path: str, schema: int, parts: Mapping[str, bytes]) -> None:
    """Write the compiled form for a wheel (called by the build)."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(_file_bytes(schema, [], "", parts))


class _CompiledFile:
    """A compiled file with a valid header."""

    def __init__(self, path: str, header: dict[str, Any], start: int, is_built_in: bool) -> None:
        self.path = path
        self.header = header
        #: Byte offset of the first part.
        self._start = start
        self._is_built_in = is_built_in

    @classmethod
    def open(cls, path: str, schema: int, is_built_in: bool = False) -> _CompiledFile | None:
        """The file, or None where it is missing, damaged, of another schema or Python, or where
        others may have written it, unless it ``is_built_in``.
        """
        try:
            with _open(path, is_built_in) as file:
                data = file.read(_FIRST_READ)
                if len(data) < _FIXED or data[: len(_MAGIC)] != _MAGIC:
                    return None
                size = int.from_bytes(data[len(_MAGIC) : _FIXED - 4], "little")
                checksum = int.from_bytes(data[_FIXED - 4 : _FIXED], "little")
                start = _FIXED + size
                if size > _MAX_HEADER:
                    return None
                if start > len(data):
                    data += file.read(start - len(data))
            if zlib.crc32(data[_FIXED:start]) != checksum:
                return None
            header = marshal.loads(data[_FIXED:start])
            if header["schema"] != schema or header["python"] != sys.implementation.cache_tag:
                return None
            if header.keys() != _HEADER_KEYS:
                return None
        except (OSError, ValueError, EOFError, TypeError, KeyError, AttributeError):
            return None
        return cls(path, header, start, is_built_in)

    def parts(self, names: Sequence[str]) -> dict[str, bytes] | None:
        """The existing ones of the named parts; None if one is damaged."""
        found = {}
        try:
            with _open(self.path, self._is_built_in) as file:
                end = os.fstat(file.fileno()).st_size
                for name in names:
                    place = self.header["parts"].get(name)
                    if place is None:
                        continue
                    offset, length, checksum = place
                    if self._start + offset + length > end:
                        return None
                    file.seek(self._start + offset)
                    data = file.read(length)
                    if zlib.crc32(data) != checksum:
                        return None
                    found[name] = data
        except (OSError, ValueError, TypeError, AttributeError):
            return None
        return found


_HEADER_KEYS = {"schema", "python", "signature", "digest", "parts"}


def _open(path: str, is_built_in: bool) -> FileIO:
    """Open a compiled file for reading. Raises OSError where others may have written it."""
    if is_built_in:
        return open(path, "rb", buffering=0)
    # O_NONBLOCK: opening a FIFO would wait forever
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    file = open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb", buffering=0)  # noqa: SIM115 - the caller closes it
    status = os.fstat(file.fileno())
    # 0o100000: a regular file; importing the module stat takes half a millisecond
    if status.st_mode & 0o170000 != 0o100000 or not _only_ours(status):
        file.close()
        raise PermissionError(path)
    return file


class CacheWarning(UserWarning):
    """The cache directory cannot be used, so descriptions are compiled at each start."""


def _warn(directory: str, problem: str) -> None:
    import warnings  # lazy: only where something is wrong

    text = f"{directory}: {problem}: the cache is not used, descriptions are compiled at each start"
    hint = "CFFPY_CACHE names another directory, or off"
    warnings.warn(f"{text} ({hint})", CacheWarning, stacklevel=2)


def _problem_of(directory: str) -> str | None:
    """Why a cache directory cannot be trusted, or None: others may create files there.

    A missing directory will be created for the user alone.
    """
    try:
        status = os.stat(directory)
    except FileNotFoundError:
        return None
    except OSError as problem:
        return problem.strerror or str(problem)
    return None if _only_ours(status) else "other users may write to it"


def _only_ours(status: os.stat_result) -> bool:
    if not hasattr(os, "geteuid"):
        return True  # Windows: access lists protect the profile
    return status.st_uid == os.geteuid() and not status.st_mode & _OTHERS_MAY_WRITE


def _signature(sources: Sequence[str]) -> list[tuple[str, int, int]]:
    """Names, sizes and times of the sources."""
    found = []
    for path in sources:
        status = os.stat(path)
        found.append((os.path.abspath(path), status.st_size, status.st_mtime_ns))
    return found


def _digest(sources: Sequence[str]) -> str:
    import hashlib  # lazy: OpenSSL costs 10 ms, and most starts need no digest

    digest = hashlib.sha256()
    for path in sources:
        with open(path, "rb") as file:
            content = file.read()
        digest.update(f"{os.path.basename(path)} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _file_bytes(
    schema: int,
    signature: list[tuple[str, int, int]],
    digest: str,
    parts: Mapping[str, bytes],
) -> bytes:
    places = {}
    offset = 0
    for name, data in parts.items():
        places[name] = (offset, len(data), zlib.crc32(data))
        offset += len(data)
    header = marshal.dumps(
        {
            "schema": schema,
            "python": sys.implementation.cache_tag,
            "signature": signature,
            "digest": digest,
            "parts": places,
        }
    )
    sizes = len(header).to_bytes(4, "little") + zlib.crc32(header).to_bytes(4, "little")
    return b"".join([_MAGIC, sizes, header, *parts.values()])


def _write(
    path: str,
    schema: int,
    signature: list[tuple[str, int, int]],
    digest: str,
    parts: Mapping[str, bytes],
) -> None:
    import tempfile  # lazy: most starts write nothing

    directory = os.path.dirname(path)
    temporary = ""
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        # a new name, mode 0600
        descriptor, temporary = tempfile.mkstemp(
            prefix=f".{os.path.basename(path)}.", dir=directory
        )
        with open(descriptor, "wb") as file:
            file.write(_file_bytes(schema, signature, digest, parts))
        os.replace(temporary, path)
        temporary = ""
    except OSError as problem:  # a read-only home only costs speed
        _warn(directory, problem.strerror or str(problem))
    finally:  # also after Ctrl-C
        if temporary:
            from contextlib import suppress

            with suppress(OSError):
                os.unlink(temporary)
