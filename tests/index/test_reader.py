# SPDX-License-Identifier: MIT
"""SQL, values and programs of an index: those of its captures; the guide's examples in Python."""

from __future__ import annotations

import doctest
from collections import Counter
from pathlib import Path

import pytest

import cffpy
from cffpy.tables.schema import DEFAULT_TABLES, VIEWS


def in_order(rows: object) -> list[tuple[object, ...]]:
    return sorted(rows, key=repr)  # type: ignore[call-overload, no-any-return]


@pytest.fixture(scope="module")
def whole(built: Path) -> list[str]:
    """The captures of the index that could be decoded."""
    return [one.name for one in cffpy.open_index(built).files if one.error is None]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*DEFAULT_TABLES, *VIEWS])
def test_tables_are_those_of_captures(name: str, built: Path, whole: list[str]) -> None:
    query = f'SELECT * FROM "{name}"'
    stored, made = cffpy.open_index(built).sql(query), cffpy.sql(whole, query)
    assert sorted(stored.columns) == sorted(made.columns)
    query = f"SELECT {', '.join(chr(34) + column + chr(34) for column in made.columns)} FROM {name}"
    assert in_order(cffpy.open_index(built).sql(query)) == in_order(made)


@pytest.mark.slow
def test_sql_has_no_files(built: Path, tmp_path: Path) -> None:
    index = cffpy.open_index(built)
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    for query in (
        f"SELECT * FROM read_csv('{secret}')",
        f"SELECT * FROM '{secret}'",
        f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
        "SET enable_external_access = true",
        "SET threads = 1",
        "SELEC",
        "SELECT * FROM packets",
    ):
        with pytest.raises(cffpy.UsageError):
            list(index.sql(query))
    assert [one.name for one in tmp_path.iterdir()] == ["secret.csv"]


@pytest.mark.slow
def test_values(built: Path, whole: list[str]) -> None:
    index = cffpy.open_index(built)
    found = index.values("rb_depth_cntl")
    assert {one.register for one in found} == {"RB_DEPTH_CNTL"}
    assert {one.generation for one in found} >= {6, 7}
    captures: Counter[tuple[int | None, int | None]] = Counter()
    draws: Counter[tuple[int | None, int | None]] = Counter()
    for path in whole:
        with cffpy.open(path) as capture:
            generation = None if capture.gpu is None else capture.gpu.generation
            values = [
                draw.state["RB_DEPTH_CNTL"].value
                for draw in capture.draws
                if "RB_DEPTH_CNTL" in {one.name for one in draw.state.values()}
            ]
        captures.update((generation, value) for value in set(values))
        draws.update((generation, value) for value in values)
    assert {(one.generation, one.value): one.captures for one in found} == captures
    assert {(one.generation, one.value): one.draws for one in found} == draws
    assert {one.register for one in index.values("RB_MRT[*].BASE")} >= {"RB_MRT[0].BASE"}
    with pytest.raises(cffpy.UnknownName, match="NO_SUCH"):
        index.values("NO_SUCH")


def test_programs_are_stored_once(built: Path, whole: list[str]) -> None:
    index = cffpy.open_index(built)
    query = "SELECT digest, stage, count(DISTINCT capture), sum(uses), min(capture) FROM shaders"
    expected = in_order(cffpy.sql(whole, f"{query} GROUP BY 1, 2"))
    columns = "digest, stage, captures, uses, first_capture"
    assert in_order(index.sql(f"SELECT {columns} FROM programs")) == expected
    assert any(count > 1 for _, _, count, _, _ in expected)
    listings = list(index.sql("SELECT count(*), count(DISTINCT listing) FROM listings"))
    assert listings[0][0] == listings[0][1] > 1


def test_a_program(built: Path) -> None:
    index = cffpy.open_index(built)
    digest, stage = next(iter(index.sql("SELECT digest, stage FROM programs ORDER BY uses DESC")))
    found = {one.stage: one for one in index.shader(digest[:12].upper())}[stage]
    assert found.digest == digest
    assert found.captures == len({name for name, _, _ in found.places})
    assert found.uses == sum(uses for _, _, uses in found.places)
    with cffpy.open(found.first_capture) as capture:
        program = list(capture.shaders)[found.first_shader]
        assert program.listing == found.listing
    with pytest.raises(cffpy.UnknownName):
        index.shader("ffffffffffff")
    for wrong in ("xyz", "12", "0" * 65):
        with pytest.raises(cffpy.UsageError, match="is not a digest"):
            index.shader(wrong)


def test_findings(built: Path, samples: Path, tmp_path: Path) -> None:
    import json

    path = samples / "a660-frame-gmem.rd"
    found = [text for name, text in cffpy.open_index(built).findings() if name == str(path)]
    with cffpy.open(path) as capture:
        assert [json.loads(text)["id"] for text in found] == [
            one.lint.id for one in capture.check()
        ]
    cffpy.build_index([path], tmp_path / "index", jobs=0, lints=False)
    with pytest.raises(cffpy.CaptureIndexError, match="without lints"):
        list(cffpy.open_index(tmp_path / "index").findings())


PAGE = Path(__file__).resolve().parents[2] / "docs/guide/many-captures.md"


@pytest.mark.slow
def test_examples(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in samples.glob("*.rd"):
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    blocks = PAGE.read_text("utf-8").split("```pycon\n")[1:]
    text = "\n".join(block.partition("```")[0] for block in blocks)
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert test.examples
    result = doctest.DocTestRunner().run(test)
    assert result.failed == 0
