# SPDX-License-Identifier: MIT
"""Output files: a name has all of the content or what it had before, and links are not followed."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from cffpy.errors import CffpyError
from cffpy.output_files import staged_output, written_file


def test_a_file_appears_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with written_file(str(path)) as file:
        file.write(b"one")
        assert not path.exists()
        file.write(b"two")
    assert path.read_bytes() == b"onetwo"
    assert os.listdir(tmp_path) == ["out"]
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_nothing(
    tmp_path: Path, there: bool, problem: type[BaseException]
) -> None:
    path = tmp_path / "out"
    if there:
        path.write_bytes(b"before")
    with pytest.raises(problem), written_file(str(path)) as file:  # noqa: PT012 - the block raises
        file.write(b"one")
        raise problem
    assert os.listdir(tmp_path) == (["out"] if there else [])
    assert not there or path.read_bytes() == b"before"


def test_it_is_synced_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out"
    sizes: list[int] = []

    def sync(descriptor: int) -> None:
        assert not path.exists()
        sizes.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(os, "fsync", sync)
    with written_file(str(path)) as file:
        file.write(b"content")
    assert sizes == [7]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOSPC])
def test_a_file_system_that_cannot_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """An error of the disk is an error of the file; that there is no such call is none."""

    def sync(_descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", sync)
    path = tmp_path / "out"
    if number == errno.EINVAL:
        with written_file(str(path)) as file:
            file.write(b"content")
        assert path.read_bytes() == b"content"
        return
    with pytest.raises(OSError, match="No space left") as caught, written_file(str(path)) as file:
        file.write(b"content")
    assert caught.value.filename == str(path)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_not_written_through(tmp_path: Path, there: bool) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    if there:
        target.write_bytes(b"before")
    link.symlink_to(target)
    with pytest.raises(CffpyError, match=r"link is a link: name the file itself, .*target$"):
        written_file(str(link)).__enter__()
    assert link.is_symlink()
    assert target.exists() == there
    with written_file(str(link), has_guessed_name=True) as file:
        file.write(b"after")
    assert (link.is_symlink(), link.read_bytes(), target.exists()) == (False, b"after", there)
    assert not there or target.read_bytes() == b"before"


def test_modes_stay(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"before")
    path.chmod(0o600)
    with written_file(str(path)) as file:
        file.write(b"after")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"after", 0o600)
    with pytest.raises(FileExistsError):
        written_file(str(path), must_be_new=True).__enter__()
    assert path.read_bytes() == b"after"


def test_devices_are_written_to(tmp_path: Path) -> None:
    link = tmp_path / "link"  # as /dev/stdout is
    link.symlink_to(os.devnull)
    for path in (os.devnull, str(link)):
        with written_file(path) as file:
            file.write(b"gone")
        assert not stat.S_ISREG(os.stat(path).st_mode)


@pytest.mark.parametrize("problem", [None, ValueError])
@pytest.mark.parametrize("end", ["", "/"])
def test_files_of_libraries(tmp_path: Path, end: str, problem: type[Exception] | None) -> None:
    """A library gets a name beside the output, with the same last part."""
    path = tmp_path / "out.csv"

    def write() -> None:
        with staged_output(f"{path}{end}") as staged:
            assert staged.endswith(f"/out.csv{end}")
            if end:
                os.mkdir(staged)
            Path(staged, "table" if end else "").write_bytes(b"rows")
            if problem is not None:
                raise problem

    if problem is not None:
        with pytest.raises(problem):
            write()
        assert os.listdir(tmp_path) == []
        return
    write()
    assert Path(path, "table" if end else "").read_bytes() == b"rows"
    assert os.listdir(tmp_path) == ["out.csv"]
    with pytest.raises(FileExistsError) as caught:
        write()
    assert caught.value.filename == f"{path}{end}"
    assert os.listdir(tmp_path) == ["out.csv"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    path = str(tmp_path / "nowhere" / "out")
    for output in (written_file(path), staged_output(path)):
        with pytest.raises(FileNotFoundError) as caught:
            output.__enter__()
        assert caught.value.filename == path
