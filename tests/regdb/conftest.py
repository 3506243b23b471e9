# SPDX-License-Identifier: MIT
"""Fixtures of the register database's tests."""

import os
import textwrap

import pytest

from cffpy.regdb import language

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

COMMON = """
    enum chip { A2XX = 2 A3XX = 3 A4XX = 4 A5XX = 5 A6XX = 6 A7XX = 7 }
"""


@pytest.fixture(scope="session")
def shared():
    """The folder with Mesa's XML, which is not part of the project."""
    path = os.environ.get("CFFPY_SHARED") or os.path.join(ROOT, os.pardir, "shared")
    if not os.path.isdir(os.path.join(path, "rnndb")):
        pytest.skip("no rnndb/*.xml: set CFFPY_SHARED to the folder that has it")
    return path


@pytest.fixture
def files():
    """Parse several files, given as NAME=text; adreno_common holds the enum chip."""

    def build(**texts):
        texts.setdefault("adreno_common", COMMON)
        return {
            name: language.parse_text(textwrap.dedent(text), f"{name}.regs")
            for name, text in texts.items()
        }

    return build


@pytest.fixture
def edition(tmp_path):
    """Write an edition of NAME=text files; the directory."""

    def build(name="edition", **texts):
        texts.setdefault("adreno_common", COMMON)
        directory = tmp_path / name
        (directory / "adreno").mkdir(parents=True)
        for file, text in texts.items():
            (directory / "adreno" / f"{file}.regs").write_text(textwrap.dedent(text))
        return str(directory)

    return build


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache directory of the test's own."""
    path = tmp_path / "cache"
    monkeypatch.setenv("CFFPY_CACHE", str(path))
    return path
