# SPDX-License-Identifier: MIT
"""Names of files and processes that HTML, SVG, SQL or a terminal interpret: all are escaped."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cffpy.container.rd import iter_sections
from cffpy.container.section_types import SectionType
from cffpy.container.writer import capture_bytes
from cffpy.pm4asm.assemble import assemble
from tests.crash_dumps import IB2, call, hang
from tests.fuzz.captures import CHECKOUT
from tests.fuzz.inputs import FILE_NAMES
from tests.intel import aub_files, frames

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
        ("lrz",),
        ("layout", "check"),
        ("state", "--at", "#1"),
        ("decompile",),
        ("report", "-o", "-"),
        ("report", "--json"),
        ("report", "--compare", str(other), "-o", "-"),
        ("image", "--at", "#1", "--target", "0", "-o", str(tmp_path / f"{hostile.name}.png")),
    )
    for line in lines:
        done = run_cffpy(*line, "--", str(hostile))
        is_page = "--svg" in line or (line[0] == "report" and line[-1] == "-")
        check_is_text(done.stdout, is_page)
        check_is_text(done.stderr)
        if line[-1] in ("--json", "--sarif"):
            json.loads(done.stdout)
        assert b"<html" in done.stdout or line[0] != "report" or not is_page
    changed = tmp_path / f"{hostile.name}.changed.rd"
    done = run_cffpy("edit", "--nop-draw", "#1", "-o", str(changed), "--", str(other))
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
    done = run_cffpy("export", "-o", f"{folder}/", "--", str(hostile))
    assert done.returncode == 0, done.stderr
    assert {path.suffix for path in folder.iterdir()} == {".parquet"}
    done = run_cffpy("sql", "--", str(hostile), "SELECT DISTINCT capture FROM draws")
    check_is_text(done.stdout)
    index = str(tmp_path / f"{hostile.name}.index")
    for line in (
        ("index", "build", "--jobs", "1", "-o", index, "--", str(hostile)),
        ("index", "stats", "--", index),
        ("find", "draw.vertices > 0", "--", index),
    ):
        done = run_cffpy(*line)
        assert done.returncode == 0, (line, done.stderr)
        check_is_text(done.stdout)
        check_is_text(done.stderr)


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


@pytest.mark.fuzz
@pytest.mark.parametrize("name", FILE_NAMES[3:7])
def test_intel(name: str, run_cffpy: Run, tmp_path: Path) -> None:
    """A file's name, an application's and a process's; aubinator prints the latter as they are."""
    aub = tmp_path / name
    aub.write_bytes(aub_files.header(application=PROCESS[:40]) + frames.frame())
    state = tmp_path / f"{name}.error"
    state.write_bytes(frames.hang().replace(b"test [", PROCESS.encode() + b" ["))
    for path in (aub, state):
        for line in (
            ("info",),
            ("info", "--json"),
            ("passes",),
            ("draws", "--all"),
            ("state", "--at", "#1"),
            ("lines",),
            ("diff", "--", str(aub)),
            ("report", "-o", "-"),
            ("report", "--compare", str(aub), "-o", "-"),
            ("crash",),
            ("crash", "--json"),
        ):
            if line[0] == "crash" and path == aub:
                continue
            marks = () if "--" in line else ("--",)
            done = run_cffpy(*line, *marks, str(path))
            assert done.returncode in (0, 1), (line, done.stderr)
            check_is_text(done.stdout, line[0] == "report")
            check_is_text(done.stderr)
            assert line[0] != "report" or b"<html" in done.stdout
    done = run_cffpy("aubinator", "--no-pager", "--", str(tmp_path / f"no{name}"))
    check_is_text(done.stdout + done.stderr)


@pytest.mark.fuzz
@pytest.mark.parametrize(
    "line",
    [
        ("find", f"draw.vertices == '{TERMINAL}'"),
        ("find", f"{TERMINAL}("),
        ("sql", f'SELECT * FROM "{TERMINAL}"'),
        ("sql", f"SELECT 1 AS \"{TERMINAL}\", '{TERMINAL}'"),
        ("state", "--at", TERMINAL),
        ("check", "--disable", TERMINAL),
        ("dump", "--script", TERMINAL),
        ("dump", "--edition", TERMINAL),
        ("dump", f"--{TERMINAL}"),
        ("export", "-o", f"{TERMINAL}.nothing"),
        ("layout", "image", "--format", TERMINAL),
        ("db", "show", TERMINAL),
        ("db", "search", TERMINAL),
        ("afuc", "disasm", TERMINAL),
        ("aubinator", f"--{TERMINAL}"),
        ("index", "stats", TERMINAL),
    ],
    ids=lambda line: f"{line[0]} {line[1]!r}",
)
def test_arguments(line: tuple[str, ...], run_cffpy: Run, samples: Path) -> None:
    """What is asked for is repeated in messages: as text."""
    name = str(samples / "a660-frame-gmem.rd.gz")
    takes_capture = {"find", "sql", "state", "check", "dump", "export"}
    words = [line[0], *([name] if line[0] == "sql" else []), *line[1:]]
    if line[0] in takes_capture - {"sql"}:
        words.append(name)
    done = run_cffpy(*words)
    check_is_text(done.stdout)
    check_is_text(done.stderr)


@pytest.mark.fuzz
def test_scripts(hostile: Path, run_cffpy: Run, tmp_path: Path) -> None:
    """The name of a Lua script, in a message about it."""
    pytest.importorskip("lupa")
    script = tmp_path / f"{hostile.name}.lua"
    script.write_text("error('x')")
    done = run_cffpy("dump", "--script", str(script), "--", str(hostile))
    assert done.stderr
    check_is_text(done.stderr)
