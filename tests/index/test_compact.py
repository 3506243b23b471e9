# SPDX-License-Identifier: MIT
"""Builds of few captures each: their partitions are joined, and the rows stay the same."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import cffpy
from cffpy.index import snapshots
from tests.index.conftest import NAMES
from tests.index.test_build import check_index, make, rows

pytestmark = pytest.mark.slow

_WHERE = "changed(RB_DEPTH_CNTL) or texture.WIDTH > 0 or draw.shaders.FS.instructions > 3"


def build_in_steps(corpus: Path, index: Path) -> list[Path]:
    """Index the captures one after another; the captures."""
    captures = sorted(corpus.iterdir())
    for capture in captures:
        make(capture, index)
    return captures


def found(index: Path) -> list[object]:
    """The answers to a filter on all that is stored by keys of draws."""
    return [(one.path, one.count, one.draws) for one in cffpy.open_index(index).find(_WHERE)]


def test_partitions_are_joined(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index"
    monkeypatch.setattr(snapshots, "_MOST_SMALL", len(NAMES) - 1)
    captures = build_in_steps(corpus, index)
    assert len(cffpy.open_index(index).parts) == 1
    check_index(index, captures)
    answers = [(one.path, one.count, one.draws) for one in cffpy.find(_WHERE, captures)]
    assert found(index) == answers
    listings = "SELECT count(*), count(DISTINCT listing_digest) FROM listings"
    assert len({*rows(index, listings)[0]}) == 1
    # a joined partition loses a capture, and is joined again
    gone = captures.pop()
    gone.unlink()
    make(gone, index)
    shutil.copy(captures[0], corpus / "more.rd")
    make(corpus / "more.rd", index)
    check_index(index, [*captures, corpus / "more.rd"])


def test_partitions_of_a_size(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index"
    captures = build_in_steps(corpus, index)
    sizes = sorted(sum(part.tables.values()) for part in cffpy.open_index(index).parts)
    monkeypatch.setattr(snapshots, "_MOST_SMALL", 1)
    monkeypatch.setattr(snapshots, "_JOINED", sizes[-1] + sizes[-2] - 1)
    before = found(index)
    shutil.copy(captures[0], corpus / "more.rd")
    make(corpus, index)
    assert 1 < len(cffpy.open_index(index).parts) < len(captures) + 1
    assert [one for one in found(index) if "more.rd" not in str(one)] == before
    check_index(index, sorted([*captures, corpus / "more.rd"]))


_KILLED = """
import os, signal, sys
import cffpy
from cffpy.index import snapshots
snapshots._MOST_SMALL = 1
joined = snapshots.compacted
def ends(*arguments):
    joined(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
snapshots.compacted = ends
cffpy.build_index([sys.argv[1]], sys.argv[2], jobs=0)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_kill_9_while_partitions_are_joined(
    corpus: Path, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index"
    captures = build_in_steps(corpus, index)
    before = rows(index)
    shutil.copy(samples / "a220-triangle.rd", corpus / "more.rd")
    done = subprocess.run([sys.executable, "-c", _KILLED, corpus, index], capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert rows(index) == before
    monkeypatch.setattr(snapshots, "_MOST_SMALL", 1)
    assert make(corpus, index).resumed == 1
    assert len(cffpy.open_index(index).parts) == 1
    check_index(index, sorted([*captures, corpus / "more.rd"]))
