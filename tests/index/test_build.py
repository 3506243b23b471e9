# SPDX-License-Identifier: MIT
"""Builds: incremental, atomic, resumed, of settings and schemas that change."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import cffpy
from cffpy.container.open import Content
from cffpy.cp.session import Session
from cffpy.index import build, partition
from cffpy.index.model import Done, Task
from cffpy.index.snapshots import Catalog
from cffpy.index.stats import statistics
from cffpy.index.storage import LocalStorage
from tests.index.conftest import NAMES

QUERY = "SELECT capture, draw_index, vertices FROM draws ORDER BY ALL"


def rows(index: Path, query: str = QUERY) -> list[tuple[object, ...]]:
    return list(cffpy.open_index(index).sql(query))


def make(inputs: object, index: Path, **how: object) -> cffpy.BuildReport:
    paths = inputs if isinstance(inputs, list) else [inputs]
    return cffpy.build_index(paths, index, jobs=0, **how)  # type: ignore[arg-type]


def check_index(index: Path, captures: list[Path]) -> None:
    """The index has the rows of these captures, and no files that nobody needs."""
    assert rows(index) == list(cffpy.sql(captures, QUERY))
    values = "SELECT register, value, captures, draws FROM register_values ORDER BY ALL"
    sums = (
        "SELECT register, value, count(DISTINCT capture), sum(last_draw - first_draw + 1)"
        " FROM registers GROUP BY ALL ORDER BY ALL"
    )
    assert rows(index, values) == rows(index, sums) == list(cffpy.sql(captures, sums))
    for where in ("changed(RB_DEPTH_CNTL)", "draw.vertices > 3"):
        found = cffpy.open_index(index).find(where)
        expected = {one.path: one.to_dict() for one in cffpy.find(where, captures, jobs=1)}
        assert {one.path: one.to_dict() for one in found if one.error is None} == expected
    assert not (index / "journal").exists()
    assert not (index / "scratch").exists()


@pytest.mark.slow
def test_only_what_has_changed_is_decoded(corpus: Path, samples: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    report = make(corpus, index)
    assert (report.captures, report.decoded, report.snapshot) == (3, 3, 1)
    captures = [corpus / f"{name}.rd" for name in NAMES]
    check_index(index, captures)
    assert make(corpus, index).snapshot == 1

    os.utime(captures[0])
    report = make(corpus, index)
    assert (report.decoded, report.unchanged, report.snapshot) == (0, 3, 2)
    assert make(corpus, index).snapshot == 2

    shutil.copy(samples / "a660-textures.rd", captures[1])
    shutil.copy(samples / "a220-triangle.rd", corpus / "new.rd")
    captures[2].unlink()
    report = make(corpus, index)
    assert (report.decoded, report.unchanged, report.removed) == (2, 1, 1)
    check_index(index, [captures[0], captures[1], corpus / "new.rd"])
    # the second build's partition is still there for readers of the snapshot before
    assert len(list((index / "snapshots").glob("*.json"))) == 2

    for one in corpus.iterdir():
        one.unlink()
    report = make(corpus, index)
    assert (report.captures, report.removed) == (0, 3)
    assert rows(index) == []
    assert list(cffpy.open_index(index).find("draw.vertices > 3")) == []


@pytest.mark.slow
def test_captures_of_other_inputs_stay(corpus: Path, samples: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    make(corpus, index)
    report = make(samples / "a220-triangle.rd", index)
    assert (report.captures, report.decoded, report.removed) == (4, 1, 0)
    check_index(index, [*sorted(corpus.iterdir()), samples / "a220-triangle.rd"])


@pytest.mark.slow
def test_a_build_with_the_same_inputs_in_another_order_has_the_same_rows(
    corpus: Path, tmp_path: Path
) -> None:
    paths = sorted(corpus.iterdir())
    make(paths, tmp_path / "one")
    for path in reversed(paths):
        make(path, tmp_path / "other")
    tables = ("draws", "registers", "shaders", "register_values", "programs", "findings")
    for name in tables:
        query = f"SELECT * FROM {name} ORDER BY ALL"
        assert rows(tmp_path / "one", query) == rows(tmp_path / "other", query)


@pytest.mark.slow
def test_settings_that_change_rows(corpus: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    make(corpus, index)
    report = make(corpus, index, limits={"draws": 1})
    assert (report.decoded, report.failed) == (3, 0)
    assert report.damaged > 0
    assert make(corpus, index, limits={"draws": 1}).decoded == 0
    assert make(corpus, index, register_db="mesa-25.3").decoded == 3


def stop_after(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have builds of this process end after some tasks, each of one capture."""
    left = [count]

    def run(task: Task) -> Done:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return partition.build_part(task)

    monkeypatch.setattr("cffpy.index.build._MOST_CAPTURES", 1)
    monkeypatch.setattr("cffpy.index.engines.build_part", run)


def make_part(corpus: Path, index: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that is interrupted after some tasks."""
    with monkeypatch.context() as patch:
        stop_after(count, patch)
        with pytest.raises(KeyboardInterrupt):
            make(corpus, index)


@pytest.mark.slow
def test_an_interrupted_build_goes_on(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index"
    make_part(corpus, index, 2, monkeypatch)
    with pytest.raises(cffpy.CaptureIndexError, match="has not ended"):
        cffpy.open_index(index)
    report = make(corpus, index)
    assert (report.resumed, report.decoded, report.captures) == (2, 1, 3)
    check_index(index, sorted(corpus.iterdir()))


@pytest.mark.slow
def test_readers_see_the_snapshot_before(
    corpus: Path, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index"
    make(corpus, index)
    before = rows(index)
    opened = cffpy.open_index(index)
    for name in NAMES[:2]:
        shutil.copy(samples / "a220-triangle.rd", corpus / f"{name}.rd")
    make_part(corpus, index, 1, monkeypatch)
    assert rows(index) == before
    make(corpus, index)
    assert list(opened.sql(QUERY)) == before
    check_index(index, sorted(corpus.iterdir()))


@pytest.mark.slow
def test_a_journal_of_a_capture_that_has_changed_since(
    corpus: Path, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index"
    with monkeypatch.context() as patch:
        stop_after(3, patch)
        patch.setattr(build, "publish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            make(corpus, index)
    shutil.copy(samples / "a220-triangle.rd", corpus / f"{NAMES[1]}.rd")
    report = make(corpus, index)
    assert report.decoded == 1
    check_index(index, sorted(corpus.iterdir()))


@pytest.mark.slow
def test_a_lost_partition_is_not_taken(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index"
    make_part(corpus, index, 2, monkeypatch)
    for part in (index / "parts").iterdir():
        next(part.iterdir()).unlink()
    journal = next((index / "journal").iterdir())
    journal.write_bytes(journal.read_bytes()[:50])
    assert make(corpus, index).decoded == 3
    check_index(index, sorted(corpus.iterdir()))


@pytest.mark.slow
def test_an_index_of_other_tables(
    corpus: Path, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index"
    with monkeypatch.context() as patch:
        for module in ("partition", "snapshots", "build"):
            patch.setattr(f"cffpy.index.{module}.fingerprint", lambda: "cffpy.tables/0 old")
        make([corpus, samples / "a220-triangle.rd"], index)
    with pytest.raises(cffpy.CaptureIndexError, match="another version of cffpy"):
        cffpy.open_index(index)
    report = make(corpus, index)  # captures of other inputs have to be decoded again, too
    assert (report.decoded, report.captures) == (4, 4)
    assert "another version" in report.notes[0]
    check_index(index, [*sorted(corpus.iterdir()), samples / "a220-triangle.rd"])


@pytest.mark.slow
def test_an_index_of_another_schema(corpus: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    make(corpus, index)
    path = index / "snapshots" / "00000001.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "schema": "cffpy.index/0"}))
    with pytest.raises(cffpy.CaptureIndexError, match=r"the schema 'cffpy.index/0', this reads"):
        cffpy.open_index(index)
    report = make(corpus, index)
    assert report.decoded == 3
    assert "cffpy.index/0" in report.notes[0]
    check_index(index, sorted(corpus.iterdir()))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": "cffpy.index/1"}'])
def test_a_damaged_snapshot(text: str, tmp_path: Path) -> None:
    (tmp_path / "snapshots").mkdir()
    (tmp_path / "snapshots" / "00000001.json").write_text(text)
    with pytest.raises(cffpy.CaptureIndexError, match="snapshot 1 is damaged"):
        cffpy.open_index(tmp_path)


def test_no_index(tmp_path: Path) -> None:
    with pytest.raises(cffpy.CaptureIndexError, match="there is no index"):
        cffpy.open_index(tmp_path)


@pytest.mark.slow
def test_entries(built: Path, samples: Path) -> None:
    entries = {one.name: one for one in cffpy.open_index(built).files}
    assert list(entries) == sorted(str(path) for path in samples.rglob("*.rd*"))
    gmem = entries[str(samples / "a660-frame-gmem.rd")]
    assert (gmem.status, gmem.gpu, gmem.generation, gmem.rows) == ("ok", "FD660", 6, 2)
    assert gmem.size == (samples / "a660-frame-gmem.rd").stat().st_size
    assert gmem.edition == "mesa 25.0.7"
    assert gmem.memory > 1 << 20
    assert entries[str(samples / "damaged.rd.gz")].status == "damaged"
    catalog = Catalog(LocalStorage(str(built)))
    snapshot = catalog.newest()
    assert snapshot is not None
    assert catalog.entries(snapshot) == entries


@pytest.mark.slow
@pytest.mark.parametrize("edition", ["mesa-25.0", "mesa-25.3"])
def test_a8xx_and_both_editions(edition: str, samples: Path, tmp_path: Path) -> None:
    """A capture of a8xx beside one of a6xx; a filter takes the names of either edition."""
    paths = [samples / "a660-frame-gmem.rd", samples / "a830-frame-gmem.rd"]
    cffpy.build_index(paths, tmp_path / "made.index", register_db=edition, jobs=0)
    made = cffpy.open_index(tmp_path / "made.index")
    assert {one.generation: (one.status, one.rows > 0) for one in made.files} == {
        6: ("ok", True),
        8: ("ok", True),
    }
    chosen = "mesa 25.0.7" if edition == "mesa-25.0" else "mesa 25.3"
    assert {one.generation: one.edition for one in made.files} == {6: chosen, 8: "mesa 25.3"}
    # nothing is decoded again
    again = cffpy.build_index(paths, tmp_path / "made.index", register_db=edition, jobs=0)
    assert again.decoded == 0
    for name in ("RB_BLEND_CNTL.ENABLE_BLEND", "RB_BLEND_CNTL.BLEND_READS_DEST"):
        found = {one.path: len(one.draws) for one in made.find(f"{name} >= 0")}
        assert found[str(paths[0])] == 2


@pytest.mark.slow
def test_drivers(shared: Path, tmp_path: Path) -> None:
    """Turnip names itself; the Gallium driver is known by packets, so not without binning."""
    expected = {
        "a690-vk-frame-720p": "turnip",  # written by turnip
        "shadow": "gallium",  # written by the kernel
        "a740-gl-cube-gmem": "gallium",
        "a220-gl-cube": None,
    }
    paths = [shared / f"captures/{name}.rd.gz" for name in expected]
    make(paths, tmp_path / "index")
    index = cffpy.open_index(tmp_path / "index")
    found = {Path(one.name).name.removesuffix(".rd.gz"): one.driver for one in index.files}
    assert found == expected
    assert statistics(index).drivers == {"gallium": 2, "turnip": 1, "unknown": 1}


def test_a_capture_is_walked_twice(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For shaders, and for all else: each walk more takes as long as the two."""
    runs: list[str] = []
    run = Session.run

    def note(session: Session, content: Content, *how: Any) -> Any:
        runs.append(content.name)
        return run(session, content, *how)

    monkeypatch.setattr(Session, "run", note)
    make(corpus, tmp_path / "index")
    assert sorted(runs) == sorted([str(path) for path in corpus.iterdir()] * 2)
