# SPDX-License-Identifier: MIT
"""Minimises a mutant while the command still fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable

from cffpy.container.open import open_bytes
from cffpy.errors import CffpyError
from tests.fuzz.captures import Part, file_bytes, parse


def kind_of(problem: str) -> str:
    """The identity of a failure: its text without numbers."""
    return "".join(character for character in problem if not character.isdigit())[:80]


def minimise(data: bytes, fails: Callable[[bytes], bool], seconds: float = 60) -> bytes:
    """The smallest mutant found within the time: without sections, then with shorter payloads."""
    end = time.monotonic() + seconds
    try:
        raw = bytes(open_bytes(data).data)
    except CffpyError:
        return data
    if raw != data and not fails(raw):
        return data
    parts = parse(raw)
    if not fails(file_bytes(parts)):
        return raw
    parts = _fewer(parts, fails, end)
    return file_bytes(_shorter(parts, fails, end))


def _fewer(parts: list[Part], fails: Callable[[bytes], bool], end: float) -> list[Part]:
    size = max(1, len(parts) // 2)
    while time.monotonic() < end:
        position = 0
        while position < len(parts) and time.monotonic() < end:
            fewer = parts[:position] + parts[position + size :]
            if fails(file_bytes(fewer)):
                parts = fewer
            else:
                position += size
        if size == 1:
            break
        size //= 2
    return parts


def _shorter(parts: list[Part], fails: Callable[[bytes], bool], end: float) -> list[Part]:
    for part in parts:
        size = len(part.payload) // 2 & ~3
        while size >= 4 and time.monotonic() < end:
            whole = bytes(part.payload)
            del part.payload[len(whole) - size :]
            if not fails(file_bytes(parts)):
                part.payload[:] = whole
                size = size // 2 & ~3
            size = min(size, len(part.payload) // 2 & ~3)
    return parts
