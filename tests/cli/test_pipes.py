# SPDX-License-Identifier: MIT
"""Which pipe of the command processor executes what (a7xx), as commands and tables say it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.command_server import Run

#: BV bins and clears LRZ, BR renders both tiles.
CAPTURE = "a740-concurrent-gmem"


@pytest.fixture
def path(samples: Path) -> str:
    return str(samples / f"{CAPTURE}.rd")


def rows(run: Run, path: str, query: str) -> list[list[object]]:
    found: list[list[object]] = json.loads(run("sql", "--json", path, query).stdout)["rows"]
    return found


def test_each_line_has_the_pipe_of_its_packet(path: str, run_cffpy: Run) -> None:
    lines = [line.split("\t") for line in run_cffpy("lines", path).stdout.decode().splitlines()]
    pipes = Counter(line[4] for line in lines)
    assert set(pipes) == {"BR", "BV", "both"}
    mode = [line[4] for line in lines if line[8].startswith("VSC_") and line[7] == "register write"]
    assert set(mode) == {"BV"}
    draws = [line for line in lines if line[8] == "draw"]
    assert [line[4] for line in draws] == ["BV", "BV", *["BR"] * 4]
    stored = {line[4] for line in lines if line[8] == "RB_MRT[0].PITCH"}
    assert stored == {"BV", "BR"}  # the same commands, run again by the other pipe


def test_tables(path: str, run_cffpy: Run) -> None:
    of_packets = rows(
        run_cffpy, path, "SELECT pipe, count(*) > 0 FROM packets GROUP BY 1 ORDER BY 1"
    )
    assert of_packets == [["BR", True], ["BV", True], ["both", True]]
    query = "SELECT DISTINCT written_by_pipe FROM registers WHERE register LIKE 'RB_MRT%'"
    of_registers = rows(run_cffpy, path, query)
    assert of_registers == [["BR"]]


def test_texts(path: str, run_cffpy: Run, samples: Path) -> None:
    assert b"executed by BR, binning run by BV" in run_cffpy("tiles", path).stdout
    older = run_cffpy("tiles", str(samples / "a660-frame-gmem.rd")).stdout
    assert b"executed by" not in older
