# SPDX-License-Identifier: MIT
"""Names of files and processes that HTML, SVG, SQL or a terminal interpret: all are escaped."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cffpy.container.rd import SectionType, iter_sections
from cffpy.container.writer import capture_bytes
from cffpy.pm4asm.assemble import assemble
from tests.crash_dumps import IB2, call, hang
from tests.fuzz.captures import CHECKOUT
from tests.fuzz.inputs import FILE_NAMES

Run = Callable[..., subprocess.CompletedProcess[bytes]]

HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(2)>'\"; DROP TABLE draws; --"
TERMINAL = "\x1b]0;owned\x07\x1b[2J\u202e"
PROCESS = f"{HOSTILE}{TERMINAL}"

#: What a page has where text became markup.
MARKUP = (b"<script>alert", b"<img src=x")
ESCAPES = (b"\x1b", b"\x07", "\u202e".encode())


def check_is_text(output: bytes, is_page: bool = False) -> None:
    """No markup in a page, no control characters."""
    assert not [one for one in ESCAPES if one in output]
    if is_page:
        assert not [one for one in MARKUP if one in output]


@pytest.fixture(scope="module", params=[name for name in FILE_NAMES[3:] if "\n" not in name])
def hostile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture with such a name, of a process with such a name."""
    path = tmp_path_factory.mktemp("hostile") / request.param
    with (CHECKOUT / "samples" / "a660-frame-gmem.pm4").open("rb") as text:
        sections = [
            (one.type, bytes(one.payload)) for one in iter_sections(bytes(assemble(text, "x.pm4")))
        ]
    name = (SectionType.CMD, PROCESS.encode() + b"\0")
    kept = [one for one in sections if one[0] != SectionType.CMD]
    path.write_bytes(capture_bytes([name, *kept]))
    return path


@pytest.mark.fuzz
def test_captures(hostile: Path, run_cffpy: Run, tmp_path: Path) -> None:
    other = tmp_path / "other.rd"
    other.write_bytes(hostile.read_bytes())
    lines = (
        ("info",),
        ("info", "--json"),
        ("passes",),
        ("passes", "--csv"),
        ("draws",),
        ("check",),
        ("check", "--sarif"),
        ("tiles", "--pass", "0", "--svg", "-"),
        ("lines",),
        ("find", "draw.vertices > 0"),
    )
    for line in lines:
        done = run_cffpy(*line, "--", str(hostile))
        check_is_text(done.stdout, "--svg" in line)
        check_is_text(done.stderr)
        if line[-1] in ("--json", "--sarif"):
            json.loads(done.stdout)
    changed = tmp_path / f"{hostile.name}.changed.rd"
    done = run_cffpy("edit", "--nop-draw", "1", "-o", str(changed), "--", str(other))
    assert done.returncode == 0, done.stderr
    done = run_cffpy("diff", "--html", "-", "--", str(hostile), str(changed))
    assert b"<html" in done.stdout
    check_is_text(done.stdout, is_page=True)


@pytest.mark.fuzz
def test_tables(hostile: Path, run_cffpy: Run, tmp_path: Path) -> None:
    """Values of the capture are values: the tables are all there."""
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    database = tmp_path / f"{hostile.name}.duckdb"
    done = run_cffpy("export", "-o", str(database), "--", str(hostile))
    check_is_text(done.stderr)
    with duckdb.connect(str(database), read_only=True) as connection:
        (count,) = connection.execute("SELECT count(*) FROM draws").fetchone()
    assert count
    folder = tmp_path / f"{hostile.name}.parquet"
    done = run_cffpy("export", "-o", str(folder), "--", str(hostile))
    assert done.returncode == 0, done.stderr
    assert {path.suffix for path in folder.iterdir()} == {".parquet"}
    done = run_cffpy("sql", "--", str(hostile), "SELECT DISTINCT capture FROM draws")
    check_is_text(done.stdout)


@pytest.mark.fuzz
@pytest.mark.parametrize("name", FILE_NAMES[3:5])
def test_crash_dumps(name: str, run_cffpy: Run, tmp_path: Path) -> None:
    lines = f"comm: {PROCESS}\ncmdline: {PROCESS}\n".encode()
    data = hang(call(IB2, 2), 0, [0x70100000, 0], 1).replace(b"comm: test\n", lines)
    path = tmp_path / name
    path.write_bytes(data)
    for form in ((), ("--json",), ("--html", "-")):
        done = run_cffpy("crash", *form, "--", str(path))
        assert b"DROP TABLE" in done.stdout
        check_is_text(done.stdout, "--html" in form)
        check_is_text(done.stderr)
