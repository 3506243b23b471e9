# SPDX-License-Identifier: MIT
"""The cache of compiled descriptions: permissions, damage, writing."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from cffpy import compiled

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are POSIX's")

PARTS = {"one": b"first part", "two": b"second part" * 1000}


class Cache:
    """Loads a part, and counts how often it had to be compiled."""

    def __init__(self, folder: Path) -> None:
        self.directory = folder / "cache"
        self.source = folder / "source"
        self.source.write_text("text")
        self.compiled = 0

    def load(self, part: str = "one") -> bytes | None:
        def compile_sources() -> dict[str, bytes]:
            self.compiled += 1
            return PARTS

        return compiled.load("kind", 1, [str(self.source)], compile_sources, part)

    @property
    def file(self) -> Path:
        (found,) = self.directory.iterdir()
        return found


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    cache = Cache(tmp_path)
    monkeypatch.setenv("CFFPY_CACHE", str(cache.directory))
    return cache


def test_directory_and_file_are_the_users_alone(cache: Cache) -> None:
    before = os.umask(0)
    try:
        assert cache.load() == PARTS["one"]
    finally:
        os.umask(before)
    assert stat.S_IMODE(cache.directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(cache.file.stat().st_mode) == 0o600
    assert cache.load("two") == PARTS["two"]
    assert cache.load("three") is None
    assert cache.compiled == 1


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not_used(cache: Cache, mode: int) -> None:
    cache.load()
    cache.file.chmod(mode)
    assert cache.load() == PARTS["one"]
    assert cache.compiled == 2
    assert stat.S_IMODE(cache.file.stat().st_mode) == 0o600, "it is replaced"
    assert cache.load() == PARTS["one"]
    assert cache.compiled == 2


@pytest.mark.parametrize("mode", [0o777, 0o720, 0o1777])
def test_a_directory_that_others_may_write_is_not_used(cache: Cache, mode: int) -> None:
    cache.directory.mkdir()
    cache.directory.chmod(mode)
    with pytest.warns(compiled.CacheWarning, match="other users may write to it"):
        assert cache.load() == cache.load() == PARTS["one"]
    assert cache.compiled == 2
    assert not list(cache.directory.iterdir())


def test_what_belongs_to_another_user_is_not_used(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.load()
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.warns(compiled.CacheWarning, match="other users"):
        assert cache.load() == PARTS["one"]
    assert cache.compiled == 2


def test_neither_links_nor_pipes_are_read(cache: Cache, tmp_path: Path) -> None:
    cache.load()
    path = cache.file
    moved = tmp_path / "moved"
    path.rename(moved)
    path.symlink_to(moved)
    assert cache.load() == PARTS["one"]
    assert cache.compiled == 2
    path.unlink()
    os.mkfifo(path, 0o600)
    assert cache.load() == PARTS["one"]
    assert cache.compiled == 3
    assert path.is_file()
    assert not path.is_symlink()


def test_damage_anywhere_means_compiling_anew(cache: Cache) -> None:
    cache.load()
    path = cache.file
    sound = path.read_bytes()
    end = sound.index(PARTS["two"])
    for position in [*range(end), end + 5000]:
        path.write_bytes(sound[:position] + bytes([sound[position] ^ 0x5A]) + sound[position + 1 :])
        cache.compiled = 0
        # a part is verified when it is loaded; the header, always
        part = "two" if position >= end else "one"
        assert cache.load(part) == PARTS[part]
        assert cache.compiled == 1, position
    assert path.read_bytes() == sound


def test_a_cut_file_means_compiling_anew(cache: Cache) -> None:
    cache.load()
    path = cache.file
    sound = path.read_bytes()
    for size in range(0, len(sound), 97):
        path.write_bytes(sound[:size])
        cache.compiled = 0
        assert cache.load("two") == PARTS["two"]
        assert cache.compiled == 1


def test_nothing_is_left_where_nothing_can_be_written(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.warns(compiled.CacheWarning, match="no: the cache is not used"):
        assert cache.load() == PARTS["one"]
    assert not list(cache.directory.iterdir())


@pytest.mark.parametrize("base", ["", "relative/cache", "."])
def test_the_base_of_the_cache_is_absolute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, base: str
) -> None:
    """The XDG specification: a relative XDG_CACHE_HOME is ignored."""
    monkeypatch.delenv("CFFPY_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    assert compiled.cache_directory() == str(tmp_path / ".cache" / "cffpy")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert compiled.cache_directory() == str(tmp_path / "xdg" / "cffpy")


@pytest.mark.slow
def test_a_cache_that_cannot_be_used_is_one_warning(tmp_path: Path, run_cffpy, samples) -> None:
    """One line for all descriptions that a command loads."""
    place = tmp_path / "cache"
    place.write_text("no directory")
    done = run_cffpy("dump", samples / "a630-triangle.rd.gz", env={"CFFPY_CACHE": str(place)})
    assert done.returncode == 0
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"cffpy: warning: {place}: ")
    assert "descriptions are compiled at each start" in line


def test_no_cache(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CFFPY_CACHE", "off")
    assert cache.load() == cache.load() == PARTS["one"]
    assert cache.compiled == 2
    assert not cache.directory.exists()
