# SPDX-License-Identifier: MIT
"""Inputs of a build, and captures that change while they are read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import cffpy
from cffpy.index.inputs import find_captures
from cffpy.index.model import CaptureFile
from cffpy.index.partition import CaptureReader, ChangedWhileRead
from tests.index.conftest import NAMES


def names(*inputs: object) -> list[str]:
    return [one.name for one in find_captures(map(str, inputs)).files]


def test_folders_globs_lists_and_files(corpus: Path, tmp_path: Path) -> None:
    captures = [str(corpus / f"{name}.rd") for name in NAMES]
    (corpus / "notes.txt").write_text("x")
    assert names(corpus) == names(f"{corpus}/*.rd") == names(f"{tmp_path}/**/*.rd") == captures
    assert names(captures[1], corpus) == [captures[1], captures[0], captures[2]]
    listed = tmp_path / "list.txt"
    listed.write_text(f"{captures[2]}\n\n{captures[0]}\n@{listed}\n")
    assert names(f"@{listed}") == [captures[2], captures[0]]
    found = find_captures([str(tmp_path / "missing"), f"@{tmp_path}/missing.txt"])
    assert [reason for _, reason in found.problems] == ["No such file or directory"] * 2


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz"])
def test_archives(kind: str, corpus: Path, tmp_path: Path) -> None:
    archive = tmp_path / f"night.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(archive, "w") as packed:
            for path in sorted(corpus.iterdir()):
                packed.write(path, f"a/{path.name}")
            packed.writestr("a/notes.txt", "x")
    else:
        with tarfile.open(archive, f"w:{kind[4:]}") as tar:
            tar.add(corpus, "a")
    assert sorted(names(archive)) == [f"{archive}!a/{name}.rd" for name in NAMES]
    files = find_captures([str(archive)]).files
    with CaptureReader(1 << 20) as reader:
        for one in (*files, *reversed(files)):
            assert reader.read(one)[0] == (corpus / Path(one.member).name).read_bytes()
    with CaptureReader(10) as reader, pytest.raises(cffpy.ContainerError, match="more than 10"):
        reader.read(files[0])
    archive.write_bytes(archive.read_bytes()[:700])
    found = find_captures([str(archive)])
    assert found.problems
    assert found.unread


def test_urls(corpus: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for path in corpus.iterdir():
        memory.pipe_file(f"/night/{path.name}", path.read_bytes())
    found = find_captures(["memory://night"]).files
    assert [one.name for one in found] == [f"memory:///night/{name}.rd" for name in NAMES]
    with CaptureReader(1 << 20) as reader:
        assert reader.read(found[0])[0] == (corpus / f"{NAMES[0]}.rd").read_bytes()


@pytest.mark.slow
def test_an_index_in_another_file_system(corpus: Path) -> None:
    pytest.importorskip("fsspec")
    url = "memory://index-of-tests"
    assert cffpy.build_index([corpus], url, jobs=0).decoded == 3
    (corpus / f"{NAMES[0]}.rd").unlink()
    report = cffpy.build_index([corpus], url, jobs=0)
    assert (report.decoded, report.removed, report.captures) == (0, 1, 2)
    index = cffpy.open_index(url)
    captures = sorted(corpus.iterdir())
    query = "SELECT capture, name FROM draws ORDER BY ALL"
    assert list(index.sql(query)) == list(cffpy.sql(captures, query))
    found = [one.to_dict() for one in index.find("draw.vertices > 3")]
    expected = cffpy.find("draw.vertices > 3", captures, jobs=1)
    assert found == [one.to_dict() for one in expected]


def test_a_capture_that_changes_while_it_is_read(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = corpus / f"{NAMES[0]}.rd"
    read = CaptureReader._bounded
    changes = [2]

    def grow(self: CaptureReader, file: CaptureFile, stream: object) -> bytes:
        data = read(self, file, stream)  # type: ignore[arg-type]
        if changes[0]:
            changes[0] -= 1
            path.write_bytes(data + b"\0")
        return data

    monkeypatch.setattr(CaptureReader, "_bounded", grow)
    (file,) = find_captures([str(path)]).files
    with CaptureReader(1 << 20) as reader:
        with pytest.raises(ChangedWhileRead, match="it changes while it is read"):
            reader.read(file)
        changes[0] = 1
        data, size, mtime = reader.read(file)  # the second attempt succeeds
    assert (size, mtime) == (len(data), path.stat().st_mtime_ns)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_an_unreadable_folder(corpus: Path, tmp_path: Path) -> None:
    check_unreadable(corpus, tmp_path / "index")


def check_unreadable(corpus: Path, index: Path) -> None:
    inside = corpus / "inside"
    inside.mkdir()
    shutil.move(corpus / f"{NAMES[0]}.rd", inside)
    cffpy.build_index([corpus], index, jobs=0)
    inside.chmod(0)
    try:
        report = cffpy.build_index([corpus], index, jobs=0)
    finally:
        inside.chmod(0o755)
    assert report.problems == [(str(inside), "Permission denied")]
    assert (report.captures, report.removed) == (3, 0)  # what is below it is not gone


@pytest.mark.slow
def test_what_is_below_a_folder_that_cannot_be_read_stays(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = corpus / "inside"
    inside.mkdir()
    shutil.move(corpus / f"{NAMES[0]}.rd", inside)
    cffpy.build_index([corpus], tmp_path / "index", jobs=0)
    scan = os.scandir

    def refuse(path: str) -> object:
        if str(path) == str(inside):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    report = cffpy.build_index([corpus], tmp_path / "index", jobs=0)
    assert report.problems == [(str(inside), "Permission denied")]
    assert (report.captures, report.removed, report.decoded) == (3, 0, 0)


@pytest.mark.slow
def test_disk_full(corpus: Path, tmp_path: Path) -> None:
    """No file may be longer than some bytes: a build ends with one line, and the next goes on."""
    index = tmp_path / "index"
    cffpy.build_index([corpus / f"{NAMES[0]}.rd"], index, jobs=0)
    before = list(cffpy.open_index(index).sql("SELECT * FROM draws ORDER BY ALL"))
    code = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))\n"
        "import cffpy\n"
        "try:\n"
        "    cffpy.build_index([sys.argv[1]], sys.argv[2], jobs=0)\n"
        "except cffpy.CaptureIndexError as problem:\n"
        "    print(problem)\n"
        "    sys.exit(7)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(corpus), str(index)], capture_output=True, text=True
    )
    assert done.returncode == 7, done.stderr
    assert "File too large" in done.stdout
    assert done.stdout.count("\n") == 1
    assert list(cffpy.open_index(index).sql("SELECT * FROM draws ORDER BY ALL")) == before
    report = cffpy.build_index([corpus], index, jobs=0)
    assert (report.captures, report.failed) == (3, 0)


@pytest.mark.slow
def test_hostile_captures(corpus: Path, samples: Path, tmp_path: Path) -> None:
    """Of a hundred files one is not a capture, others are mutants: each has an entry."""
    from tests.builders import damaged

    data = (samples / "a660-frame-gmem.rd").read_bytes()
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(30):
        (folder / f"good{number:02}.rd").write_bytes(data)
    for number in range(10):
        (folder / f"mutant{number}.rd").write_bytes(damaged(data, number))
    (folder / "empty.rd").write_bytes(b"")
    (folder / "picture.rd").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    report = cffpy.build_index([folder], tmp_path / "index", jobs=2)
    assert report.captures == 42
    entries = {Path(one.name).stem: one for one in cffpy.open_index(tmp_path / "index").files}
    assert all(one.status == "ok" for name, one in entries.items() if name.startswith("good"))
    assert "no capture" in str(entries["picture"].error) or entries["picture"].error
    assert entries["empty"].status == "damaged"
    where = "draw.vertices > 3"
    found = [one.to_dict() for one in cffpy.open_index(tmp_path / "index").find(where)]
    assert found == [one.to_dict() for one in cffpy.find(where, [folder], jobs=2)]
