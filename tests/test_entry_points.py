# SPDX-License-Identifier: MIT
"""Entry points of installed packages, which are found without importlib.metadata where none is."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from cffpy.entry_points import entry_points

GROUP = "cffpy.example"
TEXT = f"[{GROUP}]\none = module:name\n"

SCRIPT = f"""
import sys
from cffpy.entry_points import entry_points
found = [one.value for one in entry_points({GROUP!r})]
print("importlib.metadata" in sys.modules, *found)
"""


def install(folder: Path, info: str = "some-1.dist-info", text: str = TEXT) -> None:
    (folder / info).mkdir()
    (folder / info / "METADATA").write_text("Metadata-Version: 2.1\nName: some\nVersion: 1\n")
    (folder / info / "entry_points.txt").write_text(text)


def in_process(*paths: Path) -> list[str]:
    """Whether importlib.metadata was imported, and the entry points."""
    code = f"import sys; sys.path[:0] = {list(map(str, paths))!r}\n{SCRIPT}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return done.stdout.split()


def test_without_a_package_nothing_is_imported(tmp_path: Path) -> None:
    install(tmp_path, text="[console_scripts]\nsome = module:name\n")
    assert in_process(tmp_path, tmp_path / "missing") == ["False"]


@pytest.mark.parametrize("info", ["some-1.dist-info", "some-1-py3.11.egg-info", "Some-1.DIST-INFO"])
def test_a_package_in_a_folder(tmp_path: Path, info: str, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, info)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert [*entry_points(GROUP)] == [*metadata.entry_points(group=GROUP)] != []


def test_a_package_in_an_egg(tmp_path: Path) -> None:
    egg = tmp_path / "some-1.egg"
    egg.mkdir()
    install(egg, "EGG-INFO")
    assert in_process(egg) == ["True", "module:name"]


def test_a_package_in_an_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "some.zip", "w") as archive:
        archive.writestr("some-1.dist-info/METADATA", "Name: some\nVersion: 1\n")
        archive.writestr("some-1.dist-info/entry_points.txt", TEXT)
    assert in_process(tmp_path / "some.zip") == ["True", "module:name"]


def test_what_finds_packages_elsewhere_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Finder:
        @staticmethod
        def find_spec(*_: object) -> None:
            """No module."""

        @staticmethod
        def find_distributions(_context: object = None) -> list[metadata.Distribution]:
            return [Elsewhere()]

    class Elsewhere(metadata.Distribution):
        def read_text(self, filename: str) -> str | None:
            known = {"entry_points.txt": TEXT, "METADATA": "Name: elsewhere\nVersion: 1\n"}
            return known.get(filename)

        def locate_file(self, path: object) -> Path:
            return Path(str(path))

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    assert [one.value for one in entry_points(GROUP)] == ["module:name"]
