# SPDX-License-Identifier: MIT
"""Shared by the tests of commands that analyse captures."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.passes.small import small_capture


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with the small capture of passes, draws and copies."""
    found = tmp_path / "small.rd"
    found.write_bytes(small_capture())
    return found
