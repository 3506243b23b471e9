# SPDX-License-Identifier: MIT
"""Compiled descriptions: built once from their sources, kept by content, loaded in milliseconds.

A compiled file is a header, then the compiled bytes. In a wheel it is built in and trusted. In a
checkout, or for a user's own descriptions, it lies in the user's cache directory; it is used while
the sources have the names, sizes and times that they had, or, failing that, the same content.
Anything odd about a cached file means: compile anew. Deleting the cache is always safe.

No pickle: the payload is marshal data, read only from the package or the user's own 0700 directory.
"""

from __future__ import annotations

import marshal
import os
import sys
import zlib
from collections.abc import Callable, Sequence

from cffpy._data import data_path, is_checkout

_MAGIC = b"CFFPYDB1"

Signature = list[tuple[str, int, int]]


def cache_directory() -> str | None:
    """The user's cache directory for cffpy, or None where ``CFFPY_CACHE=off``."""
    chosen = os.environ.get("CFFPY_CACHE", "")
    if chosen == "off":
        return None
    if chosen:
        return chosen
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "cffpy")


def packaged_path(kind: str) -> str:
    """Where a wheel keeps the compiled form of its own descriptions of this kind."""
    return data_path("compiled", f"{kind}.bin")


def load(
    kind: str, schema: int, sources: Sequence[str], compile_sources: Callable[[], bytes]
) -> bytes:
    """The compiled form of ``sources`` (paths): from the cache, or made by ``compile_sources``.

    ``kind`` names the sort of description ("registers", "isa"); ``schema`` is the number of the
    compiled form's layout, raised when it changes.
    """
    directory = cache_directory()
    if directory is None:
        return compile_sources()
    signature = _signature(sources)
    where = zlib.crc32("\0".join(os.path.abspath(path) for path in sources).encode())
    path = os.path.join(directory, f"{kind}-{where:08x}.bin")
    cached = _read(path, schema)
    if cached is not None:
        header, payload = cached
        if header["signature"] == signature:
            return payload
        if header["digest"] == _digest(sources):
            _write(path, schema, signature, header["digest"], payload)
            return payload
    payload = compile_sources()
    _write(path, schema, signature, _digest(sources), payload)
    return payload


def load_packaged(kind: str, schema: int) -> bytes | None:
    """The compiled form that came with the wheel, or None (a checkout, or another Python)."""
    if is_checkout():
        return None
    cached = _read(packaged_path(kind), schema)
    return None if cached is None else cached[1]


def write_packaged(path: str, schema: int, payload: bytes) -> None:
    """Write the compiled form that a wheel carries (called by the build)."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(_file_bytes(schema, [], "", payload))


def _signature(sources: Sequence[str]) -> Signature:
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


def _file_bytes(schema: int, signature: Signature, digest: str, payload: bytes) -> bytes:
    header = marshal.dumps(
        {
            "schema": schema,
            "python": sys.implementation.cache_tag,
            "signature": signature,
            "digest": digest,
            "crc": zlib.crc32(payload),
        }
    )
    return _MAGIC + len(header).to_bytes(4, "little") + header + payload


def _read(path: str, schema: int) -> tuple[dict[str, object], bytes] | None:
    try:
        with open(path, "rb") as file:
            data = file.read()
        if data[:8] != _MAGIC:
            return None
        end = 12 + int.from_bytes(data[8:12], "little")
        header = marshal.loads(data[12:end])
        if header["schema"] != schema or header["python"] != sys.implementation.cache_tag:
            return None
        payload = data[end:]
        if header["crc"] != zlib.crc32(payload):
            return None
        return header, payload
    except (OSError, ValueError, EOFError, TypeError, KeyError):
        return None


def _write(path: str, schema: int, signature: Signature, digest: object, payload: bytes) -> None:
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(_file_bytes(schema, signature, str(digest), payload))
        os.replace(temporary, path)
    except OSError:
        return  # a read-only home only costs speed
