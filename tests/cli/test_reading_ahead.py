# SPDX-License-Identifier: MIT
"""A capture that a thread opens while modules are imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from cffpy.cli.reading_ahead import ReadingAhead, read_ahead
from cffpy.errors import ContainerError
from cffpy.limits import Limits


def test_a_thread_opens_large_files_only(tmp_path: Path) -> None:
    """For a small one, two threads that take turns lose more time than it takes."""
    small, large = tmp_path / "small.rd", tmp_path / "large.rd"
    small.write_bytes(bytes(1000))
    large.write_bytes(bytes(100_000))
    assert read_ahead(str(small), Limits()) is None
    assert read_ahead(str(tmp_path), Limits()) is None
    assert read_ahead("-", Limits()) is None
    reading = read_ahead(str(large), Limits())
    assert reading is not None
    assert len(reading.take().data) == 100_000


def test_an_error_is_raised_where_the_capture_is_taken(tmp_path: Path) -> None:
    reading = ReadingAhead(str(tmp_path / "none.rd"), Limits())
    with pytest.raises(ContainerError, match="No such file"):
        reading.take()
