# SPDX-License-Identifier: MIT
"""Checking editions: both parts are reported, and what an edition lacks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def edition(tmp_path: Path) -> Path:
    for part in ("adreno", "isa"):
        shutil.copytree(CHECKOUT / "register_db" / part, tmp_path / part)
    return tmp_path


@pytest.mark.slow
def test_both_parts(edition: Path, run_cffpy) -> None:
    done = run_cffpy("db", "check", edition, "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["schema"] == "cffpy.db-check/1"
    assert document["parts"] == ["registers", "instruction sets"]
    assert (document["errors"], document["notices"]) == (0, 55)
    assert {finding["file"][-4:] for finding in document["findings"]} == {"regs", ".isa"}


@pytest.mark.slow
def test_an_unexplained_bit_of_an_instruction_is_an_error(edition: Path, run_cffpy) -> None:
    path = edition / "isa" / "ir3-cat0.isa"
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    number = next(place for place, line in enumerate(lines) if line.strip().startswith("pattern"))
    del lines[number]
    path.write_text("".join(lines))
    done = run_cffpy("db", "check", edition, "--errors-only")
    assert done.returncode == 1
    assert b"bits without meaning" in done.stdout
    shown = done.stdout.decode().splitlines()
    assert shown[-2].startswith("registers: 0 errors")
    assert "bit-missing" in shown[-1]


@pytest.mark.slow
def test_wrong_syntax_of_an_instruction_set(edition: Path, run_cffpy) -> None:
    (edition / "isa" / "ir3.isa").write_text("bitset ???\n")
    done = run_cffpy("db", "check", edition, "--errors-only")
    assert done.returncode == 1
    assert done.stdout.startswith(b"ir3.isa:1: error: ")


def test_no_edition_at_all(tmp_path: Path, run_cffpy) -> None:
    done = run_cffpy("db", "check", tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"no edition of the register database" in done.stderr
