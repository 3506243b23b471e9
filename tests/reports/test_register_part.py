# SPDX-License-Identifier: MIT
"""A report whose registers have a walk of their own is the same page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cffpy
from cffpy.api import export as exporting
from cffpy.cli.main import run
from cffpy.reports import registers as module
from cffpy.reports.columns import plain
from cffpy.reports.registers import register_part
from cffpy.reports.report import document
from tests.views.report_html.documents import cell


def documents(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The document by one walk, and by two."""
    with cffpy.open(path) as capture:
        expected = document(capture, releases=True)
        problems = capture._source.problems, capture.truncated
        with cffpy.open(path) as other, cffpy.open(path) as third:
            part = register_part(other, dict)
            part.report_problems(third)
            found = document(third, releases=True, part=part)
            # vertices of a2xx are found by constants, which draws are asked for
            assert path.name.startswith("a2") or third._source.walked.store is None
            assert (third._source.problems, third.truncated) == problems
    return shown(expected), shown(found)


def shown(found: dict[str, Any]) -> dict[str, Any]:
    """The document with packets in place of their numbers, which depend on how commands ran."""
    parts = {name: plain(part) for name, part in found.items()}
    dump, registers = parts.pop("dump"), parts.pop("registers")
    writes = registers["writes"] or {"dump": []}
    rows = []
    for row, at in enumerate(writes["dump"]):
        packet = [cell(column, row) for name, column in writes.items() if name != "dump"]
        if at >= 0:
            packet += [dump["texts"][dump[name][at]] for name in ("lines", "rows")]
            packet += [dump[name][at] for name in ("gpuaddr", "file_offset")]
        rows.append(packet)
    for column in registers["columns"]:
        column["write"] = [None if one < 0 else rows[one] for one in column["write"]]
    return {**parts, "columns": registers["columns"]}


@pytest.mark.slow
def test_the_document_is_the_same(samples: Path) -> None:
    for path in sorted(samples.glob("a*.rd*"))[::3]:
        expected, found = documents(path)
        assert expected["columns"]
        assert found == expected, path


@pytest.mark.slow
def test_what_is_left_out(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cffpy.reports.draws", module.__name__):
        monkeypatch.setattr(f"{name}.MAX_DRAWS", 1)
    monkeypatch.setattr("cffpy.reports.registers.MAX_CHANGES", 5)
    monkeypatch.setattr("cffpy.reports.registers._MAX_PACKETS", 2)
    monkeypatch.setattr("cffpy.reports.resources._MAX_EDGES", 0)
    expected, found = documents(samples / "a660-frame-gmem.rd")
    assert found["cut"] == expected["cut"]
    for text in ("draws after the first 1", "dumps of packets, but for 2"):
        assert text in found["cut"]
    assert any("more than 5 changes" in one for one in found["cut"])


@pytest.mark.slow
def test_the_command(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It makes this part of the page of a large capture, where nothing but the page is wanted."""
    made: list[object] = []

    def noted(*how: Any) -> Any:
        made.append(how)
        return register_part(*how)

    monkeypatch.setattr(module, "register_part", noted)
    path, output = samples / "a660-frame-gmem.rd", tmp_path / "page.html"
    found = []
    for size in (1 << 40, 0):
        monkeypatch.setattr(exporting, "_APART", size)
        assert run(["report", str(path), "-o", str(output)]) == 0
        found.append(output.read_bytes())
    assert found[0] == found[1]
    assert len(made) == 1
    assert run(["report", str(path), "--compare", str(path), "-o", str(output)]) == 0
    assert run(["report", str(path), "--json"]) == 0
    assert len(made) == 1
