# SPDX-License-Identifier: MIT
"""cffpy check, run as users run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cffpy.pm4asm.assemble import assemble
from tests.command_server import Run

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "lints"


@pytest.fixture(scope="module")
def lints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with some samples as captures."""
    folder = tmp_path_factory.mktemp("lints")
    for name in ("CFF013-fires", "CFF013-quiet", "CFF035-fires", "CFF020-quiet"):
        with open(SAMPLES / f"{name}.pm4", "rb") as text:
            (folder / f"{name}.rd").write_bytes(assemble(text, name))
    return folder


def test_text(lints: Path, run_cffpy: Run) -> None:
    done = run_cffpy("check", "--select", "CFF035", "CFF035-fires.rd", cwd=lints)
    assert (done.returncode, done.stderr) == (1, b"")
    line, counts = done.stdout.decode().splitlines()
    assert line.startswith(
        "CFF035-fires.rd: error CFF035 vertex-buffer-too-small: draw p0:0 (#0): vertex buffer 0"
    )
    assert line.endswith("]")
    assert counts == "1 error, 0 warnings, 0 info"


@pytest.mark.slow
def test_exit_codes(lints: Path, run_cffpy: Run) -> None:
    chosen = ("check", "--select", "CFF013", "CFF013-fires.rd")
    assert run_cffpy(*chosen, cwd=lints).returncode == 0
    assert run_cffpy(*chosen, "--fail-on", "warning", cwd=lints).returncode == 1
    assert run_cffpy(*chosen, "--fail-on", "info", cwd=lints).returncode == 1
    error = ("check", "--select", "CFF035", "CFF035-fires.rd")
    assert run_cffpy(*error, "--fail-on", "never", cwd=lints).returncode == 0
    assert run_cffpy("check", cwd=lints).returncode == 2
    assert run_cffpy("check", "--select", "nonsense", "CFF013-fires.rd", cwd=lints).returncode != 0
    done = run_cffpy("check", "--baseline", "CFF013-fires.rd", cwd=lints)
    assert (done.returncode, b"no FILE is given" in done.stderr) == (2, True)


def test_counts_of_each_file(lints: Path, run_cffpy: Run) -> None:
    done = run_cffpy("check", "--json", "CFF013-fires.rd", "CFF013-quiet.rd", cwd=lints)
    fires, quiet = json.loads(done.stdout)["files"]
    assert "CFF013" in {one["id"] for one in fires["findings"]}
    assert "CFF013" not in {one["id"] for one in quiet["findings"]}
    assert fires["counts"] == {
        severity: sum(one["severity"] == severity for one in fires["findings"])
        for severity in ("error", "warning", "info")
    }


def test_sarif(lints: Path, run_cffpy: Run) -> None:
    done = run_cffpy("check", "--sarif", "CFF035-fires.rd", cwd=lints)
    assert done.returncode == 1
    log = json.loads(done.stdout)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert log["version"] == "2.1.0"
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
    (error,) = [one for one in run["results"] if one["level"] == "error"]
    location = error["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "CFF035-fires.rd"
    assert location["region"]["byteOffset"] > 0


def test_comparison(lints: Path, run_cffpy: Run) -> None:
    files = ("CFF013-quiet.rd", "CFF013-fires.rd")
    done = run_cffpy("check", "--baseline", *files, cwd=lints)
    new = [line for line in done.stdout.decode().splitlines() if "CFF004" not in line]
    assert new[0].startswith("CFF013-fires.rd: warning CFF013 lrz-lost: draw p0:1")
    assert run_cffpy("check", files[1], "--baseline", files[0], cwd=lints).stdout == done.stdout
    done = run_cffpy("check", "--baseline", files[0], files[0], cwd=lints)
    assert done.stdout == b"0 errors, 0 warnings, 0 info\n"


def test_explanation_and_list(run_cffpy: Run) -> None:
    done = run_cffpy("check", "--explain", "lrz-lost")
    assert done.stdout.startswith(b"CFF013 lrz-lost (warning, a5xx to a7xx)\nFinds: A draw turns")
    assert b"\nReports: The draw that lost LRZ, where later draws would use it.\n" in done.stdout
    listed = run_cffpy("check", "--list").stdout.decode().splitlines()
    assert len(listed) > 35
    assert listed[1].startswith("CFF001  error")
