# SPDX-License-Identifier: MIT
"""The project as a whole: rules of the house, layers, the wheel."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from cffpy.cli.help import PAGES
from cffpy.container import rd
from cffpy.descriptions.language import load_grammar
from cffpy.editions.folders import resolve_edition
from cffpy.intel.descriptions import store as intel_store
from cffpy.isa import store as isa_store
from cffpy.pm4 import reader as packet_reader
from cffpy.regdb import store as register_store

CHECKOUT = Path(__file__).resolve().parent.parent
SOURCES = sorted((CHECKOUT / "cffpy").rglob("*.py"))
LAYERS = [sys.executable, "-c", "from importlinter import cli; cli.lint_imports_command()"]


def broken_rules(name: str, text: str) -> list[str]:
    """The rules for files that a file of this name does not follow."""
    lines = [*text.splitlines()[:2], "", ""]
    rules = {
        "begins with the licence": lines[0] == "# SPDX-License-Identifier: MIT",
        "has a docstring that says what belongs there": re.match(r'r?"""\w|r?"""``', lines[1]),
        "has a topic": name not in ("utils.py", "util.py", "helpers.py", "common.py", "misc.py"),
        "has no star imports": "import *" not in text,
    }
    return [rule for rule, is_followed in rules.items() if not is_followed]


def test_rules_of_the_house() -> None:
    found = {
        str(path.relative_to(CHECKOUT)): broken
        for path in SOURCES
        if (broken := broken_rules(path.name, path.read_text("utf-8")))
    }
    assert found == {}


def test_a_broken_rule_is_found() -> None:
    assert len(broken_rules("utils.py", "from os import *\n")) == 4


@pytest.mark.slow
def test_layers_can_fail(tmp_path: Path) -> None:
    shutil.copytree(CHECKOUT / "cffpy", tmp_path / "cffpy")
    shutil.copy(CHECKOUT / "pyproject.toml", tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    def lint() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*LAYERS, "--no-cache"], capture_output=True, cwd=tmp_path, env=environment, text=True
        )

    with open(tmp_path / "cffpy/cp/machine.py", "a") as file:
        file.write("from cffpy.views.cffdump import quirks\n")
    with open(tmp_path / "cffpy/isa/language.py", "a") as file:
        file.write("import cffpy.regdb.language\n")
    with open(tmp_path / "cffpy/new_room.py", "w") as file:
        file.write('"""A module that is in no layer."""\n')
    done = lint()
    assert done.returncode != 0
    os.remove(tmp_path / "cffpy/new_room.py")
    done = lint()
    assert done.returncode != 0
    assert "cffpy.cp.machine -> cffpy.views.cffdump.quirks" in done.stdout
    assert "cffpy.isa.language -> cffpy.regdb.language" in done.stdout


@pytest.mark.slow
def test_wheel(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        check=True,
        capture_output=True,
        cwd=CHECKOUT,
    )
    (wheel,) = tmp_path.glob("cffpy-*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    newer = "register_db/editions/mesa-25.3"
    folders = ("grammars", "register_db/adreno", "register_db/isa", newer, f"{newer}/adreno")
    for folder in folders:
        for path in (CHECKOUT / folder).iterdir():
            assert path.is_dir() or f"cffpy/_data/{folder}/{path.name}" in names
    for kind in ("registers", "registers-mesa-25.3", "isa"):
        assert f"cffpy/_data/compiled/{kind}.bin" in names
    for path in SOURCES:
        assert str(path.relative_to(CHECKOUT)) in names
    for path in CHECKOUT.glob("cffpy/views/**/page.*"):
        if path.parent.name == "__pycache__":
            continue
        assert str(path.relative_to(CHECKOUT)) in names
    assert "cffpy/py.typed" in names
    manual = {name.rpartition("/")[2] for name in names if ".data/data/share/man/man1/" in name}
    assert {"cffpy.1", "cffpy-dump.1", "cffpy-db-show.1"} <= manual
    guide = {name.rpartition("/")[2] for name in names if ".data/data/share/man/man7/" in name}
    assert {"cffpy-guide-start.7", "cffpy-filter.7"} <= guide
    assert {f"cffpy/_data/docs/guide/{name}.md" for name in PAGES["guide"]} <= set(names)
    assert "cffpy/_data/docs/reference/commands/db-show.md" in names
    assert not any(name.startswith(("tests", "samples", "grammars", "tools")) for name in names)


def test_what_is_compiled_is_what_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The build compiles just those kinds and schemas that a start looks for in a wheel."""
    looked_for: dict[str, int] = {}

    def load_packaged(kind: str, schema: int, part: str) -> None:
        looked_for[kind] = schema
        raise LookupError

    monkeypatch.setattr("cffpy.compiled.load_packaged", load_packaged)
    callers = [path for path in SOURCES if "load_packaged(" in path.read_text("utf-8")]
    assert sorted(str(path.relative_to(CHECKOUT)) for path in callers) == [
        "cffpy/compiled.py",
        "cffpy/descriptions/store.py",
    ]
    with pytest.raises(LookupError):
        rd.SECTIONS.load("sections")
    with pytest.raises(LookupError):
        packet_reader.load_headers()
    with pytest.raises(LookupError):
        packet_reader.load_packets("A6XX")
    with pytest.raises(LookupError):
        packet_reader.PACKETS.load("A8XX", resolve_edition("mesa-25.3"))
    with pytest.raises(LookupError):
        isa_store.load("ir3", 600)
    with pytest.raises(LookupError):
        isa_store.load("ir3", 600, resolve_edition("mesa-25.3"))
    with pytest.raises(LookupError):
        register_store.load(None, "A6XX")
    with pytest.raises(LookupError):
        register_store.load(resolve_edition("mesa-25.3"), "A6XX")
    with pytest.raises(LookupError):
        intel_store.generations(None)
    with pytest.raises(LookupError):
        load_grammar("filter")

    spec = importlib.util.spec_from_file_location("hatch_build", CHECKOUT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    stores = build.stores()
    assert {kind: store.schema for store in stores for kind in store.places()} == looked_for
    register_db = str(CHECKOUT / "register_db")
    assert {store.places()[store.kind] for store in stores} == {register_db}
