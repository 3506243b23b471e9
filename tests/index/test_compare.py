# SPDX-License-Identifier: MIT
"""Two indexes compared, statistics, and the findings of an index."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import cffpy
from cffpy.check.registry import chosen_lints
from cffpy.index.compare import MOST_VALUES, cell, check_index, compare, markdown
from cffpy.index.stats import statistics
from tests.frame.test_faces import check_object, within

Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture(scope="module")
def nights(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two indexes: ``one`` and ``two``, of captures below folders of these names."""
    folder = tmp_path_factory.mktemp("nights")
    for night, names in (
        ("one", ("a660-frame-gmem", "a690-compute", "a430-depth-good")),
        ("two", ("a660-frame-gmem", "a660-textures", "a430-depth-good")),
    ):
        (folder / night).mkdir()
        for name in names:
            shutil.copy(samples / f"{name}.rd", folder / night)
    # the same name, other contents
    shutil.copy(samples / "a430-depth-bad.rd", folder / "two" / "a430-depth-good.rd")
    (folder / "two" / "a660-frame-gmem.rd").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    for night in ("one", "two"):
        cffpy.build_index([folder / night], folder / f"{night}.index", jobs=0)
    return folder


@pytest.mark.slow
def test_comparison(nights: Path) -> None:
    one, two = (cffpy.open_index(nights / f"{night}.index") for night in ("one", "two"))
    found = compare(one, two)
    assert (found.added, found.removed) == (["a660-textures.rd"], ["a690-compute.rd"])
    assert found.status == [("a660-frame-gmem.rd", "ok", "failed")]
    assert found.is_worse
    for value in found.values:
        assert value.value not in {
            row.value
            for row in one_values(one, value.register)
            if row.generation == value.generation
        }
        assert len(one_values(two, value.register)) <= MOST_VALUES
    assert any(value.generation == 4 for value in found.values)
    assert all(row.capture != "a660-textures.rd" for row in found.findings)
    same = compare(one, one)
    assert (same.values, same.findings, same.status, same.lints) == ([], [], [], [])
    assert not same.is_worse
    assert not any(row.only_new or row.only_old for row in same.programs)


@pytest.mark.slow
def test_every_fact_of_indexes(nights: Path, built: Path) -> None:
    one, two = (cffpy.open_index(nights / f"{night}.index") for night in ("one", "two"))
    index = cffpy.open_index(built)
    ((digest,), *_) = index.sql("SELECT digest FROM programs LIMIT 1")
    found = [compare(one, two), statistics(index, most=3), *index.values("RB_DEPTH_CNTL")]
    for each in [*found, *index.shader(digest)]:
        for part in within(each):
            check_object(part)


def one_values(index: cffpy.Index, register: str) -> list[cffpy.RegisterValueCount]:
    try:
        return index.values(register)
    except cffpy.UnknownName:
        return []


@pytest.mark.slow
def test_statistics(built: Path) -> None:
    index = cffpy.open_index(built)
    found = statistics(index, most=3)
    assert found.captures == len(index.files) == sum(found.status.values())
    assert found.draws == next(iter(index.sql("SELECT count(*) FROM draws")))[0]
    assert len(found.largest_passes) == len(found.largest_programs) == 3
    most = next(iter(index.sql("SELECT max(draw_count) FROM passes")))[0]
    assert found.largest_passes[0].draw_count == most
    assert (
        sum(row.programs for row in found.programs)
        == next(iter(index.sql("SELECT count(*) FROM programs")))[0]
    )


@pytest.mark.slow
def test_findings_are_those_of_check(built: Path, samples: Path, run_cffpy: Run) -> None:
    lints = chosen_lints(["CFF02*"])
    checks = {one.capture: one for one in check_index(cffpy.open_index(built), lints)}
    for path in sorted(samples.glob("*.rd")):
        with cffpy.open(path) as capture:
            expected = [one.lint.id for one in capture.check(["CFF02*"])]
        assert sorted(one["id"] for one in checks[str(path)].findings) == sorted(expected)
    path = samples / "a660-frame-gmem.rd"
    document = json.loads(run_cffpy("check", "--json", path).stdout)
    of_index = json.loads(run_cffpy("check", "--json", "--index", built).stdout)
    (found,) = [one for one in of_index["files"] if one["file"] == str(path)]
    assert of_index["schema"] == document["schema"]
    assert sorted(map(str, found["findings"])) == sorted(map(str, document["files"][0]["findings"]))


@pytest.mark.slow
def test_commands(nights: Path, run_cffpy: Run) -> None:
    done = run_cffpy("index", "compare", "one.index", "two.index", cwd=nights)
    assert done.returncode == 1  # a capture fails that did not
    assert b"New captures\ncapture\na660-textures.rd\n" in done.stdout
    done = run_cffpy("index", "compare", "one.index", "one.index", cwd=nights)
    assert (done.returncode, done.stdout) == (0, b"no differences\n")
    done = run_cffpy("index", "compare", "one.index", "two.index", "--markdown", cwd=nights)
    assert b"### Status: 1\n\n| capture | old | new |\n| --- | --- | --- |\n" in done.stdout
    document = json.loads(
        run_cffpy("index", "compare", "one.index", "two.index", "--json", cwd=nights).stdout
    )
    assert document["schema"] == "cffpy.index-compare/1"
    done = run_cffpy("index", "stats", "one.index", cwd=nights)
    assert b"captures: 3 (3 ok)" in done.stdout
    document = json.loads(run_cffpy("index", "stats", "one.index", "--json", cwd=nights).stdout)
    assert (document["schema"], document["captures"]) == ("cffpy.index-stats/1", 3)
    done = run_cffpy("check", "--index", "two.index", "--markdown", cwd=nights)
    assert b"## cffpy check\n\n3 captures: " in done.stdout
    done = run_cffpy("check", "--index", "one.index", "--fail-on", "info", cwd=nights)
    assert done.returncode == 1
    same = ("check", "--index", "one.index", "--baseline", "one.index", "--fail-on", "info")
    done = run_cffpy(*same, cwd=nights)
    assert (done.returncode, done.stdout) == (0, b"3 captures: 0 error, 0 warning, 0 info\n")
    done = run_cffpy("check", "--index", "one.index", "two.rd", cwd=nights)
    assert done.returncode == 2


def test_markdown_escapes_what_captures_say() -> None:
    assert cell("a|b<c>\x1b[0m") == "a&#124;b&#60;c&#62;&#92;x1b&#91;0m"
    assert markdown([]) == ["## cffpy check", "", "0 captures: 0 error, 0 warning, 0 info"]
