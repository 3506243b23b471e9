# SPDX-License-Identifier: MIT
"""A capture that a thread opens while modules are imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from cffpy.cli import captures, diff
from cffpy.cli.question import Question
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


def test_both_captures_of_a_comparison_are_read_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The second one is asked for first; the error of the first one is the one that is raised."""
    paths = [str(tmp_path / name) for name in ("good.rd", "bad.rd")]
    for path in paths:
        Path(path).write_bytes(b"text\n" * 10_000)
    started: list[str] = []

    def noted(path: str, limits: Limits) -> ReadingAhead | None:
        started.append(path)
        return read_ahead(path, limits)

    for module in (diff, captures):
        monkeypatch.setattr(module, "read_ahead", noted)
        monkeypatch.setattr(module, "command_limits", Limits)
    with pytest.raises(ContainerError, match="good"):
        diff._open(*paths, Question())
    assert started == paths[::-1]
