# SPDX-License-Identifier: MIT
"""``cffpy diff --html``, as a process."""

from __future__ import annotations

import gzip
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import type4

Run = Callable[..., subprocess.CompletedProcess[bytes]]

GRAS_SU_CNTL = 0x8090
CULLED_BACK, CULLED_FRONT = 0x12, 0x11


@pytest.fixture
def captures(samples: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A sample, and the same with the other faces culled, under a name that is markup."""
    good = samples / "a630-triangle.rd.gz"
    data = gzip.decompress(good.read_bytes())
    old, new = (
        struct.pack("<2I", *type4(GRAS_SU_CNTL, value)) for value in (CULLED_BACK, CULLED_FRONT)
    )
    assert old in data
    bad = tmp_path / "<b>bad & \udc80.rd"
    bad.write_bytes(data.replace(old, new))
    return good, bad


def test_page_to_a_file(run_cffpy: Run, captures: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    done = run_cffpy("diff", "--html", out, *captures)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
    text = out.read_text("utf-8")
    assert text.startswith("<!doctype html>\n")
    assert text.endswith("</html>\n")
    assert "GRAS_SU_CNTL.CULL_FRONT" in text
    assert "&lt;b&gt;bad &amp; \\udc80.rd" in text
    assert "<b>bad" not in text


def test_page_to_standard_output(run_cffpy: Run, captures: tuple[Path, Path]) -> None:
    done = run_cffpy("diff", "--html", "-", *captures)
    assert (done.returncode, done.stderr) == (1, b"")
    assert done.stdout.startswith(b"<!doctype html>\n")
    assert done.stdout.endswith(b"</html>\n")


@pytest.mark.slow
def test_the_page_is_the_same_each_time(run_cffpy: Run, captures: tuple[Path, Path]) -> None:
    pages = {
        run_cffpy("diff", "--html", "-", *captures, env={"PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2", "3")
    }
    assert len(pages) == 1


def test_no_difference(run_cffpy: Run, captures: tuple[Path, Path]) -> None:
    done = run_cffpy("diff", "--html", "-", captures[0], captures[0])
    assert done.returncode == 0
    assert b"no difference" in done.stdout


def test_quiet_does_not_keep_the_page_from_being_written(
    run_cffpy: Run, captures: tuple[Path, Path], tmp_path: Path
) -> None:
    out = tmp_path / "page.html"
    done = run_cffpy("diff", "--brief", "--html", out, *captures)
    assert (done.returncode, done.stdout) == (1, b"")
    assert out.stat().st_size > 1000


def test_a_page_that_cannot_be_written_is_trouble(
    run_cffpy: Run, captures: tuple[Path, Path], tmp_path: Path
) -> None:
    out = tmp_path / "missing" / "page.html"
    done = run_cffpy("diff", "--html", out, *captures)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == f"cffpy: error: {out}: No such file or directory\n".encode()


def test_not_with_json(run_cffpy: Run, captures: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    done = run_cffpy("diff", "--json", "--html", out, *captures)
    assert done.returncode == 2
    assert b"--json and --html cannot be used together" in done.stderr
    assert not out.exists()
