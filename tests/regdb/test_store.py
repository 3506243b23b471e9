# SPDX-License-Identifier: MIT
"""Editions: finding, compiling, the cache."""

import os
import subprocess
import sys

import pytest

from cffpy.editions import folders as editions
from cffpy.errors import RegisterDbError
from cffpy.regdb import compile as compiler
from cffpy.regdb import store

from .conftest import ROOT

A6XX = 'import "adreno_common" domain A6XX { reg32 0 FIRST }'


@pytest.fixture
def compilations(monkeypatch):
    """Count how often anything is compiled."""
    calls = []
    original = compiler.compile_directory

    def counted(directory, edition):
        calls.append(directory)
        return original(directory, edition)

    monkeypatch.setattr(compiler, "compile_directory", counted)
    return calls


def test_bundled_edition():
    row = store.load(None, "A7XX")
    assert (row["chip"], row["root"], row["register_domains"]) == ("A7XX", "a6xx", ("A6XX",))
    assert store.chips(None) == ("A2XX", "A3XX", "A4XX", "A5XX", "A6XX", "A7XX")
    assert store.edition(None) == "mesa 25.0.7"


def test_second_load_comes_from_the_cache(cache, edition, compilations):
    directory = edition(a6xx=A6XX)
    assert store.load(directory, "A6XX") == store.load(directory, "A6XX")
    assert len(compilations) == 1
    assert len(list(cache.iterdir())) == 1


def test_edited_file_is_compiled_anew(cache, edition, compilations):
    directory = edition(a6xx=A6XX)
    assert "e" not in store.load(directory, "A6XX")["enums"]
    with open(os.path.join(directory, "adreno", "a6xx.regs"), "a", encoding="utf-8") as file:
        file.write("\nenum e { }\n")
    assert "e" in store.load(directory, "A6XX")["enums"]
    assert len(compilations) == 2


def test_new_file_is_compiled_in(cache, edition):
    directory = edition(a6xx=A6XX)
    assert store.load(directory, "A7XX")["root"] == "a6xx"
    with open(os.path.join(directory, "adreno", "a7xx.regs"), "w", encoding="utf-8") as file:
        file.write('import "adreno_common"')
    assert store.load(directory, "A7XX")["root"] == "a7xx"


def test_touched_file_is_not_compiled_anew(cache, edition, compilations):
    directory = edition(a6xx=A6XX)
    store.load(directory, "A6XX")
    os.utime(os.path.join(directory, "adreno", "a6xx.regs"), (1, 1))
    store.load(directory, "A6XX")
    assert len(compilations) == 1


@pytest.mark.parametrize("damage", [b"", b"CFFPYDB3", None])
def test_damaged_cache_is_compiled_anew(cache, edition, compilations, damage):
    directory = edition(a6xx=A6XX)
    before = store.load(directory, "A6XX")
    (path,) = cache.iterdir()
    content = path.read_bytes()
    path.write_bytes(content[:-9] + b"x" * 9 if damage is None else damage)
    last = store.load(directory, "A7XX")  # the part at the end of the file
    assert len(compilations) == 2
    assert path.read_bytes() == content
    assert store.load(directory, "A6XX") == before
    assert store.load(directory, "A7XX") == last


def test_cache_can_be_off(edition, compilations, monkeypatch, tmp_path):
    monkeypatch.setenv("CFFPY_CACHE", "off")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    directory = edition(a6xx=A6XX)
    store.load(directory, "A6XX")
    store.load(directory, "A6XX")
    assert len(compilations) == 2
    assert not (tmp_path / "xdg").exists()


def test_chip_that_is_not_described(cache, edition):
    with pytest.raises(RegisterDbError, match="describes no A2XX, only A6XX, A7XX"):
        store.load(edition(a6xx=A6XX), "A2XX")


def test_directory_that_is_no_edition(cache, tmp_path):
    for directory in (str(tmp_path), str(tmp_path / "missing")):
        with pytest.raises(RegisterDbError, match="no edition of the register database"):
            store.load(directory, "A6XX")
        with pytest.raises(RegisterDbError, match="no edition of the register database"):
            editions.resolve_edition(directory)


def test_edition_without_generation(cache, edition):
    with pytest.raises(RegisterDbError, match="no generation"):
        store.load(edition(other="enum e { }"), "A6XX")


def test_wrong_description_names_its_place(cache, edition):
    directory = edition(a6xx=A6XX + "\n!")
    with pytest.raises(RegisterDbError, match=r"adreno/a6xx\.regs:2:1: unexpected input"):
        store.load(directory, "A6XX")


def test_names_of_editions(cache, edition, tmp_path, monkeypatch):
    directory = edition("editions/newer", a6xx=A6XX)
    monkeypatch.setattr(editions, "data_path", lambda *parts: os.path.join(tmp_path, *parts[1:]))
    assert editions.resolve_edition("newer") == directory
    assert editions.resolve_edition(directory) == directory
    assert store.edition(directory) == "newer"
    with open(os.path.join(directory, "EDITION"), "w", encoding="utf-8") as file:
        file.write("mesa 99\n")
    assert store.edition(directory) == "mesa 99"


def test_sources_are_the_descriptions_and_the_name():
    names = [
        os.path.basename(path) for path in editions.source_files(editions.resolve_edition(None))
    ]
    assert names[-1] == "EDITION"
    assert len(names) == 12
    assert all(name.endswith(".regs") for name in names[:-1])


def test_cached_load_imports_no_parser():
    code = (
        "import sys; from cffpy.regdb import store; store.load(None, 'A6XX');"
        "print({'lark', 'dataclasses', 'hashlib', 'cffpy.regdb.language'} & set(sys.modules))"
    )
    store.load(None, "A6XX")
    run = [sys.executable, "-S", "-c", code]
    found = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"
