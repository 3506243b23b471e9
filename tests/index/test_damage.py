# SPDX-License-Identifier: MIT
"""Damaged files of an index: each command reports them in one line, and a build replaces them."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest

import cffpy
from cffpy.check.registry import chosen_lints
from cffpy.errors import CaptureIndexError, CffpyError, UsageError
from cffpy.index.compare import check_index, compare
from cffpy.index.reader import Index
from cffpy.index.stats import statistics


@pytest.fixture(scope="module")
def small(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    captures = folder / "captures"
    captures.mkdir()
    for name in ("a660-frame-gmem", "a690-compute"):
        shutil.copy(samples / f"{name}.rd", captures)
    cffpy.build_index([captures], folder / "index", jobs=0)
    return folder


def ask(path: Path) -> int:
    """Run all queries; returns how many raise an error, each of one line."""
    questions = (
        lambda index: list(index.find("RB_DEPTH_CNTL.ZFUNC == FUNC_LESS and draw.vertices > 3")),
        lambda index: list(index.sql("SELECT * FROM register_at_draw")),
        lambda index: list(index.sql("SELECT * FROM shaders")),
        lambda index: index.values("RB_DEPTH_CNTL"),
        lambda index: statistics(index).to_dict(),
        lambda index: compare(index, index),
        lambda index: list(index.findings()),
    )
    errors = []
    for question in questions:
        try:
            question(cffpy.open_index(path))
        except CffpyError as problem:
            errors.append(str(problem))
    for text in errors:
        assert "\n" not in text
        assert len(text) < 1000
    return len(errors)


def damage(rng: Random, data: bytes) -> bytes:
    kind = rng.randrange(3)
    if kind == 0:
        return data[: rng.randrange(len(data))]
    changed = bytearray(data)
    for _ in range(1 if kind == 1 else 20):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def files_of(index: Path) -> list[Path]:
    return sorted(path for path in index.rglob("*") if path.suffix in (".json", ".parquet"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_damaged_files(seed: int, small: Path, tmp_path: Path) -> None:
    rng = Random(seed)
    copy = tmp_path / "index"
    shutil.copytree(small / "index", copy)
    errors = 0
    for path in rng.sample(files_of(copy), 12):
        sound = path.read_bytes()
        path.write_bytes(damage(rng, sound))
        errors += ask(copy)
        path.write_bytes(sound)
    assert errors > 0
    assert ask(copy) == 0


def test_sql_on_a_damaged_table_names_the_remedy(small: Path, tmp_path: Path) -> None:
    copy = tmp_path / "index"
    shutil.copytree(small / "index", copy)
    part = copy / cffpy.open_index(copy).parts[0].folder
    (part / "draws.parquet").write_bytes(b"PAR1")
    index = cffpy.open_index(copy)
    with pytest.raises(CaptureIndexError, match="index build --verify replaces"):
        list(index.sql("SELECT * FROM draws"))
    with pytest.raises(UsageError, match="SQL: Invalid Input Error"):
        list(index.sql("SELECT error('no') FROM passes"))
    with pytest.raises(UsageError, match="SQL: Binder Error"):
        list(index.sql("SELECT nothing FROM draws"))


@pytest.mark.slow
def test_a_build_replaces_what_is_damaged(small: Path, tmp_path: Path) -> None:
    copy = tmp_path / "index"
    shutil.copytree(small / "index", copy)
    captures = small / "captures"
    expected = sorted(cffpy.open_index(copy).sql("SELECT * FROM register_at_draw"), key=repr)

    def rebuilt(verify: bool, decoded: bool) -> None:
        report = cffpy.build_index([captures], copy, jobs=0, verify=verify)
        assert (report.decoded > 0, report.captures) == (decoded, 2)
        assert bool(report.notes) == decoded
        assert ask(copy) == 0
        index = cffpy.open_index(copy)
        found = sorted(index.sql("SELECT * FROM register_at_draw"), key=repr)
        assert found == expected

    part = copy / cffpy.open_index(copy).parts[0].folder
    (part / "registers.parquet").write_bytes(b"PAR1")
    assert ask(copy) > 0
    rebuilt(True, True)
    rebuilt(True, False)
    shutil.rmtree(copy / cffpy.open_index(copy).parts[0].folder)
    assert ask(copy) > 0
    rebuilt(False, True)
    number = cffpy.open_index(copy).number
    (copy / f"snapshots/{number:08d}/register_values.parquet").write_bytes(b"")
    assert ask(copy) > 0
    rebuilt(True, False)
    assert cffpy.open_index(copy).number == number + 1
    (copy / f"snapshots/{number + 1:08d}.json").write_text('{"schema": 7}')
    assert ask(copy) == 7
    rebuilt(False, True)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"id": "CFF001"', None])
def test_a_damaged_finding(small: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """It was an internal error of ``check --index``."""
    index = cffpy.open_index(small / "index")
    monkeypatch.setattr(Index, "findings", lambda _self: iter([(index.files[0].name, text)]))
    with pytest.raises(CaptureIndexError, match="a stored finding is damaged"):
        check_index(index, chosen_lints())
