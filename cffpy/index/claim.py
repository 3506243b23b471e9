# SPDX-License-Identifier: MIT
"""The claim of a builder on an index: only one builds it at a time.

Locally the claim is a lock that the system releases when the process ends for any reason. In an
object store it is an object with a token and a time. It is valid for ten minutes after its last
renewal, and is checked again before a snapshot is published.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cffpy.errors import CaptureIndexError
from cffpy.index.storage import LocalStorage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.index.storage import Storage

_NAME = "claim.json"

#: Seconds for which a claim in an object store is valid, and after which it is renewed.
_LIFETIME, _RENEWAL = 600.0, 60.0
#: Seconds after which a claim is read back: of two made at the same time, the later one is valid.
_SETTLING = 1.0


@contextmanager
def claimed(storage: Storage, now: Callable[[], float] = time.time) -> Iterator[Callable[[], None]]:
    """Hold the claim; yields a function that renews it, to be called regularly.

    Raises CaptureIndexError where another builder has it, also from the function.
    """
    held = _local(storage) if isinstance(storage, LocalStorage) else _remote(storage, now)
    with held as renew:
        yield renew


@contextmanager
def _local(storage: LocalStorage) -> Iterator[Callable[[], None]]:
    try:
        os.makedirs(storage.url, exist_ok=True)
        file = open(storage.path("lock"), "a+b")  # noqa: SIM115 - open as long as the lock is held
    except OSError as problem:
        raise CaptureIndexError(f"{storage.url}: {problem.strerror or problem}") from None
    with file:
        if not _lock(file.fileno()):
            raise CaptureIndexError(f"{storage.url}: another process builds this index")
        yield _nothing


def _nothing() -> None:
    """A local lock needs no renewal."""


def _lock(handle: int) -> bool:
    """Lock a file without waiting; False where another process has locked it."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _remote(storage: Storage, now: Callable[[], float]) -> Iterator[Callable[[], None]]:
    token = secrets.token_hex(8)
    known = _read(storage)
    if known is not None and now() - known[1] < _LIFETIME:
        raise _taken(storage, known[2])
    renewed = now()

    def write() -> None:
        nonlocal renewed
        renewed = now()
        document = {"token": token, "time": renewed, "host": socket.gethostname()}
        storage.write(_NAME, json.dumps(document).encode())

    def renew() -> None:
        if now() - renewed < _RENEWAL:
            return
        check()
        write()

    def check() -> None:
        found = _read(storage)
        if found is None or found[0] != token:
            raise _taken(storage, "" if found is None else found[2])

    write()
    time.sleep(_SETTLING)
    check()
    try:
        yield renew
    finally:
        found = _read(storage)
        if found is not None and found[0] == token:
            storage.delete(_NAME)


def _taken(storage: Storage, host: str) -> CaptureIndexError:
    where = f" on {host}" if host else ""
    return CaptureIndexError(f"{storage.url}: another process{where} builds this index")


def _read(storage: Storage) -> tuple[str, float, str] | None:
    """Token, time and host of the claim; None without one."""
    data = storage.read(_NAME)
    if data is None:
        return None
    try:
        document = json.loads(data)
        return str(document["token"]), float(document["time"]), str(document["host"])
    except (ValueError, KeyError, TypeError):
        return None
