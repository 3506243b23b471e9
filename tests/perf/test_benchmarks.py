# SPDX-License-Identifier: MIT
"""The benchmark commands run and report their measurements."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT


def run(script: str, *arguments: object) -> str:
    command = [sys.executable, CHECKOUT / "benchmarks" / script, *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, timeout=120, check=True)
    assert done.stderr == b""
    return done.stdout.decode()


def test_stages(samples: Path) -> None:
    text = run("run.py", samples / "a630-triangle.rd.gz", "--runs", 1, "--json")
    document = json.loads(text)
    assert (document["schema"], document["version"]) == ("cffpy-benchmark", 1)
    (row,) = document["captures"]
    assert row["raw_bytes"] == len(gzip.decompress((samples / "a630-triangle.rd.gz").read_bytes()))
    assert 0 < row["seconds"]["text"] < row["command_cpu_seconds"]


@pytest.mark.parametrize("arguments", [(), ("--options", "-s --once"), ("--no-segments",)])
def test_functions(samples: Path, arguments: tuple[str, ...]) -> None:
    text = run("functions.py", samples / "a630-triangle.rd.gz", "--most", 500, *arguments)
    _, _, head, _, *rows = text.rstrip().splitlines()
    assert [cell.strip() for cell in head.strip("|").split("|")] == ["time", "calls", "function"]
    calls = {row.split("|")[3].strip(): row.split("|")[2].strip() for row in rows}
    assert calls["runner.py: run_submit"] == "1"
    assert calls["summary.py: print_registers"] == "1"
    assert ("segment.py: begin" in calls) == ("--no-segments" not in arguments)


@pytest.mark.slow
def test_analyses(samples: Path) -> None:
    text = run("analyses.py", samples / "a630-triangle.rd.gz", "--runs", 1, "--json")
    document = json.loads(text)
    assert (document["schema"], document["version"]) == ("cffpy-analyses", 1)
    (capture,) = document["captures"]
    rows = {row["command"]: row for row in capture["commands"]}
    assert rows["dump"]["ratio"] == 1
    assert {"passes", "draws", "state", "diff"} <= set(rows)
    for row in rows.values():
        assert row["exit_code"] == 0
        assert row["ratio"] == row["seconds"] / rows["dump"]["seconds"]
