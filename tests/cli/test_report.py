# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
from pathlib import Path

import pytest

import cffpy
from cffpy.cli.main import run
from cffpy.errors import CffpyError
from tests.command_server import Run


def test_writes_the_page(run_cffpy: Run, path: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = run_cffpy("report", path, "-o", page)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert page.read_bytes().startswith(b"<!doctype html>")


def test_a_page_needs_a_name(run_cffpy: Run, path: Path) -> None:
    done = run_cffpy("report", path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.endswith(b"Error: give -o OUT.html for the page, or --json\n")


def test_standard_output_and_input(run_cffpy: Run, path: Path) -> None:
    done = run_cffpy("report", "-", "-o", "-", input=path.read_bytes())
    assert done.returncode == 0
    assert done.stdout.endswith(b"</html>\n")


@pytest.mark.slow
def test_the_same_page_in_python(run_cffpy: Run, path: Path) -> None:
    output = path.parent / "page.html"
    with cffpy.open(path) as capture:
        report = cffpy.report(capture, output)
        assert report.page() == output.read_bytes()
    assert run_cffpy("report", path, "-o", "-").stdout == output.read_bytes()
    document = json.loads(run_cffpy("report", "--json", path).stdout)
    assert document.pop("schema") == "cffpy.report/1"
    assert document == json.loads(json.dumps(report.to_dict()))
    assert "passes" in repr(report)
    with pytest.raises(CffpyError, match="No such file"):
        cffpy.report(cffpy.open(path), path.parent / "nowhere/page.html")


def test_compare(run_cffpy: Run, samples: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    good, bad = samples / "a430-depth-good.rd", samples / "a430-depth-bad.rd"
    assert run_cffpy("report", bad, "--compare", good, "-o", page).returncode == 0
    text = page.read_text("utf-8")
    assert "Differences from" in text
    assert "a430-depth-good.rd" in text


def test_what_is_left_out_is_a_warning_and_no_damage(
    path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cffpy.reports.draws.MAX_DRAWS", 1)
    assert run(["report", str(path), "-o", str(path.parent / "page.html")]) == 0
    assert "left out: draws after the first 1" in capfd.readouterr().err


def test_usage(run_cffpy: Run, path: Path) -> None:
    done = run_cffpy("report", "--json", "-o", "x", path)
    assert done.returncode == 2
    assert b"--json and --output cannot be used together" in done.stderr
    before = path.read_bytes()
    assert run_cffpy("report", path, "-o", path).returncode != 0
    assert path.read_bytes() == before


def test_damage_is_in_the_page(run_cffpy: Run, path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])
    done = run_cffpy("report", path, "-o", "-")
    assert done.returncode == 1
    assert done.stderr
    assert b'class="problems"' in done.stdout
