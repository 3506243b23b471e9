# SPDX-License-Identifier: MIT
"""Sections found among other bytes; without other bytes, the same as the reader finds."""

from __future__ import annotations

import time

import pytest

from cffpy.container.layouts import RESYNC_MARKER
from cffpy.container.rd import Section, iter_sections
from cffpy.container.resync import Junk, find_sections
from tests.analysis.test_edits import frame
from tests.selection import first_always

MARKED = RESYNC_MARKER + frame() + RESYNC_MARKER


def places(data: bytes | memoryview) -> list[tuple[int, int, int]]:
    return [(one.type, one.offset, len(one.payload)) for one in iter_sections(data)]


def found(data: bytes | memoryview) -> list[tuple[int, int, int]]:
    parts = list(find_sections(data))
    return [(one.type, one.offset, len(one.payload)) for one in parts if isinstance(one, Section)]


@pytest.mark.parametrize("data", [frame(), MARKED, frame()[:-7], frame()[:-30], frame() + bytes(8)])
def test_as_the_reader(data: bytes) -> None:
    assert found(data) == places(data)


def test_an_unknown_section_passes_if_a_known_one_follows() -> None:
    unknown = b"\x63\0\0\0\4\0\0\0abcd"
    assert found(unknown + frame()) == places(unknown + frame())
    (junk,) = find_sections(unknown)
    assert isinstance(junk, Junk)
    assert (junk.offset, junk.end) == (0, len(unknown))


@pytest.mark.parametrize(
    "pattern",
    first_always([b"\0", b"\3\0\0\0\x0c\0\0\0", b"\1\0\0\0", b"\x0c\0\0\0\xff\xff\xff\0"]),
)
def test_time_is_linear(pattern: bytes) -> None:
    """Headers without a valid successor: half a megabyte takes seconds at most."""
    data = (pattern * (1 << 19))[: 1 << 19]
    start = time.process_time()
    for _ in find_sections(data):
        pass
    assert time.process_time() - start < 20
